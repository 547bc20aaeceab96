//! The most probable way to cut a text into pieces: the one whose scores sum up highest.

use super::UNKNOWN;
use super::trie::Trie;

/// The best way up to a place in the text.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    /// Where its last piece begins.
    begins: usize,
    piece: u32,
}

/// The pieces of a text in order. A character that is no piece is unknown, by itself.
///
/// The time is linear in the text: at each place as many steps as the longest piece has bytes. Of two ways that are
/// equally probable the one with the earlier beginning stays.
pub(super) fn best_pieces(text: &str, trie: &Trie, scores: &[f32], unknown_score: f64) -> Vec<u32> {
    let nowhere = Best { score: f64::NEG_INFINITY, begins: 0, piece: UNKNOWN };
    let mut best = vec![nowhere; text.len() + 1];
    best[0].score = 0.0;
    for (begins, character) in text.char_indices() {
        let before = best[begins].score;
        let mut is_piece = false;
        let mut consider = |length: usize, piece: u32, score: f64| {
            let end = &mut best[begins + length];
            if score > end.score {
                *end = Best { score, begins, piece };
            }
        };
        for (length, piece) in trie.beginnings(&text.as_bytes()[begins..]) {
            consider(length, piece, before + f64::from(scores[piece as usize]));
            is_piece |= length == character.len_utf8();
        }
        if !is_piece {
            consider(character.len_utf8(), UNKNOWN, before + unknown_score);
        }
    }
    let mut pieces = vec![];
    let mut ends = text.len();
    while ends > 0 {
        pieces.push(best[ends].piece);
        ends = best[ends].begins;
    }
    pieces.reverse();
    pieces
}
