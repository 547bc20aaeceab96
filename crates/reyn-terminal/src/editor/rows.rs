//! The text as rows of a terminal: where each begins and ends, and where an offset stands on them.
//!
//! Only the neighbourhood of the caret is looked at. A line too long for that is cut into rows from a mark before
//! the caret; the marks stand at fixed distances from the start of the line, so that rows stay while one types.

use std::borrow::Cow;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::line::{cell_width, grapheme_width};
use crate::visible;

/// Columns between two tab stops, as in [`crate::Line`].
const TAB_COLUMNS: usize = 4;
/// Bytes of one grapheme; a longer one is shown in pieces.
const GRAPHEME_BYTES_MAX: usize = 256;
/// Bytes that are looked at before the caret, for each column of each row that is wanted; at least so many for all.
const LOOK_BYTES_A_COLUMN: usize = 8;
const LOOK_BYTES_MIN: usize = 8 << 10;

/// The place of the text on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Columns of a row, its indent among them; at least one more than that.
    pub(super) columns: usize,
    /// Columns before the text, on the first row those of the prompt.
    pub(super) indent: usize,
}

impl Place {
    const fn room(self) -> usize {
        self.columns - self.indent
    }

    /// Bytes of one row, for texts of characters without a width.
    const fn row_bytes_max(self) -> usize {
        1024 + self.columns * 32
    }
}

/// One row: the text from `start` to `end`, without a line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Columns of its text.
    pub(super) width: usize,
    /// Where the next row begins; `None` at the end of the text.
    pub(super) next: Option<usize>,
}

impl Row {
    /// Whether the row ends only because it is full.
    pub(super) fn is_broken(&self) -> bool {
        self.next == Some(self.end)
    }
}

/// What is shown as one: never broken, never entered by the caret.
pub(super) struct Cell<'a> {
    pub(super) end: usize,
    pub(super) width: usize,
    pub(super) shown: Cow<'a, str>,
    /// Whether what is shown is not the text itself.
    pub(super) is_written_out: bool,
}

/// The cell at an offset that is neither the end of the text nor a line end, `used` columns behind the indent.
pub(super) fn cell(text: &str, at: usize, used: usize, place: Place) -> Cell<'_> {
    let bytes = text.as_bytes();
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte);
    if is_plain(bytes[at]) && bytes.get(at + 1).is_none_or(u8::is_ascii) {
        let shown = text[at..=at].into();
        return Cell { end: at + 1, width: 1, shown, is_written_out: false };
    }
    if bytes[at] == b'\t' {
        let stop = TAB_COLUMNS - (place.indent + used) % TAB_COLUMNS;
        let width = if used < place.room() { stop.min(place.room() - used) } else { stop };
        return Cell { end: at + 1, width, shown: " ".repeat(width).into(), is_written_out: false };
    }
    let limit = text.floor_char_boundary(at + GRAPHEME_BYTES_MAX);
    let grapheme = text[at..limit].graphemes(true).next().unwrap_or_default();
    let end = at + grapheme.len();
    let words = visible(grapheme);
    let is_written_out = words != grapheme;
    let (width, shown) = if is_written_out {
        (cell_width(&words), Cow::Owned(words))
    } else {
        (grapheme_width(grapheme), Cow::Borrowed(grapheme))
    };
    if width > place.room() {
        return Cell { end, width: 1, shown: "?".into(), is_written_out: true };
    }
    Cell { end, width, shown, is_written_out }
}

/// The row that begins at `start`.
fn row_at(text: &str, start: usize, place: Place) -> Row {
    let mut width = 0;
    let mut at = start;
    while at < text.len() {
        if text.as_bytes()[at] == b'\n' {
            return Row { start, end: at, width, next: Some(at + 1) };
        }
        let cell = cell(text, at, width, place);
        if width + cell.width > place.room() || at - start > place.row_bytes_max() {
            return Row { start, end: at, width, next: Some(at) };
        }
        width += cell.width;
        at = cell.end;
    }
    Row { start, end: at, width, next: None }
}

