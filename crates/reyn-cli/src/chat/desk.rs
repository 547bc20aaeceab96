//! The session's side of a chat: runs turns and commands, one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reyn_core::capability::Effective;
use reyn_core::conversation::{Ending, Entry, latest_reply};
use reyn_core::limits::CHAT_ROUNDS_MAX;
use reyn_runtime::gate::{Answer, Person, Question};
use reyn_runtime::{Session, SessionEvent, Sessions};
use reyn_terminal::Line;
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::names::Names;
use super::status::Status;
use super::turn_view::{ending_lines, news};
use super::ui::Ui;
use super::wire::{News, Wish};
use super::{shell_line, slash};
use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::model_choice::Choice;
use crate::opening::{self, Opening};
use crate::wiring::Project;

/// Everything a command may use.
pub(crate) struct Desk {
    pub project: Project,
    pub run: RunArgs,
    pub authority: Effective,
    pub choice: Choice,
    pub session: Session,
    pub status: Status,
    pub names: Names,
    pub ui: Ui,
    /// Who is asked.
    pub person: PersonKind,
    /// Whether a command failed.
    pub has_failed: bool,
}

/// Who answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PersonKind {
    /// Whoever sits before the screen.
    Screen,
    /// Whoever sits at a plain terminal.
    Terminal,
    /// Nobody.
    Nobody,
}

/// What follows a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The next one.
    Stay,
    /// The end.
    Leave,
}

/// Asks through the screen.
struct AtScreen(Ui);

impl Person for AtScreen {
    fn ask<'a>(&'a mut self, question: &'a Question) -> BoxFuture<'a, Answer> {
        async move {
            let (answer, answered) = oneshot::channel();
            self.0.tell(News::Ask(Box::new(question.clone()), answer));
            // A screen that goes away takes its answer with it.
            answered.await.unwrap_or(Answer::NO)
        }
        .boxed()
    }
}

impl PersonKind {
    pub(crate) fn person(self, ui: &Ui) -> Option<Box<dyn Person>> {
        match self {
            Self::Screen => Some(Box::new(AtScreen(ui.clone()))),
            Self::Terminal => Some(Box::new(crate::person::AtTerminal)),
            Self::Nobody => None,
        }
    }
}

/// Opens a session for a chat, with the note of what was found damaged.
pub(crate) fn open(
    project: &Project,
    run: &RunArgs,
    choice: &Choice,
    authority: Effective,
    person: Option<Box<dyn Person>>,
    id: String,
) -> Result<(Session, Option<String>), Failure> {
    let opening = Opening { run, model: Arc::clone(&choice.model), person, rounds_max: CHAT_ROUNDS_MAX };
    let (session, report) = opening.open(project, authority, id)?;
    Ok((session, opening::damage(&report)))
}

/// Removes a session in which nothing was said. That it stays is no harm.
pub(crate) fn forget_if_empty(project: &Project, session: Session) {
    if session.log().is_empty() {
        let id = session.id().to_owned();
        drop(session);
        let _ = Sessions::new(&project.state()).remove(&id, Timestamp::now());
    }
}

/// The status of a session that was just opened.
pub(crate) fn fresh_status(choice: &Choice, session: &Session) -> Status {
    let latest = latest_reply(session.log()).map(|(reply, _)| reply.usage);
    Status {
        model: choice.model.name().to_owned(),
        context_tokens: latest.map_or(0, |usage| usage.prompt_tokens.saturating_add(usage.completion_tokens)),
        context_tokens_max: choice.context_tokens,
        usage: None,
        dollars: None,
        unpriced_rounds: 0,
        session: session.id().to_owned(),
    }
}

impl Desk {
    /// Goes on with another session, or begins it. What was spent stays on the account of this process.
    pub(crate) fn switch_to(&mut self, id: String) -> Result<Option<String>, Failure> {
        let person = self.person.person(&self.ui);
        let (session, note) =
            open(&self.project, &self.run, &self.choice, self.authority.clone(), person, id)?;
        let before = std::mem::replace(&mut self.session, session);
        forget_if_empty(&self.project, before);
        let fresh = fresh_status(&self.choice, &self.session);
        let Status { usage, dollars, unpriced_rounds, .. } = self.status;
        self.status = Status { usage, dollars, unpriced_rounds, ..fresh };
        self.ui.status(&self.status);
        Ok(note)
    }

