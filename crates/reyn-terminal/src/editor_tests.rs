//! The editor by its keys. A script is what is typed, with keys between angle brackets; a text is written with `|`
//! where the caret is.

use proptest::prelude::*;

use super::*;
use crate::{KeyCode, Look};

/// The commands that are completed in these tests.
struct Commands;

impl Complete for Commands {
    fn complete(&self, text: &str, caret: usize) -> Vec<Completion> {
        let commands = ["/help", "/model", "/mode", "/日本", "/日記", "/quit"];
        let typed = &text[..caret];
        let fits = |name: &&&str| typed.starts_with('/') && name.starts_with(typed);
        let make =
            |name: &&str| Completion { start: 0, text: (*name).to_owned(), note: format!("about {name}") };
        commands.iter().filter(fits).map(make).collect()
    }
}

fn editor(history: &[&str]) -> Editor {
    let entries = history.iter().map(|entry| (*entry).to_owned()).collect();
    Editor::new(Box::new(MemoryHistory::new(entries)), Box::new(Commands))
}

fn key(name: &str) -> Key {
    let plain = Key::plain;
    match name {
        "enter" => plain(KeyCode::Enter),
        "a-enter" => plain(KeyCode::Enter).alt(),
        "s-enter" => plain(KeyCode::Enter).shift(),
        "tab" => plain(KeyCode::Tab),
        "s-tab" => plain(KeyCode::BackTab),
        "bs" => plain(KeyCode::Backspace),
        "a-bs" => plain(KeyCode::Backspace).alt(),
        "del" => plain(KeyCode::Delete),
        "up" => plain(KeyCode::Up),
        "down" => plain(KeyCode::Down),
        "left" => plain(KeyCode::Left),
        "right" => plain(KeyCode::Right),
        "home" => plain(KeyCode::Home),
        "end" => plain(KeyCode::End),
        "esc" => plain(KeyCode::Esc),
        "other" => plain(KeyCode::Other),
        _ => {
            let c = name.chars().last().unwrap();
            match &name[..2] {
                "c-" => Key::control(c),
                "a-" => Key::char(c).alt(),
                _ => panic!("no key `{name}`"),
            }
        }
    }
}

/// Types a script; what came of each input but for changes.
fn type_in(editor: &mut Editor, script: &str) -> Vec<Edited> {
    let mut came = vec![];
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let named = (c == '<').then(|| rest[1..].split_once('>')).flatten();
        let input = match named {
            Some((name, after)) => {
                rest = after;
                Input::Key(key(name))
            }
            None => {
                rest = &rest[c.len_utf8()..];
                Input::Key(Key::char(c))
            }
        };
        came.push(editor.on_input(&input));
        check(editor, 20, 5);
    }
    came.retain(|edited| *edited != Edited::Changed);
    came
}

/// Looks at what always holds of a layout; returns it.
fn check(editor: &Editor, columns: usize, rows_max: usize) -> Layout {
    let layout = editor.layout("> ", columns, rows_max);
    assert!(!layout.rows.is_empty());
    assert!(layout.rows.len() + layout.menu.len() <= rows_max, "{rows_max} rows: {layout:?}");
    for row in layout.rows.iter().chain(&layout.menu) {
        assert!(row.width() <= columns, "{columns} columns: {layout:?}");
    }
    assert!(layout.caret.0 < layout.rows.len(), "{layout:?}");
    assert!(layout.caret.1 < columns, "{columns} columns: {layout:?}");
    layout
}

fn marked(editor: &Editor) -> String {
    let mut text = editor.text().to_owned();
    text.insert(editor.buffer.caret(), '|');
    text
}

#[track_caller]
fn assert_types(script: &str, expected: &str) {
    let mut editor = editor(&[]);
    type_in(&mut editor, script);
    assert_eq!(marked(&editor), expected, "{script}");
}

fn texts(lines: &[Line]) -> Vec<String> {
    lines.iter().map(Line::text).collect()
}

#[test]
fn an_editor_may_live_on_another_thread() {
    const fn is_send<T: Send>() {}
    is_send::<Editor>();
}

