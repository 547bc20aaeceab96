//! Pictures of terminals, for documentation: the same screen is the same picture, byte for byte.
//!
//! Every run of letters is placed by its cell and stretched to its cells, so that columns stand below each other
//! in whatever fonts a reader has, also where letters are two cells wide.

use std::fmt::Write as _;

use vt100::{Color, Screen};

/// Sizes are in tenths of a pixel, which keeps them exact.
const CELL_WIDTH: usize = 84;
const ROW_HEIGHT: usize = 190;
const PADDING: usize = 120;
/// From the top of a row to the line on which letters stand.
const BASELINE: usize = 140;

const FONTS: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK JP',\
                     'Hiragino Sans','Yu Gothic',monospace";
const INK: &str = "#d1d9e0";
const PAPER: &str = "#1e242b";
const FRAME: &str = "#59636e";
/// The sixteen named colours; each is read well on [`PAPER`].
const PALETTE: [&str; 16] = [
    "#59636e", "#ff8a80", "#6bc46d", "#e3b341", "#79b8ff", "#d2a8ff", "#6fd3e0", "#d1d9e0", "#8b949e",
    "#ffaba3", "#8ddb8c", "#f2cc60", "#a5d0ff", "#e2c5ff", "#9be7f0", "#ffffff",
];

/// A screen as it stood at one moment.
#[derive(Debug, Clone)]
pub struct Still {
    rows: Vec<Vec<Cell>>,
    /// Row and column.
    cursor: Option<(usize, usize)>,
    columns: usize,
}

/// A letter with its marks; a space where nothing was written.
#[derive(Debug, Clone, PartialEq)]
struct Cell {
    text: String,
    /// 1 or 2.
    cells: usize,
    look: Look,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one attribute of a terminal")]
struct Look {
    ink: Color,
    paper: Color,
    is_bold: bool,
    is_dim: bool,
    is_italic: bool,
    is_underlined: bool,
    is_inverse: bool,
}

/// Letters that are drawn as one text: alike, and of one kind of width.
struct Run<'a> {
    column: usize,
    cells: &'a [Cell],
    kind: Kind,
}

/// What a font may be trusted with: it has ASCII in one width, other letters may come from another font.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ascii,
    Narrow,
    Wide,
    /// A letter with marks of its own, which stands alone.
    Marked,
}

impl Still {
    /// The screen without the empty rows below what is shown.
    #[must_use]
    pub fn of(screen: &Screen) -> Self {
        let (row_count, columns) = screen.size();
        let row = |at: u16| -> Vec<Cell> {
            let cells = (0..columns.get()).filter_map(|column| screen.cell(at, column));
            cells.filter(|cell| !cell.is_wide_continuation()).map(Cell::of).collect()
        };
        let rows: Vec<Vec<Cell>> = (0..row_count.get()).map(row).collect();
        let (row, column) = screen.cursor_position();
        let cursor = (!screen.hide_cursor()).then_some((usize::from(row), usize::from(column)));
        Self { rows, cursor, columns: usize::from(columns.get()) }.trimmed()
    }

    /// Leaves the cursor out.
    #[must_use]
    pub fn without_cursor(self) -> Self {
        Self { cursor: None, ..self }.trimmed()
    }

    fn trimmed(mut self) -> Self {
        let last = self.rows.iter().rposition(|row| row.iter().any(|cell| !cell.is_blank()));
        self.rows.truncate(last.map_or(0, |at| at + 1).max(self.cursor.map_or(0, |(row, _)| row + 1)));
        self
    }

    /// Puts `to` in the place of every `from`, in the look of its first letter; what stands to the right moves.
    ///
    /// # Panics
    /// When `from` is empty or nowhere, since the picture would then show what differs from run to run.
    #[must_use]
    #[track_caller]
    pub fn replace(mut self, from: &str, to: &str) -> Self {
        assert!(!from.is_empty(), "nothing can be put in the place of nothing");
        let mut is_found = false;
        for row in &mut self.rows {
            let mut at = 0;
            while at < row.len() {
                let Some(count) = begins_with(&row[at..], from) else {
                    at += 1;
                    continue;
                };
                is_found = true;
                let look = row[at].look;
                let put: Vec<Cell> =
                    to.chars().map(|c| Cell { text: c.to_string(), cells: 1, look }).collect();
                let next = at + put.len();
                row.splice(at..at + count, put);
                at = next;
            }
        }
        assert!(is_found, "`{from}` is not on the screen:\n{}", self.text());
        self
    }

