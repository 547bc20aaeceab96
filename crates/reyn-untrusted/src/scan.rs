//! Finds what reads like an attack: orders to a model, hidden words, secrets on their way out, commands of
//! strangers. Reports; the caller decides.
//!
//! A text is matched as the detector reads it (NFKC, look-alikes folded, nothing invisible); every span and
//! excerpt is of the text that was given. A text of any length is looked at whole, in overlapping windows, in time
//! linear in its length.

mod builtin;
mod custom;
mod first_byte;
mod leads;

use std::collections::BTreeMap;
use std::ops::Range;

use reyn_core::redaction::{first_secret, redact_secrets};
pub use reyn_core::settings::{Severity, ThreatPattern as CustomPattern, ThreatScope as Scope};
use reyn_core::text::excerpt;
use serde::Serialize;

use self::builtin::Builtin;
use self::custom::Compiled;
pub use self::custom::{CUSTOM_PATTERN_BYTES_MAX, CUSTOM_PATTERNS_MAX, PatternError};
use crate::disguise::each_disguised;
use crate::mention::{is_mention, is_quoted};
use crate::skeleton::Skeleton;

/// Length of the windows that a long text is looked at in, in bytes.
pub const SCAN_WINDOW_BYTES: usize = 2 << 20;
/// How far two windows overlap, in bytes: more than the longest match with what stands before it.
pub const SCAN_OVERLAP_BYTES: usize = 4 << 10;
/// Longest excerpt of a match, in characters.
pub const SCAN_EXCERPT_CHARS_MAX: usize = 120;

/// What a secret in a text is called.
const SECRET: &str = "hardcoded_secret";

/// How a scanner is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// From which severity on a text is blocked.
    pub block_severity: Severity,
    /// Patterns of the operator, beside the built-in ones.
    pub custom: Vec<CustomPattern>,
}

/// One thing that was found: the weightiest match of its id, and of those the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Match {
    /// What was found.
    pub id: String,
    /// How much it weighs here.
    pub severity: Severity,
    /// The scope of the pattern, not of the scan.
    pub scope: Scope,
    /// Where, in bytes of the text that was given; at character boundaries.
    pub span: Range<usize>,
    /// The beginning of what stands there: at most [`SCAN_EXCERPT_CHARS_MAX`] characters, without secrets and controls.
    pub excerpt: String,
    /// Whether the text speaks about the attack rather than making it; `severity` is lowered to a warning.
    pub is_mention: bool,
}

/// What a scan comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing was found.
    Clean,
    /// Something was found that does not block.
    Warn,
    /// Something was found that blocks.
    Block,
}

/// Looks for the built-in patterns and the operator's.
#[derive(Debug)]
pub struct Scanner {
    builtin: &'static Builtin,
    custom: Vec<Compiled>,
    block_severity: Severity,
}

impl Scanner {
    /// Compiles the patterns; the built-in ones once per process.
    ///
    /// # Errors
    /// [`PatternError`] names the custom pattern that cannot be used, where in it, and why.
    pub fn new(options: &ScanOptions) -> Result<Self, PatternError> {
        Ok(Self {
            builtin: builtin::get()?,
            custom: custom::compiled(&options.custom)?,
            block_severity: options.block_severity,
        })
    }

    /// Whether a pattern of the operator's can be used.
    ///
    /// # Errors
    /// [`PatternError`] says where in it and why not.
    pub fn check(pattern: &CustomPattern) -> Result<(), PatternError> {
        custom::compiled(std::slice::from_ref(pattern)).map(drop)
    }

    /// What is found in `text`, in the order of its places: one match per id.
    #[must_use]
    pub fn scan(&self, text: &str, scope: Scope) -> Vec<Match> {
        let open = self.builtin.of_scope(scope);
        let mut found = Found { text, scope, matches: BTreeMap::new(), open };
        for window in windows(text) {
            self.scan_window(window, &mut found);
        }
        if scope == Scope::Strict
            && let Some(span) = first_secret(text)
        {
            found.add(SECRET, Scope::Strict, Severity::Block, span);
        }
        if scope == Scope::Exec {
            found.add_first("terminal_escape", Severity::Block, terminal_escape(text));
            found.add_first("homograph_url", Severity::Warn, homograph_url(text));
        }
        let mut matches: Vec<Match> = found.matches.into_values().collect();
        matches.sort_by(|left, right| (left.span.start, &left.id).cmp(&(right.span.start, &right.id)));
        matches
    }

