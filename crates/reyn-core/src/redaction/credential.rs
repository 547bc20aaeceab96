//! Secrets that are known by the name before them.

use std::ops::Range;

use super::shape::{beginning, is_random};
use super::{Kind, MARK};

/// Longest name that is looked at, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Shortest value that counts under a name, in bytes.
const VALUE_BYTES_MIN: usize = 16;
/// How much of a value is looked at to tell it from words and code, in bytes.
const LOOKED_AT_BYTES_MAX: usize = 512;
/// Longest value in quotes, in bytes.
const QUOTED_BYTES_MAX: usize = 4096;
/// Shortest password before a host, in bytes.
const USERINFO_BYTES_MIN: usize = 6;

/// Length of a user's name before a host from which on it is taken out too, in bytes.
const USER_BYTES_MAX: usize = 12;

/// How names of secrets end, in small letters without `-` and `_`.
const NAMES: &[&str] = &[
    "apikey",
    "secret",
    "token",
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "credential",
    "credentials",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "authorization",
    "tokens",
    "secrets",
    "passwords",
];
/// What may follow in a name, in small letters without `-` and `_`.
const ENDINGS: &[&str] = &["", "prod", "production", "dev", "test", "staging", "value", "hex"];
/// Words between a name and its value in a header.
const SCHEMES: &[&str] = &["basic ", "token ", "bearer ", "apikey ", "digest "];

/// The value after the `=` or `:` at `at`: of a name that says it is a secret, or a password before a host.
pub(super) fn after_separator(text: &str, at: usize) -> Option<(Range<usize>, Kind)> {
    if text[at..].starts_with("://") {
        return userinfo(text, at + 3);
    }
    // `:=`, `::`, `==` and `=>` are code; `=` at the end of base64 has no name before it.
    let skipped = if text[at..].starts_with(":=") || text[at..].starts_with("=>") { 2 } else { 1 };
    if !is_secret_name(name_before(text, at)) {
        return None;
    }
    let is_tight =
        text[at + skipped..].starts_with(|c: char| !c.is_whitespace()) && text.as_bytes()[at] == b'=';
    value(text, at + skipped, is_tight)
}

/// The value after an option of a command, `--token …`, that begins at `at`; from the key on that stands in what
/// looks like the option's name, if one does.
pub(super) fn after_option(text: &str, at: usize) -> Option<(Range<usize>, Kind)> {
    let rest = text[at..].strip_prefix("--")?;
    let name = rest.bytes().take(NAME_BYTES_MAX).take_while(|byte| is_name_byte(*byte)).count();
    if !rest[name..].starts_with(' ') || !is_secret_name(&rest[..name]) {
        return None;
    }
    let (secret, kind) = value(text, at + 2 + name, true)?;
    let key = (at + 1..at + 2 + name).find_map(|at| beginning(text, at));
    Some(key.map_or((secret.clone(), kind), |(key, kind)| (key.start..secret.end, kind)))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The name that ends before `at`, past blanks and a quotation mark.
fn name_before(text: &str, at: usize) -> &str {
    let before = &text.as_bytes()[at.saturating_sub(NAME_BYTES_MAX + 8)..at];
    let blanks = before.iter().rev().take(4).take_while(|byte| **byte == b' ').count();
    let before = &before[..before.len() - blanks];
    let quotes =
        before.iter().rev().take(2).take_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\')).count();
    let name = before[..before.len() - quotes]
        .iter()
        .rev()
        .take(NAME_BYTES_MAX)
        .take_while(|byte| is_name_byte(**byte))
        .count();
    let end = at - blanks - quotes;
    &text[end - name..end]
}

fn is_secret_name(name: &str) -> bool {
    let mut small = [0_u8; NAME_BYTES_MAX];
    let mut bytes = 0;
    for byte in name.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).take(NAME_BYTES_MAX) {
        small[bytes] = byte.to_ascii_lowercase();
        bytes += 1;
    }
    while bytes > 0 && small[bytes - 1].is_ascii_digit() {
        bytes -= 1;
    }
    let name = &small[..bytes];
    let ends_with_name = |name: &[u8]| NAMES.iter().any(|known| name.ends_with(known.as_bytes()));
    // The shortest name has three letters, and all end with one of a few.
    name.last().is_some_and(|last| b"ytdnselvgx64".contains(last))
        && ENDINGS.iter().any(|ending| name.strip_suffix(ending.as_bytes()).is_some_and(ends_with_name))
}

