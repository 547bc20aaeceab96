//! What happens next in a turn, decided from the log alone.
//!
//! Going on after a crash is calling [`next_step`] or [`settle_step`] on the reloaded log.

use crate::conversation::{
    Ending, Entry, Limit, Reply, current_turn, latest_reply, outcome_of, started_effect,
};
use crate::limits;
use crate::tool::{CallError, Effect, ErrorKind, Outcome, ToolCall};

/// The bounds of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnLimits {
    /// Model calls; one more without tools may follow to sum up.
    pub rounds_max: u32,
    /// Calls of one reply that are run.
    pub calls_per_reply_max: u32,
    /// Identical failing calls after which the turn stops.
    pub identical_failures_max: u32,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            rounds_max: limits::CHAT_ROUNDS_MAX,
            calls_per_reply_max: limits::CALLS_PER_REPLY_MAX,
            identical_failures_max: limits::IDENTICAL_FAILURES_MAX,
        }
    }
}

/// What the driver must do now.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Ask the model and append its [`Entry::Reply`].
    CallModel {
        /// Whether tools are offered; without them the model can only answer.
        offer_tools: bool,
    },
    /// Run this call through the gate and append its [`Entry::Finished`].
    RunCall(ToolCall),
    /// Append this entry.
    Append(Entry),
    /// Nothing: the turn is over, or there is none.
    Idle,
}

/// Decides the next step of the current turn.
#[must_use]
pub fn next_step(log: &[Entry], limits: TurnLimits) -> Step {
    let turn = current_turn(log);
    if turn.is_empty() || is_ended(turn) {
        return Step::Idle;
    }
    let Some((reply, after)) = latest_reply(turn) else { return Step::CallModel { offer_tools: true } };
    if let Some(limit) = limit_reached(turn) {
        return if limit_reached(after).is_some() {
            Step::CallModel { offer_tools: false }
        } else {
            Step::Append(Entry::Ended { ending: Ending::Limited { limit } })
        };
    }
    if let Some(step) = open_call_step(reply, after, limits) {
        return step;
    }
    if reply.calls.is_empty() && !after.iter().any(|entry| matches!(entry, Entry::Said { .. })) {
        return answer_step(turn, reply, after);
    }
    if identical_failures(turn) >= limits.identical_failures_max {
        return Step::Append(Entry::LimitReached { limit: Limit::IdenticalFailures });
    }
    if rounds(turn) >= limits.rounds_max {
        return Step::Append(Entry::LimitReached { limit: Limit::MaxIterations });
    }
    Step::CallModel { offer_tools: true }
}

/// What closes a turn that a dead process left open, before anything new is said. `None` when the
/// latest turn is closed.
///
/// A read that had started is run again, a change that had started is reported as ambiguous, and a
/// call that had not started is reported as not run.
#[must_use]
pub fn settle_step(log: &[Entry]) -> Option<Step> {
    let turn = current_turn(log);
    if turn.is_empty() || is_ended(turn) {
        return None;
    }
    if let Some((reply, after)) = latest_reply(turn) {
        let open = reply.calls.iter().find(|call| outcome_of(after, &call.id).is_none());
        if let Some(call) = open {
            let not_started = || Step::Append(finished(call, not_run(call)));
            return Some(started_step(call, after).unwrap_or_else(not_started));
        }
    }
    Some(Step::Append(Entry::Ended { ending: Ending::Interrupted }))
}

/// What closes a turn that the person cancelled: every open call, then the turn. `None` when closed.
#[must_use]
pub fn cancel_step(log: &[Entry]) -> Option<Entry> {
    let turn = current_turn(log);
    if turn.is_empty() || is_ended(turn) {
        return None;
    }
    let open = latest_reply(turn).and_then(|(reply, after)| {
        let call = reply.calls.iter().find(|call| outcome_of(after, &call.id).is_none())?;
        Some((call, started_effect(after, &call.id)))
    });
    Some(match open {
        Some((call, Some(Effect::Changes))) => {
            let message = format!("cancelled while `{}` ran; it may or may not have taken effect", call.name);
            finished(call, CallError::new(ErrorKind::Cancelled, message))
        }
        Some((call, Some(Effect::Reads) | None)) => {
            let message = format!("cancelled by the person before `{}` gave a result", call.name);
            finished(call, CallError::new(ErrorKind::Cancelled, message))
        }
        None => Entry::Ended { ending: Ending::Cancelled },
    })
}

