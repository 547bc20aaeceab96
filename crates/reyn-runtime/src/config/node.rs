//! A configuration value that remembers where it was written.

use std::sync::Arc;

use indexmap::IndexMap;

/// A file, an environment variable or a flag that gave values.
pub(super) struct Source {
    /// As people know it: `reyn.yaml`, `REYN_LLM__MODEL`, `--model`.
    pub name: String,
    /// What it is.
    pub kind: SourceKind,
    /// What is shown when something in it is wrong: a file's text, `REYN_LLM__MODEL=light`, `--model light`.
    pub text: String,
}

/// What a [`Source`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// A file, so lines have numbers.
    File,
    /// An environment variable.
    Environment,
    /// A flag of the command line.
    CommandLine,
}

impl Source {
    /// The line with this number, counted from 1.
    pub(super) fn line(&self, number: u32) -> &str {
        let at = number.saturating_sub(1) as usize;
        self.text.lines().nth(at).unwrap_or_default()
    }
}

/// A position in a source, both counted from 1, the column in characters.
#[derive(Clone)]
pub(super) struct Mark {
    /// Where.
    pub source: Arc<Source>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Mark {
    /// `reyn.yaml:3`, or the name of a variable or flag.
    pub(super) fn origin(&self) -> String {
        match self.source.kind {
            SourceKind::File => format!("{}:{}", self.source.name, self.line),
            SourceKind::Environment | SourceKind::CommandLine => self.source.name.clone(),
        }
    }

    /// The same line, `characters` further on.
    pub(super) fn shifted(&self, characters: usize) -> Self {
        let characters = u32::try_from(characters).unwrap_or(0);
        Self { column: self.column.saturating_add(characters), ..self.clone() }
    }
}

/// A value with its place.
#[derive(Clone)]
pub(super) struct Node {
    /// Where it begins.
    pub mark: Mark,
    /// The value.
    pub value: NodeValue,
    /// The text before `${…}` was replaced in it; `None` when nothing was.
    pub template: Option<String>,
    /// Whether the value holds a secret, so that only the template may be shown.
    pub is_secret: bool,
}

/// What a [`Node`] holds.
#[derive(Clone, Debug)]
pub(super) enum NodeValue {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number from 0 up.
    Unsigned(u64),
    /// A whole number below 0.
    Signed(i64),
    /// Another finite number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map.
    Map(Members),
}

/// The members of a map, in written order.
pub(super) type Members = IndexMap<String, Member>;

/// One member of a map.
#[derive(Clone)]
pub(super) struct Member {
    /// Where the key stands.
    pub key: Mark,
    /// The value.
    pub node: Node,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_secret { f.write_str("(secret)") } else { self.value.fmt(f) }
    }
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.node.fmt(f)
    }
}

impl Node {
    /// A value as it was written.
    pub(super) const fn new(mark: Mark, value: NodeValue) -> Self {
        Self { mark, value, template: None, is_secret: false }
    }

    /// The members, when it is a map.
    pub(super) const fn members(&self) -> Option<&Members> {
        match &self.value {
            NodeValue::Map(members) => Some(members),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Unsigned(_)
            | NodeValue::Signed(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_)
            | NodeValue::List(_) => None,
        }
    }

    /// The value under a path of keys.
    pub(super) fn get<S: AsRef<str>>(&self, path: &[S]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.members()?.get(key.as_ref()).map(|member| &member.node))
    }

    /// How many values it holds, itself included.
    pub(super) fn count(&self) -> usize {
        1 + match &self.value {
            NodeValue::List(items) => items.iter().map(Self::count).sum(),
            NodeValue::Map(members) => members.values().map(|member| member.node.count()).sum::<usize>(),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Unsigned(_)
            | NodeValue::Signed(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_) => 0,
        }
    }
}

/// One step into a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A key of a map.
    Key(String),
    /// A place in a list.
    Index(usize),
}

impl Node {
    /// The value under `path`.
    pub(super) fn at(&self, path: &[Step]) -> Option<&Self> {
        path.iter().try_fold(self, |node, step| match (step, &node.value) {
            (Step::Key(key), NodeValue::Map(members)) => members.get(key).map(|member| &member.node),
            (Step::Index(index), NodeValue::List(items)) => items.get(*index),
            (Step::Key(_) | Step::Index(_), _) => None,
        })
    }

    /// Takes away what is under `path`. `false` when nothing is there.
    pub(super) fn remove(&mut self, path: &[Step]) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        match (first, &mut self.value) {
            (Step::Key(key), NodeValue::Map(members)) if rest.is_empty() => {
                members.shift_remove(key).is_some()
            }
            (Step::Key(key), NodeValue::Map(members)) => {
                members.get_mut(key).is_some_and(|member| member.node.remove(rest))
            }
            (Step::Index(index), NodeValue::List(items)) if *index < items.len() => {
                if rest.is_empty() {
                    items.remove(*index);
                    true
                } else {
                    items[*index].remove(rest)
                }
            }
            (Step::Key(_) | Step::Index(_), _) => false,
        }
    }
}

/// `llm.models.light`; places in lists are left out.
pub(super) fn dotted(path: &[Step]) -> String {
    let keys: Vec<&str> = path
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
        .collect();
    keys.join(".")
}
