//! Asks the person at the terminal.

use std::io::{BufRead, IsTerminal};

use futures::FutureExt;
use futures::future::BoxFuture;
use reyn_runtime::gate::{Answer, Change, Person, Question};

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
            for _ in 0..ATTEMPTS_MAX {
                output::note_part(&choices(question));
                let mut open_line = OpenLine(true);
                // A thread of its own, so that ctrl-C is heard while it waits for a line.
                let line = tokio::task::spawn_blocking(read_line).await.ok().flatten();
                open_line.0 = line.is_none();
                drop(open_line);
                match line.as_deref().map(|line| answer(line, question)) {
                    None => return Answer::No,
                    Some(Some(answer)) => return answer,
                    Some(None) => output::note("please type one of the letters"),
                }
            }
            Answer::No
        }
        .boxed()
    }
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

fn read_line() -> Option<String> {
    let mut line = String::new();
    let taken = std::io::stdin().lock().read_line(&mut line).ok()?;
    (taken > 0).then_some(line)
}

fn words(question: &Question) -> String {
    let clean = |text: &str| output::for_terminal(text).replace('\n', " ");
    let change = match &question.change {
        Some(Change::Diff(diff)) => output::proposed_diff(diff),
        Some(Change::NotShown(reason)) => format!("    the change is not shown: {reason}\n"),
        None => String::new(),
    };
    format!(
        "\n{} wants to {} {}\n  asked because {}\n{change}",
        output::bold(&clean(&question.tool)),
        question.op.verb(),
        output::bold(&format!("`{}`", output::visible(&question.place))),
        clean(&question.rule)
    )
}

fn choices(question: &Question) -> String {
    if question.op.is_search() {
        let folder = output::for_terminal(&question.folder).replace('\n', " ");
        format!("  [y] this run, below {folder}/  [r] always below {folder}/  [N] no: ")
    } else if question.may_widen {
        let folder = output::for_terminal(&question.folder).replace('\n', " ");
        format!("  [y] this run  [j] always this path  [r] always below {folder}/  [N] no: ")
    } else {
        "  [y] this time  [N] no: ".to_owned()
    }
}

/// Letters are taken in either case, except that no word but a clear yes is a yes.
fn answer(line: &str, question: &Question) -> Option<Answer> {
    match line.trim() {
        "y" | "Y" | "yes" => Some(Answer::Once),
        "j" | "J" if question.may_widen && !question.op.is_search() => Some(Answer::JustPath),
        "r" | "R" if question.may_widen => Some(Answer::Recursive),
        "n" | "N" | "no" | "" => Some(Answer::No),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::permission::FileOp;

    fn question(op: FileOp, may_widen: bool) -> Question {
        Question {
            tool: "a_tool".into(),
            op,
            place: "src".into(),
            rule: "a rule".into(),
            may_widen,
            folder: "src".into(),
            change: None,
        }
    }

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let table = [
            ("y\n", Some(Answer::Once)),
            ("j", Some(Answer::JustPath)),
            ("r", Some(Answer::Recursive)),
            ("N", Some(Answer::No)),
            ("", Some(Answer::No)),
            ("yep", None),
            ("ｙ", None),
        ];
        for (line, expected) in table {
            assert_eq!(answer(line, &question(FileOp::Write, true)), expected, "{line:?}");
        }
        assert_eq!(answer("r", &question(FileOp::Write, false)), None);
    }

    #[test]
    fn a_search_is_allowed_below_its_folder_or_not_at_all() {
        let question = question(FileOp::Grep, true);
        assert_eq!(choices(&question), "  [y] this run, below src/  [r] always below src/  [N] no: ");
        assert_eq!(answer("r", &question), Some(Answer::Recursive));
        assert_eq!(answer("j", &question), None);
    }
}
