//! A conversation as people read it afterwards, in parts from first to last.

use std::fmt::Write as _;

use reyn_core::conversation::{Ending, Entry, Finish, Limit, Reply, Usage, UsageSource};
use reyn_core::prompt::outcome_text;
use reyn_core::tool::{Args, Outcome, ToolCall};

use crate::activity::{outcome_line, target};

/// One part. Its texts are as they were recorded: they may hold control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TranscriptPart {
    /// What the person said.
    Person(String),
    /// What the model answered, in Markdown.
    Answer(String),
    /// A call and how it ended.
    Call {
        /// The tool, what it was about, and the outcome, in one line.
        line: String,
        /// Whether it gave no result.
        is_error: bool,
        /// The arguments, as JSON where they were.
        arguments: String,
        /// What it changed as a diff, else what the model read.
        detail: String,
    },
    /// What else the person should know, such as an ending that is no answer.
    Note(String),
    /// What a turn cost.
    Cost(String),
}

/// What is said of a turn without an end.
pub(crate) const NO_END: &str = "this turn has no end yet: it runs, or its process died";

/// The parts of a conversation.
pub(crate) fn parts<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<TranscriptPart> {
    let mut transcript = Transcript::default();
    for entry in entries {
        transcript.add(entry);
    }
    transcript.end_turn();
    transcript.parts
}

#[derive(Default)]
struct Transcript<'a> {
    parts: Vec<TranscriptPart>,
    /// Calls of the latest reply without an outcome, with the places of their parts.
    open: Vec<(&'a ToolCall, usize)>,
    turn: Turn,
}

/// The turn that is being read.
#[derive(Default)]
struct Turn {
    is_open: bool,
    replies: u32,
    usage: Option<Usage>,
    finish: Finish,
}

impl<'a> Transcript<'a> {
    fn add(&mut self, entry: &'a Entry) {
        match entry {
            Entry::User { text } => {
                self.end_turn();
                self.turn.is_open = true;
                self.parts.push(TranscriptPart::Person(text.clone()));
            }
            Entry::Said { text } => self.parts.push(TranscriptPart::Person(text.clone())),
            Entry::Reply(reply) => self.add_reply(reply),
            Entry::Finished { call_id, outcome } => self.close_call(call_id, outcome),
            Entry::Nudged => self.note("the model said nothing and was asked once more"),
            Entry::Ended { ending } => {
                if let Some(words) = ending_words(ending, self.turn.finish) {
                    self.note(words);
                }
                self.turn.is_open = false;
                self.end_turn();
            }
            // The ending that follows says which limit; the outcome says how the call went.
            Entry::LimitReached { .. } | Entry::Started { .. } => {}
        }
    }

    fn add_reply(&mut self, reply: &'a Reply) {
        self.turn.replies += 1;
        self.turn.finish = reply.finish;
        self.turn.usage = Some(self.turn.usage.map_or(reply.usage, |usage| usage.plus(reply.usage)));
        if !reply.text.trim().is_empty() {
            self.parts.push(TranscriptPart::Answer(reply.text.clone()));
        }
        self.open.clear();
        for call in &reply.calls {
            self.open.push((call, self.parts.len()));
            self.parts.push(call_part(call, None));
        }
    }

    fn close_call(&mut self, call_id: &str, outcome: &Outcome) {
        let Some(at) = self.open.iter().position(|(call, _)| call.id == call_id) else { return };
        let (call, place) = self.open.remove(at);
        self.parts[place] = call_part(call, Some(outcome));
    }

    fn note(&mut self, text: impl Into<String>) {
        self.parts.push(TranscriptPart::Note(text.into()));
    }

    /// Says what the turn cost, and when it has no end.
    fn end_turn(&mut self) {
        self.open.clear();
        let turn = std::mem::take(&mut self.turn);
        if turn.is_open {
            self.note(NO_END);
        }
        if let Some(usage) = turn.usage {
            self.parts.push(TranscriptPart::Cost(cost(turn.replies, usage)));
        }
    }
}

fn call_part(call: &ToolCall, outcome: Option<&Outcome>) -> TranscriptPart {
    let about = target(call);
    let about = if about.is_empty() { String::new() } else { format!(" {about}") };
    let how = outcome.map_or_else(|| "no result".to_owned(), |outcome| outcome_line(call, outcome));
    // A name that a model made up, or a path, may hold line ends that forge a line of ours.
    let line = format!("{}{about}: {how}", call.name).replace('\n', " ");
    let arguments = match &call.args {
        Args::Object(map) => serde_json::to_string_pretty(map).expect("a JSON map has string keys"),
        Args::Malformed { excerpt, .. } => excerpt.clone(),
    };
    let detail = outcome.map_or_else(String::new, |outcome| match outcome {
        Outcome::Ok(output) if !output.diff.is_empty() => output.diff.clone(),
        Outcome::Ok(_) | Outcome::Error(_) => outcome_text(call, outcome).into_owned(),
    });
    TranscriptPart::Call { line, is_error: !outcome.is_some_and(Outcome::is_ok), arguments, detail }
}

