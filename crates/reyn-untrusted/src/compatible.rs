//! Compatibility forms folded (NFKC), run by run: most text is stable and is copied as it stands.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Whether a character is stable under NFKC, whatever stands before it.
pub(crate) fn is_stable(c: char) -> bool {
    matches!(c,
        '\0'..='\u{7f}' | '\u{c0}'..='\u{131}' | '\u{134}'..='\u{13e}' | '\u{141}'..='\u{148}' | '\u{14a}'..='\u{17e}'
        | '\u{391}'..='\u{3a1}' | '\u{3a3}'..='\u{3a9}' | '\u{3b1}'..='\u{3c9}' | '\u{400}'..='\u{481}'
        | '\u{3001}'..='\u{3011}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fe}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}')
}

/// Text in NFKC, fed character by character.
#[derive(Default)]
pub(crate) struct Folded {
    text: String,
    /// What cannot be folded yet: a mark that follows may still change it. Begins with a stable character.
    open: String,
}

impl Folded {
    /// An empty text with room for `bytes`.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), open: String::new() }
    }

    /// Appends characters that are all stable.
    pub(crate) fn push_stable(&mut self, run: &str) {
        if !run.is_empty() {
            self.settle();
            self.text.push_str(run);
        }
    }

    /// Appends any character.
    pub(crate) fn push(&mut self, c: char) {
        if self.open.is_empty() {
            self.open.extend(self.text.pop());
        }
        self.open.push(c);
    }

    fn settle(&mut self) {
        if self.open.is_empty() {
            return;
        }
        if is_nfkc_quick(self.open.chars()) == IsNormalized::Yes {
            self.text.push_str(&self.open);
        } else {
            self.text.extend(self.open.nfkc());
        }
        self.open.clear();
    }

    /// The whole text.
    pub(crate) fn finish(mut self) -> String {
        self.settle();
        self.text
    }
}

/// `text` in NFKC. Linear in what it has to become: one character becomes at most eighteen.
pub(crate) fn folded(text: &str) -> String {
    let mut folded = Folded::with_capacity(text.len());
    let mut run = 0;
    for (at, c) in text.char_indices() {
        if !is_stable(c) {
            folded.push_stable(&text[run..at]);
            folded.push(c);
            run = at + c.len_utf8();
        }
    }
    folded.push_stable(&text[run..]);
    folded.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_stable_character_is_in_nfkc_after_any_other() {
        for c in ('\0'..=char::MAX).filter(|c| is_stable(*c)) {
            assert_eq!(is_nfkc_quick(std::iter::once(c)), IsNormalized::Yes, "{c:?}");
            assert_eq!(unicode_normalization::char::canonical_combining_class(c), 0, "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_by_runs_is_folding(text in "[a-zＡ-Ｚｱ-ﾟか-ご\u{3099}\u{309a}\u{300}-\u{330}가각\u{1100}-\u{11ff}ﬁ①㌔é \n]{0,40}|.{0,40}") {
            prop_assert_eq!(folded(&text), text.nfkc().collect::<String>());
        }
    }
}
