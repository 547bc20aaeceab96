//! Turns what went wrong into an error that says what to do, and never shows the key.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, LOCATION, RETRY_AFTER};
use reyn_core::limits::{REPLY_BYTES_MAX, REPLY_CALLS_MAX, SERVER_MESSAGE_CHARS_MAX, STREAM_BYTES_MAX};
use reyn_core::redaction::redact_secrets;
use reyn_core::text::excerpt;

use super::Endpoint;
use super::retry_after::{WaitHeaders, retry_after};
use super::wire_error::{ReadError, ServerError};
use crate::chat::{ModelError, ModelErrorKind};
use crate::http_client::request_cause;
use crate::providers::Providers;

/// What an error needs to know about the request that failed.
pub(crate) struct Asked<'a> {
    pub(crate) endpoint: &'a Endpoint,
    /// What a right answer is, in words.
    pub(crate) wanted: &'static str,
}

/// Status and headers of a response.
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

impl Head {
    fn text(&self, name: impl reqwest::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn content_type(&self) -> &str {
        self.text(CONTENT_TYPE).unwrap_or("no content type")
    }

    fn is_web_page(&self, body: &str) -> bool {
        self.content_type().contains("html") || body.trim_start().starts_with('<')
    }
}

impl Asked<'_> {
    /// The address as it may be shown.
    fn address(&self) -> &str {
        self.endpoint.address.shown()
    }

    /// A key that cannot be sent.
    pub(crate) fn bad_key(&self) -> ModelError {
        let why = "the key has characters that no HTTP header can carry".to_owned();
        self.error(ModelErrorKind::Unauthorized, why)
    }

    /// No connection, or it broke before the response began. `may_be_stale` says that the connection may
    /// have been an old one, so that a new one is worth trying at once.
    pub(crate) fn not_sent(&self, error: reqwest::Error, may_be_stale: bool) -> ModelError {
        let address = self.address();
        if error.is_connect() && error.is_timeout() {
            let seconds = self.endpoint.timeouts.connect.as_secs_f64();
            return self.error(
                ModelErrorKind::Connect,
                format!(
                    "no connection to {address} within {seconds} s; `safety.timeout.llm_connect_seconds` raises the limit"
                ),
            );
        }
        let is_connect = error.is_connect();
        let cause = request_cause(error);
        if is_connect {
            let message =
                format!("cannot connect to {address}: {cause}; check `api_base` and that the server runs");
            return self.error(ModelErrorKind::Connect, message);
        }
        let message = format!("the connection to {address} broke before a reply began: {cause}");
        let retry_after = may_be_stale.then_some(Duration::ZERO);
        ModelError { retry_after, ..self.error(ModelErrorKind::Connect, message) }
    }

    pub(crate) fn first_byte_timeout(&self) -> ModelError {
        let seconds = self.endpoint.timeouts.first_byte.as_secs_f64();
        self.error(
            ModelErrorKind::FirstByteTimeout,
            format!(
                "{} sent nothing within {seconds} s; `safety.timeout.llm_first_byte_seconds` raises the limit",
                self.address()
            ),
        )
    }

    pub(crate) fn idle_timeout(&self) -> ModelError {
        let seconds = self.endpoint.timeouts.idle.as_secs_f64();
        self.error(
            ModelErrorKind::IdleTimeout,
            format!(
                "the reply of {} stopped for {seconds} s; `safety.timeout.llm_idle_seconds` raises the limit",
                self.address()
            ),
        )
    }

    pub(crate) fn broken(&self, cause: &str) -> ModelError {
        self.error(
            ModelErrorKind::BrokenStream,
            format!("the reply of {} broke off: {cause}", self.address()),
        )
    }

    /// A response whose status is not 2xx.
    pub(crate) fn refused(&self, head: &Head, body: &str) -> ModelError {
        let is_web_page = head.is_web_page(body);
        let kind = kind_of_status(head.status.as_u16());
        if head.status.is_redirection() {
            let target = head.text(LOCATION).unwrap_or("nowhere");
            let message = format!(
                "{} redirects ({}) to {}; set `api_base` to the address that answers",
                self.address(),
                head.status.as_u16(),
                self.quoted(target)
            );
            return self.error(ModelErrorKind::Protocol, message);
        }
        if is_web_page && matches!(kind, ModelErrorKind::NotFound | ModelErrorKind::BadRequest) {
            return self.foreign(head);
        }
        let said = if is_web_page { ServerError::default() } else { ServerError::of_error_body(body) };
        let words = if is_web_page { "it sent a web page".to_owned() } else { self.quoted(&said.message) };
        let error = self.of_status(head.status.as_u16(), &words);
        let headers = WaitHeaders {
            milliseconds: head.text("retry-after-ms"),
            retry_after: head.text(RETRY_AFTER),
            date: head.text(DATE),
        };
        ModelError { retry_after: retry_after(headers, &said.message, jiff::Timestamp::now()), ..error }
    }

