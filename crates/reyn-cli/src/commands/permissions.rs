//! `reyn permissions`: what was answered with "always", and how it is taken back.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use reyn_core::audit::AuditEvent;
use reyn_core::permission::{About, Approval, Command, FileAxis, Scope, Zones};
use reyn_core::text::{alternatives, nearest};
use reyn_runtime::config::{self, Project};
use reyn_runtime::{ACTOR, ApprovalError, ApprovalStore, KeptAnswer};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::wiring::place;
use crate::{confirm, management, output, person};

/// Near keys that are named; keys are long.
const NEAR_KEYS_MAX: usize = 3;

/// `reyn permissions`.
#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Every answer that is kept, and what it covers.
    #[command(after_help = "Example: reyn permissions list --json")]
    List(ListArgs),
    /// Take one answer back; a running session asks again from its next call on.
    #[command(after_help = "\
Examples:
  reyn permissions revoke chat_router/file.write/docs/
  reyn permissions revoke chat_router/file.read//etc/hosts --json")]
    Revoke(RevokeArgs),
    /// Take every answer back.
    #[command(after_help = "\
Examples:
  reyn permissions clear          asks first
  reyn permissions clear --yes    for scripts")]
    Clear(ClearArgs),
}

/// `reyn permissions list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// `reyn permissions revoke`.
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The answer's key, as `reyn permissions list` shows it.
    key: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// `reyn permissions clear`.
#[derive(Debug, Args)]
pub(crate) struct ClearArgs {
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Print JSON; never asks, so it needs `--yes`.
    #[arg(long)]
    json: bool,
}

impl PermissionsCommand {
    /// Whether JSON is wanted.
    pub(crate) const fn is_json(&self) -> bool {
        match self {
            Self::List(args) => args.json,
            Self::Revoke(args) => args.json,
            Self::Clear(args) => args.json,
        }
    }
}

/// Lists, or takes back. Works while the configuration is wrong.
pub(crate) fn run(command: &PermissionsCommand) -> Result<Exit, Failure> {
    let project = place()?;
    let store = ApprovalStore::new(project.root.join(".reyn/approvals.yaml"));
    match command {
        PermissionsCommand::List(args) => list(&project, store, args.json),
        PermissionsCommand::Revoke(args) => revoke(&project, store, args),
        PermissionsCommand::Clear(args) => clear(&project, store, args),
    }
}

fn list(project: &Project, mut store: ApprovalStore, as_json: bool) -> Result<Exit, Failure> {
    let zones = config::zones(&project.root, project.home.as_deref());
    let answers = store.list(&zones).map_err(failed)?;
    if as_json {
        let answers: Vec<Value> = answers.iter().map(|answer| in_json(answer, &zones)).collect();
        output::json(&json!({ "answers": answers }));
    } else if answers.is_empty() {
        output::result_line(
            "no answers are kept; one is, when you answer a question with \"always\" in a terminal",
        );
    } else {
        output::result(&table(&answers, &zones));
    }
    Ok(Exit::Done)
}

fn in_json(answer: &KeptAnswer, zones: &Zones) -> Value {
    let (covers, no_effect) = match covered(answer, zones) {
        Ok(words) => (Some(words), None),
        Err(why) => (None, Some(why)),
    };
    json!({ "key": answer.key, "allowed": answer.is_allowed, "covers": covers, "no_effect": no_effect })
}

/// What an answer is about, or why it has no effect.
fn covered(answer: &KeptAnswer, zones: &Zones) -> Result<String, &'static str> {
    let Some(approval) = &answer.approval else {
        let is_ours = answer.key.strip_prefix(ACTOR).is_some_and(|rest| rest.starts_with('/'));
        return Err(if is_ours { "no such operation or path" } else { "another program's answer" });
    };
    let About::File { op, path } = &approval.about else { return Ok(in_words(approval, zones)) };
    let is_change = op.axis() == FileAxis::Write;
    let is_one_file = approval.scope == Scope::JustPath;
    if zones.is_sealed(path) && is_one_file {
        return Err("no tool may touch this file, whoever says yes");
    }
    if approval.is_allowed && is_change && is_one_file && zones.is_protected(path) {
        return Err("a change of this file is asked every time");
    }
    Ok(in_words(approval, zones))
}

fn in_words(approval: &Approval, zones: &Zones) -> String {
    let (verb, place) = match &approval.about {
        About::File { op, path } => (op.verb(), zones.display(path)),
        About::Command { argv } => {
            let line = Command { argv: argv.clone(), has_stdin: false }.line();
            return match approval.scope {
                Scope::Recursive => format!("run {line} …"),
                Scope::JustPath | Scope::ThisCall => format!("run {line}"),
            };
        }
        About::Host { op, host } => return format!("{} {host}", op.verb()),
    };
    match approval.scope {
        Scope::Recursive => {
            // `search in` is said of one folder.
            let verb = verb.strip_suffix(" in").unwrap_or(verb);
            let slash = if place.ends_with('/') { "" } else { "/" };
            format!("{verb} below {place}{slash}")
        }
        Scope::JustPath | Scope::ThisCall => format!("{verb} {place}"),
    }
}

