//! The index of a folder of notes: the file `MEMORY.md`, lines by a template, and what a prompt shows.

use std::fmt;

use super::{Frontmatter, Head, Layer, PROMPT_BYTES_MAX};

/// The file of a folder's index.
pub const INDEX_FILE: &str = "MEMORY.md";
/// How the index of a memory begins.
pub const HEADER: &str = "# Memory Index\n\n";
/// A line of it.
pub const ENTRY_TEMPLATE: &str = "- [{name}]({slug}.md) — {description}";

/// One line of an index: its stem, and what its file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLine<'a> {
    /// The file's stem.
    pub slug: &'a str,
    /// The keys of the file.
    pub frontmatter: &'a Frontmatter,
}

/// Why a template is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateError {
    /// A brace without its other one.
    Unbalanced,
    /// Braces with nothing between them, or with a number.
    Unnamed,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unbalanced => {
                "`entry_template` has a brace without its other one; `{{` and `}}` stand for braces themselves"
            }
            Self::Unnamed => "`entry_template` has braces without a key between them; write them as `{name}`",
        })
    }
}

impl std::error::Error for TemplateError {}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Stands there as it is.
    Text(String),
    /// Becomes what the file says under this key.
    Key(String),
}

/// Reads a template: `{key}` is a placeholder, `{{` and `}}` are braces.
///
/// # Errors
/// When braces are unbalanced or name nothing.
pub fn entry_template(template: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = vec![];
    let mut text = String::new();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                text.push(c);
            }
            '}' => return Err(TemplateError::Unbalanced),
            '{' => {
                let mut key = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some('{') | None => return Err(TemplateError::Unbalanced),
                        Some(c) => key.push(c),
                    }
                }
                let key = key.trim();
                if key.is_empty() || key.chars().all(|c| c.is_ascii_digit()) {
                    return Err(TemplateError::Unnamed);
                }
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Key(key.to_owned()));
            }
            c => text.push(c),
        }
    }
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

/// A line by a template. `{slug}` is the stem, whatever the file says; a key that is not there is empty.
#[must_use]
pub fn entry(template: &[Piece], line: &IndexLine<'_>) -> String {
    let filled = template.iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Key(key) if key == "slug" => line.slug.to_owned(),
        // A value with lines would be several entries.
        Piece::Key(key) => super::one_line(&line.frontmatter.value(key).unwrap_or_default()),
    });
    filled.collect()
}

/// The text of an index: its header, then the entries, each on a line of its own.
#[must_use]
pub fn index_text(header: &str, entries: &[String]) -> String {
    let end = if entries.is_empty() { "" } else { "\n" };
    format!("{header}{}{end}", entries.join("\n"))
}

impl Head {
    /// The note's line in `MEMORY.md`.
    #[must_use]
    pub fn line(&self) -> String {
        format!("- [{}]({}.md) — {}", self.name, self.slug, self.description)
    }
}

/// One layer's index as a prompt shows it, at most [`PROMPT_BYTES_MAX`] bytes and a line. `more` are notes that
/// are not among the heads.
#[must_use]
pub fn prompt_view(layer: Layer, agent: &str, heads: &[Head], more: usize) -> String {
    let mut text = match layer {
        Layer::Shared => "# Memory Index (shared)\n\n".to_owned(),
        Layer::Agent => format!("# Memory Index (agent: {agent})\n\n"),
    };
    let mut shown = 0;
    for line in heads.iter().map(Head::line) {
        if text.len() + line.len() + 1 > PROMPT_BYTES_MAX {
            break;
        }
        text.push_str(&line);
        text.push('\n');
        shown += 1;
    }
    let rest = heads.len() - shown + more;
    if rest > 0 {
        let layer = layer.name();
        text.push_str(&format!("({rest} more; `list_memory` with `{layer}` lists them all)\n"));
    } else if shown == 0 {
        text.push_str("(empty)\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Kind, Slug, split};

    fn head(slug: &str, name: &str, description: &str) -> Head {
        let slug = Slug::parse(slug).unwrap();
        Head { slug, name: name.into(), description: description.into(), kind: Some(Kind::User) }
    }

    #[test]
    fn an_entry_is_its_template_filled() {
        let (frontmatter, _) =
            split("---\nname: Alpha\nslug: forged\nn: 3\nnone: ~\ntwo: |\n  a\n  b\n---\n");
        let frontmatter = frontmatter.unwrap();
        let line = IndexLine { slug: "alpha", frontmatter: &frontmatter };
        for (template, expected) in [
            (ENTRY_TEMPLATE, "- [Alpha](alpha.md) — "),
            ("{slug} {n} {none}{missing}", "alpha 3 "),
            ("{{{name}}} {two}", "{Alpha} a b"),
            ("plain", "plain"),
        ] {
            assert_eq!(entry(&entry_template(template).unwrap(), &line), expected);
        }
        for (template, error) in [
            ("{name", TemplateError::Unbalanced),
            ("name}", TemplateError::Unbalanced),
            ("{a{b}}", TemplateError::Unbalanced),
            ("{}", TemplateError::Unnamed),
            ("{0}", TemplateError::Unnamed),
        ] {
            assert_eq!(entry_template(template), Err(error), "{template}");
        }
    }

    #[test]
    fn an_index_without_entries_is_its_header() {
        assert_eq!(index_text(HEADER, &[]), "# Memory Index\n\n");
        assert_eq!(index_text("", &["a".into(), "b".into()]), "a\nb\n");
        let line = head("a", "A", "first").line();
        assert_eq!(index_text(HEADER, &[line]), "# Memory Index\n\n- [A](a.md) — first\n");
    }

    #[test]
    fn a_prompt_shows_what_fits_and_says_how_many_there_are_besides() {
        assert_eq!(
            prompt_view(Layer::Agent, "default", &[], 0),
            "# Memory Index (agent: default)\n\n(empty)\n"
        );
        let heads = [head("a", "A", "first")];
        assert_eq!(
            prompt_view(Layer::Shared, "x", &heads, 2),
            "# Memory Index (shared)\n\n- [A](a.md) — first\n(2 more; `list_memory` with `shared` lists them all)\n"
        );
        let many: Vec<Head> = (0..500).map(|at| head(&format!("n{at}"), "Name", "what it says")).collect();
        let text = prompt_view(Layer::Shared, "x", &many, 0);
        assert!(text.len() < PROMPT_BYTES_MAX + 80, "{}", text.len());
        let shown = text.matches("](n").count();
        assert!(
            text.ends_with(&format!("({} more; `list_memory` with `shared` lists them all)\n", 500 - shown))
        );
    }
}
