//! `reyn doctor`: looks for what is wrong with this machine, this project and its model.
//!
//! Invariant: it leaves nothing behind, shows no key, and ends in [`DOCTOR_TIME_MAX`], whatever does not answer. That
//! secrets which others can read become private is the loading of every command.

mod clock;
mod config;
mod disk;
mod embeddings;
mod keys;
mod local_model;
mod model;
mod python;
mod sandbox;
mod surroundings;
mod terminal;
mod web;

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use clap::Args;
use reyn_terminal::{Line, wrap};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output;
use surroundings::Surroundings;

/// Longest time until there is a result. What takes longer is left behind and said.
const DOCTOR_TIME_MAX: Duration = Duration::from_secs(8);

/// Columns below which rows are left to the terminal.
const COLUMNS_MIN: u16 = 40;

/// `reyn doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What a check found.
type Check = fn(&Surroundings) -> Vec<Finding>;

/// Every check, in the order in which it is shown.
const CHECKS: [(&str, Check); 11] = [
    ("config", config::check),
    ("keys", keys::check),
    ("model", model::check),
    ("local model", local_model::check),
    ("embeddings", embeddings::check),
    ("python", python::check),
    ("sandbox", sandbox::check),
    ("web", web::check),
    ("disk", disk::check),
    ("terminal", terminal::check),
    ("clock", clock::check),
];

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// Good to know.
    Info,
    /// As it should be.
    Ok,
    /// Works, but not as one would think.
    Warn,
    /// Stops something from working.
    Fail,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    status: Status,
    /// What is so.
    message: String,
    /// What to do.
    fix: Option<String>,
    /// The same for a program that reads it.
    details: Option<Value>,
}

impl Finding {
    fn ok(message: impl Into<String>) -> Self {
        Self { status: Status::Ok, message: message.into(), fix: None, details: None }
    }

    fn info(message: impl Into<String>) -> Self {
        Self { status: Status::Info, message: message.into(), fix: None, details: None }
    }

    fn warn(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { status: Status::Warn, message: message.into(), fix: Some(fix.into()), details: None }
    }

    fn fail(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { status: Status::Fail, message: message.into(), fix: Some(fix.into()), details: None }
    }

    fn with_fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    fn with_details(self, details: Value) -> Self {
        Self { details: Some(details), ..self }
    }
}

impl Status {
    const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    const fn mark(self) -> &'static str {
        match self {
            Self::Info => "·",
            Self::Ok => "✓",
            Self::Warn => "!",
            Self::Fail => "✗",
        }
    }

    const fn colour(self) -> &'static str {
        match self {
            Self::Info => "2",
            Self::Ok => "32",
            Self::Warn => "33",
            Self::Fail => "31",
        }
    }
}

/// Runs every check. One `fail` is exit code 1.
pub(crate) fn run(args: &DoctorArgs) -> Result<Exit, Failure> {
    let found = found_in(DOCTOR_TIME_MAX, &CHECKS, &Arc::new(Surroundings::gather()));
    let is_failed = found.iter().any(|(_, finding)| finding.status == Status::Fail);
    let exit = if is_failed { Exit::Failed } else { Exit::Done };
    if args.json {
        output::json(&in_json(&found, exit));
    } else {
        output::result(&in_words(&found, output::result_has_colours(), columns()));
    }
    Ok(exit)
}

/// Every finding with the name of its check. Each check runs on a thread of its own, so that one that waits
/// for a network or a file system holds up nothing.
fn found_in(
    time_max: Duration,
    checks: &'static [(&'static str, Check)],
    surroundings: &Arc<Surroundings>,
) -> Vec<(&'static str, Finding)> {
    let deadline = Instant::now() + time_max;
    let (send, receive) = mpsc::channel();
    for (at, (_, check)) in checks.iter().enumerate() {
        let (send, surroundings) = (send.clone(), Arc::clone(surroundings));
        // Nobody listens any more after the deadline.
        std::thread::spawn(move || drop(send.send((at, check(&surroundings)))));
    }
    drop(send);
    let mut results: Vec<Option<Vec<Finding>>> = vec![None; checks.len()];
    while let Ok((at, findings)) = receive.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        results[at] = Some(findings);
    }
    let no_result = || {
        let message = format!("no result in {} s", time_max.as_secs());
        vec![Finding::warn(message, "something this check looks at does not answer; try it by hand")]
    };
    let named = checks.iter().zip(results).flat_map(|((name, _), findings)| {
        findings.unwrap_or_else(no_result).into_iter().map(|finding| (*name, finding))
    });
    named.collect()
}

