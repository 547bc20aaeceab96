//! `/tools`: what the model may use here.

use futures::FutureExt;
use reyn_core::capability::{Axis, Verdict};
use reyn_terminal::{Colour, Line, Style};
use serde_json::Value;

use super::Slash;
use crate::chat::desk::{After, Desk};

pub(super) static SLASH: Slash = Slash {
    name: "tools",
    arguments: "[NAME]",
    summary: "what the model may use here",
    run: |desk, arguments| {
        async move {
            let lines = if arguments.is_empty() { list(desk) } else { one(desk, arguments)? };
            desk.show("/tools", lines);
            Ok(After::Stay)
        }
        .boxed()
    },
};

/// Names and summaries, for completion.
pub(super) fn names(desk: &Desk) -> Vec<(String, String)> {
    desk.session.tools().iter().map(|(spec, _)| (spec.name.to_owned(), spec.summary.to_owned())).collect()
}

fn list(desk: &Desk) -> Vec<Line> {
    let tools = desk.session.tools();
    let width = tools.iter().map(|(spec, _)| spec.name.len()).max().unwrap_or(0);
    tools
        .iter()
        .map(|(spec, _)| {
            let is_away = matches!(desk.authority.verdict(Axis::Tool { name: spec.name }), Verdict::Deny(_));
            let (mark, style) =
                if is_away { ("✗ ", Style::of(Colour::Red)) } else { ("✓ ", Style::of(Colour::Green)) };
            let mut line = Line::plain("  ");
            line.push(mark, style);
            line.push(&format!("{:<width$}  ", spec.name), Style::BOLD);
            let note = if is_away { "taken away in this run".to_owned() } else { spec.summary.to_owned() };
            line.push(&note, Style::DIM);
            line
        })
        .collect()
}

fn one(desk: &Desk, name: &str) -> Result<Vec<Line>, String> {
    let (spec, schema) = desk
        .session
        .tools()
        .iter()
        .find(|(spec, _)| spec.name == name)
        .ok_or_else(|| format!("no tool is named `{name}`; `/tools` lists them"))?;
    let mut lines = vec![Line::styled(spec.name, Style::BOLD), Line::plain(spec.summary)];
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    lines.extend(spec.details.lines().map(Line::plain));
    for (parameter, about) in schema["properties"].as_object().into_iter().flatten() {
        let mut line = Line::plain("  ");
        line.push(parameter, Style::of(Colour::Cyan));
        if !required.contains(&parameter.as_str()) {
            line.push(" (optional)", Style::DIM);
        }
        line.push(&format!("  {}", about["description"].as_str().unwrap_or_default()), Style::PLAIN);
        lines.push(line);
    }
    Ok(lines)
}
