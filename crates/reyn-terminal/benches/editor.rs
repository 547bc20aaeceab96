//! What one key costs, on texts of every size. Bounds: a paste of 100,000 characters and one key on a line of a
//! megabyte take less than 5 ms each, layout among it.

use divan::black_box;
use reyn_terminal::{Complete, Completion, Editor, Input, Key, KeyCode, MemoryHistory};

fn main() {
    divan::main();
}

struct Nothing;

impl Complete for Nothing {
    fn complete(&self, _: &str, _: usize) -> Vec<Completion> {
        vec![]
    }
}

/// What a text is made of. The last three are what nobody types: flags without end, marks without a letter, escapes.
const TEXTS: [(&str, &str); 8] = [
    ("ascii", "a"),
    ("japanese", "日"),
    ("combining", "e\u{301}"),
    ("families", "👨‍👩‍👧"),
    ("lines", "line\n"),
    ("flags", "🇯🇵"),
    ("marks", "\u{301}"),
    ("escapes", "\u{1b}"),
];

fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

fn unit(name: &str) -> &'static str {
    TEXTS.iter().find(|(known, _)| *known == name).map_or("a", |(_, unit)| *unit)
}

const MEGABYTE: usize = 1 << 20;

fn with(text: &str) -> Editor {
    let mut editor = Editor::new(Box::new(MemoryHistory::default()), Box::new(Nothing));
    editor.set_text(text);
    black_box(editor.layout("> ", 120, 20));
    editor
}

fn long(name: &str) -> String {
    let unit = unit(name);
    unit.repeat(MEGABYTE / unit.len())
}

fn press(bencher: divan::Bencher<'_, '_>, mut editor: Editor, keys: &[Key]) {
    let mut at = 0;
    bencher.bench_local(|| {
        let key = keys[at % keys.len()];
        at += 1;
        black_box(editor.on_input(&Input::Key(key)));
        black_box(editor.layout("> ", 120, 20))
    });
}

/// A hundred thousand characters pasted and laid out.
#[divan::bench(args = names())]
fn paste_100_000_characters(bencher: divan::Bencher<'_, '_>, name: &str) {
    let unit = unit(name);
    let input = Input::Paste(unit.repeat(100_000 / unit.chars().count()));
    bencher.with_inputs(|| with("")).bench_local_values(|mut editor| {
        black_box(editor.on_input(&input));
        black_box(editor.layout("> ", 120, 20));
        editor
    });
}

/// One character typed at the end of a megabyte.
#[divan::bench(args = names())]
fn type_at_the_end_of_a_megabyte(bencher: divan::Bencher<'_, '_>, name: &str) {
    press(bencher, with(&long(name)), &[Key::char('x'), Key::char(' ')]);
}

/// One character typed at the start of a megabyte.
#[divan::bench(args = names())]
fn type_at_the_start_of_a_megabyte(bencher: divan::Bencher<'_, '_>, name: &str) {
    let mut editor = with(&long(name));
    editor.on_input(&Input::Key(Key::char('<').alt()));
    press(bencher, editor, &[Key::char('x'), Key::char(' ')]);
}

/// One step by word, by row or by grapheme in the middle of a megabyte.
#[divan::bench(args = names())]
fn move_in_a_megabyte(bencher: divan::Bencher<'_, '_>, name: &str) {
    let keys = [
        Key::plain(KeyCode::Up),
        Key::char('b').alt(),
        Key::plain(KeyCode::Left),
        Key::plain(KeyCode::Up),
        Key::char('f').alt(),
        Key::plain(KeyCode::Down),
    ];
    let mut editor = with(&long(name));
    for _ in 0..200 {
        editor.on_input(&Input::Key(Key::plain(KeyCode::Up)));
    }
    press(bencher, editor, &keys);
}

/// One character deleted or typed at the end of four megabytes, the most there can be.
#[divan::bench(args = names())]
fn delete_and_type_at_the_end_of_four_megabytes(bencher: divan::Bencher<'_, '_>, name: &str) {
    let keys = [Key::plain(KeyCode::Backspace), Key::char('x')];
    press(bencher, with(&long(name).repeat(4)), &keys);
}
