//! Where a chat shows things: a screen of its own, or plain lines.

use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use reyn_terminal::{Colour, Line, Look, Style};
use tokio_util::sync::CancellationToken;

use super::status::Status;
use super::wire::News;
use crate::output;

/// The way to the person.
#[derive(Clone)]
pub(crate) enum Ui {
    /// A screen on a thread of its own.
    Screen(SyncSender<News>, CancellationToken),
    /// Lines on standard output.
    Plain,
}

impl Ui {
    /// Tells the screen. A screen that is gone has nobody in front of it; the session hears of that by
    /// itself.
    pub(crate) fn tell(&self, news: News) {
        let Self::Screen(screen, leave) = self else { return };
        let mut news = news;
        while let Err(TrySendError::Full(back)) = screen.try_send(news) {
            // Whoever wants to leave does not wait for a terminal that takes nothing.
            if leave.is_cancelled() {
                return;
            }
            news = back;
            std::thread::sleep(Duration::from_millis(FULL_MS));
        }
    }

    /// Columns that there are.
    pub(crate) fn columns(&self) -> usize {
        reyn_terminal::size().map_or(COLUMNS, |(columns, _)| columns.into())
    }

    /// Prints lines.
    pub(crate) fn print(&self, lines: Vec<Line>) {
        match self {
            Self::Screen(..) => self.tell(News::Print(lines)),
            Self::Plain => lines.iter().for_each(plain_line),
        }
    }

    /// Says what went wrong.
    pub(crate) fn complain(&self, words: &str) {
        match self {
            Self::Screen(..) => {
                self.print(words.lines().map(|line| Line::styled(line, Style::of(Colour::Red))).collect());
            }
            Self::Plain => output::note(&format!("reyn: {words}")),
        }
    }

    /// Shows lines that may be many: on a page of their own then.
    pub(crate) fn show(&self, title: &str, lines: Vec<Line>) {
        match self {
            Self::Screen(..) if lines.len() > PAGE_LINES_MIN => {
                self.tell(News::Page { title: title.to_owned(), lines });
            }
            Self::Screen(..) | Self::Plain => self.print(lines),
        }
    }

    /// Shows who answers and what it cost.
    pub(crate) fn status(&self, status: &Status) {
        self.tell(News::Status(Box::new(status.clone())));
    }
}

/// Columns where there is no terminal to ask.
const COLUMNS: usize = 80;
/// How long the session waits before it looks again whether the screen takes something.
const FULL_MS: u64 = 5;
/// Lines above which they are shown on a page of their own.
const PAGE_LINES_MIN: usize = 40;

fn plain_line(line: &Line) {
    let mut text = String::new();
    line.write(Look::Plain, &mut text);
    output::result_line(&text);
}
