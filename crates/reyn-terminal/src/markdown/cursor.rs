//! The rest of a source line, counted in columns as CommonMark counts tabs.

use std::borrow::Cow;

/// Columns between two tab stops of Markdown.
const TAB_COLUMNS: usize = 4;

/// What is left of a line behind the marks that were read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
    column: usize,
    /// Columns of a tab of which a part was taken.
    owed: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(line: &'a str) -> Self {
        Self { rest: line, column: 0, owed: 0 }
    }

    /// Columns of the white space it begins with.
    pub(super) fn indent(&self) -> usize {
        let mut column = self.column + self.owed;
        for byte in self.rest.bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += TAB_COLUMNS - column % TAB_COLUMNS,
                _ => break,
            }
        }
        column - self.column
    }

    /// What follows the white space.
    pub(super) fn body(&self) -> &'a str {
        self.rest.trim_start_matches([' ', '\t'])
    }

    pub(super) fn is_blank(&self) -> bool {
        self.body().is_empty()
    }

    /// Takes up to `columns` of white space away.
    pub(super) fn skip_columns(&mut self, columns: usize) {
        let mut left = columns;
        while left > 0 {
            if self.owed > 0 {
                let taken = left.min(self.owed);
                self.owed -= taken;
                self.column += taken;
                left -= taken;
            } else if let Some(rest) = self.rest.strip_prefix(' ') {
                (self.rest, self.column, left) = (rest, self.column + 1, left - 1);
            } else if let Some(rest) = self.rest.strip_prefix('\t') {
                self.rest = rest;
                self.owed = TAB_COLUMNS - self.column % TAB_COLUMNS;
            } else {
                return;
            }
        }
    }

    /// Takes the white space and `bytes` of ASCII behind it away.
    pub(super) fn skip_mark(&mut self, bytes: usize) {
        self.column += self.indent() + bytes;
        self.rest = &self.body()[bytes..];
        self.owed = 0;
    }

    /// All that is left, the part of a tab as spaces.
    pub(super) fn text(&self) -> Cow<'a, str> {
        if self.owed == 0 {
            Cow::Borrowed(self.rest)
        } else {
            Cow::Owned(format!("{}{}", " ".repeat(self.owed), self.rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_is_taken_column_by_column() {
        let mut cursor = Cursor::new("-\tfoo");
        cursor.skip_mark(1);
        assert_eq!(cursor.indent(), 3);
        cursor.skip_columns(1);
        assert_eq!((cursor.indent(), cursor.text().as_ref(), cursor.body()), (2, "  foo", "foo"));
        cursor.skip_columns(9);
        assert_eq!((cursor.indent(), cursor.text().as_ref()), (0, "foo"));
    }
}
