//! `reyn sessions verify`.

use std::fmt::Write as _;

use reyn_runtime::log::LogError;
use reyn_runtime::{Sessions, StoredSession};
use serde_json::{Value, json};

use super::args::VerifyArgs;
use super::{counted, failed, find};
use crate::exit::{Exit, Failure};
use crate::output;

/// Places of damage that are named to a person.
const PLACES_SHOWN: usize = 10;

/// Checks every record of a session, or of all, and goes on after one that is damaged.
pub(super) fn run(args: &VerifyArgs, sessions: &Sessions) -> Result<Exit, Failure> {
    let ids = match &args.id {
        Some(wanted) => vec![find(sessions, wanted)?],
        None => sessions.ids().map_err(failed)?,
    };
    let mut exit = Exit::Done;
    let mut checked = vec![];
    for id in &ids {
        let stored = sessions.read(id);
        if !stored.as_ref().is_ok_and(StoredSession::is_sound) {
            exit = Exit::Failed;
        }
        if args.json {
            checked.push(in_json(id, &stored));
        } else {
            output::result_line(&output::for_terminal(&in_words(id, &stored)));
        }
    }
    if args.json {
        let status = if exit == Exit::Done { "ok" } else { "error" };
        output::json(&json!({ "status": status, "exit_code": exit.code(), "sessions": checked }));
    } else if ids.is_empty() {
        output::note("reyn: there is no session here yet; `reyn chat` or `reyn ask` begins one");
    }
    Ok(exit)
}

/// What is wrong with a session, for programs.
pub(super) fn damage(stored: &StoredSession) -> Value {
    let ranges: Vec<Value> =
        stored.damage.iter().map(|range| json!({ "start": range.start, "end": range.end })).collect();
    let disorder: Vec<Value> = stored
        .out_of_order
        .iter()
        .map(|one| json!({ "seq": one.seq, "after": one.after, "at": one.at }))
        .collect();
    json!({ "bytes": ranges, "out_of_order": disorder, "missing": stored.missing })
}

fn in_json(id: &str, stored: &Result<StoredSession, LogError>) -> Value {
    match stored {
        Ok(stored) => json!({
            "id": id,
            "status": if stored.is_sound() { "ok" } else { "damaged" },
            "records": stored.records.len(),
            "bytes": stored.summary.bytes,
            "damage": damage(stored),
            "in_use_by": stored.summary.holder,
        }),
        Err(error) => json!({ "id": id, "status": "error", "message": error.to_string() }),
    }
}

fn in_words(id: &str, stored: &Result<StoredSession, LogError>) -> String {
    let stored = match stored {
        Ok(stored) => stored,
        Err(error) => return format!("{id}: {error}"),
    };
    let records = counted(stored.records.len() as u64, "good record");
    let mut text = if stored.is_sound() {
        format!("{id}: sound, {records}")
    } else {
        format!("{id}: damaged, {records}")
    };
    if stored.missing > 0 {
        let _ = write!(
            text,
            "; {} between them missing, moved aside by an earlier repair or lost",
            if stored.missing == 1 { "1 is".to_owned() } else { format!("{} are", stored.missing) }
        );
    }
    for range in stored.damage.iter().take(PLACES_SHOWN) {
        let _ = write!(text, "\n  bytes {} to {} are no record", range.start, range.end);
    }
    for one in stored.out_of_order.iter().take(PLACES_SHOWN) {
        let _ = write!(text, "\n  record {} at byte {} stands after record {}", one.seq, one.at, one.after);
    }
    let places = [stored.damage.len(), stored.out_of_order.len()];
    let rest: usize = places.iter().map(|count| count.saturating_sub(PLACES_SHOWN)).sum();
    if rest > 0 {
        let _ = write!(text, "\n  and {rest} more places; `--json` names them all");
    }
    if !stored.damage.is_empty() {
        let _ = write!(text, "\n  `reyn sessions repair {id}` moves that aside and keeps every good record");
    }
    if !stored.out_of_order.is_empty() {
        text.push_str("\n  the session opens, but something else than Reyn changed it; no repair can tell what was said");
    }
    text
}
