//! The terminal: lines that were printed and stay, and below them a live region that is painted anew.
//!
//! Moves the cursor only relative to where it left it, so it never has to ask the terminal. A frame is one
//! write, and a row that did not change is not sent again. Invariant: the cursor rests at the caret.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::line::{Line, Look};
use crate::wrap::wrap;

/// Printed rows that are kept to paint the screen again when its size changes.
const RECENT_ROWS_MAX: usize = 1_000;
/// Begins and ends a frame: a terminal that knows it shows the frame at once.
const FRAME: (&str, &str) = ("\x1b[?2026h\x1b[?25l", "\x1b[?2026l");

/// The size of the terminal of this process: columns and rows.
///
/// # Errors
/// When there is none.
pub fn size() -> io::Result<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(io::stdout())?;
    // A terminal that does not know its size says 0.
    Ok(if size.ws_col == 0 || size.ws_row == 0 { (80, 24) } else { (size.ws_col, size.ws_row) })
}

/// The region below the printed lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Live {
    /// Its rows, each no wider than the terminal.
    pub rows: Vec<Line>,
    /// Where the caret is: row and column; nowhere to be seen when `None`.
    pub caret: Option<(usize, usize)>,
}

/// A terminal of a known size.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    look: Look,
    columns: usize,
    rows: usize,
    recent: VecDeque<Line>,
    /// What the live region shows now.
    shown: Live,
    /// The row of the live region that the cursor is on.
    cursor_row: usize,
}

impl<W: Write> Screen<W> {
    /// A screen that begins on the row where the cursor is, at its first column.
    pub fn new(out: W, look: Look, columns: usize, rows: usize) -> Self {
        let (columns, rows) = (columns.max(1), rows.max(1));
        Self { out, look, columns, rows, recent: VecDeque::new(), shown: Live::default(), cursor_row: 0 }
    }

    /// Columns of the terminal.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Rows of the terminal.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Prints lines above the live region, breaking those that are too wide, and shows `live`.
    ///
    /// # Errors
    /// When the terminal takes nothing, for instance because it is gone.
    pub fn paint(&mut self, printed: &[Line], live: &Live) -> io::Result<()> {
        let live = self.fitted(live);
        if printed.is_empty() && live == self.shown {
            return Ok(());
        }
        let mut frame = FRAME.0.to_owned();
        if printed.is_empty() && live.rows.len() == self.shown.rows.len() {
            self.write_changes(&live, &mut frame);
        } else {
            let printed: Vec<Line> = printed.iter().flat_map(|line| wrap(line, self.columns, 0)).collect();
            self.write_anew(&printed, &live, &mut frame);
            self.remember(printed);
        }
        self.send(frame, live)
    }

    /// Takes on another size. Everything on the screen is painted again, since terminals differ in what
    /// they make of it.
    ///
    /// # Errors
    /// When the terminal takes nothing.
    pub fn resize(&mut self, columns: usize, rows: usize, live: &Live) -> io::Result<()> {
        // Where the screen lost rows, nobody knows how far up the printed lines begin now.
        let is_lower = rows < self.rows;
        let before = if is_lower { 0 } else { self.recent_rows().len() };
        (self.columns, self.rows) = (columns.max(1), rows.max(1));
        let live = self.fitted(live);
        let recent = self.recent_rows();
        let room = self.rows - live.rows.len().min(self.rows);
        let mut frame = FRAME.0.to_owned();
        if recent.len() < room {
            // What others printed before is still to be seen; it goes up and is not painted over.
            // The live region would be an old one there.
            self.move_to_row(0, &mut frame);
            // So would the printed lines. A terminal that breaks them anew has more rows of them, never fewer.
            if before > 0 {
                let _ = write!(frame, "\x1b[{before}A");
            }
            let _ = write!(frame, "\r\x1b[J\x1b[{}B{}", self.rows, "\r\n".repeat(self.rows));
        }
        frame.push_str("\x1b[H");
        let visible = &recent[recent.len().saturating_sub(room)..];
        self.shown = Live { rows: vec![Line::new(); self.rows], caret: None };
        self.cursor_row = 0;
        self.write_anew(visible, &live, &mut frame);
        self.send(frame, live)
    }

    /// Clears the screen; the live region begins at its top.
    ///
    /// # Errors
    /// When the terminal takes nothing.
    pub fn clear(&mut self, live: &Live) -> io::Result<()> {
        let live = self.fitted(live);
        self.recent.clear();
        let mut frame = format!("{}\x1b[2J\x1b[H", FRAME.0);
        self.shown = Live::default();
        self.cursor_row = 0;
        self.write_anew(&[], &live, &mut frame);
        self.send(frame, live)
    }

