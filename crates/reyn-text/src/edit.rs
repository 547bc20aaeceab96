//! Replaces one string by another in the bytes of a file.
//!
//! An edit is a list of splices. Bytes outside them are never decoded and written back, and there is no
//! splice unless exactly one reading of the edit is right.

mod byte_forms;
mod error;
mod find;
mod help;
mod hunks;
pub(crate) mod line_ends;
mod view;

use std::ops::Range;

use memchr::{memchr, memmem};

pub use self::error::{Alike, EditError, Help, NotFound};
use self::find::{Characters, Found, Overlap, REPLACEMENTS_MAX, Search, Unreadable};
use self::hunks::{Hunk, Normal};
use self::line_ends::LineEnds;
use self::view::View;
use crate::encoding::{self, Encoding, Unmappable};

/// Bytes that one edit may add to a file.
pub const GROWTH_BYTES_MAX: usize = 64 << 20;
/// Lines that an error lists.
const LINES_LISTED_MAX: usize = 10;

/// A wish to replace one string by another.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    /// What stands in the file. Its line endings match any in the file.
    pub old: &'a str,
    /// What shall stand there.
    pub new: &'a str,
    /// Whether every place is meant; else there must be one.
    pub replace_all: bool,
    /// The encoding, where the caller knows it.
    pub encoding: Option<Encoding>,
}

/// What an edit does to the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The file's encoding. None when both strings are ASCII and it made no difference, so nobody looked.
    pub encoding: Option<Encoding>,
    /// What is replaced; ascending, not overlapping. One replacement is several where lines between stay.
    pub splices: Vec<Splice>,
    /// How many matches are replaced.
    pub replacements: usize,
}

/// Bytes in the place of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// Bytes of the file; empty where something is inserted.
    pub range: Range<usize>,
    /// What stands there instead.
    pub with: Vec<u8>,
    /// The line where the range begins, from 1.
    pub line: u64,
}

impl Plan {
    /// The file after the edit. `bytes` are those the plan was made for.
    ///
    /// # Panics
    /// When `bytes` are shorter than the ones planned for.
    #[must_use]
    pub fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let added: usize = self.splices.iter().map(|splice| splice.with.len()).sum();
        let removed: usize = self.splices.iter().map(|splice| splice.range.len()).sum();
        let mut result = Vec::with_capacity((bytes.len() + added).saturating_sub(removed));
        let mut copied = 0;
        for splice in &self.splices {
            result.extend_from_slice(&bytes[copied..splice.range.start]);
            result.extend_from_slice(&splice.with);
            copied = splice.range.end;
        }
        result.extend_from_slice(&bytes[copied..]);
        result
    }
}

/// Characters of a file's end that an error shows.
const END_CHARS_MAX: usize = 200;
/// Lines of it.
const END_LINES_MAX: usize = 5;

/// The last lines of a file, as few as stand in it once.
fn unique_end(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(['\r', '\n']);
    let starts = text.rmatch_indices('\n').map(|(at, _)| at + 1).chain([0]);
    starts
        .filter(|at| *at < text.len())
        .take(END_LINES_MAX)
        .map(|start| &text[start..])
        .take_while(|end| end.chars().count() <= END_CHARS_MAX)
        .find(|end| !end.trim().is_empty() && text.matches(end).count() == 1)
        .map(|end| end.replace("\r\n", "\n"))
}

/// Finds what an edit changes. Nothing is changed here.
///
/// Strings of ASCII need no encoding and are replaced in any file, unless it is UTF-16 (replaced in its
/// units), ISO-2022-JP (refused) or a match may be the second half of a character. Other strings need an
/// encoding that is sure and a file that decodes without error, and are refused where the same text stands
/// in other bytes, which some encodings have for one character. Lines of `old` and `new` that are equal keep
/// the file's bytes; a line break that is new takes the ending of its neighbour. When the strings differ
/// only in line endings, both are taken literally.
///
/// # Errors
/// [`EditError`], which says why no single reading is right and what is there instead.
pub fn plan(bytes: &[u8], edit: &Edit<'_>) -> Result<Plan, EditError> {
    if edit.old.is_empty() {
        return Err(EditError::EmptyOld { end: unique_end(bytes) });
    }
    if edit.old == edit.new {
        return Err(EditError::NothingChanges);
    }
    let file = File::read(bytes, edit)?;
    let (old, new) = (Normal::of(edit.old), Normal::of(edit.new));
    let is_literal = old.text == new.text;
    let searched = if is_literal { edit.old } else { &old.text };
    let needle = match hunks::encode(searched, file.encoding) {
        Ok(needle) => needle,
        Err(Unmappable(character)) => {
            let missing = file.encoding.map(|encoding| (character, encoding));
            return Err(help::not_found(bytes, edit, file.encoding, missing));
        }
    };
    // Where no ending is in question, the file is searched as it is.
    let view = match !is_literal && edit.old.contains(['\n', '\r']) {
        true => View::without_returns(bytes, file.ends),
        false => View::plain(bytes),
    };
    let search = Search {
        file: bytes,
        view: &view,
        ends: file.ends,
        needle: &needle,
        from: file.mark_len,
        is_literal,
    };
    let starts = file.matches(&search, edit)?;
    if let Some(encoding) = file.encoding {
        byte_forms::check(&search, searched, encoding, overlap_of(edit), &starts)?;
    }
    let hunks = if is_literal {
        hunks::literal(edit.old, edit.new, file.encoding)
    } else {
        hunks::adapted(&old, &new, file.encoding)
    };
    let hunks = hunks.map_err(|Unmappable(character)| EditError::Unmappable {
        character,
        encoding: file.encoding.unwrap_or(Encoding::UTF_8),
    })?;
    check_growth(&hunks, starts.len())?;
    let splices = Writer::new(&search).splices(&starts, &hunks);
    Ok(Plan { encoding: file.encoding, splices, replacements: starts.len() })
}

