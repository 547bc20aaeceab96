//! The elements that are open where a page is being read, and which of them are dropped.

use crate::bounds::{DEPTH_MAX, INDENTS_MAX};
use crate::tag::Tag;

/// An element that was started and not yet ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open<'a> {
    /// Its name in the page.
    pub(super) source: &'a str,
    pub(super) tag: Tag,
    /// The name that it was written with; empty when it was not.
    pub(super) written: &'static str,
    /// Columns of a table that a cell takes.
    pub(super) columns: usize,
}

#[derive(Debug, Default)]
pub(super) struct OpenElements<'a> {
    stack: Vec<Open<'a>>,
    /// Elements that are open beyond [`DEPTH_MAX`]; they are only counted.
    overfull: usize,
    /// How many elements were open when the one began that is dropped with all that is in it.
    dropped_at: Option<usize>,
    /// How many elements were open when `pre` began.
    pre_at: Option<usize>,
    indents: usize,
}

impl<'a> OpenElements<'a> {
    pub(super) fn len(&self) -> usize {
        self.stack.len()
    }

    pub(super) fn last(&self) -> Option<Tag> {
        self.stack.last().map(|open| open.tag)
    }

    /// Whether an element that no reader sees is open.
    pub(super) fn is_dropping(&self) -> bool {
        self.dropped_at.is_some()
    }

    /// Whether line breaks are kept here.
    pub(super) fn is_in_pre(&self) -> bool {
        self.pre_at.is_some()
    }

    pub(super) fn is_indented_enough(&self) -> bool {
        self.indents >= INDENTS_MAX
    }

    /// Whether elements are open that are only counted. Until they end nothing else does.
    pub(super) fn is_overfull(&self) -> bool {
        self.overfull > 0
    }

    /// Adds an element. False when it is only counted.
    pub(super) fn push(&mut self, open: Open<'a>, is_dropped: bool) -> bool {
        if is_dropped && self.dropped_at.is_none() {
            self.dropped_at = Some(self.stack.len() + self.overfull);
        }
        if self.stack.len() >= DEPTH_MAX {
            self.overfull += 1;
            return false;
        }
        if open.written == "pre" && self.pre_at.is_none() {
            self.pre_at = Some(self.stack.len());
        }
        self.indents += usize::from(open.tag.is_indent());
        self.stack.push(open);
        true
    }

    /// Ends an element that is only counted, if there is one.
    pub(super) fn leave_overfull(&mut self) -> bool {
        if self.overfull == 0 {
            return false;
        }
        self.overfull -= 1;
        self.end_dropping();
        true
    }

    pub(super) fn pop(&mut self) -> Option<Open<'a>> {
        self.overfull = 0;
        let closed = self.stack.pop()?;
        self.indents -= usize::from(closed.tag.is_indent());
        self.end_dropping();
        self.pre_at = self.pre_at.filter(|at| self.stack.len() > *at);
        Some(closed)
    }

    fn end_dropping(&mut self) {
        let open = self.stack.len() + self.overfull;
        self.dropped_at = self.dropped_at.filter(|at| open > *at);
    }

    /// Where the innermost open element of `tags` is, inside the innermost of `until`.
    pub(super) fn find(&self, tags: &[Tag], until: &[Tag]) -> Option<usize> {
        for (at, open) in self.stack.iter().enumerate().rev() {
            if tags.contains(&open.tag) {
                return Some(at);
            }
            if until.contains(&open.tag) {
                return None;
            }
        }
        None
    }

    /// Where the paragraph is that a block ends.
    pub(super) fn paragraph(&self) -> Option<usize> {
        for (at, open) in self.stack.iter().enumerate().rev() {
            match open.tag {
                Tag::Block("p") => return Some(at),
                // Nothing that is a block stands in a paragraph.
                Tag::Block(_) | Tag::Dropped(_) => return None,
                Tag::Inline(_) | Tag::Plain | Tag::Custom | Tag::Reading | Tag::Image | Tag::Nothing => {}
                Tag::Void(_) | Tag::Title | Tag::Meta | Tag::Base | Tag::Frame => {}
            }
        }
        None
    }

    /// Where the element is that the end tag `name` ends.
    ///
    /// A tag in a cell ends nothing outside of the table. One of a word ends no block around the word,
    /// paragraphs aside, and nothing that is dropped but itself: what a page hides stays hidden up to its own end.
    pub(super) fn matching(&self, name: &str, tag: Tag) -> Option<usize> {
        let is_block = matches!(tag, Tag::Block(_) | Tag::Dropped(_));
        for (at, open) in self.stack.iter().enumerate().rev() {
            let is_named = !matches!(tag, Tag::Plain | Tag::Custom) || open.source.eq_ignore_ascii_case(name);
            if open.tag == tag && is_named || tag.is_heading() && open.tag.is_heading() {
                return Some(at);
            }
            let is_wall = if is_block {
                open.tag.is_cell() && !tag.is_in_table() && tag != Tag::Block("table")
                    || tag.is_in_table() && open.tag == Tag::Block("table")
            } else {
                let is_first_dropped = self.dropped_at == Some(at);
                is_first_dropped || matches!(open.tag, Tag::Block(name) if name != "p")
            };
            if is_wall {
                return None;
            }
        }
        None
    }
}