/// Rows around the caret.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) rows: Vec<Row>,
    /// Which of them the caret is on.
    pub(super) caret_row: usize,
}

impl Near {
    /// Looks at up to `wanted` rows before the one with the caret and as many after it; in a very long line there
    /// may be fewer before it than there are.
    pub(super) fn of(text: &str, caret: usize, place: Place, wanted: usize) -> Self {
        let look = LOOK_BYTES_MIN.max(place.columns * wanted * LOOK_BYTES_A_COLUMN);
        let mut rows = rows_up_to(text, mark_before(text, caret, look), caret, place);
        give_own_row(&mut rows, caret, place);
        while rows.len() <= wanted
            && let Some(before) =
                rows.first().map(|row| row.start).filter(|start| is_line_start(text, *start))
        {
            let end = before - 1;
            let mut earlier = rows_up_to(text, mark_before(text, end, look), end, place);
            earlier.extend(rows);
            rows = earlier;
        }
        let caret_row = rows.len() - 1;
        while rows.len() <= caret_row + wanted
            && let Some(start) = rows.last().and_then(|row| row.next)
        {
            rows.push(row_at(text, start, place));
        }
        Self { rows, caret_row }
    }

    /// Whether there is text before the first of the rows.
    pub(super) fn has_more_before(&self) -> bool {
        self.rows.first().is_some_and(|row| row.start > 0)
    }

    /// Whether there is text after the last of the rows.
    pub(super) fn has_more_after(&self) -> bool {
        self.rows.last().is_some_and(|row| row.next.is_some())
    }
}

/// Whether a line that is not the first begins here.
fn is_line_start(text: &str, at: usize) -> bool {
    at > 0 && text.as_bytes()[at - 1] == b'\n'
}

/// Where to begin to cut rows for what is around `at`: the start of its line, or a mark in it.
fn mark_before(text: &str, at: usize, look: usize) -> usize {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    if at - line <= look {
        return line;
    }
    let step = look / 2;
    let mark = text.ceil_char_boundary(line + (at - line - step) / step * step);
    let mut cursor = GraphemeCursor::new(mark, text.len(), true);
    let mark = match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(at),
        Ok(true) | Err(_) => mark,
    };
    mark.min(at)
}

/// The rows from `start` to the one that `at`, in the same line, is on.
fn rows_up_to(text: &str, start: usize, at: usize, place: Place) -> Vec<Row> {
    let mut rows = vec![row_at(text, start, place)];
    while let Some(last) = rows.last()
        && at >= last.end
        && last.is_broken()
    {
        rows.push(row_at(text, last.end, place));
    }
    rows
}

/// A caret at the end of a line whose last row is full is on a row of its own, where the next character will be.
fn give_own_row(rows: &mut Vec<Row>, caret: usize, place: Place) {
    if let Some(last) = rows.last_mut()
        && caret == last.end
        && last.width >= place.room()
    {
        let own = Row { start: caret, end: caret, width: 0, next: last.next };
        last.next = Some(caret);
        rows.push(own);
    }
}

/// The column, behind the indent, of an offset on a row.
pub(super) fn column_of(text: &str, row: &Row, offset: usize, place: Place) -> usize {
    let (mut at, mut column) = (row.start, 0);
    while at < offset.min(row.end) {
        let cell = cell(text, at, column, place);
        // An offset inside what is shown as one stands before it.
        if cell.end > offset {
            break;
        }
        column += cell.width;
        at = cell.end;
    }
    column
}

/// The offset on a row that is nearest to a column, not to the right of it.
fn offset_of(text: &str, row: &Row, wanted: usize, place: Place) -> usize {
    let (mut at, mut column) = (row.start, 0);
    while at < row.end {
        let cell = cell(text, at, column, place);
        // The end of a broken row is the start of the next.
        if column + cell.width > wanted || (row.is_broken() && cell.end >= row.end) {
            break;
        }
        column += cell.width;
        at = cell.end;
    }
    at
}

