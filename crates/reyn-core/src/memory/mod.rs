//! What agents remember: notes in Markdown files, their frontmatter, and the index of a folder of them.
//!
//! Invariant: a note that a person wrote by hand is read as far as it goes, and what of it is not ours is kept.

mod frontmatter;
mod index;
mod slug;

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::text::excerpt;
pub use frontmatter::{Frontmatter, split};
pub use index::{
    ENTRY_TEMPLATE, HEADER, INDEX_FILE, IndexLine, Piece, TemplateError, entry, entry_template, index_text,
    prompt_view,
};
pub use slug::{SLUG_BYTES_MAX, Slug, SlugError};

/// Longest body that a call may have remembered, in bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;
/// Longest name and description of a note, in characters.
pub const NAME_CHARS_MAX: usize = 120;
/// See [`NAME_CHARS_MAX`].
pub const DESCRIPTION_CHARS_MAX: usize = 300;
/// Bytes of a file that are read, for its body and for its frontmatter.
pub const FILE_BYTES_MAX: u64 = 1 << 20;
/// Bytes of a file that an index is made of.
pub const HEAD_BYTES_MAX: u64 = 16 * 1024;
/// Notes of one layer that an index holds.
pub const NOTES_MAX: usize = 2_000;
/// Length of one layer's index in a prompt, in bytes.
pub const PROMPT_BYTES_MAX: usize = 4 * 1024;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Everybody's in the project.
    Shared,
    /// One agent's.
    Agent,
}

impl Layer {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Shared, Self::Agent];

    /// The name in arguments and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Agent => "agent",
        }
    }

    /// The folder of the layer, relative to the project. `agent` is the agent's name.
    #[must_use]
    pub fn folder(self, agent: &str) -> PathBuf {
        match self {
            Self::Shared => ".reyn/memory".into(),
            Self::Agent => [".reyn", "agents", agent, "memory"].iter().collect(),
        }
    }

    /// The tool whose effect a new or changed note of this layer is.
    #[must_use]
    pub const fn remembering_tool(self) -> &'static str {
        match self {
            Self::Shared => "remember_shared",
            Self::Agent => "remember_agent",
        }
    }
}

/// The names alone: a model reads them in every round.
impl JsonSchema for Layer {
    fn schema_name() -> Cow<'static, str> {
        "MemoryLayer".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Self::ALL.map(Self::name)})
    }
}

/// The tool whose effect it is that a note goes.
pub const FORGETTING_TOOL: &str = "forget_memory";

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The person.
    User,
    /// What the person thinks of the agent's work.
    Feedback,
    /// The project.
    Project,
    /// Where something is found.
    Reference,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// The name in frontmatter and arguments.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
        }
    }

    /// The kind of a name; `None` for a word that a person chose.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name.trim())
    }
}

/// The names alone: a model reads them in every round.
impl JsonSchema for Kind {
    fn schema_name() -> Cow<'static, str> {
        "MemoryKind".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Self::ALL.map(Self::name)})
    }
}

/// A note as an index knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Head {
    /// The file's stem.
    pub slug: Slug,
    /// What it is called: the frontmatter's `name`, else the slug.
    pub name: String,
    /// What it is about: the frontmatter's `description`, else the first line of the body.
    pub description: String,
    /// The frontmatter's `type`, as far as it is one of ours.
    #[serde(rename = "type")]
    pub kind: Option<Kind>,
}

impl Head {
    /// The head of the note `slug`, whose file begins with `text`.
    #[must_use]
    pub fn read(slug: Slug, text: &str) -> Self {
        let (frontmatter, body) = split(text);
        let value = |key: &str| {
            let value = frontmatter.as_ref().and_then(|one| one.value(key)).unwrap_or_default();
            one_line(&value)
        };
        let first =
            || body.lines().map(|line| one_line(line.trim_start_matches('#'))).find(|line| !line.is_empty());
        let name =
            Some(value("name")).filter(|name| !name.is_empty()).unwrap_or_else(|| slug.as_str().to_owned());
        let description = Some(value("description")).filter(|text| !text.is_empty()).or_else(first);
        Self {
            slug,
            name: excerpt(&name, NAME_CHARS_MAX),
            description: excerpt(&description.unwrap_or_default(), DESCRIPTION_CHARS_MAX),
            kind: Kind::of(&value("type")),
        }
    }
}