#[test]
fn keys_edit_the_text() {
    for (script, expected) in [
        ("hello<left><left>日本<bs>", "hel日|lo"),
        ("日本語<left><left><del>", "日|語"),
        ("が\u{3099}<bs>", "|"),
        ("e\u{301}<left>x", "x|e\u{301}"),
        ("ab<left><left><right>\u{301}", "a\u{301}|b"),
        ("a👨‍👩‍👧b<left><bs>", "a|b"),
        ("🇯🇵🇫🇷<left>x", "🇯🇵x|🇫🇷"),
        ("🇯🇵🇫🇷<left><left><right><bs>", "|🇫🇷"),
        ("👍🏽<bs>", "|"),
        ("one two<c-w>", "one |"),
        ("one two<c-w><c-w><c-y>!", "one two!|"),
        ("one two<c-a><a-d><end><c-y>", " twoone|"),
        ("one two<c-a><a-d><a-d><c-y>", "one two|"),
        ("one two<a-b><c-k>", "one |"),
        ("one two<a-b><c-u>", "|two"),
        ("a<c-j>b<c-u><c-u>", "a|"),
        ("a<c-j>b<home><left><c-k>", "a|b"),
        ("日本語の文章<c-w><c-w>", "日本語|"),
        ("one two<a-b><a-b>x<a-f>y", "xoney| two"),
        ("abc<c-t>", "acb|"),
        ("日本<left><c-t>", "本日|"),
        ("a<c-t>", "a|"),
        ("a<c-j>b<c-t>", "a\nb|"),
        ("one two<home><a-u><a-c>", "ONE Two|"),
        ("ab<c-a><c-d>", "|b"),
        ("ab<c-b><c-h>", "|b"),
        ("ab<home><c-f><c-e>c", "abc|"),
        ("a<a-enter>b<s-enter>c<c-j>", "a\nb\nc\n|"),
        ("a\\<enter>b", "a\nb|"),
        ("a\\\\<left>\\<enter>", "|"),
        ("ab<c-j>c<up><end>x", "abx|\nc"),
        ("<other><a-q><c-q>", "|"),
    ] {
        assert_types(script, expected);
    }
}

#[test]
fn changes_are_taken_back_and_made_again() {
    for (script, expected) in [
        ("one two<c-_>", "one |"),
        ("one two<c-_><c-_>", "|"),
        ("one two<c-_><c-_><a-_>", "one |"),
        ("one two<c-_><c-_><a-_><a-_><a-_>", "one two|"),
        ("one<c-_>x<a-_>", "x|"),
        ("one<bs><bs><bs><c-x><c-u>", "one|"),
        ("one<home><del><del><c-_>", "|one"),
        ("ab<left>c<c-_><c-_>", "|"),
        ("one two<c-w><c-_>", "one two|"),
        ("one<c-u><c-y><c-y><c-_><c-_><c-_><c-_>", "|"),
        ("日本<left><c-t><c-_>", "日|本"),
        ("<c-_><a-_>a", "a|"),
    ] {
        assert_types(script, expected);
    }
}

#[test]
fn enter_sends_what_is_not_blank() {
    let mut editor = editor(&[]);
    assert_eq!(type_in(&mut editor, "  <enter>"), [Edited::Nothing]);
    assert_eq!(editor.text(), "  ");
    let sent = |text: &str| Edited::Submit(text.to_owned());
    let came = type_in(&mut editor, "secret<enter>one<enter>one<enter>two<c-j><enter>a\\\\<enter>");
    assert_eq!(came, [sent("  secret"), sent("one"), sent("one"), sent("two\n"), sent("a\\\\")]);
    assert!(editor.is_empty());
    assert_eq!(editor.history.entries(), ["one", "two\n", "a\\\\"]);
    type_in(&mut editor, "<c-_>");
    assert!(editor.is_empty());
}

