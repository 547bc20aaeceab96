//! Where decoded bytes go, up to a limit.

use std::io::{self, Write};

use crate::limits::BODY_GROWTH_BYTES_MIN;

/// Decoded bytes, never more than a limit.
#[derive(Default)]
pub(crate) struct Sink {
    bytes: Vec<u8>,
    limit_bytes: usize,
    is_over: bool,
}

impl Sink {
    /// An empty one, with room for `expected_bytes`.
    pub(crate) fn new(limit_bytes: usize, expected_bytes: usize) -> Self {
        let bytes = Vec::with_capacity(expected_bytes.min(limit_bytes));
        Self { bytes, limit_bytes, is_over: false }
    }

    /// The most that it takes.
    pub(crate) const fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// The bytes that it holds.
    pub(crate) const fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it was given more than it takes.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Notes that there would be more than it takes.
    pub(crate) fn refuse(&mut self) -> io::Error {
        self.is_over = true;
        io::Error::other("the body is too large")
    }

    /// Takes a whole body without a copy.
    pub(crate) fn fill(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        if bytes.len() > self.limit_bytes {
            return Err(self.refuse());
        }
        self.bytes = bytes;
        Ok(())
    }

    /// What it holds, with room for all that it takes: it does not move until it is taken.
    ///
    /// A decoder writes there itself, and has to stop where the room ends.
    pub(crate) fn whole_room(&mut self) -> io::Result<&mut Vec<u8>> {
        let added = self.limit_bytes - self.bytes.len();
        if self.bytes.try_reserve_exact(added).is_err() {
            let limit_bytes = self.limit_bytes;
            return Err(io::Error::other(format!(
                "there is no memory for a body of up to {limit_bytes} bytes"
            )));
        }
        Ok(&mut self.bytes)
    }

    /// Gives what it holds, in no more memory than that takes.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.shrink_to_fit();
        bytes
    }

    fn make_room(&mut self, added: usize) {
        if self.bytes.capacity() - self.bytes.len() >= added {
            return;
        }
        // Memory that nothing is written to costs nothing, while a body that moves is there twice.
        if self.bytes.capacity() == 0 && self.bytes.try_reserve_exact(self.limit_bytes).is_ok() {
            return;
        }
        let growth = added.max(BODY_GROWTH_BYTES_MIN).max(self.bytes.len() / 16);
        self.bytes.reserve_exact(growth.min(self.limit_bytes - self.bytes.len()));
    }
}

impl Write for Sink {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if piece.len() > self.limit_bytes - self.bytes.len() {
            return Err(self.refuse());
        }
        self.make_room(piece.len());
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sink_takes_as_much_as_its_limit_and_holds_no_more_memory_than_that() {
        let mut sink = Sink::new(10, 99);
        assert_eq!(sink.write(b"12345").ok(), Some(5));
        assert!(sink.bytes.capacity() <= 10);
        assert_eq!(sink.write(b"67890").ok(), Some(5));
        assert!(!sink.is_over());
        assert!(sink.write(b"1").is_err());
        assert!(sink.is_over());
        assert_eq!(sink.take(), b"1234567890");
    }

    #[test]
    fn a_body_that_is_put_in_as_a_whole_has_the_same_limit() {
        let mut sink = Sink::new(3, 0);
        assert!(sink.fill(b"1234".to_vec()).is_err());
        assert!(sink.is_over());
        assert!(sink.fill(b"123".to_vec()).is_ok());
        assert_eq!(sink.take(), b"123");
    }

    #[test]
    fn what_is_given_takes_no_more_memory_than_it_needs() {
        let mut sink = Sink::new(1_000_000, 0);
        assert_eq!(sink.write(b"12345").ok(), Some(5));
        assert_eq!(sink.take().capacity(), 5);
    }
}
