//! What the file of weights holds: names and shapes of the arrays, put together into the network and the table.

use thiserror::Error;

use crate::archive::{Archive, ArchiveError};
use crate::array::{ArrayError, double, floats};
use crate::encoder::DIMENSIONS;
use crate::layer_norm::LayerNorm;
use crate::matrix::Matrix;
use crate::network::{BRANCH_DIMENSIONS, BRANCHES, Branch, FEATURES, HIDDEN, Network};
use crate::table::{PIECE_DIMENSIONS, PieceTable};

/// Why a file holds no weights of this model.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WeightsError {
    /// It is no archive that can be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// An array in it is not the one of this model.
    #[error(transparent)]
    Array(#[from] ArrayError),
}

/// Reads the whole file; the table in threads of its own beside the network.
pub(crate) fn read(file: &[u8]) -> Result<(PieceTable, Network), WeightsError> {
    let archive = Archive::open(file)?;
    let (table, network) = std::thread::scope(|scope| {
        let table = scope.spawn(|| PieceTable::read(&archive));
        let network = network(&archive);
        (table.join().expect("reading the table does not panic"), network)
    });
    Ok((table?, network?))
}

fn network(archive: &Archive<'_>) -> Result<Network, ArrayError> {
    let epsilon = double(archive, "eps")? as f32;
    let each = |name: &str, shape: &[usize]| -> Result<Vec<Vec<f32>>, ArrayError> {
        BRANCHES.iter().map(|window| floats(archive, &format!("{name}{}", window.rows), shape)).collect()
    };
    let matrix = |name: &str, rows: usize, columns: usize| -> Result<Matrix, ArrayError> {
        Ok(Matrix::beside(rows, &[floats(archive, name, &[rows, columns])?]))
    };
    let branches = BRANCHES.iter().map(|window| {
        let n = window.rows;
        Ok(Branch {
            window: *window,
            first: matrix(&format!("w1_{n}"), n * BRANCH_DIMENSIONS, BRANCH_DIMENSIONS)?,
            first_bias: floats(archive, &format!("b1_{n}"), &[BRANCH_DIMENSIONS])?,
            second: matrix(&format!("w2_{n}"), n * BRANCH_DIMENSIONS, BRANCH_DIMENSIONS)?,
            second_bias: floats(archive, &format!("b2_{n}"), &[BRANCH_DIMENSIONS])?,
        })
    });
    Ok(Network {
        projection: Matrix::beside(PIECE_DIMENSIONS, &each("proj", &[PIECE_DIMENSIONS, BRANCH_DIMENSIONS])?),
        projection_bias: each("proj_b", &[BRANCH_DIMENSIONS])?.concat(),
        projection_norm: LayerNorm {
            scale: each("ln_g", &[BRANCH_DIMENSIONS])?.concat(),
            shift: each("ln_b", &[BRANCH_DIMENSIONS])?.concat(),
            epsilon,
        },
        branches: branches.collect::<Result<_, ArrayError>>()?,
        feature_norm: LayerNorm {
            scale: floats(archive, "ln_g", &[FEATURES])?,
            shift: floats(archive, "ln_b", &[FEATURES])?,
            epsilon,
        },
        summary: matrix("cnn_W", FEATURES, DIMENSIONS)?,
        summary_bias: floats(archive, "cnn_b", &[DIMENSIONS])?,
        first: matrix("d0", DIMENSIONS, HIDDEN)?,
        second_direct: matrix("p1", DIMENSIONS, HIDDEN)?,
        second: matrix("d1", HIDDEN, HIDDEN)?,
        third: matrix("d2", HIDDEN, DIMENSIONS)?,
        last_direct: matrix("p3", HIDDEN, DIMENSIONS)?,
        last: matrix("d3", DIMENSIONS, DIMENSIONS)?,
        epsilon,
    })
}