#[test]
fn keys_for_the_caller_are_told() {
    let table = [
        ("<c-c>", Edited::Interrupt),
        ("<esc>", Edited::Escape),
        ("<c-l>", Edited::ClearScreen),
        ("<c-o>", Edited::Expand),
        ("<c-z>", Edited::Suspend),
    ];
    for (script, expected) in table {
        let mut editor = editor(&[]);
        type_in(&mut editor, "abc");
        assert_eq!(type_in(&mut editor, script), [expected], "{script}");
        assert_eq!(editor.text(), "abc");
    }
    let mut editor = editor(&[]);
    assert_eq!(type_in(&mut editor, "<c-d>"), [Edited::EndOfInput]);
    assert_eq!(type_in(&mut editor, "a<c-d>"), []);
    assert_eq!(editor.on_input(&Input::Closed), Edited::EndOfInput);
    assert_eq!(editor.on_input(&Input::Resize { columns: 80, rows: 24 }), Edited::Changed);
}

#[test]
fn characters_of_alt_graph_are_typed() {
    let mut editor = editor(&[]);
    editor.on_input(&Input::Key(Key::control('@').alt()));
    editor.on_input(&Input::Key(Key::control('€').alt().shift()));
    assert_eq!(editor.text(), "@€");
}

#[test]
fn up_and_down_walk_through_what_begins_alike() {
    let history = ["git log", "ls", "git add", "ls", "ls"];
    for (script, expected) in [
        ("<up>", "ls|"),
        ("<up><up>", "git add|"),
        ("<up><up><up><up><up><up>", "git log|"),
        ("gi<up>", "git add|"),
        ("gi<up><up>", "git log|"),
        ("gi<up><up><up><down>", "git add|"),
        ("gi<up><up><down><down>", "gi|"),
        ("gi<up><up><down><down><down><up>", "git add|"),
        ("gi<up><bs><c-w>l<up>", "git log|"),
        ("x<up>", "x|"),
        ("x<down>", "x|"),
        ("gi<c-p><c-p><c-n>", "git add|"),
        ("gi<up><up><c-_>", "gi|"),
    ] {
        let mut editor = editor(&history);
        type_in(&mut editor, script);
        assert_eq!(marked(&editor), expected, "{script}");
    }
}

#[test]
fn up_and_down_go_through_rows_before_the_history() {
    let history = ["old", "one\ntwo"];
    for (script, expected) in [
        // A walk goes on from the last row as well, until the caret is moved.
        ("<up>", "one\ntwo|"),
        ("<up><up>", "old|"),
        ("<up><left><up>", "on|e\ntwo"),
        ("<up><left><up><up>", "old|"),
        ("<up><left><up><up><down><down>", "|"),
        // A row of twenty columns holds eighteen beside the prompt.
        ("aaaaaaaaaaaaaaaaaabcd<up>", "aaa|aaaaaaaaaaaaaaabcd"),
        ("aaaaaaaaaaaaaaaaaabcd<up><end>", "aaaaaaaaaaaaaaaaaabcd|"),
        ("aaaaaaaaaaaaaaaaaabcd<up><down>", "aaaaaaaaaaaaaaaaaabcd|"),
        ("日本語<c-j>a<c-j>bcdefgh<up><up>", "日本語|\na\nbcdefgh"),
        ("日本語<c-j>a<c-j>bcd<up><up>", "日|本語\na\nbcd"),
    ] {
        let mut editor = editor(&history);
        type_in(&mut editor, script);
        assert_eq!(marked(&editor), expected, "{script}");
    }
}

#[test]
fn a_search_finds_takes_and_gives_back() {
    let history = ["git log", "ls 日本", "git add", "cargo test"];
    for (script, expected) in [
        ("x<c-r>git<enter>", "git add|"),
        ("x<c-r>git<c-r><enter>", "git log|"),
        ("x<c-r>git<c-r><c-r><enter>", "git log|"),
        ("x<c-r>git<c-r><c-s><tab>", "git add|"),
        ("x<c-r>日本<left>", "ls 日|本"),
        ("x<c-r>日木<bs>本<end>", "ls 日本|"),
        ("x<c-r>git lo<bs><bs><bs><enter>", "git add|"),
        ("x<c-r>git<esc>", "x|"),
        ("x<c-r>git<c-c>", "x|"),
        ("x<c-r>git<c-g>", "x|"),
        ("x<c-r>nothing<enter>", "x|"),
        ("x<c-r><enter>", "x|"),
        ("x<c-r>git<enter><c-_>", "x|"),
        ("x<left><c-r>git<esc>y", "y|x"),
    ] {
        let mut editor = editor(&history);
        type_in(&mut editor, script);
        assert_eq!(marked(&editor), expected, "{script}");
    }
}

