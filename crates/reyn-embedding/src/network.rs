//! From the pieces of texts to their vectors: three branches of two convolutions each over windows of 2, 3 and 5 pieces,
//! a sum over the text, four dense layers.
//!
//! The pieces of several texts go through together, so that a weight is read once for all of them; between two texts
//! stand rows of zeros, so that no window reaches from one into the other.

use crate::encoder::DIMENSIONS;
use crate::layer_norm::{LayerNorm, sum};
use crate::matrix::{COLUMNS, Matrix};
use crate::table::{PIECE_DIMENSIONS, PieceTable};

/// Numbers of a piece in one branch.
pub(crate) const BRANCH_DIMENSIONS: usize = 256;
/// Numbers of a piece behind the branches: its own vector, then what each branch says.
pub(crate) const FEATURES: usize = PIECE_DIMENSIONS + BRANCHES.len() * BRANCH_DIMENSIONS;
/// Width of the first two dense layers.
pub(crate) const HIDDEN: usize = 320;
const PROJECTED: usize = BRANCHES.len() * BRANCH_DIMENSIONS;
/// Rows of zeros on each side of a text: how far the widest window reaches.
const GAP: usize = 2;

/// Which neighbours of a piece a convolution sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// How many there are, with the piece itself.
    pub(crate) rows: usize,
    /// How many of them stand before it.
    pub(crate) before: usize,
}

/// The windows of the three branches.
pub(crate) const BRANCHES: [Window; 3] =
    [Window { rows: 2, before: 0 }, Window { rows: 3, before: 1 }, Window { rows: 5, before: 2 }];

/// Two convolutions over one window, each added to what went in.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) window: Window,
    pub(crate) first: Matrix,
    pub(crate) first_bias: Vec<f32>,
    pub(crate) second: Matrix,
    pub(crate) second_bias: Vec<f32>,
}

/// All weights but the vectors of the pieces.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) projection: Matrix,
    pub(crate) projection_bias: Vec<f32>,
    pub(crate) projection_norm: LayerNorm,
    pub(crate) branches: Vec<Branch>,
    pub(crate) feature_norm: LayerNorm,
    pub(crate) summary: Matrix,
    pub(crate) summary_bias: Vec<f32>,
    pub(crate) first: Matrix,
    pub(crate) second: Matrix,
    pub(crate) second_direct: Matrix,
    pub(crate) third: Matrix,
    pub(crate) last: Matrix,
    pub(crate) last_direct: Matrix,
    pub(crate) epsilon: f32,
}

impl Network {
    /// The vectors of texts, each given as its pieces, of which there is at least one.
    pub(crate) fn vectors(&self, table: &PieceTable, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let mut features = vec![0.0; texts.iter().map(Vec::len).sum::<usize>() * FEATURES];
        for (row, piece) in features.chunks_exact_mut(FEATURES).zip(texts.iter().flatten()) {
            table.write(*piece, &mut row[..PIECE_DIMENSIONS]);
        }
        let projected = self.projected(&features);
        let places = places(texts);
        for (at, branch) in self.branches.iter().enumerate() {
            branch.write(&projected, at, &places, &mut features);
        }
        for row in features.chunks_exact_mut(FEATURES) {
            self.feature_norm.apply(row);
        }
        self.dense(&self.summaries(&features, texts))
    }

    /// What goes into the branches, side by side.
    fn projected(&self, features: &[f32]) -> Vec<f32> {
        let count = features.len() / FEATURES;
        let mut projected = vec![0.0; count * PROJECTED];
        self.projection.multiply(
            count,
            |at| &features[at * FEATURES..][..PIECE_DIMENSIONS],
            |at, column, sums| {
                let target = &mut projected[at * PROJECTED + column..][..COLUMNS];
                for ((number, sum), bias) in target.iter_mut().zip(sums).zip(&self.projection_bias[column..])
                {
                    *number = sum + bias;
                }
            },
        );
        for row in projected.chunks_exact_mut(PROJECTED) {
            self.projection_norm.apply(row);
        }
        projected
    }

    /// The sum over the rows of each text, projected; long texts are damped by the root of their length.
    fn summaries(&self, features: &[f32], texts: &[Vec<u32>]) -> Vec<f32> {
        let mut sums = vec![0.0; texts.len() * FEATURES];
        let mut rows = features.chunks_exact(FEATURES);
        for (total, text) in sums.chunks_exact_mut(FEATURES).zip(texts) {
            for row in rows.by_ref().take(text.len()) {
                for (total, number) in total.iter_mut().zip(row) {
                    *total += number;
                }
            }
        }
        let mut summaries = product(&self.summary, &sums, DIMENSIONS);
        for (row, text) in summaries.chunks_exact_mut(DIMENSIONS).zip(texts) {
            let count = text.len() as f32;
            let damping = 1.0 / count.sqrt();
            for (number, bias) in row.iter_mut().zip(&self.summary_bias) {
                *number = (*number + count * bias) * damping;
            }
        }
        summaries
    }

