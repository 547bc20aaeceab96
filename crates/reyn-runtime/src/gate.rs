//! The one door from a call to its effect: prepare, decide, ask, record, run, bound, record.
//!
//! Invariant: the gate fails closed. Whatever goes wrong while deciding is a refusal, and nothing changes
//! anything before the log on the disk says that it will.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use reyn_core::audit::{AuditEvent, redacted};
use reyn_core::capability::{Axis, Effective, Verdict};
use reyn_core::conversation::Entry;
use reyn_core::gate::{Decision, Need, Permitted, decide};
use reyn_core::limits::{ERROR_BYTES_MAX, PREVIEW_MS_MAX, QUESTIONS_PER_CALL_MAX, RESULT_BYTES_MAX};
use reyn_core::permission::{Approval, AskReason, FileOp, Scope, Target, Zones};
use reyn_core::text::{prefix, shown_path};
use reyn_core::tool::{CallError, Effect, ErrorKind, Outcome, Output, ToolCall};
use reyn_tools::{Context, Prepared, Preview, Registry, ToolError};
use tokio_util::sync::CancellationToken;

use crate::approvals::{ACTOR, ApprovalStore};
use crate::session::{Journal, SessionError};

/// A person who can be asked.
pub trait Person: Send {
    /// Puts a question; resolves when it is answered. Dropping it withdraws the question.
    fn ask<'a>(&'a mut self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The tool that wants it.
    pub tool: String,
    /// What is done to the file.
    pub op: FileOp,
    /// The real place, as shown to people.
    pub place: String,
    /// Which rule asks.
    pub rule: String,
    /// Whether the answer may cover more than this very path.
    pub may_widen: bool,
    /// The folder that a wider yes covers.
    pub folder: String,
    /// What the call would change, when it changes a text.
    pub change: Option<Change>,
}

/// What a person is shown of a change before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A unified diff.
    Diff(String),
    /// Why it is not shown.
    NotShown(&'static str),
}

const CANNOT_BE_MADE: &str = "as it stands it cannot be made";

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, for this run.
    Once,
    /// Yes, always for this path.
    JustPath,
    /// Yes, always for its folder and all below.
    Recursive,
    /// No.
    No,
}

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
}

/// The folder that a wider yes covers. Who lets a folder be searched means what is in it, and nothing
/// beside it.
fn wider_place(op: FileOp, target: &Target) -> &Path {
    if op.is_search() { &target.path } else { target.path.parent().unwrap_or(&target.path) }
}

fn question(
    call: &ToolCall,
    op: FileOp,
    target: &Target,
    reason: &AskReason,
    zones: &Zones,
    change: Option<Change>,
) -> Question {
    let place = match &target.link {
        Some(link) => format!("{} (a link to {})", zones.display(link), zones.display(&target.path)),
        None => zones.display(&target.path),
    };
    Question {
        tool: call.name.clone(),
        op,
        place,
        rule: reason.rule.clone(),
        // Where a link leads is only asked about so that the link may go.
        may_widen: reason.allowed_by.is_some() && target.link.is_none(),
        folder: zones.display(wider_place(op, target)),
        change,
    }
}

/// What was found out before a question.
enum Previewed {
    /// What the person is shown.
    Change(Option<Change>),
    /// The call would fail with this.
    Fails(CallError),
}

/// What came of a question.
enum Asked {
    /// No, or nobody is there.
    Refused(CallError),
    /// Yes, and it is where the next decision finds it.
    Kept,
    /// Yes, for this call and no other.
    ForThisCall(Approval),
    /// Yes, but to a change that is another one by now.
    Again,
}

/// A verdict on a prepared call.
enum Judged {
    Permitted(Permitted<Prepared>),
    Refused(CallError),
}

impl Gate {
    /// Takes a call through the door. The outcome is for the model; an error means that the journal
    /// cannot be written, which ends the turn.
    pub(crate) async fn run(
        &mut self,
        call: &ToolCall,
        salvaged: bool,
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
        let outcome = match self.judge(call, journal, cancel).await? {
            Judged::Refused(error) => Outcome::Error(cut(error)),
            Judged::Permitted(permitted) => self.execute(call, permitted, journal, cancel).await?,
        };
        journal.audit_outcome(call, &outcome)?;
        Ok(outcome)
    }

