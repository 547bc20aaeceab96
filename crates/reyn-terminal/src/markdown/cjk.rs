//! Emphasis beside Chinese, Japanese and Korean.
//!
//! `CommonMark` decides by spaces and punctuation whether asterisks open or close, and refuses
//! `これは**「重要」**です`: a text without spaces has punctuation where it has none. Here its punctuation counts as
//! letters, and its characters count as spaces do when other punctuation is on the other side. Marks that the
//! parser takes for a letter or for punctuation get this from it; they are taken out of what it returns.

use std::borrow::Cow;

/// A letter to the parser that no text holds: Unicode keeps it for a program's own use.
const LETTER: char = '\u{fdd0}';
/// Another one, for lines that would begin a block where they stand alone.
pub(super) const TEXT_MARK: char = '\u{fdd1}';
/// Punctuation that hardly any text holds: a full stop in shorthand. A text with it is left as it is.
const PUNCTUATION: char = '\u{1bc9f}';

/// The text with marks where emphasis needs them.
pub(super) fn marked(text: &str) -> Cow<'_, str> {
    let has_runs = text.bytes().any(|byte| matches!(byte, b'*' | b'~'));
    if !has_runs || text.is_ascii() || text.contains([LETTER, PUNCTUATION]) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if matches!(c, '*' | '~') {
            let run = rest.len() - rest.trim_start_matches(c).len();
            let after = rest[run..].chars().next().unwrap_or(' ');
            out.extend(mark(before, after));
            out.push_str(&rest[..run]);
            out.extend(mark(after, before));
            (before, rest) = (c, &rest[run..]);
        } else {
            let escaped =
                if c == '\\' { rest[1..].chars().next().filter(char::is_ascii_punctuation) } else { None };
            let bytes = c.len_utf8() + usize::from(escaped.is_some());
            out.push_str(&rest[..bytes]);
            (before, rest) = (escaped.unwrap_or(c), &rest[bytes..]);
        }
    }
    Cow::Owned(out)
}

/// Takes the marks out.
pub(super) fn unmarked(text: &str) -> Cow<'_, str> {
    const MARKS: [char; 3] = [LETTER, PUNCTUATION, TEXT_MARK];
    if text.contains(MARKS) { Cow::Owned(text.replace(MARKS, "")) } else { Cow::Borrowed(text) }
}

/// The mark between a run and `near`; `far` is on the other side of the run.
fn mark(near: char, far: char) -> Option<char> {
    if is_cjk(near) && is_punctuation(far) && !is_cjk(far) {
        Some(PUNCTUATION)
    } else if is_cjk(near) && is_punctuation(near) {
        Some(LETTER)
    } else {
        None
    }
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace()
}

/// Whether a character is written without spaces around it. The wide space is none: it separates.
pub(super) const fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{2fff}'
        | '\u{3001}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff01}'..='\u{ffee}'
        | '\u{1b000}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_between_asterisks_and_punctuation_beside_cjk() {
        let table = [
            ("これは**「重要」**です", "これは**l「重要」l**です"),
            ("これは**\"重要\"**です", "これはp**\"重要\"**pです"),
            ("**注意：**です", "**注意：l**です"),
            ("**重要:**です", "**重要:**pです"),
            ("は**`code`**で", "はp**`code`**pで"),
            ("は**_強調_**で", "はp**_強調_**pで"),
            ("は~~「重要」~~です", "は~~l「重要」l~~です"),
            ("「**\"a\"**」", "「p**\"a\"**p」"),
            ("は**重要**です", "は**重要**です"),
            ("は** 重要 **です", "は** 重要 **です"),
            (r"は\**「重要」**です", r"は\**p「重要」l**です"),
            ("a**\"b\"**c é", "a**\"b\"**c é"),
            ("**「a」** b", "**l「a」l** b"),
        ];
        for (text, expected) in table {
            assert_eq!(marked(text).replace(LETTER, "l").replace(PUNCTUATION, "p"), expected);
            assert_eq!(unmarked(&marked(text)), text);
        }
    }

    #[test]
    fn the_parser_takes_the_marks_for_what_they_are_meant() {
        for (mark, is_open) in [(LETTER, true), (PUNCTUATION, false)] {
            let text = format!("a**{mark}b**");
            let is_strong = pulldown_cmark::Parser::new(&text)
                .any(|event| event == pulldown_cmark::Event::Start(pulldown_cmark::Tag::Strong));
            assert_eq!(is_strong, is_open);
        }
    }
}
