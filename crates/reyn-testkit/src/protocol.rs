//! The rules of the chat protocol that strict servers enforce.

use reyn_core::request::{ChatRequest, Message};
use serde_json::{Value, json};

/// Checks the body of a `/chat/completions` request.
///
/// # Errors
/// Says which message breaks which rule.
pub fn check_request(body: &Value) -> Result<(), String> {
    let object = body.as_object().ok_or("the body is not an object")?;
    if object.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err("`model` is not a name".to_owned());
    }
    let messages = object.get("messages").and_then(Value::as_array).ok_or("`messages` is not a list")?;
    check_messages(messages)?;
    object.get("tools").map_or(Ok(()), check_tools)
}

/// Most texts that strict servers take in one request for vectors.
const TEXTS_MAX: usize = 2048;

/// Checks the body of a request for vectors, `/v1/embeddings` or Ollama's `/api/embed`.
///
/// # Errors
/// Says which rule is broken.
pub fn check_embedding_request(body: &Value) -> Result<(), String> {
    if body.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err("`model` is not a name".to_owned());
    }
    let texts = body.get("input").and_then(Value::as_array).ok_or("`input` is not a list")?;
    if texts.is_empty() || texts.len() > TEXTS_MAX {
        return Err(format!("`input` has {} texts", texts.len()));
    }
    let is_text = |text: &Value| text.as_str().is_some_and(|text| !text.is_empty());
    if texts.iter().all(is_text) { Ok(()) } else { Err("`input` holds an empty text or none".to_owned()) }
}

/// Panics when a request breaks a rule, whatever the model.
///
/// # Panics
/// With the rule and the whole conversation.
pub fn assert_valid_messages(request: &ChatRequest<'_>) {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    let tools = Value::Array(request.tools.to_vec());
    let checked = check_messages(&messages)
        .and_then(|()| if request.tools.is_empty() { Ok(()) } else { check_tools(&tools) });
    if let Err(rule) = checked {
        let lines: Vec<String> = messages.iter().map(Value::to_string).collect();
        panic!("the request breaks the protocol: {rule}\n{}", lines.join("\n"));
    }
}

fn message(message: &Message<'_>) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => {
            let call = |call: &reyn_core::tool::ToolCall| {
                let function = json!({"name": call.name, "arguments": call.args.to_json()});
                json!({"id": call.id, "type": "function", "function": function})
            };
            json!({"role": "assistant", "content": text, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
        }
        Message::ToolResult { call_id, text, .. } => {
            json!({"role": "tool", "tool_call_id": call_id, "content": text})
        }
    }
}

