//! `reyn ask`: one turn, then the process ends.

use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reyn_core::limits::{ASK_ROUNDS_MAX, IDENTICAL_FAILURES_MAX, STDIN_BYTES_MAX};
use reyn_core::turn::TurnLimits;
use reyn_runtime::log::LogError;
use reyn_runtime::{Session, SessionError, SessionOptions, TurnReport};
use tokio_util::sync::CancellationToken;

use crate::args::AskArgs;
use crate::exit::{Exit, Failure};
use crate::model_choice::{self, Choice};
use crate::output;
use crate::person::{self, AtTerminal};
use crate::view::{View, ViewMode};
use crate::wiring::{Project, token};

/// How long standard input may be silent before the person is told that it is waited for.
const STDIN_NOTICE_AFTER: Duration = Duration::from_secs(2);

/// Runs one turn.
pub(crate) fn run(args: &AskArgs) -> Result<Exit, Failure> {
    if let Some(id) = &args.session {
        reyn_runtime::log::check_name(id).map_err(|error| Failure::usage("usage", error.to_string()))?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed("io", format!("cannot start: {error}; try again")))?;
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
    let authority = project.authority(
        &args.allow,
        &args.exclude_tools,
        args.profile.as_deref(),
        &args.exclude_categories,
    )?;
    let choice = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Failure::interrupted("interrupted")),
        choice = model_choice::choose(&project, args.model.as_deref(), is_interactive) => choice?,
    };
    let mut session = open_session(args, &project, &choice, authority, is_interactive)?;
    let mode = if args.json {
        ViewMode::Json
    } else if args.stream_json {
        ViewMode::StreamJson
    } else {
        ViewMode::Text { is_terminal: std::io::stdout().is_terminal() }
    };
    let mut view = View::new(mode, session.id(), &choice);
    view.begin();
    let report = session.turn(prompt, &mut |event| view.on_event(&event), cancel).await.map_err(broken)?;
    let exit = Exit::of(&report);
    view.end(&report, exit);
    Ok(exit)
}

fn open_session(
    args: &AskArgs,
    project: &Project,
    choice: &Choice,
    authority: reyn_core::capability::Effective,
    is_interactive: bool,
) -> Result<Session, Failure> {
    let settings = &project.config.settings;
    let id = match &args.session {
        Some(id) => id.clone(),
        None => format!("{}-{}", Timestamp::now().strftime("%Y%m%d-%H%M%S"), token(2)?),
    };
    reyn_runtime::config::make_state_folder(project.root())
        .map_err(|error| Failure::failed("io", error.to_string()))?;
    let rounds_max =
        args.max_iterations.or(settings.safety.loops.max_router_iterations).unwrap_or(ASK_ROUNDS_MAX);
    let options = SessionOptions {
        id,
        state: project.state(),
        model: Arc::clone(&choice.model),
        registry: Arc::new(reyn_tools::builtin()),
        context: project.context(&authority)?,
        authority,
        person: if is_interactive { Some(Box::new(AtTerminal)) } else { None },
        environment: project.environment(is_interactive),
        limits: TurnLimits {
            rounds_max,
            calls_per_reply_max: settings.safety.loops.max_tool_calls_per_reply,
            identical_failures_max: IDENTICAL_FAILURES_MAX,
        },
        call_time_max: Duration::from_secs(settings.safety.timeout.tool_call_seconds),
        audit: settings.audit_events.clone(),
        clock: Arc::new(Timestamp::now),
        emitter: token(8)?,
    };
    let (session, report) = Session::open(options).map_err(broken)?;
    if let Some(side) = &report.damaged_file {
        output::note(&format!(
            "reyn: {} of the session's log were damaged and are now in `{}`; everything else is kept",
            output::size(report.damaged_bytes),
            side.display()
        ));
    }
    Ok(session)
}

fn broken(error: SessionError) -> Failure {
    // Both are about writing below `.reyn/`; other kinds of errors say themselves what to do.
    let is_io = matches!(error, SessionError::Audit(_) | SessionError::Log(LogError::Io { .. }));
    let hint = if is_io { "; `reyn doctor` says whether there is room and who may write there" } else { "" };
    Failure::failed("session", format!("{error}{hint}"))
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

/// Cancels the turn at the first signal and ends the process at the second. Signals are caught from the
/// call on, not from the first poll.
pub(crate) fn cancel_on_signal(cancel: CancellationToken) -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    // Under `nohup` a closed terminal is no reason to stop; catching the signal would undo that.
    let hangup = if ignores_hangup() { None } else { signal(SignalKind::hangup()).ok() };
    async move {
        let [Ok(mut interrupt), Ok(mut terminate)] = signals else { return };
        let mut hangup = hangup;
        for attempt in 0..2 {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = heard(&mut hangup) => {}
            }
            if attempt == 0 {
                cancel.cancel();
            }
        }
        std::process::exit(i32::from(Exit::Interrupted.code()));
    }
}

async fn heard(signal: &mut Option<tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether whoever started the process told it to ignore a closed terminal.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
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
