//! What a block stands in, and what that draws on its left.

use super::starts::ListKind;
use crate::line::{Line, Style};

/// What a block can stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Container {
    Quote,
    Item(Item),
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: ListKind,
    pub(super) number: u64,
    /// Columns that its text is indented from the item's own beginning, in the source.
    pub(super) indent: usize,
    /// Whether its box is ticked, if it has one.
    pub(super) task: Option<bool>,
    /// Whether something stands in it.
    pub(super) has_content: bool,
    /// Whether nothing can stand in it any more, as a blank line followed its mark.
    pub(super) is_barren: bool,
    /// Whether its mark is shown, which is on its first row.
    pub(super) is_shown: bool,
}

impl Item {
    fn mark(&self) -> String {
        let task = self.task.map(|is_done| if is_done { "☑ " } else { "☐ " });
        match self.kind {
            ListKind::Bullet(_) => task.unwrap_or("• ").to_owned(),
            ListKind::Number(mark) => {
                format!("{}{} {}", self.number, char::from(mark), task.unwrap_or_default())
            }
        }
    }
}

/// What stands on the left of a row.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// On the first row.
    pub(super) first: Line,
    /// On the rows below.
    pub(super) rest: Line,
    /// Columns left for a row.
    pub(super) room: usize,
}

impl Frame {
    /// The frame of a block in `containers`. Where it would take more than half of the columns, only what
    /// must not be lost stands on the first row: the marks of items, as a part of the text.
    pub(super) fn of(containers: &[Container], columns: usize) -> Self {
        let (mut first, mut rest, mut marks) = (Line::new(), Line::new(), Line::new());
        for container in containers {
            match container {
                Container::Quote => {
                    first.push("│ ", Style::DIM);
                    rest.push("│ ", Style::DIM);
                }
                Container::Item(item) => {
                    let mark = Line::plain(&item.mark());
                    let space = Line::plain(&" ".repeat(mark.width()));
                    rest.append(&space);
                    if item.is_shown {
                        first.append(&space);
                    } else {
                        first.append(&mark);
                        marks.append(&mark);
                    }
                }
            }
        }
        if rest.width() * 2 > columns {
            return Self { first: marks, rest: Line::new(), room: columns };
        }
        let room = columns - rest.width();
        Self { first, rest, room }
    }

    /// Whether what stands on the first row is wider than below, and so is a part of the text.
    pub(super) fn is_flat(&self) -> bool {
        self.rest.is_empty()
    }
}

/// The bars of quotes on a blank row.
pub(super) fn blank(containers: &[Container], columns: usize) -> Line {
    let mut line = Frame::of(containers, columns).rest;
    line.trim_end();
    line
}