fn is_ended(turn: &[Entry]) -> bool {
    matches!(turn.last(), Some(Entry::Ended { .. }))
}

fn finished(call: &ToolCall, error: CallError) -> Entry {
    Entry::Finished { call_id: call.id.clone(), outcome: Outcome::Error(error) }
}

fn ambiguous(call: &ToolCall) -> CallError {
    CallError::new(
        ErrorKind::Interrupted,
        format!("the process died while `{}` ran; it may or may not have taken effect", call.name),
    )
    .hint("look at the state first; do not simply call it again")
}

fn died_twice(call: &ToolCall) -> CallError {
    CallError::new(ErrorKind::Interrupted, format!("the process died twice while `{}` ran", call.name))
        .hint("do not call it again with the same arguments")
}

fn not_run(call: &ToolCall) -> CallError {
    CallError::new(
        ErrorKind::Interrupted,
        format!("the process died before `{}` ran; it did not run", call.name),
    )
}

/// The step for the first call without an outcome, in the order written.
fn open_call_step(reply: &Reply, after: &[Entry], limits: TurnLimits) -> Option<Step> {
    let (at, call) =
        reply.calls.iter().enumerate().find(|(_, call)| outcome_of(after, &call.id).is_none())?;
    if u32::try_from(at).unwrap_or(u32::MAX) >= limits.calls_per_reply_max {
        let error = CallError::new(
            ErrorKind::BudgetExhausted,
            format!("not run: only the first {} calls of one reply are run", limits.calls_per_reply_max),
        )
        .hint("make the call again in a later reply");
        return Some(Step::Append(finished(call, error)));
    }
    Some(started_step(call, after).unwrap_or_else(|| Step::RunCall(call.clone())))
}

/// What an open call that had started comes to: a change is in doubt; a read runs again, but only once,
/// since it may be what the process dies of. `None` when it had not started.
fn started_step(call: &ToolCall, after: &[Entry]) -> Option<Step> {
    let effect = started_effect(after, &call.id)?;
    let is_start = |entry: &&Entry| matches!(entry, Entry::Started { call_id, .. } if *call_id == call.id);
    let was_repeated = after.iter().filter(is_start).nth(1).is_some();
    Some(match effect {
        Effect::Changes => Step::Append(finished(call, ambiguous(call))),
        Effect::Reads if was_repeated => Step::Append(finished(call, died_twice(call))),
        Effect::Reads => Step::RunCall(call.clone()),
    })
}

/// A reply without calls is the answer, unless it is blank: then the model is asked once more.
fn answer_step(turn: &[Entry], reply: &Reply, after: &[Entry]) -> Step {
    if !reply.text.trim().is_empty() {
        return Step::Append(Entry::Ended { ending: Ending::Answered });
    }
    if after.contains(&Entry::Nudged) {
        return Step::CallModel { offer_tools: false };
    }
    if turn.contains(&Entry::Nudged) {
        return Step::Append(Entry::Ended { ending: Ending::Empty });
    }
    Step::Append(Entry::Nudged)
}

fn limit_reached(entries: &[Entry]) -> Option<Limit> {
    entries.iter().find_map(|entry| match entry {
        Entry::LimitReached { limit } => Some(*limit),
        Entry::User { .. }
        | Entry::Said { .. }
        | Entry::Reply(_)
        | Entry::Started { .. }
        | Entry::Finished { .. }
        | Entry::Nudged
        | Entry::Ended { .. } => None,
    })
}

