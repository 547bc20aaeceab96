//! A text as the detector reads it: lower case, NFKC, look-alikes and accents folded, nothing invisible; and the
//! way back from a place in it to the text it was made of.
//!
//! A Japanese full stop is three ends of lines here, as long as itself in bytes, so that `[^\n]` stays within a
//! sentence in both languages. Tag characters, which spell ASCII unseen, are read as what they spell.

use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::char::{compose, decompose_compatible};

use crate::homoglyph::looks_like;
use crate::invisible::{depends_on_neighbours, hides, is_always_dropped};

/// How far apart the places are that lead back to the text it was made of, in bytes of that text.
const MARK_BYTES: usize = 256;
/// Shorter runs of ASCII are taken letter by letter.
const RUN_BYTES_MIN: usize = 16;

/// A text as the detector reads it.
pub(crate) struct Skeleton {
    /// The text to match against.
    pub(crate) text: String,
    /// The first character that hides something from a reader, in the text it was made of.
    pub(crate) hidden: Option<Range<usize>>,
    /// Places, ascending, of which it is known what they were made of.
    marks: Vec<Mark>,
    source_bytes: usize,
}

/// A place in both texts.
struct Mark {
    at: u32,
    source_at: u32,
    /// Whether the texts go on byte for byte up to the next mark.
    is_copy: bool,
}

impl Skeleton {
    /// Reads a text of at most 4 GiB; callers give windows of a few MiB.
    pub(crate) fn of(text: &str) -> Self {
        let mut skeleton = Self {
            text: String::with_capacity(text.len()),
            hidden: None,
            marks: Vec::with_capacity(text.len() / MARK_BYTES + 1),
            source_bytes: text.len(),
        };
        let folded: &[u16; FOLDED_CHARS] = &FOLDED;
        let (mut at, mut next_mark) = (0, 0);
        while at < text.len() {
            let run = text.as_bytes()[at..].iter().take_while(|byte| is_seen(**byte)).count();
            if run >= MARK_BYTES {
                skeleton.mark(at, true);
                next_mark = at + run;
            }
            skeleton.copy(&text[at..at + run]);
            at += run;
            let Some(c) = text[at..].chars().next() else { break };
            if at >= next_mark {
                skeleton.mark(at, false);
                next_mark = at + MARK_BYTES;
            }
            let next = at + c.len_utf8();
            if !skeleton.take(c, folded) {
                let (before, after) = (text[..at].chars().next_back(), text[next..].chars().next());
                if skeleton.hidden.is_none() && hides(c, before, after) {
                    skeleton.hidden = Some(at..next);
                }
                skeleton.fold(c);
            }
            at = next;
        }
        skeleton
    }

    /// Without a way back, to read a few characters behind `text`.
    const fn reading(text: String) -> Self {
        Self { text, hidden: None, marks: vec![], source_bytes: 0 }
    }

    fn mark(&mut self, source_at: usize, is_copy: bool) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.marks.push(Mark { at: place(self.text.len()), source_at: place(source_at), is_copy });
    }

    /// Takes a run of ASCII that is seen.
    fn copy(&mut self, run: &str) {
        if run.len() < RUN_BYTES_MIN {
            run.bytes().for_each(|byte| self.text.push(char::from(byte.to_ascii_lowercase())));
            return;
        }
        let begun = self.text.len();
        self.text.push_str(run);
        self.text[begun..].make_ascii_lowercase();
    }

    /// Takes a character of which nothing but itself says what it is read as; whether it is one.
    fn take(&mut self, c: char, folded: &[u16; FOLDED_CHARS]) -> bool {
        match folded.get(c as usize) {
            Some(0) => false,
            Some(read) => {
                self.text.extend(char::from_u32(u32::from(*read)));
                true
            }
            None if c == '。' => {
                self.text.push_str("\n\n\n");
                true
            }
            None if is_copied(c) => {
                self.text.push(c);
                true
            }
            None => false,
        }
    }

    fn fold(&mut self, c: char) {
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
        let start = self.source_of(range.start, source).start;
        let end = self.source_of(range.end.saturating_sub(1).max(range.start), source).end;
        start..end.max(start)
    }

    /// The character that the byte at `at` was made of.
    fn source_of(&self, at: usize, source: &str) -> Range<usize> {
        let marked = self.marks.partition_point(|mark| mark.at as usize <= at).checked_sub(1);
        let mark = marked.and_then(|index| self.marks.get(index));
        // What stands before the first mark was taken as it is.
        let (begun, from, is_copy) =
            mark.map_or((0, 0, true), |mark| (mark.at as usize, mark.source_at as usize, mark.is_copy));
        if is_copy {
            let start = (from + (at - begun)).min(self.source_bytes);
            return start..(start + 1).min(self.source_bytes);
        }
        // What is marked is read once more; a mark of a sound changes what stands before it.
        let before = self.text[..begun].chars().next_back();
        let mut again = Self::reading(before.map(String::from).unwrap_or_default());
        let held = again.text.len();
        for (offset, c) in source[from..].char_indices() {
            if c.is_ascii() && is_seen(c as u8) {
                again.text.push(c.to_ascii_lowercase());
            } else if !again.take(c, &FOLDED) {
                again.fold(c);
            }
            if begun + again.text.len() > at + held {
                return from + offset..from + offset + c.len_utf8();
            }
        }
        self.source_bytes..self.source_bytes
    }
}

/// How many characters, the first ones, have a place in [`FOLDED`]: those of European, Semitic and Indic scripts.
const FOLDED_CHARS: usize = 0x2000;

/// What each of the first characters is read as when that is one character whatever stands beside it; 0 for others.
static FOLDED: LazyLock<Box<[u16; FOLDED_CHARS]>> = LazyLock::new(|| {
    let mut folded = Box::new([0; FOLDED_CHARS]);
    for (code, read) in (0_u32..).zip(folded.iter_mut()) {
        let Some(c) = char::from_u32(code).filter(|c| !c.is_ascii()) else { continue };
        let mut alone = Skeleton::reading(String::new());
        alone.fold(c);
        let mut chars = alone.text.chars();
        if let (Some(only), None) = (chars.next(), chars.next()) {
            *read = u16::try_from(u32::from(only)).unwrap_or(0);
        }
    }
    folded
});

/// Whether a byte is a character of ASCII that is seen.
fn is_seen(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
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
