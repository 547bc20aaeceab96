//! `exec`: a program, confined.

use std::sync::Arc;
use std::time::Duration;

use reyn_core::audit::AuditEvent;
use reyn_core::redaction::told;
use reyn_core::limits::AUDIT_ITEMS_MAX;
use reyn_core::permission::Command;
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_sandbox::{Denial, Ending, GRACE};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::process::{Narrowed, Ran, Request, stream};
use crate::tool::{Context, Tool, ToolError, Touched, Wish};

pub(crate) struct Exec;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Program and arguments; no shell reads them.
    argv: Vec<String>,
    /// Its input.
    stdin: Option<String>,
    /// Default `.`.
    cwd: Option<String>,
    /// Seconds.
    timeout: Option<u64>,
}

impl Args {
    fn command(&self) -> Command {
        Command { argv: self.argv.clone(), has_stdin: self.stdin.is_some() }
    }
}

/// How long beyond its own time a program takes at most to be gone.
const END_SECONDS_MAX: u64 = 20;

impl Tool for Exec {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "exec",
        summary: "Run a program in a sandbox.",
        details: "",
        example: r#"{"argv": ["ls", "-l"]}"#,
        category: Category::Exec,
        effect: Effect::Changes,
        surfaces: Surfaces::Chat,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Exec { command: args.command(), cwd: args.cwd.clone() }]
    }

    fn details(args: &Args, context: &Context) -> Vec<String> {
        let mut details: Vec<String> = args.cwd.iter().map(|cwd| format!("in the folder `{cwd}`")).collect();
        if let Some(stdin) = &args.stdin {
            details.push("it reads:".to_owned());
            details.extend(stdin.lines().map(|line| format!("  {line}")));
        }
        details.extend(context.processes().ok().and_then(|processes| processes.in_words()));
        details
    }

    fn time_max(args: &Args, context: &Context) -> Option<Duration> {
        let processes = context.processes().ok()?;
        let timeout = processes.timeout("timeout", args.timeout, processes.settings().timeout_seconds).ok()?;
        Some(until_gone(timeout))
    }

    fn begins(args: &Args, context: &Context) -> Vec<AuditEvent> {
        let Ok(processes) = context.processes() else { return vec![] };
        let settings = processes.settings();
        let timeout = processes.timeout("timeout", args.timeout, settings.timeout_seconds).unwrap_or_default();
        vec![AuditEvent::SandboxedExecStarted {
            chain_id: context.chain_id.clone(),
            argv: told_argv(&args.argv),
            backend: processes.backend_name().to_owned(),
            timeout_seconds: timeout.as_secs(),
            network: settings.network,
            allow_subprocess: settings.subprocess,
        }]
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let processes = context.processes()?;
        let timeout = processes
            .timeout("timeout", args.timeout, processes.settings().timeout_seconds)
            .map_err(|error| ToolError::failed(error.message))?;
        let argv = args.argv.clone();
        let request = Request {
            program: touched.program().to_owned(),
            argv: args.argv,
            cwd: touched.file(0).path.clone(),
            stdin: args.stdin,
            timeout,
            narrowed: Narrowed::default(),
        };
        let ran = ran(request, &touched, &context).await?;
        Ok(output(&ran, &argv, timeout, &context))
    }
}

/// How long a program is awaited that may take this long.
pub(crate) const fn until_gone(timeout: Duration) -> Duration {
    timeout.saturating_add(GRACE).saturating_add(Duration::from_secs(END_SECONDS_MAX))
}

/// Runs a program to its end, as far as what was permitted reaches.
pub(crate) async fn ran(request: Request, touched: &Touched, context: &Context) -> Result<Ran, ToolError> {
    let root = context.workspace()?.root().to_owned();
    let reach = touched.reach_of_processes();
    let ran = context.processes()?.run(request, &reach, &root, context.cancel.clone()).await;
    let ran = ran.map_err(|error| ToolError::failed(error.to_string()))?;
    if ran.exited.ending == Ending::Cancelled {
        return Err(ToolError::Cancelled);
    }
    Ok(ran)
}

