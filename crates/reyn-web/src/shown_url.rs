//! A URL as it may stand in a message: without what could be a secret.

use reyn_core::redaction::redact_query;
use url::Url;

use crate::limits::SHOWN_URL_CHARS_MAX;

/// Writes a URL without user, password and fragment, and with the values of its query that look like keys
/// replaced; at most [`SHOWN_URL_CHARS_MAX`] characters.
#[must_use]
pub fn shown_url(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for a URL that can have neither.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_fragment(None);
    if let Some(query) = url.query().and_then(redact_query) {
        shown.set_query(Some(&query));
    }
    let text = String::from(shown);
    match text.char_indices().nth(SHOWN_URL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_not_shown_and_the_rest_is() {
        for (url, expected) in [
            ("https://example.com/a?b=c#d", "https://example.com/a?b=c"),
            ("https://user:pass@example.com/", "https://example.com/"),
            ("https://example.com/?api_key=abc&q=x", "https://example.com/?api_key=[redacted]&q=x"),
            ("https://example.com/?X-Amz-Signature=abc", "https://example.com/?X-Amz-Signature=[redacted]"),
            ("https://example.com/?key=1", "https://example.com/?key=[redacted]"),
            ("https://example.com/?keyboard=qwerty", "https://example.com/?keyboard=qwerty"),
            ("https://example.com/?token=", "https://example.com/?token="),
            ("https://example.com/?x=sk-abcdef", "https://example.com/?x=[redacted]"),
            ("https://example.com/?0123456789abcdef0123456789abcdef", "https://example.com/?[redacted]"),
            (
                "https://example.com/?q=%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E6%A4%9C%E7%B4%A2",
                "https://example.com/?q=%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E6%A4%9C%E7%B4%A2",
            ),
        ] {
            assert_eq!(shown_url(&Url::parse(url).unwrap()), expected);
        }
    }

    #[test]
    fn a_long_url_is_cut() {
        let url = Url::parse(&format!("https://example.com/{}", "a/".repeat(1000))).unwrap();
        assert_eq!(shown_url(&url).chars().count(), SHOWN_URL_CHARS_MAX + 1);
    }
}
