//! One spelling for what others wrote: no compatibility forms, no characters that nobody sees, no controls, no
//! tokens of chat templates.
//!
//! NFKC comes first: full-width `＜|im_start|＞` becomes a token only by it. It folds full-width letters and
//! half-width kana of Japanese text, keeps their meaning, and changes signs such as `①` and `㌔`.

use crate::compatible::{Folded, folded, is_stable};
use crate::control_tokens::without_control_tokens;
use crate::invisible::{depends_on_neighbours, is_always_dropped, is_needed};

/// A text as a model may read it, and what was taken out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Normalised {
    /// The text. At most eleven times as long as what it was made of, in bytes; for all but rare signs, not longer.
    pub text: String,
    /// What was taken out.
    pub removed: Removed,
}

/// How much of each kind was taken out of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Tokens of chat templates and role tags.
    pub control_tokens: usize,
    /// Characters that nobody sees.
    pub invisible: usize,
    /// Control characters; ends of lines that became `\n` do not count.
    pub controls: usize,
}

impl Removed {
    /// Whether nothing was taken out.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Normalises a text. Normalising twice is normalising once; linear in the length of the text.
///
/// In this order: NFKC; without invisible characters (a joiner stays where Arabic, Indic and like scripts or an
/// emoji need it) and without controls but `\n` and `\t` (every other end of a line becomes `\n`); without the
/// tokens of [`crate::control_tokens`].
#[must_use]
pub fn normalise(text: &str) -> Normalised {
    let mut removed = Removed::default();
    let (visible, has_joiners) = sifted(text, &mut removed);
    let before = removed.invisible;
    let visible = if has_joiners { without_idle_joiners(&visible, &mut removed) } else { visible };
    let (kept, tokens) = without_control_tokens(&visible);
    removed.control_tokens = tokens;
    // What was taken out may have stood between a letter and its mark.
    let text = if tokens > 0 || removed.invisible > before { folded(&kept) } else { kept };
    let text = if has_joiners { settled(text, &mut removed) } else { text };
    Normalised { text, removed }
}

/// How often joiners are looked at again.
const JOINER_PASSES_MAX: usize = 3;

/// A text whose joiners stay where they are: what was taken out, and the order of marks, decide about the others.
/// Where they do not come to rest, none is kept.
fn settled(mut text: String, removed: &mut Removed) -> String {
    for _ in 0..JOINER_PASSES_MAX {
        let before = removed.invisible;
        let kept = folded(&without_idle_joiners(&text, removed));
        if removed.invisible == before && kept == text {
            return text;
        }
        text = kept;
    }
    let kept: String = text.chars().filter(|c| !depends_on_neighbours(*c)).collect();
    removed.invisible += text.chars().count() - kept.chars().count();
    folded(&kept)
}

/// The text in NFKC without what is dropped wherever it stands, and whether joiners are left to look at.
fn sifted(text: &str, removed: &mut Removed) -> (String, bool) {
    let mut out = Folded::with_capacity(text.len());
    let mut has_joiners = false;
    let mut run = 0;
    for (at, c) in text.char_indices() {
        if is_stable(c) && (c >= ' ' || matches!(c, '\n' | '\t')) && c != '\u{7f}' {
            continue;
        }
        out.push_stable(&text[run..at]);
        run = at + c.len_utf8();
        match c {
            '\r' if text[run..].starts_with('\n') => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push_stable("\n"),
            c if c.is_control() => removed.controls += 1,
            c if is_always_dropped(c) => removed.invisible += 1,
            c => {
                has_joiners |= depends_on_neighbours(c);
                out.push(c);
            }
        }
    }
    out.push_stable(&text[run..]);
    (out.finish(), has_joiners)
}

fn without_idle_joiners(text: &str, removed: &mut Removed) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if depends_on_neighbours(c) && !is_needed(c, before, chars.peek().copied()) {
            removed.invisible += 1;
        } else {
            kept.push(c);
            before = Some(c);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> String {
        normalise(text).text
    }

    #[test]
    fn ordinary_text_of_any_language_stays() {
        for ordinary in [
            "",
            "plain words\n\twith a tab",
            "日本語の文章。がぎぐげご「かな」漢字ー",
            "Größe, naïve, Ελλάδα, Москва",
            "کتاب‌ها می‌خواهم",
            "👨‍👩‍👧 ❤️ 👩🏽‍💻",
            "क्‍ष 한국어",
            "<div class=\"a\">[link](b)</div>",
        ] {
            assert_eq!(
                normalise(ordinary),
                Normalised { text: ordinary.to_owned(), ..Normalised::default() }
            );
        }
    }

    #[test]
    fn compatibility_forms_are_folded_before_tokens_are_sought() {
        assert_eq!(text("ＡＢＣ ﾃﾞｰﾀ ① ﬁ"), "ABC データ 1 fi");
        assert_eq!(text("＜|im_start|＞system＜｜im_end｜＞"), "system");
        assert_eq!(text("<\u{200b}|im\u{2060}_start|>x"), "x");
    }

    #[test]
    fn a_joiner_is_judged_where_it_comes_to_stand() {
        for text in [
            "\u{301}<s>\u{94d}\u{200c}",
            "\u{301}\u{200c}\u{94d}\u{200c}",
            "a\u{200d}\u{327}\u{94d}\u{200d}\u{301}",
        ] {
            let once = normalise(text).text;
            assert_eq!(normalise(&once).text, once, "{text:?}");
        }
        let many = "\u{301}\u{200c}\u{94d}\u{200c}".repeat(2000);
        let once = normalise(&many).text;
        assert_eq!(normalise(&once).text, once);
    }

    #[test]
    fn what_was_taken_out_is_counted() {
        let found = normalise("a\u{200b}b\u{1b}[31m<|im_end|>\u{e0041}\r\nc\rd\u{2028}e");
        let removed = Removed { control_tokens: 1, invisible: 2, controls: 1 };
        assert_eq!(found, Normalised { text: "ab[31m\nc\nd\ne".to_owned(), removed });
    }

    #[test]
    fn a_mark_that_a_removal_joins_to_its_letter_is_composed() {
        assert_eq!(text("e<|im_end|>\u{301}"), "é");
        assert_eq!(text("e\u{200d}\u{301}"), "é");
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "<",
            "|",
            "im_",
            "start",
            "|>",
            ">",
            "[",
            "]",
            "INST",
            "/",
            "<<",
            ">>",
            "SYS",
            "s",
            "<s>",
            "user",
            "system",
            "\n",
            "\r",
            " ",
            "＜",
            "｜",
            "＞",
            "\u{200b}",
            "\u{200c}",
            "\u{200d}",
            "\u{fe0f}",
            "\u{301}",
            "\u{3099}",
            "か",
            "ｶ",
            "ﾞ",
            "ک",
            "ت",
            "\u{653}",
            "ا",
            "क",
            "\u{94d}",
            "👨",
            "❤",
            "1",
            "\u{20e3}",
            "\u{feff}",
            "e",
            "<|x|>",
            "▁",
            "\u{1b}",
            "\u{fdfa}",
            "\u{ffa0}",
            "\u{1100}",
            "\u{1161}",
            "\u{e0041}",
            "System",
            "List",
            "\u{338}",
            "<eos>",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn normalising_twice_is_normalising_once(text in prop_oneof![pieces(), any::<String>()]) {
            let once = normalise(&text);
            let again = Normalised { text: once.text.clone(), ..Normalised::default() };
            prop_assert_eq!(normalise(&once.text), again);
        }

        #[test]
        fn no_token_control_or_stray_joiner_is_left(text in pieces()) {
            let left = normalise(&text).text;
            for token in ["<|im_start|>", "<|x|>", "<s>", "[INST]", "[/INST]", "<<SYS>>", "<system>", "</system>", "<eos>"] {
                prop_assert!(!left.contains(token), "{left:?}");
            }
            prop_assert!(!left.contains(|c: char| c.is_control() && c != '\n'), "{left:?}");
        }
    }
}
