//! The built-in patterns, compiled once per process: one automaton for the words that begin them.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use super::Found;
use super::custom::PatternError;
use super::first_byte::FirstBytes;
use crate::patterns::{self, Pattern, expanded};

/// How far behind its lead a match may reach, in bytes.
const REST_BYTES_MAX: usize = 900;
/// How far before its lead a pattern looks, in bytes.
const BEFORE_BYTES_MAX: usize = 240;

/// The patterns, ready to be looked for.
#[derive(Debug)]
pub(super) struct Builtin {
    leads: AhoCorasick,
    /// By the number of a lead: the patterns that it begins.
    begun_by: Vec<Vec<usize>>,
    patterns: Vec<Prepared>,
}

struct Prepared {
    pattern: &'static Pattern,
    before: Option<Regex>,
    rest: Option<Regex>,
    first: Option<FirstBytes>,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.pattern.id)
    }
}

static BUILTIN: LazyLock<Result<Builtin, PatternError>> = LazyLock::new(Builtin::new);

/// The built-in patterns, compiled at the first call.
pub(super) fn get() -> Result<&'static Builtin, PatternError> {
    BUILTIN.as_ref().map_err(Clone::clone)
}

fn compiled(pattern: &Pattern, expression: &str) -> Result<Option<Regex>, PatternError> {
    if expression.is_empty() {
        return Ok(None);
    }
    let compiled = RegexBuilder::new(&expanded(expression)).unicode(false).build();
    compiled
        .map(Some)
        .map_err(|error| PatternError::Builtin { id: pattern.id.to_owned(), reason: error.to_string() })
}

impl Builtin {
    fn new() -> Result<Self, PatternError> {
        let mut leads: Vec<&'static str> = vec![];
        let mut begun_by: Vec<Vec<usize>> = vec![];
        let mut prepared = vec![];
        let mut numbers = std::collections::HashMap::new();
        for (number, pattern) in patterns::all().enumerate() {
            for lead in pattern.leads {
                let at = *numbers.entry(*lead).or_insert_with(|| {
                    leads.push(lead);
                    begun_by.push(vec![]);
                    leads.len() - 1
                });
                begun_by[at].push(number);
            }
            let rest =
                if pattern.rest.is_empty() { String::new() } else { format!(r"\A(?:{})", pattern.rest) };
            let before = if pattern.before.is_empty() {
                String::new()
            } else {
                format!(r"(?:{})\z", pattern.before.trim_end_matches('$'))
            };
            let first = regex_syntax::ParserBuilder::new()
                .unicode(false)
                .utf8(false)
                .build()
                .parse(&expanded(pattern.rest))
                .ok()
                .map(|parsed| FirstBytes::of(&parsed));
            prepared.push(Prepared {
                first,
                pattern,
                before: compiled(pattern, &before)?,
                rest: compiled(pattern, &rest)?,
            });
        }
        let leads = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&leads)
            .map_err(|error| PatternError::Builtin { id: "leads".to_owned(), reason: error.to_string() })?;
        Ok(Self { leads, begun_by, patterns: prepared })
    }

    /// Adds what begins in `text`, a text as the detector reads it; `place` leads back to the text that was given.
    pub(super) fn scan(
        &self,
        text: &str,
        found: &mut Found<'_>,
        place: impl Fn(Range<usize>) -> Range<usize>,
    ) {
        let bytes = text.as_bytes();
        for lead in self.leads.find_overlapping_iter(text) {
            let is_in_a_word = bytes[lead.start()].is_ascii_alphanumeric()
                && lead.start().checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric());
            if is_in_a_word {
                continue;
            }
            for number in &self.begun_by[lead.pattern().as_usize()] {
                let prepared = &self.patterns[*number];
                let pattern = prepared.pattern;
                if !found.scope.includes(pattern.scope) || found.is_settled(pattern.id, pattern.severity) {
                    continue;
                }
                if let Some(end) = prepared.end(bytes, lead.range()) {
                    found.add(pattern.id, pattern.scope, pattern.severity, place(lead.start()..end));
                }
            }
        }
    }
}

impl Prepared {
    /// Where the match ends that begins with this lead, if there is one.
    fn end(&self, text: &[u8], lead: Range<usize>) -> Option<usize> {
        let rest = &text[lead.end..text.len().min(lead.end + REST_BYTES_MAX)];
        if self.first.as_ref().is_some_and(|first| !first.may_begin(rest)) {
            return None;
        }
        let end = match &self.rest {
            Some(pattern) => lead.end + pattern.find(rest)?.end(),
            None => lead.end,
        };
        let before = &text[lead.start.saturating_sub(BEFORE_BYTES_MAX)..lead.start];
        self.before.as_ref().is_none_or(|pattern| pattern.is_match(before)).then_some(end)
    }
}
