//! All pieces by their bytes, so that every piece that a text begins with is found on one way.
//!
//! The nodes stand in the order of their depth, so the children of a node lie side by side, by their bytes.

use std::ops::Range;

use super::vocabulary::VocabularyError;

const NO_PIECE: u32 = u32::MAX;

/// A tree of bytes.
#[derive(Debug)]
pub(super) struct Trie {
    /// Where the children of a node begin; they end where those of the next one begin.
    first_children: Vec<u32>,
    /// The byte that leads to a node.
    labels: Vec<u8>,
    /// The piece that ends at a node.
    pieces: Vec<u32>,
}

impl Trie {
    /// Builds the tree; a piece's number is its place. No piece may be empty, and none may stand there twice.
    pub(super) fn new(pieces: &[&str]) -> Result<Self, VocabularyError> {
        let mut sorted: Vec<(&[u8], u32)> =
            (0..).zip(pieces).map(|(at, piece)| (piece.as_bytes(), at)).collect();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(VocabularyError::Repeated);
        }
        let mut trie = Self { first_children: vec![], labels: vec![0], pieces: vec![] };
        // The pieces below each node of a depth: those that have the same bytes up to it.
        let mut level: Vec<Range<usize>> = std::iter::once(0..sorted.len()).collect();
        let mut depth = 0;
        while !level.is_empty() {
            let mut below = vec![];
            for mut range in level {
                trie.first_children.push(u32::try_from(trie.labels.len()).unwrap_or(NO_PIECE));
                let ending = sorted.get(range.start).filter(|(bytes, _)| bytes.len() == depth);
                trie.pieces.push(ending.map_or(NO_PIECE, |(_, piece)| *piece));
                range.start += usize::from(ending.is_some());
                while !range.is_empty() {
                    let label = sorted[range.start].0[depth];
                    let count = sorted[range.clone()].partition_point(|(bytes, _)| bytes[depth] == label);
                    trie.labels.push(label);
                    below.push(range.start..range.start + count);
                    range.start += count;
                }
            }
            level = below;
            depth += 1;
        }
        trie.first_children.push(u32::try_from(trie.labels.len()).unwrap_or(NO_PIECE));
        Ok(trie)
    }

    /// Every piece that a text begins with, and its length in bytes, from the shortest to the longest.
    pub(super) fn beginnings<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (usize, u32)> + 'a {
        let mut node = 0;
        let mut length = 0;
        std::iter::from_fn(move || {
            loop {
                node = self.child(node, *text.get(length)?)?;
                length += 1;
                let piece = self.pieces[node];
                if piece != NO_PIECE {
                    return Some((length, piece));
                }
            }
        })
    }

    fn child(&self, node: usize, byte: u8) -> Option<usize> {
        let begins = self.first_children[node] as usize;
        let ends = self.first_children[node + 1] as usize;
        self.labels[begins..ends].binary_search(&byte).ok().map(|at| begins + at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(trie: &Trie, text: &str) -> Vec<(usize, u32)> {
        trie.beginnings(text.as_bytes()).collect()
    }

    #[test]
    fn every_piece_at_the_beginning_is_found() {
        let trie = Trie::new(&["b", "a", "abc", "ab猫", "ab"]).unwrap();
        assert_eq!(found(&trie, "abcd"), [(1, 1), (2, 4), (3, 2)]);
        assert_eq!(found(&trie, "ab猫"), [(1, 1), (2, 4), (5, 3)]);
        assert_eq!(found(&trie, "x"), []);
        assert_eq!(found(&trie, ""), []);
    }

    #[test]
    fn a_piece_that_stands_twice_is_refused_and_none_is_a_tree() {
        assert_eq!(Trie::new(&["a", "b", "a"]).unwrap_err(), VocabularyError::Repeated);
        assert_eq!(found(&Trie::new(&[]).unwrap(), "a"), []);
    }

    proptest! {
        #[test]
        fn it_finds_what_a_look_at_every_piece_finds(
            pieces in proptest::collection::btree_set("[ab猫犬]{1,4}", 0..30),
            text in "[ab猫犬]{0,8}",
        ) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let trie = Trie::new(&pieces).unwrap();
            let mut naive: Vec<(usize, u32)> = (0..)
                .zip(&pieces)
                .filter(|(_, piece)| text.starts_with(**piece))
                .map(|(at, piece)| (piece.len(), at))
                .collect();
            naive.sort_unstable();
            prop_assert_eq!(found(&trie, &text), naive);
        }
    }
}
