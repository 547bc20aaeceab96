//! A conversation with one agent: its log, its gate, its model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reyn_core::audit::AuditEvent;
use reyn_core::capability::Effective;
use reyn_core::conversation::{Entry, Finish, Reply};
use reyn_core::gate::Need;
use reyn_core::limits::AUDIT_VALUE_CHARS_MAX;
use reyn_core::prompt::Environment;
use reyn_core::redaction::told;
use reyn_core::settings::AuditSettings;
use reyn_core::text::excerpt;
use reyn_core::tool::{CallError, Caller, Outcome, ToolCall, ToolSpec};
use reyn_core::tool_use::SessionNames;
use reyn_core::turn::TurnLimits;
use reyn_llm::{ChatModel, ModelError};
use reyn_tools::{Context, Registry};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approvals::{ApprovalError, ApprovalStore, GivenAnswer};
use crate::audit::{AuditError, AuditLog};
use crate::gate::{Gate, Person};
use crate::inbox::Inbox;
use crate::log::{ConversationLog, LogError, OpenReport};
use crate::screening::Screening;

pub use reyn_core::DEFAULT_AGENT;

/// What time it is. A value, so that tests can say.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Everything a session is made of.
pub struct SessionOptions {
    /// Its name; [`crate::log::check_name`] says which are good.
    pub id: String,
    /// The project's `.reyn` folder.
    pub state: PathBuf,
    /// Who answers.
    pub model: Arc<dyn ChatModel>,
    /// Every tool.
    pub registry: Arc<Registry>,
    /// Who makes the calls; there is no tool but those that serve it.
    pub caller: Caller,
    /// What tools may use.
    pub context: Arc<Context>,
    /// What the session may do.
    pub authority: Effective,
    /// Who can be asked; `None` when nobody is there.
    pub person: Option<Box<dyn Person>>,
    /// Where it runs.
    pub environment: Environment,
    /// Bounds of a turn.
    pub limits: TurnLimits,
    /// Longest run of one call.
    pub call_time_max: Duration,
    /// How texts from outside are made safe to read.
    pub screening: Screening,
    /// The audit trail's rotation.
    pub audit: AuditSettings,
    /// What time it is.
    pub clock: Clock,
    /// A random token of this process.
    pub emitter: String,
}

/// An open session.
pub struct Session {
    pub(crate) id: String,
    pub(crate) journal: Journal,
    pub(crate) gate: Gate,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) tools: Vec<(ToolSpec, Value)>,
    pub(crate) names: SessionNames,
    pub(crate) environment: Environment,
    pub(crate) limits: TurnLimits,
    pub(crate) damaged_bytes: u64,
    pub(crate) is_resumed: bool,
    pub(crate) inbox: Inbox,
}

/// A session cannot go on: what it does can no longer be written down.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The conversation log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The audit trail.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The answers that are kept.
    #[error(transparent)]
    Approvals(#[from] ApprovalError),
}

