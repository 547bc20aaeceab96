//! What the person says while a turn runs, on its way to the next round.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use reyn_core::limits::{INBOX_BYTES_MAX, INBOX_MESSAGES_MAX};

/// A bounded queue between a front end and a running turn. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Mutex<VecDeque<String>>>);

impl Inbox {
    /// Puts a message at the end. Returns `false`, and takes nothing, when the queue is full.
    #[must_use]
    pub fn put(&self, text: &str) -> bool {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: usize = queue.iter().map(String::len).sum();
        let has_room = queue.len() < INBOX_MESSAGES_MAX && bytes + text.len() <= INBOX_BYTES_MAX;
        if has_room {
            queue.push_back(text.to_owned());
        }
        has_room
    }

    /// Takes everything out, in the order it was said.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_inbox_takes_nothing_more_and_loses_nothing() {
        let inbox = Inbox::default();
        for at in 0..INBOX_MESSAGES_MAX {
            assert!(inbox.put(&at.to_string()));
        }
        assert!(!inbox.put("one more"));
        assert_eq!(inbox.take().len(), INBOX_MESSAGES_MAX);
        assert!(!inbox.put(&"x".repeat(INBOX_BYTES_MAX + 1)));
        assert_eq!(inbox.take(), Vec::<String>::new());
    }
}
