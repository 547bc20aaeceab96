//! A line of styled text, and what a terminal is sent for it.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns between two tab stops.
const TAB_COLUMNS: usize = 4;

/// A colour of the person's own palette, so that it fits light and dark backgrounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// SGR 31.
    Red,
    /// SGR 32.
    Green,
    /// SGR 33.
    Yellow,
    /// SGR 34.
    Blue,
    /// SGR 35.
    Magenta,
    /// SGR 36.
    Cyan,
}

impl Colour {
    const fn code(self) -> u8 {
        match self {
            Self::Red => 31,
            Self::Green => 32,
            Self::Yellow => 33,
            Self::Blue => 34,
            Self::Magenta => 35,
            Self::Cyan => 36,
        }
    }
}

/// How a span looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one attribute of a terminal")]
pub struct Style {
    /// SGR 1.
    pub bold: bool,
    /// SGR 2.
    pub dim: bool,
    /// SGR 3.
    pub italic: bool,
    /// SGR 4.
    pub underline: bool,
    /// SGR 9.
    pub strike: bool,
    /// SGR 7.
    pub reverse: bool,
    /// The text's colour; the terminal's own when `None`.
    pub colour: Option<Colour>,
}

impl Style {
    /// Bold text.
    pub const BOLD: Self = Self { bold: true, ..Self::PLAIN };
    /// Text that is beside the point.
    pub const DIM: Self = Self { dim: true, ..Self::PLAIN };
    /// Text as it is.
    pub const PLAIN: Self = Self {
        bold: false,
        dim: false,
        italic: false,
        underline: false,
        strike: false,
        reverse: false,
        colour: None,
    };

    /// Text in a colour.
    #[must_use]
    pub const fn of(colour: Colour) -> Self {
        Self { colour: Some(colour), ..Self::PLAIN }
    }

    /// The same in bold.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    fn write(self, out: &mut String) {
        let flags = [
            (self.bold, 1),
            (self.dim, 2),
            (self.italic, 3),
            (self.underline, 4),
            (self.reverse, 7),
            (self.strike, 9),
        ];
        let codes = flags.into_iter().filter_map(|(is_set, code)| is_set.then_some(code));
        for (at, code) in codes.chain(self.colour.map(Colour::code)).enumerate() {
            let _ = write!(out, "{}{code}", if at == 0 { "\x1b[" } else { ";" });
        }
        out.push('m');
    }
}

/// What a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Colours and attributes.
    Coloured,
    /// Attributes without colours, as `NO_COLOR` asks for.
    Uncoloured,
    /// Letters alone.
    Plain,
}

/// A stretch of text in one style. Its text holds no control character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    text: String,
    style: Style,
}

impl Span {
    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its style.
    #[must_use]
    pub const fn style(&self) -> Style {
        self.style
    }
}

/// One line: spans from left to right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    spans: Vec<Span>,
    width: usize,
}

impl Line {
    /// An empty line.
    #[must_use]
    pub const fn new() -> Self {
        Self { spans: vec![], width: 0 }
    }

    /// A line in one style.
    #[must_use]
    pub fn styled(text: &str, style: Style) -> Self {
        let mut line = Self::new();
        line.push(text, style);
        line
    }

