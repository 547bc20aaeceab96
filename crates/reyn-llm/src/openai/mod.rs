//! A model behind an OpenAI-compatible `/chat/completions` address.

mod accumulator;
pub(crate) mod failure;
mod reply_reader;
#[cfg(test)]
mod reply_reader_tests;
mod retry_after;
mod usage_estimate;
pub(crate) mod wire_error;
mod wire_request;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Response, Url};
use reyn_core::limits::{ERROR_BODY_BYTES_MAX, STREAM_END_MS_MAX};
use reyn_core::request::{ChatReply, ChatRequest};
use reyn_core::settings::{ModelOptions, TimeoutSettings};
use reyn_core::tool_use::Framing;
use tokio::time::{Instant, timeout, timeout_at};

use crate::api_key::ApiKey;
use crate::chat::{ChatModel, ModelError, ModelErrorKind, StreamEvent};
use crate::http_client::{client_for, is_loopback, request_cause};
use crate::server_address::ServerAddress;
use failure::{Asked, Head};
use reply_reader::ReplyReader;
use wire_request::{WireRequest, call_extra};

/// Where a model is and how it is asked.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The provider's name, for people.
    pub provider: String,
    /// The model's name as the server knows it.
    pub model: String,
    /// Where its server is; every message names it as it may be shown.
    pub address: ServerAddress,
    /// Sent as a bearer token.
    pub key: Option<ApiKey>,
    /// Sampling, bounds and further fields. `api_key_env` is what errors about the key name.
    pub options: ModelOptions,
    /// How requests are written and replies read.
    pub framing: Framing,
    /// How long each stage may take.
    pub timeouts: LlmTimeouts,
}

impl Endpoint {
    /// The address as it is called.
    pub(crate) fn url(&self, is_loopback_only: bool) -> Result<Url, ModelError> {
        let wrong = |why: &str| {
            let message = format!("`api_base` of {}/{} cannot be used: {why}", self.provider, self.model);
            ModelError::new(ModelErrorKind::BadRequest, message)
        };
        let url = self.address.url().map_err(|why| wrong(&why))?;
        if is_loopback_only && !is_loopback(&url) {
            return Err(wrong("only addresses on this machine are allowed here"));
        }
        Ok(url)
    }
}

/// How long each stage of a model call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlmTimeouts {
    /// Until a connection is open.
    pub connect: Duration,
    /// From the request to the first byte of the reply's body, connecting included.
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    pub idle: Duration,
}

impl From<&TimeoutSettings> for LlmTimeouts {
    fn from(settings: &TimeoutSettings) -> Self {
        Self {
            connect: Duration::from_secs(settings.llm_connect_seconds),
            first_byte: Duration::from_secs(settings.llm_first_byte_seconds),
            idle: Duration::from_secs(settings.llm_idle_seconds),
        }
    }
}

/// A model behind an OpenAI-compatible server. Makes one attempt; [`crate::Retrying`] makes more.
#[derive(Debug)]
pub struct OpenAiChat {
    name: String,
    endpoint: Endpoint,
    is_loopback_only: bool,
    client: OnceLock<Client>,
    /// Whether a connection may be left from an earlier request.
    may_have_old_connection: AtomicBool,
}

