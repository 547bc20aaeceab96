//! A model that answers from a list and remembers what it was asked.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_core::request::{ChatReply, ChatRequest, Message};
use reyn_core::tool_use::Framing;
use reyn_llm::{ChatModel, ModelError, StreamEvent};

use crate::protocol::assert_valid_messages;

/// What a scripted model does when it is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Scripted {
    /// It replies; the text is streamed in one piece.
    Reply(ChatReply),
    /// It fails.
    Error(ModelError),
    /// It never answers; the future must be dropped.
    Hang,
}

impl From<ChatReply> for Scripted {
    fn from(reply: ChatReply) -> Self {
        Self::Reply(reply)
    }
}

impl From<ModelError> for Scripted {
    fn from(error: ModelError) -> Self {
        Self::Error(error)
    }
}

/// A model with a script. Every request must be valid for a strict server.
#[derive(Debug)]
pub struct ScriptedModel {
    framing: Framing,
    script: Mutex<VecDeque<Scripted>>,
    requests: Mutex<Vec<ChatRequest<'static>>>,
}

impl ScriptedModel {
    /// A model that gives these answers, in order.
    #[must_use]
    pub fn new<S: Into<Scripted>>(script: impl IntoIterator<Item = S>) -> Self {
        Self {
            framing: Framing::default(),
            script: Mutex::new(script.into_iter().map(Into::into).collect()),
            requests: Mutex::default(),
        }
    }

    /// The same model with another framing.
    #[must_use]
    pub const fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// The requests it was asked, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest<'static>> {
        locked(&self.requests).clone()
    }

    /// How many answers are left.
    #[must_use]
    pub fn answers_left(&self) -> usize {
        locked(&self.script).len()
    }

    fn next(&self, request: &ChatRequest<'_>) -> Scripted {
        assert_valid_messages(request);
        let mut requests = locked(&self.requests);
        requests.push(owned(request));
        let count = requests.len();
        drop(requests);
        let next = locked(&self.script).pop_front();
        next.unwrap_or_else(|| {
            panic!("request {count} is beyond the script; its last message is {:?}", request.messages.last())
        })
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted/model"
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn reply<'a>(
        &'a self,
        request: &'a ChatRequest<'a>,
        on_event: &'a mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        async move {
            match self.next(request) {
                Scripted::Reply(reply) => {
                    if !reply.text.is_empty() {
                        on_event(StreamEvent::Text(&reply.text));
                    }
                    Ok(reply)
                }
                Scripted::Error(error) => Err(error),
                Scripted::Hang => futures::future::pending().await,
            }
        }
        .boxed()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn owned(request: &ChatRequest<'_>) -> ChatRequest<'static> {
    let text = |text: &Cow<'_, str>| Cow::Owned(text.clone().into_owned());
    let message = |message: &Message<'_>| match message {
        Message::System(said) => Message::System(text(said)),
        Message::User(said) => Message::User(text(said)),
        Message::Assistant { text: said, calls } => {
            Message::Assistant { text: text(said), calls: Cow::Owned(calls.to_vec()) }
        }
        Message::ToolResult { call_id, name, text: said } => {
            Message::ToolResult { call_id: text(call_id), name: text(name), text: text(said) }
        }
    };
    ChatRequest {
        messages: request.messages.iter().map(message).collect(),
        static_messages: request.static_messages,
        tools: Cow::Owned(request.tools.to_vec()),
        response_schema: request.response_schema.clone(),
        output_tokens_max: request.output_tokens_max,
    }
}