fn check_messages(messages: &[Value]) -> Result<(), String> {
    let roles: Vec<&str> = messages.iter().map(role).collect();
    if roles.first() != Some(&"system") {
        return Err("the first message is not the system's".to_owned());
    }
    if roles.get(1) != Some(&"user") {
        return Err("the second message is not the user's".to_owned());
    }
    let mut awaited: Vec<&str> = vec![];
    for (at, message) in messages.iter().enumerate() {
        let fault = |what: &str| Err(format!("message {at}: {what}"));
        let text = message.get("content").and_then(Value::as_str);
        if roles[at] != "tool" && !awaited.is_empty() {
            return fault(&format!("the calls {awaited:?} before it have no result"));
        }
        match roles[at] {
            "system" if at > 0 => return fault("a system message that is not the first"),
            "system" if text.is_none_or(str::is_empty) => return fault("an empty system message"),
            "system" => {}
            "user" if text.is_none_or(str::is_empty) => return fault("an empty user message"),
            "user" if roles[at - 1] == "user" => return fault("two user messages in a row"),
            "user" => {}
            "assistant" if roles[at - 1] == "assistant" => return fault("two assistant messages in a row"),
            "assistant" => awaited = call_ids(message).map_err(|what| format!("message {at}: {what}"))?,
            "tool" => {
                if text.is_none() {
                    return fault("a result without text");
                }
                let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
                let Some(place) = awaited.iter().position(|awaited| *awaited == id) else {
                    return fault(&format!("a result for the call `{id}`, which waits for none"));
                };
                awaited.remove(place);
            }
            other => return fault(&format!("the role `{other}` does not exist")),
        }
    }
    if awaited.is_empty() { Ok(()) } else { Err(format!("the last calls {awaited:?} have no result")) }
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

/// The ids of an assistant message's calls, each checked.
fn call_ids(message: &Value) -> Result<Vec<&str>, String> {
    let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
    let Some(calls) = message.get("tool_calls") else {
        return if text.is_empty() { Err("an empty assistant message".to_owned()) } else { Ok(vec![]) };
    };
    let calls =
        calls.as_array().filter(|calls| !calls.is_empty()).ok_or("`tool_calls` is not a list of calls")?;
    let mut ids: Vec<&str> = vec![];
    for call in calls {
        let id = call
            .get("id")
            .and_then(Value::as_str)
            .filter(|id| !id.is_empty())
            .ok_or("a call without an id")?;
        if ids.contains(&id) {
            return Err(format!("two calls with the id `{id}`"));
        }
        if call.get("type").and_then(Value::as_str) != Some("function") {
            return Err(format!("the call `{id}` is not of type `function`"));
        }
        let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            return Err(format!("the call `{id}` has no name"));
        }
        let arguments = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
            return Err(format!(
                "the arguments of the call `{id}` are not the text of a JSON object: {arguments}"
            ));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn check_tools(tools: &Value) -> Result<(), String> {
    let tools = tools.as_array().filter(|tools| !tools.is_empty()).ok_or("`tools` is not a list of tools")?;
    let mut names: Vec<&str> = vec![];
    for tool in tools {
        let name = tool.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        let is_well_named = (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !is_well_named {
            return Err(format!("`{name}` is no name for a tool"));
        }
        if names.contains(&name) {
            return Err(format!("the tool `{name}` is declared twice"));
        }
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            return Err(format!("the tool `{name}` is not of type `function`"));
        }
        if tool.pointer("/function/description").and_then(Value::as_str).is_none() {
            return Err(format!("the tool `{name}` has no description"));
        }
        if tool.pointer("/function/parameters/type").and_then(Value::as_str) != Some("object") {
            return Err(format!("the parameters of the tool `{name}` are not an object"));
        }
        names.push(name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rest: Value) -> Result<(), String> {
        let mut messages =
            vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "u"})];
        messages.extend(rest.as_array().unwrap().clone());
        check_request(&json!({"model": "m", "messages": messages}))
    }

    fn calls(ids: &[&str]) -> Value {
        let call =
            |id: &&str| json!({"id": id, "type": "function", "function": {"name": "a", "arguments": "{}"}});
        json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": ""})
    }

    #[test]
    fn a_valid_conversation_passes() {
        let says = json!({"role": "assistant", "content": "a"});
        let user = json!({"role": "user", "content": "u"});
        for rest in [
            json!([]),
            json!([says, user]),
            json!([calls(&["a", "b"]), result("b"), result("a"), says]),
            json!([calls(&["a"]), result("a"), calls(&["a"]), result("a"), user]),
        ] {
            assert_eq!(check(rest.clone()), Ok(()), "{rest}");
        }
    }

    #[test]
    fn a_conversation_that_breaks_a_rule_is_refused_with_the_rule() {
        let bad_args = json!({"role": "assistant", "tool_calls":
            [{"id": "a", "type": "function", "function": {"name": "a", "arguments": "[]"}}]});
        for (rest, says) in [
            (json!([{"role": "user", "content": "u"}]), "message 2: two user messages in a row"),
            (json!([{"role": "assistant", "content": ""}]), "message 2: an empty assistant message"),
            (json!([{"role": "robot", "content": ""}]), "message 2: the role `robot` does not exist"),
            (
                json!([{"role": "system", "content": "s"}]),
                "message 2: a system message that is not the first",
            ),
            (json!([result("a")]), "message 2: a result for the call `a`, which waits for none"),
            (json!([calls(&["a"])]), "the last calls [\"a\"] have no result"),
            (json!([calls(&["a", "a"])]), "message 2: two calls with the id `a`"),
            (
                json!([calls(&["a", "b"]), result("a"), {"role": "user", "content": "u"}]),
                "message 4: the calls [\"b\"] before it have no result",
            ),
            (
                json!([calls(&["a"]), result("a"), result("a")]),
                "message 4: a result for the call `a`, which waits for none",
            ),
            (
                json!([bad_args]),
                "message 2: the arguments of the call `a` are not the text of a JSON object: []",
            ),
        ] {
            assert_eq!(check(rest), Err(says.to_owned()));
        }
    }

    #[test]
    fn tools_must_be_well_formed() {
        let with = |tools: Value| {
            let messages = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]);
            check_request(&json!({"model": "m", "messages": messages, "tools": tools}))
        };
        let tool = |name: &str| {
            let function = json!({"name": name, "description": "", "parameters": {"type": "object"}});
            json!({"type": "function", "function": function})
        };
        assert_eq!(with(json!([tool("a"), tool("b-_9")])), Ok(()));
        assert_eq!(with(json!([tool("a.b")])), Err("`a.b` is no name for a tool".to_owned()));
        assert_eq!(with(json!([tool(&"a".repeat(65))])).unwrap_err().len(), 65 + 24);
        assert_eq!(with(json!([tool("a"), tool("a")])), Err("the tool `a` is declared twice".to_owned()));
        assert_eq!(with(json!([])), Err("`tools` is not a list of tools".to_owned()));
    }
}
