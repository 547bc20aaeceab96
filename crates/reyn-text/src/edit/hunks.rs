//! What differs between the two strings of an edit: found once, written at every match.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp};

use super::line_ends::LineEnds;
use crate::encoding::{Encoding, Unmappable};

/// How long comparing the lines of both strings may take; then larger parts count as different.
const COMPARE_MS_MAX: u64 = 200;

/// A string with every CR LF as one LF.
pub(super) struct Normal {
    pub(super) text: String,
    /// For each line feed, whether it followed a carriage return.
    is_crlf: Vec<bool>,
}

impl Normal {
    pub(super) fn of(text: &str) -> Self {
        let is_crlf = text
            .match_indices('\n')
            .map(|(at, _)| at.checked_sub(1).is_some_and(|before| text.as_bytes()[before] == b'\r'))
            .collect();
        Self { text: text.replace("\r\n", "\n"), is_crlf }
    }
}

/// One part of `old` that another takes the place of.
#[derive(Debug)]
pub(super) struct Hunk {
    /// Bytes of the encoded `old`.
    pub(super) old: Range<usize>,
    /// What stands there, in the file's encoding, cut at its line breaks.
    lines: Vec<Vec<u8>>,
    /// Where the ending of each line but the last comes from.
    breaks: Vec<Break>,
}

/// Where the ending of an inserted line comes from.
#[derive(Debug, Clone, Copy)]
struct Break {
    /// Where in the encoded `old` the line feed is whose ending is taken.
    like: Option<usize>,
    /// Whether it is CR LF in `new`: for files without any line ending.
    is_crlf_in_new: bool,
}

impl Hunk {
    /// Whether an ending is needed that no line of the match gives.
    pub(super) fn asks_surroundings(&self) -> bool {
        self.breaks.iter().any(|one| one.like.is_none())
    }

    /// The bytes to write: `is_crlf_at` knows the endings of the match by their place in the encoded `old`,
    /// `around` is the ending of the line where the match stands.
    pub(super) fn written(
        &self,
        ends: LineEnds,
        is_crlf_at: impl Fn(usize) -> bool,
        around: Option<bool>,
    ) -> Vec<u8> {
        let mut bytes = vec![];
        for (index, line) in self.lines.iter().enumerate() {
            if let Some(before) = index.checked_sub(1) {
                let one = self.breaks[before];
                let is_crlf = one.like.map_or_else(|| around.unwrap_or(one.is_crlf_in_new), &is_crlf_at);
                bytes.extend_from_slice(ends.ending(is_crlf));
            }
            bytes.extend_from_slice(line);
        }
        bytes
    }

    /// The most bytes that [`Self::written`] gives.
    pub(super) fn written_bytes_max(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 4).sum()
    }
}

/// A part of `old` and what `new` has instead; bytes of the strings.
type Change = (Range<usize>, Range<usize>);

/// The hunks that write `new` as it is, for strings that differ only in their line endings.
pub(super) fn literal(old: &str, new: &str, encoding: Option<Encoding>) -> Result<Vec<Hunk>, Unmappable> {
    let mut encoded = Encoded::of(old, encoding);
    changes(old, new)
        .into_iter()
        .map(|(from, to)| {
            let lines = vec![encode(&new[to], encoding)?];
            Ok(Hunk { old: encoded.at(from.start)..encoded.at(from.end), lines, breaks: vec![] })
        })
        .collect()
}

