//! Writes a diff within its bounds.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::block::Block;
use super::{Diff, line_count};
use crate::edit::line_ends::LineEnds;
use crate::encoding::Encoding;

/// Bytes of a diff.
const TEXT_BYTES_MAX: usize = 32 << 10;
/// Lines of a diff.
const TEXT_LINES_MAX: usize = 400;
/// Characters of a line.
const LINE_CHARS_MAX: usize = 1_000;
/// Characters before a change that are shown of a line that is cut.
const LEAD_CHARS: usize = 100;
/// Bytes of a line with errors that are shown.
const BROKEN_LINE_BYTES_MAX: usize = 4_096;

/// The text of a diff as it grows.
pub(super) struct Page {
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
    fn new(ends: LineEnds, first: Block<'a>) -> Self {
        let mut hunk = Self { blocks: vec![], context: 0, removed: 0, added: 0, after: first.after };
        hunk.add(ends, first);
        hunk
    }

    fn add(&mut self, ends: LineEnds, block: Block<'a>) {
        self.context += line_count(ends, block.before);
        self.removed += line_count(ends, block.removed);
        self.added += line_count(ends, &block.added);
        self.after = block.after;
        if self.blocks.len() < TEXT_LINES_MAX {
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
    pub(super) fn new(encoding: Option<Encoding>, ends: LineEnds) -> Self {
        Self { encoding, ends, diff: Diff::default(), lines: 0, left_out: 0, shift: 0 }
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
                Some(open) if block.joins => open.add(self.ends, block),
                _ => {
                    if let Some(done) = hunk.take() {
                        self.hunk(&done);
                    }
                    hunk = Some(Hunk::new(self.ends, block));
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
                Some(other) if shown.len() > LINE_CHARS_MAX => {
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
        let mut text = String::from(sign);
        if shown.len() > LINE_CHARS_MAX && shown.chars().count() > LINE_CHARS_MAX {
            self.diff.is_cut = true;
            let skipped = if skipped > LINE_CHARS_MAX / 2 { skipped - LEAD_CHARS } else { 0 };
            if skipped > 0 {
                text.push('…');
            }
            let mut rest = shown.chars().skip(skipped);
            text.extend(rest.by_ref().take(LINE_CHARS_MAX));
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
        let fits = self.lines < TEXT_LINES_MAX && self.diff.text.len() + line.len() < TEXT_BYTES_MAX;
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
        let mut rest = &line[..line.len().min(BROKEN_LINE_BYTES_MAX)];
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
        if line.len() > BROKEN_LINE_BYTES_MAX {
            text.push('…');
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
