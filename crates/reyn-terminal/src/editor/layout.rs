//! What of a text is shown, and where its caret is.

use std::ops::Range;

use super::rows::{Near, Place, Row, cell, column_of};
use crate::{Line, Style};

/// Columns that are left for the text beside a prompt; a prompt that leaves fewer is not shown.
const TEXT_COLUMNS_MIN: usize = 4;

/// What an editor shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The prompt and the text; never empty.
    pub rows: Vec<Line>,
    /// The row and the column of the caret, both counted from zero. The column is that of the terminal, and always
    /// one that it has.
    pub caret: (usize, usize),
    /// Shown below the rows: completions, and what the person must know.
    pub menu: Vec<Line>,
}

/// A text to be laid out.
pub(super) struct Shown<'a> {
    pub(super) prompt: &'a Line,
    pub(super) text: &'a str,
    pub(super) caret: usize,
    /// What stands out.
    pub(super) bold: Range<usize>,
}

/// Where the text stands beside a prompt, and whether the prompt is shown.
pub(super) fn place(prompt: &Line, columns: usize) -> Place {
    let columns = columns.max(1);
    let indent = prompt.width();
    Place { columns, indent: if indent + TEXT_COLUMNS_MIN <= columns { indent } else { 0 } }
}

/// The rows of a text around its caret, at most `rows_max` and at least one, where the caret is on them, and which
/// offset the first row of text begins at. `top` is that offset as it was last, so that the text moves only when the
/// caret leaves what is shown.
pub(super) fn lay_out(
    shown: &Shown<'_>,
    columns: usize,
    rows_max: usize,
    top: usize,
) -> (Vec<Line>, (usize, usize), usize) {
    let place = place(shown.prompt, columns);
    let near = Near::of(shown.text, shown.caret, place, rows_max);
    let window = Window::choose(&near, rows_max.max(1), top);
    let mut rows = vec![];
    if window.is_cut_above {
        let lines = line_ends(&shown.text[..near.rows[window.rows.start].start]);
        rows.push(marker(lines, "above", place));
    }
    let first_row = rows.len();
    for row in &near.rows[window.rows.clone()] {
        rows.push(draw(shown, row, place));
    }
    if window.is_cut_below {
        let lines = line_ends(&shown.text[near.rows[window.rows.end - 1].end..]);
        rows.push(marker(lines, "below", place));
    }
    let row = &near.rows[near.caret_row];
    let column = place.indent + column_of(shown.text, row, shown.caret, place);
    let caret = (first_row + near.caret_row - window.rows.start, column.min(place.columns - 1));
    (rows, caret, near.rows[window.rows.start].start)
}

/// Which rows are shown.
struct Window {
    rows: Range<usize>,
    /// Whether a row says that there is text above, or below.
    is_cut_above: bool,
    is_cut_below: bool,
}

impl Window {
    fn choose(near: &Near, rows_max: usize, top: usize) -> Self {
        let count = near.rows.len();
        let (before, after) = (near.has_more_before(), near.has_more_after());
        if !before && !after && count <= rows_max {
            return Self { rows: 0..count, is_cut_above: false, is_cut_below: false };
        }
        let last_top = near.rows.partition_point(|row| row.start < top);
        let caret = near.caret_row;
        let from = |inner: usize| last_top.clamp((caret + 1).saturating_sub(inner), caret);
        if rows_max < 3 {
            let start = from(rows_max);
            let end = count.min(start + rows_max);
            return Self { rows: start..end, is_cut_above: false, is_cut_below: false };
        }
        let inner = rows_max - 2;
        let start = from(inner);
        let end = count.min(start + inner);
        let is_cut_above = start > 0 || before;
        let is_cut_below = end < count || after;
        // A row that says nothing is one more row of text.
        match (is_cut_above, is_cut_below) {
            (false, true) => {
                Self { rows: 0..count.min(inner + 1), is_cut_above, is_cut_below: inner + 1 < count || after }
            }
            (true, false) => {
                Self { rows: count.saturating_sub(inner + 1)..count, is_cut_above, is_cut_below }
            }
            (true, true) | (false, false) => Self { rows: start..end, is_cut_above, is_cut_below },
        }
    }
}