/// What must be known of a file to search it.
struct File<'a> {
    bytes: &'a [u8],
    encoding: Option<Encoding>,
    mark_len: usize,
    ends: LineEnds,
    is_ascii_edit: bool,
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8], edit: &Edit<'_>) -> Result<Self, EditError> {
        let is_ascii_edit = edit.old.is_ascii() && edit.new.is_ascii();
        if is_ascii_edit && !asks_detection(bytes, edit.encoding) {
            let (encoding, mark_len) = (edit.encoding, 0);
            return Ok(Self { bytes, encoding, mark_len, ends: LineEnds::Byte, is_ascii_edit });
        }
        let detected = encoding::detect(bytes, true, edit.encoding).map_err(EditError::NotText)?;
        let (encoding, mark_len) = (detected.encoding, detected.mark_len);
        if encoding.is_stateful() {
            return Err(EditError::Stateful(encoding));
        }
        if !detected.is_sure {
            let at = encoding.decode(&bytes[mark_len..]).undecodable_at;
            let is_declared = edit.encoding == Some(encoding) && mark_len == 0;
            match at {
                _ if is_declared && (is_ascii_edit || at.is_none()) => {
                    return Err(EditError::Contradicted(encoding));
                }
                Some(at) if !is_ascii_edit => return Err(undecodable(bytes, encoding, at + mark_len)),
                None if !is_ascii_edit => return Err(EditError::Guessed(encoding)),
                // ASCII stays whole characters beside bytes that are none.
                Some(_) | None => {}
            }
        }
        let known = if is_ascii_edit && !encoding.is_utf16() { edit.encoding } else { Some(encoding) };
        Ok(Self { bytes, encoding: known, mark_len, ends: LineEnds::of(known), is_ascii_edit })
    }

    /// Where the edit applies: one place, or with `replace_all` one or more.
    fn matches(&self, search: &Search<'_>, edit: &Edit<'_>) -> Result<Vec<usize>, EditError> {
        let mut characters = match self.encoding {
            Some(encoding) if !self.is_ascii_edit || encoding.is_utf16() => Characters::of(encoding),
            _ => Characters::Ascii { declared: edit.encoding, looked_for: None },
        };
        let found = search
            .run(&mut characters, overlap_of(edit))
            .map_err(|Unreadable { encoding, at }| undecodable(self.bytes, encoding, at))?;
        let Found { starts, unclear, is_cut } = found;
        if is_cut && (edit.replace_all || starts.len() < 2) {
            return Err(EditError::TooMany { count: starts.len().min(REPLACEMENTS_MAX) });
        }
        if let Some(at) = unclear {
            return Err(self.maybe_inside_character(search.view.in_file(at)));
        }
        if starts.is_empty() {
            return Err(help::not_found(self.bytes, edit, self.encoding, None));
        }
        if starts.len() > 1 && !edit.replace_all {
            let lines = self.lines_of(starts.iter().map(|at| search.view.in_file(*at)));
            return Err(EditError::Several { count: starts.len(), is_cut, lines });
        }
        Ok(starts)
    }

    fn lines_of(&self, places: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut counter = LineCounter::new(self.bytes, self.ends);
        let mut lines: Vec<u64> = vec![];
        for at in places {
            let line = counter.line(at);
            if lines.last() != Some(&line) {
                if lines.len() == LINES_LISTED_MAX {
                    break;
                }
                lines.push(line);
            }
        }
        lines
    }

    fn maybe_inside_character(&self, at: usize) -> EditError {
        let guess =
            encoding::detect(self.bytes, true, None).map_or(Encoding::WINDOWS_1252, |one| one.encoding);
        EditError::MaybeInsideCharacter { line: LineCounter::new(self.bytes, self.ends).line(at), guess }
    }
}

