//! What is sent to a model, in no vendor's words.

use std::borrow::Cow;

use serde_json::Value;

use crate::conversation::{Ending, Entry, Finish, Reply, Usage, outcome_of};
use crate::limits::CALL_NAME_BYTES_MAX;
use crate::prompt;
use crate::tool::ToolCall;

/// One request to a model. Borrows from the log: a request lives for one round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest<'a> {
    /// The conversation, the system prompt first.
    pub messages: Vec<Message<'a>>,
    /// How many of the first messages stay the same for the whole session; a model that keeps its state
    /// reuses them.
    pub static_messages: usize,
    /// Declarations of the offered tools in the OpenAI form; empty when calls travel in text.
    pub tools: Cow<'a, [Value]>,
    /// A JSON Schema that every reply must satisfy.
    pub response_schema: Option<Value>,
    /// Upper bound of tokens written; the model's own when `None`.
    pub output_tokens_max: Option<u32>,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Message<'a> {
    /// Instructions of the runtime.
    System(Cow<'a, str>),
    /// The person, or the runtime in the person's place.
    User(Cow<'a, str>),
    /// What the model said before.
    Assistant {
        /// Its text; may be empty when there are calls.
        text: Cow<'a, str>,
        /// Its calls.
        calls: Cow<'a, [ToolCall]>,
    },
    /// The result of one call of the message before.
    ToolResult {
        /// [`ToolCall::id`].
        call_id: Cow<'a, str>,
        /// The tool's name.
        name: Cow<'a, str>,
        /// What the model reads.
        text: Cow<'a, str>,
    },
}

/// What a model sent back, before its calls are read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatReply {
    /// The text, complete.
    pub text: String,
    /// Native calls, their arguments still text.
    pub calls: Vec<RawCall>,
    /// Why it stopped.
    pub finish: Finish,
    /// What it cost.
    pub usage: Usage,
}

/// A call as it came over the wire.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawCall {
    /// May be empty or repeated; ids are made unique when the reply is read.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Argument text.
    pub arguments: String,
}

/// The conversation as messages for a model with native calls.
///
/// Valid for a strict server whatever the log went through: every call is followed by exactly one
/// result (a lost one is said to be lost), results without a call are left out, blank replies are left
/// out, two texts of the person in a row become one message, and every call has a name that is one.
#[must_use]
pub fn messages(log: &[Entry]) -> Vec<Message<'_>> {
    let mut messages: Vec<Message<'_>> = vec![];
    for (at, entry) in log.iter().enumerate() {
        match entry {
            Entry::User { text } | Entry::Said { text } => push_user(&mut messages, Cow::Borrowed(text)),
            Entry::Reply(reply) => push_reply(&mut messages, reply, stretch_after(log, at)),
            Entry::Nudged => push_user(&mut messages, Cow::Borrowed(prompt::NUDGE)),
            Entry::LimitReached { limit } => push_user(&mut messages, prompt::wrap_up(*limit)),
            Entry::Ended { ending: Ending::Cancelled } => {
                push_user(&mut messages, Cow::Borrowed(prompt::STOPPED));
            }
            Entry::Started { .. } | Entry::Finished { .. } | Entry::Ended { .. } => {}
        }
    }
    messages
}

/// The entries after a reply that can hold its results: up to the next reply or message.
fn stretch_after(log: &[Entry], reply_at: usize) -> &[Entry] {
    let after = &log[reply_at + 1..];
    let end = after.iter().position(|entry| matches!(entry, Entry::Reply(_) | Entry::User { .. }));
    &after[..end.unwrap_or(after.len())]
}

/// Adds a text of the person; two in a row become one message.
pub(crate) fn push_user<'a>(messages: &mut Vec<Message<'a>>, text: Cow<'a, str>) {
    match messages.last_mut() {
        Some(Message::User(before)) => *before = Cow::Owned(format!("{before}\n\n{text}")),
        _ => messages.push(Message::User(text)),
    }
}

fn push_reply<'a>(messages: &mut Vec<Message<'a>>, reply: &'a Reply, after: &'a [Entry]) {
    if reply.text.trim().is_empty() && reply.calls.is_empty() {
        return;
    }
    match messages.last() {
        None => messages.push(Message::User(Cow::Borrowed(prompt::LOST_MESSAGE))),
        Some(Message::Assistant { .. }) => messages.push(Message::User(Cow::Borrowed(prompt::GO_ON))),
        Some(Message::System(_) | Message::User(_) | Message::ToolResult { .. }) => {}
    }
    messages.push(Message::Assistant { text: Cow::Borrowed(&reply.text), calls: named_well(&reply.calls) });
    for call in &reply.calls {
        let text = outcome_of(after, &call.id)
            .map_or(Cow::Borrowed(prompt::LOST_RESULT), |outcome| prompt::outcome_text(call, outcome));
        messages.push(Message::ToolResult {
            call_id: Cow::Borrowed(&call.id),
            name: good_name(&call.name),
            text,
        });
    }
}

