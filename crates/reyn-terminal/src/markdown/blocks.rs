//! The structure of Markdown, line by line, so that every block is shown as soon as it is whole.
//!
//! The rules are those of `CommonMark`, with these readings: HTML is text, a line end within a paragraph is kept, blank
//! lines are shown where the source has them, and a table may follow a paragraph at once.

mod rows;

use std::borrow::Cow;
use std::sync::Arc;

use super::cjk;
use super::cursor::Cursor;
use super::frame::{Container, Frame, Item};
use super::inline::{Definitions, render};
use super::starts::{CODE_COLUMNS, FenceMark, HtmlEnd, ItemMark, Start, is_table, is_underline, start};
use super::table::Table;
use super::unfinished::closed;
use crate::highlight::Highlighter;
use crate::line::{Line, Style};

/// Bytes of a paragraph above which what is there is shown.
const PARAGRAPH_BYTES_MAX: usize = 8 << 10;
/// Lists and quotes within each other; deeper ones are text.
const DEPTH_MAX: usize = 24;
/// Columns of a rule.
const RULE_COLUMNS_MAX: usize = 40;
/// Blank lines within indented code.
const BLANK_LINES_MAX: usize = 64;

/// What is open after a line, and what was shown before.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    columns: usize,
    containers: Vec<Container>,
    leaf: Leaf,
    /// A blank line that stands before the next block, in so many of the containers.
    gap: Option<usize>,
    has_output: bool,
    definitions: Arc<Definitions>,
    text: Text,
}

/// How what is read goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    /// As far as is known, it is as it will be.
    Certain,
    /// Its last line may go on; only a look is taken at it.
    LastLine,
    /// So may its last block.
    LastBlock,
}

/// The block that the next line may go on with.
#[derive(Debug, Clone)]
enum Leaf {
    None,
    Paragraph {
        source: String,
        /// Whether it is text however it begins, as a part of it is shown already.
        is_rest: bool,
    },
    Fence {
        mark: FenceMark,
        code: Highlighter,
    },
    Indented {
        blank_lines: usize,
    },
    Html(HtmlEnd),
    Table(Table),
}