    /// What is shown, without the spaces at the ends of rows.
    #[must_use]
    pub fn text(&self) -> String {
        let row = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.as_str()).collect::<String>();
        self.rows.iter().map(|cells| row(cells).trim_end().to_owned() + "\n").collect()
    }

    /// The picture. `title` says what is seen, for those who do not see it.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        let width = px(self.columns * CELL_WIDTH + 2 * PADDING);
        let height = px(self.rows.len() * ROW_HEIGHT + 2 * PADDING);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n\
             <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{PAPER}\" stroke=\"{FRAME}\"/>\n\
             <g font-family=\"{FONTS}\" font-size=\"14\" fill=\"{INK}\" xml:space=\"preserve\" \
             style=\"white-space:pre\">\n",
            escaped(title),
            px(self.columns * CELL_WIDTH + 2 * PADDING - 10),
            px(self.rows.len() * ROW_HEIGHT + 2 * PADDING - 10),
        );
        for (at, row) in self.rows.iter().enumerate() {
            runs(row).iter().for_each(|run| run.draw(at, &mut svg));
        }
        if let Some((row, column)) = self.cursor {
            let _ = writeln!(svg, "{}", block(row, column, 1, INK).replace("/>", " fill-opacity=\".6\"/>"));
        }
        svg.push_str("</g>\n</svg>\n");
        svg
    }
}

impl Cell {
    fn of(cell: &vt100::Cell) -> Self {
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let look = Look {
            ink: cell.fgcolor(),
            paper: cell.bgcolor(),
            is_bold: cell.bold(),
            is_dim: cell.dim(),
            is_italic: cell.italic(),
            is_underlined: cell.underline(),
            is_inverse: cell.inverse(),
        };
        Self { text: text.to_owned(), cells: if cell.is_wide() { 2 } else { 1 }, look }
    }

    /// Whether nothing is seen of it.
    fn is_blank(&self) -> bool {
        self.text == " " && !self.look.is_underlined && self.look.paper_colour().is_none()
    }

    fn kind(&self) -> Kind {
        let mut letters = self.text.chars();
        match (letters.next(), letters.next(), self.cells) {
            (_, Some(_), _) => Kind::Marked,
            (Some(letter), None, _) if letter.is_ascii() => Kind::Ascii,
            (_, None, 2) => Kind::Wide,
            (_, None, _) => Kind::Narrow,
        }
    }
}

impl Look {
    fn ink_colour(&self) -> String {
        if self.is_inverse { colour(self.paper, PAPER) } else { colour(self.ink, INK) }
    }

    fn paper_colour(&self) -> Option<String> {
        if self.is_inverse {
            Some(colour(self.ink, INK))
        } else {
            (self.paper != Color::Default).then(|| colour(self.paper, PAPER))
        }
    }

    fn attributes(&self) -> String {
        let mut text = String::new();
        let ink = self.ink_colour();
        if ink != INK {
            let _ = write!(text, " fill=\"{ink}\"");
        }
        for (is_so, attribute) in [
            (self.is_dim, " fill-opacity=\".65\""),
            (self.is_bold, " font-weight=\"bold\""),
            (self.is_italic, " font-style=\"italic\""),
            (self.is_underlined, " text-decoration=\"underline\""),
        ] {
            text.push_str(if is_so { attribute } else { "" });
        }
        text
    }
}

