//! How a model writes its calls: natively, as JSON in its text, or as JSON under a schema.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer_stream::with_source;
use super::{Surface, small_model};
use crate::conversation::{Entry, Finish, Reply};
use crate::prompt::{self, Environment};
use crate::request::{ChatReply, ChatRequest, Message, RawCall, messages};
use crate::tool::{Args, ToolCall};

/// How a model class writes calls (`llm.models.<class>.tool_format`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolFormat {
    /// Through the server's own call channel.
    #[default]
    Native,
    /// As one JSON object in its text, for models whose server hands calls back as text.
    Text,
    /// As one JSON object that a schema enforces while it is written.
    Constrained,
}

/// What decides how a request is written and a reply is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Framing {
    /// How calls are written. The formats in text bring the small-model profile with them.
    pub format: ToolFormat,
}

impl Framing {
    /// Writes the request for the next round. `offer_tools: false` leaves only an answer possible.
    #[must_use]
    pub fn request<'a>(
        self,
        surface: &'a Surface,
        log: &'a [Entry],
        environment: &Environment,
        offer_tools: bool,
    ) -> ChatRequest<'a> {
        match self.format {
            ToolFormat::Native => {
                let mut all = vec![Message::System(Cow::Owned(prompt::system(environment)))];
                all.extend(messages(log));
                let tools: &[Value] = if offer_tools { &surface.declarations } else { &[] };
                ChatRequest {
                    messages: all,
                    static_messages: 1,
                    tools: Cow::Borrowed(tools),
                    ..ChatRequest::default()
                }
            }
            ToolFormat::Text | ToolFormat::Constrained => {
                small_model::request_with_what_is_at_hand(self.format, surface, log, environment, offer_tools)
            }
        }
    }

    /// Reads a complete reply. `is_valid` says whether a call names a known tool and fits its schema; it is
    /// asked only about calls found in text.
    #[must_use]
    pub fn read(self, reply: ChatReply, is_valid: &dyn Fn(&ToolCall) -> bool) -> Parsed {
        let is_cut = reply.finish == Finish::Length;
        let calls = native_calls(&reply.calls, is_cut);
        let (text, calls, salvaged) = match self.format {
            ToolFormat::Native => (reply.text, calls, false),
            ToolFormat::Text | ToolFormat::Constrained if !calls.is_empty() => (reply.text, calls, false),
            ToolFormat::Text => match call_in_text(&reply.text).filter(|call| is_valid(call)) {
                Some(call) => (String::new(), vec![call], true),
                None => (answer_in(&reply.text).unwrap_or(reply.text), vec![], false),
            },
            ToolFormat::Constrained => small_model::read(reply.text, is_cut),
        };
        Reply { text, calls, finish: reply.finish, usage: reply.usage, salvaged }
    }
}

/// A reply with its calls read.
pub type Parsed = Reply;

/// Native calls with unique ids and parsed arguments. A name that a server prefixed with its namespace
/// loses the prefix.
fn native_calls(raw: &[RawCall], is_cut: bool) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = vec![];
    for (at, call) in raw.iter().enumerate() {
        let is_taken = calls.iter().any(|earlier| earlier.id == call.id);
        let id = if call.id.is_empty() || is_taken { unused_id(at, raw, &calls) } else { call.id.clone() };
        let is_last = at + 1 == raw.len();
        let name = ["default_api.", "functions."]
            .iter()
            .find_map(|prefix| call.name.strip_prefix(prefix))
            .unwrap_or(&call.name);
        calls.push(ToolCall {
            id,
            name: name.to_owned(),
            args: Args::parse(&call.arguments, is_cut && is_last),
        });
    }
    calls
}

/// An id that no call of the reply has, neither as it came nor as it was made unique.
fn unused_id(at: usize, raw: &[RawCall], calls: &[ToolCall]) -> String {
    let is_unused =
        |id: &String| raw.iter().all(|call| call.id != *id) && calls.iter().all(|call| call.id != *id);
    (at..).map(|number| format!("call_{number}")).find(is_unused).expect("a reply has few calls")
}

/// The one call that a text consists of: a JSON object, bare, in a fence or in call tags.
#[must_use]
pub fn call_in_text(text: &str) -> Option<ToolCall> {
    let object: Map<String, Value> = serde_json::from_str(unwrapped(text)).ok()?;
    call_from(object)
}

/// The text of a reply that is exactly `{"answer": "…"}`, or has the passage that it is from behind it.
fn answer_in(text: &str) -> Option<String> {
    let object: Map<String, Value> = serde_json::from_str(unwrapped(text)).ok()?;
    match (object.len(), object.get("answer"), object.get("source")) {
        (1, Some(Value::String(answer)), None) => Some(answer.clone()),
        (2, Some(Value::String(answer)), Some(Value::String(source))) => Some(with_source(answer, source)),
        _ => None,
    }
}

/// Reads `{"tool": …, "args": {…}}` and the other spellings that models were trained on.
pub(crate) fn call_from(mut object: Map<String, Value>) -> Option<ToolCall> {
    if let Some(Value::Object(inner)) = object.get_mut("function") {
        object = std::mem::take(inner);
    }
    let name = ["tool", "name", "tool_name"].iter().find_map(|key| object.get(*key)?.as_str())?.to_owned();
    let keys = ["args", "arguments", "parameters", "input"];
    let args = match keys.iter().find_map(|key| object.remove(*key)) {
        Some(Value::Object(args)) => Args::from_object(args),
        Some(Value::String(text)) => Args::parse(&text, false),
        Some(Value::Null) | None => Args::Object(Map::new()),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => return None,
    };
    Some(ToolCall { id: "call_0".to_owned(), name, args })
}

