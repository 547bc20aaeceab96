//! The body of a request, written without copying the conversation.

use reyn_core::request::{ChatRequest, Message};
use reyn_core::settings::ModelOptions;
use reyn_core::tool::ToolCall;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value, json};

/// The body of one `/chat/completions` request. A field of `extra_body` replaces ours of the same name.
pub(super) struct WireRequest<'a> {
    pub(super) model: &'a str,
    /// What every call must carry beside the protocol's own fields; see [`call_extra`].
    pub(super) call_extra: Option<&'a Value>,
    pub(super) options: &'a ModelOptions,
    pub(super) request: &'a ChatRequest<'a>,
}

/// The `extra_content` of every call in a history for a provider.
///
/// Gemini refuses calls without the signature that its reply carried, which a neutral log does not keep; the
/// value here is the one it documents for calls from elsewhere.
pub(super) fn call_extra(provider: &str) -> Option<Value> {
    (provider == "gemini")
        .then(|| json!({"google": {"thought_signature": "skip_thought_signature_validator"}}))
}

impl WireRequest<'_> {
    /// The body as JSON text.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings and JSON values can be written")
    }

    fn output_tokens_max(&self) -> Option<u32> {
        let limits = [self.request.output_tokens_max, self.options.max_completion_tokens];
        limits.into_iter().flatten().min()
    }
}

impl Serialize for WireRequest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let none = Map::new();
        let extra = self.options.extra_body.as_ref().unwrap_or(&none);
        let mut body = Fields { map: serializer.serialize_map(None)?, extra };
        body.field("model", self.model)?;
        body.field("messages", &WireMessages(&self.request.messages, self.call_extra))?;
        if !self.request.tools.is_empty() {
            body.field("tools", &self.request.tools)?;
        }
        if let Some(schema) = &self.request.response_schema {
            let json_schema = json!({"name": "reply", "strict": true, "schema": schema});
            body.field("response_format", &json!({"type": "json_schema", "json_schema": json_schema}))?;
        }
        body.optional("max_completion_tokens", self.output_tokens_max())?;
        body.optional("temperature", self.options.temperature)?;
        body.optional("top_p", self.options.top_p)?;
        let is_streamed = self.options.stream != Some(false);
        body.field("stream", &is_streamed)?;
        if is_streamed {
            body.field("stream_options", &json!({"include_usage": true}))?;
        }
        for (name, value) in extra {
            body.map.serialize_entry(name, value)?;
        }
        body.map.end()
    }
}

struct Fields<'a, M> {
    map: M,
    extra: &'a Map<String, Value>,
}

impl<M: SerializeMap> Fields<'_, M> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), M::Error> {
        if self.extra.contains_key(name) { Ok(()) } else { self.map.serialize_entry(name, value) }
    }

    fn optional<T: Serialize>(&mut self, name: &str, value: Option<T>) -> Result<(), M::Error> {
        value.map_or(Ok(()), |value| self.field(name, &value))
    }
}

struct WireMessages<'a>(&'a [Message<'a>], Option<&'a Value>);

impl Serialize for WireMessages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|message| WireMessage(message, self.1)))
    }
}

struct WireMessage<'a>(&'a Message<'a>, Option<&'a Value>);

impl Serialize for WireMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            Message::System(text) => {
                map.serialize_entry("role", "system")?;
                map.serialize_entry("content", text)?;
            }
            Message::User(text) => {
                map.serialize_entry("role", "user")?;
                map.serialize_entry("content", text)?;
            }
            Message::Assistant { text, calls } => {
                map.serialize_entry("role", "assistant")?;
                let content = (!text.is_empty() || calls.is_empty()).then_some(text);
                map.serialize_entry("content", &content)?;
                if !calls.is_empty() {
                    map.serialize_entry("tool_calls", &WireCalls(calls, self.1))?;
                }
            }
            Message::ToolResult { call_id, name: _, text } => {
                map.serialize_entry("role", "tool")?;
                map.serialize_entry("tool_call_id", call_id)?;
                map.serialize_entry("content", text)?;
            }
        }
        map.end()
    }
}

struct WireCalls<'a>(&'a [ToolCall], Option<&'a Value>);

