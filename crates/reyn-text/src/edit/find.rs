//! Where the bytes of a string stand in a file, as characters of its encoding.

use memchr::{memmem, memrchr};

use super::line_ends::LineEnds;
use super::view::View;
use crate::encoding::{self, Encoding};

/// Readings that are counted before an error says "at least".
pub(super) const READINGS_MAX: usize = 10_000;
/// Replacements that one edit may make.
pub(super) const REPLACEMENTS_MAX: usize = 1_000_000;
/// Bytes compared at places that turn out to be no match, or to overlap one.
const WASTED_BYTES_MAX: usize = 256 << 20;
/// Encodings in which a byte of ASCII can be the second of a character.
const DOUBLE_BYTE: [Encoding; 4] = [Encoding::SHIFT_JIS, Encoding::GB18030, Encoding::BIG5, Encoding::EUC_KR];

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Where matches begin in the view, ascending.
    pub(super) starts: Vec<usize>,
    /// Where the search stopped: a match or the second half of a character, by an encoding nobody knows.
    pub(super) unclear: Option<usize>,
    /// Whether the search stopped before the end.
    pub(super) is_cut: bool,
}

/// Why a place cannot be judged: a byte of the file is not in the encoding that was declared.
pub(super) struct Unreadable {
    pub(super) encoding: Encoding,
    /// Where the byte is.
    pub(super) at: usize,
}

/// Whether a place begins a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Yes,
    No,
    Unclear,
}

/// Which places are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlap {
    /// All matches: each is a reading of its own.
    Counted,
    /// From left to right, each after the end of the one before.
    Skipped,
}

/// How the beginnings of characters are known.
pub(super) enum Characters {
    /// UTF-8 and UTF-16: where bytes match, characters do.
    Plain,
    /// An encoding in which the parts of one character look like others.
    Known(CharStarts),
    /// A search for ASCII in a file whose encoding is looked for when it matters.
    Ascii { declared: Option<Encoding>, looked_for: Option<Vec<CharStarts>> },
}

impl Characters {
    /// For strings that `encoding` wrote.
    pub(super) fn of(encoding: Encoding) -> Self {
        if encoding.is_utf8() || encoding.is_utf16() {
            return Self::Plain;
        }
        Self::Known(CharStarts::of(encoding))
    }

    fn start(&mut self, bytes: &[u8], at: usize) -> Result<Start, Unreadable> {
        match self {
            Self::Plain => Ok(Start::Yes),
            Self::Known(starts) => Ok(if starts.is_start(bytes, at) { Start::Yes } else { Start::No }),
            Self::Ascii { declared, looked_for } => {
                let is_suspicious = matches!(bytes.get(at), Some(0x30..=0x7E))
                    && at.checked_sub(1).is_some_and(|before| bytes[before] >= 0x80);
                if !is_suspicious {
                    return Ok(Start::Yes);
                }
                if looked_for.is_none() {
                    *looked_for = Some(candidates(bytes, *declared)?);
                }
                let mut answers = looked_for
                    .iter_mut()
                    .flatten()
                    .map(|starts| starts.is_start(bytes, at))
                    .collect::<Vec<_>>();
                answers.dedup();
                Ok(match answers.as_slice() {
                    [] | [true] => Start::Yes,
                    [false] => Start::No,
                    _ => Start::Unclear,
                })
            }
        }
    }
}

/// The encodings the file may be in; none when it is UTF-8.
fn candidates(bytes: &[u8], declared: Option<Encoding>) -> Result<Vec<CharStarts>, Unreadable> {
    if declared.is_none() && std::str::from_utf8(bytes).is_ok() {
        return Ok(vec![]);
    }
    let Ok(detected) = encoding::detect(bytes, true, declared) else { return Ok(vec![]) };
    let text = &bytes[detected.mark_len..];
    if detected.is_sure {
        return Ok(vec![CharStarts::of(detected.encoding)]);
    }
    if declared.is_some()
        && let Some(at) = detected.encoding.decode(text).undecodable_at
    {
        return Err(Unreadable { encoding: detected.encoding, at: at + detected.mark_len });
    }
    let mut encodings = vec![Encoding::WINDOWS_1252];
    encodings.extend(DOUBLE_BYTE.into_iter().filter(|one| one.decode(text).undecodable_at.is_none()));
    Ok(encodings.into_iter().map(CharStarts::of).collect())
}

/// Beginnings of characters of one encoding, asked in ascending order.
pub(super) struct CharStarts {
    encoding: Encoding,
    /// A beginning of a character, or 0.
    known: usize,
}

impl CharStarts {
    const fn of(encoding: Encoding) -> Self {
        Self { encoding, known: 0 }
    }

    fn is_start(&mut self, bytes: &[u8], at: usize) -> bool {
        if at < self.known {
            self.known = 0;
        }
        // A line feed is never part of another character.
        let from = self.known + memrchr(b'\n', &bytes[self.known..at]).map_or(0, |feed| feed + 1);
        let line = &bytes[from..bytes.len().min(at + 8)];
        let answer = self.encoding.is_char_start(line, at - from);
        // The next question begins here, so that a long line is read once.
        self.known = (at..at + 4)
            .find(|next| *next < bytes.len() && self.encoding.is_char_start(line, next - from))
            .unwrap_or(from);
        answer
    }
}

/// What is looked for, and where.
pub(super) struct Search<'a> {
    pub(super) file: &'a [u8],
    pub(super) view: &'a View<'a>,
    pub(super) ends: LineEnds,
    /// Not empty.
    pub(super) needle: &'a [u8],
    /// Bytes of the byte order mark, which no match reaches into.
    pub(super) from: usize,
    /// Whether matches stand in the file literally: then they do not cut a CR LF in two.
    pub(super) is_literal: bool,
}

impl Search<'_> {
    pub(super) fn run(&self, characters: &mut Characters, overlap: Overlap) -> Result<Found, Unreadable> {
        let finder = memmem::Finder::new(self.needle);
        let unit = self.ends.unit();
        let mut found = Found::default();
        let (mut from, mut wasted) = (self.from, 0_usize);
        while let Some(at) = self.view.bytes.get(from..).and_then(|rest| finder.find(rest)) {
            let at = from + at;
            let start = match at.is_multiple_of(unit) && !self.cuts_an_ending(at) {
                true => characters.start(self.file, self.view.in_file(at))?,
                false => Start::No,
            };
            match start {
                Start::Yes => found.starts.push(at),
                Start::Unclear => {
                    found.unclear = Some(at);
                    break;
                }
                Start::No => {}
            }
            let is_taken = start == Start::Yes && overlap == Overlap::Skipped;
            from = at + if is_taken { self.needle.len() } else { unit - at % unit };
            wasted += if is_taken { 0 } else { self.needle.len() };
            let limit = match overlap {
                Overlap::Counted => READINGS_MAX,
                Overlap::Skipped => REPLACEMENTS_MAX + 1,
            };
            if found.starts.len() >= limit || wasted > WASTED_BYTES_MAX {
                found.is_cut = true;
                break;
            }
        }
        Ok(found)
    }

    fn cuts_an_ending(&self, at: usize) -> bool {
        let bytes = &self.view.bytes;
        let cuts = |place: usize| self.ends.is_at(bytes, place, b'\n') && self.ends.is_crlf(bytes, place);
        self.is_literal && (cuts(at) || cuts(at + self.needle.len()))
    }
}
