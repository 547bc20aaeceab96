//! Secrets taken out of texts. The one place that knows what a secret looks like.
//!
//! Invariant: what leaves here as redacted holds none of the makes of credentials that are known, and redacting it
//! again changes nothing. Labels stay (`api_key=[REDACTED:credential]`), so a reader sees what stood there.

mod credential;
mod query;
mod shape;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::limits::{AUDIT_ITEMS_MAX, AUDIT_VALUE_CHARS_MAX, AUDIT_WORDS_CHARS_MAX};
use crate::text::excerpt;
use crate::tool::Args;

pub use query::redact_query;

/// How every mark of this module begins.
const MARK: &str = "[REDACTED:";

/// What kind of secret stood somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Credential,
    Bearer,
    AwsKey,
    GhToken,
    PrivateKey,
    ApiKey,
    Jwt,
}

impl Kind {
    fn mark(self) -> &'static str {
        match self {
            Self::Credential => "[REDACTED:credential]",
            Self::Bearer => "[REDACTED:bearer]",
            Self::AwsKey => "[REDACTED:aws_key]",
            Self::GhToken => "[REDACTED:gh_token]",
            Self::PrivateKey => "[REDACTED:private_key]",
            Self::ApiKey => "[REDACTED:api_key]",
            Self::Jwt => "[REDACTED:jwt]",
        }
    }
}

/// A text without the secrets in it; borrowed when there are none.
///
/// Known are credentials under a name that says so (`password=…`, `"api_key": "…"`, `--token …`, in a URL's query
/// or before its host), bearer tokens, keys of known makes, JSON web tokens and private keys in PEM. Linear in the
/// length of the text; the result is at most five times as long.
#[must_use]
pub fn redact_secrets(text: &str) -> Cow<'_, str> {
    let mut redacted = String::new();
    let mut from = 0;
    while let Some((secret, kind)) = next_secret(text, from) {
        redacted.push_str(&text[from..secret.start]);
        redacted.push_str(kind.mark());
        from = secret.end;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    redacted.push_str(&text[from..]);
    Cow::Owned(redacted)
}

/// Where the first secret stands in a text, in bytes.
#[must_use]
pub fn first_secret(text: &str) -> Option<Range<usize>> {
    next_secret(text, 0).map(|(secret, _)| secret)
}

/// Whether a text holds what looks like a secret.
#[must_use]
pub fn looks_secret(text: &str) -> bool {
    first_secret(text).is_some()
}

/// The first secret that begins at `from` or later.
fn next_secret(text: &str, from: usize) -> Option<(Range<usize>, Kind)> {
    let bytes = text.as_bytes();
    (from..bytes.len())
        .find_map(|at| match bytes[at] {
            b'=' | b':' => credential::after_separator(text, at),
            b'-' => shape::private_key(text, at).or_else(|| credential::after_option(text, at)),
            b'A' | b'B' | b'b' | b'e' | b'g' | b'h' | b'r' | b's' | b'x'
                if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() =>
            {
                shape::known(text, at)
            }
            _ => None,
        })
        // A secret that began before `from` is already taken out.
        .filter(|(secret, _)| secret.start >= from)
}

/// A call's arguments as an event may hold them: values under a secret's name and secrets in texts are replaced,
/// long texts cut.
#[must_use]
pub fn redacted(args: &Args) -> Value {
    match args {
        Args::Object(map) => redacted_map(map),
        Args::Malformed { error, .. } => Value::String(format!("malformed: {}", told(error))),
    }
}

fn redacted_map(map: &Map<String, Value>) -> Value {
    let shown = |(key, value): (&String, &Value)| {
        let value = if is_secret_name(key) { Kind::Credential.mark().into() } else { redacted_value(value) };
        (excerpt(&redact_secrets(key), AUDIT_VALUE_CHARS_MAX), value)
    };
    Value::Object(map.iter().take(AUDIT_ITEMS_MAX).map(shown).collect())
}

/// Words as an event may hold them: without secrets, and cut.
#[must_use]
pub fn told(words: &str) -> String {
    excerpt(&redact_secrets(words), AUDIT_WORDS_CHARS_MAX)
}

fn redacted_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(excerpt(&redact_secrets(text), AUDIT_VALUE_CHARS_MAX)),
        Value::Array(items) => Value::Array(items.iter().take(AUDIT_ITEMS_MAX).map(redacted_value).collect()),
        Value::Object(map) => redacted_map(map),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Whether an argument of this name is a secret, whatever its value.
fn is_secret_name(key: &str) -> bool {
    let key = key.to_lowercase();
    ["api_key", "apikey", "secret", "token", "password", "passwd", "authorization", "credential"]
        .iter()
        .any(|name| key.contains(name))
}

#[cfg(test)]
#[path = "redaction/redaction_tests.rs"]
mod tests;
