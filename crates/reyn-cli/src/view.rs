//! What a person or a program sees of a turn.

use std::io::IsTerminal;

use reyn_core::conversation::{Ending, Finish, Limit};
use reyn_core::tool::Outcome;
use reyn_runtime::{SessionEvent, TurnReport};
use serde_json::{Value, json};

use crate::activity::{outcome_line, target};
use crate::commands::ask::report_json;
use crate::drawn_answer::{self, DrawnAnswer};
use crate::exit::Exit;
use crate::model_choice::Choice;
use crate::output;

/// In which form a turn is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewMode {
    /// Words: the answer on standard output, everything else beside it.
    Text {
        /// Where the answer goes.
        answers: Answers,
    },
    /// One object at the end.
    Json,
    /// One object an event.
    StreamJson,
}

/// Where an answer in words goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Into a pipe or a file: as it is, when it is whole.
    Piped,
    /// To a terminal that only prints: as it is, while it is written.
    Printed,
    /// To a terminal that can draw: as Markdown, while it is written.
    Drawn,
}

impl Answers {
    /// What standard output is.
    pub(crate) fn of_stdout() -> Self {
        if drawn_answer::can_draw() {
            Self::Drawn
        } else if std::io::stdout().is_terminal() {
            Self::Printed
        } else {
            Self::Piped
        }
    }
}

/// Shows a turn while it runs.
pub(crate) struct View<'a> {
    mode: ViewMode,
    session: String,
    choice: &'a Choice,
    /// Whether the text of the current round was shown while it was written.
    is_streamed: bool,
    is_line_open: bool,
    has_progress: bool,
    /// The answer that is being drawn.
    drawn: Option<DrawnAnswer>,
}

