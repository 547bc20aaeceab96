//! Folding, and the way back from it.

use proptest::prelude::*;

use super::*;

#[test]
fn what_is_overlooked_folds_to_the_same() {
    let table = [
        ("single quotes", "‘a’ ‚a‛ ‹a› ´a` ＇a｀", "'a' 'a' 'a' 'a' 'a'"),
        ("double quotes", "“a” „a‟ «a» ＂a＂", "\"a\" \"a\" \"a\" \"a\""),
        ("dashes", "a‐b‑c‒d–e—f―g−h－i", "a-b-c-d-e-f-g-h-i"),
        ("blanks of all widths", "a\u{A0}b\u{3000}c\u{2009}d\te", "a b c d e"),
        ("runs of blanks", "a \t \u{A0} b", "a b"),
        ("blanks at the ends of lines", "a \u{A0}\nb\t", "a\nb"),
        ("indentation stays one blank", "\t\ta\n    b", " a\n b"),
        ("no width", "a\u{200B}b\u{FEFF}c\u{AD}d", "abcd"),
        ("full width", "ＡＢＣ（１２）！", "ABC(12)!"),
        ("wave dash and full-width tilde", "x\u{301C}y\u{FF5E}z~", "x~y~z~"),
        ("full-width signs", "￠￡￢￣￤￥￦", "¢£¬¯¦¥₩"),
        ("composed", "é が 각", "e\u{301} か\u{3099} \u{1100}\u{1161}\u{11A8}"),
        ("marks in one order", "a\u{301}\u{323}", "a\u{323}\u{301}"),
        ("other text stays", "日本語 ー… x_y", "日本語 ー… x_y"),
    ];
    for (name, text, expected) in table {
        assert_eq!(fold(text), expected, "{name}");
    }
}

#[test]
fn characters_of_which_an_encoding_has_one_fold_to_the_same() {
    for (one, other) in crate::encoding::LOOKALIKES {
        let [folded, also] = [one, other].map(|character| fold(&format!("a{character}b")));
        assert_eq!(folded, also, "{one} {other}");
        assert_ne!(folded, "ab", "{one} stays a character");
    }
}

#[test]
fn a_place_is_that_of_the_text_before_folding() {
    type Row<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, u64)]);
    let table: &[Row<'_>] = &[
        ("quotes", "x\n“a” b", "\"a\"", &[("“a”", 2)]),
        ("over lines", "a  \n\tb\nc", "a\n b", &[("a  \n\tb", 1)]),
        ("several", "‘a’\n'a'", "'a'", &[("‘a’", 1), ("'a'", 2)]),
        ("that overlap", "–––", "--", &[("––", 1), ("––", 1)]),
        ("to the end of a line", "“a” \nb", "\"a\"\n", &[("“a” \n", 1)]),
        ("no part of a character", "é", "e", &[]),
        ("no end of a character", "éx", "\u{301}x", &[]),
        ("a whole character", "é", "e\u{301}", &[("é", 1)]),
        ("not there", "abc", "abd", &[]),
        ("nothing but blanks", "a \u{A0} b", " ", &[]),
        ("nothing", "abc", "", &[]),
    ];
    for (name, text, wanted, expected) in table {
        let found: Vec<(&str, u64)> =
            find(text, wanted).into_iter().map(|place| (&text[place.range], place.line)).collect();
        assert_eq!(found, *expected, "{name}");
    }
}

#[test]
fn differences_are_those_that_matter() {
    let table: &[(&str, &str, &[Kind])] = &[
        ("“a” – b", "\"a\" – b", &[Kind::Quotes]),
        ("“a” – b", "\"a\" - b", &[Kind::Quotes, Kind::Dashes]),
        ("a  b", "a b ", &[Kind::Blanks]),
        ("é\u{200B}", "e\u{301}", &[Kind::Invisible, Kind::Composition]),
        ("a", "a", &[]),
    ];
    for (left, right, expected) in table {
        assert_eq!(differences(left, right), *expected, "{left} {right}");
    }
}

#[test]
fn places_are_at_most_eleven() {
    assert_eq!(find(&"“a”\n".repeat(100), "\"a\"").len(), PLACES_MAX);
    assert_eq!(find(&"“a”\n".repeat(5), "\"a\"").len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn folding_twice_changes_nothing_more(text in "[a '“”–\u{A0}\u{3000}\u{200B}éが\u{301}\u{3099}Ａ\t\n]{0,20}") {
        prop_assert_eq!(fold(&fold(&text)), fold(&text));
    }

    #[test]
    fn a_place_folds_to_what_was_looked_for(
        text in "[a \"“”–\u{A0}\u{200B}é\u{301}\n-]{0,20}", wanted in "[a \"–é\n-]{1,3}",
    ) {
        for place in find(&text, &wanted) {
            let (found, wanted) = (fold(&text[place.range]), fold(&wanted));
            prop_assert_eq!(found.trim_end_matches(' '), wanted.trim_end_matches(' '));
        }
    }

    #[test]
    fn any_text_can_be_searched(text in any::<String>(), wanted in any::<String>()) {
        for place in find(&text, &wanted) {
            prop_assert!(text.get(place.range).is_some());
        }
    }
}
