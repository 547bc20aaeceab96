//! A URL as it may stand in a message: without what could be a secret.

use std::borrow::Cow;

use url::Url;

use crate::limits::SHOWN_URL_CHARS_MAX;

const REDACTED: &str = "[redacted]";

/// Words in the name of a query's field that make its value a secret.
const SECRET_NAMES: [&str; 14] = [
    "token",
    "secret",
    "passw",
    "pwd",
    "apikey",
    "api_key",
    "api-key",
    "auth",
    "signature",
    "credential",
    "session",
    "jwt",
    "otp",
    "code",
];

/// Names that are a secret as a whole.
const SECRET_NAMES_WHOLE: [&str; 5] = ["key", "sig", "sid", "pass", "access"];

/// Beginnings of known keys.
const KEY_BEGINNINGS: [&str; 9] =
    ["sk-", "xox", "ghp_", "gho_", "ghs_", "github_pat_", "AKIA", "AIza", "eyJ"];

/// Letters and digits in a row, mixed, from which on a value looks like a key.
const KEY_CHARS_MIN: usize = 32;

/// Writes a URL without user, password and fragment, and with the values of its query that look like keys
/// replaced; at most [`SHOWN_URL_CHARS_MAX`] characters.
#[must_use]
pub fn shown_url(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for a URL that can have neither.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_fragment(None);
    if url.query().is_some_and(has_secret) {
        let query = url.query().unwrap_or_default();
        let fields: Vec<Cow<'_, str>> = query.split('&').map(shown_field).collect();
        shown.set_query(Some(&fields.join("&")));
    }
    let text = String::from(shown);
    match text.char_indices().nth(SHOWN_URL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn has_secret(query: &str) -> bool {
    query.split('&').any(is_secret)
}

fn shown_field(field: &str) -> Cow<'_, str> {
    if !is_secret(field) {
        return Cow::Borrowed(field);
    }
    match field.split_once('=') {
        Some((name, _)) => Cow::Owned(format!("{name}={REDACTED}")),
        None => Cow::Borrowed(REDACTED),
    }
}

fn is_secret(field: &str) -> bool {
    match field.split_once('=') {
        Some((_, "")) => false,
        Some((name, value)) => is_secret_name(name) || looks_like_a_key(value),
        None => looks_like_a_key(field),
    }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|word| name.contains(word))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| SECRET_NAMES_WHOLE.contains(&part))
}

fn looks_like_a_key(value: &str) -> bool {
    let is_key = |run: &str| {
        run.len() >= KEY_CHARS_MIN
            && run.contains(|c: char| c.is_ascii_digit())
            && run.contains(|c: char| c.is_ascii_alphabetic())
    };
    KEY_BEGINNINGS.iter().any(|beginning| value.starts_with(beginning))
        || value.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').any(|run| {
            // Percent signs split, so an encoded text of another language is runs of two digits.
            is_key(run)
        })
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