#[test]
fn a_search_is_shown_with_its_own_row() {
    let mut editor = editor(&["git log", "git add"]);
    type_in(&mut editor, "<c-r>git");
    let layout = check(&editor, 30, 5);
    assert_eq!(texts(&layout.rows), ["history: git", "> git add"]);
    assert_eq!(layout.caret, (0, 12));
    let mut out = String::new();
    layout.rows[1].write(Look::Coloured, &mut out);
    assert_eq!(out, "> \x1b[1mgit\x1b[0m add");
    assert_eq!(texts(&check(&editor, 30, 1).rows), ["history: git"]);
    type_in(&mut editor, "<c-r><c-r>");
    assert_eq!(texts(&check(&editor, 40, 5).rows), ["no more in the history: git", "> git log"]);
    type_in(&mut editor, "x");
    assert_eq!(texts(&check(&editor, 40, 5).rows), ["not in the history: gitx", "> "]);
}

#[test]
fn tab_completes() {
    for (script, expected) in [
        ("/h<tab>", "/help|"),
        ("/m<tab>", "/mode|"),
        ("/m<tab><enter>", "/model|"),
        ("/m<tab><tab><enter>", "/mode|"),
        ("/m<tab><tab><tab><enter>", "/model|"),
        ("/m<tab><down><up><s-tab><enter>", "/mode|"),
        ("/m<tab><esc>", "/mode|"),
        ("/m<tab>l<enter>", "/model|"),
        ("/m<tab>l<bs><down><enter>", "/mode|"),
        ("/m<tab> x", "/mode x|"),
        ("/m<tab><left>x", "/modx|e"),
        ("/日<tab><tab><enter>", "/日記|"),
        ("x<tab>", "x|"),
        ("/m<tab><enter><c-_>", "/mode|"),
    ] {
        assert_types(script, expected);
    }
    let mut editor = editor(&[]);
    assert_eq!(type_in(&mut editor, "/m<tab><esc><esc>"), [Edited::Escape]);
    assert_eq!(type_in(&mut editor, "<tab><c-c>"), [Edited::Interrupt]);
    assert!(editor.menu.is_none());
}

#[test]
fn a_menu_is_shown_below_the_text() {
    let mut editor = editor(&[]);
    type_in(&mut editor, "/<tab><tab>");
    let layout = check(&editor, 30, 6);
    assert_eq!(texts(&layout.rows), ["> /"]);
    let expected =
        ["/help   about /help", "/model  about /model", "/mode   about /mode", "/日本   about /日本"];
    assert_eq!(texts(&layout.menu)[..4], expected);
    let mut out = String::new();
    layout.menu[1].write(Look::Coloured, &mut out);
    assert_eq!(out, "\x1b[7m/model  \x1b[0m\x1b[2;7mabout /model\x1b[0m");
    assert_eq!(texts(&check(&editor, 6, 2).menu), ["/model"]);
    assert_eq!(texts(&check(&editor, 10, 2).menu), ["/model  a…"]);
    assert_eq!(check(&editor, 10, 1).menu, []);
}

#[test]
fn a_completion_that_cannot_be_used_is_passed_over() {
    struct Wild;
    impl Complete for Wild {
        fn complete(&self, _: &str, _: usize) -> Vec<Completion> {
            let one = |start, text: &str| Completion { start, text: text.to_owned(), note: String::new() };
            vec![one(1, "inside"), one(99, "beyond"), one(3, "a\r\nb")]
        }
    }
    let mut editor = Editor::new(Box::new(MemoryHistory::default()), Box::new(Wild));
    type_in(&mut editor, "日<tab>");
    assert_eq!(editor.text(), "日a\nb");
}

