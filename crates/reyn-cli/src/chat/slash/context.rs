//! `/context`: what fills the model's context.

use futures::FutureExt;
use reyn_core::conversation::Entry;
use reyn_core::prompt::outcome_text;
use reyn_core::tool::ToolCall;
use reyn_terminal::{Colour, Line, Style};

use super::Slash;
use crate::chat::desk::{After, Desk};
use crate::chat::status;

pub(super) static SLASH: Slash = Slash {
    name: "context",
    arguments: "",
    summary: "what fills the model's context",
    run: |desk, _| {
        async move {
            desk.show("/context", lines(desk));
            Ok(After::Stay)
        }
        .boxed()
    },
};

/// Cells of the longest bar.
const BAR_CELLS: usize = 30;

/// Bytes of the conversation by what they are.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    person: usize,
    model: usize,
    results: usize,
    tools: usize,
}

fn parts(log: &[Entry], tools: usize) -> Parts {
    let mut parts = Parts { tools, ..Parts::default() };
    let mut calls: &[ToolCall] = &[];
    for entry in log {
        match entry {
            Entry::User { text } | Entry::Said { text } => parts.person += text.len(),
            Entry::Reply(reply) => {
                calls = &reply.calls;
                parts.model += reply.text.len();
                parts.model +=
                    calls.iter().map(|call| call.name.len() + call.args.to_json().len()).sum::<usize>();
            }
            Entry::Finished { call_id, outcome } => {
                let call = calls.iter().find(|call| call.id == *call_id);
                parts.results += call.map_or(0, |call| outcome_text(call, outcome).len());
            }
            Entry::Started { .. } | Entry::Nudged | Entry::LimitReached { .. } | Entry::Ended { .. } => {}
        }
    }
    parts
}

fn lines(desk: &Desk) -> Vec<Line> {
    let tools = desk.session.tools().iter().map(|(spec, schema)| {
        spec.name.len() + spec.summary.len() + spec.details.len() + schema.to_string().len()
    });
    let Parts { person, model, results, tools } = parts(desk.session.log(), tools.sum());
    let rows = [("tools", tools), ("you", person), ("model", model), ("results", results)];
    let most = rows.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0).max(1);
    let mut lines = vec![];
    let whole = status::context(desk.status.context_tokens, desk.status.context_tokens_max);
    lines.push(Line::plain(&format!("  {}", whole.unwrap_or_else(|| "no round yet".to_owned()))));
    for (name, bytes) in rows {
        let mut line = Line::plain(&format!("  {name:<8} "));
        let cells = (bytes * BAR_CELLS).div_ceil(most);
        line.push(&"█".repeat(cells), Style::of(Colour::Cyan));
        line.push(&" ".repeat(BAR_CELLS - cells), Style::PLAIN);
        line.push(&format!(" {}", crate::output::size(bytes as u64)), Style::DIM);
        lines.push(line);
    }
    let turns = match desk.turns() {
        1 => "1 turn".to_owned(),
        turns => format!("{turns} turns"),
    };
    let about = "bars are bytes of text, the first line is what the model's server counted";
    lines.push(Line::styled(&format!("  {turns}; {about}"), Style::DIM));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::conversation::Reply;
    use reyn_core::tool::{Args, Outcome, Output};

    #[test]
    fn every_text_of_the_log_is_counted_where_it_belongs() {
        let call = ToolCall { id: "a".into(), name: "read_file".into(), args: Args::parse("{}", false) };
        let outcome = Outcome::Ok(Output { body: "four".into(), ..Output::default() });
        let log = [
            Entry::User { text: "hi".into() },
            Entry::Reply(Reply { text: "so".into(), calls: vec![call], ..Reply::default() }),
            Entry::Finished { call_id: "a".into(), outcome },
            Entry::Said { text: "ho".into() },
        ];
        assert_eq!(parts(&log, 7), Parts { person: 4, model: 2 + 9 + 2, results: 4, tools: 7 });
    }
}
