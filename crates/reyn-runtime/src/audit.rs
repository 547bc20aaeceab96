//! The audit trail on disk: `.reyn/events/agents/<agent>/chat/<YYYY-MM>/<time>.jsonl`.
//!
//! Each line is `{"type":…,"timestamp":…,"data":{…}}`; `data` also holds the agent, the run, a token of the
//! process and a number that counts up, so that a gap shows. Invariant: an event that cannot be written
//! stops the turn.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use reyn_core::audit::AuditEvent;
use reyn_core::settings::AuditSettings;
use serde_json::{Value, json};

use crate::log::check_own_folders;

/// Files of one second; a further one would mean a loop.
const FILES_PER_SECOND_MAX: u32 = 1_000;

/// Where events go. Opened at the first event.
#[derive(Debug)]
pub struct AuditLog {
    folder: PathBuf,
    settings: AuditSettings,
    agent: String,
    run_id: String,
    emitter: String,
    audit_seq: u64,
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    file: File,
    path: PathBuf,
    bytes: u64,
    opened: Zoned,
}

/// An event could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the audit trail `{path}`: {source}")]
pub struct AuditError {
    path: PathBuf,
    source: std::io::Error,
}

impl AuditLog {
    /// The trail of the agent `agent` below `events` (`.reyn/events`). `emitter` is a random token of this
    /// process, `run_id` the session.
    #[must_use]
    pub fn new(events: &Path, agent: &str, run_id: &str, emitter: &str, settings: AuditSettings) -> Self {
        Self {
            folder: events.join("agents").join(agent).join("chat"),
            settings,
            agent: agent.to_owned(),
            run_id: run_id.to_owned(),
            emitter: emitter.to_owned(),
            audit_seq: 0,
            current: None,
        }
    }

    /// Writes an event that happened at `now`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn record(&mut self, event: &AuditEvent, now: Timestamp) -> Result<(), AuditError> {
        self.audit_seq += 1;
        let mut line = serde_json::to_vec(&self.envelope(event, now)).expect("an event is plain data");
        line.push(b'\n');
        let zoned = now.to_zoned(TimeZone::system());
        let is_full = self.current.as_ref().is_some_and(|current| self.is_over(current, &zoned));
        if is_full {
            self.current = None;
        }
        let current = match &mut self.current {
            Some(current) => current,
            none @ None => none.insert(open_new(&self.folder, &self.settings, zoned)?),
        };
        match current.file.write_all(&line) {
            Ok(()) => {
                current.bytes += line.len() as u64;
                Ok(())
            }
            Err(source) => {
                let path = current.path.clone();
                // A part of the line may be there, and the next event would fuse with it.
                self.current = None;
                Err(AuditError { path, source })
            }
        }
    }

    /// Waits until every event is on the disk.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&mut self) -> Result<(), AuditError> {
        match &self.current {
            Some(current) => {
                current.file.sync_data().map_err(|source| AuditError { path: current.path.clone(), source })
            }
            None => Ok(()),
        }
    }

    fn envelope(&self, event: &AuditEvent, now: Timestamp) -> Value {
        let mut value = serde_json::to_value(event).expect("an event is plain data");
        let mut data = value["data"].take();
        if let Some(data) = data.as_object_mut() {
            data.entry("agent_id").or_insert_with(|| json!(self.agent));
            data.entry("run_id").or_insert_with(|| json!(self.run_id));
            data.insert("emitter".to_owned(), json!(self.emitter));
            data.insert("audit_seq".to_owned(), json!(self.audit_seq));
        }
        json!({"type": value["type"], "timestamp": now.to_string(), "data": data})
    }

    fn is_over(&self, current: &Current, now: &Zoned) -> bool {
        let AuditSettings { max_bytes, max_age_seconds, .. } = self.settings;
        let age = now.timestamp().as_second() - current.opened.timestamp().as_second();
        let is_old = max_age_seconds > 0
            && (age >= i64::try_from(max_age_seconds).unwrap_or(i64::MAX)
                || now.date() != current.opened.date());
        is_old || (max_bytes > 0 && current.bytes >= max_bytes)
    }
}

fn open_new(folder: &Path, settings: &AuditSettings, now: Zoned) -> Result<Current, AuditError> {
    let month = folder.join(now.strftime("%Y-%m").to_string());
    let fail = |source| AuditError { path: month.clone(), source };
    check_own_folders(&month, OWN_FOLDERS).map_err(fail)?;
    if !month.is_dir() {
        std::fs::create_dir_all(&month).map_err(fail)?;
        remove_old_months(folder, settings, &now);
    }
    let base = now.strftime("%Y-%m-%dT%H%M%S").to_string();
    for count in 0..FILES_PER_SECOND_MAX {
        let suffix = if count == 0 { String::new() } else { format!("_{count}") };
        let path = month.join(format!("{base}{suffix}.jsonl"));
        match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok(Current { file, path, bytes: 0, opened: now }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(AuditError { path, source }),
        }
    }
    Err(fail(std::io::Error::other("too many files in one second")))
}

/// Removes folders of months that ended longer ago than the operator keeps. Runs once a month, when a new
/// month's folder is made.
fn remove_old_months(folder: &Path, settings: &AuditSettings, now: &Zoned) {
    if settings.cleanup_period_days == 0 {
        return;
    }
    let Ok(oldest) = now.checked_sub(Span::new().days(i64::from(settings.cleanup_period_days))) else {
        return;
    };
    let oldest = oldest.strftime("%Y-%m").to_string();
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let is_old = name.to_str().is_some_and(|name| is_month(name) && name < oldest.as_str());
        if is_old && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_month(&entry.path());
        }
    }
}

