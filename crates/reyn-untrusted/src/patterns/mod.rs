//! What the scanner looks for, by class. The patterns are matched against a text as the detector reads it
//! (`skeleton.rs`): lower case, look-alikes folded, nothing invisible, a Japanese full stop an end of a line.
//!
//! A pattern is words that begin it, found in one pass for all, and an expression for what follows, tried
//! there alone. Every repetition is bounded.

mod command_and_control;
mod execution;
mod exfiltration;
mod hiding;
mod injection;
mod injection_japanese;
mod persistence;
mod vocabulary;

pub(crate) use vocabulary::expanded;

use crate::scan::{Scope, Severity};

/// One way to say one thing that is looked for.
pub(crate) struct Pattern {
    /// What is found, in the words of reports; several patterns may share it.
    pub(crate) id: &'static str,
    /// Where it is looked for.
    pub(crate) scope: Scope,
    /// How much it weighs.
    pub(crate) severity: Severity,
    /// Words that begin it. One that begins with a letter begins a word.
    pub(crate) leads: &'static [&'static str],
    /// What stands before the lead, up to it; empty for anything.
    pub(crate) before: &'static str,
    /// What follows the lead at once.
    pub(crate) rest: &'static str,
}

impl Pattern {
    const fn block(
        id: &'static str,
        scope: Scope,
        leads: &'static [&'static str],
        rest: &'static str,
    ) -> Self {
        Self { id, scope, severity: Severity::Block, leads, before: "", rest }
    }

    const fn warn(
        id: &'static str,
        scope: Scope,
        leads: &'static [&'static str],
        rest: &'static str,
    ) -> Self {
        Self { severity: Severity::Warn, ..Self::block(id, scope, leads, rest) }
    }

    const fn after(self, before: &'static str) -> Self {
        Self { before, ..self }
    }
}

/// Every pattern.
pub(crate) fn all() -> impl Iterator<Item = &'static Pattern> {
    [
        injection::PATTERNS,
        injection_japanese::PATTERNS,
        hiding::PATTERNS,
        exfiltration::PATTERNS,
        command_and_control::PATTERNS,
        persistence::PATTERNS,
        execution::PATTERNS,
    ]
    .into_iter()
    .flatten()
}
