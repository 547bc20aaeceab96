//! Unified diffs for people and models to read; nobody applies them.
//!
//! A plan already says what differs, so its diff costs no more than the lines around its splices.

mod block;
mod page;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp};

use self::block::{Block, PlanBlocks};
use self::page::Page;
use crate::edit::Plan;
use crate::edit::line_ends::LineEnds;
use crate::encoding::{self, Detected, Encoding};

/// How long comparing may take; then larger parts count as different.
const COMPARE_MS_MAX: u64 = 200;
/// Lines that are compared, of both sides together, without those at both ends that are equal.
const COMPARED_LINES_MAX: usize = 20_000;
/// Bytes that are compared, likewise.
const COMPARED_BYTES_MAX: usize = 4 << 20;
/// Bytes of a file in which an encoding is looked for to show an edit of ASCII alone.
const DETECTED_BYTES_MAX: usize = 1 << 20;
/// Lines around a change that are shown.
const CONTEXT_LINES: usize = 3;

/// How much of a difference a [`Diff`] writes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What is read on the way: 400 lines, 32 KiB, 1,000 characters a line.
    Excerpt,
    /// What somebody decides on: all but 100,000 lines, 8 MiB, 1,000,000 characters a line.
    Whole,
}

impl Extent {
    const fn lines_max(self) -> usize {
        match self {
            Self::Excerpt => 400,
            Self::Whole => 100_000,
        }
    }

    const fn bytes_max(self) -> usize {
        match self {
            Self::Excerpt => 32 << 10,
            Self::Whole => 8 << 20,
        }
    }

    const fn line_chars_max(self) -> usize {
        match self {
            Self::Excerpt => 1_000,
            Self::Whole => 1_000_000,
        }
    }
}

/// The difference between two states of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// A unified diff, empty when nothing differs. Past the bounds of its [`Extent`], a line says how many
    /// lines are left out, and long lines are cut around their change.
    pub text: String,
    /// Lines added; a changed line counts here and as removed.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// Whether `text` is not all of it.
    pub is_cut: bool,
}

/// What a plan changes in `bytes`, the ones it was made for.
#[must_use]
pub fn of_plan(bytes: &[u8], plan: &Plan, name: &str, extent: Extent) -> Diff {
    if plan.splices.is_empty() {
        return Diff::default();
    }
    let encoding = plan.encoding.or_else(|| shown_encoding(bytes));
    let ends = LineEnds::of(encoding);
    let mut page = Page::new(extent, encoding, ends);
    page.head(&sides(name, true, true));
    page.hunks(PlanBlocks::new(bytes, plan, ends));
    page.finish()
}

/// What differs between two states of a file; none is a file that is not there.
///
/// Bytes that are no text give a diff without lines. Of parts that are too large to compare, all lines count
/// as removed and added; an excerpt names only their number.
#[must_use]
pub fn between(old: Option<&[u8]>, new: Option<&[u8]>, name: &str, extent: Extent) -> Diff {
    if old == new {
        return Diff::default();
    }
    let head = sides(name, old.is_some(), new.is_some());
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let (Ok(old_is), Ok(new_is)) = (encoding::detect(old, true, None), encoding::detect(new, true, None))
    else {
        return Diff { text: format!("{head}binary files differ\n"), is_cut: true, ..Diff::default() };
    };
    // An empty side is in any encoding.
    let is_same = old_is.encoding == new_is.encoding || old.is_empty() || new.is_empty();
    let is = if old.is_empty() { new_is } else { old_is };
    if is_same && !is.encoding.is_stateful() {
        return compared(old, new, Some(is.encoding), &head, extent);
    }
    let mut head = head;
    if !is_same {
        let _ = writeln!(head, "encoding {} -> {}", old_is.encoding, new_is.encoding);
    }
    compared(decoded(old, old_is).as_bytes(), decoded(new, new_is).as_bytes(), None, &head, extent)
}

/// What writing `text` changes; `old` is none where no file is. The text is shown as it was given, whatever
/// its bytes would be taken for.
#[must_use]
pub fn to_text(old: Option<&[u8]>, text: &str, name: &str, extent: Extent) -> Diff {
    let head = sides(name, old.is_some(), true);
    let old = old.unwrap_or_default();
    if !old.is_empty() && old == text.as_bytes() {
        return Diff::default();
    }
    match encoding::detect(old, true, None) {
        Ok(old_is) => compared(decoded(old, old_is).as_bytes(), text.as_bytes(), None, &head, extent),
        Err(_) => compared(b"", text.as_bytes(), None, &format!("{head}the old file is binary\n"), extent),
    }
}

