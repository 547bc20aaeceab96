//! Writing to the person's terminal or to a pipe.
//!
//! Invariant: standard output holds results alone; everything else goes to standard error.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use reyn_core::limits::DIFF_LINES_SHOWN;
use reyn_core::text::is_invisible;
use reyn_terminal::{Line, Look, diff_lines, wrap};
use serde_json::Value;

static IS_LOST: AtomicBool = AtomicBool::new(false);
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Prints a result. A reader that went away is no error of ours; any other is said once and remembered.
pub(crate) fn result(text: &str) {
    let mut out = std::io::stdout().lock();
    let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) else { return };
    if error.kind() == ErrorKind::BrokenPipe {
        IS_CLOSED.store(true, Ordering::Relaxed);
    } else if !IS_LOST.swap(true, Ordering::Relaxed) {
        note(&format!("reyn: cannot write the result: {error}"));
    }
}

/// Whether nobody reads results any more: found out without writing one, and at once.
pub(crate) fn is_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let out = std::io::stdout();
    let mut asked = [PollFd::new(&out, PollFlags::empty())];
    let is_gone = poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok()
        && asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP);
    is_gone || IS_CLOSED.load(Ordering::Relaxed)
}

/// Whether a result could not be written.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Prints a result and a newline.
pub(crate) fn result_line(text: &str) {
    result(&format!("{text}\n"));
}

/// Prints one JSON object on one line.
pub(crate) fn json(value: &Value) {
    result_line(&value.to_string());
}

/// Says something about the run, without control characters.
pub(crate) fn note(text: &str) {
    note_part(&format!("{}\n", for_terminal(text)));
}

/// Says something that is only of interest while one looks.
pub(crate) fn remark(text: &str) {
    note_part(&format!("{}\n", dim(&for_terminal(text))));
}

/// Says something as it is, without ending the line. What comes from elsewhere is cleaned before.
pub(crate) fn note_part(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{text}");
    let _ = err.flush();
}

/// Whether colours may be used on standard error.
pub(crate) fn has_colours() -> bool {
    wants_colours() && std::io::stderr().is_terminal()
}

/// Whether colours may be used in results.
pub(crate) fn result_has_colours() -> bool {
    wants_colours() && std::io::stdout().is_terminal()
}

fn wants_colours() -> bool {
    let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    is_wanted && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// `text` in grey where colours may be used.
pub(crate) fn dim(text: &str) -> String {
    if has_colours() { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
}

/// `text` in bold where colours may be used.
pub(crate) fn bold(text: &str) -> String {
    if has_colours() { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

static LAST_DIFF: Mutex<String> = Mutex::new(String::new());

/// Remembers a change that the person has seen.
pub(crate) fn remember_diff(text: &str) {
    text.clone_into(&mut LAST_DIFF.lock().unwrap_or_else(PoisonError::into_inner));
}

/// A diff of what was done, as [`diff`] shows it; nothing when it is the one that was just decided on.
pub(crate) fn done_diff(text: &str) -> String {
    let proposed = std::mem::take(&mut *LAST_DIFF.lock().unwrap_or_else(PoisonError::into_inner));
    if proposed == text { String::new() } else { diff(text) }
}

/// A unified diff for a terminal: its first lines, indented, coloured where colours may be used.
pub(crate) fn diff(text: &str) -> String {
    diff_part(text, text, DIFF_LINES_SHOWN)
}

/// As [`diff`], as many lines of `text`, which is `all` of the diff or its beginning. No row of a long line
/// begins where lines of ours do.
pub(crate) fn diff_part(text: &str, all: &str, lines_max: usize) -> String {
    let columns = if std::io::stderr().is_terminal() { reyn_terminal::size().ok() } else { None };
    let columns = columns.map_or(usize::MAX, |(columns, _)| columns.into());
    let look = if has_colours() { Look::Coloured } else { Look::Plain };
    // The file's names, two lines, are no part of what is counted.
    let written_out: String =
        text.lines().take(lines_max.saturating_add(2)).map(|line| visible(line) + "\n").collect();
    let (lines, _) = diff_lines(&written_out, lines_max);
    let mut shown = String::new();
    for line in &lines {
        let mut indented = Line::plain("    ");
        indented.append(line);
        for row in wrap(&indented, columns, 6) {
            row.write(look, &mut shown);
            shown.push('\n');
        }
    }
    let rest = diff_lines(all, 0).1.saturating_sub(lines.len());
    if rest > 0 {
        shown.push_str(&format!("    {}\n", dim(&format!("… {rest} more lines"))));
    }
    shown
}

/// Text of a model or a file as a terminal may be shown it: without control characters, which could move
/// the cursor, forge a prompt or write to the clipboard.
pub(crate) fn for_terminal(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_bidi_control(*c))).collect()
}

/// Text that a person decides on, with everything that would not be seen written out, and without more marks
/// on a letter than can be told apart.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) && c != '\t' {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    reyn_terminal::visible(&shown)
}

const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A size as people say it.
pub(crate) fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let number = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", number / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number / 1e6),
        _ => format!("{:.2} GB", number / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_do_not_reach_a_terminal() {
        assert_eq!(for_terminal("a\x1b[2Jb\x07\u{9b}c\u{202e}d\n\t日本"), "a[2Jbcd\n\t日本");
    }

    #[test]
    fn a_long_diff_is_cut_and_says_how_much_is_left() {
        let text = format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n{}", "+x\u{1b}[2J\n--- y\n".repeat(30));
        let shown = diff(&text);
        assert!(shown.starts_with("    @@ -1 +1 @@\n    +x\\u{1b}[2J\n    --- y\n"), "{shown}");
        assert!(shown.ends_with("    … 21 more lines\n"), "{shown}");
        assert_eq!(diff(""), "");
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(
            [size(0), size(999), size(1_500), size(491_400_064)],
            ["0 B", "999 B", "1.5 kB", "491.4 MB"]
        );
    }
}
