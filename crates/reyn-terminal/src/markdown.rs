//! A model's Markdown, shown while it streams.
//!
//! Lines are final as soon as no text to come could change them: a line of code when it ends, a paragraph or a table
//! when what follows it begins. Where the text is cut into pieces changes nothing. Cost is linear in the text, and
//! what is kept is bounded whatever the text is.

mod blocks;
mod cjk;
mod cursor;
mod frame;
mod inline;
mod starts;
mod table;
mod unfinished;

use unicode_segmentation::UnicodeSegmentation;

use self::blocks::Blocks;
use crate::line::Line;

/// Bytes of a line above which its beginning is taken before it ends.
const LINE_BYTES_MAX: usize = 8 << 10;
/// Bytes before that in which a good place to cut is looked for.
const CUT_BYTES: usize = 1 << 10;
/// Rows of what is unfinished.
const TAIL_ROWS_MAX: usize = 200;
/// Bytes of a line that may still become a mark, and is not shown until it says which.
const MARK_BYTES_MAX: usize = 8;

/// Markdown that becomes lines while it arrives.
#[derive(Debug, Clone)]
pub struct MarkdownStream {
    columns: usize,
    blocks: Blocks,
    /// The line that has not ended.
    line: String,
    /// Whether the beginning of that line was taken already.
    is_cut: bool,
}

impl MarkdownStream {
    /// A stream for a terminal of `columns`, at least 1.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { columns, blocks: Blocks::new(columns), line: String::new(), is_cut: false }
    }

    /// Changes the width of the lines to come.
    pub fn set_columns(&mut self, columns: usize) {
        self.columns = columns;
        self.blocks.set_columns(columns);
    }

    /// Takes the next piece of the text, cut anywhere, and returns the lines that are final: each at most
    /// `columns` wide, unless one character alone is wider.
    pub fn push(&mut self, text: &str) -> Vec<Line> {
        let mut out = vec![];
        let mut rest = text;
        loop {
            let room = rest.floor_char_boundary(LINE_BYTES_MAX.saturating_sub(self.line.len()));
            if let Some(end) = rest.as_bytes()[..room].iter().position(|byte| *byte == b'\n') {
                if self.line.is_empty() {
                    self.take_line(&rest[..end], &mut out);
                } else {
                    let mut line = std::mem::take(&mut self.line);
                    line.push_str(&rest[..end]);
                    self.take_line(&line, &mut out);
                    line.clear();
                    self.line = line;
                }
                rest = &rest[end + 1..];
            } else if room == rest.len() {
                self.line.push_str(rest);
                return out;
            } else {
                self.line.push_str(&rest[..room]);
                rest = &rest[room..];
                self.cut(&mut out);
            }
        }
    }

    /// How the rest looks that is not final: the last 200 rows of it. Emphasis that is open is shown as closed,
    /// and what could become one mark or another is not shown yet.
    #[must_use]
    pub fn tail(&self) -> Vec<Line> {
        let line = if self.is_undecided() { "" } else { self.line.as_str() };
        let mut rows = vec![];
        self.blocks.clone().glance(line, self.is_cut, &mut rows);
        rows.drain(..rows.len().saturating_sub(TAIL_ROWS_MAX));
        rows
    }

    /// Ends the text and returns the last lines. A text pushed after that is a new one.
    pub fn finish(&mut self) -> Vec<Line> {
        let mut out = vec![];
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut out);
        }
        self.blocks.finish(&mut out);
        self.blocks = Blocks::new(self.columns);
        self.is_cut = false;
        out
    }

    /// Takes the end of a line.
    fn take_line(&mut self, line: &str, out: &mut Vec<Line>) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if std::mem::take(&mut self.is_cut) {
            self.blocks.more(line, out);
        } else {
            self.blocks.line(line, out);
        }
    }

    /// Takes the beginning of a line that is too long.
    fn cut(&mut self, out: &mut Vec<Line>) {
        let line = std::mem::take(&mut self.line);
        let (taken, kept) = line.split_at(good_cut(&line));
        if std::mem::replace(&mut self.is_cut, true) {
            self.blocks.more(taken, out);
        } else {
            self.blocks.line(taken, out);
        }
        kept.clone_into(&mut self.line);
    }

    /// Whether the line that has not ended may become a mark: showing it as text, or as the mark of something
    /// else, would flicker.
    fn is_undecided(&self) -> bool {
        let line = self.line.trim_start();
        !self.is_cut
            && line.len() <= MARK_BYTES_MAX
            && line.bytes().all(|byte| b"-=*+_#`~|>: ".contains(&byte) || byte.is_ascii_digit())
    }
}

/// Where to cut a line that is too long: behind a sentence, behind a word, between characters.
fn good_cut(line: &str) -> usize {
    let from = line.ceil_char_boundary(line.len().saturating_sub(CUT_BYTES));
    let end = &line[from..];
    let behind = |marks: &[&str]| marks.iter().filter_map(|mark| Some(end.rfind(mark)? + mark.len())).max();
    if let Some(at) = behind(&[". ", "。", "! ", "? "]).or_else(|| behind(&[" ", "、", ","])) {
        return from + at;
    }
    let last = end.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
    if last == 0 { line.len() } else { from + last }
}