    /// Prepares and decides, asking where a person's word is needed.
    async fn judge(
        &mut self,
        call: &ToolCall,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Judged, SessionError> {
        let mut for_this_call: Vec<Approval> = vec![];
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
            let (prepared, need, reason) = match decide(prepared, &self.authority) {
                Decision::Permit(permitted) => return Ok(Judged::Permitted(permitted)),
                Decision::Refuse { need, refusal } => {
                    let error = refusal.into_error();
                    journal.audit_denied(call, need.as_ref(), &error)?;
                    return Ok(Judged::Refused(error));
                }
                Decision::Ask { call, need, reason } => (call, need, reason),
            };
            match self.ask(call, prepared, &need, &reason, journal, cancel).await? {
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

    /// Whether the model may see what is in a file without asking.
    fn may_read(&self, target: &Target) -> bool {
        self.authority.verdict(Axis::File { op: FileOp::Read, target }) == Verdict::Allow
    }

    /// What a call would change, for the person's eyes. A question is put without it rather than late.
    async fn preview(&self, prepared: Prepared, cancel: &CancellationToken) -> Previewed {
        let context = Arc::clone(&self.context);
        let showing = tokio::task::spawn_blocking(move || prepared.preview(&context));
        tokio::select! {
            biased;
            () = cancel.cancelled() => Previewed::Change(None),
            shown = tokio::time::timeout(Duration::from_millis(PREVIEW_MS_MAX), showing) => match shown {
                Ok(Ok(Some(Preview::Diff(diff)))) => Previewed::Change(Some(Change::Diff(diff.text))),
                Ok(Ok(Some(Preview::NotShown(reason)))) => {
                    Previewed::Change(Some(Change::NotShown(reason)))
                }
                Ok(Ok(Some(Preview::Fails(error)))) => {
                    Previewed::Fails(cut(ToolError::from(error).into_call_error()))
                }
                Ok(Ok(None)) => Previewed::Change(None),
                Ok(Err(_)) | Err(_) => {
                    Previewed::Change(Some(Change::NotShown("it took too long to compare")))
                }
            }
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

    /// Puts one need to a person.
    async fn ask(
        &mut self,
        call: &ToolCall,
        prepared: Prepared,
        need: &Need,
        reason: &AskReason,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Asked, SessionError> {
        let zones = self.authority.agent().zones().clone();
        let Need::File { op, target } = need;
        let op = *op;
        if self.person.is_none() {
            let error = reason.refused_for_want_of_a_person(op, target).into_error();
            journal.audit_denied(call, Some(need), &error)?;
            return Ok(Asked::Refused(error));
        }
        let may_read = self.may_read(target);
        let change = match self.preview(prepared, cancel).await {
            // Nobody is asked about a change that cannot be made anyway.
            Previewed::Fails(error) if may_read => return Ok(Asked::Refused(error)),
            Previewed::Fails(_) => Some(Change::NotShown(CANNOT_BE_MADE)),
            Previewed::Change(change) => change,
        };
        let Some(person) = &mut self.person else { return Ok(Asked::Kept) };
        let question = question(call, op, target, reason, &zones, change);
        let is_once = !question.may_widen;
        let folder = wider_place(op, target).to_owned();
        journal.audit(AuditEvent::UserInterventionRequested {
            chain_id: journal.chain_id(),
            key: op.key().to_owned(),
            subject: question.place.clone(),
        })?;
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                return Ok(Asked::Refused(cancelled_before()));
            }
            answer = person.ask(&question) => answer,
        };
        let own_scope = if op.is_search() { Scope::Recursive } else { Scope::JustPath };
        let (path, scope, is_kept) = match answer {
            Answer::Once | Answer::JustPath if is_once => (target.path.clone(), Scope::ThisCall, false),
            Answer::Once => (target.path.clone(), own_scope, false),
            Answer::JustPath => (target.path.clone(), own_scope, true),
            Answer::Recursive if question.may_widen => (folder, Scope::Recursive, true),
            Answer::Recursive | Answer::No => {
                let path = target.path.clone();
                // A no holds for the run too: asking again and again must not wear a person down.
                let refused = Approval { op, path, scope: Scope::JustPath, is_allowed: false };
                self.approvals.remember(refused);
                let error = reason.refused_by_a_person(op, target).into_error();
                journal.audit_denied(call, Some(need), &error)?;
                return Ok(Asked::Refused(error));
            }
        };
        let approval = Approval { op, path, scope, is_allowed: true };
        if self.has_moved_on(call, &question, cancel).await {
            return Ok(Asked::Again);
        }
        self.record_yes(approval, is_kept, &zones, journal)
    }

    /// Whether the change is not the one any more that the person said yes to: somebody may have worked on
    /// the file while the question was open.
    async fn has_moved_on(&self, call: &ToolCall, question: &Question, cancel: &CancellationToken) -> bool {
        if question.change.is_none() {
            return false;
        }
        match self.prepare(call.clone(), cancel).await {
            Ok(prepared) => match self.preview(prepared, cancel).await {
                Previewed::Fails(_) => question.change != Some(Change::NotShown(CANNOT_BE_MADE)),
                Previewed::Change(now) => now != question.change,
            },
            Err(_) => true,
        }
    }

    fn record_yes(
        &mut self,
        approval: Approval,
        is_kept: bool,
        zones: &Zones,
        journal: &mut Journal,
    ) -> Result<Asked, SessionError> {
        let (key, scope) = (approval.key(ACTOR, zones), approval.scope);
        let persisted = if is_kept {
            match self.approvals.keep(approval.clone(), zones) {
                Ok(persisted) => persisted,
                Err(error) => return Ok(Asked::Refused(undecided(&error))),
            }
        } else {
            if scope != Scope::ThisCall {
                self.approvals.remember(approval.clone());
            }
            false
        };
        journal.audit(AuditEvent::PermissionGranted { chain_id: journal.chain_id(), key, persisted })?;
        Ok(if scope == Scope::ThisCall { Asked::ForThisCall(approval) } else { Asked::Kept })
    }

    /// Records that the call begins, runs it within its time, and bounds what it says.
    async fn execute(
        &self,
        call: &ToolCall,
        permitted: Permitted<Prepared>,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Outcome, SessionError> {
        let prepared = permitted.peek();
        let effect = prepared.spec().effect;
        let written: Vec<String> = written_places(prepared);
        journal.append(Entry::Started { call_id: call.id.clone(), effect })?;
        if effect == Effect::Changes {
            journal.sync_all()?;
        }
        let context = Arc::new(self.context.with_cancel(cancel.child_token()));
        let running = AssertUnwindSafe(reyn_tools::run(permitted, Arc::clone(&context))).catch_unwind();
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Outcome::Error(cut_short(ErrorKind::Cancelled, "cancelled by the person", effect)),
            result = tokio::time::timeout(self.call_time_max, running) => match result {
                Ok(Ok(Ok(output))) => Outcome::Ok(bounded(output)),
                Ok(Ok(Err(error))) => Outcome::Error(cut(failure(error, effect))),
                Ok(Err(_panic)) => Outcome::Error(cut_short(ErrorKind::Exception, "the tool's code failed", effect)),
                Err(_elapsed) => {
                    Outcome::Error(cut_short(ErrorKind::Timeout, &self.stopped(), effect))
                }
            },
        };
        context.cancel.cancel();
        if outcome.is_ok() {
            for path in written {
                journal.audit(AuditEvent::WorkspaceUpdated { chain_id: journal.chain_id(), path })?;
            }
        }
        Ok(outcome)
    }
}

fn written_places(prepared: &Prepared) -> Vec<String> {
    reyn_core::gate::Judged::needs(prepared)
        .iter()
        .filter_map(|need| match need {
            Need::File { op, target } => {
                let is_write = op.axis() == reyn_core::permission::FileAxis::Write;
                is_write.then(|| shown_path(&target.path))
            }
        })
        .collect()
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

fn failure(error: ToolError, effect: Effect) -> CallError {
    match error {
        ToolError::Cancelled => cut_short(ErrorKind::Cancelled, "cancelled by the person", effect),
        ToolError::Defect(text) => cut_short(ErrorKind::Exception, &text, effect),
        other @ (ToolError::Failed { .. } | ToolError::MissingService(_)) => other.into_call_error(),
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
fn bounded(mut output: Output) -> Output {
    if output.body.len() > RESULT_BYTES_MAX {
        let total = output.body.len();
        output.body.truncate(prefix(&output.body, RESULT_BYTES_MAX).len());
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