    /// A line without any style.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self::styled(text, Style::PLAIN)
    }

    /// Adds text on the right. Control characters, line ends among them, are written out; a tab becomes
    /// spaces up to the next stop.
    pub fn push(&mut self, text: &str, style: Style) {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            self.push_fitting(text, text.len(), style);
        } else if text.chars().any(needs_words) {
            for piece in text.split_inclusive(needs_words) {
                let end = piece.char_indices().next_back().filter(|(_, c)| needs_words(*c));
                let (clean, special) = end.map_or((piece, None), |(at, c)| (&piece[..at], Some(c)));
                self.push_clean(clean, style);
                match special {
                    Some('\t') => self.push_clean(&" ".repeat(TAB_COLUMNS - self.width % TAB_COLUMNS), style),
                    Some(c) => self.push_clean(&c.escape_unicode().to_string(), style),
                    None => {}
                }
            }
        } else {
            self.push_clean(text, style);
        }
    }

    fn push_clean(&mut self, text: &str, style: Style) {
        let text = unjoined(text);
        let stacked = if text.is_ascii() { 0 } else { self.marks_at_end() };
        let text = unstacked(&text, stacked);
        self.push_fitting(&text, cell_width(&text), style);
    }

    /// Marks that stand on its last character.
    fn marks_at_end(&self) -> usize {
        let chars = self.spans.iter().rev().flat_map(|span| span.text.chars().rev());
        chars.take(MARKS_LOOKED_AT_MAX).take_while(|c| !has_width(*c)).filter(|c| is_mark(*c)).count()
    }

    /// Adds text without control characters, whose width is known.
    pub(crate) fn push_fitting(&mut self, text: &str, width: usize, style: Style) {
        if text.is_empty() {
            return;
        }
        self.width += width;
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            Some(_) | None => self.spans.push(Span { text: text.to_owned(), style }),
        }
    }

    /// Adds the spans of another line on the right.
    pub fn append(&mut self, other: &Self) {
        for span in &other.spans {
            self.push_clean(&span.text, span.style);
        }
    }

    /// Takes the spaces at its end away.
    pub(crate) fn trim_end(&mut self) {
        while let Some(last) = self.spans.last_mut() {
            let kept = last.text.trim_end_matches(' ').len();
            self.width -= last.text.len() - kept;
            last.text.truncate(kept);
            if kept > 0 {
                return;
            }
            self.spans.pop();
        }
    }

    /// The spans, from left to right.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Its width in columns.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Whether there is nothing on it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Its text without any style.
    #[must_use]
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Writes what a terminal is sent for it, without a line end. Leaves no style behind.
    pub fn write(&self, look: Look, out: &mut String) {
        for span in &self.spans {
            let style = match look {
                Look::Coloured => span.style,
                Look::Uncoloured => Style { colour: None, ..span.style },
                Look::Plain => Style::PLAIN,
            };
            if style == Style::PLAIN {
                out.push_str(&span.text);
            } else {
                style.write(out);
                out.push_str(&span.text);
                out.push_str("\x1b[0m");
            }
        }
    }
}

/// Characters of one grapheme that any terminal may be expected to draw as one.
const JOINED_CHARS_MAX: usize = 12;

/// A text whose endless chains of joined characters are taken apart: a terminal draws them one by one, and
/// their width would not be what is counted.
fn unjoined(text: &str) -> Cow<'_, str> {
    const JOINER: char = '\u{200d}';
    if !text.contains(JOINER) {
        return Cow::Borrowed(text);
    }
    let parts = text.graphemes(true).map(|grapheme| {
        let is_long = grapheme.chars().count() > JOINED_CHARS_MAX;
        if is_long { Cow::Owned(grapheme.replace(JOINER, "")) } else { Cow::Borrowed(grapheme) }
    });
    Cow::Owned(parts.collect())
}

/// Marks on one character that are drawn; further ones are written out, since a tall stack of them is painted over
/// the lines around it. Every script in use needs fewer.
const MARKS_MAX: usize = 4;

/// Characters looked at for the marks at the end of a line.
const MARKS_LOOKED_AT_MAX: usize = 64;

/// A text whose characters bear at most [`MARKS_MAX`] marks, after a text that ends in `stacked` marks.
fn unstacked(text: &str, mut stacked: usize) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut shown: Option<String> = None;
    for (at, c) in text.char_indices() {
        if has_width(c) {
            stacked = 0;
        } else if is_mark(c) {
            stacked += 1;
        }
        if stacked > MARKS_MAX && is_mark(c) {
            shown.get_or_insert_with(|| text[..at].to_owned()).extend(c.escape_unicode());
        } else if let Some(shown) = &mut shown {
            shown.push(c);
        }
    }
    shown.map_or(Cow::Borrowed(text), Cow::Owned)
}

fn has_width(c: char) -> bool {
    c.is_ascii() || c.width().unwrap_or(0) > 0
}

