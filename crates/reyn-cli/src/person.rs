//! Asks the person at the terminal.

use std::io::{BufRead, IsTerminal};

use futures::FutureExt;
use futures::future::BoxFuture;
use reyn_runtime::gate::{Answer, Person, Question};

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
            output::note(&words(question));
            for _ in 0..ATTEMPTS_MAX {
                output::note_part(&choices(question));
                // A thread of its own, so that ctrl-C is heard while it waits for a line.
                let line = tokio::task::spawn_blocking(read_line).await.ok().flatten();
                match line.as_deref().map(|line| answer(line, question.may_widen)) {
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

fn read_line() -> Option<String> {
    let mut line = String::new();
    let taken = std::io::stdin().lock().read_line(&mut line).ok()?;
    (taken > 0).then_some(line)
}

fn words(question: &Question) -> String {
    let place = output::for_terminal(&question.place);
    format!(
        "\n{} wants to {} {}\n  asked because {}",
        output::bold(&question.tool),
        question.op.verb(),
        output::bold(&place),
        question.rule
    )
}

fn choices(question: &Question) -> String {
    if question.may_widen {
        let folder = output::for_terminal(&question.folder);
        format!("  [y] this once  [j] always this path  [r] always below {folder}/  [N] no: ")
    } else {
        "  [y] this once  [j] always this path  [N] no: ".to_owned()
    }
}

/// Letters are taken in either case, except that no word but a clear yes is a yes.
fn answer(line: &str, may_widen: bool) -> Option<Answer> {
    match line.trim() {
        "y" | "Y" | "yes" => Some(Answer::Once),
        "j" | "J" => Some(Answer::JustPath),
        "r" | "R" if may_widen => Some(Answer::Recursive),
        "n" | "N" | "no" | "" => Some(Answer::No),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(answer(line, true), expected, "{line:?}");
        }
        assert_eq!(answer("r", false), None);
    }
}
