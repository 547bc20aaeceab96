//! The query of an address: a value counts as a secret by the name of its field, however short it is.

use std::borrow::Cow;

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

/// The query with the values that look like keys replaced; `None` where there is none.
#[must_use]
pub fn redact_query(query: &str) -> Option<String> {
    if !query.split('&').any(is_secret) {
        return None;
    }
    let fields: Vec<Cow<'_, str>> = query.split('&').map(shown_field).collect();
    Some(fields.join("&"))
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
    fn a_field_is_a_secret_by_its_name_or_by_its_value() {
        for (query, expected) in [
            ("q=x&lang=en", None),
            ("api_key=abc&q=x", Some("api_key=[redacted]&q=x")),
            ("key=1", Some("key=[redacted]")),
            ("keyboard=qwerty", None),
            ("x=sk-abcdef&token=", Some("x=[redacted]&token=")),
        ] {
            assert_eq!(redact_query(query).as_deref(), expected, "{query}");
        }
    }
}
