//! Breaking a line where it is too wide.

use unicode_segmentation::UnicodeSegmentation;

use crate::line::{Line, Style, grapheme_width};

/// Characters that no row begins with: closing marks, and small kana that belong to the one before.
const NEVER_FIRST: &str =
    "、。，．・：；？！）］｝〕〉》」』】’”ー々ゝヽぁぃぅぇぉっゃゅょァィゥェォッャュョ),.!?:;]}%";
/// Characters that no row ends with: opening marks.
const NEVER_LAST: &str = "（［｛〔〈《「『【‘“([{";
/// How many graphemes are looked back for a better place to break.
const LOOK_BACK_MAX: usize = 60;

/// A grapheme on its way into a row.
struct Cell<'a> {
    text: &'a str,
    style: Style,
    width: usize,
}

/// Breaks a line into rows of at most `columns`, at spaces and between wide characters where it can, never
/// before a closing mark. Rows after the first begin with `indent` spaces. A line that fits is one row.
#[must_use]
pub fn wrap(line: &Line, columns: usize, indent: usize) -> Vec<Line> {
    let columns = columns.max(2);
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let indent = if indent + 8 > columns { 0 } else { indent };
    let cells: Vec<Cell<'_>> = line
        .spans()
        .iter()
        .flat_map(|span| {
            let style = span.style();
            span.text().graphemes(true).map(move |text| Cell { text, style, width: grapheme_width(text) })
        })
        .collect();
    let mut rows = vec![];
    let mut start = 0;
    while start < cells.len() {
        let room = if rows.is_empty() { columns } else { columns - indent };
        let full = fitting(&cells[start..], room) + start;
        let end = if full == cells.len() { full } else { best_break(&cells, start, full) };
        let mut row = Line::new();
        if !rows.is_empty() {
            row.push(&" ".repeat(indent), Style::PLAIN);
        }
        let is_end = end == cells.len();
        // A space at the end of a row is not seen and would push the row over its width.
        let shown = (start..end).rev().find(|at| is_end || cells[*at].text != " ").map_or(start, |at| at + 1);
        for cell in &cells[start..shown] {
            row.push(cell.text, cell.style);
        }
        rows.push(row);
        start = end;
        while start < cells.len() && cells[start].text == " " {
            start += 1;
        }
    }
    rows
}

/// How many cells fit into `room` columns, at least one.
fn fitting(cells: &[Cell<'_>], room: usize) -> usize {
    let mut taken = 0;
    for (at, cell) in cells.iter().enumerate() {
        taken += cell.width;
        if taken > room {
            return at.max(1);
        }
    }
    cells.len()
}

/// Where to break a row that could hold the cells up to `full`.
fn best_break(cells: &[Cell<'_>], start: usize, full: usize) -> usize {
    let earliest = (start + 1).max(full.saturating_sub(LOOK_BACK_MAX));
    (earliest..=full).rev().find(|at| may_break(&cells[*at - 1], &cells[*at])).unwrap_or(full)
}

/// Whether a row may end between two cells.
fn may_break(before: &Cell<'_>, after: &Cell<'_>) -> bool {
    if before.text == " " || after.text == " " {
        return true;
    }
    let is_wide = before.width == 2 || after.width == 2;
    is_wide && !NEVER_FIRST.contains(after.text) && !NEVER_LAST.contains(before.text)
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
            ("いう「引用」は", 6, 0, vec!["いう", "「引", "用」は"]),
            ("abcdefghijklmno", 10, 0, vec!["abcdefghij", "klmno"]),
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
