//! The text that is being edited, its caret, what was changed and what was cut out.
//!
//! Every change goes through [`Buffer::replace`]. Invariants: the text has at most [`TEXT_BYTES_MAX`] bytes and no
//! carriage return, and the caret never stands inside a grapheme.

use std::ops::Range;

use reedline::LineBuffer;
use unicode_segmentation::GraphemeCursor;

use super::undo::{Change, Kind, Undo};
use super::words::{word_left, word_right};

/// Bytes of the text.
pub const TEXT_BYTES_MAX: usize = 4 << 20;

/// A place to go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Start,
    End,
}

/// How the letters of a word are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    Upper,
    Lower,
    Capital,
}

/// The text, its caret, what was changed and what was cut out.
#[derive(Default)]
pub(super) struct Buffer {
    line: LineBuffer,
    undo: Undo,
    cut: String,
    /// Whether the last thing done was to cut, so that the next cut joins it.
    has_just_cut: bool,
}

impl Buffer {
    pub(super) fn text(&self) -> &str {
        self.line.get_buffer()
    }

    pub(super) fn caret(&self) -> usize {
        self.line.insertion_point()
    }

    /// Puts another text in the place of this one, the caret at its end. Says whether all of it fits. Nothing of it
    /// can be taken back.
    pub(super) fn set(&mut self, text: &str) -> bool {
        let text = with_line_feeds(text);
        let fitting = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        self.line.set_buffer(fitting.to_owned());
        self.undo = Undo::default();
        self.has_just_cut = false;
        fitting.len() == text.len()
    }

