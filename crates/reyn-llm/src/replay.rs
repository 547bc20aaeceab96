//! Recorded replies: a file of requests and what a real model answered, for runs without a model.
//!
//! One JSON object a line, keys sorted, versioned. The key of an entry is the SHA-256 of the canonical
//! request, so an entry can only answer the request it was recorded for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_core::conversation::{Finish, Usage};
use reyn_core::limits::REPLAY_FILE_BYTES_MAX;
use reyn_core::request::{ChatReply, ChatRequest, Message, RawCall};
use reyn_core::tool_use::Framing;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::chat::{ChatModel, ModelError, ModelErrorKind, StreamEvent};

const VERSION: u64 = 1;

/// Why a file of recorded replies cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It cannot be read or written.
    #[error("cannot use the recorded replies in `{path}`: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is larger than [`REPLAY_FILE_BYTES_MAX`].
    #[error("`{path}` is larger than {REPLAY_FILE_BYTES_MAX} bytes; split the recording")]
    TooLarge {
        /// The file.
        path: String,
    },
    /// A line is not an entry of this version.
    #[error(
        "{path}:{line}: not a recorded reply of version {VERSION}: {why}; record it again with `REYN_RECORD=1`"
    )]
    Malformed {
        /// The file.
        path: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

/// One recorded reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RecordedReply {
    v: u64,
    key: String,
    request: RequestParts,
    reply: ReplyParts,
}

/// A request in canonical form. Tools and schema stand as their hash: they are long and rarely read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RequestParts {
    model: String,
    messages: Vec<Value>,
    tools: String,
    response_schema: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ReplyParts {
    text: String,
    calls: Vec<CallParts>,
    finish: Finish,
    usage: Usage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CallParts {
    id: String,
    name: String,
    arguments: String,
}

/// A model that answers from a file and from nothing else.
#[derive(Debug)]
pub struct Replaying {
    name: String,
    framing: Framing,
    path: PathBuf,
    replies: BTreeMap<String, RecordedReply>,
}

impl Replaying {
    /// Reads the file. `name` and `framing` are those of the model that was recorded. A file that does not
    /// exist holds no replies.
    ///
    /// # Errors
    /// When the file cannot be read or holds something else.
    pub fn open(
        name: impl Into<String>,
        framing: Framing,
        path: impl Into<PathBuf>,
    ) -> Result<Self, ReplayError> {
        let path = path.into();
        let replies = read(&path)?.into_iter().map(|entry| (entry.key.clone(), entry)).collect();
        Ok(Self { name: name.into(), framing, path, replies })
    }

    fn answer(&self, request: &ChatRequest<'_>) -> Result<ChatReply, ModelError> {
        let parts = RequestParts::new(&self.name, request);
        let key = parts.key();
        match self.replies.get(&key) {
            Some(entry) => Ok(entry.reply.clone().into()),
            None => Err(ModelError::new(ModelErrorKind::NotFound, self.missing(&key, &parts))),
        }
    }

    fn missing(&self, key: &str, parts: &RequestParts) -> String {
        let nearest = self.replies.values().max_by_key(|entry| parts.likeness(&entry.request));
        let difference = nearest.map_or_else(
            || "the file holds no replies".to_owned(),
            |entry| {
                format!(
                    "the nearest entry {} differs in {}",
                    short(&entry.key),
                    parts.difference(&entry.request)
                )
            },
        );
        format!(
            "no reply is recorded in `{}` for request {}; {difference}; run once with `REYN_RECORD=1` and a \
             real model to record it",
            self.path.display(),
            short(key)
        )
    }
}

impl ChatModel for Replaying {
    fn name(&self) -> &str {
        &self.name
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn reply<'a>(
        &'a self,
        request: &'a ChatRequest<'a>,
        on_event: &'a mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let answer = self.answer(request);
        if let Ok(reply) = &answer
            && !reply.text.is_empty()
        {
            on_event(StreamEvent::Text(&reply.text));
        }
        futures::future::ready(answer).boxed()
    }
}

/// A model whose replies are written to a file as they come. Errors are not recorded.
#[derive(Debug)]
pub struct Recording<M> {
    model: M,
    path: PathBuf,
}

impl<M: ChatModel> Recording<M> {
    /// Records what `model` answers in the file, beside what it holds; an entry for the same request is
    /// replaced. One process may record in a file at a time.
    #[must_use]
    pub fn new(model: M, path: impl Into<PathBuf>) -> Self {
        Self { model, path: path.into() }
    }

    fn record(&self, request: &ChatRequest<'_>, reply: &ChatReply) -> Result<(), ReplayError> {
        let parts = RequestParts::new(self.model.name(), request);
        let key = parts.key();
        let entry = RecordedReply { v: VERSION, key, request: parts, reply: reply.clone().into() };
        let mut entries = read(&self.path)?;
        match entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = entry,
            None => entries.push(entry),
        }
        write(&self.path, &entries)
    }
}

impl<M: ChatModel> ChatModel for Recording<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn framing(&self) -> Framing {
        self.model.framing()
    }

    fn reply<'a>(
        &'a self,
        request: &'a ChatRequest<'a>,
        on_event: &'a mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        async move {
            let reply = self.model.reply(request, on_event).await?;
            self.record(request, &reply)
                .map_err(|error| ModelError::new(ModelErrorKind::Protocol, error.to_string()))?;
            Ok(reply)
        }
        .boxed()
    }
}

