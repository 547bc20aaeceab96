//! A question to the person: it takes one letter, and not one that was typed before it was seen.

use std::time::{Duration, Instant};

use reyn_runtime::gate::{Answer, Change, Question};
use reyn_terminal::{Colour, Input, Key, KeyCode, Line, Style, wrap};
use tokio::sync::oneshot;

use super::page::lines_of;
use super::{Front, Kind, YELLOW, diff_part};
use crate::approval::{Reply, change_size, choices, one_line, sentence, visible_diff, warning};
use crate::output;

/// How long the keyboard must have been quiet before a letter is an answer: what a person types when a
/// question comes up is meant for the input.
const QUIET_MS: u64 = 500;
/// The same after a letter that answered: a key that is held down begins to repeat after two thirds of a
/// second.
const RELEASED_MS: u64 = 1_000;
/// How long a letter must stay alone to be an answer. What is pasted comes faster, and not every terminal says
/// that it is pasted.
const ALONE_MS: u64 = 100;
/// Rows of the sentence that stands above the letters.
const SENTENCE_ROWS_MAX: usize = 4;

/// A question that is open.
pub(super) struct Asking {
    question: Question,
    answer: Option<oneshot::Sender<Answer>>,
    since: Instant,
    is_armed: bool,
    /// The letter that may be the answer, and when it came.
    letter: Option<(char, Instant)>,
    /// Whether the input is the reason for a no.
    is_reason: bool,
    /// What stood in the input before the question took it.
    draft: Option<String>,
}

impl Asking {
    /// How long until a letter is an answer; `None` when it is.
    pub(super) fn until_armed(
        &self,
        last_key: Instant,
        last_answer: Option<Instant>,
        now: Instant,
    ) -> Option<Duration> {
        let quiet_at = self.since.max(last_key) + Duration::from_millis(QUIET_MS);
        let released_at = last_answer.map(|at| at + Duration::from_millis(RELEASED_MS));
        let quiet_at = released_at.map_or(quiet_at, |released_at| quiet_at.max(released_at));
        (!self.is_armed).then(|| quiet_at.saturating_duration_since(now))
    }

    /// How long until the letter that came is the answer.
    pub(super) fn until_answered(&self, now: Instant) -> Option<Duration> {
        self.letter.map(|(_, at)| (at + Duration::from_millis(ALONE_MS)).saturating_duration_since(now))
    }

    /// What stands before the input.
    pub(super) const fn prompt(&self) -> &'static str {
        if self.is_reason { "why not? " } else { "› " }
    }
}

impl Front {
    pub(super) fn ask(&mut self, question: Question, answer: oneshot::Sender<Answer>) {
        let mut lines = vec![];
        let mut head = Line::styled("? ", Style::of(Colour::Yellow).bold());
        head.push(&sentence(&question.tool, question.deed.verb(), &question.place), Style::BOLD);
        lines.push(head);
        lines.push(Line::styled(&format!("  asked because {}", one_line(&question.rule)), Style::DIM));
        let details = question.details.iter();
        lines.extend(
            details.map(|detail| Line::styled(&format!("  {}", output::visible(detail)), Style::PLAIN)),
        );
        lines.extend(Self::change(question.change.as_ref()));
        for waiting in &question.waiting {
            let mut line = Line::styled("  then ", Style::DIM);
            line.push(&sentence(&waiting.tool, waiting.deed.verb(), &waiting.place), Style::PLAIN);
            if let Some(Change::Diff(change)) = &waiting.change {
                line.push(&format!("  {}", change_size(change)), Style::DIM);
            }
            lines.push(line);
        }
        if !question.waiting.is_empty() {
            lines.push(Line::styled("  ctrl-O shows each change", Style::DIM));
        }
        self.print(Kind::Question, lines);
        let since = Instant::now();
        let answer = Some(answer);
        self.asking = Some(Asking {
            question,
            answer,
            since,
            is_armed: false,
            letter: None,
            is_reason: false,
            draft: None,
        });
    }

