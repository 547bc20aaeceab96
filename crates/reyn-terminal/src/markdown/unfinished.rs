//! Text that stops in the middle of a mark, as it will look once the mark is closed.
//!
//! A stream stops in the middle of bold words all the time: shown as it is, its asterisks would come and go.

use std::borrow::Cow;

use super::cjk::is_cjk;

/// Emphasis within each other that is closed.
const OPEN_MAX: usize = 8;

/// The text with what is open at its end closed. A mark with nothing behind it is left out.
pub(super) fn closed(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    let mut open: Vec<&str> = vec![];
    let (mut at, mut before) = (0, ' ');
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match c {
            '\\' => {
                before = c;
                at += rest.char_indices().nth(2).map_or(rest.len(), |(behind, _)| behind);
            }
            '`' | '*' | '~' => {
                let run = &rest[..rest.len() - rest.trim_start_matches(c).len()];
                at += run.len();
                let behind = &text[at..];
                if c == '`' {
                    match code_bytes(behind, run) {
                        Some(bytes) => at += bytes,
                        None if behind.is_empty() => return ended(&text[..at - run.len()], &open),
                        None => {
                            open.push(run);
                            return ended(text, &open);
                        }
                    }
                } else if open.last() == Some(&run) && !before.is_whitespace() {
                    open.pop();
                } else if behind.is_empty() && !open.is_empty() | before.is_whitespace() | is_cjk(before) {
                    return ended(&text[..at - run.len()], &open);
                } else if open.len() < OPEN_MAX && may_open(run, before, behind) {
                    open.push(run);
                }
                before = c;
            }
            _ => {
                before = c;
                at += c.len_utf8();
            }
        }
    }
    let target = text.rfind("](").filter(|at| !text[*at..].contains([')', ' ', '\n']));
    if target.is_some_and(|at| text[..at].contains('[')) && open.is_empty() {
        open.push(")");
    }
    ended(text, &open)
}

fn ended<'a>(text: &'a str, open: &[&str]) -> Cow<'a, str> {
    let text = text.trim_end();
    if open.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(open.iter().rev().fold(text.to_owned(), |text, mark| text + mark))
}

/// The bytes of code and of the marks behind it.
fn code_bytes(behind: &str, run: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += behind[at..].find('`')?;
        let marks = behind[at..].bytes().take_while(|byte| *byte == b'`').count();
        at += marks;
        if marks == run.len() {
            return Some(at);
        }
    }
}

fn may_open(run: &str, before: char, behind: &str) -> bool {
    let is_mark = if run.starts_with('~') { run.len() == 2 } else { run.len() <= 3 };
    is_mark
        && (!before.is_alphanumeric() || is_cjk(before))
        && behind.starts_with(|c: char| !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_at_the_end_is_closed() {
        let table = [
            ("plain", "plain"),
            ("a **bold wo", "a **bold wo**"),
            ("a **bold ", "a **bold**"),
            ("a **bold*", "a **bold**"),
            ("a **bold**", "a **bold**"),
            ("a **", "a"),
            ("a `co", "a `co`"),
            ("a `", "a"),
            ("a **b `c", "a **b `c`**"),
            ("a **b *c", "a **b *c***"),
            ("これは**「重", "これは**「重**"),
            ("2 * 3", "2 * 3"),
            ("2**3", "2**3"),
            ("`a` and ``b`c", "`a` and ``b`c``"),
            (r"\*a", r"\*a"),
            ("~~a", "~~a~~"),
            ("see [a](https://b", "see [a](https://b)"),
            ("see [a](https://b) c", "see [a](https://b) c"),
            ("", ""),
            ("\\", "\\"),
        ];
        for (text, expected) in table {
            assert_eq!(closed(text), expected, "{text}");
        }
    }
}