    /// Removes the live region and leaves the cursor, visible, at the beginning of the row after what was
    /// printed.
    ///
    /// # Errors
    /// When the terminal takes nothing.
    pub fn leave(&mut self) -> io::Result<()> {
        let mut frame = FRAME.0.to_owned();
        let live = Live { rows: vec![], caret: Some((0, 0)) };
        self.write_anew(&[], &live, &mut frame);
        self.send(frame, live)
    }

    /// Shows rows on a page of their own, over everything else, until [`Self::leave_page`].
    ///
    /// # Errors
    /// When the terminal takes nothing.
    pub fn paint_page(&mut self, rows: &[Line]) -> io::Result<()> {
        let mut frame = format!("{}\x1b[?1049h\x1b[H", FRAME.0);
        for (at, row) in rows.iter().take(self.rows).enumerate() {
            frame.push_str(if at == 0 { "\x1b[K" } else { "\r\n\x1b[K" });
            cut(row, self.columns).write(self.look, &mut frame);
        }
        if rows.len() < self.rows {
            frame.push_str("\r\n\x1b[J");
        }
        frame.push_str(FRAME.1);
        crate::raw_mode::page_is_open(true);
        self.write(&frame)
    }

    /// Shows again what the page hid.
    ///
    /// # Errors
    /// When the terminal takes nothing.
    pub fn leave_page(&mut self) -> io::Result<()> {
        crate::raw_mode::page_is_open(false);
        self.write("\x1b[?1049l")
    }

