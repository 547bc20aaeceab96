//! What every server of vectors has in common: a request of JSON, an answer of JSON, and what is checked of it.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Response, Url};
use reyn_core::embedding::ModelIdentity;
use reyn_core::limits::{EMBEDDING_REPLY_BYTES_MAX, EMBEDDING_TOKENS_MAX};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::Embedded;
use super::vector::{WireVector, normalised};
use crate::chat::{ModelError, ModelErrorKind};
use crate::http_client::{client_for, is_loopback, request_cause};
use crate::openai::Endpoint;
use crate::openai::error_body;
use crate::openai::failure::{Asked, Head};
use crate::openai::wire_error::{ReadError, ServerError};

/// What a blank text is sent as: servers refuse an empty one, and none of these says anything.
const BLANK: &str = ".";
/// Bytes of ASCII that are counted as one token; a token of English has four, one of code and numbers fewer.
const ASCII_PER_TOKEN: usize = 3;

/// A server and what is known of its model.
#[derive(Debug)]
pub(super) struct EmbeddingServer {
    name: String,
    endpoint: Endpoint,
    is_loopback_only: bool,
    client: OnceLock<Client>,
    may_have_old_connection: AtomicBool,
    dimensions: OnceLock<usize>,
}

/// What a server answered, before it is checked.
pub(super) struct Answer {
    /// In the order of the texts.
    pub(super) vectors: Vec<WireVector>,
    pub(super) tokens: Option<u64>,
}

impl EmbeddingServer {
    pub(super) fn new(endpoint: Endpoint, is_loopback_only: bool) -> Self {
        let wanted = endpoint.options.extra_body.as_ref().and_then(|extra| extra.get("dimensions")?.as_u64());
        let dimensions = wanted.and_then(|wanted| usize::try_from(wanted).ok());
        Self {
            name: format!("{}/{}", endpoint.provider, endpoint.model),
            endpoint,
            is_loopback_only,
            client: OnceLock::new(),
            may_have_old_connection: AtomicBool::new(false),
            dimensions: dimensions.map_or_else(OnceLock::new, OnceLock::from),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn identity(&self) -> Option<ModelIdentity> {
        let dimensions = *self.dimensions.get()?;
        Some(ModelIdentity { name: self.name.clone(), revision: None, dimensions })
    }

    /// Whether the server is on another machine.
    pub(super) fn may_cost(&self) -> bool {
        !self.endpoint.address.url().is_ok_and(|url| is_loopback(&url))
    }

    /// The address as it is called.
    pub(super) fn url(&self) -> Result<Url, ModelError> {
        self.endpoint.url(self.is_loopback_only)
    }

    /// The body of a request: the further fields of the configuration, then the model and the texts.
    pub(super) fn body(&self, texts: &[Cow<'_, str>]) -> Value {
        let mut body: Map<String, Value> = self.endpoint.options.extra_body.clone().unwrap_or_default();
        body.insert("model".to_owned(), self.endpoint.model.as_str().into());
        body.insert("input".to_owned(), texts.iter().map(|text| Value::from(text.as_ref())).collect());
        Value::Object(body)
    }

    /// Sends a request and reads the answer, which is `Reply` or an error.
    pub(super) async fn post<Reply: DeserializeOwned>(
        &self,
        url: Url,
        body: &Value,
        read: impl Fn(Reply) -> Result<Answer, ReadError>,
    ) -> Result<Answer, ModelError> {
        let asked = self.asked();
        let client = self.client(&url).map_err(|why| asked.error(ModelErrorKind::Protocol, why))?;
        let json = HeaderValue::from_static("application/json");
        let mut request =
            client.post(url).header(CONTENT_TYPE, &json).header(ACCEPT, &json).body(body.to_string());
        if let Some(key) = &self.endpoint.key {
            request = request.header(AUTHORIZATION, key.bearer().ok_or_else(|| asked.bad_key())?);
        }
        let first_byte_by = Instant::now() + self.endpoint.timeouts.first_byte;
        let may_be_stale = self.may_have_old_connection.swap(false, Ordering::Relaxed);
        let response = timeout_at(first_byte_by, request.send())
            .await
            .map_err(|_| asked.first_byte_timeout())?
            .map_err(|error| asked.not_sent(error, may_be_stale))?;
        let head = Head { status: response.status(), headers: response.headers().clone() };
        if !head.status.is_success() {
            let body = error_body(response, self.endpoint.timeouts.idle).await;
            self.may_have_old_connection.store(true, Ordering::Relaxed);
            return Err(asked.refused(&head, &body));
        }
        let body = self.whole_body(&asked, response).await?;
        self.may_have_old_connection.store(true, Ordering::Relaxed);
        parsed(&body).and_then(read).map_err(|error| asked.unreadable(&head, error))
    }

    /// Checks an answer to so many texts.
    pub(super) fn checked(&self, answer: Answer, is_cut: Vec<bool>) -> Result<Embedded, ModelError> {
        let asked = self.asked();
        let wrong = |why: &str| {
            let message = format!("the answer of `{}` cannot be used: {why}", self.name);
            asked.error(ModelErrorKind::Protocol, message)
        };
        let (count, expected) = (answer.vectors.len(), is_cut.len());
        if count != expected {
            return Err(wrong(&format!("it has {count} vectors for {expected} texts")));
        }
        let mut vectors = Vec::with_capacity(count);
        for WireVector(vector) in answer.vectors {
            let dimensions = *self.dimensions.get_or_init(|| vector.len());
            if vector.len() != dimensions {
                let lengths = format!("a vector has {} numbers and should have {dimensions}", vector.len());
                return Err(wrong(&lengths));
            }
            vectors.push(normalised(vector).map_err(wrong)?);
        }
        Ok(Embedded { vectors, is_cut, tokens: answer.tokens })
    }

    fn asked(&self) -> Asked<'_> {
        Asked { endpoint: &self.endpoint, wanted: "vectors" }
    }

    fn client(&self, url: &Url) -> Result<&Client, String> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = client_for(url, self.endpoint.timeouts.connect).map_err(|error| error.to_string())?;
        Ok(self.client.get_or_init(|| client))
    }

    async fn whole_body(&self, asked: &Asked<'_>, mut response: Response) -> Result<Vec<u8>, ModelError> {
        let mut body = vec![];
        loop {
            let deadline = Instant::now() + self.endpoint.timeouts.idle;
            let piece = timeout_at(deadline, response.chunk()).await.map_err(|_| asked.idle_timeout())?;
            let Some(piece) = piece.map_err(|error| asked.broken(&request_cause(error)))? else {
                return Ok(body);
            };
            if body.len() + piece.len() > EMBEDDING_REPLY_BYTES_MAX {
                let message = format!(
                    "the answer of {} is longer than {EMBEDDING_REPLY_BYTES_MAX} bytes; a smaller `embedding.batch_size` \
                     makes it shorter",
                    self.endpoint.address.shown()
                );
                return Err(asked.error(ModelErrorKind::TooLarge, message));
            }
            body.extend_from_slice(&piece);
        }
    }
}

/// Reads the body of a response that says that all is well.
fn parsed<Reply: DeserializeOwned>(body: &[u8]) -> Result<Reply, ReadError> {
    let error = match serde_json::from_slice(body) {
        Ok(reply) => return Ok(reply),
        Err(error) => error,
    };
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => match ServerError::in_body(&value) {
            Some(said) => Err(ReadError::Server(said)),
            None if value.is_object() && error.is_data() => Err(ReadError::Malformed(error.to_string())),
            None => Err(ReadError::Foreign),
        },
        Err(_) if body.trim_ascii_start().starts_with(b"{") => Err(ReadError::Malformed(error.to_string())),
        Err(_) => Err(ReadError::Foreign),
    }
}

