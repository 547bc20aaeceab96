//! Asks the person at the terminal.

use std::io::{BufRead, IsTerminal};

use futures::FutureExt;
use futures::future::BoxFuture;
use reyn_core::limits::DIFF_LINES_SHOWN;
use reyn_runtime::gate::{Answer, Change, Person, Question};
use reyn_terminal::diff_lines;

use crate::approval::{self, Reply, choices, one_line, sentence, warning};
use crate::output;

/// Attempts to understand an answer before it counts as no.
const ATTEMPTS_MAX: usize = 3;
/// Times that one question shows its change whole.
const VIEWS_MAX: usize = 20;

/// The letter that shows a change whole.
const VIEW: char = 'v';

/// Whoever sits at the terminal.
pub(crate) struct AtTerminal;

/// Whether somebody can be asked: both the questions and the answers go through a terminal.
pub(crate) fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

impl Person for AtTerminal {
    fn ask<'a>(&'a mut self, question: &'a Question) -> BoxFuture<'a, Answer> {
        async move {
            output::note_part(&words(question));
            let (mut attempts, mut views) = (0, 0);
            while attempts < ATTEMPTS_MAX && views < VIEWS_MAX {
                forget_typed_ahead();
                output::note_part(&offer(question));
                match answer_line().await.as_deref().map(|line| reply(line, question)) {
                    None => return Answer::NO,
                    Some(Some(Said::Reply(Reply::Answer(answer)))) => return answer,
                    Some(Some(Said::Reply(Reply::AskWhy))) => return Answer::No { reason: why().await },
                    Some(Some(Said::View)) => {
                        let change = change_words(question.change.as_ref(), Part::Whole);
                        output::note_part(&(change + &waiting_words(question, Part::Whole)));
                        views += 1;
                    }
                    Some(None) => {
                        output::note("please type one of the letters");
                        attempts += 1;
                    }
                }
            }
            Answer::NO
        }
        .boxed()
    }
}

/// The line that is typed behind a question; `None` at the end of the input.
pub(crate) async fn answer_line() -> Option<String> {
    let mut open_line = OpenLine(true);
    // A thread of its own, so that ctrl-C is heard while it waits for a line.
    let line = tokio::task::spawn_blocking(read_line).await.ok().flatten();
    open_line.0 = line.is_none();
    line
}

/// Ends the line of a question that nobody answered, so that what is said next begins a line.
struct OpenLine(bool);

impl Drop for OpenLine {
    fn drop(&mut self) {
        if self.0 {
            output::note("");
        }
    }
}

/// Drops what was typed before the question was seen: it was meant for something else.
pub(crate) fn forget_typed_ahead() {
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
}

fn read_line() -> Option<String> {
    let mut line = String::new();
    let taken = std::io::stdin().lock().read_line(&mut line).ok()?;
    (taken > 0).then_some(line)
}

/// What the person says about a no; nothing when they say nothing.
async fn why() -> Option<String> {
    output::note_part("  why not? ");
    tokio::task::spawn_blocking(read_line).await.ok().flatten()
}

/// What a line of the person comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Reply(Reply),
    /// They want to see the change whole.
    View,
}

fn words(question: &Question) -> String {
    let mut text = format!(
        "\n{}\n  asked because {}\n",
        output::bold(&sentence(&question.tool, question.deed.verb(), &question.place)),
        one_line(&question.rule)
    );
    for detail in &question.details {
        text.push_str(&format!("  {}\n", output::visible(detail)));
    }
    text.push_str(&change_words(question.change.as_ref(), Part::First));
    if let Some(Change::Diff(change)) = &question.change {
        output::remember_diff(&change.excerpt);
    }
    text + &waiting_words(question, Part::First)
}

/// How much of a change is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    First,
    Whole,
}

fn change_words(change: Option<&Change>, part: Part) -> String {
    let change = match change {
        Some(Change::Diff(change)) => change,
        Some(Change::NotShown(reason)) => return format!("    the change is not shown: {reason}\n"),
        None => return String::new(),
    };
    let mut text = match part {
        Part::First => output::diff_part(&change.excerpt, change.all(), DIFF_LINES_SHOWN),
        Part::Whole => output::diff_part(change.all(), change.all(), usize::MAX),
    };
    if let Some(warning) = warning(change) {
        text.push_str(&format!("    {warning}\n"));
    }
    text
}

fn waiting_words(question: &Question, part: Part) -> String {
    let mut text = String::new();
    for waiting in &question.waiting {
        text.push_str(&format!("  then {}\n", sentence(&waiting.tool, waiting.deed.verb(), &waiting.place)));
        text.push_str(&change_words(waiting.change.as_ref(), part));
    }
    text
}

/// Whether there is more of a change than is shown at first.
fn has_more(question: &Question) -> bool {
    let is_long = |change: Option<&Change>| match change {
        Some(Change::Diff(change)) => {
            change.whole.is_some() || diff_lines(&change.excerpt, DIFF_LINES_SHOWN).1 > 0
        }
        Some(Change::NotShown(_)) | None => false,
    };
    is_long(question.change.as_ref())
        || question.waiting.iter().any(|waiting| is_long(waiting.change.as_ref()))
}

/// The answers on one line, below what they answer where a change stands between. An empty line is the no.
fn offer(question: &Question) -> String {
    let shown = |choice: &approval::Choice| {
        let key = if choice.key == 'n' { 'N' } else { choice.key };
        format!("[{key}] {}", choice.label)
    };
    let mut all: Vec<String> = choices(question).iter().map(shown).collect();
    if has_more(question) {
        all.insert(0, format!("[{VIEW}] view all of it"));
    }
    let again = if question.change.is_some() || !question.waiting.is_empty() {
        output::bold(&sentence(&question.tool, question.deed.verb(), &question.place)) + "\n"
    } else {
        String::new()
    };
    format!("{again}  {}: ", all.join("  "))
}

/// Letters are taken in either case, except that no word but a clear yes is a yes.
fn reply(line: &str, question: &Question) -> Option<Said> {
    match line.trim() {
        "yes" => Some(Said::Reply(Reply::Answer(Answer::Once))),
        "no" | "" => Some(Said::Reply(Reply::Answer(Answer::NO))),
        line => {
            let mut letters = line.chars();
            let key = letters.next().filter(|_| letters.next().is_none())?;
            if key.eq_ignore_ascii_case(&VIEW) && has_more(question) {
                return Some(Said::View);
            }
            approval::reply_of(question, key).map(Said::Reply)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::permission::FileOp;
    use reyn_runtime::gate::Deed;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let question = Question {
            tool: "a_tool".into(),
            deed: Deed::File(FileOp::Write),
            place: "src/a".into(),
            details: vec![],
            rule: "a rule".into(),
            may_widen: true,
            wider: Some("src".into()),
            change: None,
            waiting: vec![],
        };
        let table = [
            ("y\n", Some(Answer::Once)),
            ("s", Some(Answer::Session)),
            ("j", Some(Answer::JustPath)),
            ("r", Some(Answer::Recursive)),
            ("N", Some(Answer::NO)),
            ("", Some(Answer::NO)),
            ("yep", None),
            ("ｙ", None),
        ];
        for (line, expected) in table {
            assert_eq!(
                reply(line, &question),
                expected.map(|answer| Said::Reply(Reply::Answer(answer))),
                "{line:?}"
            );
        }
        assert_eq!(reply("b", &question), Some(Said::Reply(Reply::AskWhy)));
    }
}