impl Run<'_> {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.cells).sum()
    }

    fn draw(&self, row: usize, svg: &mut String) {
        let Some(first) = self.cells.first() else { return };
        let look = first.look;
        if let Some(colour) = look.paper_colour() {
            let _ = writeln!(svg, "{}", block(row, self.column, self.width(), &colour));
        }
        if self.cells.iter().all(|cell| cell.text == " ") && !look.is_underlined {
            return;
        }
        let y = px(PADDING + row * ROW_HEIGHT + BASELINE);
        let text: String = self.cells.iter().map(|cell| escaped(&cell.text)).collect();
        let place = if self.kind == Kind::Wide {
            let columns = self.cells.iter().scan(self.column, |column, cell| {
                *column += cell.cells;
                Some(px(PADDING + (*column - cell.cells) * CELL_WIDTH))
            });
            format!("x=\"{}\"", columns.collect::<Vec<_>>().join(" "))
        } else {
            let width = px(self.width() * CELL_WIDTH);
            let x = px(PADDING + self.column * CELL_WIDTH);
            format!("x=\"{x}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\"")
        };
        let _ = writeln!(svg, "<text {place} y=\"{y}\"{}>{text}</text>", look.attributes());
    }
}

/// How many cells the text takes that stands at the beginning of these; `None` when it does not stand there.
fn begins_with(cells: &[Cell], text: &str) -> Option<usize> {
    let mut rest = text;
    for (at, cell) in cells.iter().enumerate() {
        rest = rest.strip_prefix(cell.text.as_str())?;
        if rest.is_empty() {
            return Some(at + 1);
        }
    }
    None
}

/// The runs of a row, without the blanks around them.
fn runs(row: &[Cell]) -> Vec<Run<'_>> {
    let mut all: Vec<Run<'_>> = vec![];
    let (mut at, mut column) = (0, 0);
    while let Some(first) = row.get(at) {
        let is_alike = |cell: &&Cell| cell.look == first.look && cell.kind() == first.kind();
        let count = match first.kind() {
            Kind::Marked => 1,
            Kind::Ascii | Kind::Narrow | Kind::Wide => row[at..].iter().take_while(is_alike).count(),
        };
        let cells = &row[at..at + count];
        let before = cells.iter().take_while(|cell| cell.is_blank()).count();
        let after = cells[before..].iter().rev().take_while(|cell| cell.is_blank()).count();
        let shown = &cells[before..count - after];
        if !shown.is_empty() {
            all.push(Run { column: column + before, cells: shown, kind: first.kind() });
        }
        column += cells.iter().map(|cell| cell.cells).sum::<usize>();
        at += count;
    }
    all
}

fn block(row: usize, column: usize, cells: usize, colour: &str) -> String {
    let (x, y) = (px(PADDING + column * CELL_WIDTH), px(PADDING + row * ROW_HEIGHT));
    let (width, height) = (px(cells * CELL_WIDTH), px(ROW_HEIGHT));
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>")
}

/// A colour as the terminal names it: one of sixteen, of a cube of 6 x 6 x 6, a grey, or by its parts.
fn colour(of: Color, unset: &str) -> String {
    let hex = |red: u8, green: u8, blue: u8| format!("#{red:02x}{green:02x}{blue:02x}");
    match of {
        Color::Default => unset.to_owned(),
        Color::Idx(index @ 0..16) => PALETTE[usize::from(index)].to_owned(),
        Color::Idx(index @ 16..232) => {
            let part = |at: u8| if at == 0 { 0 } else { 55 + 40 * at };
            let index = index - 16;
            hex(part(index / 36), part(index / 6 % 6), part(index % 6))
        }
        Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            hex(grey, grey, grey)
        }
        Color::Rgb(red, green, blue) => hex(red, green, blue),
    }
}

