//! A chat without a screen of its own: a line in, an answer out. For pipes, dumb terminals and screen readers.

use std::io::{BufRead, IsTerminal, Read};

use reyn_core::limits::STDIN_BYTES_MAX;
use reyn_runtime::SessionEvent;
use tokio_util::sync::CancellationToken;

use super::desk::{After, Desk};
use super::front::is_command;
use super::slash;
use crate::exit::{Exit, Failure};
use crate::opening;
use crate::output;
use crate::view::{Answers, View, ViewMode};

/// Reads messages until the input ends. The exit code is that of the last turn.
pub(crate) async fn serve(desk: &mut Desk, leave: &CancellationToken) -> Result<Exit, Failure> {
    let is_typed = std::io::stdin().is_terminal();
    let answers = Answers::of_stdout();
    let mut exit = Exit::Done;
    loop {
        if is_typed {
            output::note_part("> ");
        }
        let reading = tokio::task::spawn_blocking(read_line);
        let line = tokio::select! {
            biased;
            () = leave.cancelled() => return Ok(Exit::Interrupted),
            line = reading => line.unwrap_or_else(|error| Err(std::io::Error::other(error))),
        };
        let text = match line {
            Ok(Some(bytes)) => String::from_utf8(bytes),
            Ok(None) => return Ok(exit),
            Err(error) => {
                return Err(Failure::failed("io", format!("cannot read standard input: {error}")));
            }
        };
        let Ok(text) = text else {
            output::note(
                "reyn: that line is not UTF-8 text and was not sent; put it in a file and name the file",
            );
            continue;
        };
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if is_command(text) {
            if slash::run(desk, text).await == After::Leave {
                return Ok(exit);
            }
            continue;
        }
        let mut view = View::new(ViewMode::Text { answers }, desk.session.id(), &desk.choice);
        let mut listener = |event: SessionEvent<'_>| view.on_event(&event);
        let report = desk.session.turn(text, &mut listener, leave).await.map_err(opening::broken)?;
        desk.status.count(report.usage, desk.choice.price);
        exit = Exit::of(&report);
        view.end(&report, exit);
        if leave.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
    }
}

/// The next line without its end; `None` at the end of the input.
fn read_line() -> std::io::Result<Option<Vec<u8>>> {
    let mut line = vec![];
    let taken = std::io::stdin().lock().take(STDIN_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    Ok((taken > 0).then_some(line))
}
