//! Writes a diff within its bounds.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::block::Block;
use super::{Diff, Extent, line_count};
use crate::edit::line_ends::LineEnds;
use crate::encoding::Encoding;

/// Characters before a change that are shown of a line that is cut.
const LEAD_CHARS: usize = 100;
/// Bytes of a character in any encoding, at most.
const CHAR_BYTES_MAX: usize = 8;

/// The text of a diff as it grows.
pub(super) struct Page {
    extent: Extent,
    encoding: Option<Encoding>,
    ends: LineEnds,
    diff: Diff,
    lines: usize,
    left_out: usize,
    /// Lines that the new file has more than the old one, so far.
    shift: i64,
}

/// Blocks that are shown together.
struct Hunk<'a> {
    /// The first of them, as many as can be shown.
    blocks: Vec<Block<'a>>,
    /// Lines between all of them, and before the first.
    context: usize,
    removed: usize,
    added: usize,
    /// Lines after the last.
    after: &'a [u8],
}

impl<'a> Hunk<'a> {
    fn new(ends: LineEnds, extent: Extent, first: Block<'a>) -> Self {
        let mut hunk = Self { blocks: vec![], context: 0, removed: 0, added: 0, after: first.after };
        hunk.add(ends, extent, first);
        hunk
    }

    fn add(&mut self, ends: LineEnds, extent: Extent, block: Block<'a>) {
        self.context += line_count(ends, block.before);
        self.removed += line_count(ends, block.removed);
        self.added += line_count(ends, &block.added);
        self.after = block.after;
        if self.blocks.len() < extent.lines_max() {
            self.blocks.push(block);
        }
    }
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    None,
    Lf,
    CrLf,
}

impl Page {
    pub(super) fn new(extent: Extent, encoding: Option<Encoding>, ends: LineEnds) -> Self {
        Self { extent, encoding, ends, diff: Diff::default(), lines: 0, left_out: 0, shift: 0 }
    }

    pub(super) fn head(&mut self, head: &str) {
        self.diff.text.push_str(head);
        self.lines += head.lines().count();
    }

    pub(super) fn note(&mut self, note: &str) {
        self.push(Cow::Borrowed(note));
    }

