//! `/help`: every command, and the keys.

use futures::FutureExt;
use reyn_terminal::{Line, Style};

use super::{Slash, all, find, table};
use crate::chat::desk::After;

pub(super) static SLASH: Slash = Slash {
    name: "help",
    arguments: "[COMMAND]",
    summary: "the commands and the keys",
    run: |desk, arguments| {
        async move {
            let lines = match arguments {
                "" => everything(),
                name => one(find(name.trim_start_matches('/'))?),
            };
            desk.show("/help", lines);
            Ok(After::Stay)
        }
        .boxed()
    },
};

const KEYS: [(&str, &str); 10] = [
    ("!COMMAND", "runs it in the sandbox and shows what it says; the model does not see it"),
    ("alt-enter, shift-enter", "a new line; so does a \\ before enter"),
    ("enter while it works", "joins the next round"),
    ("esc, ctrl-C", "stops the model; twice leaves"),
    ("ctrl-O", "results in full"),
    ("ctrl-R", "search what was typed before"),
    ("tab", "completes commands"),
    ("ctrl-L", "clears the screen"),
    ("ctrl-Z", "back to the shell for a while"),
    ("ctrl-D", "leaves"),
];

fn everything() -> Vec<Line> {
    let commands: Vec<(String, String)> = all()
        .map(|slash| (format!("/{} {}", slash.name, slash.arguments), slash.summary.to_owned()))
        .collect();
    let keys = KEYS.map(|(key, what)| (key.to_owned(), what.to_owned()));
    let mut lines = table(&commands);
    lines.push(Line::new());
    lines.extend(table(&keys));
    lines
}

fn one(slash: &Slash) -> Vec<Line> {
    let mut line = Line::styled(format!("/{} {}", slash.name, slash.arguments).trim_end(), Style::BOLD);
    line.push(&format!("  {}", slash.summary), Style::DIM);
    vec![line]
}
