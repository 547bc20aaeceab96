//! A key that cannot be printed.

use std::fmt;

use reqwest::header::HeaderValue;

/// The key of a provider. Its `Debug` and `Display` never show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key; white space around it is dropped, since files and shells add some.
    ///
    /// Returns `None` for a blank key.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The text with every occurrence of the key replaced by `[redacted]`.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "[redacted]")
    }

    /// The value of the header that carries the key; `None` when it has characters that none can carry.
    pub(crate) fn bearer(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKey([redacted])")
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = ApiKey::new(" sk-secret\n").unwrap();
        assert_eq!(
            format!("{key} {key:?} {:?}", Some(&key)),
            "[redacted] ApiKey([redacted]) Some(ApiKey([redacted]))"
        );
        assert_eq!(key.redact("sk-secret and sk-secret"), "[redacted] and [redacted]");
        assert_eq!(ApiKey::new(" \n"), None);
    }
}
