//! Products of rows with a matrix of weights that is kept in panels of columns.
//!
//! Every sum runs over the row from its first number to its last, whichever rows are multiplied beside it: a row gives the
//! same bits alone and among others.

/// Columns of a panel: what the sums of a few rows fill the registers with.
pub(crate) const COLUMNS: usize = 8;

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
        const ROWS: usize = 4;
        for (panel_at, panel) in self.panels.chunks_exact(self.depth).enumerate() {
            let column = panel_at * COLUMNS;
            let mut at = 0;
            while at + ROWS <= count {
                let sums = sums::<ROWS>(std::array::from_fn(|r| row(at + r)), panel);
                for (r, sums) in sums.iter().enumerate() {
                    each(at + r, column, sums);
                }
                at += ROWS;
            }
            for at in at..count {
                let [sums] = sums([row(at)], panel);
                each(at, column, &sums);
            }
        }
    }
}

fn sums<const ROWS: usize>(rows: [&[f32]; ROWS], panel: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; ROWS] {
    let rows = rows.map(|row| &row[..panel.len()]);
    let mut sums = [[0.0; COLUMNS]; ROWS];
    for (at, weights) in panel.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let factor = row[at];
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += factor * weight;
            }
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
                    if column < left { parts[0][k * left + column] } else { parts[1][k * right + column - left] }
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
