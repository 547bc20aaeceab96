//! Dotted keys into nested ones, and one layer over another.

use std::mem;

use super::node::{Mark, Member, Members, Node, NodeValue};
use super::problem::ConfigProblem;

/// Parts of one dotted key.
const KEY_PARTS_MAX: usize = 16;

/// Whether the map under `path` takes any key, so that a dot in a key is part of a name.
pub(super) fn takes_any_key<S: AsRef<str>>(path: &[S]) -> bool {
    let path: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
    matches!(
        path.as_slice(),
        ["llm", "models"]
            | ["llm", "models", _, "extra_body", ..]
            | ["embedding", "classes"]
            | ["embedding", "classes", _, "extra_body", ..]
    )
}

/// Writes `file.write: …` as `file: {write: …}`. The same value in both forms is a problem.
pub(super) fn nest(root: Node) -> (Node, Vec<ConfigProblem>) {
    let mut nesting = Nesting { problems: vec![] };
    let node = nesting.nest(root, &mut vec![]);
    (node, nesting.problems)
}

struct Nesting {
    problems: Vec<ConfigProblem>,
}

/// What is to be put under a key whose first parts are already walked.
struct Insertion {
    parts: Vec<String>,
    key: Mark,
    node: Node,
}

impl Nesting {
    fn nest(&mut self, mut node: Node, path: &mut Vec<String>) -> Node {
        match &mut node.value {
            NodeValue::Map(members) => {
                for (name, Member { key, node }) in mem::take(members) {
                    self.insert(members, path, Insertion { parts: parts(&name), key, node });
                }
            }
            NodeValue::List(items) => {
                for item in mem::take(items) {
                    items.push(self.nest(item, path));
                }
            }
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Unsigned(_)
            | NodeValue::Signed(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_) => {}
        }
        node
    }

    fn insert(&mut self, target: &mut Members, path: &mut Vec<String>, mut insertion: Insertion) {
        let is_last = insertion.parts.len() == 1 || takes_any_key(path);
        if is_last {
            let name = insertion.parts.join(".");
            path.push(name.clone());
            let node = self.nest(insertion.node, path);
            self.place(target, path, (name, Member { key: insertion.key, node }));
            path.pop();
            return;
        }
        let head = insertion.parts.remove(0);
        path.push(head.clone());
        let empty = || Node::new(insertion.key.clone(), NodeValue::Map(Members::new()));
        let member = target
            .entry(head.clone())
            .or_insert_with(|| Member { key: insertion.key.clone(), node: empty() });
        if matches!(member.node.value, NodeValue::Null) {
            member.node = empty();
        }
        match &mut member.node.value {
            NodeValue::Map(inner) => {
                let key = after_part(&insertion.key, &head);
                self.insert(inner, path, Insertion { key, ..insertion });
            }
            NodeValue::Bool(_)
            | NodeValue::Unsigned(_)
            | NodeValue::Signed(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_)
            | NodeValue::List(_)
            | NodeValue::Null => {
                let first = member.key.clone();
                self.twice(path, &insertion.key, &first);
            }
        }
        path.pop();
    }

    /// Puts a member into a map that may hold parts of it already.
    fn place(&mut self, target: &mut Members, path: &mut Vec<String>, (name, member): (String, Member)) {
        let Some(present) = target.get_mut(&name) else {
            target.insert(name, member);
            return;
        };
        match (&mut present.node.value, member.node.value) {
            (NodeValue::Map(inner), NodeValue::Map(more)) => {
                for (name, member) in more {
                    path.push(name.clone());
                    self.place(inner, path, (name, member));
                    path.pop();
                }
            }
            (NodeValue::Map(_), NodeValue::Null) => {}
            (_, _) => {
                let first = present.key.clone();
                self.twice(path, &member.key, &first);
            }
        }
    }

    fn twice(&mut self, path: &[String], second: &Mark, first: &Mark) {
        let message = format!("`{}` is given twice, nested and with dots", path.join("."));
        let hint = format!("the other is on line {}; keep one", first.line);
        self.problems.push(ConfigProblem::at(second, message).hint(hint));
    }
}

fn parts(key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.split('.').collect();
    let is_path = parts.len() <= KEY_PARTS_MAX && parts.iter().all(|part| !part.is_empty());
    if is_path { parts.into_iter().map(str::to_owned).collect() } else { vec![key.to_owned()] }
}

/// The place after `part.` in a dotted key.
fn after_part(key: &Mark, part: &str) -> Mark {
    let first = key.source.line(key.line).chars().nth(key.column.saturating_sub(1) as usize);
    let quote = usize::from(matches!(first, Some('"' | '\'')));
    key.shifted(quote + part.chars().count() + 1)
}

/// Puts `over` above `base`: maps are merged, everything else is replaced.
///
/// An empty section (`llm:` with nothing below it) says nothing about a map below it.
pub(super) fn merge(base: &mut Node, over: Node) {
    match (&mut base.value, over.value) {
        (NodeValue::Map(members), NodeValue::Map(more)) => {
            for (name, member) in more {
                match members.get_mut(&name) {
                    Some(present) => merge(&mut present.node, member.node),
                    None => {
                        members.insert(name, member);
                    }
                }
            }
        }
        (NodeValue::Map(_), NodeValue::Null) => {}
        (_, value) => {
            *base = Node { mark: over.mark, value, template: over.template, is_secret: over.is_secret }
        }
    }
}
