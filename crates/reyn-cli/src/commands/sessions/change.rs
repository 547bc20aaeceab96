//! `reyn sessions repair` and `rm`: what changes a session, under its lock.

use std::io::BufRead;

use jiff::Timestamp;
use reyn_core::audit::AuditEvent;
use reyn_runtime::{AuditLog, Claim, DEFAULT_AGENT, Sessions};
use serde_json::{Map, Value, json};

use super::args::{OneArgs, RmArgs};
use super::{counted, failed, find};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::person;
use crate::wiring::{Project, token};

/// The run that the audit trail names for what a person does to sessions.
const RUN_ID: &str = "management";

/// Moves damage aside and keeps every good record. A sound session stays as it is.
pub(super) fn repair(args: &OneArgs, project: &Project, now: Timestamp) -> Result<Exit, Failure> {
    let sessions = Sessions::new(&project.state());
    let id = find(&sessions, &args.id)?;
    let repair = sessions.repair(&id, now).map_err(failed)?;
    let damaged_bytes = repair.report.damaged_bytes;
    if damaged_bytes > 0 {
        let session_id = id.clone();
        record(project, &[AuditEvent::SessionRestored { session_id, damaged_bytes, closed_calls: 0 }], now)?;
    }
    let kept = counted(repair.records as u64, "record");
    if args.json {
        output::json(&json!({
            "status": "ok",
            "id": id,
            "records": repair.records,
            "damaged_bytes": damaged_bytes,
            "damaged_file": repair.report.damaged_file,
        }));
    } else if let Some(side) = &repair.report.damaged_file {
        output::result_line(&format!(
            "{id}: {kept} kept; {} of damage moved to `{}`",
            output::size(damaged_bytes),
            side.display()
        ));
    } else {
        output::result_line(&format!("{id}: sound, nothing to repair; {kept}"));
    }
    Ok(Exit::Done)
}

/// Removes sessions after a yes: all of them, or none when one is unknown or in use.
pub(super) fn rm(args: &RmArgs, project: &Project, now: Timestamp) -> Result<Exit, Failure> {
    let sessions = Sessions::new(&project.state());
    let mut ids: Vec<String> = vec![];
    for wanted in &args.ids {
        let id = find(&sessions, wanted)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let claims: Vec<Claim> =
        ids.iter().map(|id| sessions.claim(id, now)).collect::<Result<_, _>>().map_err(failed)?;
    if !args.yes {
        ask(args, &ids, &sessions)?;
    }
    // Written before anything is gone: a trail that misses a removal proves nothing.
    let removed = |id: &String| AuditEvent::SessionRemoved { session_id: id.clone() };
    record(project, &ids.iter().map(removed).collect::<Vec<_>>(), now)?;
    let mut left = Map::new();
    for claim in claims {
        let id = claim.id().to_owned();
        let names = claim.remove().map_err(failed)?.left;
        if !args.json {
            let stays = if names.is_empty() {
                String::new()
            } else {
                format!("; its folder stays for what is not Reyn's: {}", names.join(", "))
            };
            output::result_line(&output::for_terminal(&format!("{id}: removed{stays}")).replace('\n', " "));
        }
        if !names.is_empty() {
            left.insert(id, json!(names));
        }
    }
    if args.json {
        output::json(&json!({ "status": "ok", "removed": ids, "left": Value::Object(left) }));
    }
    Ok(Exit::Done)
}

/// Asks whoever sits at the terminal; without one, or without a yes, nothing is removed.
fn ask(args: &RmArgs, ids: &[String], sessions: &Sessions) -> Result<(), Failure> {
    if args.json || !person::is_there() {
        let message = format!(
            "nobody is there to say yes; `reyn sessions rm {} --yes` removes without asking",
            ids.join(" ")
        );
        let failure = Failure::failed("wants_person", message);
        return Err(Failure { exit: Exit::WantsPerson, ..failure });
    }
    for id in ids {
        let title = sessions.read(id).ok().and_then(|stored| stored.summary.title).unwrap_or_default();
        output::note(&format!("  {id}  {title}"));
    }
    let what = counted(ids.len() as u64, "session");
    output::note_part(&format!("remove {what} with all that was said?  [y] yes  [N] no: "));
    let mut line = String::new();
    let taken = std::io::stdin().lock().read_line(&mut line).unwrap_or(0);
    if taken == 0 {
        output::note("");
    }
    if matches!(line.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Failure::failed("declined", "nothing was removed"))
}

/// Writes events of a person's own doing and waits until they are on the disk.
fn record(project: &Project, events: &[AuditEvent], now: Timestamp) -> Result<(), Failure> {
    let settings = project.config.settings.audit_events.clone();
    let folder = project.state().join("events");
    let mut audit = AuditLog::new(&folder, DEFAULT_AGENT, RUN_ID, &token(8)?, settings);
    for event in events {
        audit.record(event, now).map_err(|error| Failure::failed("audit", error.to_string()))?;
    }
    audit.sync().map_err(|error| Failure::failed("audit", error.to_string()))
}
