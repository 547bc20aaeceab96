//! `sandboxed_exec`: a program of a skill, with nothing but what the step asks for and the operator grants.

use std::sync::Arc;
use std::time::Duration;

use reyn_core::audit::AuditEvent;
use reyn_core::limits::SANDBOXED_EXEC_SECONDS;
use reyn_core::permission::{Command, FileAxis};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::exec::{output, ran, told_argv, until_gone};
use crate::process::{AskedPaths, AskedPathsError, Narrowed, Request, asked_paths};
use crate::tool::{Context, Tool, ToolError, Touched, Wish};

pub(crate) struct SandboxedExec;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Program and arguments; no shell reads them.
    argv: Vec<String>,
    /// Outbound connections.
    #[serde(default)]
    network: bool,
    /// What it reads; `*` and `**` stand for what is there, `{{workspace}}` for the workspace.
    #[serde(default)]
    read_paths: Vec<String>,
    /// What it reads and writes.
    #[serde(default)]
    write_paths: Vec<String>,
    /// Further processes.
    #[serde(default)]
    allow_subprocess: bool,
    /// Variables that it gets beside `PATH`.
    #[serde(default)]
    env_passthrough: Vec<String>,
    /// Default 60.
    timeout_seconds: Option<u64>,
}

impl Args {
    fn timeout(&self, context: &Context) -> Result<Duration, ToolError> {
        let timeout =
            context.processes()?.timeout("timeout_seconds", self.timeout_seconds, SANDBOXED_EXEC_SECONDS);
        timeout.map_err(|error| ToolError::failed(error.message))
    }
}

impl Tool for SandboxedExec {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "sandboxed_exec",
        summary: "Run a program that gets nothing but what is asked for here.",
        details: "",
        example: r#"{"argv": ["ls", "-l"], "read_paths": ["{{workspace}}"]}"#,
        category: Category::Exec,
        effect: Effect::Changes,
        surfaces: Surfaces::Skill,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Exec { command: Command { argv: args.argv.clone(), has_stdin: false }, cwd: None }]
    }

    fn details(args: &Args, context: &Context) -> Vec<String> {
        let mut details = vec![];
        let asks = |is_asked: bool| if is_asked { "with" } else { "without" };
        details.push(format!(
            "{} the network, {} further processes",
            asks(args.network),
            asks(args.allow_subprocess)
        ));
        for (what, paths) in [("reads", &args.read_paths), ("writes", &args.write_paths)] {
            details.extend(paths.iter().map(|path| format!("{what} `{path}`")));
        }
        details.extend(args.env_passthrough.iter().map(|name| format!("gets the variable `{name}`")));
        details.extend(context.processes().ok().and_then(|processes| processes.unconfined_in_words()));
        details
    }

    fn time_max(args: &Args, context: &Context) -> Option<Duration> {
        args.timeout(context).ok().map(until_gone)
    }

    fn begins(args: &Args, context: &Context) -> Vec<AuditEvent> {
        let Ok(processes) = context.processes() else { return vec![] };
        vec![AuditEvent::SandboxedExecStarted {
            chain_id: context.chain_id.clone(),
            argv: told_argv(&args.argv),
            backend: processes.backend_name().to_owned(),
            timeout_seconds: args.timeout(context).unwrap_or_default().as_secs(),
            network: processes.settings().network && args.network,
            allow_subprocess: processes.settings().subprocess && args.allow_subprocess,
        }]
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let timeout = args.timeout(&context)?;
        let argv = args.argv.clone();
        let (args, reads, writes) = expanded(args, &context).await?;
        let request = Request {
            program: touched.program().to_owned(),
            argv: args.argv,
            cwd: touched.file(0).path.clone(),
            stdin: None,
            timeout,
            narrowed: Narrowed {
                network: Some(args.network),
                subprocess: Some(args.allow_subprocess),
                read_paths: Some(reads.paths),
                write_paths: Some(writes.paths),
                env_names: Some(args.env_passthrough),
            },
        };
        let mut ran = ran(request, &touched, &context).await?;
        ran.notices.splice(0..0, [reads.notes, writes.notes].concat());
        Ok(whole(output(&ran, &argv, timeout, &context)))
    }
}

/// Every key of the seed's result, also where there is nothing to tell.
fn whole(mut output: Output) -> Output {
    output.fields.entry("truncated").or_insert_with(|| false.into());
    output.fields.entry("stderr").or_insert_with(|| "".into());
    output
}

/// What the lists of paths stand for. On a thread of its own, so that a file system that hangs does not hang the turn.
async fn expanded(args: Args, context: &Context) -> Result<(Args, AskedPaths, AskedPaths), ToolError> {
    let (workspace, processes) = (context.workspace()?, context.processes()?);
    let expanding = tokio::task::spawn_blocking(move || {
        let home = processes.settings().home.as_deref();
        let reads = asked_paths("read_paths", &args.read_paths, FileAxis::Read, &workspace, home)?;
        let writes = asked_paths("write_paths", &args.write_paths, FileAxis::Write, &workspace, home)?;
        Ok::<_, AskedPathsError>((args, reads, writes))
    });
    match expanding.await {
        Ok(Ok(expanded)) => Ok(expanded),
        Ok(Err(error)) => Err(ToolError::failed(error.to_string()).hint(error.hint())),
        Err(error) => Err(ToolError::Defect(format!("the tool's code failed: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_step_does_not_ask_for_it_does_not_get() {
        let args: Args = serde_json::from_str(r#"{"argv": ["ls"]}"#).unwrap();
        let Args { argv, network, read_paths, write_paths, allow_subprocess, env_passthrough, timeout_seconds } =
            args;
        assert_eq!((argv, network, allow_subprocess), (vec!["ls".to_owned()], false, false));
        assert_eq!([read_paths, write_paths, env_passthrough], [const { vec![] as Vec<String> }; 3]);
        assert_eq!(timeout_seconds, None);
    }

    #[test]
    fn every_key_of_a_result_is_there() {
        let output = whole(Output::text("stdout", "").with("status", "ok"));
        assert_eq!((&output.fields["truncated"], &output.fields["stderr"]), (&false.into(), &"".into()));
        let cut = whole(Output::text("stdout", "").with("truncated", true).with("stderr", "x"));
        assert_eq!((&cut.fields["truncated"], &cut.fields["stderr"]), (&true.into(), &"x".into()));
    }
}
