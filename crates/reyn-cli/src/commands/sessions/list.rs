//! `reyn sessions list`.

use std::fmt::Write as _;
use std::io::IsTerminal;

use jiff::Timestamp;
use reyn_core::text::age_in_words;
use reyn_runtime::{Listing, SessionSummary, Sessions};
use reyn_terminal::cell_width;
use serde_json::{Value, json};

use super::args::ListArgs;
use super::{counted, facts, failed};
use crate::exit::{Exit, Failure};
use crate::output;

/// Fewest columns that a title is cut to, however narrow the terminal is.
const TITLE_COLUMNS_MIN: usize = 16;

/// Prints the newest sessions, a line each. At a terminal a title is cut where the line ends.
pub(super) fn run(args: &ListArgs, sessions: &Sessions, now: Timestamp) -> Result<Exit, Failure> {
    let count = if args.all { usize::MAX } else { args.limit };
    let listing = sessions.latest(count).map_err(failed)?;
    if args.json {
        let shown: Vec<Value> = listing.sessions.iter().map(facts).collect();
        output::json(&json!({ "sessions": shown, "total": listing.total }));
        return Ok(Exit::Done);
    }
    output::result(&table(&listing, now, columns()));
    let shown = listing.sessions.len();
    if listing.total == 0 {
        output::note("reyn: there is no session here yet; `reyn chat` or `reyn ask` begins one");
    } else if shown < listing.total {
        output::remark(&format!("{shown} of {} sessions; `--all` lists every one", listing.total));
    }
    Ok(Exit::Done)
}

/// The width of the terminal that results go to; `None` when they go elsewhere.
fn columns() -> Option<usize> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok()).flatten()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

fn table(listing: &Listing, now: Timestamp, columns: Option<usize>) -> String {
    let rows: Vec<[String; 4]> = listing.sessions.iter().map(|session| row(session, now)).collect();
    let width = |column: usize| rows.iter().map(|row| cell_width(&row[column])).max().unwrap_or(0);
    let [ages, ids, sizes] = [0, 1, 2].map(width);
    let before_title = ages + ids + sizes + 6;
    let mut text = String::new();
    for [age, id, size, title] in &rows {
        let room = columns.map(|columns| columns.saturating_sub(before_title).max(TITLE_COLUMNS_MIN));
        let title = room.map_or_else(|| title.clone(), |room| cut(title, room));
        let _ = writeln!(text, "{age:<ages$}  {id:<ids$}  {size:>sizes$}  {title}");
    }
    text
}

fn row(session: &SessionSummary, now: Timestamp) -> [String; 4] {
    let age = age_in_words(now.as_second().saturating_sub(session.changed.as_second()));
    let size = session.turns.map_or_else(|| output::size(session.bytes), |turns| counted(turns, "turn"));
    let title = session.title.as_deref().unwrap_or("(nothing was said)");
    let title = match &session.holder {
        Some(holder) => format!("[in use by {}] {title}", holder.pid),
        None => title.to_owned(),
    };
    [age, session.id.clone(), size, title]
}

/// The beginning of a text that fits, with an ellipsis when something was cut.
fn cut(text: &str, columns: usize) -> String {
    if cell_width(text) <= columns {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, _)| at);
    let end = ends.take_while(|end| cell_width(&text[..*end]) < columns).last().unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_runtime::log::Holder;

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn session(id: &str, title: Option<&str>, turns: Option<u64>) -> SessionSummary {
        SessionSummary {
            id: id.into(),
            title: title.map(str::to_owned),
            started: None,
            changed: "2026-01-02T01:00:00Z".parse().unwrap(),
            turns,
            bytes: 12_345_678,
            holder: None,
        }
    }

    #[test]
    fn a_list_is_aligned_and_cut_by_the_width_of_its_letters() {
        let used = SessionSummary {
            holder: Some(Holder { pid: 7, since: String::new() }),
            changed: now(),
            ..session("b-long", Some("x"), None)
        };
        let sessions = vec![
            session("a", Some("日本語の題名はここまで続く"), Some(1)),
            used,
            session("c", None, Some(12)),
        ];
        let listing = Listing { total: 3, sessions };
        expect_test::expect![[r#"
            2 h ago   a         1 turn  日本語の題名は…
            just now  b-long   12.3 MB  [in use by 7] x
            2 h ago   c       12 turns  (nothing was sa…
        "#]]
        .assert_eq(&table(&listing, now(), Some(44)));
        assert!(table(&listing, now(), None).contains("日本語の題名はここまで続く\n"));
    }

    #[test]
    fn a_cut_text_is_never_wider_than_its_room() {
        for text in ["日本語", "a日本", "👨‍👩‍👧👨‍👩‍👧", "abc", ""] {
            for columns in 1..8 {
                assert!(cell_width(&cut(text, columns)) <= columns, "{text} in {columns}");
            }
        }
        assert_eq!([cut("日本語", 6), cut("日本語", 5), cut("日本語", 4)], ["日本語", "日本…", "日…"]);
    }
}
