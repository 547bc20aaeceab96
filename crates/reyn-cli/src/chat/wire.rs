//! What goes between the session and the screen.

use reyn_runtime::gate::{Answer, Question};
use reyn_terminal::{Input, Line};
use tokio::sync::oneshot;

use super::status::Status;

/// News that wait for the screen. A session that is faster than the terminal waits.
pub(crate) const NEWS_MAX: usize = 1_024;
/// Wishes that wait for the session.
pub(crate) const WISHES_MAX: usize = 64;

/// What the screen hears.
pub(crate) enum News {
    /// The keyboard.
    Input(Input),
    /// The next piece of the answer.
    Answer(String),
    /// What was shown of the answer since the last round is void, and why.
    Void(Line),
    /// Something slow goes on, in words.
    Progress(String),
    /// A call runs: its tool and what it is about.
    CallBegan(String),
    /// A call ended.
    CallEnded(Box<CallEnded>),
    /// The model's reply is complete.
    RoundEnded,
    /// What the person said is part of the conversation now, or the command that they typed runs.
    Said(String),
    /// The person is asked.
    Ask(Box<Question>, oneshot::Sender<Answer>),
    /// A turn runs.
    TurnBegan,
    /// It is over.
    TurnEnded {
        /// What the person must know of it.
        notes: Vec<Line>,
        /// What was said and no round has taken: it goes back to the input.
        back: Vec<String>,
    },
    /// Lines of a command, or about the session.
    Print(Vec<Line>),
    /// Lines to look through.
    Page {
        /// What they are.
        title: String,
        /// The lines.
        lines: Vec<Line>,
    },
    /// What the last row shows.
    Status(Box<Status>),
    /// Text for the clipboard.
    Copy(String),
    /// Another conversation begins.
    Clear,
    /// The process is about to be stopped: the terminal goes back to the shell.
    Suspend,
    /// The chat is over; these are the last lines.
    Leave(Vec<Line>),
}

/// How a call went, as a person is shown it.
pub(crate) struct CallEnded {
    /// One line about it.
    pub line: Line,
    /// Whether it gave no result.
    pub is_error: bool,
    /// What it changed, as a unified diff; may be empty.
    pub diff: String,
    /// Everything the model reads of it.
    pub full: String,
}

/// What the person wants.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// This is said to the model: now, or at the next round of the turn that runs.
    Say(String),
    /// A line that begins with `/`.
    Command(String),
    /// The turn stops.
    Cancel,
    /// The chat ends; a turn that runs is cancelled first.
    Leave,
}
