//! Characters as an error text shows them: none that changes how the text itself is read.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A character by itself and its number, by its number alone where it cannot be seen.
pub(crate) fn named(character: char) -> String {
    let number = format!("U+{:04X}", u32::from(character));
    // Rust escapes what cannot be seen on its own, and quotes, which can.
    let is_hidden = is_control(character) || character.escape_debug().nth(1) == Some('u');
    if is_hidden || character.is_whitespace() { number } else { format!("`{character}` ({number})") }
}

/// `text` with `<U+0085>` for each control character but tabs and line feeds.
pub(crate) fn without_controls(text: &str) -> Cow<'_, str> {
    if !has_controls(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\t' | '\n' => shown.push(character),
            _ if is_control(character) => {
                let _ = write!(shown, "<U+{:04X}>", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Whether [`without_controls`] changes anything.
pub(crate) fn has_controls(text: &str) -> bool {
    text.contains(|character| is_control(character) && !matches!(character, '\t' | '\n'))
}

/// Control characters, and those that end a line or turn its direction.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_named_by_its_number_when_it_cannot_be_seen() {
        for (character, expected) in [
            ('〜', "`〜` (U+301C)"),
            ('\'', "`'` (U+0027)"),
            ('\\', "`\\` (U+005C)"),
            ('😀', "`😀` (U+1F600)"),
            ('\n', "U+000A"),
            ('\u{1B}', "U+001B"),
            ('\u{85}', "U+0085"),
            ('\u{A0}', "U+00A0"),
            ('\u{3000}', "U+3000"),
            ('\u{AD}', "U+00AD"),
            ('\u{301}', "U+0301"),
            ('\u{200B}', "U+200B"),
            ('\u{202E}', "U+202E"),
            ('\u{FEFF}', "U+FEFF"),
        ] {
            assert_eq!(named(character), expected, "{}", u32::from(character));
        }
    }

    #[test]
    fn a_text_keeps_all_but_its_control_characters() {
        for (text, expected) in [
            ("a\tb\n é\u{A0}\u{200B}“", "a\tb\n é\u{A0}\u{200B}“"),
            ("a\r\u{0}\u{85}\u{7F}", "a<U+000D><U+0000><U+0085><U+007F>"),
            ("\u{1B}[2J", "<U+001B>[2J"),
            ("a\u{202E}b\u{2028}", "a<U+202E>b<U+2028>"),
        ] {
            assert_eq!(without_controls(text), expected);
            assert_eq!(has_controls(text), text != expected, "{expected}");
        }
    }
}
