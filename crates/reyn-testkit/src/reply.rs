//! Short builders of replies.

use reyn_core::conversation::{Finish, Usage};
use reyn_core::request::{ChatReply, RawCall};
use reyn_core::tool::{Args, ToolCall};
use serde_json::Value;

/// A call as it comes over the wire; `args` is sent as it is, valid or not.
#[must_use]
pub fn call(id: &str, name: &str, args: impl ToString) -> RawCall {
    RawCall { id: id.into(), name: name.into(), arguments: args.to_string() }
}

/// A call as it stands in a conversation log.
#[must_use]
pub fn tool_call(id: &str, name: &str, args: &Value) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), args: Args::parse(&args.to_string(), false) }
}

/// A reply of text alone. Its usage is 10 tokens read and 5 written, as for every scripted reply.
#[must_use]
pub fn says(text: &str) -> ChatReply {
    ChatReply { text: text.into(), calls: vec![], finish: Finish::Stop, usage: scripted_usage() }
}

/// A reply of calls alone.
#[must_use]
pub fn calls(calls: impl Into<Vec<RawCall>>) -> ChatReply {
    ChatReply { text: String::new(), calls: calls.into(), finish: Finish::ToolCalls, usage: scripted_usage() }
}

fn scripted_usage() -> Usage {
    Usage { prompt_tokens: 10, completion_tokens: 5, ..Usage::default() }
}
