//! `reyn ask`: one turn, then the process ends.

use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::time::Duration;

use reyn_core::limits::{ASK_ROUNDS_MAX, STDIN_BYTES_MAX};
use reyn_runtime::TurnReport;
use reyn_runtime::gate::Person;
use tokio_util::sync::CancellationToken;

use crate::args::AskArgs;
use crate::exit::{Exit, Failure};
use crate::model_choice;
use crate::opening::{self, Opening};
use crate::output;
use crate::person::{self, AtTerminal};
use crate::signals::cancel_on_signal;
use crate::view::{Answers, View, ViewMode};
use crate::wiring::{Project, runtime};

/// How long standard input may be silent before the person is told that it is waited for.
const STDIN_NOTICE_AFTER: Duration = Duration::from_secs(2);

/// Runs one turn.
pub(crate) fn run(args: &AskArgs) -> Result<Exit, Failure> {
    opening::check(&args.run)?;
    let runtime = runtime()?;
    let cancel = CancellationToken::new();
    let result = runtime.block_on(async {
        let signals = tokio::spawn(cancel_on_signal(cancel.clone()));
        let result = prompt_and_ask(args, &cancel).await;
        signals.abort();
        result
    });
    // A thread may still wait for a pipe, a line of the terminal or a file system; the process does not.
    runtime.shutdown_background();
    result
}

async fn prompt_and_ask(args: &AskArgs, cancel: &CancellationToken) -> Result<Exit, Failure> {
    let prompt = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Failure::interrupted("interrupted")),
        prompt = prompt(args) => prompt?,
    };
    ask(args, &prompt, cancel).await
}

async fn ask(args: &AskArgs, prompt: &str, cancel: &CancellationToken) -> Result<Exit, Failure> {
    let is_machine_read = args.json || args.stream_json;
    let project = Project::load()?;
    project.tell_notices();
    let is_interactive = !is_machine_read && person::is_there();
    let authority = opening::authority(&project, &args.run)?;
    let id = opening::id(&project, &args.run)?;
    let choice = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Failure::interrupted("interrupted")),
        choice = model_choice::choose(&project, args.run.model.as_deref(), is_interactive) => choice?,
    };
    let person: Option<Box<dyn Person>> = if is_interactive { Some(Box::new(AtTerminal)) } else { None };
    let opening =
        Opening { run: &args.run, model: Arc::clone(&choice.model), person, rounds_max: ASK_ROUNDS_MAX };
    let (mut session, report) = opening.open(&project, authority, id)?;
    opening::tell(&report);
    let mode = if args.json {
        ViewMode::Json
    } else if args.stream_json {
        ViewMode::StreamJson
    } else {
        ViewMode::Text { answers: Answers::of_stdout() }
    };
    let mut view = View::new(mode, session.id(), &choice);
    view.begin();
    let report = session.turn(prompt, &mut |event| view.on_event(&event), cancel).await.map_err(|error| {
        let way_on = format!("reyn ask --session {} \"go on\"", session.id());
        opening::broken_off(opening::broken(error), &session, &way_on)
    })?;
    let exit = Exit::of(&report);
    view.end(&report, exit);
    Ok(exit)
}

/// The prompt typed, with what is piped in after it.
async fn prompt(args: &AskArgs) -> Result<String, Failure> {
    let piped = if std::io::stdin().is_terminal() { String::new() } else { piped().await? };
    let typed = args.prompt.as_deref().unwrap_or_default().trim();
    match (typed.is_empty(), piped.trim().is_empty()) {
        (true, true) => Err(Failure::usage(
            "usage",
            "nothing to ask; try `reyn ask \"what does README.md say?\"`, or pipe text in",
        )),
        (false, true) => Ok(typed.to_owned()),
        (true, false) => Ok(piped),
        (false, false) => Ok(format!("{typed}\n\n{piped}")),
    }
}

/// What is piped in. Says what it waits for, since a pipe that nobody closes looks like a hang.
async fn piped() -> Result<String, Failure> {
    // A thread of its own, so that ctrl-C is heard meanwhile.
    let mut reading = tokio::task::spawn_blocking(read_piped);
    let read = match tokio::time::timeout(STDIN_NOTICE_AFTER, &mut reading).await {
        Ok(read) => read,
        Err(_) => {
            output::note("reyn: reading standard input; `< /dev/null` gives none");
            reading.await
        }
    };
    let bytes = read.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(|error| {
        Failure::failed("io", format!("cannot read standard input: {error}; `< /dev/null` gives none"))
    })?;
    if bytes.len() > STDIN_BYTES_MAX {
        let message = format!(
            "standard input is longer than {STDIN_BYTES_MAX} bytes; put it in a file and name the file"
        );
        return Err(Failure::usage("usage", message));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::usage("usage", "standard input is not UTF-8 text; put it in a file and name the file")
    })
}

fn read_piped() -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![];
    std::io::stdin().lock().take(STDIN_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The report as the one object of `--json`.
pub(crate) fn report_json(report: &TurnReport, session: &str, model: &str, exit: Exit) -> serde_json::Value {
    use reyn_core::tool::Outcome;
    use serde_json::json;
    let calls: Vec<_> = report
        .calls
        .iter()
        .map(|call| match &call.outcome {
            Outcome::Ok(_) => json!({"tool": call.call.name, "status": "ok"}),
            Outcome::Error(error) => json!({
                "tool": call.call.name, "status": "error",
                "error": {"kind": error.kind.name(), "message": error.message, "hint": error.hint, "wants_person": error.wants_person},
            }),
        })
        .collect();
    let error = match &report.ending {
        reyn_core::conversation::Ending::Failed { kind, message } => {
            json!({"kind": kind, "message": message})
        }
        reyn_core::conversation::Ending::Empty => {
            json!({"kind": "empty", "message": "the model gave an empty reply twice"})
        }
        reyn_core::conversation::Ending::Cancelled => json!({"kind": "cancelled", "message": "interrupted"}),
        reyn_core::conversation::Ending::Answered
        | reyn_core::conversation::Ending::Limited { .. }
        | reyn_core::conversation::Ending::Interrupted => serde_json::Value::Null,
    };
    json!({
        "status": if error.is_null() { "ok" } else { "error" },
        "exit_code": exit.code(),
        "ending": reyn_runtime::ending_name(&report.ending),
        "limit": report.limit().map(reyn_core::conversation::Limit::name),
        "answer": report.answer,
        "finish": report.finish,
        "session": session,
        "model": model,
        "rounds": report.rounds,
        "usage": report.usage,
        "calls": calls,
        "error": error,
    })
}
