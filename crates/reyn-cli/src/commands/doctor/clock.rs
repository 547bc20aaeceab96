//! Whether the clock can be right: events and sessions are ordered by it.

use std::path::Path;
use std::time::SystemTime;

use jiff::{Timestamp, Unit, tz::TimeZone};

use super::{Finding, Surroundings};
use crate::commands::events::lines::{LineReader, files};

/// No log is older than the program.
const YEAR_MIN: i16 = 2025;
/// Later than this, the clock is wrong rather than the program old.
const YEAR_MAX: i16 = 2099;
/// Seconds that a clock may be set back without a word.
const TOLERANCE_SECONDS: i64 = 60;
/// Newest files of the trail that are looked at.
const FILES_MAX: usize = 200;
/// How much of the end of the newest file is read, in bytes.
const TAIL_BYTES: u64 = 64 << 10;

pub(super) fn check(surroundings: &Surroundings) -> Vec<Finding> {
    let now = Timestamp::now();
    let newest = surroundings.state().and_then(|state| newest_entry(&state.join("events")));
    vec![judged(now, newest)]
}

fn judged(now: Timestamp, newest: Option<Timestamp>) -> Finding {
    let zoned = now.to_zoned(TimeZone::system());
    let shown = zoned.strftime("%Y-%m-%d %H:%M:%S %Z").to_string();
    let fix = "set the clock; `timedatectl` shows it on many systems";
    if !(YEAR_MIN..=YEAR_MAX).contains(&zoned.year()) {
        return Finding::fail(
            format!("it is {shown}, which cannot be: certificates and times will be wrong"),
            fix,
        );
    }
    let behind = newest.map_or(0, |newest| newest.as_second() - now.as_second());
    if behind > TOLERANCE_SECONDS {
        let ago = newest.and_then(|newest| (newest - now).round(Unit::Minute).ok());
        let ago = ago.map_or_else(String::new, |span| format!(" by {span:#}"));
        return Finding::warn(
            format!("it is {shown}, and the last entry of the audit trail is later{ago}"),
            fix,
        );
    }
    Finding::ok(shown)
}

/// The latest moment that the trail knows of: in its last line, or when one of its files was written.
fn newest_entry(events: &Path) -> Option<Timestamp> {
    let files = files(events).ok()?;
    let written = files.iter().rev().take(FILES_MAX).filter_map(|file| {
        let modified: SystemTime = std::fs::metadata(file).ok()?.modified().ok()?;
        Timestamp::try_from(modified).ok()
    });
    let said = files.last().and_then(|file| last_time(file));
    written.chain(said).max()
}

fn last_time(file: &Path) -> Option<Timestamp> {
    let bytes = std::fs::metadata(file).ok()?.len();
    let mut reader = LineReader::open(file, bytes.saturating_sub(TAIL_BYTES)).ok()?;
    let mut last = None;
    while let Ok(Some(line)) = reader.next_line() {
        let time = line.event().and_then(|event| event["timestamp"].as_str()?.parse().ok());
        last = time.or(last);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn a_clock_behind_the_last_entry_is_told() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = time("2026-05-06T12:00:00Z");
        for (now, newest, status) in [
            (now, None, Status::Ok),
            (now, Some(time("2026-05-06T11:00:00Z")), Status::Ok),
            (now, Some(time("2026-05-06T12:00:30Z")), Status::Ok),
            (now, Some(time("2026-05-06T14:30:00Z")), Status::Warn),
            (time("1970-01-01T12:00:00Z"), None, Status::Fail),
            (time("2150-01-01T12:00:00Z"), None, Status::Fail),
        ] {
            assert_eq!(judged(now, newest).status, status, "{now} {newest:?}");
        }
    }

    #[test]
    fn the_last_entry_is_found_in_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("2099-01-01T000000.jsonl");
        std::fs::write(&file, "{\"type\":\"a\",\"timestamp\":\"2098-01-02T03:04:05Z\"}\n{\"cut").unwrap();
        assert_eq!(newest_entry(dir.path()), Some("2098-01-02T03:04:05Z".parse().unwrap()));
        assert_eq!(newest_entry(&dir.path().join("none")), None);
    }
}
