//! Vectors of length one, which a product of two makes a cosine of.

use reyn_core::embedding::ModelIdentity;

use crate::bounds::DIMENSIONS_MAX;
use crate::error::{IndexError, VectorFault};

/// Checks that a vector can be a model's and gives it length one; a vector of zeros stays one.
///
/// # Errors
/// [`IndexError::Vector`] for another length, a number that is none, or a model of unusual dimensions.
pub(crate) fn unit(
    model: &ModelIdentity,
    vector: &[f32],
    place: impl FnOnce() -> String,
) -> Result<Vec<f32>, IndexError> {
    if model.dimensions == 0 || model.dimensions > DIMENSIONS_MAX {
        return Err(IndexError::TooMuch {
            what: "dimensions of a model (at least 1)",
            is: model.dimensions,
            max: DIMENSIONS_MAX,
        });
    }
    let fault = if vector.len() == model.dimensions {
        vector.iter().position(|number| !number.is_finite()).map(|at| VectorFault::NotFinite { at })
    } else {
        Some(VectorFault::Length { is: vector.len(), wanted: model.dimensions })
    };
    if let Some(fault) = fault {
        return Err(IndexError::Vector { place: place(), fault });
    }
    let mut unit = vector.to_vec();
    normalise(&mut unit);
    Ok(unit)
}

/// The bytes of numbers, each with the first byte last.
pub(crate) fn little_endian(numbers: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; numbers.len() * 4];
    for (bytes, number) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
        *bytes = number.to_le_bytes();
    }
    bytes
}

/// Gives a vector length one. What is one already stays as it is to the last bit.
#[expect(clippy::cast_possible_truncation, reason = "a factor of f32 numbers")]
pub(crate) fn normalise(vector: &mut [f32]) {
    let squares: f64 = vector
        .chunks(16)
        .map(|part| part.iter().map(|number| f64::from(*number) * f64::from(*number)).sum::<f64>())
        .sum();
    if squares == 0.0 || (squares - 1.0).abs() < 1e-6 {
        return;
    }
    let factor = 1.0 / squares.sqrt();
    for number in vector {
        *number = (f64::from(*number) * factor) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_no_model_gives_are_refused() {
        let model = ModelIdentity { name: "m".into(), revision: None, dimensions: 2 };
        for bad in [vec![], vec![1.0], vec![1.0, 2.0, 3.0], vec![f32::NAN, 0.0], vec![0.0, f32::INFINITY]] {
            assert!(unit(&model, &bad, || "the query".into()).is_err(), "{bad:?}");
        }
        assert_eq!(unit(&model, &[0.0, 0.0], String::new).unwrap(), [0.0, 0.0]);
        assert_eq!(unit(&model, &[f32::MAX, 0.0], String::new).unwrap(), [1.0, 0.0]);
        assert_eq!(unit(&model, &[3e-30, 4e-30], String::new).unwrap(), [0.6, 0.8]);
    }
}
