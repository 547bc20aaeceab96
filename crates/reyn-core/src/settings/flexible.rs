//! YAML's other words for yes and no.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// `true`, `false`, `on`, `off`, `yes`, `no`, or nothing.
pub(super) fn optional_bool<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    Ok(Option::<Word>::deserialize(from)?.map(|Word(value)| value))
}

/// `true`, `false`, `on`, `off`, `yes` or `no`.
pub(super) fn plain_bool<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Word::deserialize(from).map(|Word(value)| value)
}

/// What may stand for a truth value, for messages.
pub(super) const WORDS: &str = "`true` or `false` (or `on`, `off`, `yes`, `no`)";

/// The truth value that a word stands for.
pub(super) fn yes_or_no(word: &str) -> Option<bool> {
    match word {
        "true" | "on" | "yes" => Some(true),
        "false" | "off" | "no" => Some(false),
        _ => None,
    }
}

struct Word(bool);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct WordVisitor;
        impl Visitor<'_> for WordVisitor {
            type Value = Word;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WORDS)
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Word, E> {
                Ok(Word(value))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Word, E> {
                yes_or_no(value).map(Word).ok_or_else(|| E::invalid_value(Unexpected::Str(value), &self))
            }
        }
        from.deserialize_any(WordVisitor)
    }
}