/// Where the caret is one row up or down, as near as can be to the column `goal`; `None` where no row is.
pub(super) fn row_step(text: &str, caret: usize, place: Place, is_up: bool, goal: usize) -> Option<usize> {
    let near = Near::of(text, caret, place, 1);
    let at = if is_up { near.caret_row.checked_sub(1)? } else { near.caret_row + 1 };
    Some(offset_of(text, near.rows.get(at)?, goal, place))
}

/// The column, behind the indent, that the caret stands in.
pub(super) fn caret_column(text: &str, caret: usize, place: Place) -> usize {
    let near = Near::of(text, caret, place, 0);
    column_of(text, &near.rows[near.caret_row], caret, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, caret: usize, columns: usize, indent: usize) -> Vec<&str> {
        let near = Near::of(text, caret, Place { columns, indent }, 100);
        near.rows.iter().map(|row| &text[row.start..row.end]).collect()
    }

    #[test]
    fn rows_end_where_they_are_full() {
        let table: &[(&str, usize, usize, Vec<&str>)] = &[
            ("", 0, 5, vec![""]),
            ("abcde", 0, 5, vec!["abcde"]),
            ("abcde", 5, 5, vec!["abcde", ""]),
            ("abcdef", 5, 5, vec!["abcde", "f"]),
            ("abcde\nf", 5, 5, vec!["abcde", "", "f"]),
            ("abcde\nf", 6, 5, vec!["abcde", "f"]),
            ("a\n\nb\n", 0, 5, vec!["a", "", "b", ""]),
            ("日本語", 0, 5, vec!["日本", "語"]),
            ("a日本語", 0, 4, vec!["a日", "本語"]),
            ("日本", 0, 1, vec!["日", "本"]),
            ("a\tb", 0, 4, vec!["a\t", "b"]),
            ("a\u{1b}b", 0, 6, vec!["a", "\u{1b}", "b"]),
            ("👨‍👩‍👧🇯🇵e\u{301}", 0, 4, vec!["👨‍👩‍👧🇯🇵", "e\u{301}"]),
        ];
        for (text, caret, columns, expected) in table {
            assert_eq!(rows(text, *caret, *columns, 0), *expected, "{text:?} at {caret}");
        }
        assert_eq!(rows("abcdef", 0, 5, 2), ["abc", "def"]);
    }

    #[test]
    fn rows_of_a_long_line_stay_while_one_types() {
        let place = Place { columns: 80, indent: 2 };
        for unit in ["a", "日", "e\u{301}", "👨‍👩‍👧", "🇯🇵", "\t", "\u{1b}", "\u{200b}", "\u{301}"]
        {
            let mut text = unit.repeat((1 << 17) / unit.len());
            let mut starts = 0;
            let mut last = None;
            for _ in 0..50 {
                text.push('a');
                let near = Near::of(&text, text.len(), place, 5);
                assert_eq!(near.caret_row, near.rows.len() - 1, "{unit:?}");
                let start = near.rows.first().map(|row| row.start);
                starts += usize::from(start != last);
                last = start;
            }
            assert!(starts <= 2, "{unit:?}: {starts}");
        }
    }

    #[test]
    fn a_step_up_and_down_keeps_the_column_where_it_can() {
        let text = "abcdef\n日本語\n\nabcdefgh";
        let place = Place { columns: 20, indent: 2 };
        let caret = 5;
        assert_eq!(row_step(text, caret, place, true, 5), None);
        // Column five is inside the third wide character, so before it.
        assert_eq!(row_step(text, caret, place, false, 5), Some(7 + 6));
        assert_eq!(row_step(text, 7, place, false, 5), Some(17));
        assert_eq!(row_step(text, 17, place, false, 5), Some(18 + 5));
        assert_eq!(row_step(text, 18, place, false, 5), None);
    }
}
