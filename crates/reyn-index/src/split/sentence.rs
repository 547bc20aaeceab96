//! Where sentences end, in scripts with spaces between words and without.

use std::ops::Range;

/// Letters before a full stop that end no sentence with it.
const SHORT_FORMS: [&str; 8] = ["e.g", "i.e", "etc", "vs", "Mr", "Ms", "Dr", "No"];

/// The sentences of a stretch, together all of it.
pub(super) fn sentences(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut sentences = vec![];
    let mut from = range.start;
    let mut letters = text[range.clone()].char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        let end = range.start + at + c.len_utf8();
        let next = letters.peek().map(|(_, next)| *next);
        let is_end = match c {
            '。' | '！' | '？' | '｡' => {
                !next.is_some_and(|next| matches!(next, '」' | '』' | '）' | '。' | '！' | '？'))
            }
            // A bracket after the end of a sentence belongs to it.
            '」' | '』' | '）' => text[from..end - c.len_utf8()].ends_with(['。', '！', '？']),
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace) && !is_short_form(&text[from..end]),
            _ => false,
        };
        if is_end {
            sentences.push(from..end);
            from = end;
        }
    }
    if from < range.end {
        sentences.push(from..range.end);
    }
    sentences
}

fn is_short_form(sentence: &str) -> bool {
    let Some(sentence) = sentence.strip_suffix('.') else { return false };
    SHORT_FORMS.iter().any(|form| {
        sentence
            .strip_suffix(form)
            .is_some_and(|rest| rest.chars().next_back().is_none_or(|c| !c.is_alphanumeric()))
    })
}
