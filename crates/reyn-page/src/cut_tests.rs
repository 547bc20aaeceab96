//! Where texts are cut.

use super::*;

#[test]
fn a_text_is_cut_where_a_reader_would_cut_it() {
    for (text, chars_max, expected) in [
        ("short", 5, "short"),
        ("short", 100, "short"),
        ("", 0, ""),
        ("abc", 0, ""),
        // A paragraph is better than a line, a line better than a word.
        ("aaaaaaaaaaaaaaaaaa\n\nb\nc d e f", 21, "aaaaaaaaaaaaaaaaaa\n\nb"),
        ("0123456789012345678901234567890123\n\nab\ncd ef", 40, "0123456789012345678901234567890123\n\nab"),
        ("012345678901234567890123456789012345\n\nab\nc d", 42, "012345678901234567890123456789012345\n\nab"),
        ("01234567890123456789012345678901234567 ab", 40, "01234567890123456789012345678901234567"),
        // Not a word's end that is far away.
        ("ab 0123456789", 12, "ab 012345678"),
        // The cut itself may be at a word's end.
        ("0123456789 abc", 10, "0123456789"),
        // Japanese has no blanks, and is cut between characters.
        ("吾輩は猫である。", 3, "吾輩は"),
        // One character of several scalar values stays whole.
        ("ae\u{301}b", 2, "a"),
        ("a👨‍👩‍👧b", 3, "a"),
        ("🇯🇵🇫🇷", 3, "🇯🇵"),
        ("か\u{3099}き", 1, ""),
        ("a\r\nb", 2, "a"),
    ] {
        let cut = cut(text.to_owned(), chars_max);
        let total = text.chars().count();
        let expected = Cut { text: expected.into(), chars_total: total, is_cut: total > chars_max };
        assert_eq!(cut, expected, "{text} {chars_max}");
    }
}

proptest::proptest! {
    #[test]
    fn a_cut_text_is_a_beginning_of_nine_tenths_or_more(text in "[a-c語 \n]{0,200}", chars_max in 0_usize..200) {
        let cut = cut(text.clone(), chars_max);
        proptest::prop_assert!(text.starts_with(&cut.text));
        proptest::prop_assert!(cut.text.chars().count() <= chars_max);
        let kept = &text[cut.text.len()..];
        let blanks = kept.chars().take_while(|character| character.is_whitespace()).count();
        let least = chars_max.min(cut.chars_total) * 9 / 10;
        proptest::prop_assert!(cut.text.chars().count() + blanks >= least);
    }
}
