//! Why an edit was not made, as a language model reads it.

use std::fmt::{self, Write as _};

use crate::encoding::{Encoding, NotText};
use crate::fold::Kind;
use crate::near::Place;
use crate::shown::{has_controls, named, without_controls};

/// Line numbers that a message lists.
const LINES_LISTED_MAX: usize = 10;
/// How a text goes on that is in the file only as characters.
const UNUSUAL: &str = " in the bytes that are usual for it:";
/// What to do about characters in bytes that are not usual for them.
const LEAVE_THEM_OUT: &str = "leave such characters out of `old_string`";
/// What to do about control characters that a message shows by their numbers.
const NO_NUMBERS: &str = ", with control characters themselves where their numbers are shown";

/// Why an edit was not made. Displayed, it says what and why; [`EditError::hint`] says what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditError {
    /// `old` is empty.
    EmptyOld {
        /// How the file ends, as far as that stands in it once; `None` where it is long or not UTF-8.
        end: Option<String>,
    },
    /// `old` and `new` are the same.
    NothingChanges,
    /// The bytes are no text.
    NotText(NotText),
    /// The file is in an encoding of which no part can be replaced on its own.
    Stateful(Encoding),
    /// Characters outside ASCII are at stake and the encoding is a guess.
    Guessed(Encoding),
    /// The bytes do not look like the encoding that the caller declared.
    Contradicted(Encoding),
    /// A match is the second half of a character in one of the encodings the file may be in.
    MaybeInsideCharacter {
        /// Line of the match, from 1.
        line: u64,
        /// The likeliest encoding.
        guess: Encoding,
    },
    /// What reads like `old` is in the file in bytes that are not usual for it, beside the usual ones or over
    /// them.
    ByteForms {
        /// The file's encoding, which has a character in several byte forms.
        encoding: Encoding,
        /// The lines where such places begin, ascending, without repeats; at most 10.
        lines: Vec<u64>,
    },
    /// Bytes of the file are not in its encoding.
    Undecodable {
        /// The encoding, declared or detected.
        encoding: Encoding,
        /// Line of the byte, from 1.
        line: u64,
        /// Where it is in the file, from 0.
        at: usize,
        /// The byte; none for those who may not read the file.
        byte: Option<u8>,
    },
    /// `new` has a character that the encoding lacks.
    Unmappable {
        /// The character.
        character: char,
        /// The file's encoding.
        encoding: Encoding,
    },
    /// Several places match and all of them was not asked for.
    Several {
        /// How many, counting those that overlap.
        count: usize,
        /// Whether counting stopped there.
        is_cut: bool,
        /// The lines where they begin, ascending, without repeats; at most 10.
        lines: Vec<u64>,
    },
    /// So many places match, or begin to, that the edit was given up.
    TooMany {
        /// How many were found until then.
        count: usize,
    },
    /// The file would grow by more than an edit may add.
    TooLarge {
        /// Bytes that an edit may add.
        growth_bytes_max: usize,
    },
    /// No place matches.
    NotFound(Box<NotFound>),
}

/// What is there instead of `old`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// A character of `old` that the file's encoding does not have.
    pub missing: Option<(char, Encoding)>,
    /// The line where `new` stands, when it stands there once.
    pub already_at: Option<u64>,
    /// What may have been meant.
    pub help: Help,
}

/// Places that may have been meant. None of them is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Help {
    /// Nothing was looked for, or the caller may not read the file.
    None,
    /// One place is like `old` but for differences that are easily overlooked.
    Alike(Alike),
    /// Several places are like that.
    SeveralAlike {
        /// The differences.
        ///
        /// Empty when the file has the very characters, written in other bytes.
        kinds: Vec<Kind>,
        /// The lines where they begin; at most 10.
        lines: Vec<u64>,
    },
    /// The lines that are nearest, best first.
    Near(Vec<Place>),
    /// No line is like any of `old`.
    NothingNear,
}

/// A place that is like `old` but for small differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alike {
    /// The differences; empty when the file has the very characters, written in other bytes.
    pub kinds: Vec<Kind>,
    /// Characters of the file there that `old` lacks; at most 5.
    pub characters: Vec<char>,
    /// Its first and last line, from 1.
    pub lines: (u64, u64),
    /// What the file has there; none for those who may not read it.
    pub text: Option<String>,
    /// Whether `text` is only the beginning.
    pub is_cut: bool,
}