/// Removes the audit files of a folder, and the folder when nothing else is in it. What cannot be removed
/// today is tried again next month.
fn remove_month(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let _ = std::fs::remove_file(path);
        }
    }
    let _ = std::fs::remove_dir(folder);
}

/// `events`, `agents`, the agent's, `chat` and the month's own.
const OWN_FOLDERS: usize = 5;

/// Whether a folder's name is `YYYY-MM`, one of ours.
fn is_month(name: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('-').is_some_and(|(year, month)| {
        year.len() == 4 && month.len() == 2 && is_digits(year) && is_digits(month)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str) -> AuditEvent {
        AuditEvent::TurnStarted { chain_id: id.into() }
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut found = vec![];
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { found.push(path) }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn events_are_lines_with_an_envelope_and_a_running_number() {
        let dir = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let mut audit = AuditLog::new(dir.path(), "default", "s1", "tok", AuditSettings::default());
        audit.record(&event("a"), now).unwrap();
        audit.record(&event("b"), now).unwrap();
        let files = files(dir.path());
        let lines: Vec<Value> = std::fs::read_to_string(&files[0])
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let expected = |id: &str, seq: u64| {
            json!({
                "type": "turn_started", "timestamp": "2026-01-02T03:04:05Z",
                "data": {"chain_id": id, "agent_id": "default", "run_id": "s1", "emitter": "tok", "audit_seq": seq},
            })
        };
        assert_eq!(lines, [expected("a", 1), expected("b", 2)]);
    }

    #[test]
    fn a_full_file_is_followed_by_another() {
        let dir = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let settings = AuditSettings { max_bytes: 1, ..AuditSettings::default() };
        let mut audit = AuditLog::new(dir.path(), "default", "s1", "tok", settings);
        for id in ["a", "b", "c"] {
            audit.record(&event(id), now).unwrap();
        }
        assert_eq!(files(dir.path()).len(), 3);
    }

    #[test]
    fn months_past_their_time_are_removed_when_a_new_one_begins() {
        let dir = tempfile::tempdir().unwrap();
        let mut audit = AuditLog::new(dir.path(), "default", "s1", "tok", AuditSettings::default());
        for time in ["2025-10-01T12:00:00Z", "2025-12-15T12:00:00Z", "2026-01-10T12:00:00Z"] {
            audit.record(&event("a"), time.parse().unwrap()).unwrap();
        }
        let months: Vec<_> =
            files(dir.path()).iter().map(|path| path.iter().rev().nth(1).unwrap().to_owned()).collect();
        assert_eq!(months, ["2025-12", "2026-01"]);
    }

    #[test]
    fn folders_that_are_no_months_are_never_removed() {
        let dir = tempfile::tempdir().unwrap();
        let chat = dir.path().join("agents/default/chat");
        for name in ["archive", "0backup", "2020-ab"] {
            std::fs::create_dir_all(chat.join(name)).unwrap();
        }
        let mut audit = AuditLog::new(dir.path(), "default", "s1", "tok", AuditSettings::default());
        audit.record(&event("a"), "2026-01-10T12:00:00Z".parse().unwrap()).unwrap();
        assert_eq!(std::fs::read_dir(&chat).unwrap().count(), 4);
    }

    #[test]
    fn a_link_in_the_place_of_a_folder_is_refused_and_nothing_behind_it_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let victim = tempfile::tempdir().unwrap();
        let old = victim.path().join("2019-01");
        std::fs::create_dir_all(&old).unwrap();
        std::fs::write(old.join("thesis.txt"), "x").unwrap();
        std::fs::create_dir_all(dir.path().join("agents/default")).unwrap();
        std::os::unix::fs::symlink(victim.path(), dir.path().join("agents/default/chat")).unwrap();
        let now: Timestamp = "2026-01-10T12:00:00Z".parse().unwrap();
        let mut audit = AuditLog::new(dir.path(), "default", "s1", "tok", AuditSettings::default());
        assert!(audit.record(&event("a"), now).is_err());
        assert_eq!(std::fs::read_dir(victim.path()).unwrap().count(), 1);
        assert!(old.join("thesis.txt").exists());
    }

    #[test]
    fn of_an_old_month_only_our_own_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let chat = dir.path().join("agents/default/chat");
        for name in ["2019-01", "2019-02"] {
            std::fs::create_dir_all(chat.join(name)).unwrap();
            std::fs::write(chat.join(name).join("2019-01-01T000000.jsonl"), "{}").unwrap();
        }
        std::fs::write(chat.join("2019-02/notes.txt"), "x").unwrap();
        let now: Timestamp = "2026-01-10T12:00:00Z".parse().unwrap();
        let mut audit = AuditLog::new(dir.path(), "default", "s1", "tok", AuditSettings::default());
        audit.record(&event("a"), now).unwrap();
        assert!(!chat.join("2019-01").exists());
        let left: Vec<_> =
            std::fs::read_dir(chat.join("2019-02")).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"]);
    }

    #[test]
    fn an_event_after_one_that_could_not_be_written_begins_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let mut audit = AuditLog::new(dir.path(), "default", "s1", "tok", AuditSettings::default());
        let file = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let opened = now.to_zoned(TimeZone::system());
        audit.current = Some(Current { file, path: "/dev/full".into(), bytes: 0, opened });
        assert!(audit.record(&event("a"), now).is_err());
        audit.record(&event("b"), now).unwrap();
        assert_eq!(files(dir.path()).len(), 1);
    }
}