/// What must be known of an ending; `None` for a plain answer.
fn ending_words(ending: &Ending, finish: Finish) -> Option<String> {
    let words = match ending {
        Ending::Answered => match finish {
            Finish::Stop | Finish::ToolCalls => return None,
            Finish::Length => "the answer was cut at the model's token limit",
            Finish::ContentFilter => "the provider withheld the rest of the answer",
        },
        Ending::Limited { limit: Limit::MaxIterations } => "stopped at the limit of model calls",
        Ending::Limited { limit: Limit::IdenticalFailures } => {
            "stopped: the same call failed again and again"
        }
        Ending::Empty => "the model gave an empty reply twice",
        Ending::Failed { message, .. } => return Some(message.clone()),
        Ending::Cancelled => "interrupted by the person",
        Ending::Interrupted => "the process died in this turn",
    };
    Some(words.to_owned())
}

/// Model calls and tokens, in words.
pub(crate) fn cost(replies: u32, usage: Usage) -> String {
    let mut text = format!("{replies} model call{}", if replies == 1 { "" } else { "s" });
    let about = match usage.source {
        UsageSource::Provider => "",
        UsageSource::Estimated => "about ",
        UsageSource::Unknown => return text,
    };
    let _ = write!(text, ", {about}{} tokens read", usage.prompt_tokens);
    if usage.cached_tokens > 0 {
        let _ = write!(text, " ({} cached)", usage.cached_tokens);
    }
    let _ = write!(text, ", {about}{} written", usage.completion_tokens);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use TranscriptPart::{Answer, Call, Cost, Note, Person};
    use reyn_core::tool::{CallError, Effect, ErrorKind, Output};

    fn says(text: &str) -> Entry {
        Entry::User { text: text.into() }
    }

    fn reply(text: &str, calls: &[&str]) -> Entry {
        let call = |id: &&str| ToolCall {
            id: (*id).to_owned(),
            name: "read_file".into(),
            args: Args::parse(&format!(r#"{{"path":"{id}"}}"#), false),
        };
        let usage = Usage { prompt_tokens: 10, completion_tokens: 5, ..Usage::default() };
        let calls = calls.iter().map(call).collect();
        Entry::Reply(Reply { text: text.into(), calls, usage, ..Reply::default() })
    }

    fn ended(ending: Ending) -> Entry {
        Entry::Ended { ending }
    }

    fn read(path: &str, how: &str, is_error: bool, detail: &str) -> TranscriptPart {
        Call {
            line: format!("read_file {path}: {how}"),
            is_error,
            arguments: format!("{{\n  \"path\": \"{path}\"\n}}"),
            detail: detail.into(),
        }
    }

    #[test]
    fn a_turn_with_calls_is_told_in_the_order_it_was_written() {
        let error = CallError::new(ErrorKind::HandlerError, "no such\nfile").hint("look");
        let finished = |id: &str, outcome| Entry::Finished { call_id: id.into(), outcome };
        let entries = [
            says("what?"),
            reply("I look.", &["a", "b", "c"]),
            Entry::Started { call_id: "a".into(), effect: Effect::Reads },
            finished("a", Outcome::Ok(Output::text("content", "hello\n"))),
            finished("b", Outcome::Error(error)),
            reply("It says hello.", &[]),
            ended(Ending::Answered),
        ];
        assert_eq!(
            parts(&entries),
            [
                Person("what?".into()),
                Answer("I look.".into()),
                read("a", "6 B", false, "hello\n"),
                read(
                    "b",
                    "handler_error: no such file",
                    true,
                    "Error (handler_error): no such\nfile\nHint: look"
                ),
                read("c", "no result", true, ""),
                Answer("It says hello.".into()),
                Cost("2 model calls, 20 tokens read, 10 written".into()),
            ]
        );
    }

    #[test]
    fn what_a_call_changed_is_its_detail() {
        let output = Output { diff: "-a\n+b\n".into(), ..Output::text("content", "done") };
        let entries =
            [reply("", &["a"]), Entry::Finished { call_id: "a".into(), outcome: Outcome::Ok(output) }];
        assert_eq!(parts(&entries)[0], read("a", "4 B", false, "-a\n+b\n"));
    }

    #[test]
    fn an_ending_that_is_no_answer_is_said() {
        let failed = Ending::Failed { kind: "connect".into(), message: "no server".into() };
        for (ending, words) in [
            (Ending::Limited { limit: Limit::MaxIterations }, "stopped at the limit of model calls"),
            (Ending::Empty, "the model gave an empty reply twice"),
            (failed, "no server"),
            (Ending::Cancelled, "interrupted by the person"),
            (Ending::Interrupted, "the process died in this turn"),
        ] {
            assert_eq!(parts(&[says("a"), ended(ending)]), [Person("a".into()), Note(words.into())]);
        }
    }

    #[test]
    fn a_turn_without_an_end_is_said_to_have_none() {
        let note = Note(NO_END.into());
        let expected = [Person("a".into()), note.clone(), Person("b".into()), note];
        assert_eq!(parts(&[says("a"), says("b")]), expected);
        assert_eq!(parts(&[]), []);
    }

    #[test]
    fn figures_that_nobody_counted_are_not_told() {
        let usage = |source| Usage { prompt_tokens: 7, completion_tokens: 1, cached_tokens: 3, source };
        for (source, words) in [
            (UsageSource::Provider, "1 model call, 7 tokens read (3 cached), 1 written"),
            (UsageSource::Estimated, "1 model call, about 7 tokens read (3 cached), about 1 written"),
            (UsageSource::Unknown, "1 model call"),
        ] {
            assert_eq!(cost(1, usage(source)), words);
        }
    }
}
