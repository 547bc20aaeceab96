//! How blocks begin and end: what one source line says, without the lines around it.

use super::cursor::Cursor;

/// Indentation that makes a line code.
pub(super) const CODE_COLUMNS: usize = 4;
/// Columns of a table; a row with more is text.
const TABLE_COLUMNS_MAX: usize = 64;
/// Digits of a list's number.
const NUMBER_DIGITS_MAX: usize = 9;

/// What begins on a line that is indented less than code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Start {
    Quote,
    Heading,
    Fence(FenceMark),
    Html(HtmlEnd),
    Rule,
    Item(ItemMark),
}

/// The line that opens a code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FenceMark {
    mark: u8,
    marks: usize,
    /// Columns it is indented, which its code is indented too.
    pub(super) indent: usize,
    pub(super) language: String,
}

/// What ends HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlEnd {
    BlankLine,
    Words(&'static str),
}

/// The kind of a list: its items have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    Bullet(u8),
    Number(u8),
}

/// What stands before an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemMark {
    pub(super) kind: ListKind,
    pub(super) number: u64,
    /// Bytes of the mark.
    pub(super) bytes: usize,
}

/// The block that begins at a cursor. `is_in_paragraph` when it would interrupt one.
pub(super) fn start(cursor: &Cursor<'_>, is_in_paragraph: bool) -> Option<Start> {
    let body = cursor.body();
    match body.as_bytes().first()? {
        b'>' => Some(Start::Quote),
        b'#' => is_heading(body).then_some(Start::Heading),
        b'`' | b'~' => fence(body, cursor.indent()).map(Start::Fence),
        b'<' => html(body).map(Start::Html),
        b'-' | b'_' | b'*' | b'+' | b'0'..=b'9' => {
            if is_rule(body) {
                return Some(Start::Rule);
            }
            item(body, is_in_paragraph).map(Start::Item)
        }
        _ => None,
    }
}

fn is_heading(body: &str) -> bool {
    let text = body.trim_start_matches('#');
    body.len() - text.len() <= 6 && (text.is_empty() || text.starts_with([' ', '\t']))
}

fn fence(body: &str, indent: usize) -> Option<FenceMark> {
    let mark = body.as_bytes()[0];
    let info = body.trim_start_matches(char::from(mark));
    let marks = body.len() - info.len();
    if marks < 3 || (mark == b'`' && info.contains('`')) {
        return None;
    }
    let name = info.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '.'));
    let language = name.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | ':')).next()?;
    Some(FenceMark { mark, marks, indent, language: language.to_ascii_lowercase() })
}

impl FenceMark {
    /// Whether a line ends the code block.
    pub(super) fn is_closed_by(&self, cursor: &Cursor<'_>) -> bool {
        let body = cursor.body();
        let behind = body.trim_start_matches(char::from(self.mark));
        cursor.indent() < CODE_COLUMNS && body.len() - behind.len() >= self.marks && behind.trim().is_empty()
    }
}

fn is_rule(body: &str) -> bool {
    let mark = body.as_bytes()[0];
    let marks = body.bytes().filter(|byte| *byte == mark).count();
    matches!(mark, b'-' | b'_' | b'*')
        && marks >= 3
        && body.bytes().all(|byte| byte == mark || matches!(byte, b' ' | b'\t'))
}

fn item(body: &str, is_in_paragraph: bool) -> Option<ItemMark> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let mark = *body.as_bytes().get(digits)?;
    // A character of several bytes is no mark.
    let behind = body.get(digits + 1..)?;
    let is_mark = if digits == 0 { matches!(mark, b'-' | b'+' | b'*') } else { matches!(mark, b'.' | b')') };
    if !is_mark || digits > NUMBER_DIGITS_MAX || !(behind.is_empty() || behind.starts_with([' ', '\t'])) {
        return None;
    }
    let number = body[..digits].parse().unwrap_or(0);
    if is_in_paragraph && (behind.trim().is_empty() || (digits > 0 && number != 1)) {
        return None;
    }
    let kind = if digits == 0 { ListKind::Bullet(mark) } else { ListKind::Number(mark) };
    Some(ItemMark { kind, number, bytes: digits + 1 })
}

/// HTML that CommonMark takes for a block whatever it stands in. A tag of another name is text.
fn html(body: &str) -> Option<HtmlEnd> {
    const TEXTS: [(&str, &str); 4] =
        [("script", "</script>"), ("pre", "</pre>"), ("style", "</style>"), ("textarea", "</textarea>")];
    const BLOCKS: &str = " address article aside base basefont blockquote body caption center col colgroup dd \
        details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head \
        header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search \
        section summary table tbody td tfoot th thead title tr track ul ";
    let inner = &body[1..];
    for (open, end) in [("!--", "-->"), ("?", "?>"), ("![CDATA[", "]]>")] {
        if inner.starts_with(open) {
            return Some(HtmlEnd::Words(end));
        }
    }
    if inner.starts_with('!') && inner[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Some(HtmlEnd::Words(">"));
    }
    let tag = inner.strip_prefix('/').unwrap_or(inner);
    let name_bytes = tag.bytes().take_while(u8::is_ascii_alphanumeric).take(16).count();
    let (name, behind) = (tag[..name_bytes].to_ascii_lowercase(), &tag[name_bytes..]);
    let is_end = behind.is_empty() || behind.starts_with([' ', '\t', '>']);
    let text = TEXTS.iter().find(|(text, _)| *text == name && is_end && tag.len() == inner.len());
    if let Some((_, end)) = text {
        return Some(HtmlEnd::Words(end));
    }
    let is_block = !name.is_empty() && BLOCKS.contains(&format!(" {name} "));
    (is_block && (is_end || behind.starts_with("/>"))).then_some(HtmlEnd::BlankLine)
}