    fn scan_window(&self, window: Range<usize>, found: &mut Found<'_>) {
        let text = &found.text[window.clone()];
        let skeleton = Skeleton::of(text);
        if let Some(hidden) = &skeleton.hidden {
            let span = hidden.start + window.start..hidden.end + window.start;
            found.add("invisible_unicode", Scope::All, Severity::Warn, span);
        }
        let place = |range: Range<usize>| {
            let span = skeleton.source_range(range, text);
            span.start + window.start..span.end + window.start
        };
        self.builtin.scan(&skeleton.text, found, place);
        each_disguised(&skeleton.text, |range, words| {
            self.builtin.scan(words, found, |_| place(range.clone()));
        });
        let scope = found.scope;
        for pattern in self.custom.iter().filter(|pattern| scope.includes(pattern.scope)) {
            let in_text = pattern.regex.find(text).map(|found| found.range());
            let in_skeleton =
                || pattern.regex.find(&skeleton.text).map(|found| skeleton.source_range(found.range(), text));
            if let Some(span) = in_text.or_else(in_skeleton) {
                let span = span.start + window.start..span.end + window.start;
                found.add(&pattern.id, pattern.scope, pattern.severity, span);
            }
        }
    }

    /// What the matches of a scan come to.
    #[must_use]
    pub fn verdict(&self, matches: &[Match]) -> Verdict {
        let from = self.block_severity;
        match matches.iter().map(|found| found.severity).max() {
            None => Verdict::Clean,
            Some(severity) if severity >= from => Verdict::Block,
            Some(_) => Verdict::Warn,
        }
    }
}

/// What was found so far, by id.
struct Found<'a> {
    text: &'a str,
    scope: Scope,
    matches: BTreeMap<String, Match>,
    /// Of each built-in pattern, whether a match of it would still change something.
    open: Vec<bool>,
}

impl Found<'_> {
    /// Whether another match of this weight would change nothing.
    fn is_settled(&self, id: &str, severity: Severity) -> bool {
        self.matches.get(id).is_some_and(|found| found.severity >= severity)
    }

    fn add_first(&mut self, id: &str, severity: Severity, span: Option<Range<usize>>) {
        if let Some(span) = span {
            self.add(id, Scope::Exec, severity, span);
        }
    }

    fn add(&mut self, id: &str, scope: Scope, severity: Severity, span: Range<usize>) {
        let is_mention = match self.scope {
            Scope::Context => is_mention(self.text, &span),
            // Words to a model that a command looks for, or writes into a message, order nobody.
            Scope::Exec => scope == Scope::All && !carries_away(id) && is_quoted(self.text, &span),
            Scope::All | Scope::Strict => false,
        };
        let severity = if is_mention { Severity::Warn } else { severity };
        if self.is_settled(id, severity) {
            return;
        }
        // Without the name before it, a value may not look like the secret it is.
        let excerpt = if id == SECRET { "[REDACTED]".to_owned() } else { shown(&self.text[span.clone()]) };
        self.matches
            .insert(id.to_owned(), Match { id: id.to_owned(), severity, scope, span, excerpt, is_mention });
    }
}

/// Whether what is found is a command itself, wherever it is written.
fn carries_away(id: &str) -> bool {
    matches!(id, "exfil_curl" | "exfil_wget" | "read_secrets")
}

/// The beginning of a match, as a report may hold it.
fn shown(text: &str) -> String {
    let redacted = redact_secrets(text);
    let printable: String = redacted
        .chars()
        .take(SCAN_EXCERPT_CHARS_MAX + 1)
        .map(|c| if reyn_core::text::is_invisible(c) { ' ' } else { c })
        .collect();
    excerpt(&printable, SCAN_EXCERPT_CHARS_MAX)
}

/// Stretches that together hold the whole text, each overlapping the one before.
fn windows(text: &str) -> impl Iterator<Item = Range<usize>> {
    let boundary =
        |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let mut next = Some(0_usize);
    std::iter::from_fn(move || {
        let start = next?;
        let end = boundary(start.saturating_add(SCAN_WINDOW_BYTES));
        next = (end < text.len()).then(|| boundary(end - SCAN_OVERLAP_BYTES));
        Some(start..end)
    })
}

/// The first sequence that would steer the terminal of whoever sees the command.
fn terminal_escape(text: &str) -> Option<Range<usize>> {
    let is_start = |at: usize, c: char| match c {
        '\u{1b}' => text[at + 1..].starts_with(['[', ']']),
        '\u{9b}' | '\u{9d}' => true,
        _ => false,
    };
    let (at, c) = text.char_indices().find(|(at, c)| is_start(*at, *c))?;
    Some(at..at + c.len_utf8() + usize::from(c == '\u{1b}'))
}

/// The first host of an address that is not plain ASCII.
fn homograph_url(text: &str) -> Option<Range<usize>> {
    text.match_indices("://").find_map(|(at, mark)| {
        let start = at + mark.len();
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | ')' | '|');
        let host = text[start..].split(ends).next()?;
        (!host.is_ascii()).then(|| start..start + host.len())
    })
}

#[cfg(test)]
#[path = "scan/scan_tests.rs"]
mod tests;
