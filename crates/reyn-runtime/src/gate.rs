//! The one door from a call to its effect: prepare, decide, ask, record, run, bound, record.
//!
//! Invariant: the gate fails closed. Whatever goes wrong while deciding is a refusal, and nothing changes
//! anything before the log on the disk says that it will.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use reyn_core::audit::AuditEvent;
use reyn_core::capability::Effective;
use reyn_core::conversation::Entry;
use reyn_core::gate::{Decision, Need, Permitted, decide};
use reyn_core::limits::{AUDIT_ITEMS_MAX, ERROR_BYTES_MAX, QUESTIONS_PER_CALL_MAX, RESULT_BYTES_MAX};
use reyn_core::permission::{Approval, Scope};
use reyn_core::redaction::{redacted, told};
use reyn_core::text::{prefix, shown_path};
use reyn_core::tool::{Args, CallError, Effect, ErrorKind, External, Outcome, Output, ToolCall};
use reyn_tools::{Context, Prepared, Registry, ToolError};
use tokio_util::sync::CancellationToken;

use crate::approvals::ApprovalStore;
use crate::screening::Screening;
use crate::session::{Journal, SessionError};

mod asking;
mod memory;
mod outside;
mod question;

use asking::{Ahead, Asked, Asking, no_person};
use outside::Before;
pub use question::{Answer, Change, Deed, Person, Question, TextChange, Waiting};

/// Judges calls and runs the permitted ones.
pub struct Gate {
    /// Every tool.
    pub registry: Arc<Registry>,
    /// What tools may use.
    pub context: Arc<Context>,
    /// What the session may do.
    pub authority: Arc<Effective>,
    /// What people said.
    pub approvals: ApprovalStore,
    /// Who can be asked; `None` when nobody is there.
    pub person: Option<Box<dyn Person>>,
    /// Longest run of one call.
    pub call_time_max: Duration,
    /// How texts from outside are made safe to read.
    pub screening: Screening,
    /// Yeses to calls of the latest reply that did not have their turn yet.
    pub(crate) ahead: Vec<Ahead>,
}

/// A verdict on a prepared call.
enum Judged {
    Permitted(Permitted<Prepared>),
    Refused(CallError),
}

