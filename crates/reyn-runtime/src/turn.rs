//! Runs a turn: reads the log, does the next step, writes what happened.

use std::time::Duration;

use reyn_core::audit::AuditEvent;
use reyn_core::conversation::{
    Ending, Entry, Finish, Limit, Reply, Usage, UsageSource, current_turn, latest_reply, outcome_of, usage_of,
};
use reyn_core::redaction::told;
use reyn_core::request::ChatRequest;
use reyn_core::tool::{Effect, ErrorKind, Outcome, ToolCall, WANTS_PERSON};
use reyn_core::tool_use::{Catalog, Surface, ToolFormat, answer_stream::AnswerStream, enumerate_all};
use reyn_core::turn::{Step, cancel_step, next_step, settle_step};
use reyn_llm::{ModelError, StreamEvent};
use tokio_util::sync::CancellationToken;

use crate::session::{Listener, Session, SessionError, SessionEvent, finish_name};

/// Longest wait for what is remembered.
const RECALL_TIME_MAX: Duration = Duration::from_secs(5);

/// How a turn went.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    /// How it ended.
    pub ending: Ending,
    /// The answer; empty when there is none.
    pub answer: String,
    /// Why the model stopped writing it: an answer can be cut at the token limit or withheld.
    pub finish: Finish,
    /// Tokens of all its model calls.
    pub usage: Usage,
    /// Model calls.
    pub rounds: u32,
    /// Its calls, in order.
    pub calls: Vec<CallReport>,
}

/// How one call went.
#[derive(Debug, Clone, PartialEq)]
pub struct CallReport {
    /// What was asked for.
    pub call: ToolCall,
    /// How it ended.
    pub outcome: Outcome,
}

impl TurnReport {
    /// Whether a call was refused for want of a person.
    #[must_use]
    pub fn wanted_person(&self) -> bool {
        self.calls.iter().any(|call| match &call.outcome {
            Outcome::Ok(output) => output.fields.get(WANTS_PERSON).is_some_and(|value| value == true),
            Outcome::Error(error) => error.wants_person,
        })
    }

    /// The limit that stopped it.
    #[must_use]
    pub const fn limit(&self) -> Option<Limit> {
        match self.ending {
            Ending::Limited { limit } => Some(limit),
            Ending::Answered
            | Ending::Empty
            | Ending::Failed { .. }
            | Ending::Cancelled
            | Ending::Interrupted => None,
        }
    }
}

