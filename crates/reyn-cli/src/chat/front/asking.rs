//! A question to the person: it takes one letter, and not one that was typed before it was seen.

use std::time::{Duration, Instant};

use reyn_runtime::gate::{Answer, Change, Question};
use reyn_terminal::{Colour, Input, KeyCode, Line, Style, wrap};
use tokio::sync::oneshot;

use super::page::lines_of;
use super::{Front, Kind};
use crate::approval::{self, Reply, choices, diff_size, one_line, sentence, visible_diff};
use crate::chat::wire::Wish;

/// How long the keyboard must have been quiet before a letter is an answer: what a person types when a
/// question comes up is meant for the input.
const QUIET_MS: u64 = 300;

/// A question that is open.
pub(super) struct Asking {
    question: Question,
    answer: Option<oneshot::Sender<Answer>>,
    since: Instant,
    is_armed: bool,
    /// While the person says why not: what stood in the input before.
    draft: Option<String>,
}

impl Asking {
    /// How long until a letter is an answer; `None` when it is.
    pub(super) fn until_armed(&self, last_key: Instant, now: Instant) -> Option<Duration> {
        let quiet_at = self.since.max(last_key) + Duration::from_millis(QUIET_MS);
        (!self.is_armed).then(|| quiet_at.saturating_duration_since(now))
    }

    /// What stands before the input.
    pub(super) const fn prompt(&self) -> &'static str {
        if self.draft.is_some() { "why not? " } else { "› " }
    }
}

impl Front {
    pub(super) fn ask(&mut self, question: Question, answer: oneshot::Sender<Answer>) {
        let mut lines = vec![];
        let mut head = Line::styled("? ", Style::of(Colour::Yellow).bold());
        head.push(&sentence(&question.tool, question.op.verb(), &question.place), Style::BOLD);
        lines.push(head);
        lines.push(Line::styled(&format!("  asked because {}", one_line(&question.rule)), Style::DIM));
        lines.extend(self.change(question.change.as_ref()));
        for waiting in &question.waiting {
            let mut line = Line::styled("  then ", Style::DIM);
            line.push(&sentence(&waiting.tool, waiting.op.verb(), &waiting.place), Style::PLAIN);
            if let Some(Change::Diff(diff)) = &waiting.change {
                line.push(&format!("  {}", diff_size(diff)), Style::DIM);
            }
            lines.push(line);
        }
        if !question.waiting.is_empty() {
            lines.push(Line::styled("  ctrl-O shows every change in full", Style::DIM));
        }
        self.print(Kind::Question, lines);
        let since = Instant::now();
        self.asking = Some(Asking { question, answer: Some(answer), since, is_armed: false, draft: None });
    }

    fn change(&self, change: Option<&Change>) -> Vec<Line> {
        match change {
            Some(Change::Diff(diff)) => self.diff(diff),
            Some(Change::NotShown(reason)) => {
                vec![Line::styled(&format!("    the change is not shown: {reason}"), Style::DIM)]
            }
            None => vec![],
        }
    }

    /// Whether a change is the one that the person has just decided on.
    pub(super) fn was_just_shown(&mut self, diff: &str) -> bool {
        self.shown_diffs
            .iter()
            .position(|shown| shown == diff)
            .map(|at| self.shown_diffs.remove(at))
            .is_some()
    }

    /// The letters and what they mean; nothing before a letter counts.
    pub(super) fn question_rows(&self, columns: usize) -> Vec<Line> {
        let Some(asking) = self.asking.as_ref().filter(|asking| asking.is_armed && asking.draft.is_none())
        else {
            return vec![];
        };
        let mut rows: Vec<Line> = vec![];
        for choice in choices(&asking.question) {
            let mut shown = Line::plain("  ");
            shown.push(&format!("[{}]", choice.key), Style::of(Colour::Yellow).bold());
            shown.push(&format!(" {}", choice.label), Style::PLAIN);
            match rows.last_mut().filter(|row| row.width() + shown.width() <= columns) {
                Some(row) => row.append(&shown),
                None => rows.extend(wrap(&shown, columns, 4)),
            }
        }
        rows
    }

    /// Lets letters count when the keyboard has been quiet for long enough.
    pub(super) fn arm_question(&mut self, now: Instant) {
        if let Some(asking) = &mut self.asking
            && asking.until_armed(self.last_key, now).is_some_and(|wait| wait.is_zero())
        {
            asking.is_armed = true;
        }
    }

