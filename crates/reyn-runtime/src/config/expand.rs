//! `${NAME}` in text values.
//!
//! Invariant: what a variable holds is never expanded again, and keys are never expanded.

use std::collections::BTreeMap;

use super::node::{Mark, Node, NodeValue, SourceKind};
use super::problem::ConfigProblem;
use super::secrets::{SECRETS_FILE, Secrets, is_variable};

/// Parts of a name that say that its value is a secret.
const SECRET_WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// The process environment, and the secrets file below it.
#[derive(Clone, Copy)]
pub(super) struct Variables<'a> {
    /// What the process was started with.
    pub environment: &'a BTreeMap<String, String>,
    /// What the secrets file adds.
    pub secrets: &'a Secrets,
}

impl<'a> Variables<'a> {
    /// The value, and whether it must not be shown.
    pub(super) fn get(self, name: &str) -> Option<(&'a str, bool)> {
        match self.environment.get(name) {
            Some(value) => Some((value, has_secret_name(name))),
            None => self.secrets.get(name).map(|value| (value, true)),
        }
    }
}

fn has_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// A text that cannot be expanded.
pub(super) struct Unset {
    /// The text.
    pub mark: Mark,
    /// Why.
    pub problem: ConfigProblem,
}

/// Replaces `${NAME}` in every text that a file gave; `$$` stands for `$`.
pub(super) fn expand(node: &mut Node, variables: Variables<'_>, unset: &mut Vec<Unset>) {
    match &mut node.value {
        NodeValue::Text(text) if node.mark.source.kind == SourceKind::File && text.contains('$') => {
            match expanded(text, &node.mark, variables) {
                Ok((value, is_secret)) if value != *text => {
                    node.template = Some(std::mem::replace(text, value));
                    node.is_secret = is_secret;
                }
                Ok(_) => {}
                Err(problem) => unset.push(Unset { mark: node.mark.clone(), problem: *problem }),
            }
        }
        NodeValue::List(items) => {
            for item in items {
                expand(item, variables, unset);
            }
        }
        NodeValue::Map(members) => {
            for member in members.values_mut() {
                expand(&mut member.node, variables, unset);
            }
        }
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Unsigned(_)
        | NodeValue::Signed(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_) => {}
    }
}

fn expanded(text: &str, mark: &Mark, variables: Variables<'_>) -> Result<(String, bool), Box<ConfigProblem>> {
    let mut value = String::new();
    let mut is_secret = false;
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        value.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix('$') {
            value.push('$');
            rest = after;
        } else if let Some(after) = after.strip_prefix('{') {
            let name = after.split_once('}').map(|(name, _)| name).filter(|name| is_variable(name));
            let Some(name) = name else {
                let message = "`${` begins the name of a variable, and none follows";
                let problem = ConfigProblem::at(&place_of(mark, "${"), message);
                return Err(Box::new(
                    problem.hint("write `${NAME}`, or `$${` for the characters themselves"),
                ));
            };
            let (found, hidden) = variables.get(name).ok_or_else(|| missing(mark, name))?;
            value.push_str(found);
            is_secret |= hidden;
            rest = &after[name.len() + 1..];
        } else {
            value.push('$');
            rest = after;
        }
    }
    value.push_str(rest);
    Ok((value, is_secret))
}

/// The names of the variables in a text.
pub(super) fn names(text: &str) -> Vec<&str> {
    let mut names = vec![];
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('$') {
        rest = after.strip_prefix('$').unwrap_or(after);
        if let Some((name, after)) = after.strip_prefix('{').and_then(|after| after.split_once('}')) {
            names.push(name);
            rest = after;
        }
    }
    names
}

fn missing(mark: &Mark, name: &str) -> Box<ConfigProblem> {
    let problem = ConfigProblem::at(
        &place_of(mark, &format!("${{{name}}}")),
        format!("the variable `{name}` is not set"),
    );
    Box::new(
        problem
            .hint(format!("set it in the environment or in `{SECRETS_FILE}`; `$$` stands for a plain `$`")),
    )
}

/// Where `part` stands in the value that begins at `mark`, as far as its first line shows it.
fn place_of(mark: &Mark, part: &str) -> Mark {
    let line: Vec<char> = mark.source.line(mark.line).chars().collect();
    let value: String = line.iter().skip(mark.column.saturating_sub(1) as usize).collect();
    match value.find(part) {
        Some(at) => mark.shifted(value[..at].chars().count()),
        None => mark.clone(),
    }
}
