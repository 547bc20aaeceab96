//! Puts a call to a person: what it would change, the question, and what the answer means.

use std::sync::Arc;
use std::time::Duration;

use reyn_core::audit::AuditEvent;
use reyn_core::capability::{Axis, Verdict};
use reyn_core::gate::{Decision, Need, Refusal};
use reyn_core::limits::{PREVIEW_MS_MAX, QUESTIONS_AT_ONCE_MAX, REASON_CHARS_MAX};
use reyn_core::permission::{Approval, AskReason, FileOp, Scope, Target, Zones};
use reyn_core::text::excerpt;
use reyn_core::tool::{CallError, ToolCall};
use reyn_tools::{Prepared, Preview, ToolError};
use tokio_util::sync::CancellationToken;

use super::question::{self, Answer, Change, Deed, Question, Shown, Waiting, wider_place};
use super::{Gate, cancelled_before, cut, undecided};
use crate::approvals::ACTOR;
use crate::session::{Journal, SessionError};

const CANNOT_BE_MADE: &str = "as it stands it cannot be made";

/// One need of one call.
pub(super) struct Asking<'a> {
    pub call: &'a ToolCall,
    /// The calls that follow it in its reply.
    pub later: &'a [ToolCall],
    pub need: &'a Need,
    pub reason: &'a AskReason,
}

/// What came of a question.
pub(super) enum Asked {
    /// No, or nobody is there.
    Refused(CallError),
    /// Yes, and it is where the next decision finds it.
    Kept,
    /// Yes, for this call and no other.
    ForThisCall(Approval),
    /// Yes, but to a change that is another one by now.
    Again,
}

/// A yes to a call that did not have its turn yet, to the change that was shown and no other.
#[derive(Debug)]
pub(crate) struct Ahead {
    call: ToolCall,
    need: Need,
    change: Option<Change>,
}

/// What was found out before a question.
enum Previewed {
    /// What the person is shown.
    Change(Option<Change>),
    /// The call would fail with this.
    Fails(CallError),
}

/// What a yes comes to.
struct Yes {
    approval: Approval,
    /// Whether the next call has to ask again.
    is_for_this_call: bool,
    /// Whether later sessions have it too.
    is_kept: bool,
}

impl Gate {
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
                Ok(Ok(Some(Preview::Change(change)))) => {
                    Previewed::Change(Some(Change::Diff(change.into())))
                }
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

    /// What the person is shown of a change; an error when nobody is asked, since it cannot be made anyway.
    async fn change(
        &self,
        prepared: Prepared,
        need: &Need,
        cancel: &CancellationToken,
    ) -> Result<Option<Change>, CallError> {
        let Need::File { target, .. } = need else { return Ok(None) };
        match self.preview(prepared, cancel).await {
            Previewed::Change(change) => Ok(change),
            Previewed::Fails(error) if self.may_read(target) => Err(error),
            Previewed::Fails(_) => Ok(Some(Change::NotShown(CANNOT_BE_MADE))),
        }
    }