impl Gate {
    /// Takes a call through the door. `later` are the calls that follow it in its reply. The outcome is for
    /// the model; an error means that the journal cannot be written, which ends the turn.
    pub(crate) async fn run(
        &mut self,
        call: &ToolCall,
        salvaged: bool,
        later: &[ToolCall],
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Outcome, SessionError> {
        let (call_id, tool) = Journal::named(call);
        journal.audit(AuditEvent::ToolCalled {
            chain_id: journal.chain_id(),
            call_id,
            tool,
            args: redacted(&call.args),
            salvaged,
        })?;
        let outcome = match self.judge(call, later, journal, cancel).await? {
            Judged::Refused(error) => {
                let error = self.quoting(call, error, journal, cancel).await?;
                self.refused(call, error, journal)?
            }
            Judged::Permitted(permitted) => self.execute(call, permitted, journal, cancel).await?,
        };
        journal.audit_outcome(call, &outcome)?;
        Ok(outcome)
    }

    /// A refusal is an error, but for a tool to which it is a result.
    fn refused(
        &self,
        call: &ToolCall,
        error: CallError,
        journal: &mut Journal,
    ) -> Result<Outcome, SessionError> {
        let context = self.context.for_call(CancellationToken::new(), journal.chain_id());
        let Some(mut output) = self.registry.refused(call, &error, &context) else {
            return Ok(Outcome::Error(cut(error)));
        };
        for event in std::mem::take(&mut output.notes) {
            journal.audit(event)?;
        }
        Ok(Outcome::Ok(bounded(output, RESULT_BYTES_MAX)))
    }

    /// Prepares and decides, asking where a person's word is needed.
    async fn judge(
        &mut self,
        call: &ToolCall,
        later: &[ToolCall],
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Judged, SessionError> {
        let mut for_this_call: Vec<Approval> = vec![];
        let mut is_looked_through = false;
        for _ in 0..QUESTIONS_PER_CALL_MAX {
            let prepared = match self.prepare(call.clone(), cancel).await {
                Ok(prepared) => prepared,
                Err(error) => return Ok(Judged::Refused(error)),
            };
            match self.approvals.current(self.authority.agent().zones()) {
                Ok(mut approvals) => {
                    approvals.0.extend(for_this_call.iter().cloned());
                    Arc::make_mut(&mut self.authority).agent_mut().approvals = approvals;
                }
                Err(error) => return Ok(Judged::Refused(undecided(&error))),
            }
            self.learn_of_the_sandbox(&prepared).await;
            if !is_looked_through {
                is_looked_through = true;
                if let Some(error) = self.looks_harmful(call, &prepared, journal)? {
                    return Ok(Judged::Refused(error));
                }
            }
            let prepared = match self.looked_through_for_memory(call, prepared, journal).await? {
                Ok(prepared) => prepared,
                Err(error) => return Ok(Judged::Refused(error)),
            };
            let (prepared, need, reason) = match self.decided(prepared) {
                Decision::Permit(permitted) => return Ok(Judged::Permitted(permitted)),
                Decision::Refuse { need, refusal } => {
                    let error = refusal.into_error();
                    journal.audit_denied(call, need.as_ref(), &error)?;
                    return Ok(Judged::Refused(error));
                }
                Decision::Ask { call, need, reason } => (call, need, reason),
            };
            let asking = Asking { call, later, need: &need, reason: &reason };
            match self.ask(&asking, prepared, journal, cancel).await? {
                Asked::Refused(error) => return Ok(Judged::Refused(error)),
                Asked::Kept | Asked::Again => {}
                Asked::ForThisCall(approval) => for_this_call.push(approval),
            }
        }
        Ok(Judged::Refused(CallError::new(
            ErrorKind::PermissionDenied,
            format!("`{}` needs more than {QUESTIONS_PER_CALL_MAX} separate permissions", call.name),
        )))
    }

    /// Looks through the commands of a call, before anybody is asked about them.
    fn looks_harmful(
        &self,
        call: &ToolCall,
        prepared: &Prepared,
        journal: &mut Journal,
    ) -> Result<Option<CallError>, SessionError> {
        for need in needs(prepared) {
            let Need::Exec { command } = need else { continue };
            let stdin = call.args.as_object().and_then(|args| args.get("stdin")?.as_str());
            let look = self.screening.command(command, stdin, prepared.spec().name, &journal.chain_id());
            audit_all(journal, look.events)?;
            if let Some(error) = look.refusal {
                journal.audit_denied(call, Some(need), &error)?;
                return Ok(Some(error));
            }
        }
        Ok(None)
    }

    /// Before the first program runs it shows what can confine it here, and whether any may run.
    async fn learn_of_the_sandbox(&mut self, prepared: &Prepared) {
        let runs_a_program = needs(prepared).iter().any(|need| matches!(need, Need::Exec { .. }));
        if runs_a_program && let Ok(processes) = self.context.processes() {
            let refusal = processes.refusal(self.person.is_some()).await;
            Arc::make_mut(&mut self.authority).sandbox_mut().refuses_exec = refusal;
        }
    }

    /// The one decision about a prepared call.
    fn decided(&self, prepared: Prepared) -> Decision<Prepared> {
        decide(prepared, &self.authority)
    }

    /// Preparing looks at the file system, so it runs where a hanging one does no harm, and is awaited no
    /// longer than the call itself would be.
    async fn prepare(&self, call: ToolCall, cancel: &CancellationToken) -> Result<Prepared, CallError> {
        let (registry, context) = (Arc::clone(&self.registry), Arc::clone(&self.context));
        let preparing = tokio::task::spawn_blocking(move || registry.prepare(call, &context));
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(cancelled_before()),
            result = tokio::time::timeout(self.call_time_max, preparing) => match result {
                Ok(prepared) => prepared.unwrap_or_else(|error| Err(undecided(&error))),
                Err(_elapsed) => {
                    Err(CallError::new(ErrorKind::Timeout, format!("{}; it did not run", self.stopped())))
                }
            },
        }
    }

    /// Clears away what a dead process left half done for a call. Changes nothing that anybody named.
    pub(crate) async fn recover(&self, call: &ToolCall, cancel: &CancellationToken) {
        if let Ok(prepared) = self.prepare(call.clone(), cancel).await {
            let context = Arc::clone(&self.context);
            let clearing = tokio::task::spawn_blocking(move || reyn_tools::recover(&prepared, &context));
            let _ = tokio::time::timeout(self.call_time_max, clearing).await;
        }
    }

    fn stopped(&self) -> String {
        format!("stopped after {} s (`safety.timeout.tool_call_seconds`)", self.call_time_max.as_secs())
    }

    /// Records that the call begins, and runs it.
    async fn execute(
        &self,
        call: &ToolCall,
        permitted: Permitted<Prepared>,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Outcome, SessionError> {
        let effect = permitted.peek().spec().effect;
        journal.append(Entry::Started { call_id: call.id.clone(), effect })?;
        if effect == Effect::Changes {
            journal.sync_all()?;
        }
        self.perform(call, permitted, journal, cancel).await
    }

    /// Takes a command of the person through the same door. What is taken away or denied stays so; that they gave
    /// the command is their yes; a line out of a pipe is nobody's. No model hears of it, so the conversation does not hold it; the audit trail does.
    pub(crate) async fn run_for_person(
        &mut self,
        argv: Vec<String>,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Outcome, SessionError> {
        let args = Args::from_object([("argv".to_owned(), argv.clone().into())].into_iter().collect());
        let call = ToolCall { id: "person".to_owned(), name: "exec".to_owned(), args };
        let (call_id, tool) = Journal::named(&call);
        let (chain_id, args) = (journal.chain_id(), redacted(&call.args));
        journal.audit(AuditEvent::ToolCalled { chain_id, call_id, tool, args, salvaged: false })?;
        let outcome = match self.prepare(call.clone(), cancel).await {
            Err(error) => Outcome::Error(error),
            Ok(prepared) => {
                self.learn_of_the_sandbox(&prepared).await;
                // A no about a file bounds the programs of the person too, so answers are read anew.
                let mut approvals = match self.approvals.current(self.authority.agent().zones()) {
                    Ok(approvals) => approvals,
                    Err(error) => {
                        let outcome = Outcome::Error(undecided(&error));
                        journal.audit_outcome(&call, &outcome)?;
                        return Ok(outcome);
                    }
                };
                if self.person.is_some() {
                    approvals.0.push(Approval::command(argv, Scope::ThisCall, true));
                }
                Arc::make_mut(&mut self.authority).agent_mut().approvals = approvals;
                match self.decided(prepared) {
                    Decision::Permit(permitted) => self.perform(&call, permitted, journal, cancel).await?,
                    Decision::Refuse { need, refusal } => {
                        let error = refusal.into_error();
                        journal.audit_denied(&call, need.as_ref(), &error)?;
                        Outcome::Error(error)
                    }
                    Decision::Ask { need, reason, .. } => {
                        let error = no_person(&need, &reason).into_error();
                        journal.audit_denied(&call, Some(&need), &error)?;
                        Outcome::Error(error)
                    }
                }
            }
        };
        journal.audit_outcome(&call, &outcome)?;
        Ok(outcome)
    }

    /// How long a call may run: a program has a bound of the operator's own, any other call none above the usual one.
    fn time_max(&self, prepared: &Prepared, is_program: bool, context: &Context) -> Duration {
        match prepared.time_max(context) {
            Some(time_max) if is_program => time_max,
            Some(time_max) => time_max.min(self.call_time_max),
            None => self.call_time_max,
        }
    }

    /// A change that cannot be made fails before it is asked about, and its error may quote the file.
    async fn quoting(
        &self,
        call: &ToolCall,
        error: CallError,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<CallError, SessionError> {
        if error.kind != ErrorKind::HandlerError {
            return Ok(error);
        }
        let Ok(prepared) = self.prepare(call.clone(), cancel).await else { return Ok(error) };
        let before = Before::of(&prepared, call, journal.entries(), &self.context).await;
        self.admitted(error, before, prepared.spec().name, journal).await
    }

    /// An error as a model may read it.
    async fn admitted(
        &self,
        error: CallError,
        before: Option<Before>,
        tool: &str,
        journal: &mut Journal,
    ) -> Result<CallError, SessionError> {
        let error = match before {
            Some(before) => before.after_failure(error).await,
            None => error,
        };
        match self.screening.admit_error(error, tool, &journal.chain_id()) {
            Ok((error, events)) => {
                audit_all(journal, events)?;
                Ok(cut(error))
            }
            Err(withheld) => withheld.told(journal),
        }
    }

    /// Runs a permitted call within its time, and bounds what it says.
    async fn perform(
        &self,
        call: &ToolCall,
        permitted: Permitted<Prepared>,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Outcome, SessionError> {
        let prepared = permitted.peek();
        let effect = prepared.spec().effect;
        let written: Vec<String> = written_places(prepared);
        let context = self.context.for_call(cancel.child_token(), journal.chain_id());
        let mut before = Before::of(prepared, call, journal.entries(), &context).await;
        let brought_by = before.as_ref().and_then(Before::brought_by);
        let context = Arc::new(context.with_brought_by(brought_by));
        // What has begun and has no end in the trail yet.
        let mut begun = prepared.begins(&context);
        audit_all(journal, begun.clone())?;
        let command = needs(prepared).iter().find_map(|need| match need {
            Need::Exec { command } => Some(command.clone()),
            Need::File { .. } | Need::Web { .. } => None,
        });
        let time_max = self.time_max(prepared, command.is_some(), &context);
        let (tool, result_bytes_max) = (prepared.spec().name, prepared.result_bytes_max());
        let running = AssertUnwindSafe(reyn_tools::run(permitted, Arc::clone(&context))).catch_unwind();
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Outcome::Error(cut_short(ErrorKind::Cancelled, "cancelled by the person", effect)),
            result = tokio::time::timeout(time_max, running) => match result {
                Ok(Ok(Ok(mut output))) => {
                    begun.clear();
                    audit_all(journal, std::mem::take(&mut output.notes))?;
                    if let Some(before) = before.take() {
                        output = before.after(output, cancel).await;
                    }
                    match self.screening.admit(output, tool, &journal.chain_id()) {
                        Ok((output, events)) => {
                            audit_all(journal, events)?;
                            Outcome::Ok(bounded(output, result_bytes_max))
                        }
                        Err(withheld) => Outcome::Error(withheld.told(journal)?),
                    }
                }
                Ok(Ok(Err(mut error))) => {
                    let notes = error.take_notes();
                    if !notes.is_empty() {
                        begun.clear();
                    }
                    audit_all(journal, notes)?;
                    Outcome::Error(failure(error, tool, effect))
                }
                Ok(Err(_panic)) => Outcome::Error(cut_short(ErrorKind::Exception, "the tool's code failed", effect)),
                Err(_elapsed) => {
                    Outcome::Error(cut_short(ErrorKind::Timeout, &self.stopped(), effect))
                }
            },
        };
        context.cancel.cancel();
        let outcome = match outcome {
            Outcome::Error(error) => {
                audit_all(journal, begun.iter().filter_map(|event| event.cut_short(&error)))?;
                Outcome::Error(self.admitted(error, before, tool, journal).await?)
            }
            Outcome::Ok(output) => Outcome::Ok(output),
        };
        let is_cancelled = matches!(&outcome, Outcome::Error(error) if error.kind == ErrorKind::Cancelled);
        if let Some(command) = command.filter(|_| is_cancelled) {
            let argv = command.argv.iter().take(AUDIT_ITEMS_MAX).map(|word| told(word)).collect();
            journal.audit(AuditEvent::SandboxedExecCancelled { chain_id: journal.chain_id(), argv })?;
        }
        if outcome.is_ok() {
            let updated = |path| AuditEvent::WorkspaceUpdated { chain_id: context.chain_id.clone(), path };
            audit_all(journal, written.into_iter().map(updated))?;
        }
        Ok(outcome)
    }
}

fn audit_all(
    journal: &mut Journal,
    events: impl IntoIterator<Item = AuditEvent>,
) -> Result<(), SessionError> {
    events.into_iter().try_for_each(|event| journal.audit(event))
}

fn needs(prepared: &Prepared) -> &[Need] {
    reyn_core::gate::Judged::needs(prepared)
}

fn written_places(prepared: &Prepared) -> Vec<String> {
    let mut places: Vec<String> = vec![];
    for need in needs(prepared) {
        match need {
            Need::File { op, target } if op.axis() == reyn_core::permission::FileAxis::Write => {
                let place = shown_path(&target.path);
                // A change in a memory is needed twice: as what it is, and as remembering.
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            Need::File { .. } | Need::Exec { .. } | Need::Web { .. } => {}
        }
    }
    places
}

/// Something went wrong while deciding; that is a refusal.
fn undecided(error: &dyn std::fmt::Display) -> CallError {
    CallError::new(
        ErrorKind::PermissionDenied,
        format!("refused, because permission cannot be decided: {error}"),
    )
    .hint("the person puts this right; the call cannot run before")
}

fn cancelled_before() -> CallError {
    CallError::new(ErrorKind::Cancelled, "cancelled by the person before it ran")
}

fn failure(error: ToolError, tool: &str, effect: Effect) -> CallError {
    match error {
        ToolError::Cancelled => cut_short(ErrorKind::Cancelled, "cancelled by the person", effect),
        ToolError::Defect(text) => cut_short(ErrorKind::Exception, &text, effect),
        other @ (ToolError::Failed { .. } | ToolError::TimedOut { .. } | ToolError::MissingService(_)) => {
            let external = other.is_quoting().then(|| Box::new(External::by(tool)));
            CallError { external, ..other.into_call_error() }
        }
    }
}

fn cut_short(kind: ErrorKind, what: &str, effect: Effect) -> CallError {
    let doubt = match effect {
        Effect::Reads => "",
        Effect::Changes => "; it may or may not have taken effect",
    };
    CallError::new(kind, format!("{what}{doubt}"))
}

/// Cuts a text that is longer than a model should read. Tools page before it comes to this.
fn bounded(mut output: Output, bytes_max: usize) -> Output {
    if output.body.len() > bytes_max {
        let total = output.body.len();
        output.body.truncate(prefix(&output.body, bytes_max).len());
        output = output.with("truncated", true).with("total_bytes", total);
    }
    output
}

/// Cuts the words of an error, which can repeat what the model wrote.
fn cut(mut error: CallError) -> CallError {
    for words in [Some(&mut error.message), error.hint.as_mut()].into_iter().flatten() {
        if words.len() > ERROR_BYTES_MAX {
            words.truncate(prefix(words, ERROR_BYTES_MAX).len());
            words.push('…');
        }
    }
    error
}