impl Session {
    /// Says `text` and works until there is an answer, a limit, an error or a cancellation. First puts in
    /// order what a dead process left.
    ///
    /// # Errors
    /// When the log or the audit trail cannot be written. Everything else is an [`Ending`].
    pub async fn turn(
        &mut self,
        text: &str,
        listener: &mut Listener<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, SessionError> {
        self.settle(listener, cancel).await?;
        // A no holds for the turn: with a new message, the person may mean something else.
        self.gate.approvals.forget_refusals();
        self.journal.append(Entry::User { text: text.to_owned() })?;
        let chain_id = self.journal.chain_id();
        self.journal.audit(AuditEvent::TurnStarted { chain_id: chain_id.clone() })?;
        let chars = text.chars().count() as u64;
        self.journal.audit(AuditEvent::UserMessageReceived { chain_id: chain_id.clone(), chars })?;
        self.drive(listener, cancel).await?;
        let report = report(self.journal.log.entries());
        match &report.ending {
            Ending::Answered => {
                self.journal.audit(AuditEvent::TurnCompleted { chain_id: chain_id.clone() })?
            }
            Ending::Cancelled => {
                self.journal.audit(AuditEvent::TurnCancelled { chain_id: chain_id.clone() })?
            }
            Ending::Limited { .. } | Ending::Empty | Ending::Failed { .. } | Ending::Interrupted => {}
        }
        self.journal
            .audit(AuditEvent::TurnSettled { chain_id, ending: ending_name(&report.ending).to_owned() })?;
        self.journal.sync_all()?;
        Ok(report)
    }

    /// Whether the latest call with this id was permitted and had begun to change something.
    fn had_started(&self, call_id: &str) -> bool {
        let since_reply =
            self.journal.log.entries().iter().rev().take_while(|entry| !matches!(entry, Entry::Reply(_)));
        since_reply.into_iter().any(|entry| {
            matches!(entry, Entry::Started { call_id: started, effect: Effect::Changes } if started == call_id)
        })
    }

    /// The calls that the latest reply asks for after this one.
    fn calls_after(&self, call: &ToolCall) -> Vec<ToolCall> {
        let calls = latest_reply(self.journal.log.entries()).map_or(&[][..], |(reply, _)| &reply.calls);
        let at = calls.iter().position(|one| one.id == call.id);
        at.map_or_else(Vec::new, |at| calls[at + 1..].to_vec())
    }

    /// The latest call with this id.
    fn call_of(&self, call_id: &str) -> Option<ToolCall> {
        let mut replies = self.journal.log.entries().iter().rev();
        replies.find_map(|entry| match entry {
            Entry::Reply(reply) => reply.calls.iter().find(|call| call.id == call_id).cloned(),
            Entry::User { .. }
            | Entry::Said { .. }
            | Entry::Started { .. }
            | Entry::Finished { .. }
            | Entry::Nudged
            | Entry::LimitReached { .. }
            | Entry::Ended { .. } => None,
        })
    }

    /// Closes what a dead process left open.
    async fn settle(
        &mut self,
        listener: &mut Listener<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), SessionError> {
        let mut closed_calls = 0;
        let mut was_open = false;
        while let Some(step) = settle_step(self.journal.log.entries()) {
            match step {
                Step::RunCall(call) => {
                    closed_calls += 1;
                    self.run_call(&call, listener, cancel).await?;
                }
                Step::Append(entry) => {
                    if let Entry::Finished { call_id, .. } = &entry {
                        closed_calls += 1;
                        if self.had_started(call_id)
                            && let Some(call) = self.call_of(call_id)
                        {
                            self.gate.recover(&call, cancel).await;
                        }
                    }
                    was_open |= matches!(entry, Entry::Ended { .. });
                    self.journal.append(entry)?;
                }
                Step::CallModel { .. } | Step::Idle => break,
            }
        }
        if was_open {
            let (chain_id, ending) = (self.journal.chain_id(), ending_name(&Ending::Interrupted).to_owned());
            self.journal.audit(AuditEvent::TurnSettled { chain_id, ending })?;
        }
        let session_id = self.id.clone();
        let (damaged_bytes, is_resumed) = (self.damaged_bytes, self.is_resumed);
        self.damaged_bytes = 0;
        if damaged_bytes > 0 || was_open {
            self.journal.audit(AuditEvent::SessionRestored { session_id, damaged_bytes, closed_calls })?;
        } else if !is_resumed {
            self.is_resumed = true;
            self.journal.audit(AuditEvent::SessionStarted { session_id })?;
        }
        Ok(())
    }

    /// Puts into the prompt what is remembered and indexed now. The same until the turn ends, so that what a server keeps of the
    /// prompt stays valid.
    async fn recall(&mut self) {
        let (memory, knowledge) = (self.gate.context.memory().ok(), self.gate.context.knowledge().ok());
        let reading = tokio::task::spawn_blocking(move || {
            (memory.map(|memory| memory.prompt()), knowledge.map(|knowledge| knowledge.sources()))
        });
        // A file system that hangs must not keep the turn from being cancelled; what was known before stays.
        let Ok(Ok((prompt, sources))) = tokio::time::timeout(RECALL_TIME_MAX, reading).await else { return };
        if let Some(prompt) = prompt {
            self.environment.memory = prompt.text;
            self.environment.memory_notes = prompt.notes;
        }
        self.environment.sources = sources.unwrap_or_default();
    }

    async fn drive(
        &mut self,
        listener: &mut Listener<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), SessionError> {
        self.recall().await;
        let catalog = Catalog::visible(self.tools.iter().cloned(), &self.names, &self.gate.authority);
        let surface = enumerate_all::surface(&catalog);
        loop {
            if cancel.is_cancelled() {
                return self.close_cancelled();
            }
            let step = next_step(self.journal.log.entries(), self.limits);
            if is_round(&step) && self.take_said(listener)? {
                continue;
            }
            match step {
                Step::Idle => return Ok(()),
                Step::Append(entry) => self.append_decided(entry)?,
                Step::RunCall(call) => self.run_call(&call, listener, cancel).await?,
                Step::CallModel { offer_tools } => {
                    self.call_model(&surface, offer_tools, listener, cancel).await?;
                }
            }
        }
    }

    /// Writes down what the person said since the last round. Returns whether there was anything.
    fn take_said(&mut self, listener: &mut Listener<'_>) -> Result<bool, SessionError> {
        let said = self.inbox.take();
        for text in &said {
            self.gate.approvals.forget_refusals();
            self.journal.append(Entry::Said { text: text.clone() })?;
            let (chain_id, chars) = (self.journal.chain_id(), text.chars().count() as u64);
            self.journal.audit(AuditEvent::UserMessageReceived { chain_id, chars })?;
            listener(SessionEvent::Said(text));
        }
        Ok(!said.is_empty())
    }

    fn close_cancelled(&mut self) -> Result<(), SessionError> {
        while let Some(entry) = cancel_step(self.journal.log.entries()) {
            self.journal.append(entry)?;
        }
        Ok(())
    }

    fn append_decided(&mut self, entry: Entry) -> Result<(), SessionError> {
        let chain_id = self.journal.chain_id();
        match &entry {
            Entry::Nudged => {
                self.journal.audit(AuditEvent::RouterEmptyResponseDetected { chain_id: chain_id.clone() })?;
                self.journal.audit(AuditEvent::RouterEmptyResponseRetryInjected { chain_id })?;
            }
            Entry::LimitReached { limit } => {
                self.journal.audit(AuditEvent::LimitDenied { chain_id, kind: limit.name().to_owned() })?;
            }
            // A call that is answered without being run.
            Entry::Finished { call_id, outcome } => {
                let calls =
                    latest_reply(self.journal.log.entries()).map_or(&[][..], |(reply, _)| &reply.calls);
                if let Some(call) = calls.iter().find(|call| call.id == *call_id).cloned() {
                    self.journal.audit_outcome(&call, outcome)?;
                }
            }
            Entry::User { .. }
            | Entry::Said { .. }
            | Entry::Reply(_)
            | Entry::Started { .. }
            | Entry::Ended { .. } => {}
        }
        self.journal.append(entry)
    }

    async fn run_call(
        &mut self,
        call: &ToolCall,
        listener: &mut Listener<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), SessionError> {
        let salvaged = latest_reply(self.journal.log.entries()).is_some_and(|(reply, _)| reply.salvaged);
        listener(SessionEvent::ToolStarted(call));
        let later = self.calls_after(call);
        let outcome = self.gate.run(call, salvaged, &later, &mut self.journal, cancel).await?;
        listener(SessionEvent::ToolFinished(call, &outcome));
        self.journal.append(Entry::Finished { call_id: call.id.clone(), outcome })
    }

    /// One round: asks the model and writes down its reply, or how asking failed.
    async fn call_model(
        &mut self,
        surface: &Surface,
        offer_tools: bool,
        listener: &mut Listener<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), SessionError> {
        let chain_id = self.journal.chain_id();
        let model_name = self.model.name().to_owned();
        let tools_count = if offer_tools { surface.callables.len() as u64 } else { 0 };
        self.journal.audit(AuditEvent::LlmCalled {
            model: model_name.clone(),
            chain_id: chain_id.clone(),
            tools_count,
        })?;
        let framing = self.model.framing();
        let request = framing.request(surface, self.journal.log.entries(), &self.environment, offer_tools);
        let mut retries: Vec<AuditEvent> = vec![];
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            result = ask(self.model.as_ref(), &request, framing.format, listener, &mut retries) => Some(result),
        };
        for event in retries {
            self.journal.audit(event)?;
        }
        let Some(result) = result else { return self.close_cancelled() };
        match result {
            Ok(reply) => {
                let is_valid = |call: &ToolCall| self.gate.registry.fits(call);
                let mut reply = framing.read(reply, &is_valid);
                if !offer_tools {
                    reply.calls.clear();
                }
                self.gate.ahead.clear();
                self.append_reply(reply, model_name, chain_id)?;
                if let Some((reply, _)) = latest_reply(self.journal.log.entries()) {
                    listener(SessionEvent::Replied(reply));
                }
                Ok(())
            }
            Err(error) => {
                self.journal.audit(AuditEvent::LlmRequestError {
                    model: model_name.clone(),
                    chain_id,
                    error_kind: error.kind.name().to_owned(),
                    message: told(&error.message),
                })?;
                let message = format!("`{model_name}` gave no answer: {}", error.message);
                let kind = error.kind.name().to_owned();
                self.journal.append(Entry::Ended { ending: Ending::Failed { kind, message } })
            }
        }
    }

