//! Text that grows: blanks collapse, breaks are written when something follows them, lines are indented.

use crate::bounds::TEXT_BYTES_MAX;

/// What stands between two pieces of text; the strongest one that was asked for counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Break {
    #[default]
    None,
    /// A line end in the source, which is a blank, but none between two characters of Chinese or Japanese.
    SourceLineEnd,
    Blank,
    Line,
    Paragraph,
}

/// What lines in a quote or an item begin with.
#[derive(Debug)]
struct Indent {
    /// The mark of an item, until a line begins with it.
    first: Option<String>,
    rest: String,
    /// Whether a line began with it.
    is_begun: bool,
}

/// Marks that wait for the text that they stand before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    len: usize,
    written: usize,
}

#[derive(Debug, Default)]
pub(super) struct Flow {
    out: String,
    /// Whether text was left out, since there is as much as can be.
    is_full: bool,
    pending: Break,
    /// Marks that are written before the next text.
    marks: String,
    /// Every mark so far that was written, in bytes; tells whether a mark still waits.
    marks_written: usize,
    /// What each line begins with, outermost first.
    indents: Vec<Indent>,
    /// How many elements ask for one line.
    one_line: usize,
    /// The last character of text, whatever marks follow it.
    last_char: Option<char>,
}

impl Flow {
    pub(super) fn in_one_line() -> Self {
        Self { one_line: 1, ..Self::default() }
    }

    pub(super) fn is_in_one_line(&self) -> bool {
        self.one_line > 0
    }

    pub(super) fn enter_line(&mut self) {
        self.one_line += 1;
    }

    pub(super) fn leave_line(&mut self) {
        self.one_line -= 1;
    }

    /// The character that the next one will stand beside.
    pub(super) fn last_char(&self) -> Option<char> {
        self.last_char.filter(|_| self.pending == Break::None)
    }

    /// Whether there is as much text as can be; more is left out.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The text, and whether it was cut.
    pub(super) fn finish(self) -> (String, bool) {
        (self.out, self.is_full)
    }

    /// Asks for a break before what follows.
    pub(super) fn request(&mut self, wanted: Break) {
        let is_item_start = self.indents.last().is_some_and(|indent| indent.first.is_some());
        let wanted = match wanted {
            Break::Line | Break::Paragraph if self.is_in_one_line() => Break::Blank,
            // The first paragraph of an item stands beside its mark.
            Break::Paragraph if is_item_start => Break::Line,
            Break::None | Break::SourceLineEnd | Break::Blank | Break::Line | Break::Paragraph => wanted,
        };
        self.pending = self.pending.max(wanted);
    }

    /// A line end; two of them are the end of a paragraph.
    pub(super) fn line_end(&mut self) {
        self.request(if self.pending >= Break::Line { Break::Paragraph } else { Break::Line });
    }

    /// Begins lines with `rest`, and the next one with `first`, if it is given.
    pub(super) fn indent(&mut self, first: Option<&str>, rest: String) {
        self.indents.push(Indent { first: first.map(str::to_owned), rest, is_begun: false });
    }

    pub(super) fn outdent(&mut self) {
        self.indents.pop();
    }

    /// Ends an item: the next one follows on the next line, whatever its text asked for.
    pub(super) fn end_item(&mut self) {
        self.outdent();
        self.pending = Break::Line;
    }

    /// Marks what follows, if anything does, until [`Flow::close`].
    pub(super) fn open(&mut self, mark: &str) -> Waiting {
        let waiting = Waiting { len: self.marks.len(), written: self.marks_written };
        self.marks.push_str(mark);
        waiting
    }

    /// Ends what was marked. Without text in it nothing was written, and nothing is.
    pub(super) fn close(&mut self, opened: Waiting, mark: &str) {
        if opened.written == self.marks_written {
            self.marks.truncate(opened.len);
        } else {
            self.push(mark);
        }
    }

