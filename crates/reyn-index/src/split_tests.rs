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
fn no_piece_is_a_heading_alone() {
    let long = "A sentence of this paragraph. ".repeat(4);
    let long = long.trim_end();
    for (text, expected) in [
        // Below it comes a heading, which has the text.
        (
            "# Title\n\n## Part\n\nText.\n".to_owned(),
            vec![pair("Title > Part", "# Title\n\n## Part\n\nText.")],
        ),
        // It is above a paragraph that is longer than the target.
        (
            format!("# Title\n\n{long}\n"),
            vec![
                pair("Title", "# Title\n\nA sentence of this paragraph."),
                pair("Title", "A sentence of this paragraph."),
                pair("Title", "A sentence of this paragraph."),
                pair("Title", "A sentence of this paragraph."),
            ],
        ),
        // A question is a sentence of its own.
        (
            "## Why?\n\nBecause it is so, and was so before.\n".to_owned(),
            vec![pair("Why?", "## Why?\n\nBecause it is so, and was so before.")],
        ),
        // Nothing is below it: nothing at all, or the text of others.
        ("Text.\n\n# Last\n\n## Of all\n".to_owned(), vec![pair("", "Text.")]),
        ("# Empty\n\n# Full\n\nText.\n".to_owned(), vec![pair("Full", "# Empty\n\n# Full\n\nText.")]),
        // There is nothing else.
        ("# One\n\n## Two\n".to_owned(), vec![pair("", "# One\n\n## Two")]),
        // A fence and a table are what it belongs to.
        (
            "# Run\n\n```\nls\n```\n\n# See\n| a |\n".to_owned(),
            vec![pair("Run", "# Run\n\n```\nls\n```"), pair("See", "# See\n| a |")],
        ),
        // It is underlined.
        (
            "Title\n=====\n\nPart\n---\nText.\n\n- item\n---\n".to_owned(),
            vec![
                pair("Title > Part", "Title\n=====\n\nPart\n---\nText."),
                pair("Title > Part", "- item\n---"),
            ],
        ),
    ] {
        assert_eq!(pieces(&text, TextKind::Markdown, 100, 30), expected, "{text}");
    }
}

#[test]
fn a_heading_that_does_not_fit_above_its_text_stands_in_its_headings_alone() {
    let text = format!("# {}\n\n{}\n", "title ".repeat(5), "x".repeat(30));
    let title = "title title title title title";
    assert_eq!(pieces(&text, TextKind::Markdown, 15, 60), [pair(title, &"x".repeat(30))]);
    let text = format!("# {}\n\ntext\n", "title ".repeat(100));
    assert!(pieces(&text, TextKind::Markdown, 100, 100).iter().all(|(context, _)| context.is_empty()));
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

/// Whether a line is a heading's: `#`, or below one.
fn is_of_heading(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('#')
        || (!line.is_empty() && (line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-')))
}

/// Whether what is in no piece is nothing but headings and blanks.
fn may_be_left_out(stretch: &str) -> bool {
    let lines: Vec<&str> = stretch.lines().collect();
    lines.iter().enumerate().all(|(at, line)| {
        line.trim().is_empty()
            || is_of_heading(line)
            || lines.get(at + 1).is_some_and(|next| is_of_heading(next))
    })
}

proptest! {
    #[test]
    fn no_piece_is_above_the_limit_and_nothing_is_lost(
        parts in proptest::collection::vec(
            prop_oneof![
                "[a-zé。 .!?あ東]{0,60}", "#{0,7} ?[a-z]{0,9}", "(`{3}|~{3,4})[a-z]{0,3}", "\\|a\\|b\\|", "\\PC{0,30}", "={1,3}", "-{1,3}",
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
            let between = &text[end..piece.bytes.start];
            let may_be = if kind == TextKind::Markdown { may_be_left_out(between) } else { between.trim().is_empty() };
            prop_assert!(may_be, "lost {:?}", between);
            let stretch = &text[piece.bytes.clone()];
            prop_assert!(!stretch.trim().is_empty());
            prop_assert_eq!(piece.tokens, count(stretch));
            prop_assert!(piece.tokens <= tokens_max);
            end = piece.bytes.end;
        }
        let rest = &text[end..];
        let may_be = if kind == TextKind::Markdown { may_be_left_out(rest) } else { rest.trim().is_empty() };
        prop_assert!(may_be, "lost {:?}", rest);
        prop_assert!(end > 0 || text.trim().is_empty(), "{:?} has no piece", text);
    }

    #[test]
    fn a_piece_has_more_than_headings_where_the_text_has(
        parts in proptest::collection::vec(
            prop_oneof!["[a-z。. ]{1,80}", "#{1,6} [a-z?]{0,20}", "\\|a\\|b\\|", Just(String::new())],
            0..40,
        ),
        tokens_max in 1_usize..40,
        target in 1_usize..120,
    ) {
        let text = parts.join("\n");
        let has_more = |stretch: &str| stretch.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'));
        for piece in split(&text, TextKind::Markdown, &limits(tokens_max, target)) {
            prop_assert!(has_more(&text[piece.bytes.clone()]) || !has_more(&text), "{:?}", &text[piece.bytes]);
        }
    }
}