/// Tenths of a pixel as a number without a useless zero.
fn px(tenths: usize) -> String {
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn still(bytes: &str) -> Still {
        let mut terminal = vt100::Parser::new(3.try_into().unwrap(), 20.try_into().unwrap(), 0);
        terminal.process(bytes.as_bytes());
        Still::of(terminal.screen())
    }

    fn drawn(bytes: &str) -> Vec<String> {
        let svg = still(bytes).without_cursor().svg("t");
        svg.lines()
            .filter(|line| line.starts_with("<text") || line.contains("fill-opacity=\".6\""))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn every_letter_stands_at_its_cell_also_where_letters_are_wide() {
        assert_eq!(
            drawn("ab 日本 c"),
            [
                "<text x=\"12\" textLength=\"16.8\" lengthAdjust=\"spacingAndGlyphs\" y=\"26\">ab</text>",
                "<text x=\"37.2 54\" y=\"26\">日本</text>",
                "<text x=\"79.2\" textLength=\"8.4\" lengthAdjust=\"spacingAndGlyphs\" y=\"26\">c</text>",
            ]
        );
    }

    #[test]
    fn a_letter_with_a_mark_of_its_own_is_one_letter() {
        let texts: Vec<String> = drawn("か\u{3099}き").iter().map(|text| text[9..].to_owned()).collect();
        assert_eq!(
            texts,
            [
                "12\" textLength=\"16.8\" lengthAdjust=\"spacingAndGlyphs\" y=\"26\">か\u{3099}</text>",
                "28.8\" y=\"26\">き</text>",
            ]
        );
    }

    #[test]
    fn what_would_be_markup_is_text() {
        assert!(drawn("<b>&\"")[0].ends_with(">&lt;b&gt;&amp;&quot;</text>"));
        assert!(still("x").svg("a < b").contains("<title>a &lt; b</title>"));
    }

    #[test]
    fn looks_are_drawn_and_what_looks_alike_is_one_text() {
        let row = drawn("\x1b[32m+a\x1b[1mb\x1b[0;2mc\x1b[0;4md \x1b[0m");
        let looks: Vec<&str> = row.iter().map(|text| text.split("y=\"26\"").nth(1).unwrap()).collect();
        assert_eq!(
            looks,
            [
                " fill=\"#6bc46d\">+a</text>",
                " fill=\"#6bc46d\" font-weight=\"bold\">b</text>",
                " fill-opacity=\".65\">c</text>",
                " text-decoration=\"underline\">d </text>",
            ]
        );
    }

    #[test]
    fn an_inverse_row_is_dark_on_light_to_its_end() {
        let svg = still("\x1b[7mq  \x1b[0m").without_cursor().svg("t");
        assert!(
            svg.contains("<rect x=\"12\" y=\"12\" width=\"25.2\" height=\"19\" fill=\"#d1d9e0\"/>"),
            "{svg}"
        );
        assert!(svg.contains(" fill=\"#1e242b\">q  </text>"), "{svg}");
    }

    #[test]
    fn colours_are_those_that_terminals_agree_on() {
        let table = [
            (Color::Idx(1), "#ff8a80"),
            (Color::Idx(16), "#000000"),
            (Color::Idx(208), "#ff8700"),
            (Color::Idx(255), "#eeeeee"),
            (Color::Rgb(1, 2, 3), "#010203"),
            (Color::Default, "unset"),
        ];
        for (of, expected) in table {
            assert_eq!(colour(of, "unset"), expected, "{of:?}");
        }
    }

    #[test]
    fn what_differs_from_run_to_run_is_put_right_and_the_rest_keeps_its_place() {
        let still = still("日 \x1b[31m12 s\x1b[0m · x 12 s").replace("12 s", "3 s");
        assert_eq!(still.text(), "日 3 s · x 3 s\n");
        assert!(still.svg("t").contains(" fill=\"#ff8a80\">3 s</text>"));
    }

    #[test]
    #[should_panic(expected = "`gone` is not on the screen")]
    fn putting_right_what_is_not_there_fails() {
        let _ = still("here").replace("gone", "x");
    }

    #[test]
    fn empty_rows_below_are_left_out_unless_the_cursor_is_there() {
        assert_eq!(still("a\r\n\r\n").text(), "a\n\n\n");
        assert_eq!(still("a\x1b[?25l\r\n").text(), "a\n");
        assert_eq!(still("a\r\n\r\n").without_cursor().text(), "a\n");
    }
}
