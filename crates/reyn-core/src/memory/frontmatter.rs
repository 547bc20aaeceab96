//! The keys at the head of a Markdown file, read and written line by line, so that nothing else of it changes.
//!
//! Read are plain, quoted and block values of keys at the margin, as people and programs write them; what a value
//! holds beyond that is kept as text.

use std::fmt;

/// The lines between the two `---` of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frontmatter {
    /// Each with the lines that belong to it; what stands before the first key has none.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// Empty for comments and blank lines.
    key: String,
    /// What stands behind the colon on the first line.
    first: String,
    /// The lines below it, as they are.
    rest: Vec<String>,
}

/// The frontmatter of a file, and its body without the blank lines around it. There is none where the file does not
/// begin with `---`, or no second one ends it, or a line in it is no key.
#[must_use]
pub fn split(text: &str) -> (Option<Frontmatter>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let whole = (None, text.trim_start_matches(['\r', '\n']));
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return whole };
    let mut at = first.len();
    let mut inside = vec![];
    for line in lines {
        at += line.len();
        if line.trim_end() == "---" {
            let Some(frontmatter) = Frontmatter::parse(&inside) else { return whole };
            return (Some(frontmatter), text[at..].trim_start_matches(['\r', '\n']));
        }
        inside.push(line.trim_end_matches(['\r', '\n']));
    }
    whole
}

impl Frontmatter {
    fn parse(lines: &[&str]) -> Option<Self> {
        let mut entries: Vec<Entry> = vec![];
        for line in lines {
            let is_own = line.trim().is_empty() || line.starts_with('#');
            let is_below = line.starts_with([' ', '\t']) || *line == "-" || line.starts_with("- ");
            match entries.last_mut() {
                Some(last) if is_below || (line.is_empty() && last.is_block()) => {
                    last.rest.push((*line).to_owned());
                }
                Some(_) | None if is_own => {
                    entries.push(Entry { key: String::new(), first: (*line).to_owned(), rest: vec![] });
                }
                Some(_) | None => {
                    let (key, first) = line.split_once(':')?;
                    let is_key =
                        !key.trim().is_empty() && (first.is_empty() || first.starts_with([' ', '\t']));
                    if !is_key {
                        return None;
                    }
                    let key = unquoted(key.trim()).unwrap_or_else(|| key.trim().to_owned());
                    entries.push(Entry { key, first: first.trim().to_owned(), rest: vec![] });
                }
            }
        }
        Some(Self { entries })
    }

    /// Whether it has no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(|entry| entry.key.is_empty())
    }

    /// The value of a key as text; of a key that stands there twice, the first. Empty for what YAML takes for nothing.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<String> {
        self.entries.iter().find(|entry| entry.key == key && !key.is_empty()).map(Entry::value)
    }

    /// Gives a key this value, in its place or at the end.
    pub fn set(&mut self, key: &str, value: &str) {
        let fresh = Entry { key: key.to_owned(), first: scalar(value), rest: vec![] };
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) if entry.value() == value => {}
            Some(entry) => *entry = fresh,
            None => self.entries.push(fresh),
        }
    }
}

impl fmt::Display for Frontmatter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            match (entry.key.as_str(), entry.first.as_str()) {
                ("", line) => writeln!(f, "{line}")?,
                (key, "") => writeln!(f, "{}:", scalar(key))?,
                (key, first) => writeln!(f, "{}: {first}", scalar(key))?,
            }
            for line in &entry.rest {
                writeln!(f, "{line}")?;
            }
        }
        Ok(())
    }
}

impl Entry {
    fn is_block(&self) -> bool {
        self.first.starts_with(['|', '>'])
    }

    fn value(&self) -> String {
        if self.is_block() {
            return self.block();
        }
        if let Some(text) = unquoted(&self.first) {
            return text;
        }
        let mut plain = without_comment(&self.first).to_owned();
        for line in &self.rest {
            let line = line.trim();
            if !line.is_empty() {
                plain.push_str(if plain.is_empty() { "" } else { " " });
                plain.push_str(line);
            }
        }
        // A quoted text may go on below.
        let plain = unquoted(&plain).unwrap_or(plain);
        if matches!(plain.as_str(), "~" | "null" | "Null" | "NULL") { String::new() } else { plain }
    }

