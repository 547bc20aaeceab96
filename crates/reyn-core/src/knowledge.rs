//! Which indexes there are, as a prompt names them. Pure.

use std::fmt::Write as _;

use crate::memory::Layer;
use crate::text::excerpt;

/// Indexes that a prompt names; what is beyond is counted.
pub const SOURCES_SHOWN_MAX: usize = 40;
/// Longest description in a prompt, in characters.
const DESCRIPTION_CHARS_MAX: usize = 160;

/// What the sources of a memory are called, before the name of an agent.
const MEMORY_SOURCE: &str = "memory";

/// The source of what is remembered in a layer: `memory`, and `memory-AGENT` for what one agent remembers.
#[must_use]
pub fn memory_source(layer: Layer, agent: &str) -> String {
    match layer {
        Layer::Shared => MEMORY_SOURCE.to_owned(),
        Layer::Agent => format!("{MEMORY_SOURCE}-{agent}"),
    }
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceLine {
    /// The name that a call gives.
    pub name: String,
    /// What it holds; written by people and by models.
    pub description: String,
    /// Its passages.
    pub passages: u64,
}

impl SourceLine {
    /// Whether it holds what is remembered, of which a prompt has an index of its own.
    #[must_use]
    pub fn is_of_a_memory(&self) -> bool {
        self.name == MEMORY_SOURCE
            || self.name.strip_prefix(MEMORY_SOURCE).is_some_and(|rest| rest.starts_with('-'))
    }
}

/// The indexes, one line each, in the order given.
#[must_use]
pub fn source_lines(sources: &[SourceLine]) -> String {
    let mut text = String::new();
    for source in sources.iter().take(SOURCES_SHOWN_MAX) {
        let description = source.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let description = excerpt(&description, DESCRIPTION_CHARS_MAX);
        let what = if description.is_empty() { String::new() } else { format!(": {description}") };
        let unit = if source.passages == 1 { "passage" } else { "passages" };
        let _ = writeln!(text, "- `{}`{what} ({} {unit})", source.name, source.passages);
    }
    if let Some(more @ 1..) = sources.len().checked_sub(SOURCES_SHOWN_MAX) {
        let _ = writeln!(text, "({more} more)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_of_a_memory_is_known_by_its_name() {
        let is_of_a_memory = |name: String| SourceLine { name, ..SourceLine::default() }.is_of_a_memory();
        assert!(Layer::ALL.into_iter().all(|layer| is_of_a_memory(memory_source(layer, "dev"))));
        assert!(!is_of_a_memory("memory2".into()) && !is_of_a_memory("docs".into()));
    }

    #[test]
    fn an_index_is_one_line_and_many_are_counted() {
        let source = |name: &str, description: &str| SourceLine {
            name: name.into(),
            description: description.into(),
            passages: 3,
        };
        assert_eq!(source_lines(&[]), "");
        assert_eq!(
            source_lines(&[source("docs", "The\n guide"), source("a", "")]),
            "- `docs`: The guide (3 passages)\n- `a` (3 passages)\n"
        );
        let long = source_lines(&[source("docs", &"x".repeat(500))]);
        assert!(long.len() < 250 && long.lines().count() == 1, "{long}");
        let many = source_lines(&vec![source("a", ""); SOURCES_SHOWN_MAX + 2]);
        assert!(many.ends_with("(2 more)\n"), "{many}");
    }
}
