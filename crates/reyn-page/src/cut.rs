//! Cuts a text where a reader would.

use unicode_segmentation::GraphemeCursor;

/// A text, cut or not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) text: String,
    /// Characters before it was cut.
    pub(crate) chars_total: usize,
    pub(crate) is_cut: bool,
}

/// Keeps at most `chars_max` characters (Unicode scalar values) of `text`.
///
/// In the last tenth of them it looks for the end of a paragraph, else of a line, else of a word; else it cuts
/// before the character of several scalar values that would be cut in two.
pub(crate) fn cut(mut text: String, chars_max: usize) -> Cut {
    let chars_total = text.chars().count();
    if chars_total <= chars_max {
        return Cut { text, chars_total, is_cut: false };
    }
    let end_of = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let end = whole_character(&text, end_of(chars_max));
    let tail_start = end_of(chars_max - chars_max / 10).min(end);
    // What ends exactly at the cut is told by what follows it.
    let after = text[end..].chars().take_while(|character| *character == '\n').take(2).count();
    let tail = &text[tail_start..end + after];
    let is_at_word_end = text[end..].starts_with(char::is_whitespace);
    let word = || if is_at_word_end { Some(end - tail_start) } else { tail.rfind(char::is_whitespace) };
    let line = || tail[..tail.len() - after.saturating_sub(1)].rfind('\n');
    let found = tail.rfind("\n\n").or_else(line).or_else(word);
    text.truncate(found.map_or(end, |at| tail_start + at));
    text.truncate(text.trim_end().len());
    Cut { text, chars_total, is_cut: true }
}

/// The last place up to `end` where a character as a reader sees it begins.
fn whole_character(text: &str, end: usize) -> usize {
    let mut cursor = GraphemeCursor::new(end, text.len(), true);
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return end;
    }
    cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0)
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
