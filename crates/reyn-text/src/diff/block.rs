//! Whole lines that others take the place of, with the lines around them.

use std::borrow::Cow;
use std::ops::Range;

use super::CONTEXT_LINES;
use crate::edit::line_ends::LineEnds;
use crate::edit::{Plan, Splice};

/// A change of whole lines.
pub(super) struct Block<'a> {
    /// The number of the first line in the old file, from 1.
    pub(super) line: u64,
    pub(super) removed: &'a [u8],
    pub(super) added: Cow<'a, [u8]>,
    /// Lines directly before: all since the block before when `joins` it, else at most three.
    pub(super) before: &'a [u8],
    /// Whether it is so near to the block before that both are shown together.
    pub(super) joins: bool,
    /// At most three lines directly after.
    pub(super) after: &'a [u8],
    /// Where it ends in the old file.
    pub(super) end: usize,
}

impl<'a> Block<'a> {
    /// `range` holds whole lines of `old`, the first of which is `line`; the block before ends at
    /// `previous_end`. Lines at both ends that stay are left out.
    pub(super) fn new(
        old: &'a [u8],
        ends: LineEnds,
        range: Range<usize>,
        added: Cow<'a, [u8]>,
        line: u64,
        previous_end: Option<usize>,
    ) -> Self {
        let mut start = range.start;
        let mut line = line;
        let mut head = 0;
        while start < range.end && head < added.len() {
            let (end, added_end) = (ends.line_end(old, start).min(range.end), ends.line_end(&added, head));
            if old[start..end] != added[head..added_end] {
                break;
            }
            (start, head, line) = (end, added_end, line + 1);
        }
        let (mut end, mut tail) = (range.end, added.len());
        while start < end && head < tail {
            let last = last_line(ends, old, start, end);
            let added_last = last_line(ends, &added, head, tail);
            if old[last..end] != added[added_last..tail] {
                break;
            }
            (end, tail) = (last, added_last);
        }
        let added = match added {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[head..tail]),
            Cow::Owned(bytes) => Cow::Owned(bytes[head..tail].to_vec()),
        };
        let mut before = start;
        let mut shown = 0;
        let since = previous_end.unwrap_or(0);
        while before > since && shown <= 2 * CONTEXT_LINES {
            before = last_line(ends, old, since, before);
            shown += 1;
        }
        let joins = previous_end == Some(before) && shown <= 2 * CONTEXT_LINES;
        while !joins && shown > CONTEXT_LINES {
            before = ends.line_end(old, before);
            shown -= 1;
        }
        let after = (0..CONTEXT_LINES).fold(end, |at, _| ends.line_end(old, at));
        let (removed, before, after) = (&old[start..end], &old[before..start], &old[end..after]);
        Self { line, removed, added, before, joins, after, end }
    }
}

/// Where the last line of `bytes[start..end]` begins; both are ends of lines.
fn last_line(ends: LineEnds, bytes: &[u8], start: usize, end: usize) -> usize {
    let within = &bytes[start..end];
    let inner = within.len().saturating_sub(ends.unit());
    ends.previous(within, inner).map_or(start, |feed| start + feed + ends.unit())
}

/// The blocks of a plan, one after the other.
pub(super) struct PlanBlocks<'a> {
    bytes: &'a [u8],
    splices: &'a [Splice],
    ends: LineEnds,
    previous_end: Option<usize>,
}

impl<'a> PlanBlocks<'a> {
    pub(super) fn new(bytes: &'a [u8], plan: &'a Plan, ends: LineEnds) -> Self {
        Self { bytes, splices: &plan.splices, ends, previous_end: None }
    }
}

impl<'a> Iterator for PlanBlocks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Block<'a>> {
        let first = self.splices.first()?;
        let (bytes, ends) = (self.bytes, self.ends);
        let since = self.previous_end.unwrap_or(0);
        let start = since + ends.line_start(&bytes[since..], first.range.start - since);
        let (mut added, mut copied, mut count) = (vec![], start, 0);
        // Where whole lines end in both files; `is_open` at the end of a last line without a line feed, which
        // a splice there goes on with.
        let (mut end, mut is_open) = (first.range.start, true);
        let is_taken = |at: usize, end: usize, is_open: bool| at < end || is_open && at == end;
        while let Some(splice) =
            self.splices.get(count).filter(|next| is_taken(next.range.start, end, is_open))
        {
            added.extend_from_slice(&bytes[copied..splice.range.start]);
            added.extend_from_slice(&splice.with);
            copied = splice.range.end;
            count += 1;
            if copied < end {
                continue;
            }
            let is_closed = ends.is_line_start(bytes, copied) && ends.is_line_start(&added, added.len());
            end = if is_closed { copied } else { ends.line_end(bytes, copied) };
            is_open = !is_closed && (end == copied || !ends.is_line_start(bytes, end));
        }
        added.extend_from_slice(&bytes[copied..end]);
        let block = Block::new(bytes, ends, start..end, Cow::Owned(added), first.line, self.previous_end);
        self.splices = &self.splices[count..];
        self.previous_end = Some(block.end);
        Some(block)
    }
}
