//! The nearest lines.

use proptest::prelude::*;

use super::*;

fn shown(text: &str, wanted: &str) -> Vec<String> {
    places(text, wanted).iter().map(ToString::to_string).collect()
}

#[test]
fn the_nearest_lines_are_found() {
    let code =
        "use std::fs;\n\nfn read_all(path: &Path) -> String {\n    fs::read_to_string(path).unwrap()\n}\n";
    let table: &[(&str, &str, &str, &[&str])] = &[
        (
            "a changed word",
            code,
            "fn read_all(path: &str) -> String {",
            &["3: fn read_all(path: &Path) -> String {"],
        ),
        (
            "other indentation",
            code,
            "fs::read_to_string(path).expect()",
            &["4:     fs::read_to_string(path).unwrap()"],
        ),
        (
            "several lines",
            code,
            "fn read_all(path: Path) -> String {\n  fs::read_to_string(path)\n",
            &["3: fn read_all(path: &Path) -> String {\n4:     fs::read_to_string(path).unwrap()"],
        ),
        ("japanese", "設定を読む\n結果を保存する\n終わり\n", "結果を保存した", &["2: 結果を保存する"]),
        (
            "best first",
            "let total = 2;\nlet total = 1;\nx\n",
            "let total = 1",
            &["2: let total = 1;", "1: let total = 2;"],
        ),
        ("at the end of the text", "x\nfn last_one() {", "fn last_one() {\n}\n}", &["2: fn last_one() {"]),
        ("nothing like it", code, "impl Display for Zebra", &[]),
        ("nothing to compare", code, "}\n", &[]),
        ("an empty text", "", "fn read_all", &[]),
    ];
    for (name, text, wanted, expected) in table {
        assert_eq!(shown(text, wanted), *expected, "{name}");
    }
}

#[test]
fn at_most_three_places_are_shown_and_none_twice() {
    let text = "fn alpha_beta() {}\n".repeat(10);
    assert_eq!(
        shown(&text, "fn alpha_bet() {}"),
        ["1: fn alpha_beta() {}", "2: fn alpha_beta() {}", "3: fn alpha_beta() {}"]
    );
    let pair = "fn alpha_beta() {}\nfn gamma_delta() {}\n".repeat(10);
    let firsts: Vec<u64> =
        places(&pair, "fn alpha_bet() {}\nfn gamma_delt() {}").iter().map(|place| place.line).collect();
    assert_eq!(firsts, [1, 3, 5]);
}

#[test]
fn long_lines_and_places_are_cut() {
    let line = format!("let value = {};", "123456789 ".repeat(100));
    let shown = places(&line, &line.replace("value", "valu"));
    assert_eq!(shown[0].lines, [format!("{}…", &line[..200])]);
    let text: String = (0..40).map(|number| format!("line number {number}\n")).collect();
    let wanted = text.replace("number 30", "number thirty");
    let place = &places(&text, &wanted)[0];
    assert_eq!((place.line, place.lines.len()), (29, 12));
    assert_eq!(place.lines[2], "line number 30");
}

proptest! {
    #[test]
    fn any_text_can_be_searched(text in any::<String>(), wanted in any::<String>()) {
        prop_assert!(places(&text, &wanted).len() <= PLACES_MAX);
    }

    #[test]
    fn few_kinds_of_lines_can_be_searched(text in "(abcd\n|abce f\n|\n|あいう\n){0,12}", wanted in "(abcd\n|abcf\n|あい\n){1,3}") {
        for place in places(&text, &wanted) {
            prop_assert_eq!(text.lines().nth(place.line as usize - 1), place.lines.first().map(String::as_str));
        }
    }
}