fn draw(shown: &Shown<'_>, row: &Row, place: Place) -> Line {
    let mut line = Line::new();
    if place.indent > 0 {
        if row.start == 0 {
            line.append(shown.prompt);
        } else {
            line.push(&" ".repeat(place.indent), Style::PLAIN);
        }
    }
    let (mut at, mut used) = (row.start, 0);
    // Cells of one style are one text: a long row is a few spans.
    let (mut run, mut style) = (String::new(), Style::PLAIN);
    while at < row.end {
        let cell = cell(shown.text, at, used, place);
        let own = match (cell.is_written_out, shown.bold.contains(&at)) {
            (true, _) => Style::DIM,
            (false, true) => Style::BOLD,
            (false, false) => Style::PLAIN,
        };
        if own != style {
            line.push(&run, style);
            run.clear();
            style = own;
        }
        run.push_str(&cell.shown);
        used += cell.width;
        at = cell.end;
    }
    line.push(&run, style);
    line
}

fn line_ends(text: &str) -> usize {
    // Counts in bytes, so many at a time that none overflows: a whole text is counted on every key.
    let count = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    text.as_bytes().chunks(usize::from(u8::MAX)).map(|piece| usize::from(count(piece))).sum()
}

/// A row that says how much is not shown.
fn marker(lines: usize, side: &str, place: Place) -> Line {
    let words = match lines {
        0 => format!("… more {side}"),
        1 => format!("… 1 line {side}"),
        _ => format!("… {} lines {side}", grouped(lines)),
    };
    let mut line = Line::plain(&" ".repeat(place.indent));
    line.append(&fitted(&words, place.columns - place.indent, Style::DIM));
    line
}

/// A number with a comma between groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The beginning of a text that fits into `columns`, on one line, with `…` where it is cut.
pub(super) fn fitted(text: &str, columns: usize, style: Style) -> Line {
    let place = Place { columns: columns.max(1), indent: 0 };
    let (mut at, mut width, mut cut) = (0, 0, 0);
    while at < text.len() {
        if text.as_bytes()[at] == b'\n' {
            break;
        }
        let cell = cell(text, at, width, place);
        if width + cell.width > columns {
            break;
        }
        width += cell.width;
        at = cell.end;
        if width < columns {
            cut = at;
        }
    }
    let mut line = Line::new();
    let (end, mark) = if at == text.len() { (at, "") } else { (cut, "…") };
    let mut used = 0;
    let mut at = 0;
    while at < end {
        let cell = cell(text, at, used, place);
        line.push(&cell.shown, style);
        used += cell.width;
        at = cell.end;
    }
    if columns > 0 {
        line.push(mark, style);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_is_said() {
        let text = (1..=2000).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        let shown = |caret: usize, rows_max: usize| {
            let shown = Shown { prompt: &Line::plain("> "), text: &text, caret, bold: 0..0 };
            let (rows, caret, _) = lay_out(&shown, 40, rows_max, 0);
            (rows.iter().map(Line::text).collect::<Vec<_>>(), caret)
        };
        let rows = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
        assert_eq!(shown(0, 4), (rows(&["> 1", "  2", "  3", "  … 1,997 lines below"]), (0, 2)));
        let end = rows(&["  … 1,997 lines above", "  1998", "  1999", "  2000"]);
        assert_eq!(shown(text.len(), 4), (end, (3, 6)));
        let middle = text.find("1001").unwrap();
        let around = rows(&["  … 999 lines above", "  1000", "  1001", "  … 999 lines below"]);
        assert_eq!(shown(middle, 4), (around, (2, 2)));
        assert_eq!(shown(middle, 1), (rows(&["  1001"]), (0, 2)));
        assert_eq!(shown(middle, 2), (rows(&["  1000", "  1001"]), (1, 2)));
    }

    #[test]
    fn a_long_line_is_shown_around_the_caret() {
        let text = "日".repeat(1 << 19);
        let shown =
            Shown { prompt: &Line::plain("> "), text: &text, caret: text.len() / 2 / 3 * 3, bold: 0..0 };
        let (rows, caret, _) = lay_out(&shown, 22, 3, 0);
        assert_eq!(rows[0].text(), "  … more above");
        assert_eq!(rows[1].width(), 22);
        assert_eq!(rows[2].text(), "  … more below");
        assert_eq!(caret.0, 1);
    }

    #[test]
    fn a_text_is_cut_to_its_columns() {
        for (text, columns, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("a\nb", 5, "a…"),
            ("abc", 0, ""),
            ("日", 1, "?"),
        ] {
            assert_eq!(fitted(text, columns, Style::PLAIN).text(), expected, "{text:?} in {columns}");
        }
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, expected) in [(1, "1"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
    }
}
