//! Asks the person at the terminal.

use std::io::{BufRead, IsTerminal};

use futures::FutureExt;
use futures::future::BoxFuture;
use reyn_runtime::gate::{Answer, Change, Person, Question};

use crate::approval::{self, Reply, choices, one_line, sentence};
use crate::output;

/// Attempts to understand an answer before it counts as no.
const ATTEMPTS_MAX: usize = 3;

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
            forget_typed_ahead();
            for _ in 0..ATTEMPTS_MAX {
                output::note_part(&offer(question));
                match answer_line().await.as_deref().map(|line| reply(line, question)) {
                    None => return Answer::NO,
                    Some(Some(Reply::Answer(answer))) => return answer,
                    Some(Some(Reply::AskWhy)) => return Answer::No { reason: why().await },
                    Some(None) => output::note("please type one of the letters"),
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

fn words(question: &Question) -> String {
    let mut text = format!(
        "\n{}\n  asked because {}\n",
        output::bold(&sentence(&question.tool, question.op.verb(), &question.place)),
        one_line(&question.rule)
    );
    text.push_str(&match &question.change {
        Some(Change::Diff(diff)) => output::proposed_diff(diff),
        Some(Change::NotShown(reason)) => format!("    the change is not shown: {reason}\n"),
        None => String::new(),
    });
    for waiting in &question.waiting {
        let sentence = sentence(&waiting.tool, waiting.op.verb(), &waiting.place);
        text.push_str(&format!("  then {sentence}\n"));
        if let Some(Change::Diff(diff)) = &waiting.change {
            text.push_str(&output::diff(diff));
        }
    }
    text
}

/// The answers on one line. An empty line is the no.
fn offer(question: &Question) -> String {
    let shown = |choice: &approval::Choice| {
        let key = if choice.key == 'n' { 'N' } else { choice.key };
        format!("[{key}] {}", choice.label)
    };
    let all: Vec<String> = choices(question).iter().map(shown).collect();
    format!("  {}: ", all.join("  "))
}

/// Letters are taken in either case, except that no word but a clear yes is a yes.
fn reply(line: &str, question: &Question) -> Option<Reply> {
    match line.trim() {
        "yes" => Some(Reply::Answer(Answer::Once)),
        "no" | "" => Some(Reply::Answer(Answer::NO)),
        line => {
            let mut letters = line.chars();
            let key = letters.next().filter(|_| letters.next().is_none())?;
            approval::reply_of(question, key)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::permission::FileOp;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let question = Question {
            tool: "a_tool".into(),
            op: FileOp::Write,
            place: "src/a".into(),
            rule: "a rule".into(),
            may_widen: true,
            folder: "src".into(),
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
            assert_eq!(reply(line, &question), expected.map(Reply::Answer), "{line:?}");
        }
        assert_eq!(reply("b", &question), Some(Reply::AskWhy));
    }
}