impl HtmlEnd {
    /// Whether a line that is no blank line ends the block.
    pub(super) fn is_on(self, line: &str) -> bool {
        match self {
            Self::BlankLine => false,
            Self::Words(end) => {
                let (line, end) = (line.as_bytes(), end.as_bytes());
                line.windows(end.len()).any(|words| words.eq_ignore_ascii_case(end))
            }
        }
    }
}

/// The level of the heading that a line under a paragraph makes of it.
pub(super) fn is_underline(cursor: &Cursor<'_>) -> bool {
    let body = cursor.body().trim_end_matches([' ', '\t']);
    !body.is_empty() && (body.bytes().all(|byte| byte == b'=') || body.bytes().all(|byte| byte == b'-'))
}

/// Whether `delimiters` under `head` begin a table.
pub(super) fn is_table(head: &str, delimiters: &str) -> bool {
    let delimiters = delimiters.trim();
    if !delimiters.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t')) {
        return false;
    }
    let columns = cells(delimiters);
    delimiters.contains('|')
        && head.contains('|')
        && columns.len() <= TABLE_COLUMNS_MAX
        && columns.iter().all(|cell| is_delimiter(cell.trim()))
        && cells(head.trim()).len() == columns.len()
}

fn is_delimiter(cell: &str) -> bool {
    let cell = cell.strip_prefix(':').unwrap_or(cell);
    let cell = cell.strip_suffix(':').unwrap_or(cell);
    !cell.is_empty() && cell.bytes().all(|byte| byte == b'-')
}

/// The cells of a row: what stands between bars that no backslash is before.
pub(super) fn cells(row: &str) -> Vec<&str> {
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = vec![];
    let (mut start, mut is_escaped) = (0, false);
    for (at, byte) in row.bytes().enumerate() {
        if byte == b'|' && !is_escaped {
            cells.push(&row[start..at]);
            start = at + 1;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    if start < row.len() {
        cells.push(&row[start..]);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_which_block_begins() {
        let item = |kind, number, bytes| Some(Start::Item(ItemMark { kind, number, bytes }));
        let fence = |mark, marks, language: &str| {
            Some(Start::Fence(FenceMark { mark, marks, indent: 0, language: language.to_owned() }))
        };
        let table = [
            ("# a", Some(Start::Heading)),
            ("#a", None),
            ("####### a", None),
            ("---", Some(Start::Rule)),
            ("* * *", Some(Start::Rule)),
            ("**a**", None),
            ("- a", item(ListKind::Bullet(b'-'), 0, 1)),
            ("-", item(ListKind::Bullet(b'-'), 0, 1)),
            ("-a", None),
            ("7) a", item(ListKind::Number(b')'), 7, 2)),
            ("1234567890. a", None),
            ("```Rust,ignore", fence(b'`', 3, "rust")),
            ("~~~~ {.python}", fence(b'~', 4, "python")),
            ("```a`b", None),
            ("> a", Some(Start::Quote)),
            ("<DIV class=a>", Some(Start::Html(HtmlEnd::BlankLine))),
            ("</details>", Some(Start::Html(HtmlEnd::BlankLine))),
            ("<pre>", Some(Start::Html(HtmlEnd::Words("</pre>")))),
            ("<!-- a", Some(Start::Html(HtmlEnd::Words("-->")))),
            ("<think>", None),
            ("<日本>", None),
            ("日本", None),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(start(&Cursor::new(line), false), expected, "{line}");
        }
    }

    #[test]
    fn a_paragraph_is_interrupted_by_a_list_that_begins_with_one() {
        for (line, is_start) in [("1. a", true), ("2. a", false), ("- a", true), ("-", false), ("1.", false)]
        {
            assert_eq!(start(&Cursor::new(line), true).is_some(), is_start, "{line}");
        }
    }

    #[test]
    fn a_table_has_as_many_delimiters_as_heads() {
        let table = [
            ("| a | b |", "|---|:-:|", true),
            ("a | b", "- | -", true),
            ("| a |", "|---|", true),
            (r"| a \| b |", "|---|", true),
            ("| a | b |", "|---|", false),
            ("| a |", "---", false),
            ("| a | b |", "|---| |", false),
            ("| a | b |", "|-- -|--|", false),
        ];
        for (head, delimiters, expected) in table {
            assert_eq!(is_table(head, delimiters), expected, "{head} {delimiters}");
        }
    }
}
