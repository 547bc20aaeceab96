//! A table: drawn when its columns fit, else a list of `key: value`.

use std::borrow::Cow;

use pulldown_cmark::Alignment;

use super::inline::{Cell, Definitions, Rendered, render};
use super::starts::cells;
use crate::line::{Line, Span, Style, grapheme_width};
use crate::wrap::wrap;

/// Rows that are read before the widths of the columns are settled.
const ROWS_MAX: usize = 100;
/// Bytes of them.
const BYTES_MAX: usize = 8 << 10;
/// Columns of the terminal that a column has at least, if its cells need them.
const CELL_COLUMNS_MIN: usize = 6;
/// A word that is wider is broken rather than given room.
const WORD_COLUMNS_MAX: usize = 16;
/// Columns that a column has to spare for rows to come, beside half of its width.
const SPARE_COLUMNS: usize = 4;

/// A table on its way: the rows that are not shown yet, and what is settled.
#[derive(Debug, Clone)]
pub(super) struct Table {
    columns: usize,
    source: String,
    rows: usize,
    shape: Option<Shape>,
    rows_shown: usize,
}

/// What is settled once a part is shown.
#[derive(Debug, Clone)]
struct Shape {
    alignments: Vec<Alignment>,
    head: Vec<Cell>,
    /// The width of each column if there is room, and of its widest word.
    widths: Vec<(usize, usize)>,
    /// Whether lines stand between the rows, as some have several lines.
    is_parted: bool,
}

/// How a table is shown.
enum Layout {
    /// With lines around columns of these widths.
    Drawn(Vec<usize>),
    /// A list of keys and values.
    Pairs,
}

impl Table {
    pub(super) fn new(head: &str, delimiters: &str) -> Self {
        let columns = delimiters.trim().trim_matches('|').split('|').count();
        Self { columns, source: format!("{head}\n{delimiters}\n"), rows: 0, shape: None, rows_shown: 0 }
    }

    /// Whether a line with no bar could be a row.
    pub(super) const fn is_one_column(&self) -> bool {
        self.columns == 1
    }

    /// Takes a row; returns what is final of it.
    pub(super) fn row(&mut self, line: &str, room: usize, definitions: &Definitions) -> Vec<Line> {
        self.source.push_str(&fitted(line, self.columns));
        self.source.push('\n');
        self.rows += 1;
        let is_due = self.shape.is_some() || self.rows >= ROWS_MAX || self.source.len() >= BYTES_MAX;
        if is_due { self.flush(room, definitions, true) } else { vec![] }
    }

    /// What is left of it.
    pub(super) fn end(mut self, room: usize, definitions: &Definitions) -> Vec<Line> {
        let mut lines = self.flush(room, definitions, false);
        let Some(shape) = self.shape else { return lines };
        match shape.layout(room) {
            Layout::Drawn(widths) => {
                lines.push(border(&widths, ["└", "┴", "┘"]));
            }
            Layout::Pairs if self.rows_shown == 0 => lines.extend(shape.head.iter().flatten().map(bold)),
            Layout::Pairs => {}
        }
        lines
    }

    /// Shows the rows that were read.
    fn flush(&mut self, room: usize, definitions: &Definitions, goes_on: bool) -> Vec<Line> {
        let mut rendered = render(&self.source, definitions);
        let mut lines = vec![];
        if rendered.rows.is_empty() {
            self.source.clear();
            return rendered.lines;
        }
        let head = rendered.rows.remove(0);
        let shape = self.shape.get_or_insert_with(|| {
            let shape = Shape::of(head, &rendered, goes_on, room);
            if let Layout::Drawn(widths) = shape.layout(room) {
                lines.push(border(&widths, ["┌", "┬", "┐"]));
                lines.extend(shape.row(&shape.head, &widths, true));
            }
            shape
        });
        match shape.layout(room) {
            Layout::Drawn(widths) => {
                for row in &rendered.rows {
                    if self.rows_shown == 0 || shape.is_parted {
                        lines.push(border(&widths, ["├", "┼", "┤"]));
                    }
                    lines.extend(shape.row(row, &widths, false));
                    self.rows_shown += 1;
                }
            }
            Layout::Pairs => {
                for row in &rendered.rows {
                    if self.rows_shown > 0 {
                        lines.push(Line::new());
                    }
                    lines.extend(shape.pairs(row, room));
                    self.rows_shown += 1;
                }
            }
        }
        // The parser needs a head; what it says is shown already.
        self.source = format!("|{}\n|{}\n", "h|".repeat(self.columns), "-|".repeat(self.columns));
        self.rows = 0;
        lines
    }
}

impl Shape {
    fn of(head: Vec<Cell>, rendered: &Rendered, goes_on: bool, room: usize) -> Self {
        let mut widths = vec![(1, 1); head.len()];
        let mut is_parted = false;
        for row in std::iter::once(&head).chain(&rendered.rows) {
            for (cell, (full, word)) in row.iter().zip(&mut widths) {
                is_parted |= cell.len() > 1;
                *full = cell.iter().map(Line::width).fold(*full, usize::max);
                *word = cell.iter().map(widest_word).fold(*word, usize::max);
            }
        }
        let mut shape = Self { alignments: rendered.alignments.clone(), head, widths, is_parted };
        if let Layout::Drawn(drawn) = shape.layout(room) {
            shape.is_parted |= shape.widths.iter().zip(drawn).any(|((full, _), drawn)| *full > drawn);
        }
        if goes_on {
            // Rows to come may need more than those so far.
            shape.widths.iter_mut().for_each(|(full, _)| *full += *full / 2 + SPARE_COLUMNS);
        }
        shape
    }

