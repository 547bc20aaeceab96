//! A tree into a typed value, with everything that is wrong in it.

use reyn_core::limits::CONFIG_PROBLEMS_MAX;
use reyn_core::text::{alternatives, excerpt, nearest};
use serde::Deserialize;

use super::deserializer::{Cause, Failure, Found};
use super::node::{Mark, Node, NodeValue, Step, dotted};
use super::problem::ConfigProblem;
use super::retired;

/// Longest value that a message repeats, in characters.
const VALUE_CHARS_MAX: usize = 60;
/// Most names that a hint lists.
const NAMES_MAX: usize = 20;

/// A typed value, and what was left out of it.
pub(super) struct Decoded<T> {
    /// The value of what is right.
    pub value: T,
    /// What is wrong, in no order.
    pub problems: Vec<ConfigProblem>,
    /// Where it is wrong.
    pub removed: Vec<Vec<Step>>,
}

/// Decodes `tree`; each wrong node is reported and taken out, then the rest is decoded.
pub(super) fn decode<T: for<'de> Deserialize<'de> + Default>(tree: &mut Node) -> Decoded<T> {
    let mut problems = vec![];
    let mut removed: Vec<Vec<Step>> = vec![];
    while problems.len() < CONFIG_PROBLEMS_MAX {
        let failure = match T::deserialize(&*tree) {
            Ok(value) => return Decoded { value, problems, removed },
            Err(failure) => failure,
        };
        let path = failure.path();
        if !is_consequence(&failure, &path, &removed) {
            problems.push(problem(&failure, &path, tree));
        }
        if !tree.remove(&path) {
            break;
        }
        removed.push(path);
    }
    Decoded { value: T::default(), problems, removed }
}

/// Whether a map only lacks a key because a wrong value was taken out of it.
fn is_consequence(failure: &Failure, path: &[Step], removed: &[Vec<Step>]) -> bool {
    let Cause::MissingKey(key) = failure.cause else { return false };
    let mut lacking = path.to_vec();
    lacking.push(Step::Key(key.to_owned()));
    removed.contains(&lacking)
}

fn problem(failure: &Failure, path: &[Step], tree: &Node) -> ConfigProblem {
    let node = tree.at(path).unwrap_or(tree);
    let name = dotted(path);
    let is_secret = node.is_secret;
    match &failure.cause {
        Cause::UnknownKey { valid } => unknown_key(path, tree, valid),
        Cause::UnknownWord { word, valid } => {
            let shown = shown(&Found::Value(word.clone()), is_secret);
            let message = format!("`{name}` must be {}, not {shown}", alternatives(valid));
            ConfigProblem::at(&node.mark, message).maybe_hint(did_you_mean(word, valid.iter().copied()))
        }
        Cause::Mismatch { found, expected } => {
            let message = format!("`{name}` must be {expected}, not {}", shown(found, is_secret));
            ConfigProblem::at(&node.mark, message).maybe_hint(mismatch_hint(node, found, expected))
        }
        Cause::MissingKey(key) => {
            let message = format!("`{name}` lacks `{key}`");
            ConfigProblem::at(&node.mark, message).hint(format!("add `{key}: …`"))
        }
        Cause::Other(message) => ConfigProblem::at(&node.mark, format!("`{name}`: {message}")),
    }
}

fn unknown_key(path: &[Step], tree: &Node, valid: &[&str]) -> ConfigProblem {
    let Some((Step::Key(key), parent)) = path.split_last() else {
        return ConfigProblem::at(&tree.mark, "unknown key");
    };
    let parent_node = tree.at(parent).unwrap_or(tree);
    let member = parent_node.members().and_then(|members| members.get(key));
    let mark: &Mark = member.map_or(&parent_node.mark, |member| &member.key);
    let place = match dotted(parent) {
        place if place.is_empty() => String::new(),
        place => format!(" in `{place}`"),
    };
    let hint = member
        .and_then(|member| retired::advice(path, &member.node))
        .or_else(|| did_you_mean(key, valid.iter().copied()))
        .unwrap_or_else(|| format!("the keys here are {}", listed(valid)));
    ConfigProblem::at(mark, format!("unknown key `{}`{place}", excerpt(key, VALUE_CHARS_MAX))).hint(hint)
}

/// ``did you mean `light`?``, for the nearest of the names.
pub(super) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, names).first().map(|name| format!("did you mean `{name}`?"))
}

/// Names in backticks, as many as a line takes.
pub(super) fn listed(names: &[impl AsRef<str>]) -> String {
    let mut shown: Vec<String> =
        names.iter().take(NAMES_MAX).map(|name| format!("`{}`", name.as_ref())).collect();
    if names.len() > NAMES_MAX {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

fn shown(found: &Found, is_secret: bool) -> String {
    match found {
        Found::Kind(kind) => (*kind).to_owned(),
        Found::Value(_) if is_secret => "the value of a secret".to_owned(),
        Found::Value(text) => format!("`{}`", excerpt(text, VALUE_CHARS_MAX)),
    }
}

fn mismatch_hint(node: &Node, found: &Found, expected: &str) -> Option<String> {
    let Found::Value(text) = found else { return None };
    let is_text = matches!(node.value, NodeValue::Text(_));
    let is_number = expected.starts_with("a whole number") || expected == "a number";
    if is_text && is_number && text.parse::<f64>().is_ok() {
        return Some("write it without quotes".to_owned());
    }
    if matches!(node.value, NodeValue::Unsigned(_)) && is_number {
        return Some("the number is too large".to_owned());
    }
    if expected == "text" {
        return Some(format!("write it in quotes: `\"{}\"`", excerpt(text, VALUE_CHARS_MAX)));
    }
    if expected.ends_with("a list of paths") && text.contains(['/', '.', '~']) {
        return Some(format!("write a path as a list: `[\"{}\"]`", excerpt(text, VALUE_CHARS_MAX)));
    }
    if is_text && expected.ends_with("a list of commands") && text.contains([' ', '/', '.']) {
        return Some(format!("write a command as a list: `[\"{}\"]`", excerpt(text, VALUE_CHARS_MAX)));
    }
    // The odd pieces between backticks are the words that are possible.
    let words = expected.split('`').skip(1).step_by(2);
    if is_text && !node.is_secret { did_you_mean(text, words) } else { None }
}
