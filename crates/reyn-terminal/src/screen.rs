//! The terminal: lines that were printed and stay, and below them a live region that is painted anew.
//!
//! Moves the cursor only relative to where it left it, so it never has to ask the terminal. A frame is one
//! write, and a row that did not change is not sent again. Invariant: the cursor rests at the caret.

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::line::{Line, Look};
use crate::narrowing::Narrowing;
use crate::wrap::{chop, wrap};

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
    narrowing: Narrowing,
    columns: usize,
    rows: usize,
    /// What the live region shows now.
    shown: Live,
    /// The row of the live region that the cursor is on.
    cursor_row: usize,
}

impl<W: Write> Screen<W> {
    /// A screen that begins on the row where the cursor is, at its first column.
    pub fn new(out: W, look: Look, narrowing: Narrowing, columns: usize, rows: usize) -> Self {
        let (columns, rows) = (columns.max(1), rows.max(1));
        Self { out, look, narrowing, columns, rows, shown: Live::default(), cursor_row: 0 }
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
        }
        self.send(frame, live)
    }

    /// Takes on another size. The live region is painted anew from where it began; what was printed belongs
    /// to the terminal, which moves it and breaks it as it does with everything. Where a terminal breaks rows
    /// and it is not known, rows of the old region can stay above the new one; nothing is painted over.
    ///
    /// # Errors
    /// When the terminal takes nothing.
    pub fn resize(&mut self, columns: usize, rows: usize, live: &Live) -> io::Result<()> {
        (self.columns, self.rows) = (columns.max(1), rows.max(1));
        let live = self.fitted(live);
        self.cursor_row = match self.narrowing {
            Narrowing::Breaks => self.broken_rows_above_cursor(),
            Narrowing::Cuts => self.cursor_row,
        };
        let mut frame = FRAME.0.to_owned();
        self.move_to_row(0, &mut frame);
        frame.push_str("\r\x1b[J");
        self.shown = Live::default();
        self.write_anew(&[], &live, &mut frame);
        self.send(frame, live)
    }

    /// Rows of the region above the cursor, after the terminal broke those that are wider than its size.
    fn broken_rows_above_cursor(&self) -> usize {
        let above = self.shown.rows.iter().take(self.cursor_row);
        let rows: usize = above.map(|row| chop(row, self.columns).len()).sum();
        let column = self.shown.caret.map_or(0, |(_, column)| column);
        rows + column / self.columns
    }

    /// Clears the screen; the live region begins at its top.
    ///
    /// # Errors
    /// When the terminal takes nothing.
    pub fn clear(&mut self, live: &Live) -> io::Result<()> {
        let live = self.fitted(live);
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
    use reyn_testkit::reflow;

    /// A screen and the terminal that it writes to.
    struct Stage {
        screen: Screen<Vec<u8>>,
        terminal: vt100::Parser,
    }

    impl Stage {
        fn new(columns: u16, rows: u16) -> Self {
            let (columns_wide, rows_high) = (columns.into(), rows.into());
            let screen = Screen::new(vec![], Look::Plain, Narrowing::Breaks, columns_wide, rows_high);
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

    impl Stage {
        fn resize(&mut self, columns: u16, rows: u16, live: &[&str], caret: (usize, usize)) {
            reflow(&mut self.terminal, columns, rows);
            self.screen.resize(columns.into(), rows.into(), &region(live, caret)).unwrap();
            self.show();
        }
    }

    #[test]
    fn at_a_new_size_the_region_is_painted_where_it_was() {
        let mut stage = Stage::new(20, 6);
        stage.terminal.process(b"$ reyn chat\r\n");
        stage.paint(&["hello there"], &["a busy row so wide", "> abcdefgh", "status of it"], (1, 10));
        stage.resize(8, 9, &["busy", "> abcd", "efgh", "status"], (2, 4));
        assert_eq!(
            (stage.text().as_str(), stage.cursor()),
            ("hello there\nbusy\n> abcd\nefgh\nstatus", (4, 4))
        );
        stage.resize(30, 4, &["busy", "> abcdefgh", "status"], (1, 10));
        assert_eq!(stage.everything().trim_end(), "$ reyn chat\nhello there\nbusy\n> abcdefgh\nstatus");
    }

    #[test]
    fn where_a_terminal_cuts_rows_nothing_is_painted_over() {
        let mut stage = Stage::new(20, 6);
        stage.screen.narrowing = Narrowing::Cuts;
        stage.paint(&["hello", "you"], &["a busy row so wide", "> a"], (1, 3));
        stage.terminal.screen_mut().set_size(6_u16.try_into().unwrap(), 8_u16.try_into().unwrap());
        stage.screen.resize(8, 6, &region(&["> a"], (0, 3))).unwrap();
        stage.show();
        assert_eq!((stage.text().as_str(), stage.cursor()), ("hello\nyou\n> a", (2, 3)));
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
        /// Whatever sizes a terminal takes on while lines are printed, each of them stays, once and in order.
        #[test]
        fn a_storm_of_sizes_loses_and_repeats_nothing(
            steps in prop::collection::vec((0_usize..4, 1_u16..40, 1_u16..14, prop::collection::vec("[a-z ]{1,30}", 0..5)), 1..20),
            narrowing in prop::sample::select(vec![Narrowing::Breaks, Narrowing::Cuts]),
        ) {
            let mut stage = Stage::new(30, 10);
            stage.screen.narrowing = narrowing;
            let mut printed = 0;
            for (count, columns, rows, above) in steps {
                let mut live: Vec<&str> = above.iter().map(String::as_str).collect();
                live.extend(["> input", "status"]);
                let lines: Vec<String> = (printed..printed + count).map(|at| format!("<{at}> some words")).collect();
                printed += count;
                stage.paint(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &live, (live.len() - 2, 7));
                if columns > 12 && rows > live.len() as u16 {
                    stage.resize(columns, rows, &live, (live.len() - 2, 7));
                }
            }
            let text = stage.everything();
            // A number may be broken over two rows.
            let joined = text.replace('\n', "");
            let numbers: Vec<&str> = joined
                .split('<')
                .skip(1)
                .filter_map(|part| Some(part.split_once('>')?.0))
                .collect();
            let expected: Vec<String> = (0..printed).map(|at| at.to_string()).collect();
            prop_assert_eq!(numbers, expected);
            prop_assert!(text.trim_end().ends_with("> input\nstatus"), "{}", text);
        }

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
