//! Secrets that are known by what they look like.

use std::ops::Range;

use super::Kind;

/// How much of a run is looked at to tell a secret from words, in bytes.
const LOOKED_AT_BYTES_MAX: usize = 256;
/// Longest private key in PEM, in bytes.
const PEM_BYTES_MAX: usize = 16 << 10;
const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";
const PEM_PRIVATE: &str = "PRIVATE KEY";

/// What a make of key begins with, how many characters follow at least, and its kind.
const MAKES: &[(&str, usize, Kind)] = &[
    ("sk-", 20, Kind::ApiKey),
    ("sk_live_", 16, Kind::ApiKey),
    ("sk_test_", 16, Kind::ApiKey),
    ("rk_live_", 16, Kind::ApiKey),
    ("AKIA", 16, Kind::AwsKey),
    ("ASIA", 16, Kind::AwsKey),
    ("AIza", 30, Kind::ApiKey),
    ("ghp_", 20, Kind::GhToken),
    ("gho_", 20, Kind::GhToken),
    ("ghu_", 20, Kind::GhToken),
    ("ghs_", 20, Kind::GhToken),
    ("ghr_", 20, Kind::GhToken),
    ("github_pat_", 20, Kind::GhToken),
    ("glpat-", 20, Kind::ApiKey),
    ("gsk_", 20, Kind::ApiKey),
    ("xai-", 20, Kind::ApiKey),
    ("hf_", 20, Kind::ApiKey),
    ("xoxa-", 10, Kind::ApiKey),
    ("xoxb-", 10, Kind::ApiKey),
    ("xoxe-", 10, Kind::ApiKey),
    ("xoxo-", 10, Kind::ApiKey),
    ("xoxp-", 10, Kind::ApiKey),
    ("xoxr-", 10, Kind::ApiKey),
    ("xoxs-", 10, Kind::ApiKey),
];

/// The secret of a known shape that begins at the byte `at`, if one does.
pub(super) fn beginning(text: &str, at: usize) -> Option<(Range<usize>, Kind)> {
    match text.as_bytes()[at] {
        b'-' => private_key(text, at),
        byte if byte.is_ascii_alphabetic() => known(text, at),
        _ => None,
    }
}

/// The key, token or bearer that begins at `at`, if one does.
pub(super) fn known(text: &str, at: usize) -> Option<(Range<usize>, Kind)> {
    // `risk-…` is a word; a credential does not begin inside one.
    if at > 0 && text[..at].ends_with(char::is_alphanumeric) {
        return None;
    }
    let rest = &text[at..];
    jwt(rest).map(|bytes| (at..at + bytes, Kind::Jwt)).or_else(|| bearer(text, at)).or_else(|| {
        let (make, least, kind) = MAKES.iter().find(|(make, ..)| rest.starts_with(make))?;
        let tail = &rest[make.len()..];
        let looked_at = run(&tail.as_bytes()[..tail.len().min(LOOKED_AT_BYTES_MAX)], is_key_byte);
        let is_key = match kind {
            Kind::AwsKey => {
                run(tail.as_bytes(), |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) >= *least
            }
            Kind::ApiKey if *least == 10 => {
                looked_at >= *least && tail[..looked_at].bytes().any(|byte| byte.is_ascii_digit())
            }
            Kind::Credential | Kind::Bearer | Kind::GhToken | Kind::PrivateKey | Kind::ApiKey | Kind::Jwt => {
                looked_at >= *least && is_random(&tail[..looked_at])
            }
        };
        is_key.then(|| (at..at + make.len() + run_of_key(tail), *kind))
    })
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| belongs(**byte)).count()
}

/// Bytes of the run of a key, without the full stop that ends a sentence.
fn run_of_key(tail: &str) -> usize {
    tail[..run(tail.as_bytes(), is_key_byte)].trim_end_matches('.').len()
}

/// Whether a run is no words joined by dashes: a long piece without one, or digits among both cases.
pub(super) fn is_random(run: &str) -> bool {
    let has = |belongs: fn(&u8) -> bool| run.as_bytes().iter().any(belongs);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    is_mixed || run.split(['-', '_', '.']).any(|piece| piece.len() >= 16)
}

/// Length of the JSON web token that `rest` begins with: three parts in base64url, the first an object.
fn jwt(rest: &str) -> Option<usize> {
    if !rest.starts_with("eyJ") {
        return None;
    }
    let part = |from: usize| {
        let bytes =
            run(&rest.as_bytes()[from..], |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        (bytes >= 10).then_some(from + bytes)
    };
    let dot = |at: usize| rest[at..].starts_with('.').then_some(at + 1);
    part(dot(part(dot(part(0)?)?)?)?)
}

/// The token after the word `Bearer`.
fn bearer(text: &str, at: usize) -> Option<(Range<usize>, Kind)> {
    const WORD: &str = "bearer ";
    let word = text.get(at..at + WORD.len())?;
    if !word.eq_ignore_ascii_case(WORD) {
        return None;
    }
    let tail = &text[at + WORD.len()..];
    let blanks = run(tail.as_bytes(), |byte| byte == b' ').min(8);
    let start = at + WORD.len() + blanks;
    let tail = &text[start..];
    let token = run(tail.as_bytes(), |byte| is_key_byte(byte) || matches!(byte, b'~' | b'+' | b'/' | b'='));
    let token = tail[..token].trim_end_matches('.').len();
    let is_token = token >= 16 && (token >= 24 || tail[..token].bytes().any(|byte| byte.is_ascii_digit()));
    is_token.then_some((start..start + token, Kind::Bearer))
}

/// The private key that begins at `at`: its whole block, or what is there of one that is cut off.
pub(super) fn private_key(text: &str, at: usize) -> Option<(Range<usize>, Kind)> {
    let rest = &text[at..];
    let label = rest.strip_prefix(PEM_BEGIN)?;
    let dashes = label.find("-----").filter(|dashes| *dashes <= 40)?;
    if !label[..dashes].contains(PEM_PRIVATE) {
        return None;
    }
    let body = PEM_BEGIN.len() + dashes + 5;
    let looked_at = crate::text::prefix(&rest[body..], PEM_BYTES_MAX);
    let end = looked_at.find(PEM_END).and_then(|end| {
        let label = &looked_at[end + PEM_END.len()..];
        Some(end + PEM_END.len() + label.find("-----").filter(|dashes| *dashes <= 40)? + 5)
    });
    let is_of_key = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\' | b':' | b',' | b'-' | b' ')
    };
    let bytes = body + end.unwrap_or_else(|| run(looked_at.as_bytes(), is_of_key));
    Some((at..at + bytes, Kind::PrivateKey))
}