/// A note as a call has it remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file's stem.
    pub slug: Slug,
    /// What it is called.
    pub name: String,
    /// What it is about, in one line.
    pub description: String,
    /// What kind it is.
    pub kind: Kind,
    /// What is remembered.
    pub body: String,
}

/// Why a note is not remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteError {
    /// The name or the description says nothing.
    Empty(&'static str),
    /// A part is too long: which, how long it is, and how long it may be, with the unit.
    TooLong(&'static str, usize, usize, &'static str),
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(part) => write!(f, "the {part} is empty; say in one line what the note is about"),
            Self::TooLong(part, length, max, unit) => {
                write!(
                    f,
                    "the {part} is {length} {unit} long and {max} are the most; keep what matters, or write a file and remember its path"
                )
            }
        }
    }
}

impl std::error::Error for NoteError {}

impl Note {
    /// Whether it can be remembered.
    ///
    /// # Errors
    /// When a part is empty or too long.
    pub fn check(&self) -> Result<(), NoteError> {
        for (part, text, max) in
            [("name", &self.name, NAME_CHARS_MAX), ("description", &self.description, DESCRIPTION_CHARS_MAX)]
        {
            if one_line(text).is_empty() {
                return Err(NoteError::Empty(part));
            }
            let length = text.chars().count();
            if length > max {
                return Err(NoteError::TooLong(part, length, max, "characters"));
            }
        }
        if self.body.len() > BODY_BYTES_MAX {
            return Err(NoteError::TooLong("body", self.body.len(), BODY_BYTES_MAX, "bytes"));
        }
        Ok(())
    }

    /// The file of the note. Keys of the `old` file that are not ours stay as they are.
    #[must_use]
    pub fn file_text(&self, old: Option<&str>) -> String {
        let mut frontmatter = old.and_then(|text| split(text).0).unwrap_or_default();
        frontmatter.set("name", &one_line(&self.name));
        frontmatter.set("description", &one_line(&self.description));
        frontmatter.set("type", self.kind.name());
        let body = self.body.replace("\r\n", "\n");
        format!("---\n{frontmatter}---\n\n{}\n", body.trim_matches('\n'))
    }

    /// Everything in it that a model may read later, to be looked through as one text.
    #[must_use]
    pub fn whole(&self) -> String {
        format!("{}\n{}\n{}", self.name, self.description, self.body)
    }
}

/// A text on one line: what could begin another becomes a space.
#[must_use]
pub fn one_line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let spaced: String = text.chars().map(|c| if is_break(c) { ' ' } else { c }).collect();
    spaced.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The lines of a body from `offset` on, at most `lines_max` of them and `bytes_max` bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice<'a> {
    /// The lines, with their ends.
    pub text: &'a str,
    /// Lines of the whole body.
    pub lines: usize,
    /// The first line that is not in it, when there is one.
    pub next_offset: Option<usize>,
    /// Whether its last line is cut.
    pub is_cut: bool,
}

