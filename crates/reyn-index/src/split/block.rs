//! The blocks of a text: what blank lines, headings and fences set apart.

use std::ops::Range;

/// What a text is, which says where it may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// Headings, fences, lists, paragraphs.
    Markdown,
    /// Paragraphs.
    Plain,
    /// Blocks of lines that belong together.
    Code,
}

/// Headings of a path, and bytes of it: what is deeper or longer is left out of it.
const HEADINGS_MAX: usize = 6;
const CONTEXT_BYTES_MAX: usize = 400;
/// Bytes of a line that a line of `=` or `-` below it makes a heading; a longer one is a paragraph above a rule.
const UNDERLINED_BYTES_MAX: usize = 120;

/// A stretch of the text that is cut only when it is too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) bytes: Range<usize>,
    /// Where the headings begin that stand right above it, with no text between: it is what they belong to.
    pub(super) leads: Vec<usize>,
    /// The headings above it.
    pub(super) headings: Option<String>,
    /// Whether it is cut between lines alone, and kept whole above the target.
    pub(super) is_whole: bool,
}

/// The blocks of a text in order, together all of its lines that are neither blank nor headings. A text of headings
/// alone is one block.
pub(super) fn blocks(text: &str, kind: TextKind) -> Vec<Block> {
    let mut reader =
        Reader { text, kind, headings: vec![], leads: vec![], fence: None, open: None, blocks: vec![] };
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        reader.line(line, from..from + line.len());
        from += line.len();
    }
    reader.close();
    if reader.blocks.is_empty() && !reader.leads.is_empty() {
        return vec![Block { bytes: 0..text.len(), leads: vec![], headings: None, is_whole: true }];
    }
    reader.blocks
}

struct Reader<'t> {
    text: &'t str,
    kind: TextKind,
    /// Level and text of the headings above.
    headings: Vec<(usize, String)>,
    /// Where the last headings begin below which no text came yet.
    leads: Vec<usize>,
    /// What closes the open fence: its character and how often.
    fence: Option<(char, usize)>,
    open: Option<Block>,
    blocks: Vec<Block>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str, bytes: Range<usize>) {
        if self.kind == TextKind::Markdown && self.is_markdown(line, &bytes) {
            return;
        }
        if line.trim().is_empty() {
            self.close();
        } else {
            let is_table = self.kind == TextKind::Markdown && line.trim_start().starts_with('|');
            self.extend(bytes, self.kind == TextKind::Code || is_table);
        }
    }

    /// Takes a line of a fence or a heading; `false` for one of neither.
    fn is_markdown(&mut self, line: &str, bytes: &Range<usize>) -> bool {
        if let Some((mark, length)) = self.fence {
            self.extend(bytes.clone(), true);
            if fence(line).is_some_and(|(m, l, is_bare)| m == mark && l >= length && is_bare) {
                self.fence = None;
                self.close();
            }
            return true;
        }
        if let Some((mark, length, _)) = fence(line) {
            self.close();
            self.fence = Some((mark, length));
            self.extend(bytes.clone(), true);
            return true;
        }
        if let Some((level, title)) = heading(line) {
            self.close();
            self.enter(level, title.to_owned(), bytes.start);
            return true;
        }
        let Some(level) = underline(line) else { return false };
        let title = self.open.as_ref().and_then(|open| underlined(&self.text[open.bytes.clone()]));
        let Some(title) = title.map(str::to_owned) else { return false };
        let Some(open) = self.open.take() else { return false };
        self.leads = open.leads;
        self.enter(level, title, open.bytes.start);
        true
    }

    /// Goes below a heading that begins at `start`.
    fn enter(&mut self, level: usize, title: String, start: usize) {
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, title));
        if self.leads.len() >= HEADINGS_MAX {
            self.leads.remove(0);
        }
        self.leads.push(start);
    }

    fn extend(&mut self, bytes: Range<usize>, is_whole: bool) {
        match &mut self.open {
            Some(open) => {
                open.bytes.end = bytes.end;
                open.is_whole |= is_whole;
            }
            None => {
                let leads = std::mem::take(&mut self.leads);
                self.open = Some(Block { bytes, leads, headings: self.path(), is_whole });
            }
        }
    }

    fn close(&mut self) {
        self.blocks.extend(self.open.take());
    }

    fn path(&self) -> Option<String> {
        if self.headings.is_empty() {
            return None;
        }
        let titles: Vec<&str> =
            self.headings.iter().take(HEADINGS_MAX).map(|(_, title)| title.as_str()).collect();
        let mut path = titles.join(" > ");
        if path.len() > CONTEXT_BYTES_MAX {
            let end = (0..=CONTEXT_BYTES_MAX).rev().find(|end| path.is_char_boundary(*end)).unwrap_or(0);
            path.truncate(end);
        }
        Some(path)
    }
}

/// The character of a fence, how often it stands there, and whether nothing follows.
fn fence(line: &str) -> Option<(char, usize, bool)> {
    let line = indented(line)?;
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let rest = line[length..].trim();
    // A backtick after the opening ones makes it code within a line.
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length, rest.is_empty()))
}

/// The level and text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let line = indented(line)?;
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if level == 0 || level > 6 || !rest.is_empty() && !rest.starts_with([' ', '\t', '\n', '\r']) {
        return None;
    }
    let title = rest.trim();
    // What no path of headings has room for is text.
    (title.len() <= CONTEXT_BYTES_MAX).then(|| (level, title.trim_end_matches('#').trim_end()))
}

/// The level of a heading that this line below it makes.
fn underline(line: &str) -> Option<usize> {
    let line = indented(line)?.trim_end();
    let mark = line.chars().next()?;
    let level = match mark {
        '=' => 1,
        '-' => 2,
        _ => return None,
    };
    line.chars().all(|c| c == mark).then_some(level)
}

/// The title that these lines are when a line of `=` or `-` follows: one short line of words.
fn underlined(lines: &str) -> Option<&str> {
    let title = indented(lines)?.trim_end();
    let is_other = title.starts_with(['|', '>', '-', '*', '+']) || !title.contains(char::is_alphanumeric);
    (!is_other && !title.contains('\n') && title.len() <= UNDERLINED_BYTES_MAX).then_some(title)
}

/// A line without its indentation; nothing when it is deep enough to be code.
fn indented(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}