fn rounds(turn: &[Entry]) -> u32 {
    let count = turn.iter().filter(|entry| matches!(entry, Entry::Reply(_))).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How often a failing call of the latest reply failed in this turn, in the same words.
fn identical_failures(turn: &[Entry]) -> u32 {
    let mut failures: Vec<&ToolCall> = vec![];
    let mut calls: &[ToolCall] = &[];
    let mut latest = 0;
    for entry in turn {
        match entry {
            Entry::Reply(reply) => {
                calls = &reply.calls;
                latest = failures.len();
            }
            Entry::Finished { call_id, outcome: Outcome::Error(_) } => {
                failures.extend(calls.iter().find(|call| call.id == *call_id));
            }
            Entry::Finished { outcome: Outcome::Ok(_), .. }
            | Entry::User { .. }
            | Entry::Said { .. }
            | Entry::Started { .. }
            | Entry::Nudged
            | Entry::LimitReached { .. }
            | Entry::Ended { .. } => {}
        }
    }
    let is_same = |one: &ToolCall, other: &ToolCall| one.name == other.name && one.args == other.args;
    let times = |call: &&ToolCall| failures.iter().filter(|failure| is_same(failure, call)).count();
    let most = failures[latest..].iter().map(times).max().unwrap_or(0);
    u32::try_from(most).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Usage;
    use crate::tool::{Args, Output};
    use proptest::prelude::*;

    fn limits(rounds_max: u32) -> TurnLimits {
        TurnLimits { rounds_max, ..TurnLimits::default() }
    }
    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "read_file".into(), args: Args::parse(r#"{"path":"a"}"#, false) }
    }
    fn said(text: &str) -> Entry {
        Entry::Said { text: text.into() }
    }

    fn user() -> Entry {
        Entry::User { text: "hi".into() }
    }
    fn reply(calls: &[&str]) -> Entry {
        Entry::Reply(Reply { calls: calls.iter().map(|id| call(id)).collect(), ..Reply::default() })
    }
    fn says(text: &str) -> Entry {
        Entry::Reply(Reply { text: text.into(), usage: Usage::default(), ..Reply::default() })
    }
    fn started(id: &str, effect: Effect) -> Entry {
        Entry::Started { call_id: id.into(), effect }
    }
    fn ok(id: &str) -> Entry {
        Entry::Finished { call_id: id.into(), outcome: Outcome::Ok(Output::default()) }
    }
    fn failed(id: &str) -> Entry {
        let error = CallError::new(ErrorKind::HandlerError, "no");
        Entry::Finished { call_id: id.into(), outcome: Outcome::Error(error) }
    }
    fn ended(ending: Ending) -> Step {
        Step::Append(Entry::Ended { ending })
    }

    #[test]
    fn nothing_happens_before_the_first_message_and_after_the_end_of_a_turn() {
        assert_eq!(next_step(&[], limits(8)), Step::Idle);
        let log = [user(), says("done"), Entry::Ended { ending: Ending::Answered }];
        assert_eq!(next_step(&log, limits(8)), Step::Idle);
    }

    #[test]
    fn a_new_message_calls_the_model_with_tools() {
        assert_eq!(next_step(&[user()], limits(8)), Step::CallModel { offer_tools: true });
    }

    #[test]
    fn calls_run_in_the_order_the_model_wrote_them() {
        let log = [user(), reply(&["a", "b"]), started("a", Effect::Reads), ok("a")];
        assert_eq!(next_step(&log, limits(8)), Step::RunCall(call("b")));
    }

    #[test]
    fn a_read_cut_short_by_a_crash_runs_again() {
        let log = [user(), reply(&["a"]), started("a", Effect::Reads)];
        assert_eq!(next_step(&log, limits(8)), Step::RunCall(call("a")));
        assert_eq!(settle_step(&log), Some(Step::RunCall(call("a"))));
    }

    #[test]
    fn a_change_cut_short_by_a_crash_is_reported_and_never_run_again() {
        let log = [user(), reply(&["a"]), started("a", Effect::Changes)];
        for step in [next_step(&log, limits(8)), settle_step(&log).unwrap()] {
            let Step::Append(Entry::Finished { outcome: Outcome::Error(error), .. }) = step else {
                panic!("{step:?}")
            };
            assert_eq!(error.kind, ErrorKind::Interrupted);
            assert!(error.message.contains("may or may not have taken effect"));
        }
    }

    #[test]
    fn a_call_that_never_started_is_settled_as_not_run() {
        let log = [user(), reply(&["a"])];
        let Some(Step::Append(Entry::Finished { outcome: Outcome::Error(error), .. })) = settle_step(&log)
        else {
            panic!("closed")
        };
        assert!(error.message.contains("did not run"));
    }

    #[test]
    fn a_reply_without_calls_ends_the_turn() {
        assert_eq!(next_step(&[user(), says("done")], limits(8)), ended(Ending::Answered));
    }

    #[test]
    fn a_blank_reply_is_asked_for_once_more_without_tools_and_then_ends_the_turn() {
        let mut log = vec![user(), says(" ")];
        assert_eq!(next_step(&log, limits(8)), Step::Append(Entry::Nudged));
        log.push(Entry::Nudged);
        assert_eq!(next_step(&log, limits(8)), Step::CallModel { offer_tools: false });
        log.push(says(""));
        assert_eq!(next_step(&log, limits(8)), ended(Ending::Empty));
    }

    #[test]
    fn the_turn_sums_up_without_tools_at_its_limit_of_rounds_and_then_ends() {
        let mut log = vec![user(), reply(&["a"]), started("a", Effect::Reads), ok("a")];
        assert_eq!(next_step(&log, limits(2)), Step::CallModel { offer_tools: true });
        let limit = Limit::MaxIterations;
        assert_eq!(next_step(&log, limits(1)), Step::Append(Entry::LimitReached { limit }));
        log.push(Entry::LimitReached { limit });
        assert_eq!(next_step(&log, limits(1)), Step::CallModel { offer_tools: false });
        log.push(says("so far"));
        assert_eq!(next_step(&log, limits(1)), ended(Ending::Limited { limit }));
    }

    #[test]
    fn what_the_person_says_meanwhile_is_answered_before_the_turn_ends() {
        let mut log = vec![user(), says("done"), said("and more")];
        assert_eq!(next_step(&log, limits(8)), Step::CallModel { offer_tools: true });
        log.push(says("more done"));
        assert_eq!(next_step(&log, limits(8)), ended(Ending::Answered));
        let limit = Limit::MaxIterations;
        let full = [user(), says("done"), said("and more")];
        assert_eq!(next_step(&full, limits(1)), Step::Append(Entry::LimitReached { limit }));
    }

    #[test]
    fn what_the_person_says_between_a_call_and_its_result_waits_for_the_result() {
        let log = [user(), reply(&["a"]), said("hurry"), started("a", Effect::Reads)];
        assert_eq!(next_step(&log, limits(8)), Step::RunCall(call("a")));
    }

    #[test]
    fn the_same_failing_call_three_times_stops_the_turn() {
        let mut log = vec![user()];
        for _ in 0..2 {
            log.extend([reply(&["a"]), failed("a")]);
            assert_eq!(next_step(&log, limits(80)), Step::CallModel { offer_tools: true });
        }
        log.extend([reply(&["a"]), failed("a")]);
        let limit = Limit::IdenticalFailures;
        assert_eq!(next_step(&log, limits(80)), Step::Append(Entry::LimitReached { limit }));
    }

    #[test]
    fn a_call_that_fails_beside_others_stops_the_turn_too() {
        let other = |at: u32| ToolCall {
            id: "b".into(),
            name: "read_file".into(),
            args: Args::parse(&format!(r#"{{"path":"{at}"}}"#), false),
        };
        let mut log = vec![user()];
        for at in 0..3 {
            assert_eq!(next_step(&log, limits(80)), Step::CallModel { offer_tools: true });
            log.push(Entry::Reply(Reply { calls: vec![call("a"), other(at)], ..Reply::default() }));
            log.extend([failed("a"), failed("b")]);
        }
        let limit = Limit::IdenticalFailures;
        assert_eq!(next_step(&log, limits(80)), Step::Append(Entry::LimitReached { limit }));
    }

    #[test]
    fn a_read_during_which_the_process_died_twice_is_not_run_a_third_time() {
        let log = [user(), reply(&["a"]), started("a", Effect::Reads), started("a", Effect::Reads)];
        for step in [next_step(&log, limits(8)), settle_step(&log).unwrap()] {
            let Step::Append(Entry::Finished { outcome: Outcome::Error(error), .. }) = step else {
                panic!("{step:?}")
            };
            assert_eq!((error.kind, error.message.contains("died twice")), (ErrorKind::Interrupted, true));
        }
    }

    #[test]
    fn calls_beyond_the_cap_are_answered_and_not_run() {
        let log = [user(), reply(&["a", "b"]), ok("a")];
        let step = next_step(&log, TurnLimits { calls_per_reply_max: 1, ..TurnLimits::default() });
        let Step::Append(Entry::Finished { call_id, outcome: Outcome::Error(error) }) = step else {
            panic!("{step:?}")
        };
        assert_eq!((call_id.as_str(), error.kind), ("b", ErrorKind::BudgetExhausted));
    }

    #[test]
    fn cancelling_closes_every_open_call_and_then_the_turn() {
        let mut log = vec![user(), reply(&["a", "b"]), started("a", Effect::Changes)];
        while let Some(entry) = cancel_step(&log) {
            log.push(entry);
        }
        assert_eq!(log.last(), Some(&Entry::Ended { ending: Ending::Cancelled }));
        let (reply, after) = latest_reply(&log).unwrap();
        assert!(reply.calls.iter().all(|call| outcome_of(after, &call.id).is_some()));
        let Some(Outcome::Error(error)) = outcome_of(after, "a") else { panic!("closed") };
        assert!(error.message.contains("may or may not have taken effect"));
    }

    fn any_entry() -> impl Strategy<Value = Entry> {
        let id = prop::sample::select(vec!["a", "b", "c"]);
        let effect = prop::sample::select(vec![Effect::Reads, Effect::Changes]);
        prop_oneof![
            Just(user()),
            prop::collection::vec(id.clone(), 0..3).prop_map(|ids| {
                let mut unique: Vec<&str> = vec![];
                unique.extend(ids.iter().filter(|id| ids.iter().filter(|other| other == id).count() == 1));
                reply(&unique)
            }),
            Just(says("text")),
            (id.clone(), effect).prop_map(|(id, effect)| started(id, effect)),
            id.clone().prop_map(ok),
            id.prop_map(failed),
            Just(Entry::Nudged),
            Just(said("more")),
            Just(Entry::LimitReached { limit: Limit::MaxIterations }),
            Just(Entry::Ended { ending: Ending::Answered }),
        ]
    }

    proptest! {
        /// Whatever a damaged log holds, a turn comes to an end in a bounded number of steps.
        #[test]
        fn every_log_comes_to_rest(mut log in prop::collection::vec(any_entry(), 0..24)) {
            for _ in 0..64 {
                match next_step(&log, limits(4)) {
                    Step::Idle => return Ok(()),
                    Step::Append(entry) => log.push(entry),
                    Step::CallModel { offer_tools: true } => log.push(reply(&["a"])),
                    Step::CallModel { offer_tools: false } => log.push(says("")),
                    Step::RunCall(call) => log.push(failed(&call.id)),
                }
            }
            prop_assert!(false, "still busy: {:?}", next_step(&log, limits(4)));
        }

        /// Settling closes the latest turn and runs no call that changes something.
        #[test]
        fn settling_always_closes_the_turn(mut log in prop::collection::vec(any_entry(), 0..24)) {
            for _ in 0..64 {
                match settle_step(&log) {
                    None => return Ok(()),
                    Some(Step::Append(entry)) => log.push(entry),
                    Some(Step::RunCall(call)) => {
                        let (_, after) = latest_reply(&log).unwrap();
                        prop_assert_eq!(started_effect(after, &call.id), Some(Effect::Reads));
                        log.push(ok(&call.id));
                    }
                    Some(step) => prop_assert!(false, "{step:?}"),
                }
            }
            prop_assert!(false, "never settled");
        }
    }
}
