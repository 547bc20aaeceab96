//! The vectors of the pieces, kept in the bytes they come in: a fourth of what they are as numbers.

use crate::archive::Archive;
use crate::array::{self, ArrayError};
use crate::batch::in_parallel;

/// Numbers of a piece's vector.
pub(crate) const PIECE_DIMENSIONS: usize = 512;
/// Parts of the table: the vector of a piece is in part `piece % PARTS`, each with a scale of its own.
const PARTS: usize = 17;
const PART_ROWS: usize = 7530;
/// Threads that unpack parts.
const READERS: usize = 4;

/// The most pieces that have a vector.
pub(crate) const PIECES: usize = PARTS * PART_ROWS;

/// A vector for each of [`PIECES`] pieces, a byte a number.
#[derive(Debug)]
pub(crate) struct PieceTable {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    /// An array as it is in the file.
    array: Vec<u8>,
    /// Where in it the vectors begin.
    begins: usize,
    scale: f32,
    lowest: f32,
}

impl PieceTable {
    /// Reads the parts, some at a time: unpacking them is most of what loading costs.
    pub(crate) fn read(archive: &Archive<'_>) -> Result<Self, ArrayError> {
        let scales = array::floats(archive, "scale", &[PARTS])?;
        let lowest = array::floats(archive, "lo", &[PARTS])?;
        let part = |at: usize| {
            let (array, begins) =
                array::bytes(archive, &format!("q{}", at + 1), &[PART_ROWS, PIECE_DIMENSIONS])?;
            Ok(Part { array, begins, scale: scales[at], lowest: lowest[at] })
        };
        let numbers: Vec<usize> = (0..PARTS).collect();
        let parts = in_parallel(&numbers, READERS, |numbers| numbers.iter().map(|at| part(*at)).collect());
        Ok(Self { parts: parts.into_iter().collect::<Result<_, ArrayError>>()? })
    }

    /// Writes the vector of a piece below [`PIECES`] into `target`.
    pub(crate) fn write(&self, piece: u32, target: &mut [f32]) {
        let piece = piece as usize;
        let part = &self.parts[piece % PARTS];
        let row = &part.array[part.begins + piece / PARTS * PIECE_DIMENSIONS..][..PIECE_DIMENSIONS];
        for (number, code) in target.iter_mut().zip(row) {
            *number = f32::from(*code) * part.scale + part.lowest;
        }
    }
}
