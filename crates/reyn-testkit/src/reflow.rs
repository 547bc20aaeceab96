//! A terminal that takes on another size as most do: what does not fit goes to further rows, and rows that
//! belong together come together again.

use std::num::NonZero;

use vt100::Parser;

/// Rows above the screen that are kept.
const SCROLLBACK_ROWS: usize = 5_000;

/// Gives a terminal another size: text is broken anew, the cursor stays at its letter, rows from above the
/// screen fill it. Styles are lost. A page of its own is only cut.
///
/// # Panics
/// When a side is 0.
pub fn reflow(terminal: &mut Parser, columns: u16, rows: u16) {
    let size = |side: u16| NonZero::new(side).expect("a size");
    if terminal.screen().alternate_screen() {
        terminal.screen_mut().set_size(size(rows), size(columns));
        return;
    }
    let (before, after) = around_the_cursor(terminal);
    let mut upto_cursor = Parser::new(size(rows), size(columns), SCROLLBACK_ROWS);
    upto_cursor.process(before.as_bytes());
    let place = |parser: &Parser| {
        let (row, column) = parser.screen().cursor_position();
        (parser.screen().scrollback_len() + usize::from(row), column)
    };
    let (row, column) = place(&upto_cursor);
    let mut all = Parser::new(size(rows), size(columns), SCROLLBACK_ROWS);
    all.process(before.as_bytes());
    // Rows below the cursor go first where there is no room for them.
    let room = usize::from(rows).saturating_sub(1);
    for text in after
        .split("\r\n")
        .enumerate()
        .take(room)
        .map(|(at, text)| if at == 0 { text.to_owned() } else { format!("\r\n{text}") })
    {
        all.process(text.as_bytes());
    }
    let shown_row = row.saturating_sub(all.screen().scrollback_len());
    all.process(format!("\x1b[{};{}H", shown_row + 1, column + 1).as_bytes());
    let modes = [
        (terminal.screen().hide_cursor(), "\x1b[?25l"),
        (terminal.screen().bracketed_paste(), "\x1b[?2004h"),
    ];
    for (_, mode) in modes.iter().filter(|(is_set, _)| *is_set) {
        all.process(mode.as_bytes());
    }
    *terminal = all;
}

/// Everything up to the cursor, and everything from it on, with an end of line where a line ends.
fn around_the_cursor(terminal: &mut Parser) -> (String, String) {
    let screen = terminal.screen_mut();
    let (cursor_row, cursor_column) = screen.cursor_position();
    let columns = screen.size().1.get();
    let above = screen.scrollback_len();
    let mut texts = vec![];
    for offset in (1..=above).rev() {
        screen.set_scrollback(offset);
        texts.push((screen.rows(0, columns).next().unwrap_or_default(), screen.row_wrapped(0)));
    }
    screen.set_scrollback(0);
    let wrapped: Vec<bool> = (0..screen.size().0.get()).map(|row| screen.row_wrapped(row)).collect();
    texts.extend(screen.rows(0, columns).zip(wrapped));
    let at = above + usize::from(cursor_row);
    let head: String = screen.rows(0, cursor_column.min(columns)).nth(cursor_row.into()).unwrap_or_default();
    let joined = |rows: &[(String, bool)]| -> String {
        rows.iter()
            .map(|(text, is_wrapped)| if *is_wrapped { text.clone() } else { format!("{text}\r\n") })
            .collect()
    };
    let (line, is_wrapped) = &texts[at];
    let tail = line.strip_prefix(head.as_str()).unwrap_or_default();
    let blanks = " ".repeat(usize::from(cursor_column).saturating_sub(cells(&head)));
    let before = joined(&texts[..at]) + &head + &blanks;
    let rest = joined(&texts[at + 1..]);
    let after = if *is_wrapped { format!("{tail}{rest}") } else { format!("{tail}\r\n{rest}") };
    (before, after.trim_end_matches("\r\n").to_owned())
}

/// Columns of a text that a terminal of great width shows.
fn cells(text: &str) -> usize {
    let mut wide = Parser::new(NonZero::<u16>::MIN, NonZero::<u16>::MAX, 0);
    wide.process(text.as_bytes());
    wide.screen().cursor_position().1.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(columns: u16, rows: u16, text: &str) -> Parser {
        let size = |side: u16| NonZero::new(side).expect("a size");
        let mut parser = Parser::new(size(rows), size(columns), SCROLLBACK_ROWS);
        parser.process(text.as_bytes());
        parser
    }

    #[test]
    fn text_is_broken_anew_and_comes_together_again() {
        let mut parser = terminal(10, 4, "one\r\n0123456789abc\r\n日本> abc\x1b[1D");
        assert_eq!(parser.screen().contents(), "one\n0123456789abc\n日本> abc");
        reflow(&mut parser, 5, 4);
        assert_eq!(parser.screen().contents(), "56789abc\n日本> abc");
        assert_eq!(parser.screen().cursor_position(), (3, 3));
        assert_eq!(parser.screen().scrollback_len(), 2);
        reflow(&mut parser, 20, 6);
        assert_eq!(parser.screen().contents(), "one\n0123456789abc\n日本> abc");
        assert_eq!(parser.screen().cursor_position(), (2, 8));
    }
}