    fn append_reply(&mut self, reply: Reply, model: String, chain_id: String) -> Result<(), SessionError> {
        let usage = reply.usage;
        let finish = reply.finish;
        self.journal.append(Entry::Reply(reply))?;
        self.journal.audit(AuditEvent::LlmResponseReceived {
            model,
            chain_id,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            cached_tokens: usage.cached_tokens,
            usage_source: source_name(usage.source).to_owned(),
            finish_reason: finish_name(finish).to_owned(),
        })
    }
}

/// Whether a step asks the model anew, or ends a turn that could go on.
const fn is_round(step: &Step) -> bool {
    matches!(
        step,
        Step::CallModel { offer_tools: true }
            | Step::Append(Entry::Ended { ending: Ending::Answered | Ending::Empty })
    )
}

/// How much of a call is written between two words about it, in bytes.
const CALL_STEP_BYTES: usize = 32;

/// Asks the model, passing on what it says. Under a format that wraps answers in JSON, only the answer's
/// text is passed on.
async fn ask(
    model: &dyn reyn_llm::ChatModel,
    request: &ChatRequest<'_>,
    format: ToolFormat,
    listener: &mut Listener<'_>,
    retries: &mut Vec<AuditEvent>,
) -> Result<reyn_core::request::ChatReply, ModelError> {
    let mut answer = AnswerStream::default();
    let mut written = 0;
    let mut on_event = |event: StreamEvent<'_>| match event {
        StreamEvent::Text(piece) => match format {
            ToolFormat::Native => listener(SessionEvent::Delta(piece)),
            ToolFormat::Text | ToolFormat::Constrained => {
                let text = answer.push(piece);
                let before = written;
                written += piece.len();
                if !text.is_empty() {
                    listener(SessionEvent::Delta(&text));
                } else if written / CALL_STEP_BYTES > before / CALL_STEP_BYTES
                    && let Some(name) = answer.call()
                {
                    listener(SessionEvent::Progress(&format!("writing `{name}`, {written} bytes")));
                }
            }
        },
        StreamEvent::Retry { attempt, error, wait } => {
            (answer, written) = (AnswerStream::default(), 0);
            retries.push(AuditEvent::LlmCallRetry {
                model: model.name().to_owned(),
                attempt_n: attempt,
                error_kind: error.kind.name().to_owned(),
                backoff_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            });
            listener(SessionEvent::Retry { attempt, error, wait });
        }
        StreamEvent::Progress(text) => listener(SessionEvent::Progress(text)),
    };
    model.reply(request, &mut on_event).await
}

