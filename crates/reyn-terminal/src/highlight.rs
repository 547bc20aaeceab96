//! Source code in the person's own colours.
//!
//! A scanner over a table of languages: comments, texts, numbers, words. It knows no grammar, so it is linear,
//! needs no time to load, and half a line of code never confuses it for longer than the line. What goes on over
//! lines (comments, some texts) is all that it remembers.

mod languages;
mod markup;

use self::languages::{Language, Quote, Scheme};
use crate::diff::diff_line;
use crate::line::{Colour, Line, Style};

/// A comment.
const COMMENT: Style = Style::DIM;
/// Text in quotes.
const TEXT: Style = Style::of(Colour::Green);
/// A word of the language.
const KEYWORD: Style = Style::of(Colour::Magenta);
/// A number, a constant, a variable of a shell.
const CONSTANT: Style = Style::of(Colour::Cyan);
/// What is called, and keys.
const FUNCTION: Style = Style::of(Colour::Blue);
/// A type.
const TYPE: Style = Style::of(Colour::Yellow);

/// Colours the lines of one piece of code, in their order.
#[derive(Debug, Clone)]
pub struct Highlighter {
    language: Option<&'static Language>,
    within: Within,
}

/// What a line begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    Comment {
        depth: usize,
    },
    Text(&'static Quote),
    /// A raw text of Rust, which ends at a quote and as many hashes.
    RawText {
        hashes: usize,
    },
    Markup(markup::Within),
}

impl Highlighter {
    /// A highlighter for a language by its name or its files' ending, as it stands behind a code fence. Code
    /// of an unknown language stays as it is.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { language: languages::named(name), within: Within::Code }
    }

    /// The next line, without its line end.
    #[must_use]
    pub fn line(&mut self, text: &str) -> Line {
        match self.language {
            None => Line::plain(text),
            Some(language) => match language.scheme {
                Scheme::Diff => diff_line(text),
                Scheme::Markup => {
                    let within =
                        if let Within::Markup(within) = self.within { within } else { markup::START };
                    let (line, within) = markup::line(text, within);
                    self.within = Within::Markup(within);
                    line
                }
                Scheme::Code => {
                    let mut scan = Scan { language, text, at: 0, shown: 0, line: Line::new() };
                    self.within = scan.run(self.within);
                    scan.line
                }
            },
        }
    }
}

/// One line being read.
struct Scan<'a> {
    language: &'static Language,
    text: &'a str,
    at: usize,
    /// How far the text is in `line`.
    shown: usize,
    line: Line,
}

impl<'a> Scan<'a> {
    /// Reads the line, and says what the next one begins in.
    fn run(&mut self, mut within: Within) -> Within {
        if within == Within::Code && self.language.has_sections && self.section() {
            return Within::Code;
        }
        while self.at < self.text.len() {
            within = match within {
                Within::Code => self.code(),
                Within::Comment { depth } => self.comment(depth),
                Within::Text(quote) => self.quoted(quote),
                Within::RawText { hashes } => self.raw(hashes),
                Within::Markup(_) => Within::Code,
            };
        }
        self.show(Style::PLAIN);
        match within {
            // What was not closed is closed at the end of its line, unless it may go on.
            Within::Text(quote) if !quote.spans_lines => Within::Code,
            Within::Code
            | Within::Comment { .. }
            | Within::Text(_)
            | Within::RawText { .. }
            | Within::Markup(_) => within,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(b' ')
    }

    fn byte_before(&self) -> u8 {
        self.at.checked_sub(1).map_or(b' ', |at| self.byte(at))
    }

    /// Writes what was read in a style.
    fn show(&mut self, style: Style) {
        self.line.push(&self.text[self.shown..self.at], style);
        self.shown = self.at;
    }

    /// Takes `bytes` in a style; what was read before them is plain.
    fn take(&mut self, bytes: usize, style: Style) {
        if bytes > 0 && style != Style::PLAIN {
            self.show(Style::PLAIN);
            self.at += bytes;
            self.show(style);
        } else {
            self.at += bytes;
        }
    }

    /// A line such as `[package]`.
    fn section(&mut self) -> bool {
        let body = self.text.trim();
        let is_section = body.starts_with('[') && body.ends_with(']') && !body.contains([',', '"', '\'']);
        if is_section {
            self.take(self.text.len(), TYPE);
        }
        is_section
    }

    /// One token of code.
    fn code(&mut self) -> Within {
        let byte = self.byte(self.at);
        if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            return self.word();
        }
        if byte.is_ascii_digit() {
            let bytes = number_bytes(self.rest().as_bytes());
            self.take(bytes, CONSTANT);
            return Within::Code;
        }
        if matches!(byte, b' ' | b'\t' | b',' | b'.' | b';' | b')' | b'}' | b']') {
            self.at += 1;
            return Within::Code;
        }
        self.punctuation(byte)
    }

