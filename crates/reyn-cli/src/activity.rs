//! What a call is about and what came of it, each on one line.

use reyn_core::text::excerpt;
use reyn_core::tool::{Args, Outcome, ToolCall};
use serde_json::Value;

use crate::output;

/// What a call is about: its first text argument, short.
pub(crate) fn target(call: &ToolCall) -> String {
    match &call.args {
        Args::Object(map) => {
            let first = map.values().find_map(Value::as_str).unwrap_or_default();
            excerpt(&first.replace('\n', " "), 80)
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
                .filter(|(key, value)| !(is_echo(key, value) || *key == "encoding" && *value == "utf-8"))
                .map(|(key, value)| {
                    format!("{key} {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                })
                .collect();
            let size = (!output.body.is_empty()).then(|| output::size(output.body.len() as u64));
            let parts: Vec<String> = size.into_iter().chain(facts).collect();
            if parts.is_empty() { "done".to_owned() } else { parts.join(", ") }
        }
        Outcome::Error(error) => format!("{}: {}", error.kind.name(), excerpt(&error.message, 200)),
    }
}