    pub(super) fn hunks<'a>(&mut self, blocks: impl Iterator<Item = Block<'a>>) {
        let mut hunk: Option<Hunk<'a>> = None;
        for block in blocks {
            match &mut hunk {
                Some(open) if block.joins => open.add(self.ends, self.extent, block),
                _ => {
                    if let Some(done) = hunk.take() {
                        self.hunk(&done);
                    }
                    hunk = Some(Hunk::new(self.ends, self.extent, block));
                }
            }
        }
        if let Some(done) = hunk {
            self.hunk(&done);
        }
    }

    pub(super) fn finish(mut self) -> Diff {
        if self.left_out > 0 {
            let _ = writeln!(self.diff.text, "… {} more lines are left out", self.left_out);
            self.diff.is_cut = true;
        }
        self.diff
    }

    fn hunk(&mut self, hunk: &Hunk<'_>) {
        let Hunk { blocks, context, removed, added, after } = hunk;
        let Some(first) = blocks.first() else { return };
        let context = context + line_count(self.ends, after);
        self.diff.added += added;
        self.diff.removed += removed;
        let old_line = first.line.saturating_sub(line_count(self.ends, first.before) as u64);
        let new_line = old_line.saturating_add_signed(self.shift);
        self.shift += i64::try_from(*added).unwrap_or(i64::MAX) - i64::try_from(*removed).unwrap_or(i64::MAX);
        if self.is_full() {
            self.left_out += 1 + context + removed + added;
            return;
        }
        let (old_span, new_span) = (span(old_line, context + removed), span(new_line, context + added));
        self.push(Cow::Owned(format!("@@ -{old_span} +{new_span} @@")));
        let mut unseen = context + removed + added;
        for block in blocks {
            self.context(block.before);
            self.change(block);
            unseen -= [block.before, block.removed, &block.added]
                .map(|bytes| line_count(self.ends, bytes))
                .iter()
                .sum::<usize>();
        }
        // More blocks than can be shown were counted and dropped.
        self.left_out += unseen - line_count(self.ends, after);
        self.context(after);
    }

    fn context(&mut self, bytes: &[u8]) {
        if self.is_full() {
            self.left_out += line_count(self.ends, bytes);
            return;
        }
        for line in self.ends.lines(bytes) {
            let (content, ending) = self.parted(line);
            let shown = self.shown(content);
            self.line(' ', shown.trim_start_matches('\u{FEFF}'), 0, ending, false);
        }
    }

    fn change(&mut self, block: &Block<'_>) {
        let (removed, added) = (self.ends.lines(block.removed), self.ends.lines(&block.added));
        self.side('-', &removed, &added);
        self.side('+', &added, &removed);
    }

    /// Lines of one side; the other tells what in them changed.
    fn side(&mut self, sign: char, lines: &[&[u8]], others: &[&[u8]]) {
        for (index, line) in lines.iter().enumerate() {
            if self.is_full() {
                self.left_out += lines.len() - index;
                return;
            }
            let other = others.get(index).or(others.last());
            let (content, ending) = self.parted(line);
            let other_ending = other.map(|other| self.parted(other).1);
            let shows_return = ending == Ending::CrLf && other_ending == Some(Ending::Lf);
            let shown = self.shown(content).replace('\u{FEFF}', "\\u{feff}");
            let skipped = match others.get(index) {
                Some(other) if shown.len() > self.extent.line_chars_max() => {
                    let other = self.shown(self.parted(other).0);
                    shown.chars().zip(other.chars()).take_while(|(left, right)| left == right).count()
                }
                _ => 0,
            };
            self.line(sign, &shown, skipped, ending, shows_return);
        }
    }

    /// One line, from about its character `skipped` on when it is long.
    fn line(&mut self, sign: char, shown: &str, skipped: usize, ending: Ending, shows_return: bool) {
        let chars_max = self.extent.line_chars_max();
        let mut text = String::from(sign);
        if shown.len() > chars_max && shown.chars().count() > chars_max {
            self.diff.is_cut = true;
            let skipped = if skipped > chars_max / 2 { skipped - LEAD_CHARS } else { 0 };
            if skipped > 0 {
                text.push('…');
            }
            let mut rest = shown.chars().skip(skipped);
            text.extend(rest.by_ref().take(chars_max));
            if rest.next().is_some() {
                text.push('…');
            }
        } else {
            text.push_str(shown);
        }
        if shows_return {
            text.push('␍');
        }
        self.push(Cow::Owned(text));
        if ending == Ending::None {
            self.push(Cow::Borrowed("\\ No newline at end of file"));
        }
    }

    fn is_full(&self) -> bool {
        self.left_out > 0
    }

    fn push(&mut self, line: Cow<'_, str>) {
        let fits = self.lines < self.extent.lines_max()
            && self.diff.text.len() + line.len() < self.extent.bytes_max();
        if self.is_full() || !fits {
            self.left_out += 1;
            return;
        }
        self.diff.text.push_str(&line);
        self.diff.text.push('\n');
        self.lines += 1;
    }

    fn parted<'a>(&self, line: &'a [u8]) -> (&'a [u8], Ending) {
        let unit = self.ends.unit();
        let Some(feed) = line.len().checked_sub(unit).filter(|at| self.ends.is_at(line, *at, b'\n')) else {
            return (line, Ending::None);
        };
        if self.ends.is_crlf(line, feed) {
            return (&line[..feed - unit], Ending::CrLf);
        }
        (&line[..feed], Ending::Lf)
    }

    /// A line as text, bytes that are none as `\xNN`.
    fn shown<'a>(&self, line: &'a [u8]) -> Cow<'a, str> {
        let Some(encoding) = self.encoding.filter(|known| !known.is_utf8()) else { return shown_utf8(line) };
        let decoded = encoding.decode(line);
        if decoded.undecodable_at.is_none() {
            return Cow::Owned(decoded.text);
        }
        let mut text = String::new();
        // More would not be shown.
        let bytes_max = (self.extent.line_chars_max() + 1) * CHAR_BYTES_MAX;
        let mut rest = &line[..line.len().min(bytes_max)];
        while !rest.is_empty() {
            let decoded = encoding.decode(rest);
            let Some(at) = decoded.undecodable_at else {
                text.push_str(&decoded.text);
                break;
            };
            text.push_str(&encoding.decode(&rest[..at]).text);
            let end = rest.len().min(at + encoding.unit_len());
            for byte in &rest[at..end] {
                let _ = write!(text, "\\x{byte:02x}");
            }
            rest = &rest[end..];
        }
        Cow::Owned(text)
    }
}

fn shown_utf8(line: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(line) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// A hunk's place: its first line and how many, or the line before when there are none.
fn span(line: u64, count: usize) -> String {
    match count {
        0 => format!("{},0", line.saturating_sub(1)),
        1 => line.to_string(),
        _ => format!("{line},{count}"),
    }
}
