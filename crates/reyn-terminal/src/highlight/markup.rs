//! HTML and XML: tags, attributes, texts, comments.

use super::{COMMENT, CONSTANT, FUNCTION, KEYWORD, TEXT};
use crate::line::{Line, Style};

/// What a line begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Text,
    Comment,
    Tag,
    Value(u8),
}

/// What the first line begins in.
pub(super) const START: Within = Within::Text;

/// One line, and what the next one begins in.
pub(super) fn line(text: &str, within: Within) -> (Line, Within) {
    let mut line = Line::new();
    let (mut rest, mut within) = (text, within);
    while !rest.is_empty() {
        let (bytes, style, next) = match within {
            Within::Text => words(rest),
            Within::Comment => match rest.find("-->") {
                Some(at) => (at + 3, COMMENT, Within::Text),
                None => (rest.len(), COMMENT, Within::Comment),
            },
            Within::Tag => tag(rest),
            Within::Value(quote) => match rest.find(char::from(quote)) {
                Some(at) => (at + 1, TEXT, Within::Tag),
                None => (rest.len(), TEXT, within),
            },
        };
        line.push(&rest[..bytes], style);
        (rest, within) = (&rest[bytes..], next);
    }
    (line, within)
}

fn words(rest: &str) -> (usize, Style, Within) {
    if rest.starts_with("<!--") {
        return (4, COMMENT, Within::Comment);
    }
    let after = rest.strip_prefix('<').unwrap_or("").trim_start_matches(['/', '!', '?']);
    if after.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let name =
            after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-:.".contains(byte)).count();
        return (rest.len() - after.len() + name, KEYWORD, Within::Tag);
    }
    if rest.starts_with('&') {
        let name =
            rest.bytes().skip(1).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
        if rest[1 + name..].starts_with(';') {
            return (name + 2, CONSTANT, Within::Text);
        }
    }
    let first = rest.chars().next().map_or(1, char::len_utf8);
    let bytes = rest[first..].find(['<', '&']).map_or(rest.len(), |at| first + at);
    (bytes, Style::PLAIN, Within::Text)
}

fn tag(rest: &str) -> (usize, Style, Within) {
    let byte = rest.as_bytes()[0];
    match byte {
        b'>' => (1, KEYWORD, Within::Text),
        b'/' | b'?' => (1, KEYWORD, Within::Tag),
        b'"' | b'\'' => (1, TEXT, Within::Value(byte)),
        _ if byte.is_ascii_alphabetic() || matches!(byte, b'@' | b':' | b'_') => {
            let name = rest
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || b"-:._@".contains(byte))
                .count();
            (name, FUNCTION, Within::Tag)
        }
        _ => (rest.chars().next().map_or(1, char::len_utf8), Style::PLAIN, Within::Tag),
    }
}