    /// Text of a page.
    pub(super) fn text(&mut self, text: &str) {
        let is_blank = |character: char| character.is_ascii_whitespace() || character == '\u{A0}';
        let mut rest = text;
        loop {
            let word_start = rest.find(|character| !is_blank(character)).unwrap_or(rest.len());
            let (blanks, after) = rest.split_at(word_start);
            if !blanks.is_empty() {
                self.request(if blanks.contains('\n') { Break::SourceLineEnd } else { Break::Blank });
            }
            if after.is_empty() {
                return;
            }
            let word_end = after.find(is_blank).unwrap_or(after.len());
            let (word, after) = after.split_at(word_end);
            self.word(word, after);
            rest = after;
        }
    }

    fn word(&mut self, word: &str, after: &str) {
        let is_line_start = self.flush(word.chars().next());
        if is_line_start && !self.is_in_one_line() && reads_as_mark(word, after) {
            self.push("\\");
        }
        self.push(word);
        self.last_char = word.chars().next_back();
    }

    /// Code in a line.
    pub(super) fn code(&mut self, code: &str) {
        self.flush(None);
        self.push(code);
        self.last_char = Some('`');
    }

    /// A line that is a mark.
    pub(super) fn mark(&mut self, mark: &str) {
        self.flush(None);
        self.push(mark);
        self.last_char = None;
    }

    /// The next line of a block of code, as it is.
    pub(super) fn code_line(&mut self, line: &str) {
        self.push("\n");
        if line.is_empty() {
            self.blank_line();
        } else {
            self.begin_line();
            self.push(line);
        }
    }

    /// Writes the break and the marks that were asked for. Whether a line begins here.
    fn flush(&mut self, next: Option<char>) -> bool {
        let pending = std::mem::take(&mut self.pending);
        let mut is_line_start = self.out.is_empty();
        if is_line_start {
            self.begin_line();
        } else {
            match pending {
                Break::None => {}
                Break::SourceLineEnd if is_wide(self.last_char) && is_wide(next) => {}
                Break::SourceLineEnd | Break::Blank => self.push(" "),
                Break::Line => {
                    self.push("\n");
                    self.begin_line();
                    is_line_start = true;
                }
                Break::Paragraph => {
                    self.push("\n");
                    self.blank_line();
                    self.push("\n");
                    self.begin_line();
                    is_line_start = true;
                }
            }
        }
        self.marks_written += self.marks.len();
        let marks = std::mem::take(&mut self.marks);
        self.push(&marks);
        is_line_start
    }

    fn begin_line(&mut self) {
        let mut indents = std::mem::take(&mut self.indents);
        for indent in &mut indents {
            indent.is_begun = true;
            match indent.first.take() {
                Some(first) => self.push(&first),
                None => self.push(&indent.rest),
            }
        }
        self.indents = indents;
    }

    /// What a line without text has of its indents: the marks of quotes.
    fn blank_line(&mut self) {
        let begun = self.indents.iter().take_while(|indent| indent.is_begun);
        let prefix: String = begun.map(|indent| indent.rest.as_str()).collect();
        self.push(prefix.trim_end());
    }

    fn push(&mut self, text: &str) {
        self.is_full |= self.out.len() + text.len() > TEXT_BYTES_MAX;
        if !self.is_full {
            self.out.push_str(text);
        }
    }
}

/// Whether words at the beginning of a line would be read as a mark: a heading, a quote, an item, a fence.
fn reads_as_mark(word: &str, after: &str) -> bool {
    let is_alone = after.is_empty() || after.starts_with(char::is_whitespace);
    match word.as_bytes() {
        [b'>', ..] => true,
        [b'#', ..] => is_alone && word.len() <= 6 && word.bytes().all(|byte| byte == b'#'),
        [b'-' | b'+' | b'*'] => is_alone,
        [b'`', b'`', b'`', ..] | [b'~', b'~', b'~', ..] => true,
        _ => false,
    }
}

/// Whether a character is of a writing without blanks between words.
fn is_wide(character: Option<char>) -> bool {
    matches!(
        character,
        Some(
            '\u{3000}'..='\u{30FF}'
            | '\u{31F0}'..='\u{31FF}'
            | '\u{3400}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF00}'..='\u{FFEF}'
            | '\u{20000}'..='\u{3FFFF}',
        )
    )
}
