//! Answers that are names: what was found, and not words about it.

use serde_json::{Value, json};

use super::PROFILE;
use super::offer::results_of_the_turn;
use crate::conversation::Entry;
use crate::tool::{Outcome, Output};
use crate::tool_use::first_look::{asks_for_folders, asks_for_names, asks_for_the_first, number_asked};

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Any text.
    Text,
    /// Names, one a line: a model that has read names takes them for said, and says that they are above.
    Names(&'a Names<'a>),
    /// A short text, and behind it the passage that it is from: one of these.
    Cited(&'a [String]),
}

/// Names that were found, and are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names<'a> {
    /// All of these, in this order.
    All(Vec<&'a str>),
    /// So many of these.
    Some(Vec<&'a str>, std::ops::RangeInclusive<usize>),
}

impl Answer<'_> {
    /// The shapes of the text, and of what is said of where it is from.
    pub(super) fn schema(self) -> (Value, Option<Value>) {
        let text = |most: u32| json!({"type": "string", "minLength": 1, "maxLength": most});
        match self {
            Self::Text => (text(PROFILE.answer_chars_max), None),
            Self::Cited(passages) => {
                (text(PROFILE.cited_chars_max), Some(json!({"type": "string", "enum": passages})))
            }
            Self::Names(Names::All(names)) => {
                let lines: Vec<String> = names.iter().map(|name| format!("- {}", escaped(name))).collect();
                (json!({"type": "string", "pattern": format!("^{}$", lines.join("\\n"))}), None)
            }
            Self::Names(Names::Some(names, count)) => {
                let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
                let (name, least, most) = (names.join("|"), count.start() - 1, count.end() - 1);
                let pattern = format!("^- ({name})(\\n- ({name})){{{least},{most}}}$");
                (json!({"type": "string", "pattern": pattern}), None)
            }
        }
    }
}

/// A text as a regular expression of itself.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// The names that an answer is to be, where names were what came last and they are asked for. What a pattern found is
/// all of it the answer; of a whole folder it is the first so many, or those that the model picks.
pub(super) fn names_to_write(log: &[Entry]) -> Option<Names<'_>> {
    if !asks_for_names(log) || !matches!(log.last(), Some(Entry::Finished { outcome: Outcome::Ok(_), .. })) {
        return None;
    }
    let results = results_of_the_turn(log);
    let (call, output) = results.last().filter(|(call, _)| PROFILE.names.contains(&call.name.as_str()))?;
    let names = listed_names(output, asks_for_folders(log));
    let (all, is_found) = (names.len(), call.name != PROFILE.names[0]);
    let most = match number_asked(log) {
        _ if names.is_empty() => return None,
        Some(number) if is_found || asks_for_the_first(log) => number.min(all),
        Some(number) => return Some(Names::Some(names, number.min(all)..=number.min(all))),
        None if is_found => all,
        None => return Some(Names::Some(names, all.min(2)..=all)),
    };
    let mut bytes = 0;
    let fits = |name: &&str| {
        bytes += name.len() + 3;
        bytes < PROFILE.answer_chars_max as usize
    };
    Some(Names::All(names.into_iter().take(most).take_while(fits).collect()))
}

/// The passages that came last, by their source and file, where an answer is to be made of them.
pub(super) fn passages_to_cite(log: &[Entry]) -> Vec<String> {
    let is_last = matches!(log.last(), Some(Entry::Finished { outcome: Outcome::Ok(_), .. }));
    let results = results_of_the_turn(log);
    let last = results.last().filter(|(call, _)| is_last && call.name == PROFILE.indexes.recalls);
    let found = last.and_then(|(_, output)| output.fields.get("results")?.as_array());
    let mut passages = vec![];
    for passage in found.into_iter().flatten() {
        let source = passage["source"].as_str().unwrap_or_default();
        let path = passage["metadata"]["path"].as_str().unwrap_or_default();
        let cited = if path.is_empty() { source.to_owned() } else { format!("{source}: {path}") };
        if !cited.is_empty() && !cited.contains(char::is_control) && !passages.contains(&cited) {
            passages.push(cited);
        }
    }
    passages
}

/// The names of a result, as far as a model was shown them; of folders alone, where only those are asked for. Hidden
/// ones are passed over.
fn listed_names(output: &Output, is_of_folders: bool) -> Vec<&str> {
    let beside = output.fields.get("folders").and_then(Value::as_str).unwrap_or_default();
    let beside = beside.rsplit(": ").next().unwrap_or_default().split(", ");
    let listed = crate::text::prefix(&output.body, PROFILE.list_bytes_max).lines();
    let is_wanted =
        |name: &&str| !name.is_empty() && !name.starts_with('.') && (name.ends_with('/') || !is_of_folders);
    beside.chain(listed).filter(is_wanted).collect()
}