impl Blocks {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(1),
            containers: vec![],
            leaf: Leaf::None,
            gap: None,
            has_output: false,
            definitions: Arc::default(),
            text: Text::Certain,
        }
    }

    pub(super) fn set_columns(&mut self, columns: usize) {
        self.columns = columns.max(1);
    }

    /// Takes a whole line, or the first part of one that is too long.
    pub(super) fn line(&mut self, line: &str, out: &mut Vec<Line>) {
        let mut cursor = Cursor::new(line);
        let matched = self.matched(&mut cursor);
        let is_whole = matched == self.containers.len();
        if is_whole && self.is_continued_verbatim(&cursor, out) {
            return;
        }
        if cursor.is_blank() {
            self.close_to(matched, out);
            self.gap = Some(self.gap.map_or(matched, |gap| gap.min(matched)));
            return;
        }
        let is_in_paragraph = matches!(self.leaf, Leaf::Paragraph { .. });
        if is_whole && is_in_paragraph && cursor.indent() < CODE_COLUMNS && self.underline(&cursor, out) {
            return;
        }
        let mut depth = matched;
        loop {
            let is_interrupting = depth == matched && is_in_paragraph;
            if cursor.indent() >= CODE_COLUMNS {
                if !is_interrupting {
                    return self.indented(depth, &mut cursor, out);
                }
                break;
            }
            match start(&cursor, is_interrupting && is_whole) {
                Some(Start::Quote) if depth < DEPTH_MAX => {
                    self.open(depth, Container::Quote, out);
                    skip_quote_mark(&mut cursor);
                }
                Some(Start::Item(mark)) if depth < DEPTH_MAX => {
                    let item = self.item(depth, mark, &mut cursor);
                    self.open(depth, Container::Item(item), out);
                }
                Some(Start::Quote | Start::Item(_)) | None => break,
                Some(leaf) => return self.leaf(depth, leaf, &cursor, out),
            }
            depth += 1;
            if cursor.is_blank() {
                return;
            }
        }
        if depth == matched && !is_whole {
            if let Leaf::Paragraph { source, .. } = &mut self.leaf {
                // Where it does not stand in the containers, it cannot underline what does.
                add_line(source, &cursor, is_underline(&cursor));
                return self.bound(out);
            }
            self.close_to(depth, out);
        }
        self.text(&cursor, out);
    }

    /// Takes more of a line of which a part was taken.
    pub(super) fn more(&mut self, text: &str, out: &mut Vec<Line>) {
        if text.is_empty() {
            return;
        }
        match &mut self.leaf {
            Leaf::Fence { code, .. } => {
                let line = code.line(text);
                self.code(&line, out);
            }
            Leaf::Indented { .. } => self.code(&Line::plain(text), out),
            Leaf::Html(_) => self.put(&[Line::plain(text.trim_end_matches([' ', '\t']))], out),
            Leaf::Paragraph { source, .. } => {
                source.push_str(if source.is_empty() { text.trim_start() } else { text });
                self.bound(out);
            }
            Leaf::None | Leaf::Table(_) => {
                self.close_leaf(out);
                self.leaf = Leaf::Paragraph { source: text.to_owned(), is_rest: true };
                self.bound(out);
            }
        }
    }

    /// Takes a look at how it would go on with a line that has not ended.
    pub(super) fn glance(&mut self, line: &str, is_cut: bool, out: &mut Vec<Line>) {
        self.text = Text::LastLine;
        if is_cut {
            self.more(line, out);
        } else if !line.is_empty() {
            self.line(line, out);
        }
        self.text = Text::LastBlock;
        self.finish(out);
    }

    /// Ends all that is open.
    pub(super) fn finish(&mut self, out: &mut Vec<Line>) {
        self.close_to(0, out);
    }

    /// How many containers a line goes on with. Their marks are skipped.
    fn matched(&mut self, cursor: &mut Cursor<'_>) -> usize {
        for (at, container) in self.containers.iter_mut().enumerate() {
            match container {
                Container::Quote if cursor.indent() < CODE_COLUMNS && cursor.body().starts_with('>') => {
                    skip_quote_mark(cursor);
                }
                Container::Item(item) if cursor.is_blank() => item.is_barren = !item.has_content,
                Container::Item(item) if cursor.indent() >= item.indent && !item.is_barren => {
                    cursor.skip_columns(item.indent)
                }
                Container::Quote | Container::Item(_) => return at,
            }
        }
        self.containers.len()
    }

    /// Gives a line to code or HTML that goes on, and says whether one did.
    fn is_continued_verbatim(&mut self, cursor: &Cursor<'_>, out: &mut Vec<Line>) -> bool {
        let mut cursor = *cursor;
        match &mut self.leaf {
            Leaf::Fence { mark, .. } if mark.is_closed_by(&cursor) => {
                self.close_leaf(out);
                self.leaf = Leaf::None;
            }
            Leaf::Fence { mark, code } => {
                cursor.skip_columns(mark.indent);
                let line = code.line(cursor.text().trim_end_matches([' ', '\t']));
                self.code(&line, out);
            }
            Leaf::Indented { blank_lines } if cursor.is_blank() => {
                *blank_lines = (*blank_lines + 1).min(BLANK_LINES_MAX);
            }
            Leaf::Indented { blank_lines } if cursor.indent() >= CODE_COLUMNS => {
                for _ in 0..std::mem::take(blank_lines) {
                    self.code(&Line::new(), out);
                }
                self.indented_line(&mut cursor, out);
            }
            Leaf::Html(HtmlEnd::BlankLine) if cursor.is_blank() => return false,
            Leaf::Html(end) => {
                let end = *end;
                self.html_line(end, &cursor, out);
            }
            Leaf::None | Leaf::Paragraph { .. } | Leaf::Indented { .. } | Leaf::Table(_) => return false,
        }
        true
    }

    /// Makes the paragraph a heading if the line underlines it.
    fn underline(&mut self, cursor: &Cursor<'_>, out: &mut Vec<Line>) -> bool {
        let Leaf::Paragraph { source, .. } = &mut self.leaf else { return false };
        if source.is_empty() || !is_underline(cursor) {
            return false;
        }
        source.push('\n');
        source.push_str(cursor.body());
        self.close_leaf(out);
        true
    }

    /// Opens a container as the last of `depth` others; those that were open there are closed.
    fn open(&mut self, depth: usize, container: Container, out: &mut Vec<Line>) {
        self.close_to(depth, out);
        self.fill();
        self.containers.push(container);
    }

    /// The item that begins at the cursor, which is moved to its text.
    fn item(&self, depth: usize, mark: ItemMark, cursor: &mut Cursor<'_>) -> Item {
        let before = cursor.indent();
        cursor.skip_mark(mark.bytes);
        let spaces = cursor.indent();
        let spaces = if cursor.is_blank() || spaces > CODE_COLUMNS { 1 } else { spaces };
        cursor.skip_columns(spaces);
        let number = match self.containers.get(depth) {
            Some(Container::Item(last)) if last.kind == mark.kind => last.number.saturating_add(1),
            Some(Container::Item(_) | Container::Quote) | None => mark.number,
        };
        Item {
            kind: mark.kind,
            number,
            indent: before + mark.bytes + spaces,
            task: None,
            has_content: false,
            is_barren: false,
            is_shown: false,
        }
    }

    /// Begins a block that is no container.
    fn leaf(&mut self, depth: usize, leaf: Start, cursor: &Cursor<'_>, out: &mut Vec<Line>) {
        self.close_to(depth, out);
        self.fill();
        match leaf {
            Start::Heading => {
                let source = cursor.body();
                let source = if self.text == Text::Certain { Cow::Borrowed(source) } else { closed(source) };
                let lines = render(&source, &self.definitions).lines;
                self.put(&lines, out);
            }
            Start::Rule => {
                let room = self.frame().room;
                self.put(&[Line::styled(&"─".repeat(room.min(RULE_COLUMNS_MAX)), Style::DIM)], out);
            }
            Start::Fence(mark) => {
                let code = Highlighter::new(&mark.language);
                self.leaf = Leaf::Fence { mark, code };
            }
            Start::Html(end) => {
                self.leaf = Leaf::Html(end);
                self.html_line(end, cursor, out);
            }
            Start::Quote | Start::Item(_) => {}
        }
    }

    fn html_line(&mut self, end: HtmlEnd, cursor: &Cursor<'_>, out: &mut Vec<Line>) {
        let text = cursor.text();
        if cursor.is_blank() {
            self.gap = Some(self.containers.len());
        } else {
            self.put(&[Line::plain(text.trim_end_matches([' ', '\t']))], out);
        }
        if end.is_on(&text) {
            self.leaf = Leaf::None;
        }
    }

    fn indented(&mut self, depth: usize, cursor: &mut Cursor<'_>, out: &mut Vec<Line>) {
        self.close_to(depth, out);
        self.fill();
        self.leaf = Leaf::Indented { blank_lines: 0 };
        self.indented_line(cursor, out);
    }

    fn indented_line(&mut self, cursor: &mut Cursor<'_>, out: &mut Vec<Line>) {
        cursor.skip_columns(CODE_COLUMNS);
        self.code(&Line::plain(cursor.text().trim_end_matches([' ', '\t'])), out);
    }

    /// Gives a line of text to the paragraph or the table that is open, or begins a paragraph.
    fn text(&mut self, cursor: &Cursor<'_>, out: &mut Vec<Line>) {
        match &mut self.leaf {
            Leaf::Paragraph { source, .. } => {
                let head = source.rfind('\n').map_or(0, |at| at + 1);
                if is_table(&source[head..], cursor.body()) {
                    let head = source.split_off(head);
                    self.close_leaf(out);
                    self.fill();
                    self.leaf = Leaf::Table(Table::new(head.trim(), cursor.body()));
                } else {
                    add_line(source, cursor, false);
                    self.bound(out);
                }
            }
            Leaf::Table(table) if table.is_one_column() || cursor.body().contains('|') => {
                let room = Frame::of(&self.containers, self.columns).room;
                let lines = table.row(cursor.body(), room, &self.definitions);
                self.put(&lines, out);
            }
            Leaf::None | Leaf::Fence { .. } | Leaf::Indented { .. } | Leaf::Html(_) | Leaf::Table(_) => {
                self.close_leaf(out);
                let text = self.task(cursor.body());
                self.fill();
                // Too deep for a list or a quote, it may look like one.
                let is_rest = self.containers.len() >= DEPTH_MAX;
                self.leaf = Leaf::Paragraph { source: text.to_owned(), is_rest };
                self.bound(out);
            }
        }
    }

    /// Takes the box of a task off the first text of an item.
    fn task<'a>(&mut self, text: &'a str) -> &'a str {
        let Some(Container::Item(item)) = self.containers.last_mut() else { return text };
        let is_done = match text.get(..4) {
            Some("[ ] ") => false,
            Some("[x] " | "[X] ") => true,
            Some(_) | None => return text,
        };
        if item.has_content || text[4..].trim().is_empty() {
            return text;
        }
        item.task = Some(is_done);
        text[4..].trim_start()
    }

    /// Notes that something stands in the containers.
    fn fill(&mut self) {
        for container in &mut self.containers {
            if let Container::Item(item) = container {
                item.has_content = true;
            }
        }
    }

    /// Shows what is there of a paragraph that grows too long.
    fn bound(&mut self, out: &mut Vec<Line>) {
        if matches!(&self.leaf, Leaf::Paragraph { source, .. } if source.len() >= PARAGRAPH_BYTES_MAX) {
            self.close_leaf(out);
            self.leaf = Leaf::Paragraph { source: String::new(), is_rest: true };
        }
    }

    /// Ends the block that is open, then the containers behind the first `depth`.
    fn close_to(&mut self, depth: usize, out: &mut Vec<Line>) {
        self.close_leaf(out);
        while self.containers.len() > depth {
            if matches!(self.containers.last(), Some(Container::Item(item)) if !item.is_shown) {
                self.put(&[Line::new()], out);
            }
            self.containers.pop();
        }
        self.gap = self.gap.map(|gap| gap.min(depth));
    }

    fn close_leaf(&mut self, out: &mut Vec<Line>) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::Paragraph { mut source, is_rest } => {
                if self.text == Text::LastBlock {
                    source = closed(&source).into_owned();
                }
                if is_rest && !source.trim().is_empty() {
                    // Only the beginning of a block can look like a list or a heading.
                    source.insert(0, cjk::TEXT_MARK);
                }
                let rendered = render(&source, &self.definitions);
                if !rendered.definitions.is_empty() {
                    Arc::make_mut(&mut self.definitions).add(rendered.definitions);
                }
                self.put(&rendered.lines, out);
            }
            Leaf::Table(table) => {
                let lines = table.end(self.frame().room, &self.definitions);
                self.put(&lines, out);
            }
            Leaf::Indented { blank_lines } if blank_lines > 0 => self.gap = Some(self.containers.len()),
            Leaf::None | Leaf::Fence { .. } | Leaf::Indented { .. } | Leaf::Html(_) => {}
        }
    }
}

/// Adds a line to a paragraph. One that would begin a block, were it not where it is, is marked as text.
fn add_line(source: &mut String, cursor: &Cursor<'_>, is_marked: bool) {
    if !source.is_empty() {
        source.push('\n');
    }
    if is_marked || cursor.indent() >= CODE_COLUMNS {
        source.push(cjk::TEXT_MARK);
    }
    source.push_str(cursor.body());
}

fn skip_quote_mark(cursor: &mut Cursor<'_>) {
    cursor.skip_mark(1);
    cursor.skip_columns(1);
}
