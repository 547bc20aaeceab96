//! What a SentencePiece model file holds: pieces with their scores, and how texts are normalised.

use thiserror::Error;

use super::wire::{Fields, Value};

/// The number of the unigram model among the kinds of a trainer.
const UNIGRAM: u64 = 1;

/// Why a file holds no vocabulary of this model.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum VocabularyError {
    /// It is no protocol buffer message.
    #[error("it is no SentencePiece model, or it is cut short")]
    Message,
    /// More pieces than there are vectors for.
    #[error("it has more than {pieces_max} pieces")]
    TooManyPieces {
        /// The bound.
        pieces_max: usize,
    },
    /// A piece is empty, no text, or has a score that is no number.
    #[error("its piece {piece} cannot be read")]
    Piece {
        /// The piece's number.
        piece: usize,
    },
    /// Two pieces are the same text.
    #[error("a piece stands in it twice")]
    Repeated,
    /// The first pieces are not the marks of the model.
    #[error("its first pieces are not `<unk>`, `<s>`, `</s>`")]
    Marks,
    /// It cuts or normalises in a way that this model does not.
    #[error("its setting `{setting}` is not the one of this model")]
    Setting {
        /// The setting as SentencePiece calls it.
        setting: &'static str,
    },
    /// The table of normal forms cannot be read.
    #[error("its table of normal forms is missing or damaged")]
    Charsmap,
}

/// A model file, read. A piece's number is its place.
pub(super) struct Vocabulary<'a> {
    pub(super) pieces: Vec<&'a str>,
    pub(super) scores: Vec<f32>,
    pub(super) charsmap: &'a [u8],
}

/// Reads a model file of at most `pieces_max` pieces.
pub(super) fn read(file: &[u8], pieces_max: usize) -> Result<Vocabulary<'_>, VocabularyError> {
    let (mut pieces, mut scores) = (vec![], vec![]);
    let mut charsmap = None;
    for field in Fields::new(file) {
        match field? {
            (1, Value::Bytes(message)) => {
                if pieces.len() == pieces_max {
                    return Err(VocabularyError::TooManyPieces { pieces_max });
                }
                let (piece, score) = piece(message, pieces.len())?;
                pieces.push(piece);
                scores.push(score);
            }
            (2, Value::Bytes(trainer)) => check_trainer(trainer)?,
            (3, Value::Bytes(normaliser)) => charsmap = charsmap_of(normaliser)?,
            _ => {}
        }
    }
    Ok(Vocabulary { pieces, scores, charsmap: charsmap.ok_or(VocabularyError::Charsmap)? })
}

fn piece(message: &[u8], at: usize) -> Result<(&str, f32), VocabularyError> {
    let (mut text, mut score) = ("", 0.0);
    let unreadable = VocabularyError::Piece { piece: at };
    for field in Fields::new(message) {
        match field? {
            (1, Value::Bytes(bytes)) => text = std::str::from_utf8(bytes).unwrap_or(""),
            (2, Value::Short(bytes)) => score = f32::from_le_bytes(bytes),
            _ => {}
        }
    }
    if text.is_empty() || !score.is_finite() { Err(unreadable) } else { Ok((text, score)) }
}

fn check_trainer(message: &[u8]) -> Result<(), VocabularyError> {
    for field in Fields::new(message) {
        if let (3, Value::Number(kind)) = field?
            && kind != UNIGRAM
        {
            return Err(VocabularyError::Setting { setting: "model_type" });
        }
    }
    Ok(())
}

fn charsmap_of(message: &[u8]) -> Result<Option<&[u8]>, VocabularyError> {
    let mut charsmap = None;
    for field in Fields::new(message) {
        let setting = match field? {
            (2, Value::Bytes(bytes)) => {
                charsmap = Some(bytes);
                continue;
            }
            (3, Value::Number(0)) => "add_dummy_prefix",
            (4, Value::Number(0)) => "remove_extra_whitespaces",
            (5, Value::Number(0)) => "escape_whitespaces",
            _ => continue,
        };
        return Err(VocabularyError::Setting { setting });
    }
    Ok(charsmap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::{field, vocabulary};

    fn error(file: &[u8], pieces_max: usize) -> VocabularyError {
        read(file, pieces_max).err().expect("it is refused")
    }

    #[test]
    fn pieces_scores_and_the_table_are_read() {
        let file = vocabulary(&[("a", -1.5), ("猫", -2.0)], b"table");
        let read = read(&file, 2).unwrap();
        assert_eq!(
            (read.pieces, read.scores, read.charsmap),
            (vec!["a", "猫"], vec![-1.5, -2.0], &b"table"[..])
        );
    }

    #[test]
    fn what_this_model_does_not_have_is_refused_by_name() {
        let file = vocabulary(&[("a", -1.5), ("b", -2.0)], b"table");
        assert_eq!(error(&file, 1), VocabularyError::TooManyPieces { pieces_max: 1 });
        assert_eq!(error(&vocabulary(&[("", 0.0)], b"t"), 9), VocabularyError::Piece { piece: 0 });
        assert_eq!(error(&vocabulary(&[("a", f32::NAN)], b"t"), 9), VocabularyError::Piece { piece: 0 });
        for (message, setting) in [
            (field(2, b"\x18\x02"), "model_type"),
            (field(3, b"\x18\0"), "add_dummy_prefix"),
            (field(3, b"\x20\0"), "remove_extra_whitespaces"),
            (field(3, b"\x28\0"), "escape_whitespaces"),
        ] {
            assert_eq!(error(&[&file[..], &message].concat(), 9), VocabularyError::Setting { setting });
        }
        assert_eq!(error(&field(1, b"\x0a\x01a"), 9), VocabularyError::Charsmap);
        assert_eq!(error(b"", 9), VocabularyError::Charsmap);
    }
}
