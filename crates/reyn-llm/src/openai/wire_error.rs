//! Errors that a server writes into a body.

use serde_json::Value;

use crate::sse::SseError;

/// Why a body gives no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The server reports an error in the body.
    Server(ServerError),
    /// The body ended before the reply did.
    Broken,
    /// The reply is over and holds nothing.
    Empty,
    /// The reply is longer than `REPLY_BYTES_MAX`.
    TooLong,
    /// The reply has more than `REPLY_CALLS_MAX` calls.
    TooManyCalls,
    /// The whole stream is longer than `STREAM_BYTES_MAX`.
    StreamTooLong,
    /// One event of the stream is too long.
    Event(SseError),
    /// The body is not of this protocol, e.g. a web page.
    Foreign,
    /// A chunk is not JSON; the text says where.
    Malformed(String),
}

impl ReadError {
    /// An event that is an error whatever its form.
    pub(crate) fn server(body: &Value) -> Self {
        Self::Server(ServerError::of_error_body(&body.to_string()))
    }
}

impl From<SseError> for ReadError {
    fn from(error: SseError) -> Self {
        Self::Event(error)
    }
}

/// What a server says about an error. The message is the server's and not yet safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ServerError {
    /// The HTTP status that the body names, which counts where the response itself says 200.
    pub(crate) status: Option<u16>,
    /// `code` and `type`, for telling kinds apart.
    pub(crate) class: String,
    /// In the server's words; may be empty.
    pub(crate) message: String,
}

impl ServerError {
    /// Finds an error in a decoded body: `{"error": {…}}`, `{"error": "…"}`, or a list that holds one.
    pub(crate) fn in_body(body: &Value) -> Option<Self> {
        let body = body.as_array().map_or(body, |list| list.first().unwrap_or(&Value::Null));
        let error = body.get("error").filter(|error| !error.is_null())?;
        Some(Self::from_object(error))
    }

    /// Reads the body of a response whose status says that it is an error.
    pub(crate) fn of_error_body(text: &str) -> Self {
        let Ok(body) = serde_json::from_str::<Value>(text) else {
            return Self { message: text.to_owned(), ..Self::default() };
        };
        let error = Self::in_body(&body).unwrap_or_else(|| Self::from_object(&body));
        if error.message.is_empty() { Self { message: body.to_string(), ..error } } else { error }
    }

    fn from_object(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let words = error.as_str().or_else(|| ["message", "detail", "error"].into_iter().find_map(text));
        let code = error.get("code").or_else(|| error.get("status"));
        let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        let class = ["code", "type", "status"].into_iter().filter_map(text).collect::<Vec<_>>().join(" ");
        Self {
            status: number.and_then(|number| u16::try_from(number).ok()).filter(|code| *code >= 400),
            class,
            message: words.unwrap_or_default().to_owned(),
        }
    }

    /// The status that fits the error when it stands in a response that said 200.
    pub(crate) fn assumed_status(&self) -> u16 {
        let is = |word: &str| self.class.to_ascii_lowercase().contains(word);
        match self.status {
            Some(status) => status,
            None if is("rate_limit") || is("quota") || is("resource_exhausted") => 429,
            None if is("authentication") || is("api_key") || is("permission") => 401,
            None if is("not_found") => 404,
            None if is("invalid") || is("context_length") => 400,
            None => 500,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_found_in_every_form_and_get_the_status_that_fits() {
        for (body, message, status) in [
            (r#"{"error":{"message":"slow down","code":429}}"#, "slow down", 429),
            (r#"{"error":{"message":"slow down","type":"rate_limit_exceeded"}}"#, "slow down", 429),
            (r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#, "bad key", 401),
            (r#"{"error":{"message":"gone","code":"model_not_found"}}"#, "gone", 404),
            (r#"{"error":{"message":"long","code":"context_length_exceeded"}}"#, "long", 400),
            (r#"{"error":{"message":"busy","code":"503"}}"#, "busy", 503),
            (r#"{"error":"model crashed"}"#, "model crashed", 500),
            (r#"[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]"#, "no", 400),
            (r#"{"message":"Unauthorized"}"#, "Unauthorized", 500),
            (r#"{"detail":"Not Found"}"#, "Not Found", 500),
            (r#"{"object":"error","message":"x","code":404}"#, "x", 404),
            (r#"{"odd":1}"#, r#"{"odd":1}"#, 500),
            ("404 page not found", "404 page not found", 500),
        ] {
            let error = ServerError::of_error_body(body);
            assert_eq!((error.message.as_str(), error.assumed_status()), (message, status), "{body}");
        }
    }

    #[test]
    fn a_chunk_without_an_error_has_none() {
        for body in [r#"{"choices":[]}"#, r#"{"error":null,"choices":[]}"#, "[]", "null"] {
            assert_eq!(ServerError::in_body(&serde_json::from_str(body).unwrap()), None);
        }
    }
}
