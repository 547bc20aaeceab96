//! From a text to the terms that it is found by.
//!
//! Texts are compatible forms in lower case (NFKC). Runs of Chinese, Japanese and Korean letters become all pairs
//! of neighbours, since nothing marks their words. An identifier (`ERR-4021`, `max_retries`, `--dry-run`,
//! `config.yaml`, `HTTPClient`) is a term as a whole, in its parts, and without its separators, so that each way
//! of typing it finds it. Words lose an English plural's ending.

use unicode_normalization::UnicodeNormalization as _;

/// Bytes above which a term is cut: what is longer is data and not something that is typed.
const TERM_BYTES_MAX: usize = 96;
/// Parts of one identifier that become terms.
const PARTS_MAX: usize = 16;
/// What joins the parts of an identifier. The tables of the SQLite store name the same characters.
const JOINERS: [char; 8] = ['-', '_', '.', '/', ':', '@', '#', '+'];

/// What a term is in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// A word.
    Word,
    /// A name with separators, an option, or letters with digits, as a whole.
    Identifier,
    /// A part of an identifier.
    Part,
    /// An identifier without its separators.
    Joined,
    /// Two neighbours in a run of Chinese, Japanese or Korean letters, or one that stands alone.
    Pair,
}

/// A term of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// As it is looked up.
    pub text: String,
    /// What it is.
    pub kind: TermKind,
}

/// The terms of a text in the order of the text, each as often as it is there.
#[must_use]
pub fn terms(text: &str) -> Vec<Term> {
    let mut terms = vec![];
    let mut run = String::new();
    let mut kind = Run::Gap;
    for c in text.nfkc() {
        let next = Run::of(c);
        if next != kind {
            kind.split(&run, &mut terms);
            run.clear();
            kind = next;
        }
        if kind != Run::Gap {
            run.push(c);
        }
    }
    kind.split(&run, &mut terms);
    terms
}

/// The terms of a row, as a store keeps them: between spaces.
pub(crate) fn indexed(text: &str, parent_context: Option<&str>) -> String {
    let mut joined = String::with_capacity(text.len() * 2);
    for part in parent_context.into_iter().chain([text]) {
        for term in terms(part) {
            joined.push_str(&term.text);
            joined.push(' ');
        }
    }
    joined
}

/// What the letters of a stretch of text have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Gap,
    Letters,
    Ideographs,
}

impl Run {
    fn of(c: char) -> Self {
        if is_ideograph(c) {
            Self::Ideographs
        } else if c.is_alphanumeric() || JOINERS.contains(&c) {
            Self::Letters
        } else {
            Self::Gap
        }
    }

    fn split(self, run: &str, terms: &mut Vec<Term>) {
        match self {
            Self::Gap => {}
            Self::Letters => split_name(run, terms),
            Self::Ideographs => split_pairs(run, terms),
        }
    }
}

/// Whether a character is of a script that puts no space between words. `ー` and `々` are part of them.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x3005..=0x3007 | 0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
        && c != '・'
}

fn split_pairs(run: &str, terms: &mut Vec<Term>) {
    let mut before = None;
    let mut is_alone = true;
    for (at, c) in run.char_indices() {
        if let Some(before) = before.replace(at) {
            is_alone = false;
            push(terms, run[before..at + c.len_utf8()].to_owned(), TermKind::Pair);
        }
    }
    if is_alone {
        push(terms, run.to_owned(), TermKind::Pair);
    }
}

fn split_name(run: &str, terms: &mut Vec<Term>) {
    let is_other_joiner = |c: char| c != '-' && JOINERS.contains(&c);
    let whole = run.trim_end_matches(JOINERS).trim_start_matches(is_other_joiner);
    let core = whole.trim_start_matches(JOINERS);
    if core.is_empty() {
        return;
    }
    let parts: Vec<&str> = core.split(JOINERS).filter(|part| !part.is_empty()).take(PARTS_MAX).collect();
    if parts.len() > 1 || core.len() < whole.len() {
        push(terms, whole.to_lowercase(), TermKind::Identifier);
        for part in &parts {
            push(terms, stem(part.to_lowercase()), TermKind::Part);
        }
        if parts.len() > 1 {
            push(terms, parts.concat().to_lowercase(), TermKind::Joined);
        }
    } else {
        let has = |test: fn(char) -> bool| core.chars().any(test);
        let is_mixed = has(char::is_alphabetic) && has(char::is_numeric);
        let kind = if is_mixed { TermKind::Identifier } else { TermKind::Word };
        push(terms, stem(core.to_lowercase()), kind);
    }
    for part in parts {
        let humps = humps(part);
        if humps.len() > 1 {
            for hump in humps.into_iter().take(PARTS_MAX) {
                push(terms, stem(hump.to_lowercase()), TermKind::Part);
            }
        }
    }
}

/// The words of a name in camel case: `HTTPClient` is `HTTP` and `Client`.
fn humps(name: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    let mut humps = vec![];
    let mut from = 0;
    for at in 1..letters.len() {
        let (place, c) = letters[at];
        let before = letters[at - 1].1;
        let after = letters.get(at + 1).map(|(_, after)| *after);
        let begins_word = c.is_uppercase() && before.is_lowercase();
        let ends_capitals =
            c.is_uppercase() && before.is_uppercase() && after.is_some_and(char::is_lowercase) && at > 1;
        if begins_word || ends_capitals {
            humps.push(&name[from..place]);
            from = place;
        }
    }
    humps.push(&name[from..]);
    humps
}

/// Takes an English plural's ending off.
fn stem(mut word: String) -> String {
    let is_plural = word.len() > 3
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if !is_plural {
        return word;
    }
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ["ses", "xes", "zes", "ches", "shes"].iter().any(|ending| word.ends_with(ending)) {
        word.truncate(word.len() - 2);
    } else {
        word.truncate(word.len() - 1);
    }
    word
}

fn push(terms: &mut Vec<Term>, mut text: String, kind: TermKind) {
    if text.len() > TERM_BYTES_MAX {
        let end = (0..=TERM_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    terms.push(Term { text, kind });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        indexed(text, None).trim_end().to_owned()
    }

    #[test]
    fn texts_become_these_terms() {
        for (text, expected) in [
            ("", ""),
            ("The Retries.", "the retry"),
            ("ERR-4021:", "err-4021 err 4021 err4021"),
            ("max_retries=3", "max_retries max retry maxretries 3"),
            ("--dry-run", "--dry-run dry run dryrun"),
            ("-v", "-v v"),
            ("config.yaml)", "config.yaml config yaml configyaml"),
            ("HTTPClient", "httpclient http client"),
            ("/etc/hosts", "etc/hosts etc host etchosts"),
            ("ＡＢＣ１２", "abc12"),
            ("東京都", "東京 京都"),
            ("と", "と"),
            ("ﾃﾞｰﾀ・ベース", "デー ータ ベー ース"),
            ("エラーE12が", "エラ ラー e12 が"),
            ("classes boxes process status", "class box process status"),
            ("... -- //", ""),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_long_run_is_cut_at_a_letter() {
        let terms = terms(&"é".repeat(100_000));
        assert_eq!(terms.len(), 1);
        assert!(terms[0].text.len() <= TERM_BYTES_MAX);
    }
}
