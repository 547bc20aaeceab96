//! `reyn sessions show`.

use std::fmt::Write as _;
use std::io::IsTerminal;

use reyn_core::conversation::{Entry, usage_of};
use reyn_runtime::{Sessions, StoredSession};
use reyn_terminal::visible;
use serde_json::{Value, json};

use super::args::OneArgs;
use super::{counted, facts, read};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::transcript::{TranscriptPart, parts};

/// Parts that are shown at a terminal, the latest ones.
const PARTS_SHOWN: usize = 300;
/// Lines of one part that are shown at a terminal.
const LINES_SHOWN: usize = 200;

/// Prints a session as people read it: at a terminal bounded and with control characters written out,
/// elsewhere whole and as it is.
pub(super) fn run(args: &OneArgs, sessions: &Sessions) -> Result<Exit, Failure> {
    let stored = read(sessions, &args.id)?;
    if args.json {
        output::json(&whole(&stored));
        return Ok(Exit::Done);
    }
    let text = in_words(&stored);
    let is_terminal = std::io::stdout().is_terminal();
    output::result(&if is_terminal { bounded(text, &stored.summary.id) } else { text.concat() });
    if !stored.is_sound() {
        output::note(&format!(
            "reyn: this session is damaged; `reyn sessions verify {}` says where",
            stored.summary.id
        ));
    }
    Ok(Exit::Done)
}

/// Everything that is known of a session, for programs.
pub(super) fn whole(stored: &StoredSession) -> Value {
    let entries: Vec<Entry> = stored.entries().cloned().collect();
    let mut value = facts(&stored.summary);
    value["usage"] = json!(usage_of(&entries));
    value["damage"] = super::verify::damage(stored);
    value["entries"] = json!(stored.records);
    value
}

/// The heading and the parts, each with its line end.
fn in_words(stored: &StoredSession) -> Vec<String> {
    let summary = &stored.summary;
    let started =
        summary.started.map_or_else(String::new, |time| format!(", begun {}", time.strftime("%F %R UTC")));
    let turns = counted(summary.turns.unwrap_or(0), "turn");
    let heading = format!("session {}{started}, {turns}, {}\n", summary.id, output::size(summary.bytes));
    std::iter::once(heading).chain(parts(stored.entries()).iter().map(part_in_words)).collect()
}

fn part_in_words(part: &TranscriptPart) -> String {
    match part {
        TranscriptPart::Person(text) => {
            let mut quoted = String::from("\n");
            for line in text.trim_end().lines() {
                let _ = writeln!(quoted, "> {line}");
            }
            format!("{quoted}\n")
        }
        TranscriptPart::Answer(text) => format!("{}\n", text.trim_end()),
        TranscriptPart::Call { line, is_error, .. } => {
            format!("{} {line}\n", if *is_error { "✗" } else { "·" })
        }
        TranscriptPart::Note(text) => format!("[{text}]\n"),
        TranscriptPart::Cost(text) => format!("({text})\n"),
    }
}

/// The latest parts, each cut to its first lines.
fn bounded(text: Vec<String>, id: &str) -> String {
    let export = format!("`reyn sessions export {id}` has everything");
    let left_out = text.len().saturating_sub(PARTS_SHOWN + 1);
    let mut shown = String::new();
    for (at, part) in text.iter().enumerate() {
        if at == 1 && left_out > 0 {
            let _ = writeln!(shown, "\n… {left_out} earlier parts; {export}");
        }
        if (1..=left_out).contains(&at) {
            continue;
        }
        let mut lines = part.split_inclusive('\n');
        lines.by_ref().take(LINES_SHOWN).for_each(|line| shown.push_str(&visible(line)));
        let rest = lines.count();
        if rest > 0 {
            let _ = writeln!(shown, "… {rest} more lines; {export}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_shown_the_latest_parts_and_their_first_lines() {
        let mut text: Vec<String> = (0..=PARTS_SHOWN + 2).map(|at| format!("part {at}\n")).collect();
        text[PARTS_SHOWN + 2] = "line\x1b[2J\n".repeat(LINES_SHOWN + 3);
        let shown = bounded(text, "s");
        let expected =
            "part 0\n\n… 2 earlier parts; `reyn sessions export s` has everything\npart 3\npart 4\n";
        assert!(shown.starts_with(expected), "{shown}");
        let end = "line\\u{1b}[2J\n… 3 more lines; `reyn sessions export s` has everything\n";
        assert!(shown.ends_with(end), "{shown}");
        assert_eq!(bounded(vec!["a\n".into(), "b\n".into()], "s"), "a\nb\n");
    }
}