fn in_json(found: &[(&'static str, Finding)], exit: Exit) -> Value {
    let checks: Vec<Value> = found
        .iter()
        .map(|(name, finding)| {
            let mut check = json!({
                "name": name,
                "status": finding.status.name(),
                "message": finding.message,
                "fix": finding.fix,
            });
            if let Some(details) = &finding.details {
                check["details"] = details.clone();
            }
            check
        })
        .collect();
    let status = if exit == Exit::Done { "ok" } else { "error" };
    json!({ "status": status, "exit_code": exit.code(), "checks": checks })
}

/// How wide the terminal is; `None` when it is none, where nothing is broken into rows.
fn columns() -> Option<usize> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok()).flatten()?;
    (size.ws_col >= COLUMNS_MIN).then_some(usize::from(size.ws_col))
}

fn in_words(found: &[(&'static str, Finding)], has_colours: bool, columns: Option<usize>) -> String {
    let width = found.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let paint = |text: &str, colour: &str| {
        if has_colours { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    };
    let mut text = String::new();
    let mut last = "";
    for (name, finding) in found {
        let shown = if *name == last { "" } else { *name };
        last = name;
        let mark = paint(finding.status.mark(), finding.status.colour());
        let indent = width + 4;
        let columns = columns.map(|columns| columns.saturating_sub(indent));
        for (at, row) in rows(&finding.message, columns).into_iter().enumerate() {
            let _ = if at == 0 {
                writeln!(text, "{mark} {shown:<width$}  {row}")
            } else {
                writeln!(text, "{:indent$}{row}", "")
            };
        }
        if let Some(fix) = &finding.fix {
            for row in rows(&format!("-> {fix}"), columns) {
                let _ = writeln!(text, "{:indent$}{}", "", paint(&row, "2"));
            }
        }
    }
    let count = |status: Status| found.iter().filter(|(_, finding)| finding.status == status).count();
    let _ = match (count(Status::Fail), count(Status::Warn)) {
        (0, 0) => writeln!(text, "\nnothing is wrong"),
        (fails, warnings) => writeln!(text, "\n{fails} to mend, {warnings} to know about"),
    };
    text
}

/// A text in rows that fit, every one below the first.
fn rows(text: &str, columns: Option<usize>) -> Vec<String> {
    let text = output::for_terminal(text);
    let lines = text.lines();
    match columns {
        None => lines.map(str::to_owned).collect(),
        Some(columns) => {
            let wrapped = lines.flat_map(|line| wrap(&Line::plain(line), columns, 0));
            wrapped.map(|row| row.text()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn findings_are_aligned_and_say_what_to_do() {
        let found = [
            ("config", Finding::ok("right")),
            ("disk", Finding::fail("full\x1b[2J\nquite", "make room")),
            ("disk", Finding::warn("slow", "wait")),
            ("terminal", Finding::info("none")),
        ];
        expect![[r#"
            ✓ config    right
            ✗ disk      full[2J
                        quite
                        -> make room
            !           slow
                        -> wait
            · terminal  none

            1 to mend, 1 to know about
        "#]]
        .assert_eq(&in_words(&found, false, None));
        assert!(in_words(&found, true, None).starts_with("\x1b[32m✓\x1b[0m config"));
    }

    #[test]
    fn a_long_message_is_broken_into_rows_of_a_terminal() {
        let found = [("disk", Finding::warn("the project has very little room left", "make some"))];
        expect![[r#"
            ! disk  the project has
                    very little room
                    left
                    -> make some

            0 to mend, 1 to know about
        "#]]
        .assert_eq(&in_words(&found, false, Some(26)));
    }

    #[test]
    fn a_check_that_does_not_end_is_left_behind_and_said() {
        const SLOW: [(&str, Check); 2] = [
            ("slow", |_| {
                std::thread::park();
                vec![]
            }),
            ("quick", |_| vec![Finding::ok("done")]),
        ];
        let found = found_in(Duration::from_millis(50), &SLOW, &Arc::new(Surroundings::gather()));
        let names: Vec<_> = found.iter().map(|(name, finding)| (*name, finding.status)).collect();
        assert_eq!(names, [("slow", Status::Warn), ("quick", Status::Ok)]);
    }
}