/// The hunks that write `new` with the file's line endings.
pub(super) fn adapted(
    old: &Normal,
    new: &Normal,
    encoding: Option<Encoding>,
) -> Result<Vec<Hunk>, Unmappable> {
    let mut encoded = Encoded::of(&old.text, encoding);
    let feeds: Vec<usize> = old.text.match_indices('\n').map(|(at, _)| at).collect();
    let encoded_feeds: Vec<usize> = feeds.iter().map(|at| encoded.at(*at)).collect();
    let mut encoded = Encoded::of(&old.text, encoding);
    let mut new_feeds = 0;
    let mut counted = 0;
    let mut hunks = vec![];
    for (from, to) in changes(&old.text, &new.text) {
        new_feeds += new.text[counted..to.start].matches('\n').count();
        counted = to.start;
        let first = feeds.partition_point(|feed| *feed < from.start);
        let within = feeds.partition_point(|feed| *feed < from.end) - first;
        let mut lines = vec![];
        let mut breaks = vec![];
        for (index, line) in new.text[to].split('\n').enumerate() {
            if let Some(break_index) = index.checked_sub(1) {
                // The ending of the line that is replaced, else of the one before, else of the one after.
                let like = match within {
                    0 => first.checked_sub(1).or((first < feeds.len()).then_some(first)),
                    _ => Some(first + break_index.min(within - 1)),
                };
                breaks.push(Break {
                    like: like.map(|feed| encoded_feeds[feed]),
                    is_crlf_in_new: new.is_crlf[new_feeds + break_index],
                });
            }
            lines.push(encode(line, encoding)?);
        }
        hunks.push(Hunk { old: encoded.at(from.start)..encoded.at(from.end), lines, breaks });
    }
    Ok(hunks)
}

/// `text` in the encoding; nothing known means that it is ASCII.
pub(super) fn encode(text: &str, encoding: Option<Encoding>) -> Result<Vec<u8>, Unmappable> {
    encoding.map_or_else(|| Ok(text.as_bytes().to_vec()), |known| known.encode(text))
}

/// Places of a string in its encoded form; asked in ascending order.
struct Encoded<'a> {
    text: &'a str,
    encoding: Option<Encoding>,
    text_at: usize,
    encoded_at: usize,
}

impl<'a> Encoded<'a> {
    fn of(text: &'a str, encoding: Option<Encoding>) -> Self {
        Self { text, encoding: encoding.filter(|known| !known.is_utf8()), text_at: 0, encoded_at: 0 }
    }

    fn at(&mut self, at: usize) -> usize {
        let step = &self.text[self.text_at..at];
        self.encoded_at += encode(step, self.encoding).map_or(step.len(), |bytes| bytes.len());
        self.text_at = at;
        self.encoded_at
    }
}

/// The parts that differ, line by line, each without the characters at its ends that are equal.
fn changes(old: &str, new: &str) -> Vec<Change> {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let deadline = Instant::now() + Duration::from_millis(COMPARE_MS_MAX);
    let (old_starts, new_starts) = (starts(&old_lines), starts(&new_lines));
    let mut changes: Vec<Change> = vec![];
    for op in similar::capture_diff_slices_deadline(Algorithm::Myers, &old_lines, &new_lines, Some(deadline))
    {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (from, to) = (op.old_range(), op.new_range());
        let from = old_starts[from.start]..old_starts[from.end];
        let to = new_starts[to.start]..new_starts[to.end];
        match changes.last_mut() {
            Some(last) if last.0.end == from.start && last.1.end == to.start => {
                last.0.end = from.end;
                last.1.end = to.end;
            }
            _ => changes.push((from, to)),
        }
    }
    changes.into_iter().map(|change| trimmed(old, new, change)).collect()
}

fn starts(lines: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = vec![0];
    for line in lines {
        at += line.len();
        starts.push(at);
    }
    starts
}

fn trimmed(old: &str, new: &str, (mut from, mut to): Change) -> Change {
    let common = |left: (usize, char), right: char| (left.1 == right).then_some(left.1.len_utf8());
    let head: usize = old[from.clone()]
        .char_indices()
        .zip(new[to.clone()].chars())
        .map_while(|(left, right)| common(left, right))
        .sum();
    from.start += head;
    to.start += head;
    let tail: usize = old[from.clone()]
        .char_indices()
        .rev()
        .zip(new[to.clone()].chars().rev())
        .map_while(|(left, right)| common(left, right))
        .sum();
    from.end -= tail;
    to.end -= tail;
    (from, to)
}
