//! `/sessions`: the conversations of this project.

use futures::FutureExt;
use jiff::Timestamp;
use reyn_core::text::age_in_words;
use reyn_runtime::Sessions;
use reyn_terminal::{Line, Style};

use super::Slash;
use crate::approval::one_line;
use crate::chat::desk::{After, Desk};

/// Sessions that are listed.
const SHOWN_MAX: usize = 20;

pub(super) static SLASH: Slash = Slash {
    name: "sessions",
    arguments: "",
    summary: "the latest conversations of this project",
    run: |desk, _| {
        async move {
            let lines = list(desk)?;
            desk.show("/sessions", lines);
            Ok(After::Stay)
        }
        .boxed()
    },
};

fn list(desk: &Desk) -> Result<Vec<Line>, String> {
    let listing =
        Sessions::new(&desk.project.state()).latest(SHOWN_MAX).map_err(|error| error.to_string())?;
    let now = Timestamp::now().as_second();
    let mut lines: Vec<Line> = listing
        .sessions
        .iter()
        .map(|session| {
            let is_this = session.id == desk.session.id();
            let mut line = Line::plain(if is_this { "› " } else { "  " });
            let age = age_in_words(now.saturating_sub(session.changed.as_second()));
            line.push(&format!("{age:>10}  {}  ", session.id), Style::DIM);
            line.push(&one_line(session.title.as_deref().unwrap_or("(nothing was said)")), Style::PLAIN);
            line
        })
        .collect();
    let rest = listing.total.saturating_sub(lines.len());
    if rest > 0 {
        lines.push(Line::styled(
            &format!("  … {rest} more; `reyn sessions list --all` lists them"),
            Style::DIM,
        ));
    }
    lines.push(Line::styled(
        "  `/resume SESSION` goes on with one; a few letters of its name are enough",
        Style::DIM,
    ));
    Ok(lines)
}
