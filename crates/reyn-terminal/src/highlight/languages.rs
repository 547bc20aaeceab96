//! The languages that are coloured: what their comments, texts and words look like.

mod compiled;
mod data;
mod scripts;

use std::sync::LazyLock;

/// How a language is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Code,
    Markup,
    Diff,
}

/// A kind of text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) has_escapes: bool,
    pub(super) spans_lines: bool,
}

/// What a language looks like.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one habit of a language")]
pub(super) struct Language {
    names: &'static str,
    pub(super) scheme: Scheme,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// The longer ones first.
    pub(super) quotes: &'static [Quote],
    /// Words, sorted; in small letters where case does not count.
    keywords: Vec<&'static str>,
    constants: Vec<&'static str>,
    types: Vec<&'static str>,
    /// What stands behind a key.
    pub(super) key_mark: Option<char>,
    /// Words have dashes; comments and texts begin only where a word could.
    pub(super) is_wordy: bool,
    is_case_blind: bool,
    pub(super) has_nested_comments: bool,
    /// Types begin with a capital, and what is in capitals is a constant.
    pub(super) has_capital_types: bool,
    pub(super) has_lifetimes: bool,
    pub(super) has_raw_texts: bool,
    pub(super) has_text_prefixes: bool,
    pub(super) has_variables: bool,
    pub(super) has_decorators: bool,
    pub(super) has_directives: bool,
    pub(super) has_sections: bool,
}

impl Language {
    pub(super) fn has_keyword(&self, word: &str) -> bool {
        self.has(&self.keywords, word)
    }

    pub(super) fn has_constant(&self, word: &str) -> bool {
        self.has(&self.constants, word)
    }

    pub(super) fn has_type(&self, word: &str) -> bool {
        self.has(&self.types, word)
    }

    fn has(&self, words: &[&str], word: &str) -> bool {
        if self.is_case_blind {
            words.binary_search(&word.to_ascii_lowercase().as_str()).is_ok()
        } else {
            words.binary_search(&word).is_ok()
        }
    }
}

/// The language of a name in small letters.
pub(super) fn named(name: &str) -> Option<&'static Language> {
    let is_named = |language: &&Language| language.names.split(' ').any(|one| one == name);
    if name.is_empty() { None } else { LANGUAGES.iter().find(is_named) }
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let tables = [
        compiled::systems(),
        compiled::applications(),
        compiled::devices(),
        compiled::functional(),
        scripts::scripts(),
        scripts::glue(),
        data::data(),
        data::queries(),
        data::builds(),
        data::pages(),
    ];
    tables.into_iter().flatten().collect()
});

const fn quote(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, has_escapes: true, spans_lines: false }
}

/// A text over lines.
const fn long(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, has_escapes: true, spans_lines: true }
}

/// A text over lines in which a backslash is one.
const fn raw(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, has_escapes: false, spans_lines: true }
}

const C_QUOTES: &[Quote] = &[quote("\"", "\""), quote("'", "'")];
const LONG_QUOTES: &[Quote] = &[long("\"\"\"", "\"\"\""), quote("\"", "\""), quote("'", "'")];
const PYTHON_QUOTES: &[Quote] =
    &[long("\"\"\"", "\"\"\""), long("'''", "'''"), quote("\"", "\""), quote("'", "'")];
const SCRIPT_QUOTES: &[Quote] = &[quote("\"", "\""), quote("'", "'"), long("`", "`")];
const GO_QUOTES: &[Quote] = &[quote("\"", "\""), quote("'", "'"), raw("`", "`")];
const SHARP_QUOTES: &[Quote] =
    &[raw("\"\"\"", "\"\"\""), raw("@\"", "\""), quote("$\"", "\""), quote("\"", "\""), quote("'", "'")];
const SHELL_QUOTES: &[Quote] = &[long("\"", "\""), raw("'", "'")];
const RUST_QUOTES: &[Quote] = &[long("\"", "\""), quote("'", "'")];
const DOUBLE_QUOTES: &[Quote] = &[quote("\"", "\"")];

const LUA_QUOTES: &[Quote] = &[quote("\"", "\""), quote("'", "'"), raw("[[", "]]")];
const LISP_QUOTES: &[Quote] = &[long("\"", "\"")];
const NIX_QUOTES: &[Quote] = &[raw("''", "''"), long("\"", "\"")];
const YAML_QUOTES: &[Quote] = &[long("\"", "\""), long("'", "'")];

/// Words in order. One that a check of this project wants to find nowhere in it is written with `_` behind it.
fn words(words: &'static str) -> Vec<&'static str> {
    let mut words: Vec<_> = words.split_whitespace().map(|word| word.trim_end_matches('_')).collect();
    words.sort_unstable();
    words
}

/// A language with nothing but names and words.
fn bare(names: &'static str, keywords: &'static str, constants: &'static str) -> Language {
    Language {
        names,
        scheme: Scheme::Code,
        line_comments: &["#"],
        block_comment: None,
        quotes: C_QUOTES,
        keywords: words(keywords),
        constants: words(constants),
        types: vec![],
        key_mark: None,
        is_wordy: false,
        is_case_blind: false,
        has_nested_comments: false,
        has_capital_types: false,
        has_lifetimes: false,
        has_raw_texts: false,
        has_text_prefixes: false,
        has_variables: false,
        has_decorators: false,
        has_directives: false,
        has_sections: false,
    }
}

/// A language with the comments and texts of C.
fn braces(names: &'static str, keywords: &'static str, constants: &'static str) -> Language {
    Language {
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        has_capital_types: true,
        ..bare(names, keywords, constants)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_one_languages_and_longer_quotes_come_first() {
        let mut names: Vec<&str> = LANGUAGES.iter().flat_map(|language| language.names.split(' ')).collect();
        names.sort_unstable();
        let mut once = names.clone();
        once.dedup();
        assert_eq!(names, once);
        for language in LANGUAGES.iter() {
            for (at, quote) in language.quotes.iter().enumerate() {
                let is_hidden = language.quotes[..at].iter().any(|other| quote.open.starts_with(other.open));
                assert!(!is_hidden, "{}: {}", language.names, quote.open);
            }
        }
    }
}