    fn layout(&self, room: usize) -> Layout {
        let lines = 3 * self.widths.len() + 1;
        let Some(available) = room.checked_sub(lines) else { return Layout::Pairs };
        let floor_of = |word_max: usize| {
            let floor =
                |(full, word): &(usize, usize)| (*full).min(CELL_COLUMNS_MIN.max((*word).min(word_max)));
            self.widths.iter().map(floor).collect::<Vec<usize>>()
        };
        let floors = [floor_of(WORD_COLUMNS_MAX), floor_of(0)];
        match floors.into_iter().find(|floors| floors.iter().sum::<usize>() <= available) {
            Some(floors) => Layout::Drawn(self.shrunk(&floors, available)),
            None => Layout::Pairs,
        }
    }

    /// Widths that fill `available`, the widest columns shrunk first.
    fn shrunk(&self, floors: &[usize], available: usize) -> Vec<usize> {
        let at_most = |cap: usize| -> Vec<usize> {
            self.widths.iter().zip(floors).map(|((full, _), floor)| (*full).min(cap).max(*floor)).collect()
        };
        let is_fitting = |cap: usize| at_most(cap).iter().sum::<usize>() <= available;
        if is_fitting(usize::MAX) {
            return at_most(usize::MAX);
        }
        let (mut fits, mut too_wide) = (0, available + 1);
        while too_wide - fits > 1 {
            let cap = usize::midpoint(fits, too_wide);
            if is_fitting(cap) {
                fits = cap;
            } else {
                too_wide = cap;
            }
        }
        let mut widths = at_most(fits);
        let mut left = available - widths.iter().sum::<usize>();
        for (width, (full, _)) in widths.iter_mut().zip(&self.widths) {
            if left > 0 && *width < *full {
                *width += 1;
                left -= 1;
            }
        }
        widths
    }

    fn row(&self, row: &[Cell], widths: &[usize], is_head: bool) -> Vec<Line> {
        let cells: Vec<Vec<Line>> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| cell.iter().flat_map(|line| wrap(line, *width, 0)).collect())
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let empty = Line::new();
        (0..height)
            .map(|at| {
                let mut line = Line::new();
                for (column, width) in widths.iter().enumerate() {
                    let part = cells.get(column).and_then(|cell| cell.get(at)).unwrap_or(&empty);
                    let space = width.saturating_sub(part.width());
                    let before = match self.alignments.get(column) {
                        Some(Alignment::Right) => space,
                        Some(Alignment::Center) => space / 2,
                        Some(Alignment::Left | Alignment::None) | None => 0,
                    };
                    line.push(if column == 0 { "│ " } else { " │ " }, Style::DIM);
                    line.push(&" ".repeat(before), Style::PLAIN);
                    line.append(&if is_head { bold(part) } else { part.clone() });
                    line.push(&" ".repeat(space - before), Style::PLAIN);
                }
                line.push(" │", Style::DIM);
                line
            })
            .collect()
    }

    /// A row as a list, without the cells that are empty.
    fn pairs(&self, row: &[Cell], room: usize) -> Vec<Line> {
        let mut lines = vec![];
        for (head, cell) in self.head.iter().zip(row).filter(|(_, cell)| !cell.iter().all(Line::is_empty)) {
            let mut line = Line::new();
            for (at, part) in head.iter().filter(|part| !part.is_empty()).enumerate() {
                line.push(if at > 0 { " " } else { "" }, Style::PLAIN);
                line.append(&bold(part));
            }
            if !line.is_empty() {
                line.push(": ", Style::BOLD);
            }
            for part in cell {
                line.append(part);
                lines.extend(wrap(&line, room, 2));
                line = Line::new();
            }
        }
        lines
    }
}

/// A row with no more cells than the table has columns: the parser would leave the others out. A bar within
/// code is the code's; what is still too much belongs to the last cell.
fn fitted(row: &str, columns: usize) -> Cow<'_, str> {
    let row = row.trim();
    if cells(row).len() <= columns {
        return Cow::Borrowed(row);
    }
    let mut out = String::with_capacity(row.len() + 8);
    let has_code = row.bytes().filter(|byte| *byte == b'`').count() % 2 == 0;
    let (mut is_code, mut is_escaped, mut bars) = (false, false, usize::from(!row.starts_with('|')));
    for (at, c) in row.char_indices() {
        is_code ^= c == '`' && has_code;
        if c == '|' && !is_escaped {
            let is_last = at + 1 == row.len();
            if is_code || (bars >= columns && !is_last) {
                out.push('\\');
            } else {
                bars += 1;
            }
        }
        is_escaped = c == '\\' && !is_escaped;
        out.push(c);
    }
    Cow::Owned(out)
}

fn border(widths: &[usize], [left, middle, right]: [&str; 3]) -> Line {
    let bars: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
    Line::styled(&format!("{left}{}{right}", bars.join(middle)), Style::DIM)
}

fn bold(line: &Line) -> Line {
    let mut out = Line::new();
    let mut add = |span: &Span| out.push(span.text(), span.style().bold());
    line.spans().iter().for_each(&mut add);
    out
}

/// The width of the widest part that breaks nowhere.
fn widest_word(line: &Line) -> usize {
    let (mut widest, mut word) = (0, 0);
    let mut buffer = [0; 4];
    for c in line.spans().iter().flat_map(|span| span.text().chars()) {
        let width = grapheme_width(c.encode_utf8(&mut buffer));
        word = if c == ' ' || width > 1 { 0 } else { word + width };
        widest = widest.max(word).max(width);
    }
    widest
}