fn sides(name: &str, is_old: bool, is_new: bool) -> String {
    let name: String = name
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect();
    let side = |is_there: bool, letter: char| match is_there {
        true => format!("{letter}/{name}"),
        false => "/dev/null".to_owned(),
    };
    format!("--- {}\n+++ {}\n", side(is_old, 'a'), side(is_new, 'b'))
}

/// An encoding to show bytes in, where it is sure and cheap to find.
fn shown_encoding(bytes: &[u8]) -> Option<Encoding> {
    if bytes.len() > DETECTED_BYTES_MAX || bytes.is_ascii() {
        return None;
    }
    let found = encoding::detect(bytes, true, None).ok()?;
    (found.is_sure && !found.encoding.is_utf16() && !found.encoding.is_stateful()).then_some(found.encoding)
}

fn decoded(bytes: &[u8], is: Detected) -> Cow<'_, str> {
    let text = &bytes[is.mark_len..];
    match std::str::from_utf8(text) {
        Ok(text) if is.encoding.is_utf8() => Cow::Borrowed(text),
        _ => Cow::Owned(is.encoding.decode(text).text),
    }
}

fn compared(old: &[u8], new: &[u8], encoding: Option<Encoding>, head: &str, extent: Extent) -> Diff {
    let ends = LineEnds::of(encoding);
    let (start, old_end, new_end) = differing(old, new, ends);
    let (old_middle, new_middle) = (&old[start..old_end], &new[start..new_end]);
    let (removed, added) = (line_count(ends, old_middle), line_count(ends, new_middle));
    let mut page = Page::new(extent, encoding, ends);
    page.head(head);
    let is_large =
        old_middle.len() + new_middle.len() > COMPARED_BYTES_MAX || removed + added > COMPARED_LINES_MAX;
    if is_large && extent == Extent::Excerpt {
        page.note(&format!("too large to compare: {removed} lines removed, {added} lines added"));
        return Diff { added, removed, is_cut: true, ..page.finish() };
    }
    let (old_lines, new_lines) = (ends.lines(old_middle), ends.lines(new_middle));
    let ops = if is_large {
        let (old_len, new_len) = (old_lines.len(), new_lines.len());
        vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }]
    } else {
        let deadline = Instant::now() + Duration::from_millis(COMPARE_MS_MAX);
        similar::capture_diff_slices_deadline(Algorithm::Myers, &old_lines, &new_lines, Some(deadline))
    };
    let first_line = ends.count(&old[..start]) as u64 + 1;
    let (old_starts, new_starts) = (starts(start, &old_lines), starts(start, &new_lines));
    let mut blocks: Vec<Block<'_>> = vec![];
    let mut previous_end = None;
    for op in ops.into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (from, to) = (op.old_range(), op.new_range());
        let range = old_starts[from.start]..old_starts[from.end];
        let added = Cow::Borrowed(&new[new_starts[to.start]..new_starts[to.end]]);
        let line = first_line + from.start as u64;
        let block = Block::new(old, ends, range, added, line, previous_end);
        previous_end = Some(block.end);
        blocks.push(block);
    }
    page.hunks(blocks.into_iter());
    page.finish()
}

/// Where the first and after the last line is that differ: the start in both, the end in each.
fn differing(old: &[u8], new: &[u8], ends: LineEnds) -> (usize, usize, usize) {
    let head = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let start = ends.line_start(old, head - head % ends.unit());
    let tail_max = (old.len() - start).min(new.len() - start);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(tail_max)
        .take_while(|(left, right)| left == right)
        .count();
    // The equal tail begins after a line feed that is equal itself, or it would begin within a line.
    let tail_start = ends.line_end(old, old.len() - tail);
    (start, tail_start, new.len() - (old.len() - tail_start))
}

fn line_count(ends: LineEnds, bytes: &[u8]) -> usize {
    let feeds = ends.count(bytes);
    let is_open = ends.previous(bytes, bytes.len()).map_or(0, |feed| feed + ends.unit()) < bytes.len();
    feeds + usize::from(is_open)
}

fn starts(first: usize, lines: &[&[u8]]) -> Vec<usize> {
    let mut at = first;
    let mut starts = vec![first];
    for line in lines {
        at += line.len();
        starts.push(at);
    }
    starts
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