    /// Puts one need to a person.
    pub(super) async fn ask(
        &mut self,
        asking: &Asking<'_>,
        prepared: Prepared,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<Asked, SessionError> {
        let Asking { call, later, need, reason } = *asking;
        let zones = self.authority.agent().zones().clone();
        if self.person.is_none() {
            let error = no_person(need, reason).into_error();
            journal.audit_denied(call, Some(need), &error)?;
            return Ok(Asked::Refused(error));
        }
        let details = question::details(need, prepared.details(&self.context));
        let change = match self.change(prepared, need, cancel).await {
            Ok(change) => change,
            Err(error) => return Ok(Asked::Refused(error)),
        };
        if self.was_allowed_ahead(call, need, change.as_ref()) {
            let yes = Yes { approval: this_call(need), is_for_this_call: true, is_kept: false };
            return self.record_yes(yes, &zones, journal);
        }
        let mut question = Question::new(call, need, reason, &zones, Shown { change, details });
        let waiting = if question.may_widen { self.waiting(later, &zones, cancel).await } else { vec![] };
        question.waiting = waiting.iter().map(|(shown, _)| shown.clone()).collect();
        journal.audit(AuditEvent::UserInterventionRequested {
            chain_id: journal.chain_id(),
            key: match need {
                Need::File { op, .. } => op.key().to_owned(),
                Need::Exec { .. } | Need::Web { .. } => need.key().to_owned(),
            },
            subject: question.place.clone(),
        })?;
        let Some(person) = &mut self.person else { return Ok(Asked::Again) };
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(Asked::Refused(cancelled_before())),
            answer = person.ask(&question) => answer,
        };
        let covers_waiting = answer == Answer::All;
        let yes = match meaning(answer, need, question.may_widen) {
            Ok(yes) => yes,
            Err(said) => {
                if said.is_none() {
                    // A plain no holds for the turn: asking again and again must not wear a person down.
                    self.approvals.remember(of_need(need, Scope::JustPath, false));
                }
                let refusal = match need {
                    Need::File { op, target } => reason.refused_by_a_person(*op, target, said.as_deref()),
                    Need::Exec { command } => AskReason::command_refused(command, said.as_deref()),
                    Need::Web { op, host } => AskReason::host_refused(*op, host, said.as_deref()),
                };
                let error = refusal.into_error();
                journal.audit_denied(call, Some(need), &error)?;
                return Ok(Asked::Refused(error));
            }
        };
        if self.has_moved_on(call, need, &question, cancel).await {
            return Ok(Asked::Again);
        }
        if covers_waiting {
            self.ahead.extend(waiting.into_iter().map(|(_, ahead)| ahead));
        }
        self.record_yes(yes, &zones, journal)
    }

    /// Whether a person allowed this very change together with an earlier one. Spends that yes.
    fn was_allowed_ahead(&mut self, call: &ToolCall, need: &Need, change: Option<&Change>) -> bool {
        let is_it = |ahead: &Ahead| {
            ahead.call == *call && is_same(&ahead.need, need) && ahead.change.as_ref() == change
        };
        let at = self.ahead.iter().position(is_it);
        at.map(|at| self.ahead.remove(at)).is_some()
    }

    /// The later calls that a person would be asked about one after the other, with what they would
    /// change. Leaves out those that run unasked, are refused or cannot be made, and what is asked about
    /// alone: the runtime's own files, and changes that cannot be shown whole.
    async fn waiting(
        &self,
        later: &[ToolCall],
        zones: &Zones,
        cancel: &CancellationToken,
    ) -> Vec<(Waiting, Ahead)> {
        let deadline = tokio::time::Instant::now() + Duration::from_millis(PREVIEW_MS_MAX);
        let mut waiting = vec![];
        for call in later {
            if waiting.len() >= QUESTIONS_AT_ONCE_MAX || tokio::time::Instant::now() >= deadline {
                break;
            }
            let Ok(prepared) = self.prepare(call.clone(), cancel).await else { continue };
            let Decision::Ask { call: prepared, need, reason } = self.decided(prepared) else { continue };
            // A command with lines of its own is seen whole only where it is asked about alone.
            let has_details = !question::details(&need, vec![]).is_empty();
            if !question::may_widen(&reason, &need) || has_details {
                continue;
            }
            let Ok(change) = self.change(prepared, &need, cancel).await else { continue };
            if !question::is_seen(change.as_ref()) {
                continue;
            }
            let (deed, place) = (Deed::of(&need), question::place(&need, zones));
            let shown = Waiting { tool: call.name.clone(), deed, place, change: change.clone() };
            waiting.push((shown, Ahead { call: call.clone(), need, change }));
        }
        waiting
    }

    /// Whether the change is not the one any more that the person said yes to: somebody may have worked on
    /// the file while the question was open.
    async fn has_moved_on(
        &self,
        call: &ToolCall,
        need: &Need,
        question: &Question,
        cancel: &CancellationToken,
    ) -> bool {
        if question.change.is_none() {
            return false;
        }
        match self.prepare(call.clone(), cancel).await {
            Ok(prepared) => match self.change(prepared, need, cancel).await {
                Ok(now) => now != question.change,
                Err(_) => true,
            },
            Err(_) => true,
        }
    }

