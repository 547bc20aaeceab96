//! SentencePiece's unigram tokenizer: a text is normalised, then cut into the most probable pieces of a vocabulary.
//!
//! It cuts as the package does that the model comes in. Against the reference implementation of SentencePiece that
//! differs in three places: unknown characters that follow each other stay single, the names of the marks (`<s>`) are
//! pieces like others, and of two ways that are equally probable rounding may choose another.

mod charsmap;
mod normaliser;
mod trie;
mod viterbi;
mod vocabulary;
mod wire;

pub use vocabulary::VocabularyError;

use normaliser::Normaliser;
use trie::Trie;
use vocabulary::Vocabulary;

/// The piece of a character that no piece has.
const UNKNOWN: u32 = 0;
const BEGINNING: u32 = 1;
const END: u32 = 2;
/// What the marks are called, in the order of their numbers.
const MARKS: [&str; 3] = ["<unk>", "<s>", "</s>"];
/// How much less probable an unknown character is than the rarest piece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// A vocabulary, ready to cut texts.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    normaliser: Normaliser,
    trie: Trie,
    scores: Vec<f32>,
    unknown_score: f64,
}

impl Tokenizer {
    /// Reads a model file (`sp.model`) of at most `pieces_max` pieces.
    pub(crate) fn read(file: &[u8], pieces_max: usize) -> Result<Self, VocabularyError> {
        let Vocabulary { pieces, scores, charsmap } = vocabulary::read(file, pieces_max)?;
        if !MARKS.iter().enumerate().all(|(at, mark)| pieces.get(at) == Some(mark)) {
            return Err(VocabularyError::Marks);
        }
        let normaliser = Normaliser::new(charsmap::Charsmap::read(charsmap)?);
        let trie = Trie::new(&pieces)?;
        let lowest = scores.iter().copied().fold(f32::INFINITY, f32::min);
        Ok(Self { normaliser, trie, scores, unknown_score: f64::from(lowest) - UNKNOWN_PENALTY })
    }

    /// The pieces of a text; none when nothing of it is left by normalising.
    pub(crate) fn pieces(&self, text: &str) -> Vec<u32> {
        let normal = self.normaliser.normalise(text);
        viterbi::best_pieces(&normal, &self.trie, &self.scores, self.unknown_score)
    }

    /// Pieces with a mark at both ends; an unknown one where there are none.
    pub(crate) fn framed(&self, pieces: &[u32]) -> Vec<u32> {
        let pieces = if pieces.is_empty() { &[UNKNOWN] } else { pieces };
        [&[BEGINNING], pieces, &[END]].concat()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;
    use crate::test_files::{charsmap, vocabulary};

    const PIECES: [(&str, f32); 10] = [
        ("<unk>", 0.0),
        ("<s>", 0.0),
        ("</s>", 0.0),
        ("\u{2581}", -3.0),
        ("a", -4.0),
        ("b", -4.5),
        ("ab", -5.0),
        ("\u{2581}ab", -6.0),
        ("猫", -7.0),
        ("猫だ", -7.5),
    ];

    fn tokenizer() -> Tokenizer {
        let map = charsmap(&[("\t", " "), ("Ａ", "a"), ("ﬀ", "ff"), ("\u{200b}", ""), ("e\u{301}", "é")]);
        Tokenizer::read(&vocabulary(&PIECES, &map), 100).unwrap()
    }

    #[test]
    fn a_text_becomes_its_most_probable_pieces() {
        let cases: [(&str, &[u32]); 12] = [
            ("", &[]),
            ("   ", &[]),
            ("\u{2581}", &[]),
            ("ab", &[7]),
            ("a", &[3, 4]),
            ("abab", &[7, 6]),
            ("  ab \t ab  ", &[7, 7]),
            ("Ａb", &[7]),
            ("猫だ猫", &[3, 9, 8]),
            ("xy", &[3, 0, 0]),
            ("a\u{200b}b", &[7]),
            ("<s>", &[3, 1]),
        ];
        let tokenizer = tokenizer();
        for (text, pieces) in cases {
            assert_eq!(tokenizer.pieces(text), pieces, "{text:?}");
        }
    }

    #[test]
    fn pieces_are_framed_and_nothing_is_framed_as_unknown() {
        let tokenizer = tokenizer();
        assert_eq!(tokenizer.framed(&[7]), [1, 7, 2]);
        assert_eq!(tokenizer.framed(&[]), [1, 0, 2]);
    }

    #[test]
    fn the_normal_form_is_what_the_map_says() {
        let normaliser = tokenizer().normaliser;
        assert_eq!(normaliser.normalise(" Ａ\tﬀ e\u{301} "), "\u{2581}a\u{2581}ff\u{2581}é");
        assert_eq!(normaliser.normalise("\u{200b} a"), "\u{2581}a");
    }

    #[test]
    fn a_vocabulary_without_the_marks_is_refused() {
        let file = vocabulary(&[("a", 0.0), ("b", 0.0), ("c", 0.0)], &charsmap(&[("\t", " ")]));
        assert_eq!(Tokenizer::read(&file, 100).unwrap_err(), VocabularyError::Marks);
    }

    #[test]
    fn a_vocabulary_cut_anywhere_reads_or_is_an_error() {
        let file = vocabulary(&PIECES, &charsmap(&[("\t", " "), ("Ａ", "a")]));
        for length in 0..file.len() {
            if let Ok(tokenizer) = Tokenizer::read(&file[..length], 100) {
                tokenizer.pieces("Ａb\tＡ");
            }
        }
    }

    #[test]
    fn time_grows_with_the_text_and_no_faster() {
        let tokenizer = tokenizer();
        for unit in ["a", "ab", " ", "猫だ", "Ａ", "x", "e\u{301}", "\u{2581}"] {
            let time = |count: usize| {
                let text = unit.repeat(count);
                (0..5)
                    .map(|_| {
                        let begun = Instant::now();
                        tokenizer.pieces(&text);
                        begun.elapsed()
                    })
                    .min()
                    .unwrap()
            };
            let (short, long) = (time(2_000), time(32_000));
            // 16 times the text; 256 times the time would be quadratic.
            assert!(long < short * 100, "{unit:?}: {short:?}, {long:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_cut_into_pieces_of_the_vocabulary(text in any::<String>()) {
            let pieces = tokenizer().pieces(&text);
            prop_assert!(pieces.iter().all(|piece| (*piece as usize) < PIECES.len()));
            prop_assert!(pieces.len() <= text.len() * 2 + 1);
        }

        #[test]
        fn any_bytes_are_a_vocabulary_or_an_error(file in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Tokenizer::read(&file, 100);
        }

        #[test]
        fn changed_bytes_of_a_vocabulary_never_panic(
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
            text in "[abＡﬀ猫だ\t e\u{301}]{0,20}",
        ) {
            let mut file = vocabulary(&PIECES, &charsmap(&[("\t", " "), ("Ａ", "a"), ("e\u{301}", "é")]));
            for (at, to) in changes {
                let at = at.index(file.len());
                file[at] = to;
            }
            if let Ok(tokenizer) = Tokenizer::read(&file, 100) {
                tokenizer.pieces(&text);
            }
        }
    }
}