    /// Takes the text out.
    pub(super) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.line).get_buffer().to_owned();
        self.undo = Undo::default();
        self.has_just_cut = false;
        text
    }

    /// Says that something other than a change happened: the next change, or cut, stands alone.
    pub(super) const fn seal(&mut self) {
        self.undo.seal();
        self.has_just_cut = false;
    }

    /// Inserts a text at the caret. Says whether all of it fits.
    pub(super) fn insert(&mut self, text: &str, kind: Kind) -> bool {
        let text = with_line_feeds(text);
        let room = TEXT_BYTES_MAX.saturating_sub(self.text().len());
        let fitting = &text[..text.floor_char_boundary(room)];
        let caret = self.caret();
        self.replace(caret..caret, fitting, kind);
        fitting.len() == text.len()
    }

    /// Puts `new` in the place of a range, the caret behind it. Says whether it fits; nothing is changed otherwise.
    pub(super) fn replace(&mut self, range: Range<usize>, new: &str, kind: Kind) -> bool {
        self.has_just_cut = false;
        let new = &*with_line_feeds(new);
        if self.text().len() - range.len() + new.len() > TEXT_BYTES_MAX {
            return false;
        }
        let removed = self.text()[range.clone()].to_owned();
        if removed.is_empty() && new.is_empty() {
            return true;
        }
        let change = Change { at: range.start, removed, inserted: new.to_owned(), caret: self.caret(), kind };
        self.undo.record(change);
        self.put(range, new);
        true
    }

    fn put(&mut self, range: Range<usize>, new: &str) {
        let caret = range.start + new.len();
        self.line.replace_range(range, new);
        self.go_to(caret);
    }

    /// Puts the caret at an offset, or behind the grapheme that the offset is in.
    pub(super) fn go_to(&mut self, offset: usize) {
        let text = self.line.get_buffer();
        let offset = text.ceil_char_boundary(offset.min(text.len()));
        let mut cursor = GraphemeCursor::new(offset, text.len(), true);
        let offset = match cursor.is_boundary(text, 0) {
            Ok(false) => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
            Ok(true) | Err(_) => offset,
        };
        self.line.set_insertion_point(offset);
    }

    /// Where a motion leads.
    fn target(&self, motion: Motion) -> usize {
        match motion {
            Motion::Left => self.line.grapheme_left_index(),
            Motion::Right => self.line.grapheme_right_index(),
            Motion::WordLeft => word_left(self.text(), self.caret()),
            Motion::WordRight => word_right(self.text(), self.caret()).end,
            Motion::LineStart => self.line.line_start_index(),
            Motion::LineEnd => self.line.find_current_line_end(),
            Motion::Start => 0,
            Motion::End => self.text().len(),
        }
    }

    /// What lies between the caret and where a motion leads.
    fn span(&self, motion: Motion) -> Range<usize> {
        let (caret, target) = (self.caret(), self.target(motion));
        caret.min(target)..caret.max(target)
    }

    pub(super) fn go(&mut self, motion: Motion) {
        self.go_to(self.target(motion));
        self.seal();
    }

    pub(super) fn delete(&mut self, motion: Motion) {
        let kind = match motion {
            Motion::Left => Kind::Backspace,
            Motion::Right => Kind::Delete,
            Motion::WordLeft
            | Motion::WordRight
            | Motion::LineStart
            | Motion::LineEnd
            | Motion::Start
            | Motion::End => Kind::Alone,
        };
        self.replace(self.span(motion), "", kind);
    }

    /// Cuts out what lies up to where a motion leads, or, at the end of a line, the line end. Cuts that follow each
    /// other are one.
    pub(super) fn cut(&mut self, motion: Motion) {
        let mut span = self.span(motion);
        match motion {
            Motion::LineEnd if span.is_empty() => span = self.span(Motion::Right),
            Motion::LineStart if span.is_empty() => span = self.span(Motion::Left),
            Motion::Left
            | Motion::Right
            | Motion::WordLeft
            | Motion::WordRight
            | Motion::LineStart
            | Motion::LineEnd
            | Motion::Start
            | Motion::End => {}
        }
        if span.is_empty() {
            return;
        }
        let is_before = span.start < self.caret();
        let piece = self.text()[span.clone()].to_owned();
        self.cut = match (self.has_just_cut, is_before) {
            (false, _) => piece,
            (true, true) => piece + &self.cut,
            (true, false) => std::mem::take(&mut self.cut) + &piece,
        };
        self.replace(span, "", Kind::Alone);
        self.has_just_cut = true;
    }

    /// Inserts what was cut out last. Says whether all of it fits.
    pub(super) fn yank(&mut self) -> bool {
        let cut = std::mem::take(&mut self.cut);
        let fits = self.insert(&cut, Kind::Alone);
        self.cut = cut;
        fits
    }

    /// Changes places of the graphemes before and after the caret; at the end of a line, of the last two.
    pub(super) fn swap(&mut self) {
        let line = self.target(Motion::LineStart)..self.target(Motion::LineEnd);
        let caret = self.caret();
        if caret == line.end {
            self.line.set_insertion_point(self.target(Motion::Left));
        }
        let (before, after) = (self.target(Motion::Left), self.target(Motion::Right));
        let middle = self.caret();
        self.line.set_insertion_point(caret);
        if before >= line.start && before < middle && middle < after && after <= line.end {
            let swapped = format!("{}{}", &self.text()[middle..after], &self.text()[before..middle]);
            self.replace(before..after, &swapped, Kind::Alone);
        }
    }

    /// Writes the next word in other letters and goes behind it. Says whether it fits.
    pub(super) fn rewrite(&mut self, letters: Letters) -> bool {
        let word = word_right(self.text(), self.caret());
        let old = &self.text()[word.clone()];
        let new = match letters {
            Letters::Upper => old.to_uppercase(),
            Letters::Lower => old.to_lowercase(),
            Letters::Capital => {
                let mut rest = old.chars();
                let first = rest.next().map(char::to_uppercase);
                first.into_iter().flatten().collect::<String>() + &rest.as_str().to_lowercase()
            }
        };
        if new == old {
            self.go_to(word.end);
            true
        } else {
            self.replace(word, &new, Kind::Alone)
        }
    }

    /// Takes the last change back; says whether there was one.
    pub(super) fn undo(&mut self) -> bool {
        self.has_just_cut = false;
        let Some(change) = self.undo.undo() else { return false };
        let (range, removed, caret) = (change.range_after(), change.removed.clone(), change.caret);
        self.put(range, &removed);
        self.go_to(caret);
        true
    }

    /// Makes the change taken back last again; says whether there was one.
    pub(super) fn redo(&mut self) -> bool {
        self.has_just_cut = false;
        let Some(change) = self.undo.redo() else { return false };
        let (range, inserted) = (change.range_before(), change.inserted.clone());
        self.put(range, &inserted);
        true
    }
}

/// The text with every line end written as one line feed.
fn with_line_feeds(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}
