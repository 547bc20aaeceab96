//! `reyn events`: prints the audit trail, oldest first.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};
use reyn_core::audit::KINDS;
use reyn_core::text::nearest;
use serde_json::Value;

use crate::args::EventsArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::project_root;

/// Folders deep that are looked into.
const DEPTH_MAX: usize = 12;
/// Longest line that is read, in bytes.
const LINE_BYTES_MAX: u64 = 4 << 20;

/// What became of the lines.
#[derive(Default)]
struct Counts {
    printed: u64,
    left_out: u64,
    bad_lines: u64,
}

/// Which end of the time a point is; a date stands for its first or its last moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Since,
    Until,
}

/// What is printed.
struct Filter<'a> {
    args: &'a EventsArgs,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

/// Prints what fits. A line that is no event is counted and said at the end. Works while the configuration
/// is wrong: that is when one looks.
pub(crate) fn run(args: &EventsArgs, now: Timestamp) -> Result<Exit, Failure> {
    for kind in args.kind.iter().chain(&args.skip) {
        if !KINDS.contains(&kind.as_str()) {
            let near = nearest(kind, KINDS);
            let hint = near.first().map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            return Err(Failure::usage("usage", format!("no event is of the kind `{kind}`{hint}")));
        }
    }
    let filter = Filter {
        args,
        since: args.since.as_deref().map(|text| point(text, now, Bound::Since)).transpose()?,
        until: args.until.as_deref().map(|text| point(text, now, Bound::Until)).transpose()?,
    };
    let path = match &args.path {
        Some(path) => path.clone(),
        None => project_root()?.join(".reyn/events"),
    };
    let mut counts = Counts::default();
    for file in files(&path)? {
        print_file(&file, &filter, &mut counts)?;
    }
    if counts.bad_lines > 0 {
        output::note(&format!("reyn: {} lines are no events and were left out", counts.bad_lines));
    }
    if counts.printed == 0 && counts.left_out > 0 {
        output::note(&format!("reyn: none of {} events fits", counts.left_out));
    }
    Ok(Exit::Done)
}

/// Event files below a path, oldest first: their names begin with their time.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let fail = |path: &Path, error: &std::io::Error| {
        Failure::failed("io", format!("cannot read `{}`: {error}", path.display()))
    };
    if !path.exists() {
        return Err(Failure::failed(
            "not_found",
            format!("there are no events at `{}`; `reyn ask` writes some", path.display()),
        ));
    }
    let mut found = vec![];
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| fail(&folder, &error))? {
            let entry = entry.map_err(|error| fail(&folder, &error))?;
            let kind = entry.file_type().map_err(|error| fail(&entry.path(), &error))?;
            let path = entry.path();
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort_by_key(|path| path.file_name().map(std::ffi::OsStr::to_owned));
    Ok(found)
}

fn print_file(path: &Path, filter: &Filter<'_>, counts: &mut Counts) -> Result<(), Failure> {
    let fail =
        |error: std::io::Error| Failure::failed("io", format!("cannot read `{}`: {error}", path.display()));
    let mut reader = BufReader::new(std::fs::File::open(path).map_err(fail)?);
    loop {
        let mut line = vec![];
        let taken =
            Read::by_ref(&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(fail)?;
        if taken == 0 {
            return Ok(());
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(event) if event["type"].is_string() => {
                if filter.fits(&event) {
                    output::result_line(&if filter.args.json { event.to_string() } else { in_words(&event) });
                    counts.printed += 1;
                } else {
                    counts.left_out += 1;
                }
            }
            Ok(_) | Err(_) => counts.bad_lines += 1,
        }
    }
}

impl Filter<'_> {
    fn fits(&self, event: &Value) -> bool {
        let kind = event["type"].as_str().unwrap_or_default();
        let is_wanted = self.args.kind.is_empty() || self.args.kind.iter().any(|wanted| wanted == kind);
        let is_skipped = self.args.skip.iter().any(|skipped| skipped == kind);
        let session = self.args.session.as_deref();
        let time = event["timestamp"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        let is_late = self.since.is_none_or(|since| time.is_some_and(|time| time >= since));
        let is_early = self.until.is_none_or(|until| time.is_some_and(|time| time <= until));
        is_wanted
            && !is_skipped
            && session.is_none_or(|id| event["data"]["run_id"].as_str() == Some(id))
            && is_late
            && is_early
    }
}

/// One line a person can read: when, what, and the facts that are not the same on every line.
fn in_words(event: &Value) -> String {
    let time = event["timestamp"].as_str().and_then(|text| text.parse::<Timestamp>().ok()).map_or_else(
        || event["timestamp"].to_string(),
        |time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
    );
    let kind = event["type"].as_str().unwrap_or_default();
    let hidden = ["agent_id", "run_id", "emitter", "audit_seq"];
    let facts: Vec<String> = event["data"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !hidden.contains(&key.as_str()))
        .map(|(key, value)| {
            format!("{key}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect();
    output::for_terminal(&format!("{time}  {kind:<26}  {}", facts.join("  "))).replace('\n', " ")
}

/// A point in time: written out, a date, or an age.
fn point(text: &str, now: Timestamp, bound: Bound) -> Result<Timestamp, Failure> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(date) = text.parse::<civil::Date>()
        && let Ok(first) = date.to_zoned(TimeZone::system())
        && let Ok(moment) = if bound == Bound::Since { Ok(first) } else { first.end_of_day() }
    {
        return Ok(moment.timestamp());
    }
    age(text).and_then(|age| now.checked_sub(age).ok()).ok_or_else(|| {
        Failure::usage(
            "usage",
            format!("`{text}` is no point in time; write `2026-01-02T03:04:05Z`, `2026-01-02`, `30m`, `2h` or `7d`"),
        )
    })
}

fn age(text: &str) -> Option<SignedDuration> {
    let unit_at = text.len().checked_sub(1).filter(|at| text.is_char_boundary(*at))?;
    let number: i64 = text[..unit_at].parse().ok().filter(|number| *number >= 0)?;
    let seconds = match &text[unit_at..] {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    number.checked_mul(seconds).map(SignedDuration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_as_a_bound_takes_in_its_whole_day() {
        let [first, last] =
            [Bound::Since, Bound::Until].map(|bound| point("2026-01-02", Timestamp::UNIX_EPOCH, bound));
        let (first, last) = (first.unwrap(), last.unwrap());
        assert_eq!(last.duration_since(first).as_secs(), 24 * 3600 - 1);
    }

    #[test]
    fn points_in_time_are_written_in_three_ways() {
        let now: Timestamp = "2026-01-10T00:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("30m", "2026-01-09T23:30:00Z"),
            ("7d", "2026-01-03T00:00:00Z"),
        ] {
            assert_eq!(point(text, now, Bound::Since).unwrap(), expected.parse().unwrap(), "{text}");
        }
        for text in ["", "x", "-1h", "7w", "日"] {
            assert!(point(text, now, Bound::Since).is_err(), "{text}");
        }
    }
}
