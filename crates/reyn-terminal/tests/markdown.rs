//! Markdown as a person sees it.
//!
//! Each case is also streamed character by character, with a look at the tail after each.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use reyn_terminal::{Colour, Line, Look, MarkdownStream, Style};

/// Streams pieces; the lines that became final.
fn stream<'a>(columns: usize, pieces: impl IntoIterator<Item = &'a str>) -> Vec<Line> {
    let mut markdown = MarkdownStream::new(columns);
    let mut lines = vec![];
    for piece in pieces {
        lines.extend(markdown.push(piece));
        let tail = markdown.tail();
        assert!(tail.len() <= 200, "{} rows of a tail", tail.len());
        are_fit(columns, &tail);
    }
    lines.extend(markdown.finish());
    lines
}

/// Lines are narrow enough, end with no space, and hold no control character.
fn are_fit(columns: usize, lines: &[Line]) {
    for line in lines {
        let text = line.text();
        // A wide character alone may be wider than the narrowest terminal.
        assert!(line.width() <= columns.max(2), "{columns} columns: `{text}`");
        assert!(!text.ends_with(' '), "`{text}`");
        assert!(!text.contains(char::is_control), "`{text}`");
        assert_eq!(reyn_terminal::cell_width(&text), line.width(), "`{text}`");
    }
}

fn rendered(columns: usize, text: &str) -> Vec<Line> {
    let lines = stream(columns, [text]);
    let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let characters = ends.iter().map(|end| {
        let start = text.floor_char_boundary(end - 1);
        &text[start..*end]
    });
    assert_eq!(stream(columns, characters), lines, "cut into characters");
    are_fit(columns, &lines);
    lines
}

fn plain(lines: &[Line]) -> String {
    lines.iter().fold(String::new(), |text, line| text + &line.text() + "\n")
}

fn check(columns: usize, text: &str, expected: &Expect) {
    expected.assert_eq(&plain(&rendered(columns, text)));
}

/// The text with the style of each part before it.
fn check_styles(text: &str, expected: &Expect) {
    let mut out = String::new();
    for line in rendered(80, text) {
        for span in line.spans() {
            let Style { bold, dim, italic, underline, strike, reverse, colour } = span.style();
            let flags =
                [(bold, 'b'), (dim, 'd'), (italic, 'i'), (underline, 'u'), (strike, 's'), (reverse, 'r')];
            let mut name: String =
                flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect();
            if let Some(colour) = colour {
                let _ = write!(name, "{}", format!("{colour:?}").to_lowercase());
            }
            if name.is_empty() {
                out.push_str(span.text());
            } else {
                let _ = write!(out, "⟨{name}|{}⟩", span.text());
            }
        }
        out.push('\n');
    }
    expected.assert_eq(&out);
}

