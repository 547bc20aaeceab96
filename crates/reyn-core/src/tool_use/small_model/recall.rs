//! What a small model is shown of a memory: nothing where there is none and nobody asks for it.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{PROFILE, request};
use crate::conversation::Entry;
use crate::prompt::Environment;
use crate::request::{ChatRequest, Message};
use crate::tool_use::first_look::asks_to_remember;
use crate::tool_use::{Surface, ToolFormat};

/// Writes a request in the profile, with what is remembered.
#[must_use]
pub fn request_with_memory<'a>(
    format: ToolFormat,
    surface: &Surface,
    log: &'a [Entry],
    environment: &Environment,
    offer_tools: bool,
) -> ChatRequest<'a> {
    let (has_notes, asks) = (environment.memory_notes > 0, asks_to_remember(log));
    let tools = &PROFILE.memory;
    let is_shown = |name: &str| {
        !tools.all.contains(&name)
            || (name == tools.remembers && asks)
            || (name == tools.reads && has_notes)
            || (name == tools.forgets && has_notes && asks)
    };
    let shown = surface.callables.iter().filter(|one| is_shown(&one.name)).cloned().collect();
    let mut written = request(format, &Surface::new(shown), log, offer_tools);
    if has_notes && let Some(Message::System(text)) = written.messages.first_mut() {
        *text = Cow::Owned(with_index(text, &environment.memory));
    }
    written
}

/// The instructions with as many whole lines of the index as there is room for.
fn with_index(instructions: &str, index: &str) -> String {
    let mut text = format!("{instructions}Notes of earlier sessions:\n");
    let begin = text.len();
    let lines = index.lines().filter(|line| !line.is_empty() && *line != "(empty)");
    for line in lines {
        if text.len() - begin + line.len() >= PROFILE.memory.index_bytes_max {
            break;
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool_use::Callable;
    use serde_json::json;

    fn written(message: &str, notes: usize) -> String {
        let mut names = PROFILE.memory.all.to_vec();
        names.push("read_file");
        let callable = |name: &&str| Callable {
            name: (*name).to_owned(),
            description: "Do it.".into(),
            parameters: json!({"type": "object", "properties": {}}),
        };
        let surface = Surface::new(names.iter().map(callable).collect());
        let memory = (0..notes).map(|at| format!("- [N](n{at}.md) — says so\n")).collect();
        let environment = Environment { memory, memory_notes: notes, ..Environment::default() };
        let log = [Entry::User { text: message.into() }];
        let request = request_with_memory(ToolFormat::Constrained, &surface, &log, &environment, true);
        let Some(Message::System(text)) = request.messages.first() else { panic!("no instructions") };
        text.to_string()
    }

    fn tools(message: &str, notes: usize) -> Vec<&'static str> {
        let text = written(message, notes);
        PROFILE.memory.all.iter().filter(|name| text.contains(&format!("- {name}("))).copied().collect()
    }

    #[test]
    fn a_tool_of_a_memory_is_offered_where_it_is_of_use() {
        for (message, notes, offered) in [
            ("what is a noun?", 0, vec![]),
            ("remember that I like tabs", 0, vec!["remember_shared"]),
            ("タブが好きだと覚えておいて", 0, vec!["remember_shared"]),
            ("what is a noun?", 1, vec!["read_memory_body"]),
            (
                "forget what I said about tabs",
                1,
                vec!["read_memory_body", "remember_shared", "forget_memory"],
            ),
        ] {
            assert_eq!(tools(message, notes), offered, "{message} {notes}");
        }
    }

    #[test]
    fn the_index_is_whole_lines_and_short() {
        assert!(!written("hello", 0).contains("Notes of earlier sessions"));
        let one = written("hello", 1);
        assert!(one.ends_with("Notes of earlier sessions:\n- [N](n0.md) — says so\n"), "{one}");
        let many = written("hello", 500);
        assert!(many.ends_with("says so\n") && many.len() < one.len() + PROFILE.memory.index_bytes_max);
    }
}