    fn punctuation(&mut self, byte: u8) -> Within {
        let language = self.language;
        let is_at_word = matches!(
            self.byte_before(),
            b' ' | b'\t' | b'(' | b'[' | b'{' | b',' | b':' | b'=' | b';' | b'|'
        );
        if let Some((open, _)) = language.block_comment.filter(|(open, _)| self.rest().starts_with(open)) {
            self.take(open.len(), COMMENT);
            return Within::Comment { depth: 1 };
        }
        let mut comments = language.line_comments.iter();
        if comments.any(|mark| self.rest().starts_with(mark)) && (is_at_word || !language.is_wordy) {
            self.take(self.rest().len(), COMMENT);
            return Within::Code;
        }
        if language.has_lifetimes && byte == b'\'' && self.is_lifetime() {
            let bytes = word_bytes(&self.rest()[1..], language);
            self.take(1 + bytes, TYPE);
            return Within::Code;
        }
        let quote = language.quotes.iter().find(|quote| self.rest().starts_with(quote.open));
        if let Some(quote) = quote.filter(|_| is_at_word || !language.is_wordy || language.has_variables) {
            if self.key_quoted(quote) {
                return Within::Code;
            }
            self.take(quote.open.len(), TEXT);
            return Within::Text(quote);
        }
        let sign = self.rest();
        let after = self.byte(self.at + 1);
        let is_word_next = after.is_ascii_alphabetic() || after == b'_';
        match byte {
            b'$' if language.has_variables => self.take(variable_bytes(sign, language), CONSTANT),
            b'@' if language.has_decorators && is_word_next => {
                self.take(1 + word_bytes(&sign[1..], language), FUNCTION);
            }
            b'#' if language.has_directives && is_word_next => {
                self.take(1 + word_bytes(&sign[1..], language), KEYWORD);
            }
            _ => self.at += 1,
        }
        Within::Code
    }

    /// Whether the quote at the cursor begins a lifetime: no quote closes it after one character.
    fn is_lifetime(&self) -> bool {
        let mut chars = self.rest().chars().skip(1);
        let first = chars.next().unwrap_or(' ');
        (first.is_alphabetic() || first == '_') && chars.next() != Some('\'')
    }

    /// Takes a key in quotes, as JSON has them.
    fn key_quoted(&mut self, quote: &'static Quote) -> bool {
        let Some(mark) = self.language.key_mark else { return false };
        let inner = &self.rest()[quote.open.len()..];
        let Some(close) = close_at(inner, quote) else { return false };
        let bytes = quote.open.len() + close + quote.close.len();
        let is_key = self.rest()[bytes..].trim_start().starts_with(mark);
        if is_key {
            self.take(bytes, FUNCTION);
        }
        is_key
    }

    fn comment(&mut self, mut depth: usize) -> Within {
        let Some((open, close)) = self.language.block_comment else { return Within::Code };
        let bytes = self.rest().as_bytes();
        let mut at = 0;
        while at < bytes.len() && depth > 0 {
            if bytes[at..].starts_with(close.as_bytes()) {
                depth -= 1;
                at += close.len();
            } else if self.language.has_nested_comments && bytes[at..].starts_with(open.as_bytes()) {
                depth = depth.saturating_add(1);
                at += open.len();
            } else {
                at += 1;
            }
        }
        self.take(at, COMMENT);
        if depth == 0 { Within::Code } else { Within::Comment { depth } }
    }

    fn quoted(&mut self, quote: &'static Quote) -> Within {
        if let Some(at) = close_at(self.rest(), quote) {
            self.take(at + quote.close.len(), TEXT);
            Within::Code
        } else {
            self.take(self.rest().len(), TEXT);
            Within::Text(quote)
        }
    }

    fn raw(&mut self, hashes: usize) -> Within {
        let rest = self.rest();
        let is_end =
            |at: &usize| rest.as_bytes()[at + 1..].iter().take_while(|byte| **byte == b'#').count() >= hashes;
        if let Some(at) = rest.match_indices('"').map(|(at, _)| at).find(is_end) {
            self.take(at + 1 + hashes, TEXT);
            Within::Code
        } else {
            self.take(rest.len(), TEXT);
            Within::RawText { hashes }
        }
    }