    fn change(change: Option<&Change>) -> Vec<Line> {
        match change {
            Some(Change::Diff(change)) => {
                let mut lines = diff_part(&change.excerpt, change.all());
                let warning = warning(change).map(|warning| Line::styled(&format!("    {warning}"), YELLOW));
                lines.extend(warning);
                lines
            }
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

    /// What is asked, and the letters that answer it. While they are not shown, none counts.
    pub(super) fn question_rows(&self, columns: usize) -> Vec<Line> {
        let Some(asking) = self.asking.as_ref().filter(|asking| !asking.is_reason) else { return vec![] };
        let mut rows = sentence_rows(&asking.question, columns);
        if !self.editor.is_empty() {
            rows.push(Line::styled("  tab sets your text aside and takes the answer", Style::DIM));
        } else if asking.is_armed {
            rows.extend(letter_rows(&asking.question, columns));
        }
        rows
    }

    /// Whether a letter is an answer now: the question is there to be read, all of it, nothing half typed
    /// stands in the input, and the keyboard was quiet.
    fn takes_letters(&self) -> bool {
        let is_open = self.asking.as_ref().is_some_and(|asking| asking.is_armed && !asking.is_reason);
        let fits = self.question_rows(self.screen.columns()).len() < self.screen.rows();
        is_open && fits && self.editor.is_empty() && self.resized.is_none()
    }

    /// Lets letters count when the keyboard has been quiet for long enough, with nothing over the question.
    pub(super) fn arm_question(&mut self, now: Instant) {
        if self.page.is_none()
            && self.resized.is_none()
            && let Some(asking) = &mut self.asking
            && asking.until_armed(self.last_key, self.last_answer, now).is_some_and(|wait| wait.is_zero())
        {
            asking.is_armed = true;
        }
    }

    /// Has the person look at the question anew: something was over it, or it moved.
    pub(super) fn disarm_question(&mut self) {
        if let Some(asking) = &mut self.asking {
            asking.is_armed = false;
            asking.letter = None;
            asking.since = Instant::now();
        }
    }

    /// Takes the letter that stayed alone as the answer.
    pub(super) fn take_lone_letter(&mut self, now: Instant) {
        let letter = self.asking.as_mut().and_then(|asking| {
            let is_alone = asking.until_answered(now).is_some_and(|wait| wait.is_zero());
            asking.letter.take_if(|_| is_alone)
        });
        if let Some((letter, _)) = letter
            && self.takes_letters()
        {
            self.take_letter(letter);
        }
    }

    /// What comes right behind a letter makes it a part of a text, which is meant for the input.
    fn unsettle_letter(&mut self, input: &Input) -> bool {
        let Some((letter, _)) = self.asking.as_mut().and_then(|asking| asking.letter.take()) else {
            return false;
        };
        self.disarm_question();
        if matches!(input, Input::Key(Key { code: KeyCode::Enter, .. })) {
            self.hint("one letter answers, by itself", false);
            return true;
        }
        self.editor.set_text(&letter.to_string());
        false
    }

    /// Takes a key that is about the question. Returns `false` when it is meant for the input.
    pub(super) fn take_answer_key(&mut self, input: &Input) -> bool {
        if self.unsettle_letter(input) {
            return true;
        }
        let takes_letters = self.takes_letters();
        let Some(asking) = self.asking.as_mut().filter(|asking| !asking.is_reason) else { return false };
        let Input::Key(key) = input else { return false };
        match key.code {
            KeyCode::Char('c') if key.is_control => {
                self.cancel();
                return true;
            }
            KeyCode::Char('o') if key.is_control => {
                self.page_question();
                return true;
            }
            KeyCode::Tab if !self.editor.is_empty() => {
                asking.draft = Some(self.editor.take());
                self.disarm_question();
                return true;
            }
            _ if !takes_letters => return false,
            KeyCode::Esc => self.answer(Answer::NO, "no"),
            KeyCode::Char(letter) if !key.is_control && !key.is_alt => {
                asking.letter = Some((letter, Instant::now()));
            }
            KeyCode::Char(_)
            | KeyCode::Enter
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
            | KeyCode::Other => {}
        }
        true
    }

    fn take_letter(&mut self, letter: char) {
        let Some(asking) = &mut self.asking else { return };
        let letter = letter.to_ascii_lowercase();
        let choice = choices(&asking.question).into_iter().find(|choice| choice.key == letter);
        match choice.map(|choice| (choice.reply, choice.label)) {
            Some((Reply::Answer(answer), label)) => self.answer(answer, &label),
            Some((Reply::AskWhy, _)) => asking.is_reason = true,
            None => self.hint("type one of the letters; esc is no", false),
        }
    }

    fn answer(&mut self, answer: Answer, label: &str) {
        let Some(mut asking) = self.asking.take() else { return };
        self.last_answer = Some(Instant::now());
        if let Some(draft) = asking.draft.take() {
            self.editor.set_text(&draft);
        }
        if !matches!(answer, Answer::No { .. }) {
            let waiting = asking.question.waiting.iter().filter(|_| answer == Answer::All);
            let changes = std::iter::once(&asking.question.change).chain(waiting.map(|one| &one.change));
            self.shown_diffs = changes
                .filter_map(|change| match change {
                    Some(Change::Diff(change)) => Some(change.excerpt.clone()),
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
        self.asking.as_ref().is_some_and(|asking| asking.is_reason)
    }

    pub(super) fn refuse_because(&mut self, reason: String) {
        let label = format!("no: {}", one_line(&reason));
        self.answer(Answer::No { reason: Some(reason) }, &label);
    }

    /// Back from the reason to the letters.
    pub(super) fn withdraw_reason(&mut self) {
        self.editor.set_text("");
        if let Some(asking) = &mut self.asking {
            asking.is_reason = false;
        }
        self.disarm_question();
    }

    /// The question is gone: the turn is over. What the person had typed is theirs again.
    pub(super) fn withdraw_question(&mut self) {
        let Some(asking) = self.asking.take() else { return };
        if asking.is_reason {
            self.editor.set_text("");
        }
        if let Some(draft) = asking.draft {
            self.editor.set_text(&draft);
        }
    }

    /// Every change of the question in full.
    fn page_question(&mut self) {
        let Some(asking) = &self.asking else { return };
        let question = &asking.question;
        let first = (sentence(&question.tool, question.deed.verb(), &question.place), &question.change);
        let waiting = question
            .waiting
            .iter()
            .map(|one| (sentence(&one.tool, one.deed.verb(), &one.place), &one.change));
        let mut lines = vec![];
        let mut details = question.details.clone();
        for (words, change) in std::iter::once(first).chain(waiting) {
            lines.push(Line::styled(&words, Style::BOLD));
            for detail in std::mem::take(&mut details) {
                lines.push(Line::plain(&output::visible(&detail)));
            }
            match change {
                Some(Change::Diff(change)) => {
                    lines.extend(lines_of(&visible_diff(change.all())));
                    lines.extend(warning(change).map(|warning| Line::styled(warning, YELLOW)));
                }
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

/// The question in one sentence. Of one that is very long, its beginning and its end.
fn sentence_rows(question: &Question, columns: usize) -> Vec<Line> {
    let mut head = Line::styled("? ", Style::of(Colour::Yellow).bold());
    head.push(&sentence(&question.tool, question.deed.verb(), &question.place), Style::BOLD);
    let mut rows = wrap(&head, columns, 2);
    if rows.len() > SENTENCE_ROWS_MAX {
        let left_out = Line::styled("  …", Style::DIM);
        rows.splice(SENTENCE_ROWS_MAX / 2..rows.len() - SENTENCE_ROWS_MAX / 2 + 1, [left_out]);
    }
    rows
}

/// The letters and what they mean, as many in a row as fit.
fn letter_rows(question: &Question, columns: usize) -> Vec<Line> {
    let mut rows: Vec<Line> = vec![];
    for choice in choices(question) {
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