    /// Does what the person wants until they leave, or `leave` is cancelled. The exit code is that of an
    /// interruption when it was.
    pub(crate) async fn serve(
        &mut self,
        wishes: &mut Receiver<Wish>,
        leave: &CancellationToken,
    ) -> Result<Exit, Failure> {
        let mut waiting: VecDeque<Wish> = VecDeque::new();
        loop {
            let wish = match waiting.pop_front() {
                Some(wish) => wish,
                None => tokio::select! {
                    biased;
                    () = leave.cancelled() => return Ok(Exit::Interrupted),
                    wish = wishes.recv() => match wish {
                        Some(wish) => wish,
                        None => return Ok(Exit::Done),
                    },
                },
            };
            let after = match wish {
                Wish::Say(text) => self.turn(&text, wishes, &mut waiting, leave).await?,
                Wish::Command(line) if line.trim_start().starts_with('!') => {
                    self.shell_line(&line, wishes, &mut waiting, leave).await?
                }
                Wish::Command(line) => {
                    self.ui.tell(News::Said(line.clone()));
                    slash::run(self, &line).await
                }
                Wish::Cancel => After::Stay,
                Wish::Leave => After::Leave,
            };
            if leave.is_cancelled() {
                return Ok(Exit::Interrupted);
            }
            if after == After::Leave {
                return Ok(Exit::Done);
            }
        }
    }

    /// Runs a command of the person's own. What they say meanwhile waits for its end.
    async fn shell_line(
        &mut self,
        line: &str,
        wishes: &mut Receiver<Wish>,
        waiting: &mut VecDeque<Wish>,
        leave: &CancellationToken,
    ) -> Result<After, Failure> {
        self.ui.tell(News::Said(line.to_owned()));
        self.ui.tell(News::TurnBegan);
        self.ui.tell(News::Progress(format!("running {}", line.trim_start_matches('!').trim())));
        let cancel = leave.child_token();
        let ui = self.ui.clone();
        let mut after = After::Stay;
        let running = shell_line::run(self, line, &cancel);
        tokio::pin!(running);
        let result = loop {
            tokio::select! {
                biased;
                result = &mut running => break result,
                wish = wishes.recv() => match wish {
                    Some(Wish::Cancel) => cancel.cancel(),
                    Some(Wish::Leave) | None => {
                        after = After::Leave;
                        cancel.cancel();
                    }
                    Some(later @ (Wish::Say(_) | Wish::Command(_))) => waiting.push_back(later),
                },
            }
        };
        ui.tell(News::TurnEnded { notes: vec![], back: vec![] });
        result.map(|()| after)
    }

    /// Runs a turn. What the person says meanwhile joins its next round; commands wait for its end.
    async fn turn(
        &mut self,
        text: &str,
        wishes: &mut Receiver<Wish>,
        waiting: &mut VecDeque<Wish>,
        leave: &CancellationToken,
    ) -> Result<After, Failure> {
        self.ui.tell(News::Said(text.to_owned()));
        self.ui.tell(News::TurnBegan);
        let cancel = leave.child_token();
        let inbox = self.session.inbox();
        let mut after = After::Stay;
        let (ui, status, price) = (self.ui.clone(), &mut self.status, self.choice.price);
        let mut listener = |event: SessionEvent<'_>| {
            if let SessionEvent::Replied(reply) = &event {
                status.count(reply.usage, price);
                ui.status(status);
            }
            if let Some(news) = news(&event) {
                ui.tell(news);
            }
        };
        let report = {
            let turn = self.session.turn(text, &mut listener, &cancel);
            tokio::pin!(turn);
            loop {
                tokio::select! {
                    biased;
                    report = &mut turn => break report,
                    wish = wishes.recv() => match wish {
                        Some(Wish::Say(text)) => {
                            // What is said after a command is meant for what the command leaves.
                            if !waiting.is_empty() || !inbox.put(&text) {
                                waiting.push_back(Wish::Say(text));
                            }
                        }
                        Some(command @ Wish::Command(_)) => waiting.push_back(command),
                        Some(Wish::Cancel) => cancel.cancel(),
                        Some(Wish::Leave) | None => {
                            after = After::Leave;
                            cancel.cancel();
                        }
                    },
                }
            }
        };
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                self.ui.tell(News::TurnEnded { notes: vec![], back: vec![] });
                return Err(opening::broken(error));
            }
        };
        let mut left: Vec<String> = inbox.take();
        let mut back = vec![];
        if report.ending == Ending::Cancelled {
            // Whoever stops the model may not want it to go on with the rest.
            back.append(&mut left);
            let (said, others): (VecDeque<Wish>, VecDeque<Wish>) =
                waiting.drain(..).partition(|wish| matches!(wish, Wish::Say(_)));
            *waiting = others;
            back.extend(said.into_iter().filter_map(|wish| match wish {
                Wish::Say(text) => Some(text),
                Wish::Command(_) | Wish::Cancel | Wish::Leave => None,
            }));
        } else if !left.is_empty() {
            waiting.push_front(Wish::Say(left.join("\n\n")));
        }
        self.ui.tell(News::TurnEnded { notes: ending_lines(&report), back });
        Ok(after)
    }

    /// Prints what a command found, on a page of its own where it is long.
    pub(crate) fn show(&self, title: &str, lines: Vec<Line>) {
        self.ui.show(title, lines);
    }

    /// Prints lines.
    pub(crate) fn print(&self, lines: Vec<Line>) {
        self.ui.print(lines);
    }

    /// Turns of the session.
    pub(crate) fn turns(&self) -> usize {
        self.session.log().iter().filter(|entry| matches!(entry, Entry::User { .. })).count()
    }
}
