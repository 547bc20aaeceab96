//! What could be meant by what is half typed, and the menu of it.

use unicode_segmentation::UnicodeSegmentation;

use super::layout::fitted;
use crate::{Line, Style, cell_width};

/// Completions that are offered; a source that knows more is cut.
const COMPLETIONS_MAX: usize = 1000;
/// Rows of the menu.
const ROWS_MAX: usize = 8;
/// Columns between a completion and its note.
const GAP_COLUMNS: usize = 2;

/// One way to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Where what it replaces begins, as an offset in bytes; that ends at the caret.
    pub start: usize,
    /// What is put there.
    pub text: String,
    /// What it is, in a few words.
    pub note: String,
}

/// Knows completions.
pub trait Complete: Send {
    /// The completions of a text at a caret, an offset in bytes, in the order to show them. Those whose `start` is
    /// no place before the caret are passed over, and so are all after the first thousand.
    ///
    /// It is asked on every key while a menu is open, so it must not wait.
    fn complete(&self, text: &str, caret: usize) -> Vec<Completion>;
}

/// Asks for the completions that can be used.
pub(super) fn ask(source: &dyn Complete, text: &str, caret: usize) -> Vec<Completion> {
    let mut found = source.complete(text, caret);
    found.retain(|one| one.start <= caret && text.is_char_boundary(one.start));
    found.truncate(COMPLETIONS_MAX);
    found
}

/// What all completions go on with beyond what is typed, and where it goes; `None` when that is nothing.
pub(super) fn shared(found: &[Completion], text: &str, caret: usize) -> Option<Completion> {
    let (first, others) = found.split_first()?;
    let mut end = first.text.len();
    for other in others {
        if other.start != first.start {
            return None;
        }
        let same = first.text.graphemes(true).zip(other.text.graphemes(true)).take_while(|(a, b)| a == b);
        end = end.min(same.map(|(grapheme, _)| grapheme.len()).sum());
    }
    let typed = &text[first.start..caret];
    let start = &first.text[..end];
    (start.len() > typed.len() && start.starts_with(typed)).then(|| Completion {
        start: first.start,
        text: start.to_owned(),
        note: String::new(),
    })
}

/// An open menu. It is never empty.
#[derive(Debug)]
pub(super) struct Menu {
    found: Vec<Completion>,
    chosen: usize,
}

impl Menu {
    /// A menu of these; `None` when there are none.
    pub(super) fn of(found: Vec<Completion>) -> Option<Self> {
        (!found.is_empty()).then_some(Self { found, chosen: 0 })
    }

    pub(super) const fn next(&mut self) {
        self.chosen = (self.chosen + 1) % self.found.len();
    }

    pub(super) const fn previous(&mut self) {
        self.chosen = (self.chosen + self.found.len() - 1) % self.found.len();
    }

    /// The one that is chosen.
    pub(super) fn into_chosen(mut self) -> Completion {
        self.found.swap_remove(self.chosen)
    }

    /// The rows of the menu around the chosen one: at most `rows_max`, each at most `columns` wide.
    pub(super) fn draw(&self, columns: usize, rows_max: usize) -> Vec<Line> {
        let rows = rows_max.min(ROWS_MAX).min(self.found.len());
        if rows == 0 {
            return vec![];
        }
        let top = self.chosen.saturating_sub(rows / 2).min(self.found.len() - rows);
        let shown = &self.found[top..top + rows];
        let widest = shown.iter().map(|one| cell_width(&crate::visible(&one.text))).max().unwrap_or_default();
        // A long name leaves room for its note, and a note that does not fit is left out.
        let name_columns = widest.min(columns.max(1));
        let note_columns = columns.saturating_sub(name_columns + GAP_COLUMNS);
        let draw = |(at, one): (usize, &Completion)| {
            let is_chosen = top + at == self.chosen;
            let style = |style: Style| Style { reverse: is_chosen, ..style };
            let mut line = fitted(&one.text, name_columns, style(Style::PLAIN));
            if note_columns > 0 && !one.note.is_empty() {
                let pad = name_columns.saturating_sub(line.width()) + GAP_COLUMNS;
                line.push(&" ".repeat(pad), style(Style::PLAIN));
                line.append(&fitted(&one.note, note_columns, style(Style::DIM)));
            }
            line
        };
        shown.iter().enumerate().map(draw).collect()
    }
}