#[test]
fn paragraphs_are_wrapped_and_their_line_ends_kept() {
    check(
        20,
        "The quick brown fox jumps over.\nA line.  \nA hard break.\\\nAnother one.\n\n\n\nNext.\n",
        &expect![[r#"
            The quick brown fox
            jumps over.
            A line.
            A hard break.
            Another one.

            Next.
        "#]],
    );
}

#[test]
fn headings() {
    check(
        40,
        "# One #\ntext\n## Two\n\nThree\n=====\n\nFour\nwords\n---\n#no\n",
        &expect![[r#"
        One
        text
        Two

        Three

        Four
        words
        #no
    "#]],
    );
}

#[test]
fn nested_lists() {
    check(
        24,
        "\
- one is long enough to wrap
  - two
    1. three
    2. four is long, too, so long
  - five

    a paragraph in five
* other list
",
        &expect![[r#"
            • one is long enough to
              wrap
              • two
                1. three
                2. four is long,
                   too, so long
              • five

                a paragraph in five
            • other list
        "#]],
    );
}

#[test]
fn loose_lists_keep_their_blank_lines() {
    check(
        40,
        "- a\n\n- b\n\n\n- c\n- d\n\n  more\n",
        &expect![[r#"
        • a

        • b

        • c
        • d

          more
    "#]],
    );
}

#[test]
fn a_list_begins_with_its_number_and_counts_on() {
    check(
        40,
        "7. seven\n8. eight\n8. nine\n10. ten\n\n3) three\n",
        &expect![[r#"
        7. seven
        8. eight
        9. nine
        10. ten

        3) three
    "#]],
    );
}

#[test]
fn tasks_have_boxes() {
    check(
        40,
        "- [ ] open\n- [x] done\n1. [X] numbered\n- [ ]\n- [y] no\n",
        &expect![[r#"
        ☐ open
        ☑ done
        1. ☑ numbered
        • [ ]
        • [y] no
    "#]],
    );
}

#[test]
fn quotes_with_lists_and_code() {
    check(
        30,
        "> a quote that is long enough to wrap\nlazy\n>\n> - item\n>   more\n>\n> ```\n> code\n> ```\n> > inner\n\n> other\n",
        &expect![[r#"
            │ a quote that is long enough
            │ to wrap
            │ lazy
            │
            │ • item
            │   more
            │
            │   code
            │ │ inner

            │ other
        "#]],
    );
}

#[test]
fn code_keeps_its_indentation_and_blank_lines() {
    check(
        24,
        "Text:\n```rust\nfn main() {\n\n\n    println!(\"long enough to wrap\");\n}\n```\nafter\n",
        &expect![[r#"
            Text:
              fn main() {


                  println!("long eno
              ugh to wrap");
              }
            after
        "#]],
    );
}

#[test]
fn code_in_lists_and_with_tildes_and_without_an_end() {
    check(
        40,
        "1. step\n   ```bash\n   cd x\n     ls\n   ```\n2. next\n\n   ~~~\n   ```\n   ~~~\n- ```\n  first\n  ```\n\n````\n```\nopen",
        &expect![[r#"
            1. step
                 cd x
                   ls
            2. next

                 ```
            •   first

              ```
              open
        "#]],
    );
}

#[test]
fn indented_code() {
    check(
        40,
        "text\n\n    code\n\n\n      more\n\n\tend\n\ntext\n    no code\n",
        &expect![[r#"
        text

          code


            more

          end

        text
        no code
    "#]],
    );
}

#[test]
fn links_show_where_they_lead() {
    check(
        60,
        "[text](https://a.b/c) [a.b](https://a.b/) <https://a.b> <me@a.b> [](https://a.b) [x]()\n\
         ![alt *text*](image.png) ![](image.png) [![badge](b.png)](https://a.b)\n",
        &expect![[r#"
            text (https://a.b/c) a.b https://a.b me@a.b (https://a.b) x
            alt text image.png badge (https://a.b)
        "#]],
    );
}

#[test]
fn a_link_is_resolved_once_its_label_is_defined() {
    check(
        40,
        "[a] and [b][a]\n\n[A]: https://a.b 'title'\n\n[a] and [b][a]\n",
        &expect![[r#"
        [a] and [b][a]

        a (https://a.b) and b (https://a.b)
    "#]],
    );
}

#[test]
fn html_is_text() {
    check(
        40,
        "<details>\n  <summary>S</summary>\n\n**bold** Vec<String> a<br>b &lt;&copy;\n\n<!-- a\n\nb -->\n<think>\nso *x*\n",
        &expect![[r#"
            <details>
              <summary>S</summary>

            bold Vec<String> a
            b <©

            <!-- a

            b -->
            <think>
            so *x*
        "#]],
    );
}

#[test]
fn rules_fill_the_room() {
    check(
        10,
        "a\n\n---\n> ***\n",
        &expect![[r#"
        a

        ──────────
        │ ────────
    "#]],
    );
}

const TABLE: &str = "\
| 名前 | Count | Note |
|:-----|------:|:----:|
| 太郎 | 7 | `a|b` and **words** that go on |
| 日本語の名前 | 1,024 | x |
| e | | \\| |
";

#[test]
fn tables_are_drawn_with_aligned_columns() {
    check(
        60,
        TABLE,
        &expect![[r#"
            ┌──────────────┬───────┬──────────────────────────┐
            │ 名前         │ Count │           Note           │
            ├──────────────┼───────┼──────────────────────────┤
            │ 太郎         │     7 │ a|b and words that go on │
            │ 日本語の名前 │ 1,024 │            x             │
            │ e            │       │            |             │
            └──────────────┴───────┴──────────────────────────┘
        "#]],
    );
}

#[test]
fn a_row_with_too_many_bars_loses_nothing() {
    check(
        60,
        "| a | b |\n|---|---|\n| `x|y` | z |\n| 1 | 2 | 3 |\n| ` | 2 | 3\n|a|b|c|d|\n| \\| | `\\|` | e\n",
        &expect![[r#"
            ┌─────┬───────┐
            │ a   │ b     │
            ├─────┼───────┤
            │ x|y │ z     │
            │ 1   │ 2 | 3 │
            │ `   │ 2 | 3 │
            │ a   │ b|c|d │
            │ |   │ | | e │
            └─────┴───────┘
        "#]],
    );
}

#[test]
fn tables_are_shrunk_to_fit() {
    check(
        40,
        TABLE,
        &expect![[r#"
            ┌──────────────┬───────┬───────────────┐
            │ 名前         │ Count │     Note      │
            ├──────────────┼───────┼───────────────┤
            │ 太郎         │     7 │ a|b and words │
            │              │       │  that go on   │
            ├──────────────┼───────┼───────────────┤
            │ 日本語の名前 │ 1,024 │       x       │
            ├──────────────┼───────┼───────────────┤
            │ e            │       │       |       │
            └──────────────┴───────┴───────────────┘
        "#]],
    );
}

#[test]
fn a_table_too_wide_for_the_terminal_is_a_list() {
    check(
        20,
        TABLE,
        &expect![[r#"
            名前: 太郎
            Count: 7
            Note: a|b and words
              that go on

            名前: 日本語の名前
            Count: 1,024
            Note: x

            名前: e
            Note: |
        "#]],
    );
    check(
        5,
        "| a | b |\n|---|---|\n| 1 | 日本 |\n",
        &expect![[r#"
        a: 1
        b: 日
        本
    "#]],
    );
}

#[test]
fn tables_stand_in_lists_follow_text_and_end_without_bars() {
    check(
        40,
        "Here:\n| a | b |\n|---|---|\n| 1<br>2 | 3 |\n| 4 | 5 |\nafter\n\n- | x |\n  |---|\n  | y |\n\n| head | alone |\n|--|--|\n",
        &expect![[r#"
            Here:
            ┌───┬───┐
            │ a │ b │
            ├───┼───┤
            │ 1 │ 3 │
            │ 2 │   │
            ├───┼───┤
            │ 4 │ 5 │
            └───┴───┘
            after

            • ┌───┐
              │ x │
              ├───┤
              │ y │
              └───┘

            ┌──────┬───────┐
            │ head │ alone │
            └──────┴───────┘
        "#]],
    );
}

#[test]
fn a_long_table_is_shown_before_it_ends() {
    let mut markdown = MarkdownStream::new(40);
    let mut text = String::from("| n | words |\n|--:|---|\n");
    for at in 0..150 {
        let _ = writeln!(text, "| {at} | row |");
    }
    let first = markdown.push(&text).len();
    assert!((140..160).contains(&first), "{first} lines");
    let last = markdown.push("| 1234567890 | a longer text than any before |\n");
    expect![[r#"
        │ 1234567 │ a longer    │
        │     890 │ text than   │
        │         │ any before  │
    "#]]
    .assert_eq(&plain(&last));
    assert_eq!(markdown.finish().len(), 1);
    rendered(40, &text);
}

#[test]
fn emphasis_beside_japanese_is_what_its_writer_means() {
    check_styles(
        "これは**「重要」**です。**強調**です、**注意：**読む。*（斜体）*と~~「削除」~~と**\"引用\"**を。\n\
         **`code`**は***「両方」***、**[名](u)**も。「**\"x\"**」 한국어**\"강조\"**는 2 ** 3 ** 4 \\**「素」\\**\n",
        &expect![[r#"
            これは⟨b|「重要」⟩です。⟨b|強調⟩です、⟨b|注意：⟩読む。⟨i|（斜体）⟩と⟨s|「削除」⟩と⟨b|"引用"⟩を。
            ⟨bcyan|code⟩は⟨bi|「両方」⟩、⟨b|名⟩⟨d| (u)⟩も。「⟨b|"x"⟩」 한국어⟨b|"강조"⟩는 2 ** 3 ** 4 *⟨i|「素」*⟩
        "#]],
    );
}

#[test]
fn styles() {
    check_styles(
        "# Head `code`\n## Sub\na **bold *both*** ~~gone~~ `code` [link](https://a.b)\n\n> quote\n\n- [x] x\n\n---\n",
        &expect![[r#"
            ⟨bu|Head ⟩⟨bucyan|code⟩
            ⟨b|Sub⟩
            a ⟨b|bold ⟩⟨bi|both⟩ ⟨s|gone⟩ ⟨cyan|code⟩ link⟨d| (https://a.b)⟩

            ⟨d|│ ⟩quote

            ☑ x

            ⟨d|────────────────────────────────────────⟩
        "#]],
    );
    check_styles(
        "```rust\nlet x = \"a\"; // b\n/* c\n```\n\n```diff\n-a\n+b\n```\n\n| a |\n|---|\n| `b` |\n",
        &expect![[r#"
              ⟨magenta|let⟩ x = ⟨green|"a"⟩; ⟨d|// b⟩
              ⟨d|/* c⟩

              ⟨red|-a⟩
              ⟨green|+b⟩

            ⟨d|┌───┐⟩
            ⟨d|│ ⟩⟨b|a⟩⟨d| │⟩
            ⟨d|├───┤⟩
            ⟨d|│ ⟩⟨cyan|b⟩⟨d| │⟩
            ⟨d|└───┘⟩
        "#]],
    );
}

#[test]
fn lists_and_quotes_too_deep_are_text() {
    let deep = plain(&rendered(200, &format!("{}a\n", "> ".repeat(30))));
    assert_eq!(deep, format!("{}{}a\n", "│ ".repeat(24), "> ".repeat(6)));
}

#[test]
fn emoji_and_combined_characters_stay_whole() {
    check(
        6,
        "👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧 🇯🇵🇯🇵 e\u{301}e\u{301}e\u{301}\n",
        &expect![[r#"
        👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧
        👨‍👩‍👧 🇯🇵
        🇯🇵 ééé
    "#]],
    );
}

#[test]
fn lines_may_end_as_on_windows() {
    let text = "# a\n\n- b\n  c\n\n```\nd\n\ne\n```\n| a |\n|---|\n| b |\n";
    assert_eq!(rendered(40, &text.replace('\n', "\r\n")), rendered(40, text));
}

#[test]
fn no_control_character_reaches_the_terminal() {
    check(
        60,
        "a\u{1b}[2Jb &#27; &#x9b; `\u{7}` [x](<http://a\u{1b}b>) <http://a&#7;b> ![\u{8}](y)\n\n\
         # \u{1b}]0;x\n\n```sh\u{1b}\n\u{1b}[31m\rx\u{202e}\n```\n\n| \u{1b} |\n|---|\n| &#7; |\n\n<div \u{1b}>\n",
        &expect![[r#"
            a\u{1b}[2Jb \u{1b} \u{9b} \u{7} x (http://a\u{1b}b)
            http://a&#7;b \u{8}

            \u{1b}]0;x

              \u{1b}[31m\u{d}x\u{202e}

            ┌────────┐
            │ \u{1b} │
            ├────────┤
            │ \u{7}  │
            └────────┘

            <div \u{1b}>
        "#]],
    );
}

const NARROW: &str = "# Head\n\n- one **two**\n  1. three\n     > 日本語\n\n```rust\nfn x() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 日本 |\n\n---\n";

#[test]
fn terminals_of_any_width_show_all_of_it() {
    for columns in 0..30 {
        let text = plain(&stream(columns.max(1), [NARROW])).replace(char::is_whitespace, "");
        for word in ["Head", "two", "1.", "three", "日本語", "fnx(){}"] {
            assert!(text.replace('│', "").contains(word), "{columns} columns: {text}");
        }
    }
    check(
        2,
        NARROW,
        &expect![[r#"
        He
        ad

        •
        on
        e
        tw
        o
        1.
        th
        re
        e
        日
        本
        語

        fn
         x
        ()
         {
        }

        a:
        1
        b:
        日
        本

        ──
    "#]],
    );
}

#[test]
fn what_is_unfinished_looks_as_it_will() {
    let table = [
        ("a **bo", "a bo\n"),
        ("a **bold** and `co", "a bold and co\n"),
        ("a\n-", "a\n"),
        ("a\n- ", "a\n"),
        ("a\n- b", "a\n• b\n"),
        ("a\n\n1", "a\n"),
        ("# He", "He\n"),
        ("```rust\nlet", "  let\n"),
        ("```rust\n``", ""),
        ("| a |\n|---|\n| b", "┌───┐\n│ a │\n├───┤\n│ b │\n└───┘\n"),
        ("x\n\n## a **b", "x\n\na b\n"),
    ];
    for (text, tail) in table {
        let mut markdown = MarkdownStream::new(40);
        let mut lines = markdown.push(text);
        let before = format!("{markdown:?}");
        lines.extend(markdown.tail());
        assert_eq!(format!("{markdown:?}"), before);
        assert_eq!(plain(&lines), tail, "{text}");
    }
}

#[test]
fn lines_of_code_and_items_are_final_when_they_end() {
    let mut markdown = MarkdownStream::new(40);
    let steps = [
        ("- a\n", ""),
        ("- b\n", "• a\n"),
        ("\n  ```\n", "• b\n"),
        ("  code\n", "\n    code\n"),
        ("  ```\n# head\n", "head\n"),
        ("para", ""),
        ("\n\n", "para\n"),
        ("> q\n>\n", "\n│ q\n"),
    ];
    for (text, lines) in steps {
        assert_eq!(plain(&markdown.push(text)), lines, "{text}");
    }
}

#[test]
fn a_new_width_is_for_the_lines_to_come() {
    let mut markdown = MarkdownStream::new(40);
    markdown.push("one two three four\n\n");
    markdown.set_columns(9);
    assert_eq!(plain(&markdown.push("one two three\n\n")), "\none two\nthree\n");
}

#[test]
fn a_stream_that_ended_begins_anew() {
    let mut markdown = MarkdownStream::new(40);
    markdown.push("```\ncode");
    assert_eq!(plain(&markdown.finish()), "  code\n");
    assert_eq!(plain(&markdown.push("*a*\n\n")), "a\n");
    assert_eq!(markdown.finish(), vec![]);
}

#[test]
fn what_is_kept_is_bounded_whatever_the_text() {
    let rows: String = (0..2_000).map(|at| format!("| {at} | b |\n")).collect();
    for text in [
        "word ".repeat(20_000),
        "a".repeat(100_000),
        "日本語、".repeat(10_000),
        "e\u{301}".repeat(40_000),
        format!("a{}", "\u{301}".repeat(50_000)),
        "line\n".repeat(20_000),
        format!("```rust\n{}", "/* \" ".repeat(20_000)),
        format!("| a | b |\n|---|---|\n{rows}"),
        format!("| a | b |\n|---|---|\n| {}", "c ".repeat(50_000)),
        format!("# {}", "head ".repeat(20_000)),
        format!("- {}", "- ".repeat(20_000)),
        format!("<!-- {}", "comment ".repeat(20_000)),
        "[a]: b\n\n".repeat(10_000),
        "\n".repeat(50_000),
        format!("    code{}", "\n".repeat(50_000)),
        "[".repeat(100_000),
        format!("{}a", ">".repeat(50_000)),
    ] {
        let mut markdown = MarkdownStream::new(80);
        let (mut shown, mut rest) = (0, text.as_str());
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.ceil_char_boundary(1_000));
            shown += markdown.push(piece).iter().map(|line| line.text().len()).sum::<usize>();
            let kept = format!("{markdown:?}").len();
            assert!(kept < 120_000, "{kept} bytes kept of {:.20}", text);
            rest = behind;
        }
        let tail: usize = markdown.tail().iter().map(|line| line.text().len()).sum();
        assert!(tail < 100_000 && shown < 20 * text.len());
        markdown.finish();
    }
}

fn markdownish() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "\n",
        "\n",
        "\n\n",
        " ",
        "  ",
        "    ",
        "\t",
        "- ",
        "* ",
        "1. ",
        "> ",
        "# ",
        "```",
        "```rust\n",
        "~~~\n",
        "**",
        "*",
        "`",
        "~~",
        "_",
        "[a]",
        "(b)",
        "[a]: b\n",
        "![",
        "](u)",
        "<br>",
        "<div>",
        "<!--",
        "-->",
        "| a | b |\n|---|:-:|\n",
        "| c |",
        "|",
        "---\n",
        "===\n",
        "\\",
        "&amp;",
        "&#27;",
        "word",
        "two words",
        "これは",
        "「重要」",
        "。",
        "👨‍👩‍👧",
        "e\u{301}",
        "\r\n",
        "\r",
        "\u{1b}[0m",
        "\u{fdd0}",
        "\u{200b}",
        "fn x() { \"s\" } // c",
        "- [ ] t\n",
    ]);
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

/// Any text, with many places where a sign stands right before or behind a character of several bytes.
fn anything() -> impl Strategy<Value = String> {
    const SIGNS: &str = "0123456789.)(+-*_#>`~|!?[]<>/\\{}=&;:$@%^'\",\n\n\n\t    aAbcfnxyzé行日本。「」👩\u{301}\u{200d}\u{1b}";
    let signs = SIGNS.chars().collect::<Vec<_>>();
    let one = prop_oneof![8 => prop::sample::select(signs), 1 => any::<char>()];
    prop::collection::vec(one, 0..80).prop_map(|chars| chars.into_iter().collect())
}

const LANGUAGES: [&str; 22] = [
    "rust", "python", "js", "ts", "go", "c", "cpp", "java", "ruby", "php", "sh", "sql", "html", "xml", "css",
    "json", "yaml", "toml", "diff", "lua", "haskell", "markdown",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_text_of_any_characters_is_drawn(text in anything(), columns in 1_usize..60) {
        are_fit(columns, &stream(columns, [text.as_str()]));
        let pieces = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]);
        prop_assert_eq!(stream(columns, pieces), stream(columns, [text.as_str()]));
    }

    #[test]
    fn code_of_any_characters_is_drawn(
        text in anything(), language in prop::sample::select(LANGUAGES.to_vec()), columns in 1_usize..60,
    ) {
        let text = format!("```{language}\n{text}");
        are_fit(columns, &stream(columns, [text.as_str()]));
    }
}

proptest! {
    #[test]
    fn where_a_text_is_cut_changes_nothing(
        text in markdownish(), columns in 1_usize..60, cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let whole = stream(columns, [text.as_str()]);
        are_fit(columns, &whole);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
        prop_assert_eq!(stream(columns, pieces), whole);
    }

    #[test]
    fn no_two_blank_lines_follow_each_other_outside_code(text in markdownish()) {
        let text = text.replace(['`', '~', '\t'], "").replace("  ", "");
        let lines = stream(40, [text.as_str()]);
        prop_assert!(!lines.windows(2).any(|two| two[0].is_empty() && two[1].is_empty()), "{}", plain(&lines));
        prop_assert!(lines.first().is_none_or(|line| !line.is_empty()));
        prop_assert!(lines.last().is_none_or(|line| !line.is_empty()));
    }
}

#[test]
fn colours_are_sent_only_where_they_are_wanted() {
    let lines = rendered(40, "**a** `b`\n");
    let mut sent = [String::new(), String::new()];
    lines[0].write(Look::Coloured, &mut sent[0]);
    lines[0].write(Look::Plain, &mut sent[1]);
    assert_eq!(sent, ["\x1b[1ma\x1b[0m \x1b[36mb\x1b[0m", "a b"]);
    assert_eq!(lines[0].spans()[2].style(), Style::of(Colour::Cyan));
}