/// A part of a body.
#[must_use]
pub fn slice(body: &str, offset: usize, lines_max: usize, bytes_max: usize) -> Slice<'_> {
    let mut starts = vec![0];
    starts.extend(body.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < body.len()));
    let lines = if body.is_empty() { 0 } else { starts.len() };
    let start_of = |line: usize| starts.get(line).copied().filter(|_| line < lines).unwrap_or(body.len());
    let (from, first) = (start_of(offset), offset.min(lines));
    let mut end = (first + lines_max.min(lines)).min(lines);
    while end > first + 1 && start_of(end) - from > bytes_max {
        end -= 1;
    }
    let all = &body[from..start_of(end)];
    let text = crate::text::prefix(all, bytes_max);
    Slice { text, lines, next_offset: (end < lines).then_some(end), is_cut: text.len() < all.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> Note {
        Note {
            slug: Slug::parse("tabs").unwrap(),
            name: "Tabs: or \"spaces\"".into(),
            description: "likes\ntabs # not spaces".into(),
            kind: Kind::User,
            body: "Uses tabs.\r\n\r\nAlways.\n".into(),
        }
    }

    #[test]
    fn a_note_is_read_back_as_it_was_written() {
        let text = note().file_text(None);
        assert_eq!(
            text,
            "---\nname: \"Tabs: or \\\"spaces\\\"\"\ndescription: \"likes tabs # not spaces\"\ntype: user\n---\n\nUses tabs.\n\nAlways.\n"
        );
        let head = Head::read(note().slug, &text);
        assert_eq!(head.name, note().name);
        assert_eq!((head.description.as_str(), head.kind), ("likes tabs # not spaces", Some(Kind::User)));
        assert_eq!(split(&text).1, "Uses tabs.\n\nAlways.\n");
    }

    #[test]
    fn what_of_a_file_is_not_ours_stays() {
        let old = "\u{feff}---\r\ntags:\r\n  - a\r\n# mine\r\ntype: user\r\nname: old\r\n---\r\nold body\r\n";
        assert_eq!(
            note().file_text(Some(old)),
            "---\ntags:\n  - a\n# mine\ntype: user\nname: \"Tabs: or \\\"spaces\\\"\"\ndescription: \"likes tabs # not spaces\"\n---\n\nUses tabs.\n\nAlways.\n"
        );
    }

    #[test]
    fn a_file_written_by_hand_has_a_head_too() {
        for (text, name, description, kind) in [
            ("# Build\n\nUse `make`.\n", "x", "Build", None),
            ("", "x", "", None),
            ("---\nname: A\n---\n\nfirst\nsecond\n", "A", "first", None),
            (
                "\u{feff}---\r\ntype: feedback\r\ndescription: 'it''s D'\r\n---\r\nb",
                "x",
                "it's D",
                Some(Kind::Feedback),
            ),
            ("---\ntype: idea\ndescription: >\n  two\n  lines\n---\n", "x", "two lines", None),
            ("---\nname: A\nno end\n", "x", "---", None),
        ] {
            let head = Head::read(Slug::parse("x").unwrap(), text);
            let seen = (head.name.as_str(), head.description.as_str(), head.kind);
            assert_eq!(seen, (name, description, kind), "{text:?}");
        }
    }

    #[test]
    fn what_is_too_long_or_empty_is_not_remembered() {
        assert_eq!(note().check(), Ok(()));
        let long = Note { body: "x".repeat(1 << 20), ..note() };
        assert_eq!(long.check(), Err(NoteError::TooLong("body", 1 << 20, BODY_BYTES_MAX, "bytes")));
        let empty = Note { description: "\n ".into(), ..note() };
        assert_eq!(empty.check(), Err(NoteError::Empty("description")));
        let long = Note { name: "あ".repeat(121), ..note() };
        assert_eq!(long.check(), Err(NoteError::TooLong("name", 121, NAME_CHARS_MAX, "characters")));
    }

    #[test]
    fn a_body_is_read_in_parts_of_whole_lines() {
        let body = "a\nbb\nccc\n";
        for (offset, lines, bytes, text, next, is_cut) in [
            (0, usize::MAX, 99, "a\nbb\nccc\n", None, false),
            (0, 2, 99, "a\nbb\n", Some(2), false),
            (1, 1, 99, "bb\n", Some(2), false),
            (2, 9, 99, "ccc\n", None, false),
            (3, 9, 99, "", None, false),
            (99, 9, 99, "", None, false),
            (0, 9, 5, "a\nbb\n", Some(2), false),
            (2, 9, 2, "cc", None, true),
        ] {
            let expected = Slice { text, lines: 3, next_offset: next, is_cut };
            assert_eq!(slice(body, offset, lines, bytes), expected, "{offset} {lines} {bytes}");
        }
        assert_eq!(slice("", 0, 9, 9), Slice { text: "", lines: 0, next_offset: None, is_cut: false });
    }
}
