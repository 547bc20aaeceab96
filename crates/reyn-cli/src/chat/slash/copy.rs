//! `/copy`: an answer into the clipboard.

use futures::FutureExt;
use reyn_core::conversation::Entry;

use super::{Slash, done};
use crate::chat::desk::After;
use crate::chat::ui::Ui;
use crate::chat::wire::News;
use crate::output;

/// Longest text that is copied, in bytes: terminals drop longer ones without a word.
const COPY_BYTES_MAX: usize = 74_000;

pub(super) static SLASH: Slash = Slash {
    name: "copy",
    arguments: "[N]",
    summary: "the last answer, or the Nth last, to the clipboard",
    run: |desk, arguments| {
        async move {
            let back: usize = match arguments {
                "" => 1,
                words => number(words)?,
            };
            let text = answer(desk.session.log(), back).ok_or("there is no such answer yet")?;
            if text.len() > COPY_BYTES_MAX {
                return Err(format!(
                    "the answer is {}, more than terminals copy; `/save FILE` writes the conversation",
                    output::size(text.len() as u64)
                ));
            }
            match &desk.ui {
                Ui::Screen(..) => {
                    desk.ui.tell(News::Copy(text.to_owned()));
                    let words =
                        format!("{} sent to the terminal for its clipboard", output::size(text.len() as u64));
                    desk.print(done(&words));
                    Ok(After::Stay)
                }
                Ui::Plain => Err("this terminal has no clipboard that can be written".to_owned()),
            }
        }
        .boxed()
    },
};

fn number(words: &str) -> Result<usize, String> {
    const EXAMPLE: &str = "`/copy 2` copies the answer before the last";
    match words.parse() {
        Ok(0) => Err(format!("answers are counted back from 1, the last one; {EXAMPLE}")),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("`{words}` is no number of an answer; {EXAMPLE}")),
    }
}

/// The answer `back` answers ago; 1 is the last one.
fn answer(log: &[Entry], back: usize) -> Option<&str> {
    let answers = log.iter().rev().filter_map(|entry| match entry {
        Entry::Reply(reply) if reply.calls.is_empty() && !reply.text.trim().is_empty() => {
            Some(reply.text.as_str())
        }
        Entry::Reply(_)
        | Entry::User { .. }
        | Entry::Said { .. }
        | Entry::Started { .. }
        | Entry::Finished { .. }
        | Entry::Nudged
        | Entry::LimitReached { .. }
        | Entry::Ended { .. } => None,
    });
    answers.skip(back - 1).map(str::trim).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_back_from_the_last() {
        let example = "`/copy 2` copies the answer before the last";
        assert_eq!(number("1"), Ok(1));
        assert_eq!(number("0"), Err(format!("answers are counted back from 1, the last one; {example}")));
        for words in ["x", "-1", "1 2"] {
            assert_eq!(number(words), Err(format!("`{words}` is no number of an answer; {example}")));
        }
    }
}
