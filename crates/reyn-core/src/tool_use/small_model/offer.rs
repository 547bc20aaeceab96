//! Which tools a small model is offered in a round, and whether it may answer yet.

use super::PROFILE;
use crate::conversation::{Entry, since_asked};
use crate::tool::{ErrorKind, Outcome, Output, ToolCall};
use crate::tool_use::Surface;
use crate::tool_use::first_look::{
    asks_for_a_change, asks_for_a_rewrite, asks_for_the_web, asks_to_be_told, asks_to_run,
    asks_where_it_is_defined, is_about_an_unasked_source, is_about_an_unseen_file, is_about_an_unseen_page,
    names_only, names_what_runs, runs_once, says_to_change_a_file,
};

/// What the schema of a reply has.
pub(super) struct Offer<'a> {
    names: Vec<&'a str>,
    /// Whether an answer is one of the shapes.
    pub(super) may_answer: bool,
}

/// The call that a message takes first, whatever else may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Page,
    File,
    Program,
    Source,
    Lines,
    Any,
}

impl<'a> Offer<'a> {
    pub(super) fn of(surface: &'a Surface, log: &[Entry], offer_tools: bool) -> Self {
        if !offer_tools {
            return Self { names: vec![], may_answer: true };
        }
        let is_change = asks_for_a_change(log);
        let is_look = |name: &str, first: First| match first {
            First::Any => true,
            First::Page => requires(surface, name, "url"),
            First::Source => name == PROFILE.indexes.recalls,
            First::Lines => PROFILE.finds_lines.contains(&name),
            // What the command is may stand in a file, or in its name; unseen it is guessed, and guessed again.
            First::Program => {
                (PROFILE.runs.contains(&name) && knows_what_runs(log) && !has_missed_a_file(log))
                    || (requires(surface, name, "path") && !is_change_tool(name))
            }
            // What is to change is read: of a name alone nothing is known that must stay.
            First::File => {
                requires(surface, name, "path")
                    && !PROFILE.after_a_look.contains(&name)
                    && (!is_change || PROFILE.reads.contains(&name))
            }
        };
        let all = || surface.callables.iter().map(|one| one.name.as_str());
        let wanted = [
            (First::Page, is_about_an_unseen_page(log)),
            (
                First::Program,
                has_not_run_what_it_should(log) && all().any(|name| PROFILE.runs.contains(&name)),
            ),
            (First::File, is_about_an_unseen_file(log)),
            (First::Lines, asks_where_it_is_defined(log)),
            (First::Source, is_about_an_unasked_source(log, &sources(surface))),
        ];
        let can = |first: First| all().any(|name| is_look(name, first));
        let first = wanted.iter().find(|(first, is_wanted)| *is_wanted && can(*first));
        let first = first.map_or(First::Any, |(first, _)| *first);
        let repeated = repeated_tools(log);
        let left_out = left_out_after_a_read(surface, log);
        let (is_told, is_for_the_web) = (asks_to_be_told(log), asks_for_the_web(log));
        let has_address = log.iter().any(holds_an_address);
        let is_only_to_run = asks_to_run(log) && !is_change;
        let has_no_name = has_found_no_name(log);
        // What ran tells what was asked; a small model goes on looking, and writes.
        let is_done = is_told && has_run(log) && runs_once(log);
        let is_left_out = |name: &str| {
            repeated.contains(&name)
                || left_out.contains(&name)
                || !is_look(name, first)
                || (is_told && PROFILE.after_a_look.contains(&name))
                || (!is_for_the_web && PROFILE.searches.contains(&name))
                || (!has_address && PROFILE.fetches.contains(&name))
                || (is_only_to_run && is_change_tool(name))
                || (has_no_name && PROFILE.names[1..].contains(&name))
                || is_done
        };
        let names: Vec<&str> = all().filter(|name| !is_left_out(name)).collect();
        let can_change = names.iter().any(|name| is_change_tool(name));
        let must_act = can_change && first == First::Any && has_not_changed_what_it_should(log);
        // Where nothing is left to call, only an answer ends the turn.
        let may_answer = names.is_empty() || (first == First::Any && !must_act && !has_no_name);
        Self { names, may_answer }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

/// The sources that a call can name.
fn sources(surface: &Surface) -> Vec<&str> {
    let recall = surface.callables.iter().find(|one| one.name == PROFILE.indexes.recalls);
    let names = recall.and_then(|one| one.parameters["properties"]["sources"]["items"]["enum"].as_array());
    names.into_iter().flatten().filter_map(|name| name.as_str()).collect()
}

/// Whether the turn's only call looked for names, and none fits: a small model takes its guess of a name for the whole
/// of what there is.
pub(super) fn has_found_no_name(log: &[Entry]) -> bool {
    let is_last = matches!(log.last(), Some(Entry::Finished { outcome: Outcome::Ok(_), .. }));
    let (calls, results) = (calls_of_the_turn(log), results_of_the_turn(log));
    is_last
        && calls.len() == 1
        && results.last().is_some_and(|(call, output)| {
            let is_search = PROFILE.names[1..].contains(&call.name.as_str());
            is_search && output.body.is_empty() && !output.fields.contains_key("folders")
        })
}

/// Words of programs that were given a file that is not there.
const MISSED: [&str; 5] = ["No such file", "can't open file", "not found", "No module named", "cannot find"];

fn is_missed(output: &Output) -> bool {
    let is_failed = output.fields.get("returncode").is_some_and(|code| *code != 0);
    let said = output.fields.get("stderr").and_then(|text| text.as_str()).unwrap_or_default();
    is_failed && MISSED.iter().any(|words| said.contains(words))
}

/// Whether the last call ran a program on a file that is not there, which a small model guesses.
pub(super) fn has_missed_a_file(log: &[Entry]) -> bool {
    matches!(log.last(), Some(Entry::Finished { outcome: Outcome::Ok(output), .. }) if is_missed(output))
}

/// Whether the message says to run something, nothing ran but on files that are not there, and few calls were made
/// yet.
pub(super) fn has_not_run_what_it_should(log: &[Entry]) -> bool {
    let is_refused = matches!(
        log.last(),
        Some(Entry::Finished { outcome: Outcome::Error(error), .. }) if error.kind != ErrorKind::HandlerError
    );
    asks_to_run(log)
        && !is_refused
        && calls_of_the_turn(log).len() < PROFILE.calls_before_a_run_max
        && !has_run(log)
}

/// Whether the message names what is to run, or a look was taken, or something ran before.
fn knows_what_runs(log: &[Entry]) -> bool {
    let runs = |call: &ToolCall| PROFILE.runs.contains(&call.name.as_str());
    let has_run_before =
        log.iter().any(|entry| matches!(entry, Entry::Reply(reply) if reply.calls.iter().any(runs)));
    names_what_runs(log) || has_run_before || !results_of_the_turn(log).is_empty()
}

/// Whether a program ran in the turn, on what is there.
fn has_run(log: &[Entry]) -> bool {
    let is_run = |(call, output): &(&ToolCall, &Output)| {
        PROFILE.runs.contains(&call.name.as_str()) && !is_missed(output)
    };
    results_of_the_turn(log).iter().any(is_run)
}

/// Whether somebody but the model named an address.
fn holds_an_address(entry: &Entry) -> bool {
    match entry {
        Entry::User { text } | Entry::Said { text } => text.contains("://"),
        Entry::Finished { outcome: Outcome::Ok(output), .. } => {
            output.body.contains("://")
                || output.fields.values().any(|value| value.to_string().contains("://"))
        }
        Entry::Finished { .. }
        | Entry::Reply(_)
        | Entry::Started { .. }
        | Entry::Nudged
        | Entry::LimitReached { .. }
        | Entry::Ended { .. } => false,
    }
}

/// Whether the message says to change a file that it names, and no call of the turn was meant to. A small model
/// that has read the file says that the change is made, and has made none.
fn has_not_changed_what_it_should(log: &[Entry]) -> bool {
    let calls = calls_of_the_turn(log);
    says_to_change_a_file(log)
        && !calls.is_empty()
        && calls.len() < PROFILE.calls_before_a_change_max
        && !calls.iter().any(|call| is_change_tool(&call.name))
}

/// Tools that a turn is done with once it has read a file: reading, when every file that the message names is
/// read and only an answer is asked for; writing anew, when a part of what was read is to change: a small model
/// leaves out other parts.
fn left_out_after_a_read(surface: &Surface, log: &[Entry]) -> Vec<&'static str> {
    let results = results_of_the_turn(log).into_iter();
    let read: Vec<&ToolCall> =
        results.filter(|(call, output)| is_whole_read(call, output)).map(|(call, _)| call).collect();
    let mut left_out = vec![];
    if asks_to_be_told(log)
        && names_only(log, &|name| read.iter().any(|call| call.args.to_json().contains(name)))
    {
        left_out.extend(PROFILE.reads);
    }
    let can_edit = surface.callables.iter().any(|one| PROFILE.edits.contains(&one.name.as_str()));
    if can_edit && !read.is_empty() && asks_for_a_change(log) && !asks_for_a_rewrite(log) {
        left_out.extend(PROFILE.after_a_look_for_a_change);
    }
    left_out
}
fn is_change_tool(name: &str) -> bool {
    PROFILE.after_a_look.contains(&name) || PROFILE.after_a_look_for_a_change.contains(&name)
}

/// Whether a call of a tool always has this argument.
fn requires(surface: &Surface, name: &str, argument: &str) -> bool {
    let named = surface.callables.iter().find(|callable| callable.name == name);
    let required = named.and_then(|callable| callable.parameters["required"].as_array());
    required.is_some_and(|required| required.iter().any(|one| one == argument))
}

pub(super) fn is_whole_read(call: &ToolCall, output: &Output) -> bool {
    PROFILE.reads.contains(&call.name.as_str()) && !output.fields.contains_key("truncated")
}

/// The calls of the turn that succeeded, with what they gave.
pub(super) fn results_of_the_turn(log: &[Entry]) -> Vec<(&ToolCall, &Output)> {
    let mut results = vec![];
    let mut calls: &[ToolCall] = &[];
    for entry in since_asked(log) {
        match entry {
            Entry::Reply(reply) => calls = &reply.calls,
            Entry::Finished { call_id, outcome: Outcome::Ok(output) } => {
                results.extend(calls.iter().find(|call| call.id == *call_id).map(|call| (call, output)));
            }
            Entry::User { .. }
            | Entry::Said { .. }
            | Entry::Started { .. }
            | Entry::Finished { .. }
            | Entry::Nudged
            | Entry::LimitReached { .. }
            | Entry::Ended { .. } => {}
        }
    }
    results
}

fn calls_of_the_turn(log: &[Entry]) -> Vec<&ToolCall> {
    since_asked(log)
        .iter()
        .flat_map(|entry| match entry {
            Entry::Reply(reply) => reply.calls.as_slice(),
            Entry::User { .. }
            | Entry::Said { .. }
            | Entry::Started { .. }
            | Entry::Finished { .. }
            | Entry::Nudged
            | Entry::LimitReached { .. }
            | Entry::Ended { .. } => &[],
        })
        .collect()
}

/// The tools that were called twice with the same arguments in this turn. A small model that repeats
/// itself once goes on doing so; without the tool it moves on.
fn repeated_tools(log: &[Entry]) -> Vec<&str> {
    let calls = calls_of_the_turn(log);
    let is_repeat = |at: usize| {
        calls[..at].iter().any(|earlier| earlier.name == calls[at].name && earlier.args == calls[at].args)
    };
    (0..calls.len()).filter(|at| is_repeat(*at)).map(|at| calls[at].name.as_str()).collect()
}