    fn record_yes(&mut self, yes: Yes, zones: &Zones, journal: &mut Journal) -> Result<Asked, SessionError> {
        let Yes { approval, is_for_this_call, is_kept } = yes;
        let key = approval.key(ACTOR, zones);
        let persisted = if is_kept {
            match self.approvals.keep(approval.clone(), zones) {
                Ok(persisted) => persisted,
                Err(error) => return Ok(Asked::Refused(undecided(&error))),
            }
        } else {
            if !is_for_this_call {
                self.approvals.remember(approval.clone());
            }
            false
        };
        journal.audit(AuditEvent::PermissionGranted { chain_id: journal.chain_id(), key, persisted })?;
        Ok(if is_for_this_call { Asked::ForThisCall(approval) } else { Asked::Kept })
    }
}

/// The refusal when nobody is there to be asked.
pub(super) fn no_person(need: &Need, reason: &AskReason) -> Refusal {
    match need {
        Need::File { op, target } => reason.refused_for_want_of_a_person(*op, target),
        Need::Exec { command } => reason.no_person_for(command),
        Need::Web { op, host } => reason.no_person_for_host(*op, host),
    }
}

/// A yes to one call. A search reaches what is below its folder; that is what was asked.
fn this_call(need: &Need) -> Approval {
    let scope = if Deed::of(need).is_search() { Scope::Recursive } else { Scope::ThisCall };
    of_need(need, scope, true)
}

/// An answer about what is needed and nothing wider.
fn of_need(need: &Need, scope: Scope, is_allowed: bool) -> Approval {
    match need {
        Need::File { op, target } => Approval::file(*op, target.path.clone(), scope, is_allowed),
        Need::Exec { command } => Approval::command(command.argv.clone(), scope, is_allowed),
        Need::Web { op, host } => Approval::host(*op, host, scope, is_allowed),
    }
}

/// An answer about more than what is needed. `None` when there is nothing wider.
fn wider_yes(need: &Need) -> Option<Approval> {
    match need {
        Need::File { op, target } => {
            let place = wider_place(*op, target).to_owned();
            Some(Approval::file(*op, place, Scope::Recursive, true))
        }
        Need::Exec { command } => {
            Some(Approval::command(command.beginning()?.to_vec(), Scope::Recursive, true))
        }
        Need::Web { .. } => None,
    }
}

/// Whether two needs are about the same thing, however a call spells it.
fn is_same(one: &Need, other: &Need) -> bool {
    match (one, other) {
        (Need::File { op, target }, Need::File { op: other_op, target: other }) => {
            op == other_op && target.path == other.path
        }
        (Need::Exec { command }, Need::Exec { command: other }) => command == other,
        (Need::Web { op, host }, Need::Web { op: other_op, host: other }) => op == other_op && host == other,
        (Need::File { .. } | Need::Exec { .. } | Need::Web { .. }, _) => false,
    }
}

/// What an answer comes to; what was said with a no as the error. An answer that goes further than the
/// question allows is cut to the call, or is a no where it would cover other places.
fn meaning(answer: Answer, need: &Need, may_widen: bool) -> Result<Yes, Option<String>> {
    let once = || Yes { approval: this_call(need), is_for_this_call: true, is_kept: false };
    let own_scope = if Deed::of(need).is_search() { Scope::Recursive } else { Scope::JustPath };
    let of_path = || of_need(need, own_scope, true);
    match answer {
        Answer::Once | Answer::All => Ok(once()),
        Answer::Session | Answer::JustPath if !may_widen => Ok(once()),
        Answer::Session => Ok(Yes { approval: of_path(), is_for_this_call: false, is_kept: false }),
        Answer::JustPath => Ok(Yes { approval: of_path(), is_for_this_call: false, is_kept: true }),
        Answer::Recursive => match wider_yes(need).filter(|_| may_widen) {
            Some(approval) => Ok(Yes { approval, is_for_this_call: false, is_kept: true }),
            None => Err(None),
        },
        Answer::No { reason } => {
            let reason = reason.map(|reason| excerpt(reason.trim(), REASON_CHARS_MAX));
            Err(reason.filter(|reason| !reason.is_empty()))
        }
    }
}