/// How the latest turn of a log went.
#[must_use]
pub fn report(log: &[Entry]) -> TurnReport {
    let turn = current_turn(log);
    let mut calls = vec![];
    let mut rounds = 0;
    for (at, entry) in turn.iter().enumerate() {
        if let Entry::Reply(reply) = entry {
            rounds += 1;
            let after = &turn[at + 1..];
            let next = after.iter().position(|entry| matches!(entry, Entry::Reply(_))).unwrap_or(after.len());
            calls.extend(reply.calls.iter().filter_map(|call| {
                let outcome = outcome_of(&after[..next], &call.id)?.clone();
                Some(CallReport { call: call.clone(), outcome })
            }));
        }
    }
    let ending = match turn.last() {
        Some(Entry::Ended { ending }) => ending.clone(),
        Some(
            Entry::User { .. }
            | Entry::Said { .. }
            | Entry::Reply(_)
            | Entry::Started { .. }
            | Entry::Finished { .. }
            | Entry::Nudged
            | Entry::LimitReached { .. },
        )
        | None => Ending::Interrupted,
    };
    let has_answer = matches!(ending, Ending::Answered | Ending::Limited { .. });
    let (answer, finish) = match latest_reply(turn) {
        Some((reply, _)) if has_answer => (reply.text.clone(), reply.finish),
        Some(_) | None => (String::new(), Finish::Stop),
    };
    TurnReport { ending, answer, finish, usage: usage_of(turn), rounds, calls }
}

/// The name that results and events carry.
#[must_use]
pub const fn ending_name(ending: &Ending) -> &'static str {
    match ending {
        Ending::Answered => "answered",
        Ending::Limited { .. } => "limited",
        Ending::Empty => "empty",
        Ending::Failed { .. } => "failed",
        Ending::Cancelled => "cancelled",
        Ending::Interrupted => "interrupted",
    }
}

const fn source_name(source: UsageSource) -> &'static str {
    match source {
        UsageSource::Provider => "provider",
        UsageSource::Estimated => "estimated",
        UsageSource::Unknown => "unknown",
    }
}

/// Whether an outcome means that the person must be told in the end.
#[must_use]
pub fn is_refusal(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Ok(_) => false,
        Outcome::Error(error) => matches!(error.kind, ErrorKind::PermissionDenied | ErrorKind::ToolExcluded),
    }
}
