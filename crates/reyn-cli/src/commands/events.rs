//! `reyn events`: prints the audit trail, oldest first; follows or verifies it.

mod follow;
pub(crate) mod lines;
mod merged;
mod verify;

use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};
use reyn_core::audit::KINDS;
use reyn_core::text::nearest;
use reyn_runtime::Sessions;
use serde_json::Value;

use self::lines::{Line, LineReader, files};
use self::merged::{Merged, Part};
use crate::args::EventsArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::place;

/// What became of the events.
#[derive(Default)]
struct Counts {
    printed: u64,
    left_out: u64,
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
    /// The whole name of the session that is asked for.
    session: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

/// Prints what fits. A line that is no event is counted and said at the end. Works while the configuration
/// is wrong: that is when one looks.
pub(crate) fn run(args: &EventsArgs, now: Timestamp) -> Result<Exit, Failure> {
    let filter = Filter::new(args, now)?;
    let path = match &args.path {
        Some(path) => path.clone(),
        None => place()?.root.join(".reyn/events"),
    };
    // The project's own folder may come to be while it is followed; a path that was typed is there or wrong.
    let may_be_missing = args.follow && args.path.is_none();
    if !path.exists() && !may_be_missing {
        let hint = match &args.path {
            None => "`reyn chat` and `reyn ask` write some",
            Some(_) => "`reyn events` without a path shows the project's",
        };
        return Err(Failure::failed(
            "not_found",
            format!("there are no events at `{}`; {hint}", path.display()),
        ));
    }
    if args.verify {
        return verify::run(&path, args.json);
    }
    if args.follow {
        return follow::run(&path, &filter);
    }
    let mut counts = Counts::default();
    let mut events = Merged::new(files(&path)?.into_iter().map(|path| Part { path, start: 0 }), true);
    while let Some(event) = events.next()? {
        if filter.fits(&event) {
            filter.print(&event);
            counts.printed += 1;
        } else {
            counts.left_out += 1;
        }
    }
    if events.bad_lines > 0 {
        output::note(&format!(
            "reyn: {} left out that are no events; `reyn events --verify` says which",
            counted(events.bad_lines, "line", "lines")
        ));
    }
    if counts.printed == 0 && counts.left_out > 0 {
        output::note(&format!("reyn: none of {} events fits", counts.left_out));
    }
    Ok(Exit::Done)
}

fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// The name that a part of it, or `latest`, stands for here. The trail also tells of sessions that are gone,
/// so a name that no session has is taken as it is.
fn whole_name(wanted: &str) -> String {
    let sessions = place().ok().map(|place| Sessions::new(&place.root.join(".reyn")));
    sessions.and_then(|sessions| sessions.find(wanted).ok()).unwrap_or_else(|| wanted.to_owned())
}

impl<'a> Filter<'a> {
    fn new(args: &'a EventsArgs, now: Timestamp) -> Result<Self, Failure> {
        for kind in args.kind.iter().chain(&args.skip) {
            if !KINDS.contains(&kind.as_str()) {
                let near = nearest(kind, KINDS);
                let hint = near.first().map_or_else(
                    || format!("the kinds are {}", KINDS.join(", ")),
                    |name| format!("did you mean `{name}`?"),
                );
                return Err(Failure::usage("usage", format!("no event is of the kind `{kind}`; {hint}")));
            }
        }
        Ok(Self {
            args,
            session: args.session.as_deref().map(whole_name),
            since: args.since.as_deref().map(|text| point(text, now, Bound::Since)).transpose()?,
            until: args.until.as_deref().map(|text| point(text, now, Bound::Until)).transpose()?,
        })
    }

    fn print(&self, event: &Value) {
        output::result_line(&if self.args.json { event.to_string() } else { in_words(event) });
    }

    fn fits(&self, event: &Value) -> bool {
        let kind = event["type"].as_str().unwrap_or_default();
        let is_wanted = self.args.kind.is_empty() || self.args.kind.iter().any(|wanted| wanted == kind);
        let is_skipped = self.args.skip.iter().any(|skipped| skipped == kind);
        let session = self.session.as_deref();
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
