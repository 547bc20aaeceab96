//! A chat without a screen of its own: a line in, an answer out. For pipes, dumb terminals and screen readers.

use std::io::{BufRead, IsTerminal, Read};

use reyn_core::limits::STDIN_BYTES_MAX;
use reyn_runtime::SessionEvent;
use tokio_util::sync::CancellationToken;

use super::desk::{After, Desk};
use super::front::is_command;
use super::{shell_line, slash};
use crate::exit::{Exit, Failure};
use crate::opening;
use crate::output;
use crate::view::{Answers, View, ViewMode};

/// Reads messages until the input ends. The exit code is that of the worst turn or command.
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
            Ok(Some(Ok(bytes))) => String::from_utf8(bytes),
            Ok(Some(Err(TooLong))) => {
                output::note(&format!(
                    "reyn: that line is longer than {STDIN_BYTES_MAX} bytes and was not sent; put it in a file \
                     and name the file"
                ));
                exit = worse(exit, Exit::Failed);
                continue;
            }
            Ok(None) => return Ok(exit),
            Err(error) => {
                return Err(Failure::failed("io", format!("cannot read standard input: {error}")));
            }
        };
        let Ok(text) = text else {
            exit = worse(exit, Exit::Failed);
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
            let after = if text.starts_with('!') {
                shell_line::run(desk, text, leave).await?;
                After::Stay
            } else {
                slash::run(desk, text).await
            };
            if std::mem::take(&mut desk.has_failed) {
                exit = worse(exit, Exit::Failed);
            }
            if after == After::Leave {
                return Ok(exit);
            }
            continue;
        }
        let mut view = View::new(ViewMode::Text { answers }, desk.session.id(), &desk.choice);
        let mut listener = |event: SessionEvent<'_>| view.on_event(&event);
        let report = desk.session.turn(text, &mut listener, leave).await.map_err(opening::broken)?;
        desk.status.count(report.usage, desk.choice.price);
        view.end(&report, Exit::of(&report));
        exit = worse(exit, Exit::of(&report));
        if leave.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
    }
}

/// The worse of two ways to end.
fn worse(one: Exit, other: Exit) -> Exit {
    let order = [Exit::Done, Exit::Limited, Exit::WantsPerson, Exit::Usage, Exit::Failed, Exit::Interrupted];
    let place = |exit| order.iter().position(|known| *known == exit);
    if place(other) > place(one) { other } else { one }
}

/// The next line with its end; `None` at the end of the input. Of one that is too long, nothing.
fn read_line() -> std::io::Result<Option<Result<Vec<u8>, TooLong>>> {
    let mut line = vec![];
    let mut input = std::io::stdin().lock();
    let taken = input.by_ref().take(STDIN_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    if taken < STDIN_BYTES_MAX || line.ends_with(b"\n") {
        return Ok((taken > 0).then_some(Ok(line)));
    }
    // The rest of it belongs to no message either.
    while input.by_ref().take(STDIN_BYTES_MAX as u64).read_until(b'\n', &mut line)? > 0 {
        if line.ends_with(b"\n") {
            break;
        }
        line.clear();
    }
    Ok(Some(Err(TooLong)))
}

/// A line that is no message.
struct TooLong;
