//! Rows brought to mean 0 and variance 1, then scaled and shifted by what was learnt.

const LANES: usize = 16;

/// The learnt scale and shift of each number of a row.
#[derive(Debug)]
pub(crate) struct LayerNorm {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    /// Added to the variance, so that a row of equal numbers divides by no zero.
    pub(crate) epsilon: f32,
}

impl LayerNorm {
    /// Normalises a row as long as the scale, in place.
    pub(crate) fn apply(&self, row: &mut [f32]) {
        let count = self.scale.len() as f32;
        let mean = sum(row, |number| number) / count;
        for number in row.iter_mut() {
            *number -= mean;
        }
        let variance = sum(row, |number| number * number) / count;
        let factor = 1.0 / (variance + self.epsilon).sqrt();
        for ((number, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
            *number = *number * factor * scale + shift;
        }
    }
}

/// A sum in lanes: quicker than one after the other, and always in the same order.
pub(crate) fn sum(numbers: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane += of(*number);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|number| of(*number)).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_mean_0_and_variance_1_before_scale_and_shift() {
        let norm = LayerNorm { scale: vec![2.0; 20], shift: vec![1.0; 20], epsilon: 0.0 };
        let mut row: Vec<f32> = (0..20_u8).map(f32::from).collect();
        norm.apply(&mut row);
        let mean = sum(&row, |number| number) / 20.0;
        let variance = sum(&row, |number| (number - mean) * (number - mean)) / 20.0;
        assert!((mean - 1.0).abs() < 1e-5 && (variance - 4.0).abs() < 1e-4, "{mean} {variance}");
    }

    #[test]
    fn a_row_of_equal_numbers_becomes_the_shift() {
        let norm = LayerNorm { scale: vec![2.0; 3], shift: vec![1.0, 2.0, 3.0], epsilon: 1e-12 };
        let mut row = [5.0; 3];
        norm.apply(&mut row);
        assert_eq!(row, [1.0, 2.0, 3.0]);
    }
}
