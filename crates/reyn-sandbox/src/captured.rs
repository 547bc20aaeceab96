//! A stream's output within a bound: its beginning and its end are kept, its length is counted.

use std::collections::VecDeque;

/// What a stream said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// How many bytes came.
    pub bytes_total: u64,
    /// All of it, or its beginning when it was longer than the bound.
    pub head: Vec<u8>,
    /// Its end, when it was longer than the bound.
    pub tail: Vec<u8>,
    /// Whether bytes between `head` and `tail` were dropped.
    pub is_truncated: bool,
}

/// A stream while it is read; holds never more than its bound and one piece.
#[derive(Debug)]
pub(crate) struct Capture {
    head_max: usize,
    tail_max: usize,
    bytes_total: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
}

impl Capture {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let head_max = bytes_max / 2;
        Self { head_max, tail_max: bytes_max - head_max, bytes_total: 0, head: vec![], tail: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.bytes_total += piece.len() as u64;
        let (to_head, rest) = piece.split_at(piece.len().min(self.head_max - self.head.len()));
        self.head.extend_from_slice(to_head);
        let rest = &rest[rest.len().saturating_sub(self.tail_max)..];
        let spare = (self.tail.len() + rest.len()).saturating_sub(self.tail_max);
        self.tail.drain(..spare);
        self.tail.extend(rest);
    }

    pub(crate) fn finish(mut self) -> Captured {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let is_truncated = self.bytes_total > kept;
        let mut tail = Vec::from(self.tail);
        if !is_truncated {
            self.head.append(&mut tail);
        }
        Captured { bytes_total: self.bytes_total, head: self.head, tail, is_truncated }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_beginning_and_the_end_are_kept_however_it_comes(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            bytes_max in 0_usize..100,
        ) {
            let mut capture = Capture::new(bytes_max);
            for piece in &pieces {
                capture.push(piece);
            }
            let all = pieces.concat();
            let captured = capture.finish();
            let expected = if all.len() <= bytes_max {
                Captured { bytes_total: all.len() as u64, head: all, tail: vec![], is_truncated: false }
            } else {
                let head_max = bytes_max / 2;
                Captured {
                    bytes_total: all.len() as u64,
                    head: all[..head_max].to_vec(),
                    tail: all[all.len() - (bytes_max - head_max)..].to_vec(),
                    is_truncated: true,
                }
            };
            prop_assert_eq!(captured, expected);
        }
    }
}
