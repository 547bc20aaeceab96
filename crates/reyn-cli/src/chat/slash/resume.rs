//! `/resume`: another conversation of this project.

use futures::FutureExt;
use reyn_core::conversation::Entry;
use reyn_runtime::{SessionSummary, Sessions};
use reyn_terminal::{Colour, Line, MarkdownStream, Style};

use super::{Slash, done};
use crate::approval::one_line;
use crate::chat::desk::{After, Desk};
use crate::chat::turn_view::said_lines;
use crate::chat::wire::News;
use crate::transcript::{NO_END, TranscriptPart, parts};

/// Sessions that completion offers.
const OFFERED_MAX: usize = 30;
/// Parts of an earlier conversation that are shown when it is gone on with.
const PARTS_SHOWN_MAX: usize = 8;
/// Lines of one of its answers that are shown.
const ANSWER_LINES_MAX: usize = 30;

pub(super) static SLASH: Slash = Slash {
    name: "resume",
    arguments: "[SESSION]",
    summary: "go on with another conversation of this project",
    run: |desk, arguments| {
        async move {
            let sessions = Sessions::new(&desk.project.state());
            let id = match arguments {
                "" => other_than(desk.session.id(), &sessions)?,
                wanted => sessions.find(wanted).map_err(|error| error.to_string())?,
            };
            if id == desk.session.id() {
                return Err("that is this conversation".to_owned());
            }
            let note = desk.switch_to(id.clone()).map_err(|failure| failure.message)?;
            desk.ui.tell(News::Clear);
            desk.print(done(&format!("session {id}")));
            desk.print(note.iter().map(|note| Line::styled(note, Style::of(Colour::Yellow))).collect());
            desk.print(past(desk.session.log(), desk.ui.columns()));
            Ok(After::Stay)
        }
        .boxed()
    },
};

/// The newest session that is not this one.
fn other_than(current: &str, sessions: &Sessions) -> Result<String, String> {
    let listing = sessions.latest(OFFERED_MAX).map_err(|error| error.to_string())?;
    let mut spoken = listing.sessions.into_iter().filter(|session| session.bytes > 0);
    spoken
        .find(|session| session.id != current)
        .map(|session| session.id)
        .ok_or_else(|| "there is no other conversation here yet".to_owned())
}

/// Sessions and their titles, for completion.
pub(super) fn names(desk: &Desk) -> Vec<(String, String)> {
    let listing = Sessions::new(&desk.project.state()).latest(OFFERED_MAX).unwrap_or_default();
    let offered = |session: SessionSummary| (session.id, session.title.unwrap_or_default());
    listing.sessions.into_iter().map(offered).collect()
}

/// The end of an earlier conversation, as it is shown when it is gone on with.
pub(crate) fn past(log: &[Entry], columns: usize) -> Vec<Line> {
    let all: Vec<TranscriptPart> =
        parts(log).into_iter().filter(|part| !matches!(part, TranscriptPart::Cost(_))).collect();
    let left_out = all.len().saturating_sub(PARTS_SHOWN_MAX);
    let mut lines = vec![];
    if left_out > 0 {
        lines.push(Line::styled(
            "… `/sessions` and `reyn sessions show latest` have what was before",
            Style::DIM,
        ));
    }
    for part in &all[left_out..] {
        if !matches!(part, TranscriptPart::Call { .. }) {
            lines.push(Line::new());
        }
        lines.extend(part_lines(part, columns));
    }
    lines
}

fn part_lines(part: &TranscriptPart, columns: usize) -> Vec<Line> {
    match part {
        TranscriptPart::Person(text) => said_lines(text),
        TranscriptPart::Answer(text) => {
            let mut stream = MarkdownStream::new(columns);
            let mut lines = stream.push(text);
            lines.extend(stream.finish());
            let left_out = lines.len().saturating_sub(ANSWER_LINES_MAX);
            lines.truncate(ANSWER_LINES_MAX);
            if left_out > 0 {
                lines.push(Line::styled(&format!("… {left_out} more lines"), Style::DIM));
            }
            lines
        }
        TranscriptPart::Call { line, is_error, .. } => {
            let style = Style::of(if *is_error { Colour::Red } else { Colour::Green });
            let mut shown = Line::styled(if *is_error { "✗ " } else { "✓ " }, style);
            shown.push(&one_line(line), Style::DIM);
            vec![shown]
        }
        // Whoever holds the session now knows that nobody else does.
        TranscriptPart::Note(text) if text == NO_END => {
            vec![Line::styled("the process ended during this turn", Style::of(Colour::Yellow))]
        }
        TranscriptPart::Note(text) | TranscriptPart::Cost(text) => {
            vec![Line::styled(&one_line(text), Style::DIM)]
        }
    }
}
