//! A text as the detector reads it: lower case, NFKC, look-alikes and accents folded, nothing invisible; and the
//! way back from a place in it to the text it was made of.
//!
//! A Japanese full stop is three ends of lines here, as long as itself in bytes, so that `[^\n]` stays within a
//! sentence in both languages. Tag characters, which spell ASCII unseen, are read as what they spell.

use std::ops::Range;

use unicode_normalization::char::{compose, decompose_compatible};

use crate::homoglyph::looks_like;
use crate::invisible::{depends_on_neighbours, hides, is_always_dropped};

/// A text as the detector reads it.
pub(crate) struct Skeleton {
    /// The text to match against.
    pub(crate) text: String,
    /// The first character that hides something from a reader, in the text it was made of.
    pub(crate) hidden: Option<Range<usize>>,
    /// Where pieces begin, ascending; each goes on to the next one.
    pieces: Vec<Piece>,
    source_bytes: usize,
}

/// A stretch that was copied byte for byte, or one character that became something else.
struct Piece {
    at: u32,
    source_at: u32,
    is_copy: bool,
}

impl Skeleton {
    /// Reads a text of at most 4 GiB; callers give windows of a few MiB.
    pub(crate) fn of(text: &str) -> Self {
        let mut skeleton = Self {
            text: String::with_capacity(text.len()),
            hidden: None,
            pieces: vec![],
            source_bytes: text.len(),
        };
        let mut run = 0;
        let mut at = 0;
        while at < text.len() {
            let ascii =
                text.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii() && is_seen(**byte)).count();
            at += ascii;
            let Some(c) = text[at..].chars().next() else { break };
            let next = at + c.len_utf8();
            if !is_copied(c) {
                skeleton.copy(text, run..at);
                if skeleton.hidden.is_none()
                    && hides(c, text[..at].chars().next_back(), text[next..].chars().next())
                {
                    skeleton.hidden = Some(at..next);
                }
                skeleton.fold(c, at);
                run = next;
            }
            at = next;
        }
        skeleton.copy(text, run..text.len());
        skeleton
    }

    fn begin_piece(&mut self, source_at: usize, is_copy: bool) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.pieces.push(Piece { at: place(self.text.len()), source_at: place(source_at), is_copy });
    }

    fn copy(&mut self, text: &str, run: Range<usize>) {
        if run.is_empty() {
            return;
        }
        self.begin_piece(run.start, true);
        let begun = self.text.len();
        let mut rest = &text[run];
        while let Some((sentence, after)) = rest.split_once('。') {
            self.text.push_str(sentence);
            self.text.push_str("\n\n\n");
            rest = after;
        }
        self.text.push_str(rest);
        self.text[begun..].make_ascii_lowercase();
    }

    fn fold(&mut self, c: char, source_at: usize) {
        self.begin_piece(source_at, false);
        match c {
            '\r' => self.text.push('\n'),
            '\u{e0020}'..='\u{e007e}' => {
                let spelled = u32::from(c) - 0xe0000;
                self.text.extend(char::from_u32(spelled).map(|c| c.to_ascii_lowercase()));
            }
            '\u{ff01}'..='\u{ff5e}' => self.plain(char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c)),
            c if c.is_control() || is_always_dropped(c) || depends_on_neighbours(c) => {}
            c => match looks_like(c) {
                Some(ascii) => self.text.push_str(ascii),
                None => decompose_compatible(c, |part| self.plain(part)),
            },
        }
    }

    fn plain(&mut self, c: char) {
        match c {
            '\u{300}'..='\u{36f}' => {}
            '\u{3099}' | '\u{309a}' => {
                let before = self.text.pop();
                match before.and_then(|before| compose(before, c)) {
                    Some(composed) => self.text.push(composed),
                    None => self.text.extend(before),
                }
            }
            c => match looks_like(c) {
                Some(ascii) => self.text.push_str(ascii),
                None => self.text.push(c.to_ascii_lowercase()),
            },
        }
    }

    /// What a range of the skeleton was made of: at character boundaries of `source`, never less than it.
    pub(crate) fn source_range(&self, range: Range<usize>, source: &str) -> Range<usize> {
        let start = self.source_at(range.start, false);
        let end = self.source_at(range.end.saturating_sub(1).max(range.start), true);
        let start = (0..=start).rev().find(|at| source.is_char_boundary(*at)).unwrap_or(0);
        let end = (end..=source.len()).find(|at| source.is_char_boundary(*at)).unwrap_or(source.len());
        start..end.max(start)
    }

    /// The byte that stands at `at`, or behind it when `is_end`.
    fn source_at(&self, at: usize, is_end: bool) -> usize {
        let index = self.pieces.partition_point(|piece| piece.at as usize <= at).saturating_sub(1);
        let Some(piece) = self.pieces.get(index) else { return 0 };
        if piece.is_copy {
            return piece.source_at as usize + (at - piece.at as usize) + usize::from(is_end);
        }
        if !is_end {
            return piece.source_at as usize;
        }
        let next = self.pieces.get(index + 1);
        next.map_or(self.source_bytes, |next| next.source_at as usize)
    }
}

fn is_seen(byte: u8) -> bool {
    byte >= b' ' && byte != 0x7f || matches!(byte, b'\n' | b'\t')
}

/// Whether a character that is not plain ASCII is the same to the detector: Japanese text and Hangul.
fn is_copied(c: char) -> bool {
    matches!(c,
        '\u{3001}' | '\u{3002}' | '\u{300c}'..='\u{3011}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fe}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn disguised_text_reads_as_what_it_looks_like() {
        for (disguised, read) in [
            ("IGNORE All", "ignore all"),
            ("Іgnоrе", "ignore"),
            ("ｉｇｎｏｒｅ　ａｌｌ", "ignore all"),
            ("ig\u{200b}no\u{ad}re", "ignore"),
            ("ïgnörè", "ignore"),
            ("𝐢𝐠𝐧𝐨𝐫𝐞", "ignore"),
            ("\u{e0069}\u{e0067}", "ig"),
            ("«a»", "<<a>>"),
            ("指示を。無視", "指示を\n\n\n無視"),
            ("ﾃﾞｰﾀ", "データ"),
            ("か\u{3099}", "が"),
            ("a\r\nb", "a\n\nb"),
        ] {
            assert_eq!(Skeleton::of(disguised).text, read, "{disguised}");
        }
    }

    proptest! {
        #[test]
        fn a_place_leads_back_to_what_stands_there(before in ".{0,12}", after in ".{0,12}") {
            let text = format!("{before} Ｎeedlе {after}");
            let skeleton = Skeleton::of(&text);
            let at = skeleton.text.find(" needle ").unwrap() + 1;
            prop_assume!(!before.to_lowercase().contains("needl"));
            prop_assert_eq!(&text[skeleton.source_range(at..at + 6, &text)], "Ｎeedlе");
        }

        #[test]
        fn any_range_leads_back_to_character_boundaries(text in any::<String>(), at in 0usize..50, bytes in 0usize..20) {
            let skeleton = Skeleton::of(&text);
            let range = at.min(skeleton.text.len())..(at + bytes).min(skeleton.text.len());
            prop_assert!(text.get(skeleton.source_range(range, &text)).is_some());
        }
    }
}
