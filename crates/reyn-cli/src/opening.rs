//! Opens the session of a run: the only place that puts its parts together.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reyn_core::capability::Effective;
use reyn_core::limits::IDENTICAL_FAILURES_MAX;
use reyn_core::tool::Caller;
use reyn_core::turn::TurnLimits;
use reyn_llm::ChatModel;
use reyn_runtime::gate::Person;
use reyn_runtime::log::{LogError, OpenReport};
use reyn_runtime::{Session, SessionError, SessionOptions, Sessions};

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::output;
use crate::wiring::{Project, token};

/// What a session is opened with, beside the project.
pub(crate) struct Opening<'a> {
    pub run: &'a RunArgs,
    pub model: Arc<dyn ChatModel>,
    /// Who can be asked; `None` when nobody is there.
    pub person: Option<Box<dyn Person>>,
    /// Model calls of one turn, where neither the command line nor the configuration says.
    pub rounds_max: u32,
}

/// Refuses what is wrong in itself, before anything is looked at.
pub(crate) fn check(run: &RunArgs) -> Result<(), Failure> {
    match &run.session {
        Some(id) => {
            reyn_runtime::log::check_name(id).map_err(|error| Failure::usage("usage", error.to_string()))
        }
        None => Ok(()),
    }
}

/// What the run may do.
pub(crate) fn authority(project: &Project, run: &RunArgs) -> Result<Effective, Failure> {
    project.authority(&run.allow, Some(&run.narrowing))
}

/// The session that is gone on with, or a new name.
pub(crate) fn id(project: &Project, run: &RunArgs) -> Result<String, Failure> {
    if let Some(id) = &run.session {
        return Ok(id.clone());
    }
    if run.is_continued {
        let newest = Sessions::new(&project.state()).latest_id();
        return newest.map_err(|error| Failure::failed("session", error.to_string()))?.ok_or_else(|| {
            let message = "there is no session here to go on with; leave `--continue` out to begin one";
            Failure::usage("usage", message)
        });
    }
    new_id()
}

/// A name that sorts by time and that no other process takes.
pub(crate) fn new_id() -> Result<String, Failure> {
    Ok(format!("{}-{}", Timestamp::now().strftime("%Y%m%d-%H%M%S"), token(2)?))
}

impl Opening<'_> {
    /// Opens the session, or begins it.
    pub(crate) fn open(
        self,
        project: &Project,
        authority: Effective,
        id: String,
    ) -> Result<(Session, OpenReport), Failure> {
        let settings = &project.config.settings;
        reyn_runtime::config::make_state_folder(project.root())
            .map_err(|error| Failure::failed("io", error.to_string()))?;
        let rounds_max = self
            .run
            .max_iterations
            .or(settings.safety.loops.max_router_iterations)
            .unwrap_or(self.rounds_max);
        let options = SessionOptions {
            id,
            state: project.state(),
            model: self.model,
            registry: Arc::new(reyn_tools::builtin()),
            caller: Caller::Chat,
            context: project.context(&authority, self.run.allow_shell)?,
            authority,
            environment: project.environment(self.person.is_some()),
            person: self.person,
            limits: TurnLimits {
                rounds_max,
                calls_per_reply_max: settings.safety.loops.max_tool_calls_per_reply,
                identical_failures_max: IDENTICAL_FAILURES_MAX,
            },
            call_time_max: Duration::from_secs(settings.safety.timeout.tool_call_seconds),
            screening: project.screening()?,
            audit: settings.audit_events.clone(),
            clock: Arc::new(Timestamp::now),
            emitter: token(8)?,
        };
        Session::open(options).map_err(broken)
    }
}

/// What was found damaged, in words.
pub(crate) fn damage(report: &OpenReport) -> Option<String> {
    report.damaged_file.as_ref().map(|side| {
        format!(
            "{} of the session's log were damaged and are now in `{}`; everything else is kept",
            output::size(report.damaged_bytes),
            side.display()
        )
    })
}

/// Says what was found damaged.
pub(crate) fn tell(report: &OpenReport) {
    if let Some(words) = damage(report) {
        output::note(&format!("reyn: {words}"));
    }
}

/// A turn that broke off, with the command that goes on with its session where something was said.
pub(crate) fn broken_off(failure: Failure, session: &Session, command: &str) -> Failure {
    if session.log().is_empty() {
        return failure;
    }
    let message = format!("{}; then `{command}` goes on", failure.message);
    Failure { message, ..failure }
}

/// A session that cannot be opened or written.
pub(crate) fn broken(error: SessionError) -> Failure {
    // Both are about writing below `.reyn/`; other kinds of errors say themselves what to do.
    let is_io = matches!(error, SessionError::Audit(_) | SessionError::Log(LogError::Io { .. }));
    let hint = if is_io { "; `reyn doctor` says whether there is room and who may write there" } else { "" };
    Failure::failed("session", format!("{error}{hint}"))
}