/// Words of a command as the audit trail holds them.
pub(crate) fn told_argv(argv: &[String]) -> Vec<String> {
    argv.iter().take(AUDIT_ITEMS_MAX).map(|word| told(word)).collect()
}

/// What a program did, under the seed's keys.
pub(crate) fn output(ran: &Ran, argv: &[String], timeout: Duration, context: &Context) -> Output {
    let (stdout, stderr) = (stream(&ran.exited.stdout), stream(&ran.exited.stderr));
    let (status, code, said) = match ran.exited.ending {
        Ending::Exited { code: 0 } => ("ok", 0, None),
        Ending::Exited { code } => ("error", code, None),
        Ending::Signalled { signal } => ("error", 128 + signal, Some(format!("killed by signal {signal}"))),
        Ending::TimedOut => ("timeout", -1, Some(format!("Command timed out after {}s", timeout.as_secs()))),
        Ending::Cancelled => ("cancelled", -1, None),
    };
    let truncated = stdout.is_truncated || stderr.is_truncated;
    let mut words = stderr.text.clone();
    if let Some(said) = said {
        if !words.is_empty() && !words.ends_with('\n') {
            words.push('\n');
        }
        words.push_str(&said);
    }
    let mut output = Output::text("stdout", stdout.text)
        .with("status", status)
        .with("returncode", code)
        .with("backend", ran.backend.name());
    if truncated {
        output = output
            .with("truncated", true)
            .with("stdout_bytes", stdout.bytes_total)
            .with("stderr_bytes", stderr.bytes_total);
    }
    let mut notes = ran.notices.clone();
    notes.extend(ran.exited.denial.map(|denial| denial_words(denial).to_owned()));
    for (name, stream) in [("stdout", stdout.encoding), ("stderr", stderr.encoding)] {
        notes.extend(stream.map(|encoding| format!("`{name}` was {encoding}")));
    }
    if stdout.is_damaged || stderr.is_damaged {
        notes.push("bytes that are no text are shown as U+FFFD".to_owned());
    }
    if !notes.is_empty() {
        output = output.with("note", notes.join("; "));
    }
    if !words.is_empty() {
        output = output.with("stderr", words);
    }
    output.notes = audit(ran, argv, code, truncated, context);
    output
}

fn audit(ran: &Ran, argv: &[String], returncode: i32, truncated: bool, context: &Context) -> Vec<AuditEvent> {
    let completed = AuditEvent::SandboxedExecCompleted {
        chain_id: context.chain_id.clone(),
        argv: told_argv(argv),
        backend: ran.backend.name().to_owned(),
        returncode,
        stdout_len: ran.exited.stdout.bytes_total,
        stderr_len: ran.exited.stderr.bytes_total,
        truncated,
    };
    unenforced(ran).into_iter().chain([completed]).collect()
}

/// What the audit trail is told where the sandbox did not keep all of its policy.
pub(crate) fn unenforced(ran: &Ran) -> Option<AuditEvent> {
    (!ran.unenforced.is_empty()).then(|| AuditEvent::SandboxAxisUnenforced {
        backend: ran.backend.name().to_owned(),
        axes: ran.unenforced.iter().map(|one| one.axis.to_string()).collect(),
        reason: told(&ran.unenforced.iter().map(|one| one.why.clone()).collect::<Vec<_>>().join("; ")),
    })
}

/// What the sandbox seems to have refused, and what the model can do about it.
fn denial_words(denial: Denial) -> &'static str {
    match denial {
        Denial::Subprocess => "the sandbox lets it start no further process (`sandbox.policy.subprocess`)",
        Denial::Network => "the sandbox may have refused the network (`sandbox.policy.network`)",
        Denial::Write => {
            "the sandbox may have refused a write: the workspace without the runtime's and Git's own files is writable, \
             and `sandbox.policy.allow_write_paths`"
        }
        Denial::File => {
            "the sandbox may have refused a file: the workspace, system folders and toolchains are readable, and \
             `sandbox.policy.allow_read_paths`"
        }
        Denial::FileSize => "a file grew longer than `sandbox.policy.file_bytes`",
    }
}
