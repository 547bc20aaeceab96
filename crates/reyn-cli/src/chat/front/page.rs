//! A page to look through: results in full, long output of commands.

use std::io;

use reyn_terminal::{Input, KeyCode, Line, Style, diff_lines, wrap};

use super::Front;

/// Lines of a page.
pub(super) struct Page {
    title: String,
    lines: Vec<Line>,
    /// The lines as rows of so many columns.
    rows: (usize, Vec<Line>),
    /// The first row that is shown.
    top: usize,
    /// What is on the screen: the first row, the size, and whether a question waits.
    shown: Option<(usize, usize, usize, bool)>,
}

/// A text as lines; a unified diff in colours.
pub(super) fn lines_of(text: &str) -> Vec<Line> {
    if text.starts_with("--- ") && text.contains("\n+++ ") {
        return diff_lines(text, usize::MAX).0;
    }
    text.lines().map(Line::plain).collect()
}

impl Front {
    pub(super) fn open_page(&mut self, title: String, lines: Vec<Line>) {
        self.page = Some(Page { title, lines, rows: (0, vec![]), top: 0, shown: None });
    }

    /// Opens the latest results in full, the last one first.
    pub(super) fn expand(&mut self) {
        if self.results.is_empty() {
            self.hint("there is no result yet", false);
            return;
        }
        let mut lines = vec![];
        for shown in self.results.iter().rev() {
            lines.push(shown.title.clone());
            let (text, diff) = shown
                .full
                .split_once("\n\n--- ")
                .map_or((shown.full.as_str(), None), |(text, diff)| (text, Some(format!("--- {diff}"))));
            lines.extend(text.lines().map(Line::plain));
            lines.extend(diff.iter().flat_map(|diff| lines_of(diff)));
            lines.push(Line::new());
        }
        self.open_page("results, the latest first".to_owned(), lines);
    }

    pub(super) fn paint_page(&mut self) -> io::Result<()> {
        let (columns, rows) = (self.screen.columns(), self.screen.rows());
        let is_asked = self.asking.is_some();
        let Some(page) = &mut self.page else { return Ok(()) };
        let room = rows.saturating_sub(1).max(1);
        if page.rows.0 != columns {
            page.rows = (columns, page.lines.iter().flat_map(|line| wrap(line, columns, 0)).collect());
        }
        let all = &page.rows.1;
        page.top = page.top.min(all.len().saturating_sub(room));
        let now = (page.top, columns, rows, is_asked);
        if page.shown.replace(now) == Some(now) {
            return Ok(());
        }
        let end = (page.top + room).min(all.len());
        let mut shown: Vec<Line> = all[page.top..end].to_vec();
        shown.resize(room, Line::new());
        if rows > 1 {
            let waits = if is_asked { "a question waits · " } else { "" };
            let place = format!("{waits}{} · {}–{end} of {} · q closes", page.title, page.top + 1, all.len());
            let style = Style { reverse: true, ..Style::PLAIN };
            shown.push(super::frame::one_row(&Line::styled(&place, style), columns));
        }
        self.screen.paint_page(&shown)
    }

    pub(super) fn take_page_key(&mut self, input: &Input) {
        let room = self.screen.rows().saturating_sub(1).max(1);
        let Some(page) = &mut self.page else { return };
        let Input::Key(key) = input else { return };
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => self.close_page(),
            KeyCode::Char('c' | 'o' | 'd') if key.is_control => self.close_page(),
            KeyCode::Down | KeyCode::Enter | KeyCode::Char('j') => page.top = page.top.saturating_add(1),
            KeyCode::Up | KeyCode::Char('k') => page.top = page.top.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ' | 'f') => page.top = page.top.saturating_add(room),
            KeyCode::PageUp | KeyCode::Char('b') => page.top = page.top.saturating_sub(room),
            KeyCode::Home | KeyCode::Char('g') => page.top = 0,
            KeyCode::End | KeyCode::Char('G') => page.top = usize::MAX - room,
            KeyCode::Char(_)
            | KeyCode::Tab
            | KeyCode::BackTab
            | KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Other => {}
        }
    }

    pub(super) fn close_page(&mut self) {
        self.page = None;
        self.disarm_question();
        let _ = self.screen.leave_page();
    }
}
