//! Which model made the vectors of an index. Vectors of two models are never compared.

use std::fmt;

use crate::bounds::DIMENSIONS_MAX;
use crate::error::{IndexError, VectorFault};

/// What makes two vectors comparable: all three are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelIdentity {
    /// The model's name, like `openai/text-embedding-3-small`.
    pub name: String,
    /// Which weights: a version or the hash of its file; empty when the provider names none.
    pub revision: String,
    /// Numbers of its vectors.
    pub dimensions: usize,
}

impl fmt::Display for ModelIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)?;
        if !self.revision.is_empty() {
            write!(f, " revision `{}`", self.revision)?;
        }
        write!(f, " with {} dimensions", self.dimensions)
    }
}

impl ModelIdentity {
    /// Checks that a vector can be this model's and gives it length one; a vector of zeros stays one.
    ///
    /// # Errors
    /// [`IndexError::Vector`] for another length, a number that is none, or a model of unusual dimensions.
    pub fn unit(&self, vector: &[f32], place: impl FnOnce() -> String) -> Result<Vec<f32>, IndexError> {
        if self.dimensions == 0 || self.dimensions > DIMENSIONS_MAX {
            return Err(IndexError::TooMuch {
                what: "dimensions of a model (at least 1)",
                is: self.dimensions,
                max: DIMENSIONS_MAX,
            });
        }
        let fault = if vector.len() == self.dimensions {
            vector.iter().position(|number| !number.is_finite()).map(|at| VectorFault::NotFinite { at })
        } else {
            Some(VectorFault::Length { is: vector.len(), wanted: self.dimensions })
        };
        if let Some(fault) = fault {
            return Err(IndexError::Vector { place: place(), fault });
        }
        let mut unit = vector.to_vec();
        normalise(&mut unit);
        Ok(unit)
    }
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
        let model = ModelIdentity { name: "m".into(), revision: String::new(), dimensions: 2 };
        for bad in [vec![], vec![1.0], vec![1.0, 2.0, 3.0], vec![f32::NAN, 0.0], vec![0.0, f32::INFINITY]] {
            assert!(model.unit(&bad, || "the query".into()).is_err(), "{bad:?}");
        }
        assert_eq!(model.unit(&[0.0, 0.0], String::new).unwrap(), [0.0, 0.0]);
        assert_eq!(model.unit(&[f32::MAX, 0.0], String::new).unwrap(), [1.0, 0.0]);
        assert_eq!(model.unit(&[3e-30, 4e-30], String::new).unwrap(), [0.6, 0.8]);
    }
}
