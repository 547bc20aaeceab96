//! Matches a name with a component of a glob, character by character.

use std::sync::OnceLock;

use globset::{Candidate, GlobBuilder, GlobMatcher};
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::bounds::GLOB_REGEX_BYTES_MAX;

/// A component of a glob with `?`, `[…]` or `*` in it.
#[derive(Debug)]
pub(crate) struct Wildcard {
    /// Takes a byte for a character, which is right for names in ASCII.
    bytes: GlobMatcher,
    /// For other names, built when the first of them is seen. None when it would be larger than its bound,
    /// which it is only for a component that is longer than any name.
    characters: OnceLock<Option<RegexMatcher>>,
}

impl Wildcard {
    /// Fails with the reason.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let glob = GlobBuilder::new(text).literal_separator(true).build().map_err(|error| {
            format!("{}; a special character stands for itself in brackets, as in `[[]`", error.kind())
        })?;
        Ok(Self { bytes: glob.compile_matcher(), characters: OnceLock::new() })
    }

    /// Whether all of `name` matches. In a name that is not UTF-8, each byte is a character.
    pub(crate) fn is_match(&self, name: &[u8]) -> bool {
        if !name.is_ascii() && std::str::from_utf8(name).is_ok() {
            let characters = self.characters.get_or_init(|| by_characters(self.bytes.glob().regex()));
            if let Some(matcher) = characters {
                return matcher.is_match(name).unwrap_or_default();
            }
        }
        self.bytes.is_match_candidate(&Candidate::from_bytes(name))
    }
}

/// From the expression that globset makes for bytes to one for characters.
fn by_characters(expression: &str) -> Option<RegexMatcher> {
    let expression = expression.strip_prefix("(?-u)").unwrap_or(expression);
    RegexMatcherBuilder::new().size_limit(GLOB_REGEX_BYTES_MAX).build(&with_characters(expression)).ok()
}

/// `expression` with the characters themselves for their bytes, which are written `\xe9` each.
fn with_characters(expression: &str) -> String {
    let mut bytes = Vec::with_capacity(expression.len());
    let mut rest = expression.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if let Some((byte, after)) = escaped_byte(rest) {
            bytes.push(byte);
            rest = after;
            continue;
        }
        // The character after a `\` is not the beginning of another escape.
        let len = if *first == b'\\' && !after.is_empty() { 2 } else { 1 };
        bytes.extend_from_slice(&rest[..len]);
        rest = &rest[len..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte from 0x80 on that an escape at the beginning of `text` stands for, and what is after it.
fn escaped_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let digits = std::str::from_utf8(text.strip_prefix(b"\\x")?.get(..2)?).ok()?;
    let byte = u8::from_str_radix(digits, 16).ok().filter(|byte| !byte.is_ascii())?;
    Some((byte, &text[4..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_written_as_escapes_become_characters() {
        let cases = [
            (r"^a\xe6\x97\xa5[^/]$", "^a日[^/]$"),
            (r"[\xc3\xa0-\xc3\xbc]", "[à-ü]"),
            (r"\\\xc3\xa9", r"\\é"),
            (r"\\xc3", r"\\xc3"),
            (r"\.\x41\", r"\.\x41\"),
        ];
        for (expression, expected) in cases {
            assert_eq!(with_characters(expression), expected);
        }
    }

    #[test]
    fn a_component_as_long_as_a_name_has_room_and_a_longer_one_is_matched_by_bytes() {
        let cases = [("?", 255, true), ("[!é日]", 255, true), ("?", 16 << 10, false)];
        for (token, count, is_built) in cases {
            let wildcard = Wildcard::new(&token.repeat(count)).unwrap();
            assert!(!wildcard.is_match("ö".as_bytes()));
            assert_eq!(wildcard.characters.get().is_some_and(Option::is_some), is_built, "{token} {count}");
            assert_eq!(wildcard.is_match("ö".repeat(count).as_bytes()), is_built, "{token} {count}");
        }
    }
}