fn named_well(calls: &[ToolCall]) -> Cow<'_, [ToolCall]> {
    if calls.iter().all(|call| matches!(good_name(&call.name), Cow::Borrowed(_))) {
        return Cow::Borrowed(calls);
    }
    let named = |call: &ToolCall| ToolCall { name: good_name(&call.name).into_owned(), ..call.clone() };
    Cow::Owned(calls.iter().map(named).collect())
}

/// A tool's name as servers take it back. One that the model made up may be none, and would make every
/// later request of the session a bad one.
fn good_name(name: &str) -> Cow<'_, str> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() {
        return Cow::Owned("unnamed".to_owned());
    }
    if name.len() <= CALL_NAME_BYTES_MAX && name.chars().all(is_good) {
        return Cow::Borrowed(name);
    }
    let all = name.chars().map(|c| if is_good(c) { c } else { '_' });
    Cow::Owned(all.take(CALL_NAME_BYTES_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Limit;
    use crate::tool::{Args, Outcome, Output};

    fn user(text: &str) -> Entry {
        Entry::User { text: text.into() }
    }
    fn calls(ids: &[&str]) -> Entry {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            name: "read_file".into(),
            args: Args::parse("{}", false),
        };
        Entry::Reply(Reply { calls: ids.iter().map(call).collect(), ..Reply::default() })
    }
    fn says(text: &str) -> Entry {
        Entry::Reply(Reply { text: text.into(), ..Reply::default() })
    }
    fn done(id: &str, text: &str) -> Entry {
        Entry::Finished { call_id: id.into(), outcome: Outcome::Ok(Output::text("content", text)) }
    }
    fn shape(log: &[Entry]) -> Vec<String> {
        messages(log)
            .iter()
            .map(|message| match message {
                Message::System(text) => format!("system {text}"),
                Message::User(text) => format!("user {text}"),
                Message::Assistant { text, calls } => format!("assistant {text}+{}", calls.len()),
                Message::ToolResult { call_id, text, .. } => format!("result {call_id} {text}"),
            })
            .collect()
    }

    #[test]
    fn a_message_that_was_stopped_is_told_from_the_next_one() {
        let log = [user("A"), Entry::Ended { ending: Ending::Cancelled }, user("B")];
        let expected = format!("A\n\n{}\n\nB", prompt::STOPPED);
        assert_eq!(messages(&log), [Message::User(expected.into())]);
    }

    #[test]
    fn results_follow_their_calls_in_the_order_of_the_calls() {
        let log = [user("hi"), calls(&["a", "b"]), done("b", "2"), done("a", "1"), says("done")];
        assert_eq!(shape(&log), ["user hi", "assistant +2", "result a 1", "result b 2", "assistant done+0"]);
    }

    #[test]
    fn a_lost_result_is_said_to_be_lost_and_an_orphan_is_left_out() {
        let log = [user("hi"), done("z", "orphan"), calls(&["a"]), user("again"), done("a", "too late")];
        let lost = format!("result a {}", prompt::LOST_RESULT);
        assert_eq!(shape(&log), ["user hi".to_owned(), "assistant +1".into(), lost, "user again".into()]);
    }

    #[test]
    fn the_same_id_in_two_replies_pairs_with_its_own_result() {
        let log = [user("hi"), calls(&["0"]), done("0", "first"), calls(&["0"]), done("0", "second")];
        assert_eq!(
            shape(&log),
            ["user hi", "assistant +1", "result 0 first", "assistant +1", "result 0 second"]
        );
    }

    #[test]
    fn a_lost_message_of_the_person_is_replaced_and_two_in_a_row_are_joined() {
        assert_eq!(shape(&[says("x")]), [format!("user {}", prompt::LOST_MESSAGE), "assistant x+0".into()]);
        assert_eq!(shape(&[user("a"), user("b")]), ["user a\n\nb"]);
    }

    #[test]
    fn blank_replies_are_left_out_and_the_nudge_is_the_persons() {
        let log = [user("a"), says(" "), Entry::Nudged, says("b")];
        assert_eq!(shape(&log), [format!("user a\n\n{}", prompt::NUDGE), "assistant b+0".into()]);
    }

    #[test]
    fn a_name_that_no_server_takes_back_is_made_one() {
        for (written, sent) in [
            ("read_file", "read_file".to_owned()),
            ("multi_tool_use.parallel", "multi_tool_use_parallel".to_owned()),
            ("read file\n日", "read_file__".to_owned()),
            ("", "unnamed".to_owned()),
            (&"x".repeat(9000), "x".repeat(64)),
        ] {
            let call = ToolCall { id: "a".into(), name: written.into(), args: Args::parse("{}", false) };
            let log = [user("hi"), Entry::Reply(Reply { calls: vec![call], ..Reply::default() })];
            let messages = messages(&log);
            let [_, Message::Assistant { calls, .. }, Message::ToolResult { name, .. }] = &messages[..]
            else {
                panic!("{messages:?}")
            };
            assert_eq!((calls[0].name.as_str(), name.as_ref()), (sent.as_str(), sent.as_str()), "{written}");
        }
    }

    #[test]
    fn a_limit_asks_for_a_summary() {
        let log =
            [user("a"), calls(&["x"]), done("x", "1"), Entry::LimitReached { limit: Limit::MaxIterations }];
        assert!(shape(&log).last().unwrap().starts_with("user "));
    }
}
