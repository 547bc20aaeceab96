//! What a call is about and what came of it, each on one line.

use reyn_core::redaction::redact_secrets;
use reyn_core::text::{excerpt, shell_word};
use reyn_core::tool::{Args, Outcome, ToolCall};
use serde_json::{Map, Value};

use crate::output;

/// A text, or a list of words as a line.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let words: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(shell_word)).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Facts that say nothing to a person who watches.
fn is_usual(key: &str, value: &Value, fields: &Map<String, Value>) -> bool {
    match key {
        "encoding" => *value == "utf-8",
        // What confined a program; a search engine is worth a word.
        "backend" => matches!(value.as_str(), Some("landlock" | "seatbelt")),
        "status_code" => *value == 200,
        "content_type" => *value == "text/html",
        "truncated" => *value == false,
        // `returncode` says it.
        "status" => fields.get("returncode").is_some_and(|code| *code != -1),
        _ => false,
    }
}

/// A fact's value on one line: of a text with lines its last.
fn fact(value: &Value) -> String {
    if let Some(items) = value.as_array().filter(|items| items.iter().all(Value::is_object)) {
        return items.len().to_string();
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let last = text.trim_end().lines().last().unwrap_or_default();
    excerpt(&redact_secrets(last), FACT_CHARS_MAX)
}

/// Longest value of a fact on a call's line.
const FACT_CHARS_MAX: usize = 120;

/// What a call is about: its first argument in words, short.
pub(crate) fn target(call: &ToolCall) -> String {
    match &call.args {
        Args::Object(map) => {
            let first = map.values().find_map(words).unwrap_or_default();
            excerpt(&redact_secrets(&first).replace('\n', " "), 80)
        }
        Args::Malformed { .. } => "(unreadable arguments)".to_owned(),
    }
}

/// What came of a call: its size and the facts that the call did not name, or its error.
pub(crate) fn outcome_line(call: &ToolCall, outcome: &Outcome) -> String {
    // What the call named stands above already.
    let is_echo =
        |key: &str, value: &Value| call.args.as_object().is_some_and(|args| args.get(key) == Some(value));
    match outcome {
        Outcome::Ok(output) => {
            let facts: Vec<String> = output
                .fields
                .iter()
                .filter(|(key, value)| !(is_echo(key, value) || is_usual(key, value, &output.fields)))
                .map(|(key, value)| format!("{key} {}", fact(value)))
                .collect();
            let size = (!output.body.is_empty()).then(|| output::size(output.body.len() as u64));
            // A page is from outside anyway; of a file one would not know.
            let brought = output.external.as_ref().filter(|external| external.external_tool != call.name);
            let brought = brought.map(|external| format!("came by {}", external.external_tool));
            let threats = output.external.iter().filter(|external| !external.threats.is_empty());
            let threats =
                threats.map(|external| format!("looks like an attack: {}", external.threats.join(", ")));
            let parts: Vec<String> = size.into_iter().chain(facts).chain(brought).chain(threats).collect();
            if parts.is_empty() { "done".to_owned() } else { parts.join(", ") }
        }
        Outcome::Error(error) => format!("{}: {}", error.kind.name(), excerpt(&error.message, 200)),
    }
}