    fn dense(&self, summaries: &[f32]) -> Vec<Vec<f32>> {
        let first = positive(product(&self.first, summaries, HIDDEN));
        let direct = product(&self.second_direct, summaries, HIDDEN);
        let second = positive(added(direct, &product(&self.second, &first, HIDDEN)));
        let third = positive(product(&self.third, &second, DIMENSIONS));
        let direct = product(&self.last_direct, &second, DIMENSIONS);
        let last = added(direct, &product(&self.last, &third, DIMENSIONS));
        last.chunks_exact(DIMENSIONS)
            .map(|row| {
                let row: Vec<f32> = row.iter().map(|number| number.tanh()).collect();
                let factor = 1.0 / sum(&row, |number| number * number).max(self.epsilon).sqrt();
                row.into_iter().map(|number| number * factor).collect()
            })
            .collect()
    }
}

impl Branch {
    /// Reads its part of the projected rows and writes its part of the features.
    fn write(&self, projected: &[f32], at: usize, places: &[usize], features: &mut [f32]) {
        let rows = places.last().map_or(0, |last| last + 1 + GAP);
        let mut entering = vec![0.0; rows * BRANCH_DIMENSIONS];
        for (place, row) in places.iter().zip(projected.chunks_exact(PROJECTED)) {
            entering[place * BRANCH_DIMENSIONS..][..BRANCH_DIMENSIONS]
                .copy_from_slice(&row[at * BRANCH_DIMENSIONS..][..BRANCH_DIMENSIONS]);
        }
        let mut between = vec![0.0; entering.len()];
        self.convolve(&self.first, &self.first_bias, &entering, places, |at, column, numbers| {
            between[places[at] * BRANCH_DIMENSIONS + column..][..COLUMNS].copy_from_slice(numbers);
        });
        let begins = PIECE_DIMENSIONS + at * BRANCH_DIMENSIONS;
        self.convolve(&self.second, &self.second_bias, &between, places, |at, column, numbers| {
            features[at * FEATURES + begins + column..][..COLUMNS].copy_from_slice(numbers);
        });
    }

    /// Each row plus the positive part of what the weights make of its window.
    ///
    /// Rows lie one behind the other, so a window is a slice of them.
    fn convolve(
        &self,
        weights: &Matrix,
        bias: &[f32],
        rows: &[f32],
        places: &[usize],
        mut each: impl FnMut(usize, usize, &[f32; COLUMNS]),
    ) {
        let window = |at: usize| {
            let first = places[at] - self.window.before;
            &rows[first * BRANCH_DIMENSIONS..][..self.window.rows * BRANCH_DIMENSIONS]
        };
        weights.multiply(places.len(), window, |at, column, sums| {
            let mut numbers = *sums;
            let own = &rows[places[at] * BRANCH_DIMENSIONS + column..];
            for ((number, bias), own) in numbers.iter_mut().zip(&bias[column..]).zip(own) {
                *number = (*number + bias).max(0.0) + own;
            }
            each(at, column, &numbers);
        });
    }
}

/// The row of each piece when every text has rows of zeros on both sides.
fn places(texts: &[Vec<u32>]) -> Vec<usize> {
    let mut next = 0;
    let mut places = vec![];
    for text in texts {
        next += GAP;
        places.extend(next..next + text.len());
        next += text.len();
    }
    places
}

/// All rows times a matrix of `width` columns.
fn product(matrix: &Matrix, rows: &[f32], width: usize) -> Vec<f32> {
    let depth = matrix.depth();
    let count = rows.len() / depth;
    let mut products = vec![0.0; count * width];
    matrix.multiply(
        count,
        |at| &rows[at * depth..][..depth],
        |at, column, sums| products[at * width + column..][..COLUMNS].copy_from_slice(sums),
    );
    products
}

fn positive(mut numbers: Vec<f32>) -> Vec<f32> {
    for number in &mut numbers {
        *number = number.max(0.0);
    }
    numbers
}

fn added(mut numbers: Vec<f32>, others: &[f32]) -> Vec<f32> {
    for (number, other) in numbers.iter_mut().zip(others) {
        *number += other;
    }
    numbers
}
