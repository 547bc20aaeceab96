//! Breaking a line where it is too wide.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::line::{Line, Span, Style, grapheme_width};

/// Characters that no row begins with: closing marks, and small kana that belong to the one before.
const NEVER_FIRST: &str = "、。，．・：；？！）］｝〕〉》」』】’”ー々ゝヽぁぃぅぇぉっゃゅょァィゥェォッャュョ…‥〜～〟゛゜％｡､｣ｰﾞﾟ),.!?:;]}%";
/// Characters that no row ends with: opening marks.
const NEVER_LAST: &str = "（［｛〔〈《「『【‘“〝｢([{";
/// How many graphemes are looked back for a better place to break.
const LOOK_BACK_MAX: usize = 60;

/// A grapheme on its way into a row: where it stands in which span, and its columns.
struct Cell {
    span: usize,
    start: usize,
    end: usize,
    width: usize,
}

/// Where a row may end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Between words and between wide characters.
    Words,
    /// Where the row is full.
    Full,
}

/// Breaks a line into rows of at most `columns`, at spaces and between wide characters where it can, never
/// before a closing mark. Rows after the first begin with `indent` spaces. A line that fits is one row. Only
/// a character that is wider than `columns` makes a row that is too wide.
#[must_use]
pub fn wrap(line: &Line, columns: usize, indent: usize) -> Vec<Line> {
    rows(line, columns, indent, Ends::Words)
}

/// Breaks a line into rows of exactly `columns` where it can, and takes nothing away.
pub(crate) fn chop(line: &Line, columns: usize) -> Vec<Line> {
    rows(line, columns, 0, Ends::Full)
}

fn rows(line: &Line, columns: usize, indent: usize, ends: Ends) -> Vec<Line> {
    let columns = columns.max(1);
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let indent = if indent + 8 > columns { 0 } else { indent };
    let text = Cells::of(line);
    let mut rows = vec![];
    let mut start = 0;
    while start < text.cells.len() {
        let room = if rows.is_empty() { columns } else { columns - indent };
        let full = text.fitting(start, room);
        let end = match ends {
            Ends::Words if full < text.cells.len() => text.best_break(start, full),
            Ends::Words | Ends::Full => full,
        };
        // A space at the end of a row is not seen and would push the row over its width.
        let is_trimmed = ends == Ends::Words && end < text.cells.len();
        let shown =
            (start..end).rev().find(|at| !is_trimmed || !text.is_space(*at)).map_or(start, |at| at + 1);
        let mut row = Line::new();
        if !rows.is_empty() {
            row.push(&" ".repeat(indent), Style::PLAIN);
        }
        text.write(start..shown, &mut row);
        rows.push(row);
        start = end;
        while ends == Ends::Words && start < text.cells.len() && text.is_space(start) {
            start += 1;
        }
    }
    rows
}

/// A line in graphemes.
struct Cells<'a> {
    spans: &'a [Span],
    cells: Vec<Cell>,
}

impl<'a> Cells<'a> {
    fn of(line: &'a Line) -> Self {
        let spans = line.spans();
        let mut cells = Vec::with_capacity(line.width());
        for (span, of) in spans.iter().enumerate() {
            if of.text().is_ascii() {
                cells.extend((0..of.text().len()).map(|start| Cell {
                    span,
                    start,
                    end: start + 1,
                    width: 1,
                }));
            } else {
                cells.extend(of.text().grapheme_indices(true).map(|(start, text)| Cell {
                    span,
                    start,
                    end: start + text.len(),
                    width: grapheme_width(text),
                }));
            }
        }
        Self { spans, cells }
    }

    fn text(&self, at: usize) -> &'a str {
        let Cell { span, start, end, .. } = self.cells[at];
        &self.spans[span].text()[start..end]
    }

    fn is_space(&self, at: usize) -> bool {
        self.text(at) == " "
    }

    /// The end of the cells from `start` that fit into `room` columns, at least one.
    fn fitting(&self, start: usize, room: usize) -> usize {
        let mut taken = 0;
        for (at, cell) in self.cells.iter().enumerate().skip(start) {
            taken += cell.width;
            if taken > room {
                return at.max(start + 1);
            }
        }
        self.cells.len()
    }

    /// Where to break a row that could hold the cells up to `full`.
    fn best_break(&self, start: usize, full: usize) -> usize {
        let earliest = (start + 1).max(full.saturating_sub(LOOK_BACK_MAX));
        (earliest..=full).rev().find(|at| self.may_break(*at)).unwrap_or(full)
    }

    /// Whether a row may end before a cell.
    fn may_break(&self, at: usize) -> bool {
        if self.is_space(at - 1) || self.is_space(at) {
            return true;
        }
        let is_wide = self.cells[at - 1].width == 2 || self.cells[at].width == 2;
        is_wide && !NEVER_FIRST.contains(self.text(at)) && !NEVER_LAST.contains(self.text(at - 1))
    }

    /// Writes cells, those of a span together.
    fn write(&self, cells: Range<usize>, row: &mut Line) {
        for of_span in self.cells[cells].chunk_by(|one, next| one.span == next.span) {
            let (first, last) = (&of_span[0], &of_span[of_span.len() - 1]);
            let span = &self.spans[first.span];
            let width = of_span.iter().map(|cell| cell.width).sum();
            row.push_fitting(&span.text()[first.start..last.end], width, span.style());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, columns: usize, indent: usize) -> Vec<String> {
        wrap(&Line::plain(text), columns, indent).iter().map(Line::text).collect()
    }

    #[test]
    fn rows_break_at_spaces_and_between_wide_characters() {
        let table = [
            ("the quick brown fox", 10, 0, vec!["the quick", "brown fox"]),
            ("the quick brown fox", 10, 2, vec!["the quick", "  brown", "  fox"]),
            ("日本語の文章です。終わり", 10, 0, vec!["日本語の文", "章です。終", "わり"]),
            ("日本語の文章。次", 12, 0, vec!["日本語の文", "章。次"]),
            ("日本語です……次", 10, 0, vec!["日本語で", "す……次"]),
            ("いう「引用」は", 6, 0, vec!["いう", "「引", "用」は"]),
            ("abcdefghijklmno", 10, 0, vec!["abcdefghij", "klmno"]),
            ("abc de", 1, 0, vec!["a", "b", "c", "d", "e"]),
            ("日a", 1, 0, vec!["日", "a"]),
            ("short", 10, 4, vec!["short"]),
            ("", 10, 0, vec![""]),
        ];
        for (text, columns, indent, expected) in table {
            assert_eq!(rows(text, columns, indent), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_nothing_but_spaces_is_lost(
            text in "[ a-z日本、。「」\u{1f600}é]{0,80}", columns in 2_usize..20,
        ) {
            let rows = rows(&text, columns, 0);
            for row in &rows {
                prop_assert!(crate::cell_width(row) <= columns, "{row:?}");
            }
            let without_spaces = |text: &str| text.replace(' ', "");
            prop_assert_eq!(without_spaces(&rows.concat()), without_spaces(&text));
        }
    }
}
