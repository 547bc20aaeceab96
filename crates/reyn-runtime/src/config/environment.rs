//! The layers above the files: `REYN_…` variables and the command line.

use std::sync::Arc;

use serde_json::Value;

use super::node::{Mark, Member, Members, Node, NodeValue, Source, SourceKind};
use super::problem::ConfigProblem;
use super::yaml;

const PREFIX: &str = "REYN_";

/// A value that a flag of the command line gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    /// The flag, as in `--model`.
    pub flag: String,
    /// The key, with dots.
    pub key: String,
    /// The value.
    pub value: Value,
}

/// The values that `REYN_SECTION__KEY=value` variables give, least specific first.
pub(super) fn variables<'a>(
    environment: impl IntoIterator<Item = (&'a String, &'a String)>,
    ignored: &[&str],
) -> (Vec<Node>, Vec<ConfigProblem>) {
    let mut problems = vec![];
    let mut layers = vec![];
    for (name, value) in environment {
        let Some(path) = name.strip_prefix(PREFIX).filter(|_| !ignored.contains(&name.as_str())) else {
            continue;
        };
        let source = Arc::new(Source {
            name: name.clone(),
            kind: SourceKind::Environment,
            text: format!("{name}={value}"),
        });
        let mut keys = vec![];
        let mut column = PREFIX.len() + 1;
        for part in path.split("__") {
            keys.push((part.to_ascii_lowercase(), mark(&source, column)));
            column += part.len() + 2;
        }
        if keys.iter().any(|(key, _)| key.is_empty()) {
            let problem = ConfigProblem::at(&mark(&source, 1), format!("`{name}` names no key"))
                .hint("write `REYN_` and the key in capitals, `__` for each dot: `REYN_LLM__MODEL`");
            problems.push(problem);
            continue;
        }
        let offset = u32::try_from(name.chars().count() + 1).unwrap_or(u32::MAX);
        match yaml::parse_value(&source, value, offset) {
            Ok(node) => layers.push(wrap(keys, node)),
            Err(more) => problems.extend(more),
        }
    }
    (layers, problems)
}

/// The value that a flag gives, under its key.
pub(super) fn flag(given: &Override) -> Node {
    let shown = match &given.value {
        Value::String(text) => text.clone(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    };
    let source = Arc::new(Source {
        name: given.flag.clone(),
        kind: SourceKind::CommandLine,
        text: format!("{} {shown}", given.flag),
    });
    let value = mark(&source, given.flag.chars().count() + 2);
    let keys = given.key.split('.').map(|key| (key.to_owned(), value.clone())).collect();
    wrap(keys, from_json(&given.value, &value))
}

fn mark(source: &Arc<Source>, column: usize) -> Mark {
    Mark { source: Arc::clone(source), line: 1, column: u32::try_from(column).unwrap_or(u32::MAX) }
}

fn wrap(keys: Vec<(String, Mark)>, node: Node) -> Node {
    keys.into_iter().rev().fold(node, |node, (name, key)| {
        let mark = key.clone();
        Node::new(mark, NodeValue::Map(Members::from([(name, Member { key, node })])))
    })
}

fn from_json(value: &Value, mark: &Mark) -> Node {
    let value = match value {
        Value::Null => NodeValue::Null,
        Value::Bool(value) => NodeValue::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(value), _) => NodeValue::Unsigned(value),
            (None, Some(value)) => NodeValue::Signed(value),
            (None, None) => NodeValue::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => NodeValue::Text(text.clone()),
        Value::Array(items) => NodeValue::List(items.iter().map(|item| from_json(item, mark)).collect()),
        Value::Object(members) => {
            let member = |value| Member { key: mark.clone(), node: from_json(value, mark) };
            NodeValue::Map(members.iter().map(|(name, value)| (name.clone(), member(value))).collect())
        }
    };
    Node::new(mark.clone(), value)
}