    /// Asks the terminal to put a text into the clipboard (OSC 52). Whether it does is up to the terminal.
    ///
    /// # Errors
    /// When the terminal takes nothing.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        self.write(&format!("\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text)))
    }

    /// The printed rows that are kept, as wide as the terminal is.
    fn recent_rows(&self) -> Vec<Line> {
        self.recent.iter().flat_map(|line| wrap(line, self.columns, 0)).collect()
    }

    fn remember(&mut self, printed: Vec<Line>) {
        self.recent.extend(printed);
        let surplus = self.recent.len().saturating_sub(RECENT_ROWS_MAX);
        self.recent.drain(..surplus);
    }

    /// The region as far as the screen holds it: the rows about the caret, none too wide.
    fn fitted(&self, live: &Live) -> Live {
        let surplus = live.rows.len().saturating_sub(self.rows);
        let caret_row = live.caret.map_or(live.rows.len().saturating_sub(1), |(row, _)| row);
        // The last rows hold the input and what is below it.
        let first = surplus.min(caret_row);
        let rows = live.rows.iter().skip(first).take(self.rows);
        Live {
            rows: rows.map(|row| cut(row, self.columns)).collect(),
            caret: live
                .caret
                .map(|(row, column)| (row.saturating_sub(first), column.min(self.columns.saturating_sub(1)))),
        }
    }

    /// Sends the rows that changed, where the region keeps its height.
    fn write_changes(&mut self, live: &Live, frame: &mut String) {
        for (at, row) in live.rows.iter().enumerate() {
            if self.shown.rows[at] != *row {
                self.move_to_row(at, frame);
                frame.push_str("\r\x1b[K");
                row.write(self.look, frame);
            }
        }
    }

    /// Sends printed lines and the whole region from its top on.
    fn write_anew(&mut self, printed: &[Line], live: &Live, frame: &mut String) {
        self.move_to_row(0, frame);
        frame.push('\r');
        let before = self.shown.rows.len().max(1);
        let mut count = 0;
        // Without a region, the cursor rests on the row after the last printed line.
        let end = Line::new();
        let ends = if live.rows.is_empty() { std::slice::from_ref(&end) } else { &live.rows[..] };
        for row in printed.iter().chain(ends) {
            frame.push_str(if count == 0 { "\x1b[K" } else { "\r\n\x1b[K" });
            row.write(self.look, frame);
            count += 1;
        }
        // Rows of the old region that nothing is written over: they are there, so this scrolls nothing.
        let surplus = before.saturating_sub(count);
        for _ in 0..surplus {
            frame.push_str("\r\n\x1b[K");
        }
        if surplus > 0 {
            let _ = write!(frame, "\x1b[{surplus}A");
        }
        self.cursor_row = live.rows.len().saturating_sub(1);
    }

    fn move_to_row(&mut self, row: usize, frame: &mut String) {
        let _ = match row.cmp(&self.cursor_row) {
            std::cmp::Ordering::Less => write!(frame, "\x1b[{}A", self.cursor_row - row),
            std::cmp::Ordering::Greater => write!(frame, "\x1b[{}B", row - self.cursor_row),
            std::cmp::Ordering::Equal => Ok(()),
        };
        self.cursor_row = row;
    }

    /// Puts the cursor at the caret and sends the frame.
    fn send(&mut self, mut frame: String, live: Live) -> io::Result<()> {
        let (row, column) = live.caret.unwrap_or((live.rows.len().saturating_sub(1), 0));
        self.move_to_row(row, &mut frame);
        frame.push('\r');
        if column > 0 {
            let _ = write!(frame, "\x1b[{column}C");
        }
        if live.caret.is_some() {
            frame.push_str("\x1b[?25h");
        }
        frame.push_str(FRAME.1);
        self.shown = live;
        self.write(&frame)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

/// A line as far as it fits into `columns`.
fn cut(line: &Line, columns: usize) -> Line {
    if line.width() <= columns {
        return line.clone();
    }
    wrap(line, columns, 0).into_iter().next().filter(|row| row.width() <= columns).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A screen and the terminal that it writes to.
    struct Stage {
        screen: Screen<Vec<u8>>,
        terminal: vt100::Parser,
    }

    impl Stage {
        fn new(columns: u16, rows: u16) -> Self {
            let screen = Screen::new(vec![], Look::Plain, columns.into(), rows.into());
            Self { screen, terminal: terminal(columns, rows) }
        }

        fn paint(&mut self, printed: &[&str], live: &[&str], caret: (usize, usize)) {
            self.screen.paint(&lines(printed), &region(live, caret)).unwrap();
            self.show();
        }

        /// Sends what was written; returns how many bytes that were.
        fn show(&mut self) -> usize {
            let sent = std::mem::take(&mut self.screen.out);
            self.terminal.process(&sent);
            sent.len()
        }

        fn text(&self) -> String {
            self.terminal.screen().contents()
        }

        /// Every row, those that scrolled away included.
        fn everything(&mut self) -> String {
            let screen = self.terminal.screen_mut();
            let columns = screen.size().1.get();
            let above = screen.scrollback_len();
            let mut rows = vec![];
            for offset in (1..=above).rev() {
                screen.set_scrollback(offset);
                rows.extend(screen.rows(0, columns).next());
            }
            screen.set_scrollback(0);
            rows.extend(screen.rows(0, columns));
            rows.join("\n")
        }

        /// Row and column of the cursor.
        fn cursor(&self) -> (u16, u16) {
            self.terminal.screen().cursor_position()
        }
    }

    fn terminal(columns: u16, rows: u16) -> vt100::Parser {
        vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 1_000)
    }

    fn lines(texts: &[&str]) -> Vec<Line> {
        texts.iter().map(|text| Line::plain(text)).collect()
    }

    fn region(rows: &[&str], caret: (usize, usize)) -> Live {
        Live { rows: lines(rows), caret: Some(caret) }
    }

    #[test]
    fn printed_lines_stay_above_the_live_region() {
        let mut stage = Stage::new(20, 6);
        stage.paint(&["hello"], &["> ", "status"], (0, 2));
        assert_eq!((stage.text().as_str(), stage.cursor()), ("hello\n> \nstatus", (1, 2)));
        stage.paint(&["one", "two"], &["busy", "> ab", "status"], (1, 4));
        assert_eq!((stage.text().as_str(), stage.cursor()), ("hello\none\ntwo\nbusy\n> ab\nstatus", (4, 4)));
        stage.paint(&["three"], &["> ", "status"], (0, 2));
        assert_eq!(stage.text(), "hello\none\ntwo\nthree\n> \nstatus");
        stage.screen.leave().unwrap();
        stage.show();
        assert_eq!((stage.text().as_str(), stage.cursor()), ("hello\none\ntwo\nthree", (4, 0)));
    }

    #[test]
    fn a_row_that_did_not_change_is_not_sent_again() {
        let mut stage = Stage::new(80, 24);
        let long = "x".repeat(70);
        stage.paint(&[], &[&long, "> a"], (1, 3));
        stage.screen.paint(&[], &region(&[&long, "> ab"], (1, 4))).unwrap();
        assert!(stage.show() < 60);
        assert_eq!(stage.text(), format!("{long}\n> ab"));
        stage.screen.paint(&[], &region(&[&long, "> ab"], (1, 4))).unwrap();
        assert_eq!(stage.show(), 0);
    }

    #[test]
    fn a_line_as_wide_as_the_terminal_takes_one_row() {
        let mut stage = Stage::new(10, 5);
        stage.paint(&["0123456789", "日本語文章"], &["> 23456789"], (0, 9));
        assert_eq!((stage.text().as_str(), stage.cursor()), ("0123456789\n日本語文章\n> 23456789", (2, 9)));
    }

    #[test]
    fn a_terminal_of_one_row_shows_the_row_of_the_caret() {
        let mut stage = Stage::new(10, 1);
        stage.paint(&["gone up"], &["busy", "> ab", "status"], (1, 4));
        assert_eq!((stage.text().as_str(), stage.cursor()), ("> ab", (0, 4)));
    }

    #[test]
    fn a_new_size_paints_the_same_lines_again() {
        let mut stage = Stage::new(20, 6);
        let many: Vec<String> = (0..20).map(|at| format!("line number {at}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        stage.paint(&many, &["> a", "status"], (0, 3));
        stage.terminal.screen_mut().set_size(5_u16.try_into().unwrap(), 10_u16.try_into().unwrap());
        stage.screen.resize(10, 5, &region(&["> a", "status"], (0, 3))).unwrap();
        stage.show();
        assert_eq!(
            (stage.text().as_str(), stage.cursor()),
            ("number 18\nline\nnumber 19\n> a\nstatus", (3, 3))
        );
    }

    #[test]
    fn what_stood_on_the_screen_before_is_not_lost_when_the_size_changes() {
        let mut stage = Stage::new(20, 6);
        stage.terminal.process(b"$ reyn chat\r\n");
        stage.paint(&["hello"], &["> "], (0, 2));
        stage.terminal.screen_mut().set_size(6_u16.try_into().unwrap(), 12_u16.try_into().unwrap());
        stage.screen.resize(12, 6, &region(&["> "], (0, 2))).unwrap();
        stage.show();
        assert_eq!(stage.text(), "hello\n> ");
        let above = stage.terminal.screen().scrollback_len();
        stage.terminal.screen_mut().set_scrollback(above);
        assert_eq!(stage.text(), "$ reyn chat");
    }

    #[test]
    fn what_was_printed_stands_once_whatever_sizes_the_screen_had() {
        let mut stage = Stage::new(20, 8);
        stage.terminal.process(b"$ reyn chat\r\n");
        stage.paint(&["hello", "a longer line"], &["> ", "status"], (0, 2));
        for (columns, rows) in [(16_u16, 8_u16), (10, 8), (30, 10), (30, 14)] {
            stage.terminal.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
            stage.screen.resize(columns.into(), rows.into(), &region(&["> ", "status"], (0, 2))).unwrap();
            stage.show();
        }
        let everything = stage.everything();
        let shown: Vec<&str> = everything.lines().map(str::trim_end).filter(|row| !row.is_empty()).collect();
        assert_eq!(shown, ["$ reyn chat", "hello", "a longer line", ">", "status"]);
    }

    #[test]
    fn a_page_hides_everything_until_it_is_left() {
        let mut stage = Stage::new(20, 4);
        stage.paint(&["hello"], &["> "], (0, 2));
        stage.screen.paint_page(&lines(&["a", "b"])).unwrap();
        stage.show();
        assert_eq!(stage.text(), "a\nb");
        stage.screen.leave_page().unwrap();
        stage.show();
        assert_eq!((stage.text().as_str(), stage.cursor()), ("hello\n> ", (1, 2)));
    }

    #[test]
    fn text_for_the_clipboard_is_sent_so_that_nothing_in_it_is_a_command() {
        let mut stage = Stage::new(20, 4);
        stage.screen.copy("\x1b[2J日本").unwrap();
        assert_eq!(stage.screen.out, b"\x1b]52;c;G1sySuaXpeacrA==\x07");
    }

    proptest! {
        /// Whatever is printed and shown in whatever order, the terminal holds the printed rows and then
        /// the region, and nothing else.
        #[test]
        fn the_terminal_holds_what_was_printed_and_the_region(
            frames in prop::collection::vec(
                (prop::collection::vec("[a-z日]{0,12}", 0..3), prop::collection::vec("[a-z本]{0,6}", 1..5)), 1..12),
            columns in 4_u16..14, rows in 2_u16..9,
        ) {
            let mut stage = Stage::new(columns, rows);
            let mut all: Vec<String> = vec![];
            let mut last = vec![];
            for (printed, live) in &frames {
                let printed: Vec<&str> = printed.iter().map(String::as_str).collect();
                let live: Vec<&str> = live.iter().map(String::as_str).collect();
                stage.paint(&printed, &live, (live.len() - 1, 0));
                let wrapped = |text: &&str| wrap(&Line::plain(text), columns.into(), 0);
                all.extend(printed.iter().flat_map(wrapped).map(|row| row.text()));
                last = stage.screen.shown.rows.iter().map(Line::text).collect();
            }
            all.extend(last);
            let (everything, expected) = (stage.everything(), all.join("\n"));
            prop_assert_eq!(everything.trim_end(), expected.trim_end());
        }
    }
}
