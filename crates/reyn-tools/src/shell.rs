//! `shell`: a line for `/bin/sh`, in the sandbox that `exec` runs in. Off unless the run was started with `--allow-shell`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reyn_core::audit::AuditEvent;
use reyn_core::redaction::told;
use reyn_core::limits::SHELL_SECONDS;
use reyn_core::permission::Command;
use reyn_core::tool::{
    CallError, Category, Dispatch, Effect, ErrorKind, Output, Surfaces, ToolSpec, WANTS_PERSON,
};
use reyn_sandbox::Ending;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::exec::{output, ran, unenforced, until_gone};
use crate::process::{Narrowed, Ran, Request};
use crate::tool::{Context, Tool, ToolError, Touched, Wish};

pub(crate) struct Shell;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The line.
    cmd: String,
    /// Seconds; default 120.
    timeout: Option<u64>,
}

impl Args {
    fn timeout(&self, context: &Context) -> Result<Duration, ToolError> {
        let timeout = context.processes()?.timeout("timeout", self.timeout, SHELL_SECONDS);
        timeout.map_err(|error| ToolError::failed(error.message))
    }

    fn argv(&self) -> Vec<String> {
        vec!["sh".to_owned(), "-c".to_owned(), self.cmd.clone()]
    }
}

/// The system's own shell, whatever `PATH` calls `sh`.
const SH: &str = "/bin/sh";

const NO_FLAG: &str = "the run was not started with `--allow-shell`; `sandboxed_exec` runs programs without it";

const DEPRECATED: &str = "`shell` is deprecated and goes away in 1.0; use `sandboxed_exec`";

impl Tool for Shell {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "shell",
        summary: "Deprecated: use sandboxed_exec. Run a line of sh; needs --allow-shell.",
        details: "",
        example: r#"{"cmd": "ls | wc -l"}"#,
        category: Category::Exec,
        effect: Effect::Changes,
        surfaces: Surfaces::Skill,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Exec { command: Command { argv: args.argv(), has_stdin: false }, cwd: None }]
    }

    fn details(_args: &Args, context: &Context) -> Vec<String> {
        context.processes().ok().and_then(|processes| processes.in_words()).into_iter().collect()
    }

    fn time_max(args: &Args, context: &Context) -> Option<Duration> {
        args.timeout(context).ok().map(until_gone)
    }

    fn begins(args: &Args, context: &Context) -> Vec<AuditEvent> {
        let Ok(timeout) = args.timeout(context) else { return vec![] };
        if Self::is_off(context) {
            return vec![];
        }
        vec![AuditEvent::ShellStarted {
            chain_id: context.chain_id.clone(),
            cmd: told(&args.cmd),
            timeout: timeout.as_secs(),
        }]
    }

    fn is_off(context: &Context) -> bool {
        !context.processes().is_ok_and(|processes| processes.settings().is_shell_allowed)
    }

    fn refused(args: &Args, error: &CallError, context: &Context) -> Option<Output> {
        if !matches!(error.kind, ErrorKind::PermissionDenied | ErrorKind::ToolExcluded) {
            return None;
        }
        let reason = [Some(error.message.as_str()), error.hint.as_deref()];
        let reason = reason.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let output = not_allowed(args, &reason, context);
        Some(if error.wants_person { output.with(WANTS_PERSON, true) } else { output })
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        if Self::is_off(&context) {
            return Ok(not_allowed(&args, NO_FLAG, &context));
        }
        let timeout = args.timeout(&context)?;
        let request = Request {
            program: PathBuf::from(SH),
            argv: args.argv(),
            cwd: touched.file(0).path.clone(),
            stdin: None,
            timeout,
            narrowed: Narrowed::default(),
        };
        let ran = ran(request, &touched, &context).await?;
        let mut output = told_of(&ran, &args, timeout, &context);
        if context.processes()?.warns_of_shell() {
            let note = output.fields.get("note").and_then(|note| note.as_str());
            let note = note.map_or_else(|| DEPRECATED.to_owned(), |note| format!("{DEPRECATED}; {note}"));
            output = output.with("note", note);
        }
        Ok(output)
    }
}

/// What a shell did, under the seed's keys.
fn told_of(ran: &Ran, args: &Args, timeout: Duration, context: &Context) -> Output {
    let mut output = output(ran, &args.argv(), timeout, context);
    output.fields.entry("stderr").or_insert_with(|| "".into());
    let chain_id = context.chain_id.clone();
    let cmd = told(&args.cmd);
    let is_timeout = ran.exited.ending == Ending::TimedOut;
    let event = if is_timeout {
        // The seed's words for it; a part of a line's output is none of its result.
        output.body.clear();
        output.fields.retain(|key, _| ["status", "returncode", "backend", "note"].contains(&key.as_str()));
        output = output.with("stderr", format!("Command timed out after {}s", timeout.as_secs()));
        AuditEvent::ShellTimeout { chain_id, cmd, timeout: timeout.as_secs() }
    } else {
        let returncode = output.fields.get("returncode").and_then(serde_json::Value::as_i64);
        AuditEvent::ShellCompleted {
            chain_id,
            cmd,
            returncode: returncode.and_then(|code| i32::try_from(code).ok()).unwrap_or(-1),
            stdout_len: ran.exited.stdout.bytes_total,
            stderr_len: ran.exited.stderr.bytes_total,
        }
    };
    output.notes = unenforced(ran).into_iter().chain([event]).collect();
    output
}

/// What a line that was not run comes to.
fn not_allowed(args: &Args, reason: &str, context: &Context) -> Output {
    let mut output = Output::text("stdout", "")
        .with("status", "shell_not_allowed")
        .with("returncode", -1)
        .with("stderr", reason);
    output.notes = vec![AuditEvent::ShellNotAllowed {
        chain_id: context.chain_id.clone(),
        cmd: told(&args.cmd),
        reason: told(reason),
    }];
    output
}