    /// A word, or a text with letters before its quote.
    fn word(&mut self) -> Within {
        let language = self.language;
        let bytes = word_bytes(self.rest(), language);
        let (word, behind) = self.rest().split_at(bytes);
        if bytes <= 3 && language.has_raw_texts && matches!(word, "r" | "br" | "cr") {
            let hashes = behind.len() - behind.trim_start_matches('#').len();
            if behind[hashes..].starts_with('"') {
                self.take(bytes + hashes + 1, TEXT);
                return Within::RawText { hashes };
            }
        }
        let is_prefix = bytes <= 2 && word.bytes().all(|byte| b"rRbBuUfFcC".contains(&byte));
        if is_prefix
            && language.has_text_prefixes
            && let Some(quote) = language.quotes.iter().find(|quote| behind.starts_with(quote.open))
        {
            self.take(bytes + quote.open.len(), TEXT);
            return Within::Text(quote);
        }
        let style = self.word_style(word, behind);
        self.take(bytes, style);
        Within::Code
    }

    fn word_style(&self, word: &str, behind: &str) -> Style {
        let language = self.language;
        let before = self.byte_before();
        let is_member = before == b'.' && !self.text[..self.at].ends_with("..")
            || (language.is_wordy && matches!(before, b'-' | b'/'));
        if let Some(mark) = language.key_mark {
            let behind = behind.trim_start();
            let is_key = behind.strip_prefix(mark).is_some_and(|value| {
                !value.starts_with(mark)
                    && (!language.is_wordy
                        || mark == '='
                        || value.is_empty()
                        || value.starts_with([' ', '\t']))
            });
            if is_key {
                return FUNCTION;
            }
        }
        if !is_member {
            if language.has_keyword(word) {
                return KEYWORD;
            }
            if language.has_constant(word) {
                return CONSTANT;
            }
            if language.has_type(word) {
                return TYPE;
            }
        }
        let is_capital = language.has_capital_types && word.starts_with(|c: char| c.is_ascii_uppercase());
        if is_capital && word.len() > 1 && !word.bytes().any(|byte| byte.is_ascii_lowercase()) {
            return CONSTANT;
        }
        if is_capital {
            return TYPE;
        }
        let behind = behind.as_bytes();
        let is_called = behind.first() == Some(&b'(')
            || (language.has_lifetimes
                && behind.first() == Some(&b'!')
                && matches!(behind.get(1), Some(b'(' | b'[' | b'{')));
        if is_called && !language.is_wordy { FUNCTION } else { Style::PLAIN }
    }
}

/// Where a text ends.
fn close_at(rest: &str, quote: &Quote) -> Option<usize> {
    let bytes = rest.as_bytes();
    let first = quote.close.as_bytes()[0];
    let mut at = 0;
    while at < bytes.len() {
        if quote.has_escapes && bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at] == first && bytes[at..].starts_with(quote.close.as_bytes()) {
            return Some(at);
        } else {
            at += 1;
        }
    }
    None
}

fn word_bytes(rest: &str, language: &Language) -> usize {
    let is_in_word = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 0x80..) || (*byte == b'-' && language.is_wordy)
    };
    rest.bytes().take_while(is_in_word).count()
}

/// Bytes of a number, its letters (`0xff`, `1e-3`, `10_000u64`, `12px`) among them.
fn number_bytes(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        let next = rest.get(at + 1).copied().unwrap_or(b' ');
        let is_exponent =
            matches!(byte, b'+' | b'-') && matches!(rest[at - 1], b'e' | b'E') && !rest.starts_with(b"0x");
        let is_in_number = byte.is_ascii_alphanumeric()
            || *byte == b'_'
            || (*byte == b'.' && next.is_ascii_digit())
            || (is_exponent && next.is_ascii_digit());
        if !is_in_number {
            break;
        }
        at += 1;
    }
    at
}

/// Bytes of `$name`, `${name}` or `$1`.
fn variable_bytes(rest: &str, language: &Language) -> usize {
    let inner = &rest[1..];
    if inner.starts_with('{') {
        return inner.find('}').map_or(rest.len(), |at| at + 2);
    }
    let name = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let is_special = name == 0 && language.is_wordy && inner.starts_with(['?', '@', '*', '#', '$', '!']);
    1 + name + usize::from(is_special)
}

#[cfg(test)]
mod tests;
