//! A question of the gate in words, and which answers it takes. The same at a plain prompt and in the chat.

use reyn_core::permission::WebOp;
use reyn_runtime::gate::{Answer, Deed, Question, TextChange};

use crate::output;

/// One answer that a question takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The letter that gives it.
    pub key: char,
    /// What it means here.
    pub label: String,
    /// What it comes to.
    pub reply: Reply,
}

/// What a letter comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// This answer.
    Answer(Answer),
    /// No, once the person has said why.
    AskWhy,
}

/// The answers in the order in which they are offered, from the narrowest yes to the widest, then the no.
pub(crate) fn choices(question: &Question) -> Vec<Choice> {
    let one =
        |key, label: &str, answer| Choice { key, label: label.to_owned(), reply: Reply::Answer(answer) };
    let wider = question.wider.as_deref().map(decided_on);
    let below = match wider.as_deref() {
        Some(".") | None => "./".to_owned(),
        Some(folder) => format!("{folder}/"),
    };
    let (this, wider) = match question.deed {
        Deed::File(_) => ("always this path", wider.map(|_| format!("always below {below}"))),
        Deed::Reach(WebOp::Fetch) => ("always this host", None),
        Deed::Reach(WebOp::Search) => ("always this engine", None),
        Deed::Run => ("always this command", wider.map(|words| format!("always `{words} …`"))),
    };
    let mut all = vec![];
    if question.deed.is_search() {
        all.push(one('y', &format!("once, below {below}"), Answer::Once));
    } else {
        all.push(one('y', "once", Answer::Once));
    }
    if !question.waiting.is_empty() {
        all.push(one('a', &format!("all {} once", question.waiting.len() + 1), Answer::All));
    }
    if question.may_widen {
        all.push(one('s', "this session", Answer::Session));
        if !question.deed.is_search() {
            all.push(one('j', this, Answer::JustPath));
        }
        all.extend(wider.map(|wider| one('r', &wider, Answer::Recursive)));
    }
    all.push(one('n', "no", Answer::NO));
    all.push(Choice { key: 'b', label: "no, because …".to_owned(), reply: Reply::AskWhy });
    all
}

/// What a letter comes to. No letter but an offered one means anything.
pub(crate) fn reply_of(question: &Question, key: char) -> Option<Reply> {
    let key = key.to_ascii_lowercase();
    choices(question).into_iter().find(|choice| choice.key == key).map(|choice| choice.reply)
}

/// What is wanted, in one sentence: the tool, the deed and the real place.
pub(crate) fn sentence(tool: &str, verb: &str, place: &str) -> String {
    format!("{} wants to {verb} `{}`", decided_on(tool), decided_on(place))
}

/// Text that a person decides on, on one line, with everything written out that would not be seen.
fn decided_on(text: &str) -> String {
    output::visible(text)
}

/// A change that a person decides on, with everything written out that would not be seen.
pub(crate) fn visible_diff(diff: &str) -> String {
    diff.lines().map(output::visible).collect::<Vec<_>>().join("\n")
}

/// Text of a model or a path on one line, with everything written out that could forge another.
pub(crate) fn one_line(text: &str) -> String {
    reyn_terminal::visible(text).replace('\n', " ")
}

/// Lines added and removed, as `+3 −1`.
pub(crate) fn change_size(change: &TextChange) -> String {
    format!("+{} −{}", change.added, change.removed)
}

/// What must be known of a change beside its diff; nothing when the diff tells everything.
pub(crate) fn warning(change: &TextChange) -> Option<&'static str> {
    if change.is_cut {
        Some("not all of this change can be shown; a yes is for this call alone")
    } else if change.excerpt.is_empty() {
        Some("it changes nothing")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::permission::FileOp;
    use reyn_runtime::gate::Waiting;

    pub(crate) fn question(op: FileOp, may_widen: bool) -> Question {
        Question {
            tool: "a_tool".into(),
            deed: Deed::File(op),
            place: "src/a".into(),
            details: vec![],
            rule: "a rule".into(),
            may_widen,
            wider: Some("src".into()),
            change: None,
            waiting: vec![],
        }
    }

    fn offered(question: &Question) -> String {
        let all = choices(question);
        all.iter().map(|choice| format!("[{}] {}", choice.key, choice.label)).collect::<Vec<_>>().join("  ")
    }

    #[test]
    fn what_is_offered_depends_on_what_is_asked() {
        let mut bulk = question(FileOp::Edit, true);
        bulk.waiting =
            vec![
                Waiting { tool: "t".into(), deed: Deed::File(FileOp::Edit), place: "b".into(), change: None };
                2
            ];
        let run = |wider: Option<&str>| Question {
            deed: Deed::Run,
            wider: wider.map(str::to_owned),
            ..question(FileOp::Write, true)
        };
        let table = [
            (
                run(Some("cargo test")),
                "[y] once  [s] this session  [j] always this command  [r] always `cargo test …`  [n] no  [b] no, because …",
            ),
            (run(None), "[y] once  [s] this session  [j] always this command  [n] no  [b] no, because …"),
            (
                question(FileOp::Write, true),
                "[y] once  [s] this session  [j] always this path  [r] always below src/  [n] no  [b] no, because …",
            ),
            (
                question(FileOp::Grep, true),
                "[y] once, below src/  [s] this session  [r] always below src/  [n] no  [b] no, because …",
            ),
            (question(FileOp::Write, false), "[y] once  [n] no  [b] no, because …"),
            (
                bulk,
                "[y] once  [a] all 3 once  [s] this session  [j] always this path  [r] always below src/  [n] no  [b] no, because …",
            ),
        ];
        for (question, expected) in table {
            assert_eq!(offered(&question), expected);
        }
    }

    #[test]
    fn only_an_offered_letter_is_an_answer() {
        let protected = question(FileOp::Write, false);
        for key in ['s', 'j', 'r', 'a', 'ｙ', ' ', '1'] {
            assert_eq!(reply_of(&protected, key), None, "{key}");
        }
        assert_eq!(reply_of(&protected, 'Y'), Some(Reply::Answer(Answer::Once)));
    }

    #[test]
    fn nothing_that_is_decided_on_is_hidden() {
        assert_eq!(
            sentence("write_file", "write", "a\u{200b}.md\n[y]"),
            r"write_file wants to write `a\u{200b}.md\u{a}[y]`"
        );
        assert_eq!(visible_diff("+a\u{200d}b\n-\u{1b}[2J"), "+a\\u{200d}b\n-\\u{1b}[2J");
    }
}
