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

const UNITS: [&str; 5] = ["a", "日", "e\u{301}", "👨‍👩‍👧", "line\n"];
const MEGABYTE: usize = 1 << 20;

fn with(text: &str) -> Editor {
    let mut editor = Editor::new(Box::new(MemoryHistory::default()), Box::new(Nothing));
    editor.set_text(text);
    black_box(editor.layout("> ", 120, 20));
    editor
}

fn long(unit: &str) -> String {
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
#[divan::bench(args = ["a", "日", "e\u{301}", "line\r\n"])]
fn paste_100_000_characters(bencher: divan::Bencher<'_, '_>, unit: &str) {
    let input = Input::Paste(unit.repeat(100_000 / unit.chars().count()));
    bencher.with_inputs(|| with("")).bench_local_values(|mut editor| {
        black_box(editor.on_input(&input));
        black_box(editor.layout("> ", 120, 20));
        editor
    });
}

/// One character typed at the end of a megabyte.
#[divan::bench(args = UNITS)]
fn type_at_the_end_of_a_megabyte(bencher: divan::Bencher<'_, '_>, unit: &str) {
    press(bencher, with(&long(unit)), &[Key::char('x'), Key::char(' ')]);
}

/// One character typed at the start of a megabyte.
#[divan::bench(args = UNITS)]
fn type_at_the_start_of_a_megabyte(bencher: divan::Bencher<'_, '_>, unit: &str) {
    let mut editor = with(&long(unit));
    editor.on_input(&Input::Key(Key::char('<').alt()));
    press(bencher, editor, &[Key::char('x'), Key::char(' ')]);
}

/// One step by word, by row or by grapheme in the middle of a megabyte.
#[divan::bench(args = UNITS)]
fn move_in_a_megabyte(bencher: divan::Bencher<'_, '_>, unit: &str) {
    let keys = [
        Key::plain(KeyCode::Up),
        Key::char('b').alt(),
        Key::plain(KeyCode::Left),
        Key::plain(KeyCode::Up),
        Key::char('f').alt(),
        Key::plain(KeyCode::Down),
    ];
    let mut editor = with(&long(unit));
    for _ in 0..200 {
        editor.on_input(&Input::Key(Key::plain(KeyCode::Up)));
    }
    press(bencher, editor, &keys);
}

/// One character typed at the end of four megabytes, the most there can be.
#[divan::bench(args = UNITS)]
fn delete_and_type_at_the_end_of_four_megabytes(bencher: divan::Bencher<'_, '_>, unit: &str) {
    let keys = [Key::plain(KeyCode::Backspace), Key::char('x')];
    press(bencher, with(&long(unit).repeat(4)), &keys);
}
