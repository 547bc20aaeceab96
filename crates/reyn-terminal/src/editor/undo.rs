//! What was changed in a text, to take it back and to do it again.
//!
//! Invariant: only what a change removed and inserted is kept, never a whole text, and all of it is bounded.

use std::collections::VecDeque;
use std::ops::Range;

/// Bytes of all changes that are kept, those taken back among them. The last change is kept whatever its size.
pub(super) const UNDO_BYTES_MAX: usize = 16 << 20;
/// Changes that are kept.
const CHANGES_MAX: usize = 1000;
/// Bytes that one change may grow to by deleting on and on.
const DELETED_TOGETHER_BYTES_MAX: usize = 4 << 10;

/// What a change was, as far as changes of one kind are taken back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Characters typed; taken back word by word.
    Typed,
    /// Deleted to the left.
    Backspace,
    /// Deleted to the right.
    Delete,
    /// Another entry of the history.
    Recalled,
    /// Anything else; taken back alone.
    Alone,
}

/// One change.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Where, as an offset in bytes.
    pub(super) at: usize,
    /// What was there.
    pub(super) removed: String,
    /// What came there.
    pub(super) inserted: String,
    /// Where the caret was before.
    pub(super) caret: usize,
    pub(super) kind: Kind,
}

impl Change {
    const fn bytes(&self) -> usize {
        self.removed.len() + self.inserted.len()
    }

    /// Where that is which is there after the change.
    pub(super) const fn range_after(&self) -> Range<usize> {
        self.at..self.at + self.inserted.len()
    }

    /// Where that is which is there before the change.
    pub(super) const fn range_before(&self) -> Range<usize> {
        self.at..self.at + self.removed.len()
    }
}

/// The changes of a text.
#[derive(Debug, Default)]
pub(super) struct Undo {
    done: VecDeque<Change>,
    undone: Vec<Change>,
    bytes: usize,
    /// Whether the next change begins anew.
    is_sealed: bool,
}

impl Undo {
    /// Says that what comes next is taken back by itself.
    pub(super) const fn seal(&mut self) {
        self.is_sealed = true;
    }

    /// Remembers a change that was made.
    pub(super) fn record(&mut self, change: Change) {
        for undone in self.undone.drain(..) {
            self.bytes -= undone.bytes();
        }
        let may_join = !std::mem::take(&mut self.is_sealed);
        self.bytes += change.bytes();
        match self.done.back_mut().filter(|last| may_join && last.kind == change.kind) {
            Some(last) => {
                let before = last.bytes() + change.bytes();
                if let Some(change) = join(last, change) {
                    self.done.push_back(change);
                } else {
                    self.bytes = self.bytes + last.bytes() - before;
                }
            }
            None => self.done.push_back(change),
        }
        while self.done.len() > CHANGES_MAX || (self.bytes > UNDO_BYTES_MAX && self.done.len() > 1) {
            self.bytes -= self.done.pop_front().map_or(0, |change| change.bytes());
        }
    }

    /// The last change, to be taken back.
    pub(super) fn undo(&mut self) -> Option<&Change> {
        self.is_sealed = true;
        self.undone.push(self.done.pop_back()?);
        self.undone.last()
    }

    /// The change taken back last, to be made again.
    pub(super) fn redo(&mut self) -> Option<&Change> {
        self.is_sealed = true;
        self.done.push_back(self.undone.pop()?);
        self.done.back()
    }
}

/// Makes one change of two; gives the second back where they are two.
fn join(last: &mut Change, next: Change) -> Option<Change> {
    match next.kind {
        Kind::Typed => {
            let begins_word = next.inserted.starts_with(|c: char| !c.is_whitespace())
                && last.inserted.ends_with(char::is_whitespace);
            let follows = next.at == last.range_after().end && next.removed.is_empty();
            if begins_word || !follows {
                return Some(next);
            }
            last.inserted.push_str(&next.inserted);
        }
        Kind::Backspace => {
            let follows = next.at + next.removed.len() == last.at;
            if !follows || last.removed.len() > DELETED_TOGETHER_BYTES_MAX {
                return Some(next);
            }
            last.removed.insert_str(0, &next.removed);
            last.at = next.at;
        }
        Kind::Delete => {
            if next.at != last.at || last.removed.len() > DELETED_TOGETHER_BYTES_MAX {
                return Some(next);
            }
            last.removed.push_str(&next.removed);
        }
        // Each replaces the whole text.
        Kind::Recalled => last.inserted = next.inserted,
        Kind::Alone => return Some(next),
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(at: usize, text: &str) -> Change {
        Change { at, removed: String::new(), inserted: text.to_owned(), caret: at, kind: Kind::Typed }
    }

    #[test]
    fn what_is_kept_is_bounded_in_bytes_and_in_number() {
        let mut undo = Undo::default();
        for _ in 0..100 {
            undo.record(Change { kind: Kind::Alone, ..typed(0, &"a".repeat(1 << 20)) });
        }
        assert_eq!(undo.bytes, UNDO_BYTES_MAX);
        assert_eq!(undo.done.len(), 16);
        for at in 0..5000 {
            undo.record(Change { kind: Kind::Alone, ..typed(at, "b") });
        }
        assert_eq!((undo.done.len(), undo.bytes), (CHANGES_MAX, CHANGES_MAX));
        undo.record(Change { kind: Kind::Alone, ..typed(0, &"a".repeat(UNDO_BYTES_MAX + 1)) });
        assert_eq!(undo.done.len(), 1);
    }

    #[test]
    fn the_count_of_bytes_is_right_whatever_is_joined_taken_back_and_left() {
        let mut undo = Undo::default();
        let kinds = [Kind::Typed, Kind::Backspace, Kind::Delete, Kind::Recalled, Kind::Alone];
        for step in 0..2000_usize {
            let kind = kinds[step / 7 % kinds.len()];
            let text = "ab".repeat(step % 5);
            let (removed, inserted) =
                if step % 3 == 0 { (text, String::new()) } else { (String::new(), text) };
            undo.record(Change { at: step % 4, removed, inserted, caret: 0, kind });
            if step % 11 == 0 {
                undo.undo();
                undo.undo();
                undo.redo();
            }
            let kept = undo.done.iter().chain(&undo.undone).map(Change::bytes).sum::<usize>();
            assert_eq!(undo.bytes, kept, "step {step}");
        }
    }
}