/// What a front end hears while a turn runs.
#[derive(Debug)]
pub enum SessionEvent<'a> {
    /// The next piece of the answer.
    Delta(&'a str),
    /// A model call failed and is tried again; what was said of it so far is void.
    Retry {
        /// Which attempt failed, from 1.
        attempt: u32,
        /// Why.
        error: &'a ModelError,
        /// How long until the next one.
        wait: Duration,
    },
    /// Something slow goes on, in words.
    Progress(&'a str),
    /// A call is about to be judged.
    ToolStarted(&'a ToolCall),
    /// A call ended.
    ToolFinished(&'a ToolCall, &'a Outcome),
    /// What the person said meanwhile is part of the conversation now.
    Said(&'a str),
    /// A round is over: the model's reply is complete and written down.
    Replied(&'a Reply),
}

/// A front end's ear.
pub type Listener<'a> = dyn FnMut(SessionEvent<'_>) + Send + 'a;

impl Session {
    /// Opens the session, or begins it.
    ///
    /// # Errors
    /// When its log cannot be opened.
    pub fn open(options: SessionOptions) -> Result<(Self, OpenReport), SessionError> {
        let now = (options.clock)().to_string();
        let sessions = options.state.join("state").join("sessions");
        let (log, report) = ConversationLog::open(&sessions, &options.id, &now)?;
        let events = options.state.join("events");
        let audit = AuditLog::new(&events, DEFAULT_AGENT, &options.id, &options.emitter, options.audit);
        let turns = log.entries().iter().filter(|entry| matches!(entry, Entry::User { .. })).count();
        let journal = Journal { log, audit, clock: options.clock, session: options.id.clone(), turns };
        let registry = Arc::new(options.registry.serving(options.caller));
        let is_on = |(spec, _): &(ToolSpec, Value)| !registry.is_off(spec.name, &options.context);
        let tools = registry.specs_with_schemas().filter(is_on).collect();
        let gate = Gate {
            registry,
            context: options.context,
            authority: Arc::new(options.authority),
            approvals: ApprovalStore::new(options.state.join("approvals.yaml")),
            person: options.person,
            call_time_max: options.call_time_max,
            screening: options.screening,
            ahead: vec![],
        };
        let session = Self {
            id: options.id,
            journal,
            gate,
            model: options.model,
            tools,
            names: SessionNames::new(),
            environment: options.environment,
            limits: options.limits,
            damaged_bytes: report.damaged_bytes,
            is_resumed: report.is_resumed,
            inbox: Inbox::default(),
        };
        Ok((session, report))
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where a front end puts what the person says while a turn runs. What no round has taken when the
    /// turn ends is still there.
    #[must_use]
    pub fn inbox(&self) -> Inbox {
        self.inbox.clone()
    }

    /// Who answers from the next turn on.
    pub fn set_model(&mut self, model: Arc<dyn ChatModel>) {
        self.model = model;
    }

    /// What was answered: in this session first, then what is kept.
    ///
    /// # Errors
    /// When the kept answers cannot be read.
    pub fn answers(&mut self) -> Result<Vec<GivenAnswer>, ApprovalError> {
        let zones = self.gate.authority.agent().zones().clone();
        self.gate.approvals.given(&zones)
    }

    /// Takes an answer back, of this session or kept. Returns whether there was one with this key.
    ///
    /// # Errors
    /// When the kept answers cannot be read or replaced, or the audit trail cannot be written.
    pub fn revoke(&mut self, key: &str) -> Result<bool, SessionError> {
        let zones = self.gate.authority.agent().zones().clone();
        let was_there = self.gate.approvals.take_back(key, &zones)?;
        if was_there {
            self.journal.audit(AuditEvent::PermissionApprovalRevoked { key: key.to_owned() })?;
        }
        Ok(was_there)
    }

    /// Runs a program that the person gave, confined as the model's are. The model does not hear of it.
    ///
    /// # Errors
    /// When the audit trail cannot be written.
    pub async fn run_for_person(
        &mut self,
        argv: Vec<String>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, SessionError> {
        self.gate.run_for_person(argv, &mut self.journal, cancel).await
    }

    /// The tools that the session shows a model, with their parameter schemas.
    #[must_use]
    pub fn tools(&self) -> &[(ToolSpec, Value)] {
        &self.tools
    }

    /// The conversation so far.
    #[must_use]
    pub fn log(&self) -> &[Entry] {
        self.journal.log.entries()
    }
}

/// Everything that is written down: the conversation and the audit trail.
pub(crate) struct Journal {
    pub(crate) log: ConversationLog,
    audit: AuditLog,
    clock: Clock,
    session: String,
    turns: usize,
}

impl Journal {
    /// The name of the current turn: the session's, and how many turns it has had.
    pub(crate) fn chain_id(&self) -> String {
        format!("{}.{}", self.session, self.turns)
    }

    /// All that was said and done.
    pub(crate) fn entries(&self) -> &[Entry] {
        self.log.entries()
    }

    pub(crate) fn append(&mut self, entry: Entry) -> Result<(), SessionError> {
        if matches!(entry, Entry::User { .. }) {
            self.turns += 1;
        }
        let now = (self.clock)().to_string();
        Ok(self.log.append(entry, &now)?)
    }

    /// Waits until the conversation and the audit trail are on the disk.
    pub(crate) fn sync_all(&mut self) -> Result<(), SessionError> {
        self.log.sync()?;
        Ok(self.audit.sync()?)
    }

    pub(crate) fn audit(&mut self, event: AuditEvent) -> Result<(), SessionError> {
        Ok(self.audit.record(&event, (self.clock)())?)
    }

    /// A call's id and its tool's name as an event may hold them: the model may have written anything.
    pub(crate) fn named(call: &ToolCall) -> (String, String) {
        (excerpt(&call.id, AUDIT_VALUE_CHARS_MAX), excerpt(&call.name, AUDIT_VALUE_CHARS_MAX))
    }

    pub(crate) fn audit_outcome(&mut self, call: &ToolCall, outcome: &Outcome) -> Result<(), SessionError> {
        let chain_id = self.chain_id();
        let (call_id, tool) = Self::named(call);
        self.audit(match outcome {
            Outcome::Ok(output) => {
                AuditEvent::ToolReturned { chain_id, call_id, tool, result_bytes: output.body.len() as u64 }
            }
            Outcome::Error(error) => AuditEvent::ToolFailed {
                chain_id,
                call_id,
                tool,
                error_kind: error.kind.name().to_owned(),
                message: told(&error.message),
            },
        })
    }

    pub(crate) fn audit_denied(
        &mut self,
        call: &ToolCall,
        need: Option<&Need>,
        error: &CallError,
    ) -> Result<(), SessionError> {
        self.audit(AuditEvent::PermissionDenied {
            chain_id: self.chain_id(),
            key: need.map_or("tool", Need::key).to_owned(),
            subject: need.map_or_else(|| Self::named(call).1, Need::subject),
            reason: told(&error.message),
        })
    }
}

/// The name that results and events carry.
pub(crate) const fn finish_name(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_calls",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
    }
}
