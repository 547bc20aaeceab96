//! Where words begin and end, for motions and deletions by word.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Bytes that are looked at on one side; a word longer than this counts as several.
const LOOK_BYTES_MAX: usize = 4 << 10;

/// Kinds of segments that are one word with a neighbour of their kind. Unicode leaves each of these characters a
/// word of its own, and a person who deletes a word means more than one character of a Japanese text.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Class {
    Ideographs,
    Hiragana,
    Signs,
    /// A word as Unicode says.
    Word,
}

fn class(segment: &str) -> Class {
    match segment.chars().next() {
        Some('\u{3005}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3fffd}') => {
            Class::Ideographs
        }
        Some('\u{3041}'..='\u{309f}') => Class::Hiragana,
        Some(c) if c.is_ascii_punctuation() && c != '_' => Class::Signs,
        Some(_) | None => Class::Word,
    }
}

fn is_blank(segment: &str) -> bool {
    segment.chars().all(char::is_whitespace)
}

/// Where the word before `caret` begins; the start of the text when there is none.
pub(super) fn word_left(text: &str, caret: usize) -> usize {
    let start = text.ceil_char_boundary(caret.saturating_sub(LOOK_BYTES_MAX));
    let mut found: Option<(usize, Class)> = None;
    for (at, segment) in text[start..caret].split_word_bound_indices().rev() {
        match found {
            None if is_blank(segment) => {}
            None => found = Some((at, class(segment))),
            Some((_, kind)) if kind != Class::Word && !is_blank(segment) && class(segment) == kind => {
                found = Some((at, kind));
            }
            Some(_) => break,
        }
    }
    start + found.map_or(0, |(at, _)| at)
}

/// Where the word after `caret` begins and ends; empty, at the end of what is looked at, when there is none.
pub(super) fn word_right(text: &str, caret: usize) -> Range<usize> {
    let end = text.floor_char_boundary(caret.saturating_add(LOOK_BYTES_MAX));
    let mut found: Option<(Range<usize>, Class)> = None;
    for (at, segment) in text[caret..end].split_word_bound_indices() {
        match &mut found {
            None if is_blank(segment) => {}
            None => found = Some((caret + at..caret + at + segment.len(), class(segment))),
            Some((word, kind)) if *kind != Class::Word && !is_blank(segment) && class(segment) == *kind => {
                word.end += segment.len();
            }
            Some(_) => break,
        }
    }
    found.map_or(end..end, |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_where_a_person_sees_them_end() {
        // `|` stands where the motion stops, in both directions.
        for marked in [
            "|hello| |world|",
            "|foo|::|bar|();",
            "|don't| |3.14|",
            "|日本語|の|文章|を|カタカナ|で|書|く|",
            "|a|  \n |b|",
            "|snake_case| |=>| |x|",
            "|e\u{301}te\u{301}|",
        ] {
            let text: String = marked.split('|').collect();
            let mut stops = vec![0];
            let mut at = 0;
            while at < text.len() {
                at = word_right(&text, at).end;
                stops.push(at);
            }
            let mut back = vec![text.len()];
            let mut at = text.len();
            while at > 0 {
                at = word_left(&text, at);
                back.push(at);
            }
            let mut marks = vec![];
            let mut bytes = 0;
            for piece in marked.split('|') {
                bytes += piece.len();
                marks.push(bytes);
            }
            assert!(
                stops.iter().all(|stop| marks.contains(stop) || *stop == text.len()),
                "{marked}: {stops:?}"
            );
            assert!(
                back.iter().all(|stop| marks.contains(stop) || *stop == text.len()),
                "{marked}: {back:?}"
            );
        }
    }

    #[test]
    fn an_endless_word_is_looked_at_in_pieces() {
        let text = "a".repeat(1 << 20);
        assert_eq!(word_left(&text, text.len()), text.len() - LOOK_BYTES_MAX);
        assert_eq!(word_right(&text, 0), 0..LOOK_BYTES_MAX);
        let text = "日".repeat(1 << 16);
        assert!(word_right(&text, 0).end > LOOK_BYTES_MAX - 4);
        assert_eq!(word_right("", 0), 0..0);
    }
}
