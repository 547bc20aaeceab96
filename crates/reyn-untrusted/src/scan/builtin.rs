//! The built-in patterns, compiled once per process: one table for the words that begin them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::custom::PatternError;
use super::first_byte::FirstBytes;
use super::leads::Leads;
use super::{Found, Scope};
use crate::patterns::{self, Pattern, expanded};

/// How far behind its lead a match may reach, in bytes.
const REST_BYTES_MAX: usize = 900;
/// How far before its lead a pattern looks, in bytes.
const BEFORE_BYTES_MAX: usize = 240;

/// The patterns, ready to be looked for.
#[derive(Debug)]
pub(super) struct Builtin {
    leads: Leads,
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
        let mut prepared = vec![];
        for pattern in patterns::all() {
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
        let leads = patterns::all().enumerate();
        let leads = leads.flat_map(|(number, pattern)| pattern.leads.iter().map(move |lead| (*lead, number)));
        Ok(Self { leads: Leads::new(leads), patterns: prepared })
    }

    /// Of each pattern, whether it is looked for in a scan of this scope.
    pub(super) fn of_scope(&self, scope: Scope) -> Vec<bool> {
        self.patterns.iter().map(|prepared| scope.includes(prepared.pattern.scope)).collect()
    }

    /// Closes the patterns of which another match would change nothing.
    fn close_settled(&self, id: &str, found: &mut Found<'_>) {
        for (number, prepared) in self.patterns.iter().enumerate() {
            if prepared.pattern.id == id && found.is_settled(id, prepared.pattern.severity) {
                found.open[number] = false;
            }
        }
    }

    /// Adds what begins in `text`, a text as the detector reads it; `place` leads back to the text that was given.
    pub(super) fn scan(
        &self,
        text: &str,
        found: &mut Found<'_>,
        place: impl Fn(Range<usize>) -> Range<usize>,
    ) {
        let bytes = text.as_bytes();
        self.leads.each(bytes, |start, lead_end, begins| {
            for number in begins {
                if !found.open[*number] {
                    continue;
                }
                let prepared = &self.patterns[*number];
                let pattern = prepared.pattern;
                if let Some(end) = prepared.end(bytes, start..lead_end) {
                    found.add(pattern.id, pattern.scope, pattern.severity, place(start..end));
                    self.close_settled(pattern.id, found);
                }
            }
        });
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