#[test]
fn pasted_text_keeps_its_characters_and_its_lines() {
    let mut editor = editor(&[]);
    type_in(&mut editor, "a<left>");
    editor.on_input(&Input::Paste("1\r\n2\r3\n\t\x1b[2J\0".to_owned()));
    assert_eq!(marked(&editor), "1\n2\n3\n\t\x1b[2J\0|a");
    let layout = check(&editor, 40, 5);
    assert_eq!(texts(&layout.rows), ["> 1", "  2", "  3", r"    \u{1b}[2J\u{0}a"]);
    assert_eq!(layout.caret, (3, 4 + 6 + 3 + 5));
    type_in(&mut editor, "<c-_>");
    assert_eq!(marked(&editor), "|a");
}

#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let mut editor = editor(&[]);
    editor.on_input(&Input::Paste("日".repeat(TEXT_BYTES_MAX / 3 + 1)));
    assert_eq!(editor.text().len(), TEXT_BYTES_MAX / 3 * 3);
    assert_eq!(texts(&check(&editor, 60, 5).menu), [FULL]);
    assert_eq!(type_in(&mut editor, "<other>"), []);
    assert_eq!(check(&editor, 60, 5).menu, []);
    type_in(&mut editor, "ab");
    assert_eq!(texts(&check(&editor, 60, 5).menu), [FULL]);
    editor.set_text(&"a".repeat(TEXT_BYTES_MAX + 1));
    assert_eq!(editor.text().len(), TEXT_BYTES_MAX);
    assert_eq!(texts(&check(&editor, 60, 5).menu), [FULL]);
    assert_eq!(editor.take().len(), TEXT_BYTES_MAX);
    assert!(editor.is_empty());
}

#[test]
fn the_caret_stands_in_the_column_of_the_terminal() {
    // What is typed, the columns, the rows and where the caret is on them.
    type Case<'a> = (&'a str, usize, &'a [&'a str], (usize, usize));
    let table: &[Case<'_>] = &[
        ("", 10, &["> "], (0, 2)),
        ("abc<left>", 10, &["> abc"], (0, 4)),
        ("日本<left>", 10, &["> 日本"], (0, 4)),
        ("abcdefgh", 10, &["> abcdefgh", "  "], (1, 2)),
        ("abcdefgh<left>", 10, &["> abcdefgh"], (0, 9)),
        ("日本語文", 10, &["> 日本語文", "  "], (1, 2)),
        ("a日本語文", 10, &["> a日本語", "  文"], (1, 4)),
        ("a日本語", 10, &["> a日本語"], (0, 9)),
        ("a日本語<left><right>文<left>", 10, &["> a日本語", "  文"], (1, 2)),
        ("👨‍👩‍👧🇯🇵e\u{301}<left>", 10, &["> 👨‍👩‍👧🇯🇵e\u{301}"], (0, 6)),
        ("ab<c-j>", 10, &["> ab", "  "], (1, 2)),
        ("abcd", 5, &["abcd"], (0, 4)),
        ("日", 1, &["?", ""], (1, 0)),
    ];
    for (script, columns, rows, caret) in table {
        let mut editor = editor(&[]);
        type_in(&mut editor, script);
        let layout = check(&editor, *columns, 5);
        assert_eq!(texts(&layout.rows), *rows, "{script} in {columns}");
        assert_eq!(layout.caret, *caret, "{script} in {columns}");
    }
}

#[test]
fn the_text_moves_only_when_the_caret_leaves_it() {
    let mut editor = editor(&[]);
    type_in(&mut editor, "1<c-j>2<c-j>3<c-j>4<c-j>5<c-j>6<c-j>7<c-j>8");
    let mut seen = vec![];
    for _ in 0..4 {
        let layout = check(&editor, 20, 5);
        seen.push((texts(&layout.rows)[1].clone(), layout.caret.0));
        editor.on_input(&Input::Key(key("up")));
    }
    let row = |text: &str, caret| (text.to_owned(), caret);
    assert_eq!(seen, [row("  5", 4), row("  5", 3), row("  5", 2), row("  5", 1)]);
    assert_eq!(texts(&check(&editor, 20, 5).rows)[1], "  4");
}

