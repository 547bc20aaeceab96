//! The one door to a chat model.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reyn_core::request::{ChatReply, ChatRequest};
use reyn_core::tool_use::Framing;

/// Something that answers a conversation.
pub trait ChatModel: Send + Sync {
    /// `provider/model`, for people and the audit trail.
    fn name(&self) -> &str;

    /// How requests for this model are written and its replies read.
    fn framing(&self) -> Framing;

    /// Answers one request. The reply is complete or an error, never half; `on_event` hears of it while it
    /// is written. Dropping the future cancels the work, at the latest after one more token.
    fn reply<'a>(
        &'a self,
        request: &'a ChatRequest<'a>,
        on_event: &'a mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>>;
}

impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn framing(&self) -> Framing {
        (**self).framing()
    }

    fn reply<'a>(
        &'a self,
        request: &'a ChatRequest<'a>,
        on_event: &'a mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        (**self).reply(request, on_event)
    }
}

/// What happens while a reply is written.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent<'a> {
    /// The next piece of text.
    Text(&'a str),
    /// An attempt failed; what it said so far is void and the next attempt begins after `wait`.
    Retry {
        /// Which attempt failed, from 1.
        attempt: u32,
        /// Why.
        error: &'a ModelError,
        /// How long until the next one.
        wait: Duration,
    },
    /// Something slow goes on before the first text, in words, e.g. `reading the prompt: 40 %`.
    Progress(&'a str),
}

/// Why a model gave no reply. Holds no key and no part of a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// Which kind of failure, for programs.
    pub kind: ModelErrorKind,
    /// What happened and what to do, for the person.
    pub message: String,
    /// What the server asked to wait before the next attempt.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// An error without a wish for waiting.
    #[must_use]
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }
}

/// The closed set of ways in which a model call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// No connection.
    Connect,
    /// Connected, but nothing came within the limit.
    FirstByteTimeout,
    /// The reply stopped coming.
    IdleTimeout,
    /// The reply broke off.
    BrokenStream,
    /// 401 or 403.
    Unauthorized,
    /// 404: no such model or address.
    NotFound,
    /// 408, 409 or 5xx.
    Server,
    /// 429.
    RateLimited,
    /// Another 4xx: the request itself is refused.
    BadRequest,
    /// An answer that is not this protocol, such as a web page.
    Protocol,
    /// A reply with neither text, calls nor a reason to stop.
    Empty,
    /// A reply longer than the bound.
    TooLarge,
    /// The local model failed.
    Local,
}

impl ModelErrorKind {
    /// The name that results and events carry.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::FirstByteTimeout => "first_byte_timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::BrokenStream => "broken_stream",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::Server => "server",
            Self::RateLimited => "rate_limited",
            Self::BadRequest => "bad_request",
            Self::Protocol => "protocol",
            Self::Empty => "empty",
            Self::TooLarge => "too_large",
            Self::Local => "local",
        }
    }

    /// Whether another attempt may help.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::Connect
            | Self::FirstByteTimeout
            | Self::IdleTimeout
            | Self::BrokenStream
            | Self::Server
            | Self::RateLimited
            | Self::Empty => true,
            Self::Unauthorized
            | Self::NotFound
            | Self::BadRequest
            | Self::Protocol
            | Self::TooLarge
            | Self::Local => false,
        }
    }
}