    /// A response with status 2xx whose body gives no reply.
    pub(crate) fn unreadable(&self, head: &Head, error: ReadError) -> ModelError {
        let address = self.address();
        match error {
            ReadError::Server(said) => {
                let error = self.of_status(said.assumed_status(), &self.quoted(&said.message));
                let headers = WaitHeaders::default();
                let retry_after = retry_after(headers, &said.message, jiff::Timestamp::now());
                ModelError { retry_after, ..error }
            }
            ReadError::Broken => self.broken("the server closed it before its end"),
            ReadError::Empty => self.error(
                ModelErrorKind::Empty,
                format!("the reply of {address} holds neither text nor a call"),
            ),
            ReadError::TooLong => self.too_large(&format!("{REPLY_BYTES_MAX} bytes")),
            ReadError::TooManyCalls => self.too_large(&format!("{REPLY_CALLS_MAX} calls")),
            ReadError::StreamTooLong => self.too_large(&format!("{STREAM_BYTES_MAX} bytes as sent")),
            ReadError::Event(error) => {
                self.error(ModelErrorKind::TooLarge, format!("the reply of {address} is too long: {error}"))
            }
            ReadError::Foreign => self.foreign(head),
            ReadError::Malformed(cause) => self.error(
                ModelErrorKind::Protocol,
                format!("the reply of {address} has a part that is not JSON: {cause}"),
            ),
        }
    }

    /// An error of ours, cleared of the key and of what is secret in the address.
    pub(crate) fn error(&self, kind: ModelErrorKind, message: String) -> ModelError {
        ModelError::new(kind, self.redacted(&message))
    }

    fn foreign(&self, head: &Head) -> ModelError {
        let message = format!(
            "{} answered {} with {} instead of {}; `api_base` must be the address of an \
             OpenAI-compatible server and end in `/v1`",
            self.address(),
            head.status.as_u16(),
            self.quoted(head.content_type()),
            self.wanted
        );
        self.error(ModelErrorKind::Protocol, message)
    }

    fn too_large(&self, limit: &str) -> ModelError {
        self.error(
            ModelErrorKind::TooLarge,
            format!("the reply of {} is longer than {limit}; ask for less in one reply", self.address()),
        )
    }

    fn of_status(&self, status: u16, words: &str) -> ModelError {
        let kind = kind_of_status(status);
        let Endpoint { provider, model, .. } = self.endpoint;
        let said = if words.is_empty() { String::new() } else { format!(": {words}") };
        let message = match kind {
            ModelErrorKind::Unauthorized => {
                let problem = if self.endpoint.key.is_some() { "refuses the key" } else { "wants a key" };
                format!("{provider} {problem} ({status}){said}; {}", self.key_hint())
            }
            ModelErrorKind::NotFound => format!(
                "{provider} has no model `{model}` at {} ({status}){said}; check the model's name, and that \
                 `api_base` ends in `/v1`",
                self.address()
            ),
            ModelErrorKind::RateLimited => format!("{provider} limits the rate of requests ({status}){said}"),
            ModelErrorKind::Server => format!("{provider} could not answer ({status}){said}"),
            ModelErrorKind::BadRequest
            | ModelErrorKind::Connect
            | ModelErrorKind::FirstByteTimeout
            | ModelErrorKind::IdleTimeout
            | ModelErrorKind::BrokenStream
            | ModelErrorKind::Protocol
            | ModelErrorKind::Empty
            | ModelErrorKind::TooLarge
            | ModelErrorKind::Local => format!("{provider} refuses the request ({status}){said}"),
        };
        self.error(kind, message)
    }

    /// Where the key belongs.
    fn key_hint(&self) -> String {
        let own = self.endpoint.options.api_key_env.clone();
        let providers = Providers::bundled();
        let usual = || providers.provider(&self.endpoint.provider)?.key_env.first().cloned();
        own.or_else(usual).map_or_else(
            || "name the environment variable that holds the key in `api_key_env`".to_owned(),
            |name| format!("set `{name}` to a valid key"),
        )
    }

    fn redacted(&self, text: &str) -> String {
        let text = self.endpoint.address.redact(text);
        let text = self.endpoint.key.as_ref().map_or_else(|| text.clone(), |key| key.redact(&text));
        // A server repeats what it was sent, also what a message held.
        redact_secrets(&text).into_owned()
    }

    /// A server's words on one line, without keys and without control characters, cut to length.
    fn quoted(&self, words: &str) -> String {
        let printable: String =
            self.redacted(words).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        excerpt(printable.split_whitespace().collect::<Vec<_>>().join(" ").as_str(), SERVER_MESSAGE_CHARS_MAX)
    }
}

fn kind_of_status(status: u16) -> ModelErrorKind {
    match status {
        401 | 403 => ModelErrorKind::Unauthorized,
        404 => ModelErrorKind::NotFound,
        429 => ModelErrorKind::RateLimited,
        408 | 409 | 500..=599 => ModelErrorKind::Server,
        _ => ModelErrorKind::BadRequest,
    }
}