fn table(answers: &[KeptAnswer], zones: &Zones) -> String {
    let rows: Vec<(&str, String, String)> = answers
        .iter()
        .map(|answer| {
            let said = if answer.is_allowed { "yes" } else { "no" };
            let what = covered(answer, zones).unwrap_or_else(|why| format!("no effect: {why}"));
            (said, output::visible(&what), output::visible(&answer.key))
        })
        .collect();
    let width = rows.iter().map(|(_, what, _)| what.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (said, what, key) in rows {
        let gap = " ".repeat(width - what.chars().count());
        let _ = writeln!(text, "{said:<3}  {what}{gap}  {key}");
    }
    text
}

fn revoke(project: &Project, mut store: ApprovalStore, args: &RevokeArgs) -> Result<Exit, Failure> {
    let Some(was_allowed) = store.revoke(&args.key).map_err(failed)? else {
        return Err(unknown(project, &mut store, &args.key));
    };
    // Taken back first: a yes must not stand because the trail cannot be written.
    management::record(&project.root, &AuditEvent::PermissionApprovalRevoked { key: args.key.clone() })
        .map_err(|failure| taken_back_without_trace(&failure))?;
    if args.json {
        output::json(&json!({ "status": "ok", "revoked": args.key, "was_allowed": was_allowed }));
    } else {
        let said = if was_allowed { "yes" } else { "no" };
        output::result_line(&format!("taken back: {said} to {}", output::visible(&args.key)));
    }
    Ok(Exit::Done)
}

fn unknown(project: &Project, store: &mut ApprovalStore, key: &str) -> Failure {
    let zones = config::zones(&project.root, project.home.as_deref());
    let answers = store.list(&zones).unwrap_or_default();
    let mut near = nearest(key, answers.iter().map(|answer| answer.key.as_str()));
    near.truncate(NEAR_KEYS_MAX);
    let hint = match (near.is_empty(), answers.is_empty()) {
        (false, _) => format!("did you mean {}?", alternatives(&near)),
        (true, false) => "`reyn permissions list` shows them all".to_owned(),
        (true, true) => "no answers are kept, so there is nothing to take back".to_owned(),
    };
    Failure::usage("unknown_key", format!("no answer has the key `{}`; {hint}", output::visible(key)))
        .with(json!({ "suggestions": near }))
}

fn clear(project: &Project, mut store: ApprovalStore, args: &ClearArgs) -> Result<Exit, Failure> {
    let zones = config::zones(&project.root, project.home.as_deref());
    let count = store.list(&zones).map_err(failed)?.len();
    if count > 0 && !args.yes {
        let what = if count == 1 { "the one answer".to_owned() } else { format!("all {count} answers") };
        if args.json || !person::is_there() {
            let message = format!(
                "nobody is there to say yes to taking back {what}; add `--yes`, or take one back with \
                 `reyn permissions revoke KEY`"
            );
            return Err(Failure::wants_person(message));
        }
        if !confirm::is_yes(&format!("Take back {what} of this project?"), confirm::Default::No) {
            return Err(Failure::failed(
                "declined",
                "nothing was taken back; `reyn permissions revoke KEY` takes one answer back",
            ));
        }
    }
    let count = store.clear().map_err(failed)?;
    if count > 0 {
        let event = AuditEvent::PermissionApprovalsCleared { count: count as u64 };
        management::record(&project.root, &event).map_err(|failure| taken_back_without_trace(&failure))?;
    }
    if args.json {
        output::json(&json!({ "status": "ok", "cleared": count }));
    } else {
        output::result_line(&match count {
            0 => "no answers are kept".to_owned(),
            1 => "taken back: 1 answer".to_owned(),
            count => format!("taken back: {count} answers"),
        });
    }
    Ok(Exit::Done)
}

fn taken_back_without_trace(failure: &Failure) -> Failure {
    let message = format!(
        "it is taken back, but the audit trail does not say so: {}; `reyn doctor` looks for the reason",
        failure.message
    );
    Failure::failed("audit", message)
}

fn failed(error: ApprovalError) -> Failure {
    match error {
        ApprovalError::Malformed { .. } => Failure::usage("approvals", error.to_string()),
        ApprovalError::Io { .. } => {
            Failure::failed("io", format!("{error}; try again, or look at its owner and mode"))
        }
    }
}