/// Whether a character is drawn on the one before it. Joiners, variation selectors and tags are not drawn.
fn is_mark(c: char) -> bool {
    !has_width(c)
        && !matches!(c,
            '\u{34f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character is shown in words, or as spaces, rather than sent to a terminal: it could move the
/// cursor, forge a line, write to the clipboard or turn the direction of reading.
fn needs_words(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text with every character written out that a terminal must not be sent, further marks on one character among them.
/// Line ends and tabs stay.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if needs_words(c) && !matches!(c, '\n' | '\t') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    match unstacked(&shown, 0) {
        Cow::Borrowed(_) => shown,
        Cow::Owned(unstacked) => unstacked,
    }
}

/// Columns that a text takes: each grapheme as wide as its widest part, so that a flag or a family is 2.
#[must_use]
pub fn cell_width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Columns of one grapheme.
pub(crate) fn grapheme_width(grapheme: &str) -> usize {
    grapheme.width().min(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_of_a_text_reaches_the_terminal() {
        let mut out = String::new();
        Line::plain("a\x1b[2Jb\r\nc\u{202e}d\u{9b}e").write(Look::Coloured, &mut out);
        assert_eq!(out, r"a\u{1b}[2Jb\u{d}\u{a}c\u{202e}d\u{9b}e");
    }

    #[test]
    fn a_chain_of_joined_characters_is_as_wide_as_a_terminal_draws_it() {
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!((Line::plain(family).text().as_str(), Line::plain(family).width()), (family, 2));
        let chain = vec!["👨"; 20].join("\u{200d}");
        assert_eq!((Line::plain(&chain).text(), Line::plain(&chain).width()), ("👨".repeat(20), 40));
    }

    #[test]
    fn marks_do_not_stack_up_over_the_lines_around_them() {
        let table = [
            ("e\u{301}", "e\u{301}"),
            ("a\u{301}\u{302}\u{303}\u{304}b", "a\u{301}\u{302}\u{303}\u{304}b"),
            (
                "a\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}b\u{301}",
                "a\u{301}\u{302}\u{303}\u{304}\\u{305}\\u{306}b\u{301}",
            ),
            // What is not drawn is neither counted nor a new start.
            (
                "a\u{301}\u{200d}\u{301}\u{34f}\u{301}\u{fe0f}\u{301}\u{301}",
                "a\u{301}\u{200d}\u{301}\u{34f}\u{301}\u{fe0f}\u{301}\\u{301}",
            ),
            ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
            (
                "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
                "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            ),
            ("क्ष्म्य", "क्ष्म्य"),
            ("שָּׁ֑", "שָּׁ֑"),
            ("\u{1112}\u{1161}\u{11ab}", "\u{1112}\u{1161}\u{11ab}"),
        ];
        for (text, shown) in table {
            assert_eq!((Line::plain(text).text().as_str(), visible(text).as_str()), (shown, shown));
            assert_eq!(Line::plain(text).width(), cell_width(shown), "{shown}");
        }
        let mut line = Line::plain("a");
        for style in [Style::BOLD, Style::DIM, Style::BOLD, Style::DIM, Style::BOLD, Style::DIM] {
            line.push("\u{301}", style);
        }
        assert_eq!(line.text(), "a\u{301}\u{301}\u{301}\u{301}\\u{301}\u{301}");
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(Line::plain("a\tb\t日\tc").text(), "a   b   日  c");
    }

    #[test]
    fn widths_are_those_of_cells() {
        for (text, columns) in
            [("abc", 3), ("日本", 4), ("ｶﾅ", 2), ("e\u{301}", 1), ("👨‍👩‍👧", 2), ("🇯🇵", 2), ("", 0)]
        {
            assert_eq!(cell_width(text), columns, "{text}");
        }
    }

    #[test]
    fn styles_are_sent_where_there_are_colours_and_end_with_their_span() {
        let mut line = Line::plain("a");
        line.push("b", Style::of(Colour::Red).bold());
        line.push("c", Style::DIM);
        let written = [Look::Coloured, Look::Uncoloured, Look::Plain].map(|look| {
            let mut out = String::new();
            line.write(look, &mut out);
            out
        });
        let expected = ["a\x1b[1;31mb\x1b[0m\x1b[2mc\x1b[0m", "a\x1b[1mb\x1b[0m\x1b[2mc\x1b[0m", "abc"];
        assert_eq!(written, expected);
        assert_eq!(line.width(), 3);
    }
}