    /// Takes a key that answers. Returns `false` when it is meant for something else.
    pub(super) fn take_answer_key(&mut self, input: &Input) -> bool {
        let Some(asking) = self.asking.as_ref().filter(|asking| asking.is_armed && asking.draft.is_none())
        else {
            return false;
        };
        let Input::Key(key) = input else { return false };
        match key.code {
            KeyCode::Char('c') if key.is_control => {
                self.wish(Wish::Cancel);
                true
            }
            KeyCode::Char('o') if key.is_control => {
                self.page_question();
                true
            }
            KeyCode::Char(_) if key.is_control || key.is_alt => false,
            KeyCode::Esc => {
                self.answer(Answer::NO, "no");
                true
            }
            KeyCode::Char(letter) => {
                match approval::reply_of(&asking.question, letter) {
                    Some(Reply::Answer(answer)) => {
                        let label = choices(&asking.question)
                            .into_iter()
                            .find(|choice| choice.key == letter.to_ascii_lowercase())
                            .map(|choice| choice.label)
                            .unwrap_or_default();
                        self.answer(answer, &label);
                    }
                    Some(Reply::AskWhy) => {
                        let draft = self.editor.take();
                        if let Some(asking) = &mut self.asking {
                            asking.draft = Some(draft);
                        }
                    }
                    None => self.hint("type one of the letters; esc is no", false),
                }
                true
            }
            KeyCode::Enter
            | KeyCode::Tab
            | KeyCode::BackTab
            | KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Home
            | KeyCode::End
            | KeyCode::PageUp
            | KeyCode::PageDown
            | KeyCode::Other => true,
        }
    }

    fn answer(&mut self, answer: Answer, label: &str) {
        let Some(mut asking) = self.asking.take() else { return };
        if let Some(draft) = asking.draft.take() {
            self.editor.set_text(&draft);
        }
        if !matches!(answer, Answer::No { .. }) {
            let waiting = asking.question.waiting.iter().filter(|_| answer == Answer::All);
            let changes = std::iter::once(&asking.question.change).chain(waiting.map(|one| &one.change));
            self.shown_diffs = changes
                .filter_map(|change| match change {
                    Some(Change::Diff(diff)) => Some(diff.clone()),
                    Some(Change::NotShown(_)) | None => None,
                })
                .collect();
        }
        // The answer belongs to its question.
        self.last = Kind::Call;
        self.print(Kind::Call, vec![Line::styled(&format!("  {label}"), Style::DIM)]);
        if let Some(sender) = asking.answer.take() {
            // Whoever asked may have gone meanwhile; then nothing was decided.
            let _ = sender.send(answer);
        }
    }

    /// Whether the input is a reason for a no.
    pub(super) fn is_reason(&self) -> bool {
        self.asking.as_ref().is_some_and(|asking| asking.draft.is_some())
    }

    pub(super) fn refuse_because(&mut self, reason: String) {
        let label = format!("no: {}", one_line(&reason));
        self.answer(Answer::No { reason: Some(reason) }, &label);
    }

    /// Back from the reason to the letters.
    pub(super) fn withdraw_reason(&mut self) {
        if let Some(draft) = self.asking.as_mut().and_then(|asking| asking.draft.take()) {
            self.editor.set_text(&draft);
        }
    }

    /// The question is gone: the turn is over.
    pub(super) fn withdraw_question(&mut self) {
        self.withdraw_reason();
        self.asking = None;
    }

    /// Every change of the question in full.
    fn page_question(&mut self) {
        let Some(asking) = &self.asking else { return };
        let question = &asking.question;
        let first = (sentence(&question.tool, question.op.verb(), &question.place), &question.change);
        let waiting =
            question.waiting.iter().map(|one| (sentence(&one.tool, one.op.verb(), &one.place), &one.change));
        let mut lines = vec![];
        for (words, change) in std::iter::once(first).chain(waiting) {
            lines.push(Line::styled(&words, Style::BOLD));
            match change {
                Some(Change::Diff(diff)) => lines.extend(lines_of(&visible_diff(diff))),
                Some(Change::NotShown(reason)) => {
                    lines.push(Line::plain(&format!("the change is not shown: {reason}")));
                }
                None => {}
            }
            lines.push(Line::new());
        }
        self.open_page("what is asked".to_owned(), lines);
    }
}
