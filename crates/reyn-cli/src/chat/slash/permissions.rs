//! `/permissions`: what was answered, and taking it back.

use futures::FutureExt;
use reyn_terminal::{Colour, Line, Style};

use super::{Slash, done};
use crate::chat::desk::{After, Desk};

pub(super) static SLASH: Slash = Slash {
    name: "permissions",
    arguments: "[revoke KEY]",
    summary: "what you allowed and refused; taking it back",
    run: |desk, arguments| {
        async move {
            match arguments.split_once(char::is_whitespace).unwrap_or((arguments, "")) {
                ("", _) => {
                    let lines = list(desk)?;
                    desk.show("/permissions", lines);
                }
                ("revoke", key) if !key.trim().is_empty() => revoke(desk, key.trim())?,
                _ => {
                    return Err("`/permissions` lists the answers, `/permissions revoke KEY` takes one back"
                        .to_owned());
                }
            }
            Ok(After::Stay)
        }
        .boxed()
    },
};

fn list(desk: &mut Desk) -> Result<Vec<Line>, String> {
    let answers = desk.session.answers().map_err(|error| error.to_string())?;
    if answers.is_empty() {
        return Ok(done(
            "nothing was answered yet; questions come up when the model wants to change something",
        ));
    }
    Ok(answers
        .iter()
        .map(|answer| {
            let (mark, style) = if answer.is_allowed {
                ("yes ", Style::of(Colour::Green))
            } else {
                ("no  ", Style::of(Colour::Red))
            };
            let mut line = Line::styled("  ", Style::PLAIN);
            line.push(mark, style);
            line.push(&answer.key, Style::PLAIN);
            line.push(if answer.is_kept { "  always" } else { "  this session" }, Style::DIM);
            line
        })
        .collect())
}

fn revoke(desk: &mut Desk, key: &str) -> Result<(), String> {
    let is_known = desk.session.revoke(key).map_err(|error| error.to_string())?;
    if !is_known {
        return Err(format!("no answer has the key `{key}`; `/permissions` lists them"));
    }
    desk.print(done(&format!("`{key}` is taken back; the next call asks again")));
    Ok(())
}