impl Serialize for WireCalls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Call<'a> {
            id: &'a str,
            r#type: &'a str,
            function: Function<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            extra_content: Option<&'a Value>,
        }
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            arguments: String,
        }
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for call in self.0 {
            let function = Function { name: &call.name, arguments: call.args.to_json() };
            let extra_content = self.1;
            list.serialize_element(&Call { id: &call.id, r#type: "function", function, extra_content })?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use reyn_core::tool::Args;

    use super::*;

    fn body(options: &ModelOptions, request: &ChatRequest<'_>) -> Value {
        let bytes = WireRequest { model: "m", call_extra: None, options, request }.to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_conversation_with_calls_is_written_as_the_protocol_wants_it() {
        let call = |id: &str, args: &str| ToolCall {
            id: id.into(),
            name: "read_file".into(),
            args: Args::parse(args, false),
        };
        let request = ChatRequest {
            messages: vec![
                Message::System("be good".into()),
                Message::User("hi".into()),
                Message::Assistant {
                    text: "".into(),
                    calls: Cow::Owned(vec![call("a", r#"{"path":"日本"}"#), call("b", "broken")]),
                },
                Message::ToolResult { call_id: "a".into(), name: "read_file".into(), text: "one".into() },
                Message::ToolResult { call_id: "b".into(), name: "read_file".into(), text: "two".into() },
                Message::Assistant { text: "done".into(), calls: Cow::Borrowed(&[]) },
            ],
            tools: Cow::Owned(vec![json!({"type": "function"})]),
            ..ChatRequest::default()
        };
        let expected = json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "be good"},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "a", "type": "function",
                     "function": {"name": "read_file", "arguments": "{\"path\":\"日本\"}"}},
                    {"id": "b", "type": "function", "function": {"name": "read_file", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "a", "content": "one"},
                {"role": "tool", "tool_call_id": "b", "content": "two"},
                {"role": "assistant", "content": "done"},
            ],
            "tools": [{"type": "function"}],
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        assert_eq!(body(&ModelOptions::default(), &request), expected);
    }

    #[test]
    fn options_and_a_schema_are_sent_and_extra_fields_win() {
        let options: ModelOptions = serde_json::from_value(json!({
            "temperature": 0.5, "top_p": 0.9, "max_completion_tokens": 100, "stream": false,
            "extra_body": {"temperature": 1.5, "seed": 7},
        }))
        .unwrap();
        let request = ChatRequest {
            response_schema: Some(json!({"type": "object"})),
            output_tokens_max: Some(50),
            ..ChatRequest::default()
        };
        let expected = json!({
            "model": "m",
            "messages": [],
            "response_format": {"type": "json_schema",
                "json_schema": {"name": "reply", "strict": true, "schema": {"type": "object"}}},
            "max_completion_tokens": 50,
            "top_p": 0.9,
            "stream": false,
            "temperature": 1.5,
            "seed": 7,
        });
        assert_eq!(body(&options, &request), expected);
        let text =
            WireRequest { model: "m", call_extra: None, options: &options, request: &request }.to_bytes();
        assert_eq!(String::from_utf8(text).unwrap().matches("temperature").count(), 1);
    }

    #[test]
    fn calls_for_gemini_carry_a_signature_and_no_others_do() {
        let call = ToolCall { id: "a".into(), name: "x".into(), args: Args::parse("", false) };
        let request = ChatRequest {
            messages: vec![Message::Assistant { text: "".into(), calls: Cow::Owned(vec![call]) }],
            ..ChatRequest::default()
        };
        let extra_of = |provider: &str| {
            let extra = call_extra(provider);
            let options = ModelOptions::default();
            let wire =
                WireRequest { model: "m", call_extra: extra.as_ref(), options: &options, request: &request };
            let body: Value = serde_json::from_slice(&wire.to_bytes()).unwrap();
            body["messages"][0]["tool_calls"][0]["extra_content"].clone()
        };
        let signature = json!({"google": {"thought_signature": "skip_thought_signature_validator"}});
        assert_eq!((extra_of("gemini"), extra_of("openai")), (signature, Value::Null));
    }
}
