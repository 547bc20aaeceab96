//! An answer on standard output, drawn as Markdown while it is written.

use std::fs::File;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use reyn_terminal::{Line, Live, Look, MarkdownStream, Narrowing, Screen};

use crate::output;

/// Whether answers can be drawn on standard output: it is a terminal that can move its cursor.
pub(crate) fn can_draw() -> bool {
    let is_able = std::env::var("TERM").is_ok_and(|term| !matches!(term.as_str(), "" | "dumb"));
    is_able && std::io::stdout().is_terminal()
}

/// What this terminal makes of rows that are wider than its new size.
pub(crate) fn narrowing() -> Narrowing {
    Narrowing::of(|name| std::env::var(name).ok())
}

/// An answer that is being written.
pub(crate) struct DrawnAnswer {
    screen: Screen<File>,
    stream: MarkdownStream,
}

impl DrawnAnswer {
    /// Begins at the cursor, which is at the start of a row. `None` when the terminal cannot be had.
    pub(crate) fn begin() -> Option<Self> {
        let (columns, rows) = reyn_terminal::size().ok()?;
        let out = File::from(std::io::stdout().as_fd().try_clone_to_owned().ok()?);
        let look = if output::result_has_colours() { Look::Coloured } else { Look::Uncoloured };
        let screen = Screen::new(out, look, narrowing(), columns.into(), rows.into());
        let stream = MarkdownStream::new(columns.into());
        Some(Self { screen, stream })
    }

    /// Takes the next piece, and shows it: nobody would show it later if the next one does not come.
    pub(crate) fn push(&mut self, text: &str) {
        let lines = self.stream.push(text);
        let mut rows = self.stream.tail();
        rows.drain(..rows.len().saturating_sub(self.screen.rows().saturating_sub(1)));
        let caret = rows.last().map_or((0, 0), |row| (rows.len() - 1, row.width()));
        self.show(&lines, &Live { rows, caret: Some(caret) });
    }

    /// Shows the rest; the cursor is at the start of the row after it.
    pub(crate) fn finish(mut self) {
        let lines = self.stream.finish();
        self.show(&lines, &Live { rows: vec![], caret: Some((0, 0)) });
        let _ = self.screen.leave();
    }

    fn show(&mut self, lines: &[Line], live: &Live) {
        // A terminal that is gone shows nothing; the turn hears of it by its signal.
        let _ = self.screen.paint(lines, live);
    }
}
