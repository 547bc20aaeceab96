//! Lines that begin with `!`: a command of the person's own, confined as the model's are. The model does not see it.

use reyn_core::tool::{Outcome, Output};
use reyn_terminal::{Colour, Line, Style};
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use crate::exit::Failure;
use crate::opening;
use crate::output::for_terminal;

/// Runs the line through the system's shell and shows what it wrote.
pub(crate) async fn run(desk: &mut Desk, line: &str, cancel: &CancellationToken) -> Result<(), Failure> {
    let script = line.trim_start_matches('!').trim();
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let outcome = desk.session.run_for_person(argv, cancel).await.map_err(opening::broken)?;
    match &outcome {
        Outcome::Ok(output) => desk.show(line, lines(output)),
        Outcome::Error(error) => {
            desk.has_failed = true;
            let hint = error.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
            desk.ui.complain(&format!("{}{hint}", error.message));
        }
    }
    Ok(())
}

/// What a command wrote, and how it ended where that is not well.
fn lines(output: &Output) -> Vec<Line> {
    let of = |text: &str, style| {
        text.lines().map(|line| Line::styled(&for_terminal(line), style)).collect::<Vec<_>>()
    };
    let field = |key: &str| output.fields.get(key);
    let mut lines = of(&output.body, Style::PLAIN);
    lines.extend(of(
        field("stderr").and_then(|text| text.as_str()).unwrap_or_default(),
        Style::of(Colour::Red),
    ));
    lines.extend(of(field("note").and_then(|text| text.as_str()).unwrap_or_default(), Style::DIM));
    match field("returncode").and_then(serde_json::Value::as_i64) {
        Some(0) if lines.is_empty() => lines.push(Line::styled("done, nothing was written", Style::DIM)),
        Some(0) | None => {}
        Some(code) => lines.push(Line::styled(&format!("ended with {code}"), Style::DIM)),
    }
    lines
}
