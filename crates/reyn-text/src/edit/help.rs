//! What is in a file where the string of an edit is not. Nothing here leads to a change.

use std::borrow::Cow;

use memchr::memmem;

use super::error::{Alike, EditError, Help, NotFound};
use super::hunks::Normal;
use super::{Edit, LINES_LISTED_MAX};
use crate::encoding::{self, Encoding};
use crate::fold::{self, Kind};
use crate::near;

/// Bytes of the file that are looked at.
const LOOKED_AT_BYTES_MAX: usize = 32 << 20;
/// Characters of the file that are offered as a string to replace.
const OFFERED_CHARS_MAX: usize = 2_000;
/// Characters from which on a string that is in the file once was probably put there.
const TELLING_CHARS_MIN: usize = 8;
/// Characters that an offer lists by their numbers.
const CHARACTERS_LISTED_MAX: usize = 5;

/// The error for a string that is not in the file, with what may have been meant.
pub(super) fn not_found(
    bytes: &[u8],
    edit: &Edit<'_>,
    encoding: Option<Encoding>,
    missing: Option<(char, Encoding)>,
) -> EditError {
    let raw = decoded(&bytes[..bytes.len().min(LOOKED_AT_BYTES_MAX)], encoding.or(edit.encoding));
    let (old, new) = (Normal::of(edit.old).text, Normal::of(edit.new).text);
    if old == new {
        return literal_not_found(&raw, edit, &old);
    }
    let text = match memmem::find(raw.as_bytes(), b"\r\n") {
        Some(_) => Cow::Owned(raw.replace("\r\n", "\n")),
        None => raw,
    };
    let already_at = only_line(&text, &new);
    let help = alike(&text, &old).unwrap_or_else(|| match already_at {
        Some(_) => Help::None,
        None => match near::places(&text, &old) {
            places if places.is_empty() => Help::NothingNear,
            places => Help::Near(places),
        },
    });
    EditError::NotFound(Box::new(NotFound { missing, already_at, help }))
}

/// For strings that differ only in line endings: where the lines are, whatever their endings.
fn literal_not_found(raw: &str, edit: &Edit<'_>, old: &str) -> EditError {
    let already_at = only_line(raw, edit.new);
    let text = raw.replace("\r\n", "\n");
    let help = match (already_at, only_line(&text, old)) {
        (None, Some(first)) => Help::Alike(Alike {
            kinds: vec![Kind::LineEndings],
            characters: vec![],
            lines: (first, first + line_feeds(old.strip_suffix('\n').unwrap_or(old))),
            text: None,
            is_cut: false,
        }),
        (None, None) => match near::places(&text, old) {
            places if places.is_empty() => Help::NothingNear,
            places => Help::Near(places),
        },
        (Some(_), _) => Help::None,
    };
    EditError::NotFound(Box::new(NotFound { missing: None, already_at, help }))
}

/// The text, as well as it can be read.
fn decoded(bytes: &[u8], known: Option<Encoding>) -> Cow<'_, str> {
    let mark = |mark_len: usize| &bytes[mark_len..];
    if known.is_none_or(Encoding::is_utf8)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Cow::Borrowed(text.trim_start_matches('\u{FEFF}'));
    }
    match encoding::detect(bytes, true, known) {
        Ok(found) => Cow::Owned(found.encoding.decode(mark(found.mark_len)).text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// The line of the only place where `wanted` is. A string too short to tell anything is nowhere.
fn only_line(text: &str, wanted: &str) -> Option<u64> {
    if wanted.trim().chars().count() < TELLING_CHARS_MIN {
        return None;
    }
    let finder = memmem::Finder::new(wanted);
    let first = finder.find(text.as_bytes())?;
    match finder.find(&text.as_bytes()[first + 1..]) {
        Some(_) => None,
        None => Some(1 + line_feeds(&text[..first])),
    }
}

fn line_feeds(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}

/// Places that differ from `old` only in what is easily overlooked.
fn alike(text: &str, old: &str) -> Option<Help> {
    offered(text, old, old).or_else(|| {
        let stripped = without_line_numbers(old)?;
        offered(text, &stripped, old)
    })
}

/// `wanted` is `old`, or `old` without its line numbers.
fn offered(text: &str, wanted: &str, old: &str) -> Option<Help> {
    let places = fold::find(text, wanted);
    let first = places.first()?;
    let found = &text[first.range.clone()];
    let mut kinds: Vec<Kind> = vec![];
    for kind in places.iter().flat_map(|place| fold::differences(&text[place.range.clone()], wanted)) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if wanted != old {
        kinds.push(Kind::LineNumbers);
    }
    if places.len() > 1 {
        let mut lines: Vec<u64> = places.iter().map(|place| place.line).collect();
        lines.dedup();
        lines.truncate(LINES_LISTED_MAX);
        return Some(Help::SeveralAlike { kinds, lines });
    }
    let mut characters: Vec<char> = vec![];
    for character in found.chars() {
        let is_new = !character.is_ascii() && !old.contains(character) && !characters.contains(&character);
        if is_new && characters.len() < CHARACTERS_LISTED_MAX {
            characters.push(character);
        }
    }
    let end = found.char_indices().nth(OFFERED_CHARS_MAX).map(|(at, _)| at);
    let last = first.line + line_feeds(found.strip_suffix('\n').unwrap_or(found));
    Some(Help::Alike(Alike {
        kinds,
        characters,
        lines: (first.line, last),
        text: Some(found[..end.unwrap_or(found.len())].to_owned()),
        is_cut: end.is_some(),
    }))
}

/// `old` without the line numbers that a tool wrote before each of its lines; none when a line has none.
fn without_line_numbers(old: &str) -> Option<String> {
    let stripped: Option<Vec<&str>> = old
        .split('\n')
        .enumerate()
        .map(|(index, line)| {
            let is_end = line.is_empty() && index > 0 && old.ends_with('\n');
            if is_end { Some(line) } else { without_line_number(line) }
        })
        .collect();
    stripped.map(|lines| lines.join("\n"))
}

/// The rest of `  12: text`, `12<tab>text`, `12|text` or `12→text`.
fn without_line_number(line: &str) -> Option<&str> {
    let after = line.trim_start_matches(' ').trim_start_matches(|c: char| c.is_ascii_digit());
    if !line[..line.len() - after.len()].ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match after.strip_prefix(':') {
        Some(rest) => Some(rest.strip_prefix(' ').unwrap_or(rest)),
        None => after.strip_prefix(['\t', '|', '→']),
    }
}
