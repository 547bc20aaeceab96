//! The name of a note, which is the stem of its file.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::index::INDEX_FILE;
use crate::text::excerpt;

/// Longest slug, in bytes.
pub const SLUG_BYTES_MAX: usize = 64;
/// What of a bad slug is repeated, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// A name that is one file of one folder, on every file system.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slug(String);

/// Why a name is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlugError {
    /// It is empty.
    Empty,
    /// It is longer than [`SLUG_BYTES_MAX`].
    TooLong(usize),
    /// It has a character that a slug has not.
    Character(String),
    /// It is the index's own.
    Reserved,
}

impl fmt::Display for SlugError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = INDEX_FILE;
        match self {
            Self::Empty => {
                f.write_str("the slug is empty; use letters, digits, `_` and `-`, as in `likes_tabs`")
            }
            Self::TooLong(length) => {
                write!(f, "the slug is {length} bytes long and {SLUG_BYTES_MAX} are the most; shorten it")
            }
            Self::Character(slug) => write!(
                f,
                "`{}` is no slug; use letters, digits, `_` and `-`, as in `likes_tabs`",
                slug.escape_debug()
            ),
            Self::Reserved => write!(f, "`{index}` is the index itself; use another slug"),
        }
    }
}

impl std::error::Error for SlugError {}

impl Slug {
    /// Takes a name, with or without `.md` behind it.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> Result<Self, SlugError> {
        let stem = text.strip_suffix(".md").unwrap_or(text);
        if stem.is_empty() {
            return Err(SlugError::Empty);
        }
        let is_one_of_ours = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !stem.bytes().all(is_one_of_ours) {
            return Err(SlugError::Character(excerpt(text, SHOWN_CHARS_MAX)));
        }
        if stem.len() > SLUG_BYTES_MAX {
            return Err(SlugError::TooLong(stem.len()));
        }
        if INDEX_FILE.strip_suffix(".md").is_some_and(|index| stem.eq_ignore_ascii_case(index)) {
            return Err(SlugError::Reserved);
        }
        Ok(Self(stem.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.md", self.0)
    }

    /// Whether both would be the same file where cases are not told apart.
    #[must_use]
    pub fn is_alike(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_one_plain_name() {
        let longest = "a".repeat(64);
        for (text, slug) in
            [("a", "a"), ("A-b_9", "A-b_9"), ("a.md", "a"), (longest.as_str(), longest.as_str()), ("-", "-")]
        {
            assert_eq!(Slug::parse(text).map(|slug| slug.0), Ok(slug.to_owned()));
        }
        let no = |text: &str| SlugError::Character(text.to_owned());
        for (text, error) in [
            ("", SlugError::Empty),
            (".md", SlugError::Empty),
            ("../x", no("../x")),
            ("a/b", no("a/b")),
            ("a\\b", no("a\\b")),
            ("a.b", no("a.b")),
            ("a.md.md", no("a.md.md")),
            ("a b", no("a b")),
            ("a\n", no("a\n")),
            ("a\0", no("a\0")),
            ("メモ", no("メモ")),
            ("MEMORY", SlugError::Reserved),
            ("memory.md", SlugError::Reserved),
        ] {
            assert_eq!(Slug::parse(text), Err(error), "{text:?}");
        }
        assert_eq!(Slug::parse(&"a".repeat(65)), Err(SlugError::TooLong(65)));
    }

    #[test]
    fn names_that_differ_by_case_alone_are_alike() {
        let slug = |text| Slug::parse(text).unwrap();
        assert!(slug("Tabs").is_alike(&slug("tabs")) && !slug("tab").is_alike(&slug("tabs")));
    }
}
