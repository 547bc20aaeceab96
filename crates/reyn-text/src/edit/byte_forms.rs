//! Places that read like the string of an edit and are other bytes.
//!
//! Some encodings have one character in several byte forms (Shift_JIS has `髙` as EE E0 and as FB FC), of
//! which a search for bytes knows the usual one only.

use super::error::EditError;
use super::find::{Characters, Found, Overlap, Search};
use super::line_ends::LineEnds;
use super::view::View;
use super::{LINES_LISTED_MAX, LineCounter};
use crate::encoding::Encoding;

/// Fails unless the places of the decoded file that read like `wanted` are just the matches of `search`.
///
/// `wanted` is what the needle of the search says, `starts` its matches in its view. The file decodes without
/// error.
pub(super) fn check(
    search: &Search<'_>,
    wanted: &str,
    encoding: Encoding,
    overlap: Overlap,
    starts: &[usize],
) -> Result<(), EditError> {
    // UTF-8 and UTF-16 have one form of each character, and all encodings have one of ASCII.
    if wanted.is_ascii() || encoding.is_utf8() || encoding.is_utf16() {
        return Ok(());
    }
    let text = encoding.decode(&search.file[search.from..]).text;
    let view = match search.view.is_plain() {
        true => View::plain(text.as_bytes()),
        false => View::without_returns(text.as_bytes(), LineEnds::Byte),
    };
    let of_text = Search {
        file: text.as_bytes(),
        view: &view,
        ends: LineEnds::Byte,
        needle: wanted.as_bytes(),
        from: 0,
        is_literal: search.is_literal,
    };
    let Ok(Found { starts: read, is_cut, .. }) = of_text.run(&mut Characters::Plain, overlap) else {
        return Ok(());
    };
    if is_cut {
        return Err(EditError::TooMany { count: read.len() });
    }
    let read: Vec<usize> = read.into_iter().map(|at| view.in_file(at)).collect();
    let matched = in_text(search, encoding, starts);
    if read == matched {
        return Ok(());
    }
    let mut counter = LineCounter::new(text.as_bytes(), LineEnds::Byte);
    let unusual = read.iter().filter(|at| matched.binary_search(at).is_err());
    let mut lines: Vec<u64> = unusual.map(|at| counter.line(*at)).collect();
    lines.dedup();
    lines.truncate(LINES_LISTED_MAX);
    Err(EditError::ByteForms { encoding, lines })
}

/// Where the matches of a search are in the decoded file.
fn in_text(search: &Search<'_>, encoding: Encoding, starts: &[usize]) -> Vec<usize> {
    let (mut at, mut text_at) = (search.from, 0);
    let place = |start: &usize| {
        let start = search.view.in_file(*start);
        text_at += encoding.decode(&search.file[at..start]).text.len();
        at = start;
        text_at
    };
    starts.iter().map(place).collect()
}