impl EditError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        const NAME_IT: &str = "give the file's encoding as `encoding`";
        let hint = match self {
            Self::EmptyOld { end } => {
                let end = match end {
                    Some(end) => format!("give how it ends, {end:?}, as `old_string`"),
                    None => "read its last lines, give them as `old_string`".to_owned(),
                };
                format!(
                    "to add to the end of the file, {end} and the same with the new text after it as \
                     `new_string`; `write_file` creates a file or replaces all of it"
                )
            }
            Self::NothingChanges => "give in `new_string` what shall stand there".to_owned(),
            Self::NotText(NotText::Binary) => format!("if it is text nevertheless, {NAME_IT}"),
            Self::NotText(NotText::Utf32) => return None,
            Self::Stateful(_) => {
                format!("replace all of it by `write_file`; if it is in another encoding, {NAME_IT}")
            }
            Self::Guessed(_) | Self::MaybeInsideCharacter { .. } => NAME_IT.to_owned(),
            Self::Contradicted(_) => "leave `encoding` out, or give the right one".to_owned(),
            Self::ByteForms { .. } => {
                format!("{LEAVE_THEM_OUT}, or replace all of the file by `write_file`")
            }
            Self::Undecodable { .. } => {
                format!(
                    "if it is in another encoding, {NAME_IT}; strings of ASCII alone can be replaced as it is"
                )
            }
            Self::Unmappable { character, encoding } => match encoding.lookalike(*character) {
                Some(other) => format!("the encoding has {} for it", named(other)),
                None => {
                    "write it in other characters, or as an escape that the file's language has".to_owned()
                }
            },
            Self::Several { .. } => {
                "add lines before or after to `old_string` until it names one place, or set `replace_all`"
                    .to_owned()
            }
            Self::TooMany { .. } => "add lines before or after to `old_string`".to_owned(),
            Self::TooLarge { .. } => "replace fewer places at once".to_owned(),
            Self::NotFound(not_found) => return not_found.hint(),
        };
        Some(hint)
    }

    /// The same error without anything that is in the file: for callers that may write but not read it.
    /// The line numbers of exact matches stay.
    #[must_use]
    pub fn without_content(self) -> Self {
        match self {
            Self::Undecodable { encoding, line, at, byte: _ } => {
                Self::Undecodable { encoding, line, at, byte: None }
            }
            Self::NotFound(mut not_found) => {
                not_found.already_at = None;
                not_found.help = Help::None;
                Self::NotFound(not_found)
            }
            other @ (Self::EmptyOld { .. }
            | Self::NothingChanges
            | Self::NotText(_)
            | Self::Stateful(_)
            | Self::Guessed(_)
            | Self::Contradicted(_)
            | Self::MaybeInsideCharacter { .. }
            | Self::ByteForms { .. }
            | Self::Unmappable { .. }
            | Self::Several { .. }
            | Self::TooMany { .. }
            | Self::TooLarge { .. }) => other,
        }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyOld { .. } => f.write_str("`old_string` is empty, so it names no place"),
            Self::NothingChanges => {
                f.write_str("nothing would change: `old_string` and `new_string` are the same")
            }
            Self::NotText(NotText::Binary) => {
                f.write_str("the file is not text: it holds NUL bytes and is not UTF-16")
            }
            Self::NotText(NotText::Utf32) => f.write_str("the file is UTF-32, which no edit is possible in"),
            Self::Stateful(encoding) => write!(
                f,
                "the file is in `{encoding}`, where a byte's meaning depends on those before it, so no part of \
                 it can be replaced on its own"
            ),
            Self::Guessed(guess) => write!(
                f,
                "the file's encoding is not known, only guessed to be `{guess}`, and these strings have \
                 characters outside ASCII"
            ),
            Self::Contradicted(encoding) => {
                write!(f, "the file does not look like `{encoding}`, which was given as its encoding")
            }
            Self::MaybeInsideCharacter { line, guess } => write!(
                f,
                "what matches `old_string` in line {line} may be the second half of a character: the file's \
                 encoding is only guessed to be `{guess}`"
            ),
            Self::ByteForms { encoding, lines } => write!(
                f,
                "`old_string` is in {} in bytes that are not usual for it: `{encoding}` has a character of it in \
                 two byte forms, and both are in this file; nothing was changed",
                listed(lines, lines.len() == LINES_LISTED_MAX)
            ),
            Self::Undecodable { encoding, line, at, byte } => {
                write!(f, "line {line} is not `{encoding}`: ")?;
                match byte {
                    Some(byte) => write!(f, "byte `\\x{byte:02x}` at offset {at} cannot be decoded"),
                    None => write!(f, "the byte at offset {at} cannot be decoded"),
                }
            }
            Self::Unmappable { character, encoding } => write!(
                f,
                "`new_string` has {}, which the file's encoding `{encoding}` lacks",
                named(*character)
            ),
            Self::Several { count, is_cut, lines } => {
                let at_least = if *is_cut { "at least " } else { "" };
                write!(f, "`old_string` is in the file {at_least}{count} times, in ")?;
                let more = lines.len() == LINES_LISTED_MAX && (*is_cut || *count > lines.len());
                f.write_str(&listed(lines, more))
            }
            Self::TooMany { count } => {
                write!(
                    f,
                    "the search for `old_string` was given up after {count} matches: too many places match or begin to"
                )
            }
            Self::TooLarge { growth_bytes_max } => {
                write!(f, "the file would grow by more than {growth_bytes_max} bytes")
            }
            Self::NotFound(not_found) => not_found.fmt(f),
        }
    }
}

