//! What a small model is shown of a memory and of indexes: nothing where there is none and nobody asks for it.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::json;

use super::{PROFILE, request};
use crate::conversation::Entry;
use crate::knowledge::{SOURCES_SHOWN_MAX, SourceLine, source_lines};
use crate::prompt::Environment;
use crate::request::{ChatRequest, Message};
use crate::tool_use::first_look::asks_to_remember;
use crate::tool_use::{Callable, Surface, ToolFormat};

/// Writes a request in the profile, with what is remembered and indexed.
#[must_use]
pub fn request_with_what_is_at_hand<'a>(
    format: ToolFormat,
    surface: &Surface,
    log: &'a [Entry],
    environment: &Environment,
    offer_tools: bool,
) -> ChatRequest<'a> {
    let (has_notes, asks) = (environment.memory_notes > 0, asks_to_remember(log));
    let (tools, indexes) = (&PROFILE.memory, &PROFILE.indexes);
    // Of what is remembered it is shown the index.
    let sources: Vec<SourceLine> =
        environment.sources.iter().filter(|source| !source.is_of_a_memory()).cloned().collect();
    let has_sources = !sources.is_empty();
    let is_shown = |name: &str| {
        (!tools.all.contains(&name) && !indexes.all.contains(&name))
            || (name == tools.remembers && asks)
            || (name == tools.reads && has_notes)
            || (name == tools.forgets && has_notes && asks)
            || (name == indexes.recalls && has_sources)
    };
    let named = |one: &Callable| {
        if one.name == indexes.recalls { with_sources(one, &sources) } else { one.clone() }
    };
    let shown = surface.callables.iter().filter(|one| is_shown(&one.name)).map(named).collect();
    let mut written = request(format, &Surface::new(shown), log, offer_tools);
    if let Some(Message::System(text)) = written.messages.first_mut() {
        let mut told = text.to_string();
        if has_notes {
            tell(&mut told, "Notes of earlier sessions:", &environment.memory, tools.index_bytes_max);
        }
        if has_sources {
            tell(&mut told, indexes.preamble, &source_lines(&sources), indexes.sources_bytes_max);
        }
        *text = Cow::Owned(told);
    }
    written
}

/// The tool with the names that it can be given: a model makes up others.
fn with_sources(recall: &Callable, sources: &[SourceLine]) -> Callable {
    let names: Vec<&str> =
        sources.iter().take(SOURCES_SHOWN_MAX).map(|source| source.name.as_str()).collect();
    let mut recall = recall.clone();
    let items = json!({"type": "string", "enum": names});
    let sources = &mut recall.parameters["properties"]["sources"];
    *sources = json!({"type": "array", "items": items, "minItems": 1, "maxItems": names.len()});
    recall
}

/// Adds as many whole lines as there is room for.
fn tell(text: &mut String, title: &str, lines: &str, bytes_max: usize) {
    let _ = writeln!(text, "{title}");
    let begin = text.len();
    for line in lines.lines().filter(|line| !line.is_empty() && *line != "(empty)") {
        if text.len() - begin + line.len() >= bytes_max {
            break;
        }
        let _ = writeln!(text, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let request =
            request_with_what_is_at_hand(ToolFormat::Constrained, &surface, &log, &environment, true);
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
    fn passages_are_looked_for_only_where_there_are_some() {
        let callable = |name: &&str| Callable {
            name: (*name).to_owned(),
            description: "Do it.".into(),
            parameters: json!({"type": "object", "properties": {}}),
        };
        let surface = Surface::new(PROFILE.indexes.all.iter().map(callable).collect());
        let log = [Entry::User { text: "how are keys rotated?".into() }];
        let told = |sources: Vec<SourceLine>| {
            let environment = Environment { sources, ..Environment::default() };
            let format = ToolFormat::Constrained;
            let request = request_with_what_is_at_hand(format, &surface, &log, &environment, true);
            let Some(Message::System(text)) = request.messages.first() else { panic!("no instructions") };
            text.to_string()
        };
        let none = told(vec![]);
        assert!(!none.contains("- recall(") && !none.contains(PROFILE.indexes.preamble), "{none}");
        let source = SourceLine { name: "docs".into(), description: "The guide".into(), passages: 3 };
        let some = told(vec![source]);
        assert!(some.contains("- recall(") && !some.contains("- index_drop("), "{some}");
        assert!(some.ends_with("- `docs`: The guide (3 passages)\n"), "{some}");
    }

    #[test]
    fn a_question_about_what_was_indexed_asks_there_first_and_for_what_there_is() {
        let callable = |name: &str| Callable {
            name: name.to_owned(),
            description: "Do it.".into(),
            parameters: json!({
                "type": "object",
                "properties": {"sources": {"type": "array"}},
                "required": ["sources"],
            }),
        };
        let surface = Surface::new(vec![callable("read_file"), callable("recall")]);
        let source = SourceLine { name: "docs".into(), description: String::new(), passages: 3 };
        let environment = Environment { sources: vec![source], ..Environment::default() };
        let shapes = |message: &str| {
            let log = [Entry::User { text: message.into() }];
            let format = ToolFormat::Constrained;
            let request = request_with_what_is_at_hand(format, &surface, &log, &environment, true);
            request.response_schema.unwrap()["anyOf"].as_array().unwrap().clone()
        };
        assert_eq!(shapes("what is a noun?").len(), 3);
        let [recall] = &shapes("how are keys rotated? use the docs")[..] else { panic!("not one shape") };
        let properties = &recall["properties"];
        assert_eq!(properties["tool"], json!({"const": "recall"}));
        assert_eq!(properties["args"]["properties"]["sources"]["items"]["enum"], json!(["docs"]));
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
