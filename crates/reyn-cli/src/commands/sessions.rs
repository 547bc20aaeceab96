//! `reyn sessions`: the conversations of a project.

mod args;
mod change;
mod export;
mod list;
mod markdown;
mod show;
mod verify;

use jiff::Timestamp;
use reyn_runtime::log::LogError;
use reyn_runtime::{FindError, SessionSummary, Sessions, StoredSession};
use serde_json::{Value, json};

pub(crate) use args::SessionsCommand;
pub(crate) use markdown::markdown;

use crate::exit::{Exit, Failure};
use crate::wiring::{Project, place};

/// Lists, shows, checks, repairs, removes or exports. What only looks works while the configuration is wrong.
pub(crate) fn run(command: &SessionsCommand, now: Timestamp) -> Result<Exit, Failure> {
    match command {
        SessionsCommand::List(args) => list::run(args, &sessions()?, now),
        SessionsCommand::Show(args) => show::run(args, &sessions()?),
        SessionsCommand::Verify(args) => verify::run(args, &sessions()?),
        SessionsCommand::Export(args) => export::run(args, &sessions()?),
        SessionsCommand::Repair(args) => change::repair(args, &Project::load()?, now),
        SessionsCommand::Rm(args) => change::rm(args, &Project::load()?, now),
    }
}

fn sessions() -> Result<Sessions, Failure> {
    Ok(Sessions::new(&place()?.root.join(".reyn")))
}

/// The name that stands for one session.
fn find(sessions: &Sessions, wanted: &str) -> Result<String, Failure> {
    sessions.find(wanted).map_err(|error| match error {
        FindError::Nothing | FindError::Unknown { .. } => {
            Failure::usage("unknown_session", error.to_string())
        }
        FindError::Several { .. } => Failure::usage("ambiguous_session", error.to_string()),
        FindError::Log(error) => failed(error),
    })
}

fn read(sessions: &Sessions, wanted: &str) -> Result<StoredSession, Failure> {
    sessions.read(&find(sessions, wanted)?).map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn failed(error: LogError) -> Failure {
    Failure::failed("session", error.to_string())
}

/// What a list says of a session, for programs.
fn facts(summary: &SessionSummary) -> Value {
    json!({
        "id": summary.id,
        "title": summary.title,
        "started": summary.started.map(|time| time.to_string()),
        "changed": summary.changed.to_string(),
        "turns": summary.turns,
        "bytes": summary.bytes,
        "in_use_by": summary.holder,
    })
}

/// `1 turn`, `2 turns`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
