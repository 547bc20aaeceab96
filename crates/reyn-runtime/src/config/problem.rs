//! What is wrong in the configuration, in words for the person who wrote it.

use std::fmt;

use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::node::{Mark, SourceKind};

/// Widest part of a line that a problem shows, in terminal cells.
const SHOWN_CELLS_MAX: usize = 120;

/// Keys whose value is never shown, even where it is wrong to write them.
const SECRET_KEYS: [&str; 6] = ["api_key", "apikey", "token", "secret", "password", "authorization"];

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigProblem {
    /// The file, environment variable or flag.
    pub file: String,
    /// The line, counted from 1; `None` outside files and for a file as a whole.
    pub line: Option<u32>,
    /// The column in characters, counted from 1; `None` for a file as a whole.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The line itself.
    pub source_line: Option<String>,
}

impl ConfigProblem {
    /// A problem at a place.
    pub(super) fn at(mark: &Mark, message: impl Into<String>) -> Self {
        let is_file = mark.source.kind == SourceKind::File;
        Self {
            file: mark.source.name.clone(),
            line: is_file.then_some(mark.line),
            column: Some(mark.column),
            message: message.into(),
            hint: None,
            source_line: Some(without_secret(mark.source.line(mark.line))),
        }
    }

    /// A problem of a whole file.
    pub(super) fn in_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            message: message.into(),
            hint: None,
            source_line: None,
        }
    }

    /// With what to do about it.
    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With what to do about it, when that is known.
    #[must_use]
    pub(super) fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }
}

/// `file:line:column: message`, then the line with a caret below the column, then the hint.
impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let (Some(text), Some(column)) = (&self.source_line, self.column) {
            let (shown, indent) = window(text, column as usize);
            if !shown.is_empty() {
                write!(f, "\n  | {shown}\n  | {}^", " ".repeat(indent))?;
            }
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// All problems as plain text, an empty line between them.
#[must_use]
pub fn render_problems(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ConfigProblem::to_string).collect::<Vec<_>>().join("\n\n")
}

/// The part of `line` around a column, and how many cells stand before the column in it.
fn window(line: &str, column: usize) -> (String, usize) {
    // A tab or an escape sequence would move the caret, or do worse to a terminal.
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let characters: Vec<char> = line.chars().map(printable).collect();
    let target = column.saturating_sub(1).min(characters.len());
    let width = |c: &char| c.width().unwrap_or(0);
    let before: usize = characters[..target].iter().map(width).sum();
    let start = if before < SHOWN_CELLS_MAX { 0 } else { target.saturating_sub(SHOWN_CELLS_MAX / 4) };
    let prefix = if start == 0 { "" } else { "…" };
    let indent = prefix.width() + characters[start..target].iter().map(width).sum::<usize>();
    let mut cells = prefix.width();
    let mut shown = prefix.to_owned();
    for character in &characters[start..] {
        cells += width(character);
        if cells > SHOWN_CELLS_MAX {
            shown.push('…');
            break;
        }
        shown.push(*character);
    }
    (shown.trim_end().to_owned(), indent)
}

/// The line, cut after the `:` or `=` of a key that holds a secret.
fn without_secret(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let is_word = |c: char| c.is_ascii_alphanumeric();
    for (at, separator) in lower.match_indices([':', '=']) {
        let key = lower[..at].trim_end().trim_end_matches(['"', '\'']);
        let is_secret = SECRET_KEYS
            .iter()
            .any(|secret| key.strip_suffix(secret).is_some_and(|before| !before.ends_with(is_word)));
        if is_secret {
            return format!("{}{separator} …", &line[..at]);
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_key_that_holds_a_secret_is_cut() {
        for (line, shown) in [
            ("  api_key: sk-123", "  api_key: …"),
            ("  {model: a/b, \"api_key\": sk-123}", "  {model: a/b, \"api_key\": …"),
            ("REYN_LLM__API_KEY=sk-123", "REYN_LLM__API_KEY= …"),
            ("max_input_tokens: 5", "max_input_tokens: 5"),
            ("api_key_env: NAME", "api_key_env: NAME"),
        ] {
            assert_eq!(without_secret(line), shown);
        }
    }

    #[test]
    fn a_long_line_is_cut_around_its_column_and_control_characters_are_not_shown() {
        let line = format!("{}X{}", "あ".repeat(200), "b".repeat(500));
        let (shown, indent) = window(&line, 201);
        assert_eq!(indent, 61);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.width() <= SHOWN_CELLS_MAX + 1);
        assert_eq!(shown.chars().nth(31), Some('X'));
        assert_eq!(window("\ta\u{1b}[31m", 2), (" a [31m".to_owned(), 1));
    }
}