/// The value that begins at `from`, past blanks, a scheme and a quotation mark, when it can be a secret.
fn value(text: &str, from: usize, is_tight: bool) -> Option<(Range<usize>, Kind)> {
    let blanks =
        text.as_bytes()[from..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let from = from + blanks;
    let quote = ["\\\"", "\"", "'", "`"].into_iter().find(|quote| text[from..].starts_with(quote));
    let from = from + quote.map_or(0, str::len);
    let scheme = SCHEMES.iter().find(|scheme| {
        text.get(from..from + scheme.len()).is_some_and(|word| word.eq_ignore_ascii_case(scheme))
    });
    let start = from + scheme.map_or(0, |scheme| scheme.len());
    let kind =
        if scheme.is_some_and(|scheme| *scheme == "bearer ") { Kind::Bearer } else { Kind::Credential };
    let value = match quote {
        Some(quote) => quoted(&text[start..], quote)?,
        None => unquoted(crate::text::prefix(&text[start..], LOOKED_AT_BYTES_MAX)),
    };
    let looked_at = crate::text::prefix(value, LOOKED_AT_BYTES_MAX);
    let is_secret = |value: &str| {
        value.len() >= VALUE_BYTES_MIN
            && !value.contains(MARK)
            && if quote.is_some() {
                may_be_quoted_secret(value)
            } else {
                may_be_bare_secret(value, is_tight || scheme.is_some())
            }
    };
    if is_secret(looked_at) {
        // A value longer than what was looked at is taken out whole.
        let whole = if quote.is_none() { unquoted(&text[start..]) } else { value };
        return Some((start..start + whole.len(), kind));
    }
    // What is left of the value once the key behind it is taken out.
    let key =
        (start..start + looked_at.len()).find(|at| quote.is_none() && beginning(text, *at).is_some())?;
    let rest = unquoted(&text[start..key]);
    is_secret(rest).then(|| (start..start + rest.len(), kind))
}

/// What stands before the quotation mark, in one line.
fn quoted<'a>(text: &'a str, quote: &str) -> Option<&'a str> {
    let looked_at = crate::text::prefix(text, QUOTED_BYTES_MAX);
    let value = &looked_at[..looked_at.find(quote)?];
    (!value.contains('\n')).then_some(value)
}

fn unquoted(text: &str) -> &str {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ',' | ';' | '&' | ')' | ']' | '}' | '"' | '\'' | '`' | '<' | '>' | '|' | '\\' | '['
            )
    };
    let value = text.split(ends).next().unwrap_or(text);
    value.trim_end_matches('.')
}

/// Whether what stands in quotes is no words, placeholder, address or path.
fn may_be_quoted_secret(value: &str) -> bool {
    let is_reference = value.starts_with(['$', '{', '<', '%', '/', '.', '~'])
        || value.contains("://")
        || value.contains("${");
    !is_reference && !value.contains(|c: char| c.is_whitespace() || !c.is_ascii())
}

/// Whether what stands bare is neither words nor code: letters and digits mixed, or, right behind a `=`, one long word.
fn may_be_bare_secret(value: &str, is_tight: bool) -> bool {
    let is_code = value.contains(['(', '{', '$', '<', '*'])
        || value.contains("::")
        || value.contains("://")
        || value.starts_with(['/', '.', '~', '%']);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let pieces = || value.split(|c: char| !c.is_ascii_alphanumeric());
    let is_mixed = |piece: &str| {
        piece.len() >= 8
            && piece.bytes().any(|byte| byte.is_ascii_digit())
            && piece.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let is_one_word =
        || is_tight && value.bytes().all(|byte| byte.is_ascii_alphanumeric()) && is_random(value);
    let is_number = !value.bytes().any(|byte| byte.is_ascii_alphabetic());
    !is_code && !is_number && value.is_ascii() && (digits >= 4 || pieces().any(is_mixed) || is_one_word())
}

/// The password between a user's name and a host, after the `://` that ends at `from`.
fn userinfo(text: &str, from: usize) -> Option<(Range<usize>, Kind)> {
    let looked_at = crate::text::prefix(&text[from..], LOOKED_AT_BYTES_MAX);
    let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '`');
    let authority = looked_at.split(ends).next()?;
    let (info, _) = authority.rsplit_once('@')?;
    let (user, password) = info.split_once(':')?;
    let is_reference = password.starts_with(['$', '{', '<', '%', '*']) || info.contains(MARK);
    // A name as long as a key may be one.
    let named = if user.len() < USER_BYTES_MAX { user.len() + 1 } else { 0 };
    let is_secret = password.len() >= USERINFO_BYTES_MIN && !is_reference;
    is_secret.then(|| (from + named..from + info.len(), Kind::Credential))
}