impl<'a> View<'a> {
    pub(crate) fn new(mode: ViewMode, session: &str, choice: &'a Choice) -> View<'a> {
        let session = session.to_owned();
        View {
            mode,
            session,
            choice,
            is_streamed: false,
            is_line_open: false,
            has_progress: false,
            drawn: None,
        }
    }

    /// Says who answers and why.
    pub(crate) fn begin(&self) {
        let Choice { model, why, note, .. } = self.choice;
        match self.mode {
            ViewMode::Json => {}
            ViewMode::StreamJson => output::json(
                &json!({"type": "session", "session": self.session, "model": model.name(), "why": why, "note": note}),
            ),
            ViewMode::Text { .. } => {
                output::remark(&format!("{} ({why}) · session {}", model.name(), self.session));
                if let Some(note) = note {
                    output::remark(note);
                }
            }
        }
    }

    /// Shows an event.
    pub(crate) fn on_event(&mut self, event: &SessionEvent<'_>) {
        match self.mode {
            ViewMode::Json => {}
            ViewMode::StreamJson => {
                if let Some(object) = event_json(event) {
                    output::json(&object);
                }
            }
            ViewMode::Text { answers } => self.show(event, answers),
        }
    }

    fn show(&mut self, event: &SessionEvent<'_>, answers: Answers) {
        match event {
            SessionEvent::Progress(text) => return self.show_progress(text),
            SessionEvent::Delta(text) if answers != Answers::Piped => {
                self.clear_progress();
                self.show_piece(text, answers);
                return;
            }
            SessionEvent::Replied(_) => return self.end_line(),
            SessionEvent::Said(_) => return,
            SessionEvent::Delta(_)
            | SessionEvent::Retry { .. }
            | SessionEvent::ToolStarted(_)
            | SessionEvent::ToolFinished(..) => self.clear_progress(),
        }
        let line = match event {
            SessionEvent::Delta(_)
            | SessionEvent::Progress(_)
            | SessionEvent::Said(_)
            | SessionEvent::Replied(_) => return,
            SessionEvent::Retry { attempt, error, wait } => {
                self.is_streamed = false;
                format!("attempt {attempt} failed: {error}; again in {:.1} s", wait.as_secs_f64())
            }
            SessionEvent::ToolStarted(call) => {
                self.is_streamed = false;
                format!("· {} {}", call.name, target(call))
            }
            SessionEvent::ToolFinished(call, outcome) => format!("  {}", outcome_line(call, outcome)),
        };
        self.end_line();
        // A name that a model made up, or a path, may hold line ends that forge a line of ours.
        output::remark(&line.replace('\n', " "));
        if let SessionEvent::ToolFinished(_, Outcome::Ok(result)) = event {
            output::note_part(&output::done_diff(&result.diff));
        }
    }

    fn show_piece(&mut self, text: &str, answers: Answers) {
        self.is_streamed = true;
        if answers == Answers::Drawn && self.drawn.is_none() && !self.is_line_open {
            self.drawn = DrawnAnswer::begin();
        }
        if let Some(drawn) = &mut self.drawn {
            drawn.push(text);
        } else {
            output::result(&output::for_terminal(text));
            self.is_line_open = !text.ends_with('\n');
        }
    }

    fn show_progress(&mut self, text: &str) {
        if std::io::stderr().is_terminal() {
            self.end_line();
            output::note_part(&format!("\r\x1b[K{}", output::dim(&output::for_terminal(text))));
            self.has_progress = true;
        }
    }

    fn clear_progress(&mut self) {
        if std::mem::take(&mut self.has_progress) {
            output::note_part("\r\x1b[K");
        }
    }

    fn end_line(&mut self) {
        if let Some(drawn) = self.drawn.take() {
            drawn.finish();
        }
        if std::mem::take(&mut self.is_line_open) {
            output::result("\n");
        }
    }

    /// Shows how the turn went.
    pub(crate) fn end(&mut self, report: &TurnReport, exit: Exit) {
        match self.mode {
            ViewMode::Json => {
                output::json(&report_json(report, &self.session, self.choice.model.name(), exit))
            }
            ViewMode::StreamJson => {
                let mut result = report_json(report, &self.session, self.choice.model.name(), exit);
                result["type"] = json!("result");
                output::json(&result);
            }
            ViewMode::Text { answers } => self.end_in_words(report, answers),
        }
    }

    fn end_in_words(&mut self, report: &TurnReport, answers: Answers) {
        self.clear_progress();
        if !self.is_streamed && !report.answer.is_empty() {
            self.end_line();
            let answer = report.answer.trim_end();
            match answers {
                Answers::Piped => output::result_line(answer),
                Answers::Printed | Answers::Drawn => {
                    self.show_piece(answer, answers);
                    self.is_line_open = self.drawn.is_none();
                }
            }
        }
        self.end_line();
        let go_on = format!("`reyn ask --session {} \"go on\"` goes on", self.session);
        if let Some(line) = ending_words(report, &go_on) {
            output::note(&format!("reyn: {line}"));
        }
        for call in &report.calls {
            if let Outcome::Error(error) = &call.outcome
                && error.wants_person
            {
                let hint = error.hint.as_deref().unwrap_or_default();
                output::note(&format!("reyn: refused: {}; {hint}", error.message).replace('\n', " "));
            }
        }
    }
}

/// What a person must know about a turn that did not simply end with an answer. `go_on` says how it is gone
/// on with.
pub(crate) fn ending_words(report: &TurnReport, go_on: &str) -> Option<String> {
    match &report.ending {
        Ending::Answered => match report.finish {
            Finish::Stop | Finish::ToolCalls => None,
            Finish::Length => Some(
                "the answer was cut at the model's token limit; ask for less, or raise `max_completion_tokens`"
                    .to_owned(),
            ),
            Finish::ContentFilter => Some("the provider withheld the rest of the answer".to_owned()),
        },
        Ending::Limited { limit: Limit::MaxIterations } => Some(format!(
            "stopped after {} model calls; `--max-iterations` or `safety.loop.max_router_iterations` allows more, \
             and {go_on}",
            // The last one, which sums up, comes on top of the limit.
            report.rounds.saturating_sub(1)
        )),
        Ending::Limited { limit: Limit::IdenticalFailures } => {
            Some("stopped: the same call failed again and again".to_owned())
        }
        Ending::Empty => {
            Some("the model gave an empty reply twice; ask again, or try another model".to_owned())
        }
        Ending::Failed { message, .. } => Some(message.clone()),
        Ending::Cancelled | Ending::Interrupted => {
            Some(format!("interrupted; {go_on}"))
        }
    }
}

/// An event for programs. What a round cost stands in the result.
fn event_json(event: &SessionEvent<'_>) -> Option<Value> {
    Some(match event {
        SessionEvent::Replied(_) => return None,
        SessionEvent::Said(text) => json!({"type": "said", "text": text}),
        SessionEvent::Delta(text) => json!({"type": "delta", "text": text}),
        SessionEvent::Retry { attempt, error, wait } => json!({
            "type": "retry", "attempt": attempt, "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            "error": {"kind": error.kind.name(), "message": error.message},
        }),
        SessionEvent::Progress(text) => json!({"type": "progress", "text": text}),
        SessionEvent::ToolStarted(call) => json!({
            "type": "tool_started", "call_id": call.id, "tool": call.name,
            "args": reyn_core::redaction::redacted(&call.args),
        }),
        SessionEvent::ToolFinished(call, outcome) => {
            let mut value = json!({"type": "tool_finished", "call_id": call.id, "tool": call.name});
            match outcome {
                Outcome::Ok(output) => {
                    value["status"] = json!("ok");
                    value["result_bytes"] = json!(output.body.len());
                    if !output.diff.is_empty() {
                        value["diff"] = json!(output.diff);
                    }
                }
                Outcome::Error(error) => {
                    value["status"] = json!("error");
                    value["error"] =
                        json!({"kind": error.kind.name(), "message": error.message, "hint": error.hint});
                }
            }
            value
        }
    })
}