impl OpenAiChat {
    /// A model at an endpoint. Nothing is opened or loaded before the first request.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            name: format!("{}/{}", endpoint.provider, endpoint.model),
            endpoint,
            is_loopback_only: false,
            client: OnceLock::new(),
            may_have_old_connection: AtomicBool::new(false),
        }
    }

    /// Like [`Self::new`], but refuses every address that is not on this machine, for tests.
    #[must_use]
    pub fn loopback_only(endpoint: Endpoint) -> Self {
        Self { is_loopback_only: true, ..Self::new(endpoint) }
    }

    async fn attempt(
        &self,
        request: &ChatRequest<'_>,
        on_event: &mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> Result<ChatReply, ModelError> {
        let url = self.endpoint.url(self.is_loopback_only)?;
        let asked = Asked { endpoint: &self.endpoint, wanted: "a chat completion" };
        let http_request = self.http_request(&asked, url, request)?;
        let first_byte_by = Instant::now() + self.endpoint.timeouts.first_byte;
        let may_be_stale = self.may_have_old_connection.swap(false, Ordering::Relaxed);
        let response = timeout_at(first_byte_by, http_request.send())
            .await
            .map_err(|_| asked.first_byte_timeout())?
            .map_err(|error| asked.not_sent(error, may_be_stale))?;
        let head = Head { status: response.status(), headers: response.headers().clone() };
        if !head.status.is_success() {
            let body = error_body(response, self.endpoint.timeouts.idle).await;
            self.may_have_old_connection.store(true, Ordering::Relaxed);
            return Err(asked.refused(&head, &body));
        }
        let mut body = ReplyBody { response, asked: &asked, head: &head, first_byte_by };
        let reply = body.read(on_event).await?;
        self.may_have_old_connection.store(true, Ordering::Relaxed);
        let usage = reply.usage.unwrap_or_else(|| usage_estimate::estimate(request, &reply));
        let finish = reply.finish.unwrap_or_default();
        Ok(ChatReply { text: reply.text, calls: reply.calls, finish, usage })
    }

    fn http_request(
        &self,
        asked: &Asked<'_>,
        mut url: Url,
        request: &ChatRequest<'_>,
    ) -> Result<reqwest::RequestBuilder, ModelError> {
        url.path_segments_mut()
            .expect("an address with http or https has a path")
            .pop_if_empty()
            .extend(["chat", "completions"]);
        let Endpoint { provider, model, options, key, .. } = &self.endpoint;
        let client = self.client(&url).map_err(|why| asked.error(ModelErrorKind::Protocol, why))?;
        let call_extra = call_extra(provider);
        let body = WireRequest { model, call_extra: call_extra.as_ref(), options, request }.to_bytes();
        let mut http_request = client
            .post(url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"))
            .body(body);
        if let Some(key) = key {
            let value = key.bearer().ok_or_else(|| asked.bad_key())?;
            http_request = http_request.header(AUTHORIZATION, value);
        }
        Ok(http_request)
    }

    fn client(&self, url: &Url) -> Result<&Client, String> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = client_for(url, self.endpoint.timeouts.connect).map_err(|error| error.to_string())?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// The beginning of an error's body; what cannot be read in time is left out.
pub(crate) async fn error_body(mut response: Response, idle: Duration) -> String {
    let mut body: Vec<u8> = vec![];
    let deadline = Instant::now() + idle;
    while let Ok(Ok(Some(piece))) = timeout_at(deadline, response.chunk()).await {
        let room = ERROR_BODY_BYTES_MAX - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if body.len() == ERROR_BODY_BYTES_MAX {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

impl ChatModel for OpenAiChat {
    fn name(&self) -> &str {
        &self.name
    }

    fn framing(&self) -> Framing {
        self.endpoint.framing
    }

    fn reply<'a>(
        &'a self,
        request: &'a ChatRequest<'a>,
        on_event: &'a mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.attempt(request, on_event).boxed()
    }
}

/// A successful response whose body is being read.
struct ReplyBody<'a> {
    response: Response,
    asked: &'a Asked<'a>,
    head: &'a Head,
    first_byte_by: Instant,
}

impl ReplyBody<'_> {
    async fn read(
        &mut self,
        on_event: &mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> Result<accumulator::Accumulated, ModelError> {
        let idle = self.asked.endpoint.timeouts.idle;
        let mut on_text = |text: &str| on_event(StreamEvent::Text(text));
        let mut reader = ReplyReader::default();
        let mut deadline = self.first_byte_by;
        let mut has_begun = false;
        while !reader.is_done() {
            match timeout_at(deadline, self.response.chunk()).await {
                Ok(Ok(Some(piece))) => {
                    let read = reader.push(&piece, &mut on_text);
                    read.map_err(|error| self.asked.unreadable(self.head, error))?;
                }
                Ok(Ok(None)) => break,
                // The server has said why it stopped, so nothing of the reply is missing.
                Ok(Err(_)) | Err(_) if reader.is_complete() => break,
                Ok(Err(error)) => return Err(self.asked.broken(&request_cause(error))),
                Err(_) if has_begun => return Err(self.asked.idle_timeout()),
                Err(_) => return Err(self.asked.first_byte_timeout()),
            }
            has_begun = true;
            deadline = Instant::now() + idle;
        }
        if reader.is_done() {
            self.read_to_end().await;
        }
        reader.finish(&mut on_text).map_err(|error| self.asked.unreadable(self.head, error))
    }

    /// Reads the end of the body, without which the connection could not be used again.
    async fn read_to_end(&mut self) {
        let to_end = async { while let Ok(Some(_)) = self.response.chunk().await {} };
        let _ = timeout(Duration::from_millis(STREAM_END_MS_MAX), to_end).await;
    }
}