impl RequestParts {
    fn new(model: &str, request: &ChatRequest<'_>) -> Self {
        Self {
            model: model.to_owned(),
            messages: request.messages.iter().map(message).collect(),
            tools: hash(&canonical(&Value::Array(request.tools.to_vec()))),
            response_schema: request
                .response_schema
                .as_ref()
                .map(|schema| hash(&canonical(schema)))
                .unwrap_or_default(),
        }
    }

    fn key(&self) -> String {
        let parts = serde_json::to_value(self).expect("the parts are plain data");
        hash(&canonical(&json!({"v": VERSION, "request": parts})))
    }

    /// How much of a recorded request is the same: messages from the start, then the other parts.
    fn likeness(&self, recorded: &Self) -> (usize, usize) {
        let same = |is_same: bool| usize::from(is_same);
        let others = same(self.model == recorded.model)
            + same(self.tools == recorded.tools)
            + same(self.response_schema == recorded.response_schema)
            + same(self.messages.len() == recorded.messages.len());
        (self.first_difference(recorded), others)
    }

    fn first_difference(&self, recorded: &Self) -> usize {
        self.messages.iter().zip(&recorded.messages).take_while(|(own, theirs)| own == theirs).count()
    }

    fn difference(&self, recorded: &Self) -> String {
        let mut parts = vec![];
        if self.model != recorded.model {
            parts.push(format!("the model (`{}`, recorded `{}`)", self.model, recorded.model));
        }
        let at = self.first_difference(recorded);
        match (self.messages.get(at), recorded.messages.get(at)) {
            (Some(own), Some(_)) => {
                parts.push(format!("message {at} (role `{}`)", own["role"].as_str().unwrap_or_default()));
            }
            (None, None) => {}
            _ => parts.push(format!(
                "the number of messages ({}, recorded {})",
                self.messages.len(),
                recorded.messages.len()
            )),
        }
        if self.tools != recorded.tools {
            parts.push("the tools".to_owned());
        }
        if self.response_schema != recorded.response_schema {
            parts.push("the response schema".to_owned());
        }
        parts.join(" and ")
    }
}

impl From<ChatReply> for ReplyParts {
    fn from(ChatReply { text, calls, finish, usage }: ChatReply) -> Self {
        let call = |RawCall { id, name, arguments }| CallParts { id, name, arguments };
        Self { text, calls: calls.into_iter().map(call).collect(), finish, usage }
    }
}

impl From<ReplyParts> for ChatReply {
    fn from(ReplyParts { text, calls, finish, usage }: ReplyParts) -> Self {
        let call = |CallParts { id, name, arguments }| RawCall { id, name, arguments };
        Self { text, calls: calls.into_iter().map(call).collect(), finish, usage }
    }
}

fn message(message: &Message<'_>) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "text": text}),
        Message::User(text) => json!({"role": "user", "text": text}),
        Message::Assistant { text, calls } => {
            let call = |call: &reyn_core::tool::ToolCall| json!({"id": call.id, "name": call.name, "arguments": call.args.to_json()});
            json!({"role": "assistant", "text": text, "calls": calls.iter().map(call).collect::<Vec<_>>()})
        }
        Message::ToolResult { call_id, name, text } => {
            json!({"role": "tool", "call_id": call_id, "name": name, "text": text})
        }
    }
}

/// JSON text without white space and with the keys of every object sorted.
fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let by_key: BTreeMap<&String, Value> =
                map.iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(by_key.into_iter().map(|(key, value)| (key.clone(), value)).collect::<Map<_, _>>())
        }
        Value::Array(list) => Value::Array(list.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn short(key: &str) -> &str {
    reyn_core::text::prefix(key, 12)
}

fn read(path: &Path) -> Result<Vec<RecordedReply>, ReplayError> {
    let shown = || path.display().to_string();
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
        Err(source) => return Err(ReplayError::Io { path: shown(), source }),
    };
    let mut text = String::new();
    file.take(REPLAY_FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|source| ReplayError::Io { path: shown(), source })?;
    if text.len() as u64 > REPLAY_FILE_BYTES_MAX {
        return Err(ReplayError::TooLarge { path: shown() });
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let malformed = |why: String| ReplayError::Malformed { path: shown(), line: at + 1, why };
            let entry: RecordedReply =
                serde_json::from_str(line).map_err(|error| malformed(error.to_string()))?;
            match entry.v {
                VERSION => Ok(entry),
                other => Err(malformed(format!("it has version {other}"))),
            }
        })
        .collect()
}

/// Replaces the file as a whole, so that a crash leaves the old one.
fn write(path: &Path, entries: &[RecordedReply]) -> Result<(), ReplayError> {
    let line = |entry| {
        let value = serde_json::to_value(entry).expect("an entry is plain data");
        canonical(&value) + "\n"
    };
    let text: String = entries.iter().map(line).collect();
    let unfinished = path.with_extension("unfinished");
    let replace = || {
        let mut file = std::fs::File::create(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)
    };
    replace().map_err(|source| ReplayError::Io { path: path.display().to_string(), source })
}