/// Takes a fence or call tags off a text that consists of one.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    for (open, close) in [("<tool_call>", "</tool_call>"), ("<function_call>", "</function_call>")] {
        if let Some(inner) = text.strip_prefix(open) {
            return inner.strip_suffix(close).unwrap_or(inner).trim();
        }
    }
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    match inner.split_once('\n') {
        Some((tag, body)) if tag.trim().chars().all(char::is_alphanumeric) => body.trim(),
        Some(_) | None => inner.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(format: ToolFormat, text: &str) -> Parsed {
        let reply = ChatReply { text: text.into(), ..ChatReply::default() };
        let is_valid = |call: &ToolCall| {
            call.name == "read_file" && call.args.as_object().is_some_and(|args| args.contains_key("path"))
        };
        Framing { format }.read(reply, &is_valid)
    }

    fn call(args: &Value) -> ToolCall {
        ToolCall {
            id: "call_0".into(),
            name: "read_file".into(),
            args: Args::parse(&args.to_string(), false),
        }
    }

    #[test]
    fn one_json_object_that_is_a_valid_call_is_salvaged_from_text() {
        let args = json!({"path": "a"});
        for text in [
            r#"{"tool": "read_file", "args": {"path": "a"}}"#,
            r#"  {"name": "read_file", "arguments": {"path": "a"}}  "#,
            "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```",
            "```\n{\"name\": \"read_file\", \"parameters\": {\"path\": \"a\"}}\n```",
            "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
            "<tool_call>{\"name\": \"read_file\", \"arguments\": \"{\\\"path\\\":\\\"a\\\"}\"}",
            r#"{"type": "function", "function": {"name": "read_file", "arguments": {"path": "a"}}}"#,
        ] {
            let parsed = read(ToolFormat::Text, text);
            assert_eq!(
                (parsed.calls.as_slice(), parsed.salvaged),
                ([call(&args)].as_slice(), true),
                "{text}"
            );
        }
    }

    #[test]
    fn text_that_is_not_exactly_one_valid_call_stays_text() {
        for text in [
            r#"{"tool": "rm", "args": {"path": "a"}}"#,
            r#"{"tool": "read_file", "args": {}}"#,
            r#"Call it like {"tool": "read_file", "args": {"path": "a"}}"#,
            r#"[{"tool": "read_file", "args": {"path": "a"}}]"#,
            "plain words",
        ] {
            let parsed = read(ToolFormat::Text, text);
            assert_eq!((parsed.text.as_str(), parsed.calls.len()), (text, 0));
        }
    }

    #[test]
    fn quoted_json_of_a_native_model_stays_text() {
        let text = r#"{"tool": "read_file", "args": {"path": "a"}}"#;
        let parsed = read(ToolFormat::Native, text);
        assert_eq!((parsed.text.as_str(), parsed.calls.len(), parsed.salvaged), (text, 0, false));
    }

    #[test]
    fn native_ids_are_made_unique_and_namespaces_are_dropped() {
        let raw = |id: &str, name: &str| RawCall { id: id.into(), name: name.into(), arguments: "{}".into() };
        let reply = ChatReply {
            calls: vec![raw("x", "read_file"), raw("x", "default_api.read_file"), raw("", "functions.exec")],
            ..ChatReply::default()
        };
        let parsed = Framing::default().read(reply, &|_| true);
        let pairs: Vec<_> = parsed.calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
        assert_eq!(pairs, [("x", "read_file"), ("call_1", "read_file"), ("call_2", "exec")]);
    }

    #[test]
    fn an_id_that_is_made_up_is_never_one_that_the_server_gave() {
        for given in [["call_1", "call_1", ""], ["call_1", "", "call_2"], ["", "call_0", "call_0"]] {
            let raw = given.map(|id| RawCall { id: id.into(), ..RawCall::default() });
            let reply = ChatReply { calls: raw.to_vec(), ..ChatReply::default() };
            let calls = Framing::default().read(reply, &|_| true).calls;
            let ids: std::collections::BTreeSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            assert_eq!(ids.len(), 3, "{given:?} became {ids:?}");
        }
    }

    #[test]
    fn a_call_in_text_is_bound_to_the_same_depth_as_a_native_one() {
        let text = format!(r#"{{"tool": "x", "args": {{"a": {}1{}}}}}"#, "[".repeat(100), "]".repeat(100));
        let call = call_in_text(&text).unwrap();
        assert!(matches!(call.args, Args::Malformed { .. }), "{call:?}");
    }

    #[test]
    fn only_the_last_call_of_a_cut_reply_is_blamed_on_the_limit() {
        let raw =
            |arguments: &str| RawCall { id: String::new(), name: "a".into(), arguments: arguments.into() };
        let reply = ChatReply {
            calls: vec![raw("{}"), raw(r#"{"path": "x"#)],
            finish: Finish::Length,
            ..ChatReply::default()
        };
        let parsed = Framing::default().read(reply, &|_| true);
        assert!(parsed.calls[0].args.as_object().is_some());
        let Args::Malformed { error, .. } = &parsed.calls[1].args else { panic!("malformed") };
        assert!(error.contains("token limit"));
    }
}
