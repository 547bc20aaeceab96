//! Characters that nobody sees: which are dropped wherever they stand, and which some scripts need.
//!
//! Invariant: what is kept stands alone between characters of a script that needs it, so it can neither split a
//! Latin or Japanese word nor carry a text of its own.

/// Whether a character is dropped wherever it stands.
///
/// Zero-width blanks, direction marks, tags, fillers and the supplement of variation selectors. The last chooses
/// the shape of a Japanese character, never its meaning; tags also draw three flags of regions, which become the
/// black flag they are drawn over.
pub(crate) fn is_always_dropped(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character is kept only between characters that need it: joiners and variation selectors.
pub(crate) fn depends_on_neighbours(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a joiner or a variation selector is needed between `before` and `after`.
///
/// A joiner: after a virama, between two letters of the Arabic, Syriac, Indic, Tibetan, Myanmar, Khmer or
/// Mongolian scripts, or (the zero-width joiner) between two emoji. A selector: U+FE0E or U+FE0F after an emoji
/// or a sign that has an emoji form, and in a keycap.
pub(crate) fn is_needed(c: char, before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), after) = (before, after) else { return false };
    match c {
        '\u{200c}' | '\u{200d}' => {
            let is_between_letters = joins_letters(before) && after.is_some_and(joins_letters);
            let is_between_emoji = c == '\u{200d}'
                && (is_emoji(before) || matches!(before, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}'))
                && after.is_some_and(is_emoji);
            is_virama(before) || is_between_letters || is_between_emoji
        }
        '\u{fe0e}' | '\u{fe0f}' => {
            let is_keycap = matches!(before, '0'..='9' | '#' | '*') && after == Some('\u{20e3}');
            is_emoji(before) || is_keycap
        }
        _ => false,
    }
}

fn joins_letters(c: char) -> bool {
    matches!(c,
        '\u{620}'..='\u{6ff}' | '\u{700}'..='\u{77f}' | '\u{7ca}'..='\u{7f5}' | '\u{8a0}'..='\u{8ff}'
        | '\u{900}'..='\u{df4}' | '\u{f00}'..='\u{fbc}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17b3}'
        | '\u{17b6}'..='\u{17ff}' | '\u{1820}'..='\u{18aa}')
}

fn is_virama(c: char) -> bool {
    matches!(
        c,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
    )
}

fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{203c}' | '\u{2049}' | '\u{2139}' | '\u{2194}'..='\u{21aa}' | '\u{231a}'..='\u{23ff}' | '\u{25aa}'..='\u{27bf}'
        | '\u{2934}'..='\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{1f000}'..='\u{1f0ff}' | '\u{1f170}'..='\u{1f1ff}'
        | '\u{1f300}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// Whether `c`, between its neighbours, hides something from a reader.
pub(crate) fn hides(c: char, before: Option<char>, after: Option<char>) -> bool {
    // A selector after a Japanese character chooses its shape: ordinary in names of people and places.
    let is_shape = matches!(c, '\u{e0100}'..='\u{e01ef}')
        && before.is_some_and(|before| matches!(before, '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}'));
    // A soft hyphen says where a word may break; a mark at the very beginning says how the text is encoded.
    let is_ordinary = c == '\u{ad}' || (c == '\u{feff}' && before.is_none());
    if is_shape || is_ordinary {
        return false;
    }
    is_always_dropped(c) || (depends_on_neighbours(c) && !is_needed(c, before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_needs_hides_nothing() {
        for text in [
            "کتاب‌ها می‌خواهم",
            "👨‍👩‍👧 ❤️ 1️⃣ 🏳️‍🌈 👩🏽‍💻",
            "क्‍ष",
            "ශ්‍රී ලංකා",
            "葛\u{e0100}城",
            "\u{feff}text",
            "soft\u{ad}hyphen",
        ] {
            assert_eq!(hidden(text), 0, "{text}");
        }
    }

    #[test]
    fn what_splits_a_word_or_carries_a_text_hides_something() {
        for (text, count) in [
            ("ig\u{200b}nore", 1),
            ("ig\u{200d}nore", 1),
            ("無\u{200c}視", 1),
            ("a\u{202e}b\u{202c}", 2),
            ("x\u{e0049}\u{e0067}", 2),
            ("👍\u{fe0f}\u{fe0f}", 1),
            ("a\u{fe01}\u{fe02}", 2),
            ("کتاب‌\u{200c}ها", 2),
            ("葛\u{e0100}\u{e0101}", 1),
        ] {
            assert_eq!(hidden(text), count, "{text:?}");
        }
    }

    fn hidden(text: &str) -> usize {
        let chars: Vec<char> = text.chars().collect();
        (0..chars.len())
            .filter(|at| {
                let before = at.checked_sub(1).map(|before| chars[before]);
                hides(chars[*at], before, chars.get(at + 1).copied())
            })
            .count()
    }
}