    fn block(&self) -> String {
        let indent = self
            .rest
            .iter()
            .filter(|line| !line.trim().is_empty())
            .map(|line| indent(line))
            .min()
            .unwrap_or(0);
        let lines = self.rest.iter().map(|line| line.get(indent..).unwrap_or_default().trim_end());
        let lines: Vec<&str> = lines.collect();
        if self.first.starts_with('|') {
            return lines.join("\n").trim_end().to_owned();
        }
        let mut text = String::new();
        for line in lines {
            match (line.is_empty(), text.is_empty() || text.ends_with('\n')) {
                (true, _) => text.push('\n'),
                (false, true) => text.push_str(line),
                (false, false) => {
                    text.push(' ');
                    text.push_str(line);
                }
            }
        }
        text.trim().to_owned()
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The text of a quoted value, whatever comment follows it; `None` when it is not quoted.
fn unquoted(value: &str) -> Option<String> {
    let mut text = String::new();
    if let Some(rest) = value.strip_prefix('\'') {
        let mut chars = rest.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\'' if chars.peek() == Some(&'\'') => {
                    chars.next();
                    text.push('\'');
                }
                '\'' => return Some(text),
                c => text.push(c),
            }
        }
        return None;
    }
    let mut chars = value.strip_prefix('"')?.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Some(text),
            '\\' => text.push(escaped(&mut chars)?),
            c => text.push(c),
        }
    }
    None
}

/// The character that an escape stands for; `chars` are behind its backslash.
fn escaped(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match chars.next()? {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        '0' => return Some('\0'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        c => return Some(c),
    };
    let code: String = chars.by_ref().take(digits).collect();
    u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)
}

/// A plain value without the comment behind it.
fn without_comment(value: &str) -> &str {
    let end = if value.starts_with('#') { 0 } else { value.find(" #").unwrap_or(value.len()) };
    value[..end].trim_end()
}

/// A text as a YAML value on one line: plain where that is safe in every reader, else in double quotes.
fn scalar(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric();
    let is_plain = text.starts_with(is_word)
        && text.chars().all(|c| is_word(c) || " _-./,()+".contains(c))
        && !text.ends_with(' ')
        // A number, a date, or a word that YAML takes for something else.
        && !text.starts_with(|c: char| c.is_numeric())
        && !["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
            .contains(&text.to_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(lines: &str) -> Option<String> {
        split(&format!("---\n{lines}\n---\nbody")).0?.value("k")
    }

    #[test]
    fn values_are_read_as_people_write_them() {
        for (lines, expected) in [
            ("k: v", Some("v")),
            ("k:   v  ", Some("v")),
            ("k: v # why", Some("v")),
            ("k: a#b", Some("a#b")),
            ("k: 'it''s'  # why", Some("it's")),
            (r#"k: "a \"b\" \u3042\n""#, Some("a \"b\" あ\n")),
            ("k: \"open", Some("\"open")),
            ("k:", Some("")),
            ("k: ~", Some("")),
            ("k: null", Some("")),
            ("k: 2026-01-02", Some("2026-01-02")),
            ("k: [a, b]", Some("[a, b]")),
            ("k:\n  - a\n  - b", Some("- a - b")),
            ("k:\n- a", Some("- a")),
            ("k: one\n  two", Some("one two")),
            ("k: |\n  a\n\n  b\nz: 1", Some("a\n\nb")),
            ("k: >-\n  a\n  b\n\n  c", Some("a b\nc")),
            ("\"k\": v", Some("v")),
            ("a: 1\nk: v\nk: w", Some("v")),
            ("# k: c\n\na: 1", None),
            ("k v", None),
            ("k:v", None),
        ] {
            assert_eq!(value(lines).as_deref(), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_file_without_a_whole_frontmatter_is_all_body() {
        for text in [
            "",
            "body",
            "---",
            "---\nk: v\n",
            "--- \nbad line\n---\nb",
            " ---\nk: v\n---\n",
            "a\n---\nk: v\n---\n",
        ] {
            let (frontmatter, body) = split(text);
            assert_eq!((frontmatter, body), (None, text.trim_start_matches('\n')), "{text:?}");
        }
        let (frontmatter, body) = split("---\n---\n\n\nb\n");
        assert_eq!((frontmatter.map(|one| one.is_empty()), body), (Some(true), "b\n"));
    }

    proptest! {
        /// Whatever the text, it is one value of one key.
        #[test]
        fn what_is_set_is_read_back(text in "\\PC{0,40}|[\"'#:\\\\ |>&*!%@`\\-\\[\\]{}a\u{2028}\n]{0,12}") {
            let mut frontmatter = Frontmatter::default();
            frontmatter.set("k", &text);
            frontmatter.set("z", "last");
            let file = format!("---\n{frontmatter}---\n");
            prop_assert_eq!(file.lines().count(), 4);
            let read = split(&file).0;
            prop_assert_eq!(read.as_ref().and_then(|one| one.value("k")), Some(text));
            prop_assert_eq!(read.as_ref().and_then(|one| one.value("z")), Some("last".to_owned()));
        }
    }
}
