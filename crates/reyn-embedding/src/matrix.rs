//! Products of rows with a matrix of weights that is kept in panels of columns.
//!
//! Every sum runs over the row from its first number to its last, whichever rows are multiplied beside it: a row gives the
//! same bits alone and among others.

/// Columns of a panel. Two rows are multiplied together: their sums, the weights and a factor just fit into the
/// sixteen registers of four numbers that every processor has.
pub(crate) const COLUMNS: usize = 16;

/// A matrix of `depth` rows, its columns in panels; the last panel is filled up with zeros.
#[derive(Debug)]
pub(crate) struct Matrix {
    depth: usize,
    panels: Vec<[f32; COLUMNS]>,
}

impl Matrix {
    /// Takes matrices that lie row by row and have `depth` rows each; their columns stand side by side.
    ///
    /// Panics when a matrix has no whole rows: its shape was compared when it was read.
    pub(crate) fn beside(depth: usize, parts: &[Vec<f32>]) -> Self {
        let widths: Vec<usize> = parts.iter().map(|part| part.len() / depth).collect();
        let width = widths.iter().sum::<usize>();
        let mut panels = vec![[0.0; COLUMNS]; width.div_ceil(COLUMNS) * depth];
        let mut before = 0;
        for (part, part_width) in parts.iter().zip(&widths) {
            assert_eq!(part.len(), depth * part_width, "a part has whole rows");
            for (at, row) in part.chunks_exact(*part_width).enumerate() {
                for (column, weight) in row.iter().enumerate() {
                    let column = before + column;
                    panels[column / COLUMNS * depth + at][column % COLUMNS] = *weight;
                }
            }
            before += part_width;
        }
        Self { depth, panels }
    }

    /// Numbers of a row that it multiplies.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Multiplies `count` rows, each of `depth` numbers, and gives `each` the sums: of which row, from which column on.
    pub(crate) fn multiply<'a>(
        &self,
        count: usize,
        row: impl Fn(usize) -> &'a [f32],
        mut each: impl FnMut(usize, usize, &[f32; COLUMNS]),
    ) {
        for (panel_at, panel) in self.panels.chunks_exact(self.depth).enumerate() {
            let column = panel_at * COLUMNS;
            for at in (0..count - count % 2).step_by(2) {
                let [first, second] = sums_of_two(row(at), row(at + 1), panel);
                each(at, column, &first);
                each(at + 1, column, &second);
            }
            if count % 2 == 1 {
                each(count - 1, column, &sums_of_one(row(count - 1), panel));
            }
        }
    }
}

fn sums_of_two(first: &[f32], second: &[f32], panel: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; 2] {
    let mut sums = [[0.0; COLUMNS]; 2];
    for ((weights, first), second) in panel.iter().zip(first).zip(second) {
        for (sum, weight) in sums[0].iter_mut().zip(weights) {
            *sum += first * weight;
        }
        for (sum, weight) in sums[1].iter_mut().zip(weights) {
            *sum += second * weight;
        }
    }
    sums
}

fn sums_of_one(row: &[f32], panel: &[[f32; COLUMNS]]) -> [f32; COLUMNS] {
    let mut sums = [0.0; COLUMNS];
    for (weights, factor) in panel.iter().zip(row) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += factor * weight;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products(matrix: &Matrix, width: usize, rows: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let mut products = vec![vec![f32::NAN; width]; rows.len()];
        matrix.multiply(
            rows.len(),
            |at| &rows[at],
            |at, column, sums| {
                for (product, sum) in products[at][column..].iter_mut().zip(sums) {
                    *product = *sum;
                }
            },
        );
        products
    }

    #[test]
    fn a_product_is_the_sum_over_the_depth_for_every_column_of_every_part() {
        let (depth, left, right) = (3, 5, 6);
        let part = |width: usize, begin: u8| -> Vec<f32> {
            (0..depth * width).map(|n| f32::from(u8::try_from(n).unwrap() + begin)).collect()
        };
        let parts = [part(left, 1), part(right, 100)];
        let matrix = Matrix::beside(depth, &parts);
        let rows: Vec<Vec<f32>> = (0..7_u8).map(|n| vec![f32::from(n), 1.0, -2.0]).collect();
        let naive: Vec<Vec<f32>> = rows
            .iter()
            .map(|row| {
                let weight = |k: usize, column: usize| {
                    if column < left {
                        parts[0][k * left + column]
                    } else {
                        parts[1][k * right + column - left]
                    }
                };
                (0..left + right).map(|column| (0..depth).map(|k| row[k] * weight(k, column)).sum()).collect()
            })
            .collect();
        assert_eq!(products(&matrix, left + right, &rows), naive);
    }

    #[test]
    fn a_row_gives_the_same_bits_alone_and_among_others() {
        let depth = 37;
        let noise = |n: usize| ((n * 2_654_435_761) % 1000) as f32 / 997.0 - 0.5;
        let matrix = Matrix::beside(depth, &[(0..depth * 16).map(noise).collect()]);
        let rows: Vec<Vec<f32>> =
            (0..9).map(|row| (0..depth).map(|at| noise(row * 101 + at + 7)).collect()).collect();
        let together = products(&matrix, 16, &rows);
        let alone: Vec<Vec<f32>> =
            rows.iter().flat_map(|row| products(&matrix, 16, std::slice::from_ref(row))).collect();
        assert_eq!(together, alone);
    }
}
