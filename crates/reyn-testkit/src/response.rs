//! What the fake server answers, written as a value.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use reyn_core::conversation::Finish;
use reyn_core::request::ChatReply;
use serde_json::{Value, json};

/// How often something that waits looks whether the server ends.
pub(crate) const END_CHECK: Duration = Duration::from_millis(20);

const TEXT_CHUNK_CHARS: usize = 8;

/// One answer of the fake server.
#[derive(Debug, Clone)]
pub struct Response {
    pub(crate) head: Option<Head>,
    pub(crate) body: Vec<Piece>,
    /// Rendered as a stream or as plain JSON, as the request asks.
    pub(crate) reply: Option<ChatReply>,
    /// Whether the connection is closed after it without a word.
    pub(crate) closes: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Bytes(Vec<u8>),
    Wait(Gate),
    Hang,
    Reset,
}

/// Holds a response back until the test opens it.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everything through that waits or will wait.
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Waits until the gate is open or the server ends.
    pub(crate) fn wait(&self, has_ended: &AtomicBool) {
        let mut is_open = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_open && !has_ended.load(Ordering::Relaxed) {
            is_open = self.0.1.wait_timeout(is_open, END_CHECK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Response {
    /// An answer with a status, neither headers nor a body.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self { head: Some(Head { status, headers: vec![] }), body: vec![], reply: None, closes: false }
    }

    /// Plain JSON.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status).header("content-type", "application/json").bytes(body.to_string())
    }

    /// A web page.
    #[must_use]
    pub fn html(status: u16, body: &str) -> Self {
        Self::status(status).header("content-type", "text/html; charset=utf-8").bytes(body)
    }

    /// The beginning of an event stream; add its bytes with [`Self::bytes`].
    #[must_use]
    pub fn stream() -> Self {
        Self::status(200).header("content-type", "text/event-stream")
    }

    /// No answer at all: the request is read and nothing is sent.
    #[must_use]
    pub fn hang() -> Self {
        Self::without_head(Piece::Hang)
    }

    /// The request is read and the connection is reset.
    #[must_use]
    pub fn reset() -> Self {
        Self::without_head(Piece::Reset)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(head) = &mut self.head {
            head.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Adds bytes of the body, sent in one piece.
    #[must_use]
    pub fn bytes(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.then(Piece::Bytes(bytes.into()))
    }

    /// Holds the rest of the body back until the gate is open.
    #[must_use]
    pub fn wait(self, gate: &Gate) -> Self {
        self.then(Piece::Wait(gate.clone()))
    }

    /// Sends no more and keeps the connection open.
    #[must_use]
    pub fn then_hang(self) -> Self {
        self.then(Piece::Hang)
    }

    /// Resets the connection in the middle of the body.
    #[must_use]
    pub fn then_reset(self) -> Self {
        self.then(Piece::Reset)
    }

    /// Closes the connection after the body without having said so.
    #[must_use]
    pub const fn then_close(mut self) -> Self {
        self.closes = true;
        self
    }

    fn without_head(piece: Piece) -> Self {
        Self { head: None, body: vec![piece], reply: None, closes: true }
    }

    fn then(mut self, piece: Piece) -> Self {
        self.body.push(piece);
        self
    }

    /// The response with its reply, if it has one, written as the request asks.
    pub(crate) fn rendered(self, request: &Value) -> Self {
        let Some(reply) = &self.reply else { return self };
        let rendered = if request.get("stream").and_then(Value::as_bool) == Some(true) {
            Self::stream().bytes(sse(reply))
        } else {
            Self::json(200, &completion(reply))
        };
        Self { closes: self.closes, ..rendered }
    }
}

impl From<ChatReply> for Response {
    fn from(reply: ChatReply) -> Self {
        Self { reply: Some(reply), ..Self::status(200) }
    }
}

/// A reply as the chunks of a stream, the usage in a chunk of its own.
#[must_use]
pub fn chunks(reply: &ChatReply) -> Vec<Value> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"id": "chatcmpl-0", "object": "chat.completion.chunk", "model": "fake", "choices": [choice]})
    };
    let mut all = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    let chars: Vec<char> = reply.text.chars().collect();
    for piece in chars.chunks(TEXT_CHUNK_CHARS) {
        all.push(chunk(json!({"content": piece.iter().collect::<String>()}), None));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let begin = json!({"index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""}});
        let rest = json!({"index": index, "function": {"arguments": call.arguments}});
        all.push(chunk(json!({"tool_calls": [begin]}), None));
        all.push(chunk(json!({"tool_calls": [rest]}), None));
    }
    all.push(chunk(json!({}), Some(finish_reason(reply.finish))));
    all.push(json!({"id": "chatcmpl-0", "object": "chat.completion.chunk", "model": "fake", "choices": [],
        "usage": usage(reply)}));
    all
}

/// A reply as an event stream with its end mark.
#[must_use]
pub fn sse(reply: &ChatReply) -> String {
    let events: String = chunks(reply).iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events + "data: [DONE]\n\n"
}

fn completion(reply: &ChatReply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| {
            json!({"id": call.id, "type": "function",
                "function": {"name": call.name, "arguments": call.arguments}})
        });
        message["tool_calls"] = calls.collect();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(reply.finish)});
    json!({"id": "chatcmpl-0", "object": "chat.completion", "model": "fake", "choices": [choice],
        "usage": usage(reply)})
}

fn usage(reply: &ChatReply) -> Value {
    json!({
        "prompt_tokens": reply.usage.prompt_tokens,
        "completion_tokens": reply.usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.usage.cached_tokens},
    })
}

const fn finish_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_calls",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
    }
}