/// All that may be meant where one place is; else the ones that are replaced.
fn overlap_of(edit: &Edit<'_>) -> Overlap {
    if edit.replace_all { Overlap::Skipped } else { Overlap::Counted }
}

/// Whether ASCII cannot be replaced byte by byte, or may be not.
fn asks_detection(bytes: &[u8], declared: Option<Encoding>) -> bool {
    declared.is_some_and(|encoding| encoding.is_utf16() || encoding.is_stateful())
        || bytes.starts_with(b"\xFF\xFE")
        || bytes.starts_with(b"\xFE\xFF")
        || memchr(0, bytes).is_some()
        || (declared.is_none()
            && (memmem::find(bytes, b"\x1B$").is_some() || memmem::find(bytes, b"\x1B(").is_some()))
}

fn undecodable(bytes: &[u8], encoding: Encoding, at: usize) -> EditError {
    let line = LineCounter::new(bytes, LineEnds::of(Some(encoding))).line(at);
    EditError::Undecodable { encoding, line, at, byte: bytes.get(at).copied() }
}

fn check_growth(hunks: &[Hunk], replacements: usize) -> Result<(), EditError> {
    let growth = hunks
        .iter()
        .map(|hunk| hunk.written_bytes_max().saturating_sub(hunk.old.len()))
        .sum::<usize>()
        .saturating_mul(replacements);
    if growth > GROWTH_BYTES_MAX {
        return Err(EditError::TooLarge { growth_bytes_max: GROWTH_BYTES_MAX });
    }
    if hunks.len().saturating_mul(replacements) > REPLACEMENTS_MAX {
        return Err(EditError::TooMany { count: replacements });
    }
    Ok(())
}

/// Makes splices of matches.
struct Writer<'a> {
    search: &'a Search<'a>,
    lines: LineCounter<'a>,
    /// The next line feed at or after a place of the file, as far as it is known.
    next_feed: Option<(usize, Option<usize>)>,
    is_mostly_crlf: Option<Option<bool>>,
}

impl<'a> Writer<'a> {
    fn new(search: &'a Search<'a>) -> Self {
        let lines = LineCounter::new(search.file, search.ends);
        Self { search, lines, next_feed: None, is_mostly_crlf: None }
    }

    fn splices(mut self, starts: &[usize], hunks: &[Hunk]) -> Vec<Splice> {
        let mut splices = Vec::with_capacity(starts.len() * hunks.len());
        let asks_surroundings = hunks.iter().any(Hunk::asks_surroundings);
        for start in starts {
            let around = asks_surroundings.then(|| self.ending_at(*start)).flatten();
            for hunk in hunks {
                let view = self.search.view;
                let range = view.in_file(start + hunk.old.start)..view.in_file(start + hunk.old.end);
                let is_crlf_at = |feed: usize| view.is_crlf(start + feed);
                let with = hunk.written(self.search.ends, is_crlf_at, around);
                let line = self.lines.line(range.start);
                splices.push(Splice { range, with, line });
            }
        }
        splices
    }

    /// Whether the line where a match ends has CR LF; what most lines have when it has no ending.
    fn ending_at(&mut self, start: usize) -> Option<bool> {
        let (file, ends) = (self.search.file, self.search.ends);
        let end = self.search.view.in_file(start + self.search.needle.len());
        let feed = match self.next_feed {
            Some((from, feed)) if from <= end && feed.is_none_or(|feed| feed >= end) => feed,
            _ => ends.next(file, end),
        };
        self.next_feed = Some((end, feed));
        match feed {
            Some(feed) => Some(ends.is_crlf(file, feed)),
            None => *self.is_mostly_crlf.get_or_insert_with(|| ends.is_mostly_crlf(file)),
        }
    }
}

/// Line numbers of places, cheap when asked in ascending order.
struct LineCounter<'a> {
    bytes: &'a [u8],
    ends: LineEnds,
    at: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    const fn new(bytes: &'a [u8], ends: LineEnds) -> Self {
        Self { bytes, ends, at: 0, line: 1 }
    }

    /// The line that holds the byte at `at`, from 1.
    fn line(&mut self, at: usize) -> u64 {
        let at = at - at % self.ends.unit();
        if at < self.at {
            (self.at, self.line) = (0, 1);
        }
        self.line += self.ends.count(&self.bytes[self.at..at]) as u64;
        self.at = at;
        self.line
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