impl std::error::Error for EditError {}

impl NotFound {
    fn hint(&self) -> Option<String> {
        if let Some((character, encoding)) = self.missing
            && let Some(other) = encoding.lookalike(character)
        {
            return Some(format!("the encoding has {} for it", named(other)));
        }
        let made_before = self.already_at.map(|_| "look whether the edit was made before".to_owned());
        match &self.help {
            Help::Alike(Alike { kinds, .. }) | Help::SeveralAlike { kinds, .. } if kinds.is_empty() => {
                Some(LEAVE_THEM_OUT.to_owned())
            }
            Help::Alike(Alike { text: Some(text), is_cut: false, .. }) => {
                let numbers = if has_controls(text) { NO_NUMBERS } else { "" };
                Some(format!("if that place is meant, give exactly this text as `old_string`{numbers}"))
            }
            Help::Alike(Alike { lines, .. }) => Some(format!(
                "if that place is meant, read {} and give exactly what stands there as `old_string`",
                spanned(*lines)
            )),
            Help::SeveralAlike { .. } => {
                Some("read these lines and give exactly what stands there as `old_string`".to_owned())
            }
            Help::Near(places) => made_before.or_else(|| {
                let is_escaped = places.iter().flat_map(|place| &place.lines).any(|line| has_controls(line));
                let numbers = if is_escaped { NO_NUMBERS } else { "" };
                Some(format!(
                    "if one of these places is meant, give exactly what stands there as `old_string`, without the \
                     line numbers{numbers}"
                ))
            }),
            Help::None | Help::NothingNear => {
                made_before.or_else(|| Some("read the file and copy `old_string` from it".to_owned()))
            }
        }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`old_string` is not in the file")?;
        if let Some((character, encoding)) = self.missing {
            write!(f, ": it has {}, which the file's encoding `{encoding}` lacks", named(character))?;
        }
        if let Some(line) = self.already_at {
            write!(f, "; `new_string` is there already, once, in line {line}")?;
        }
        match &self.help {
            Help::None => Ok(()),
            Help::Alike(alike) => alike.fmt(f),
            Help::SeveralAlike { kinds, lines } if kinds.is_empty() => {
                let lines = listed(lines, lines.len() == LINES_LISTED_MAX);
                let has = if lines.starts_with("lines") { "have" } else { "has" };
                write!(f, "{UNUSUAL} {lines} {has} some of its characters in others")
            }
            Help::SeveralAlike { kinds, lines } => {
                write!(
                    f,
                    "; apart from {} it is there several times, in {}",
                    joined(kinds),
                    listed(lines, lines.len() == LINES_LISTED_MAX)
                )
            }
            Help::Near(places) => {
                f.write_str("; the nearest lines are:")?;
                for (index, place) in places.iter().enumerate() {
                    f.write_str(if index == 0 { "\n" } else { "\n--\n" })?;
                    write!(f, "{place}")?;
                }
                Ok(())
            }
            Help::NothingNear => f.write_str(", and no line is like any of it"),
        }
    }
}

impl fmt::Display for Alike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = spanned(self.lines);
        if self.kinds.is_empty() {
            let has = if lines.starts_with("lines") { "have" } else { "has" };
            return write!(f, "{UNUSUAL} {lines} {has} some of its characters in others");
        }
        write!(f, "; apart from {} it is there once, in {lines}", joined(&self.kinds))?;
        if !self.characters.is_empty() {
            let codes: Vec<String> =
                self.characters.iter().map(|one| format!("U+{:04X}", u32::from(*one))).collect();
            write!(f, " (with {})", codes.join(", "))?;
        }
        match &self.text {
            Some(text) if self.is_cut => write!(f, ", which begins:\n{}", without_controls(text)),
            Some(text) => write!(f, ":\n{}", without_controls(text)),
            None => Ok(()),
        }
    }
}

fn spanned((first, last): (u64, u64)) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

/// `line 3`, `lines 3 and 5`, `lines 1, 2, 3 and more`.
fn listed(lines: &[u64], has_more: bool) -> String {
    let mut text = String::from(if lines.len() == 1 && !has_more { "line " } else { "lines " });
    for (index, line) in lines.iter().enumerate() {
        let is_last = index + 1 == lines.len() && !has_more;
        text.push_str(match index {
            0 => "",
            _ if is_last => " and ",
            _ => ", ",
        });
        let _ = write!(text, "{line}");
    }
    if has_more {
        text.push_str(" and more");
    }
    text
}

fn joined(kinds: &[Kind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
