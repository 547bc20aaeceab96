//! Which indexes there are, as a prompt names them. Pure.

use std::fmt::Write as _;

use crate::text::excerpt;

/// Indexes that a prompt names; what is beyond is counted.
pub const SOURCES_SHOWN_MAX: usize = 40;
/// Longest description in a prompt, in characters.
const DESCRIPTION_CHARS_MAX: usize = 160;

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
