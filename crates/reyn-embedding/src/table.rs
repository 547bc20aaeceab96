//! The vectors of the pieces, kept in the bytes they come in: a fourth of what they are as numbers.

use crate::archive::Archive;
use crate::array::{self, ArrayError};

/// Numbers of a piece's vector.
pub(crate) const PIECE_DIMENSIONS: usize = 512;
/// Parts of the table: the vector of a piece is in part `piece % PARTS`, each with a scale of its own.
const PARTS: usize = 17;
const PART_ROWS: usize = 7530;

/// The most pieces that have a vector.
pub(crate) const PIECES: usize = PARTS * PART_ROWS;

/// A vector for each of [`PIECES`] pieces, a byte a number.
#[derive(Debug)]
pub(crate) struct PieceTable {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    codes: Vec<u8>,
    scale: f32,
    lowest: f32,
}

impl PieceTable {
    /// Reads the parts, two of them at a time: unpacking is most of what loading costs.
    pub(crate) fn read(archive: &Archive<'_>) -> Result<Self, ArrayError> {
        let scales = array::floats(archive, "scale", &[PARTS])?;
        let lowest = array::floats(archive, "lo", &[PARTS])?;
        let read = |range: std::ops::Range<usize>| {
            range
                .map(|at| {
                    let codes =
                        array::bytes(archive, &format!("q{}", at + 1), &[PART_ROWS, PIECE_DIMENSIONS])?;
                    Ok(Part { codes, scale: scales[at], lowest: lowest[at] })
                })
                .collect::<Result<Vec<Part>, ArrayError>>()
        };
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| read(0..PARTS / 2));
            let second = read(PARTS / 2..PARTS);
            (first.join().expect("reading a part does not panic"), second)
        });
        let mut parts = first?;
        parts.extend(second?);
        Ok(Self { parts })
    }

    /// Writes the vector of a piece below [`PIECES`] into `target`.
    pub(crate) fn write(&self, piece: u32, target: &mut [f32]) {
        let piece = piece as usize;
        let part = &self.parts[piece % PARTS];
        let row = &part.codes[piece / PARTS * PIECE_DIMENSIONS..][..PIECE_DIMENSIONS];
        for (number, code) in target.iter_mut().zip(row) {
            *number = f32::from(*code) * part.scale + part.lowest;
        }
    }
}
