//! Prints a conversation as a person would read it.

use std::fmt::Write as _;

use reyn_core::conversation::{Ending, Entry, Reply, latest_reply};
use reyn_core::prompt::outcome_text;
use reyn_core::tool::{Args, ErrorKind, Outcome, ToolCall};

/// The conversation, an entry a line, for snapshots. Further lines of a text are indented.
#[must_use]
pub fn transcript(log: &[Entry]) -> String {
    let mut out = String::new();
    for (at, entry) in log.iter().enumerate() {
        match entry {
            Entry::User { text } => line(&mut out, "user", text),
            Entry::Said { text } => line(&mut out, "said", text),
            Entry::Reply(reply) => said(&mut out, reply),
            Entry::Started { .. } => {}
            Entry::Finished { call_id, outcome } => {
                line(&mut out, word(outcome), &result(&log[..at], call_id, outcome));
            }
            Entry::Nudged => line(&mut out, "nudged", ""),
            Entry::LimitReached { limit } => line(&mut out, "limit", limit.name()),
            Entry::Ended { ending } => line(&mut out, "ended", &ended(ending)),
        }
    }
    out
}

fn line(out: &mut String, word: &str, text: &str) {
    let text = text.trim_end().replace('\n', "\n        ");
    let _ = writeln!(out, "{}", format!("{word:<7} {text}").trim_end());
}

fn said(out: &mut String, reply: &Reply) {
    if !reply.text.is_empty() || reply.calls.is_empty() {
        line(out, "model", &reply.text);
    }
    for call in &reply.calls {
        let args = match &call.args {
            Args::Object(_) => call.args.to_json(),
            Args::Malformed { excerpt, .. } => format!("malformed: {excerpt}"),
        };
        line(out, "model", &format!("{} {args}", call.name));
    }
}

const fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Ok(_) => "ok",
        Outcome::Error(error) => match error.kind {
            ErrorKind::ToolExcluded | ErrorKind::PermissionDenied => "refused",
            ErrorKind::UnknownTool
            | ErrorKind::InvalidArgs
            | ErrorKind::Timeout
            | ErrorKind::Cancelled
            | ErrorKind::Interrupted
            | ErrorKind::BudgetExhausted
            | ErrorKind::Exception
            | ErrorKind::HandlerError => "failed",
        },
    }
}

/// What the model reads. A result without its call is shown as the result of an unknown one.
fn result(before: &[Entry], call_id: &str, outcome: &Outcome) -> String {
    let unknown = || ToolCall {
        id: call_id.to_owned(),
        name: String::new(),
        args: Args::Object(serde_json::Map::new()),
    };
    let call = latest_reply(before).and_then(|(reply, _)| reply.calls.iter().find(|call| call.id == call_id));
    outcome_text(&call.cloned().unwrap_or_else(unknown), outcome).into_owned()
}

fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Answered => "answered".to_owned(),
        Ending::Limited { limit } => format!("limited by {}", limit.name()),
        Ending::Empty => "empty".to_owned(),
        Ending::Failed { message, .. } => format!("failed: {message}"),
        Ending::Cancelled => "cancelled".to_owned(),
        Ending::Interrupted => "interrupted".to_owned(),
    }
}
