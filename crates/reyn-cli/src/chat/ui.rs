//! Where a chat shows things: a screen of its own, or plain lines.

use std::sync::mpsc::SyncSender;

use reyn_terminal::{Line, Look};

use super::status::Status;
use super::wire::News;
use crate::output;

/// The way to the person.
#[derive(Clone)]
pub(crate) enum Ui {
    /// A screen on a thread of its own.
    Screen(SyncSender<News>),
    /// Lines on standard output.
    Plain,
}

impl Ui {
    /// Tells the screen. A screen that is gone has nobody in front of it; the session hears of that by
    /// itself.
    pub(crate) fn tell(&self, news: News) {
        if let Self::Screen(screen) = self {
            let _ = screen.send(news);
        }
    }

    /// Columns that there are.
    pub(crate) fn columns(&self) -> usize {
        reyn_terminal::size().map_or(COLUMNS, |(columns, _)| columns.into())
    }

    /// Prints lines.
    pub(crate) fn print(&self, lines: Vec<Line>) {
        match self {
            Self::Screen(_) => self.tell(News::Print(lines)),
            Self::Plain => lines.iter().for_each(plain_line),
        }
    }

    /// Shows lines that may be many: on a page of their own then.
    pub(crate) fn show(&self, title: &str, lines: Vec<Line>) {
        match self {
            Self::Screen(_) if lines.len() > PAGE_LINES_MIN => {
                self.tell(News::Page { title: title.to_owned(), lines });
            }
            Self::Screen(_) | Self::Plain => self.print(lines),
        }
    }

    /// Shows who answers and what it cost.
    pub(crate) fn status(&self, status: &Status) {
        self.tell(News::Status(Box::new(status.clone())));
    }
}

/// Columns where there is no terminal to ask.
const COLUMNS: usize = 80;
/// Lines above which they are shown on a page of their own.
const PAGE_LINES_MIN: usize = 40;

fn plain_line(line: &Line) {
    let mut text = String::new();
    line.write(Look::Plain, &mut text);
    output::result_line(&text);
}
