//! The conversation log: the only state of a session. Appended to, never changed.

use serde::{Deserialize, Serialize};

use crate::tool::{Effect, Outcome, ToolCall};

/// One record of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// The person said this; a turn begins.
    User {
        /// What was said.
        text: String,
    },
    /// The person said this while the turn ran; the next round reads it.
    Said {
        /// What was said.
        text: String,
    },
    /// The model answered with text, calls or both. Written only when the reply is complete.
    Reply(Reply),
    /// A call is about to run; the process may die after this record.
    Started {
        /// [`ToolCall::id`] of the latest reply.
        call_id: String,
        /// What running it again would do, so that recovery needs no registry.
        effect: Effect,
    },
    /// A call ended.
    Finished {
        /// [`ToolCall::id`] of the latest reply.
        call_id: String,
        /// How.
        outcome: Outcome,
    },
    /// The model said nothing at all and is asked once more, without tools.
    Nudged,
    /// A limit stopped the turn's work; the model may sum up, without tools.
    LimitReached {
        /// Which one.
        limit: Limit,
    },
    /// The turn is over.
    Ended {
        /// How.
        ending: Ending,
    },
}

/// A complete answer of the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reply {
    /// Shown to the person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What the model asked for, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why the model stopped.
    #[serde(default)]
    pub finish: Finish,
    /// What the reply cost.
    #[serde(default)]
    pub usage: Usage,
    /// Whether the calls were read out of plain text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub salvaged: bool,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// It wants results of calls.
    ToolCalls,
    /// It hit its token limit.
    Length,
    /// The server withheld the rest.
    ContentFilter,
}

/// Tokens of one or more model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Of the tokens read, those the server had cached.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Where the figures come from.
    pub source: UsageSource,
}

/// How far usage figures can be trusted, surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The server counted.
    #[default]
    Provider,
    /// Estimated from the length of the texts.
    Estimated,
    /// Nobody counted.
    Unknown,
}

impl Usage {
    /// Adds another call's figures; the sum is as sure as its least sure part.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            source: self.source.max(other.source),
        }
    }
}

/// A limit that stops a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Model calls of the turn (`safety.loop.max_router_iterations`).
    MaxIterations,
    /// The same failing call again and again.
    IdenticalFailures,
}

impl Limit {
    /// The name that results and events carry.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxIterations => "max_iterations",
            Self::IdenticalFailures => "identical_failures",
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With an answer.
    Answered,
    /// A limit stopped it.
    Limited {
        /// Which one.
        limit: Limit,
    },
    /// The model gave neither text nor a call, twice.
    Empty,
    /// The model could not be reached or broke off.
    Failed {
        /// Which kind of failure, for programs.
        #[serde(default)]
        kind: String,
        /// What went wrong, for the person.
        message: String,
    },
    /// The person cancelled it.
    Cancelled,
    /// The process died in it; the next one closed it.
    Interrupted,
}

/// The entries of the current turn: from the latest [`Entry::User`] on. Empty before the first.
#[must_use]
pub fn current_turn(log: &[Entry]) -> &[Entry] {
    let start = log.iter().rposition(|entry| matches!(entry, Entry::User { .. }));
    start.map_or(&[], |start| &log[start..])
}

/// The entries since the person said what is worked on: the current turn, without what of it was answered before
/// the person said more.
#[must_use]
pub fn since_asked(log: &[Entry]) -> &[Entry] {
    let turn = current_turn(log);
    let is_answer = |entry: &Entry| matches!(entry, Entry::Reply(reply) if reply.calls.is_empty());
    let is_said = |entry: &Entry| matches!(entry, Entry::Said { .. });
    let said_last = turn.iter().rposition(is_said).unwrap_or(0);
    let answered = turn[..said_last].iter().rposition(is_answer);
    let asked = answered.and_then(|at| turn[at..].iter().position(is_said).map(|said| at + said));
    &turn[asked.unwrap_or(0)..]
}

/// What the person asks for: the message that is worked on, and what was said to it since. `None` before the first.
#[must_use]
pub fn asked(log: &[Entry]) -> Option<String> {
    let said = since_asked(log).iter().filter_map(|entry| match entry {
        Entry::User { text } | Entry::Said { text } => Some(text.as_str()),
        Entry::Reply(_)
        | Entry::Started { .. }
        | Entry::Finished { .. }
        | Entry::Nudged
        | Entry::LimitReached { .. }
        | Entry::Ended { .. } => None,
    });
    let said: Vec<&str> = said.collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// The latest reply of a stretch of log, with what came after it.
#[must_use]
pub fn latest_reply(entries: &[Entry]) -> Option<(&Reply, &[Entry])> {
    entries.iter().enumerate().rev().find_map(|(at, entry)| match entry {
        Entry::Reply(reply) => Some((reply, &entries[at + 1..])),
        Entry::User { .. }
        | Entry::Said { .. }
        | Entry::Started { .. }
        | Entry::Finished { .. }
        | Entry::Nudged
        | Entry::LimitReached { .. }
        | Entry::Ended { .. } => None,
    })
}

/// The outcome of a call among the entries after its reply.
#[must_use]
pub fn outcome_of<'a>(after_reply: &'a [Entry], id: &str) -> Option<&'a Outcome> {
    after_reply.iter().find_map(|entry| match entry {
        Entry::Finished { call_id, outcome } if call_id == id => Some(outcome),
        Entry::Finished { .. }
        | Entry::User { .. }
        | Entry::Said { .. }
        | Entry::Reply(_)
        | Entry::Started { .. }
        | Entry::Nudged
        | Entry::LimitReached { .. }
        | Entry::Ended { .. } => None,
    })
}

/// The effect a call was started with, among the entries after its reply. Of several starts, a change
/// counts before a read.
#[must_use]
pub fn started_effect(after_reply: &[Entry], id: &str) -> Option<Effect> {
    let effects = after_reply.iter().filter_map(|entry| match entry {
        Entry::Started { call_id, effect } if call_id == id => Some(*effect),
        Entry::Started { .. }
        | Entry::User { .. }
        | Entry::Said { .. }
        | Entry::Reply(_)
        | Entry::Finished { .. }
        | Entry::Nudged
        | Entry::LimitReached { .. }
        | Entry::Ended { .. } => None,
    });
    effects.reduce(|before, effect| if before == Effect::Changes { before } else { effect })
}

/// Usage of every reply of a stretch of log; unknown when there is none.
#[must_use]
pub fn usage_of(entries: &[Entry]) -> Usage {
    let unknown = Usage { source: UsageSource::Unknown, ..Usage::default() };
    entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Reply(reply) => Some(reply.usage),
            Entry::User { .. }
            | Entry::Said { .. }
            | Entry::Started { .. }
            | Entry::Finished { .. }
            | Entry::Nudged
            | Entry::LimitReached { .. }
            | Entry::Ended { .. } => None,
        })
        .reduce(Usage::plus)
        .unwrap_or(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_no_server_can_mean_do_not_overflow() {
        let most = Usage { prompt_tokens: u64::MAX, ..Usage::default() };
        assert_eq!(most.plus(most), most);
    }
}
