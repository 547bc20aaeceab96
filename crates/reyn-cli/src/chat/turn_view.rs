//! A turn as the screen of a chat shows it.

use reyn_core::conversation::Ending;
use reyn_core::prompt::outcome_text;
use reyn_core::text::excerpt;
use reyn_core::tool::{Outcome, ToolCall};
use reyn_runtime::{SessionEvent, TurnReport};
use reyn_terminal::{Colour, Line, Style};

use super::wire::{CallEnded, News};
use crate::activity::{outcome_line, target};
use crate::approval::one_line;
use crate::view::ending_words;

/// What the screen hears of an event; nothing when it shows nothing.
pub(crate) fn news(event: &SessionEvent<'_>) -> Option<News> {
    Some(match event {
        SessionEvent::Delta(text) => News::Answer((*text).to_owned()),
        SessionEvent::Retry { attempt, error, wait } => {
            let words = format!(
                "attempt {attempt} failed: {}; again in {:.1} s",
                one_line(&error.message),
                wait.as_secs_f64()
            );
            News::Void(Line::styled(&words, Style::of(Colour::Yellow)))
        }
        SessionEvent::Progress(text) => News::Progress((*text).to_owned()),
        SessionEvent::ToolStarted(call) => News::CallBegan(title(call)),
        SessionEvent::ToolFinished(call, outcome) => News::CallEnded(Box::new(ended(call, outcome))),
        SessionEvent::Said(text) => News::Said((*text).to_owned()),
        SessionEvent::Replied(_) => News::RoundEnded,
    })
}

fn title(call: &ToolCall) -> String {
    one_line(format!("{} {}", call.name, target(call)).trim_end())
}

fn ended(call: &ToolCall, outcome: &Outcome) -> CallEnded {
    CallEnded {
        line: call_line(call, outcome),
        is_error: !outcome.is_ok(),
        diff: match outcome {
            Outcome::Ok(output) => output.diff.clone(),
            Outcome::Error(_) => String::new(),
        },
        full: outcome_text(call, outcome).into_owned(),
    }
}

/// A call and what came of it on one line.
pub(crate) fn call_line(call: &ToolCall, outcome: &Outcome) -> Line {
    let (mark, style) =
        if outcome.is_ok() { ("✓ ", Style::of(Colour::Green)) } else { ("✗ ", Style::of(Colour::Red)) };
    let mut line = Line::styled(mark, style);
    line.push(&title(call), Style::PLAIN);
    let came = one_line(&outcome_line(call, outcome));
    line.push(&format!(": {came}"), if outcome.is_ok() { Style::DIM } else { style });
    line
}

/// Lines of what a person said that are shown.
const SAID_LINES_MAX: usize = 20;
/// Characters of one such line that are shown.
const SAID_CHARS_MAX: usize = 1_000;

/// What the person said, as they typed it; of what is long, its beginning.
pub(crate) fn said_lines(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = text
        .lines()
        .take(SAID_LINES_MAX)
        .enumerate()
        .map(|(at, text)| {
            let mut line = Line::styled(if at == 0 { "› " } else { "  " }, Style::DIM);
            line.push(&excerpt(text, SAID_CHARS_MAX), Style::BOLD);
            line
        })
        .collect();
    let left_out = text.lines().count().saturating_sub(SAID_LINES_MAX);
    if left_out > 0 {
        lines.push(Line::styled(&format!("  … {left_out} more lines"), Style::DIM));
    }
    lines
}

/// What a person must know of a turn that did not simply end with an answer.
pub(crate) fn ending_lines(report: &TurnReport) -> Vec<Line> {
    let Some(words) = ending_words(report, "say `go on` to go on") else { return vec![] };
    let style = match report.ending {
        Ending::Failed { .. } | Ending::Empty => Style::of(Colour::Red),
        Ending::Answered | Ending::Limited { .. } | Ending::Cancelled | Ending::Interrupted => {
            Style::of(Colour::Yellow)
        }
    };
    words.lines().map(|line| Line::styled(line, style)).collect()
}
