//! Tables and properties of cutting a text.

use proptest::prelude::*;

use super::*;

fn count(text: &str) -> usize {
    text.chars().count().div_ceil(3)
}

fn limits(tokens_max: usize, characters_target: usize) -> Limits<'static> {
    Limits { tokens: &count, tokens_max, characters_target }
}

fn pieces(text: &str, kind: TextKind, tokens_max: usize, target: usize) -> Vec<(String, String)> {
    split(text, kind, &limits(tokens_max, target))
        .into_iter()
        .map(|piece| (piece.parent_context.unwrap_or_default(), text[piece.bytes].to_owned()))
        .collect()
}

fn pair(context: &str, text: &str) -> (String, String) {
    (context.to_owned(), text.to_owned())
}

#[test]
fn markdown_is_cut_at_headings_which_stay_above_what_is_below_them() {
    let text = "Intro.\n\n# Setup\n\nFirst.\n\nSecond.\n\n## Linux ##\nUse it.\n\n# Use\n\nRun.\n";
    assert_eq!(
        pieces(text, TextKind::Markdown, 100, 400),
        [
            pair("", "Intro."),
            pair("Setup", "# Setup\n\nFirst.\n\nSecond."),
            pair("Setup > Linux", "## Linux ##\nUse it."),
            pair("Use", "# Use\n\nRun."),
        ]
    );
}

#[test]
fn a_fence_stays_whole_and_what_looks_like_a_heading_in_it_is_none() {
    let text = "Before it.\n\n```sh\n# no heading\n\nls\n```\n\nAfter it, some more words.\n";
    assert_eq!(
        pieces(text, TextKind::Markdown, 100, 20),
        [
            pair("", "Before it."),
            pair("", "```sh\n# no heading\n\nls\n```"),
            pair("", "After it, some more words."),
        ]
    );
}

#[test]
fn long_paragraphs_are_cut_at_sentences_of_either_kind() {
    let text = "最初の文です。「次の文です。」三つ目！ 四つ目の文は少し長いです。";
    assert_eq!(
        pieces(text, TextKind::Plain, 100, 16),
        [
            pair("", "最初の文です。「次の文です。」"),
            pair("", "三つ目！"),
            pair("", "四つ目の文は少し長いです。")
        ]
    );
    let text = "One sentence, e.g. this. Another one follows? Yes, version 1.2 is the third.";
    assert_eq!(
        pieces(text, TextKind::Plain, 100, 30),
        [
            pair("", "One sentence, e.g. this."),
            pair("", "Another one follows?"),
            pair("", "Yes, version 1.2 is the third."),
        ]
    );
}

#[test]
fn code_is_cut_at_blank_lines_and_then_at_lines() {
    let text = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n    three();\n}\n";
    assert_eq!(
        pieces(text, TextKind::Code, 100, 30),
        [pair("", "fn a() {\n    one();\n}"), pair("", "fn b() {\n    two();\n    three();\n}")]
    );
    assert_eq!(pieces(text, TextKind::Code, 7, 30).len(), 3);
}

#[test]
fn ten_megabytes_without_a_blank_are_cut_in_linear_time() {
    for text in
        ["x".repeat(10_000_000), "word ".repeat(2_000_000), "あ。".repeat(1_700_000), "\n#".repeat(3_000_000)]
    {
        let counted = std::cell::Cell::new(0_usize);
        let tokens = |text: &str| {
            counted.set(counted.get() + text.len());
            count(text)
        };
        let limits = Limits { tokens: &tokens, tokens_max: 128, characters_target: 400 };
        let pieces = split(&text, TextKind::Markdown, &limits);
        assert!(pieces.iter().all(|piece| piece.tokens <= 128));
        assert!(counted.get() < 200 * text.len(), "{} bytes counted", counted.get());
    }
}

proptest! {
    #[test]
    fn no_piece_is_above_the_limit_and_nothing_is_lost(
        parts in proptest::collection::vec(
            prop_oneof![
                "[a-zé。 .!?あ東]{0,60}", "#{0,7} ?[a-z]{0,9}", "(`{3}|~{3,4})[a-z]{0,3}", "\\|a\\|b\\|", "\\PC{0,30}",
                Just(String::new())
            ],
            0..40,
        ),
        tokens_max in 1_usize..40,
        target in 1_usize..120,
        kind in prop_oneof![Just(TextKind::Markdown), Just(TextKind::Plain), Just(TextKind::Code)],
    ) {
        let text = parts.join("\n");
        let mut end = 0;
        for piece in split(&text, kind, &limits(tokens_max, target)) {
            prop_assert!(text[end..piece.bytes.start].trim().is_empty(), "lost {:?}", &text[end..piece.bytes.start]);
            let stretch = &text[piece.bytes.clone()];
            prop_assert!(!stretch.trim().is_empty());
            prop_assert_eq!(piece.tokens, count(stretch));
            prop_assert!(piece.tokens <= tokens_max);
            end = piece.bytes.end;
        }
        prop_assert!(text[end..].trim().is_empty(), "lost {:?}", &text[end..]);
    }
}