#[test]
fn keys_on_a_long_text_end_where_they_should() {
    for unit in ["a", "日", "👨‍👩‍👧", "🇯🇵", "e\u{301}", "a\n", "\u{1b}", "\t", "\u{301}"] {
        let mut editor = editor(&["x"]);
        let text = unit.repeat(200_000 / unit.len());
        editor.on_input(&Input::Paste(text.clone()));
        for script in ["b", "<bs>", "<up><down>", "<home>", "<end>", "<c-w>", "<c-y>", "<left>c<bs>"] {
            type_in(&mut editor, script);
            check(&editor, 80, 10);
            check(&editor, 1, 1);
        }
        // Marks without a letter are one grapheme, and one key deletes it.
        assert!(unit == "\u{301}" || editor.text().len() + 64 > text.len(), "{unit:?}");
    }
}

/// Inputs of every kind.
fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let keys = vec![
        "<enter>",
        "<a-enter>",
        "<tab>",
        "<s-tab>",
        "<bs>",
        "<a-bs>",
        "<del>",
        "<up>",
        "<down>",
        "<left>",
        "<right>",
        "<home>",
        "<end>",
        "<esc>",
        "<c-r>",
        "<c-s>",
        "<c-k>",
        "<c-u>",
        "<c-w>",
        "<c-y>",
        "<c-t>",
        "<c-_>",
        "<a-_>",
        "<c-x>",
        "<c-d>",
        "<c-c>",
        "<c-g>",
        "<c-a>",
        "<a-d>",
        "<a-b>",
        "<a-f>",
        "<a-u>",
        "<a-c>",
    ];
    let key = prop::sample::select(keys).prop_map(|name| Input::Key(key(&name[1..name.len() - 1])));
    let characters = "a /日\u{301}\u{200d}👩🇯🇵\u{200b}\u{1b}\t\\\u{202e}ß\u{feff}\u{1f3fd}m";
    let typed =
        prop::sample::select(characters.chars().collect::<Vec<_>>()).prop_map(|c| Input::Key(Key::char(c)));
    let pasted = "[ a\r\n\t日👩\u{200d}\u{301}🇯/\u{7f}]{0,60}".prop_map(Input::Paste);
    prop::collection::vec(prop_oneof![4 => typed, 4 => key, 1 => pasted], 0..60)
}

proptest! {
    #[test]
    fn whatever_is_typed_the_layout_holds(inputs in inputs(), columns in 1_usize..40, rows_max in 1_usize..10) {
        let mut editor = editor(&["one", "/help\n日本\n\n👩\u{200d}👩", "m", "\u{301}"]);
        for input in &inputs {
            editor.on_input(input);
            check(&editor, columns, rows_max);
            let caret = editor.buffer.caret();
            let is_boundary = caret == editor.text().len()
                || editor.text().grapheme_indices(true).any(|(at, _)| at == caret);
            prop_assert!(is_boundary, "{:?} at {caret}", editor.text());
            prop_assert!(!editor.text().contains('\r'));
        }
    }

    #[test]
    fn all_is_taken_back_and_made_again(inputs in inputs()) {
        let mut editor = editor(&["one", "two"]);
        for input in &inputs {
            if matches!(editor.on_input(input), Edited::Submit(_)) {
                return Ok(());
            }
        }
        type_in(&mut editor, "<c-g>");
        editor.search = None;
        editor.menu = None;
        let text = editor.text().to_owned();
        for _ in 0..200 {
            editor.buffer.undo();
        }
        prop_assert_eq!(editor.text(), "");
        for _ in 0..200 {
            editor.buffer.redo();
        }
        // What was taken back when the keys ended is made again as well.
        let is_same = editor.text() == text;
        prop_assert!(is_same || inputs.contains(&Input::Key(key("c-_"))) || inputs.contains(&Input::Key(key("c-x"))));
    }

    #[test]
    fn all_rows_together_are_the_text(text in "\u{301}?([ab 日本👩\n]\u{301}{0,3}){0,60}", columns in 1_usize..40) {
        let mut editor = editor(&[]);
        editor.set_text(&text);
        let layout = editor.layout("", columns, 1000);
        let shown = layout.rows.iter().map(Line::text).collect::<String>();
        let wide = columns == 1;
        let expected: String = text.chars().filter(|c| *c != '\n').collect();
        prop_assert!(wide || shown == expected, "{layout:?}");
    }
}