/// Texts as a server takes them, each with whether it was cut.
pub(super) fn sendable(texts: &[String]) -> (Vec<Cow<'_, str>>, Vec<bool>) {
    texts.iter().map(|text| one_sendable(text)).unzip()
}

fn one_sendable(text: &str) -> (Cow<'_, str>, bool) {
    if text.trim().is_empty() {
        return (Cow::Borrowed(BLANK), false);
    }
    let kept = within(text, EMBEDDING_TOKENS_MAX);
    (Cow::Borrowed(kept), kept.len() < text.len())
}

/// Tokens of a text, rather too many than too few: no server says how its model counts.
pub(super) fn estimated_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    text.chars().count() - ascii + ascii.div_ceil(ASCII_PER_TOKEN)
}

/// The beginning of a text that has at most so many tokens, as they are estimated.
fn within(text: &str, tokens_max: usize) -> &str {
    let mut thirds = 0;
    for (at, c) in text.char_indices() {
        thirds += if c.is_ascii() { 1 } else { ASCII_PER_TOKEN };
        if thirds > tokens_max * ASCII_PER_TOKEN {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_estimated_and_a_text_is_cut_at_a_character() {
        for (text, tokens) in [("", 0), ("abc", 1), ("abcd", 2), ("日本語", 3), ("日本 go", 3)] {
            assert_eq!(estimated_tokens(text), tokens, "{text}");
        }
        for (text, tokens_max, kept) in [
            ("abcdefg", 2, "abcdef"),
            ("日本語", 2, "日本"),
            ("abc", 1, "abc"),
            ("a日b", 1, "a"),
            ("", 0, ""),
        ] {
            assert_eq!(within(text, tokens_max), kept);
        }
    }

    #[test]
    fn a_blank_text_is_sent_as_something_and_a_long_one_is_cut() {
        let texts = ["", " \n\t", "\u{3000}", "hi"].map(str::to_owned);
        assert_eq!(sendable(&texts), ([".", ".", ".", "hi"].map(Cow::from).to_vec(), vec![false; 4]));
        let long = ["語".repeat(EMBEDDING_TOKENS_MAX + 1)];
        let (sent, is_cut) = sendable(&long);
        assert_eq!((sent[0].chars().count(), is_cut), (EMBEDDING_TOKENS_MAX, vec![true]));
    }
}
