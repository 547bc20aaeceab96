//! How a command ends: its exit code, and what it says when it fails.

use reyn_core::conversation::Ending;
use reyn_runtime::TurnReport;
use serde_json::{Value, json};

use crate::output;

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It was answered or done.
    Done,
    /// It failed.
    Failed,
    /// It was called wrongly, or the configuration is wrong.
    Usage,
    /// A limit stopped it.
    Limited,
    /// Something was refused because nobody was there to allow it.
    WantsPerson,
    /// The person interrupted it.
    Interrupted,
}

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Limited => 3,
            Self::WantsPerson => 4,
            Self::Interrupted => 130,
        }
    }

    /// The exit of a turn. Failing and being interrupted count before a refusal, a refusal before a limit.
    pub(crate) fn of(report: &TurnReport) -> Self {
        match &report.ending {
            Ending::Cancelled | Ending::Interrupted => Self::Interrupted,
            Ending::Failed { .. } | Ending::Empty => Self::Failed,
            Ending::Answered | Ending::Limited { .. } if report.wanted_person() => Self::WantsPerson,
            Ending::Limited { .. } => Self::Limited,
            Ending::Answered => Self::Done,
        }
    }
}

/// In which form a command tells how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Words,
    /// As one JSON object.
    Object,
    /// As the last of several JSON objects, one a line.
    Stream,
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// Which kind, for programs.
    pub kind: &'static str,
    /// What is wrong and what to do.
    pub message: String,
    /// Details for programs.
    pub details: Value,
}

impl Failure {
    /// A failure of the work itself.
    pub(crate) fn failed(kind: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, kind, message: message.into(), details: Value::Null }
    }

    /// A wrong call or a wrong configuration.
    pub(crate) fn usage(kind: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, kind, message: message.into(), details: Value::Null }
    }

    /// Nobody is there to say yes.
    pub(crate) fn wants_person(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { exit: Exit::WantsPerson, kind: "wants_person", message, details: Value::Null }
    }

    /// Adds details for programs.
    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// The person interrupted it.
    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        Self { exit: Exit::Interrupted, kind: "cancelled", message: message.into(), details: Value::Null }
    }

    /// The failure as the one object on standard output.
    fn to_json(&self) -> Value {
        let mut error = json!({"kind": self.kind, "message": self.message});
        if !self.details.is_null() {
            error["details"] = self.details.clone();
        }
        json!({"status": "error", "exit_code": self.exit.code(), "error": error})
    }

    /// Tells whoever called, in the form they asked for.
    pub(crate) fn tell(&self, form: Form) {
        match form {
            Form::Words => output::note(&format!("reyn: {}", self.message)),
            Form::Object => output::json(&self.to_json()),
            Form::Stream => {
                let mut result = self.to_json();
                result["type"] = json!("result");
                output::json(&result);
            }
        }
    }
}
