//! What the chat completes: its commands, and the arguments that a command takes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use reyn_terminal::{Complete, Completion};

use super::slash;

/// Words that a command may be completed with; written by the session, read by the editor.
#[derive(Clone, Default)]
pub(crate) struct Names(Arc<Mutex<BTreeMap<&'static str, Vec<Word>>>>);

/// A word and a note about it.
pub(crate) type Word = (String, String);

impl Names {
    /// Sets what `command` is completed with: words and a note for each.
    pub(crate) fn set(&self, command: &'static str, words: Vec<Word>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(command, words);
    }

    fn of(&self, command: &str) -> Vec<Word> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(command).cloned().unwrap_or_default()
    }
}

impl Complete for Names {
    fn complete(&self, text: &str, caret: usize) -> Vec<Completion> {
        let before = text.get(..caret).unwrap_or_default();
        if !before.starts_with('/') || before.contains('\n') {
            return vec![];
        }
        let (start, words) = match before.split_once(' ') {
            None => {
                let commands = slash::all();
                (0, commands.map(|slash| (format!("/{}", slash.name), slash.summary.to_owned())).collect())
            }
            Some((command, _)) => {
                let start = before.rfind(' ').map_or(0, |at| at + 1);
                (start, self.of(&command[1..]))
            }
        };
        let typed = &before[start..];
        words
            .into_iter()
            .filter(|(word, _)| word.starts_with(typed))
            .map(|(text, note)| Completion { start, text, note })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> Vec<String> {
        let names = Names::default();
        names.set("model", vec![("light".into(), String::new()), ("strong".into(), String::new())]);
        names.complete(text, text.len()).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn commands_and_their_arguments_are_completed_and_nothing_else() {
        assert_eq!(completed("/mo"), ["/model"]);
        assert_eq!(completed("/model "), ["light", "strong"]);
        assert_eq!(completed("/model s"), ["strong"]);
        for text in ["", "hello /mo", "/model\n/mo", "/nothing x"] {
            assert_eq!(completed(text), Vec::<String>::new(), "{text}");
        }
        assert!(completed("/").len() > 5);
    }
}
