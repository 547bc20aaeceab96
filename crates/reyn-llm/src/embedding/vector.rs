//! Vectors as they come from a server: read, checked, made of length 1.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reyn_core::limits::EMBEDDING_DIMENSIONS_MAX;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A list of numbers, or base64 of their bytes as 32-bit floats, the lowest byte first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WireVector(pub(super) Vec<f32>);

impl<'de> Deserialize<'de> for WireVector {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct VectorVisitor;
        impl<'de> Visitor<'de> for VectorVisitor {
            type Value = WireVector;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of numbers, or base64 of their bytes")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<WireVector, E> {
                from_base64(text).map(WireVector).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<WireVector, A::Error> {
                let mut numbers =
                    Vec::with_capacity(items.size_hint().unwrap_or(0).min(EMBEDDING_DIMENSIONS_MAX));
                while let Some(number) = items.next_element::<f32>()? {
                    if numbers.len() == EMBEDDING_DIMENSIONS_MAX {
                        return Err(A::Error::custom(TOO_LONG));
                    }
                    numbers.push(number);
                }
                Ok(WireVector(numbers))
            }
        }
        from.deserialize_any(VectorVisitor)
    }
}

const TOO_LONG: &str = "a vector is longer than any that is known";

fn from_base64(text: &str) -> Result<Vec<f32>, &'static str> {
    let bytes = STANDARD.decode(text).map_err(|_| "a vector is no base64")?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("a vector in base64 does not end with a number");
    }
    if numbers.len() > EMBEDDING_DIMENSIONS_MAX {
        return Err(TOO_LONG);
    }
    Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// The vector of length 1 in the same direction. The error says what is wrong with it.
pub(super) fn normalised(mut vector: Vec<f32>) -> Result<Vec<f32>, &'static str> {
    if vector.is_empty() {
        return Err("a vector is empty");
    }
    if vector.iter().any(|number| !number.is_finite()) {
        return Err("a vector holds what is no finite number");
    }
    let square: f64 = vector.iter().map(|number| f64::from(*number) * f64::from(*number)).sum();
    let length = square.sqrt();
    // A vector of zeros has no direction, and one of the smallest numbers none that can be told.
    if length < f64::from(f32::MIN_POSITIVE) {
        return Err("a vector is zero");
    }
    for number in &mut vector {
        #[expect(clippy::cast_possible_truncation, reason = "a part of a vector of length 1 is at most 1")]
        let part = (f64::from(*number) / length) as f32;
        *number = part;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_and_base64_of_them_are_the_same_vector() {
        let bytes: Vec<u8> = [1.0_f32, -2.5].iter().flat_map(|number| number.to_le_bytes()).collect();
        let read = |value| serde_json::from_value::<WireVector>(value).map_err(|error| error.to_string());
        for (value, expected) in [
            (json!([1, -2.5]), Ok(vec![1.0, -2.5])),
            (json!(STANDARD.encode(&bytes)), Ok(vec![1.0, -2.5])),
            (json!([]), Ok(vec![])),
            (json!(STANDARD.encode(&bytes[..7])), Err("a vector in base64 does not end with a number")),
            (json!("***"), Err("a vector is no base64")),
        ] {
            assert_eq!(read(value), expected.map(WireVector).map_err(str::to_owned));
        }
        for value in [json!([1, null]), json!([[1]]), json!({"a": 1}), json!(null), json!(vec![0; 65_537])] {
            assert!(read(value).is_err());
        }
    }

    #[test]
    fn a_vector_is_made_of_length_1_or_refused() {
        for (vector, expected) in [
            (vec![3.0, -4.0], Ok(vec![0.6, -0.8])),
            (vec![1.0], Ok(vec![1.0])),
            (vec![f32::MAX, 0.0], Ok(vec![1.0, 0.0])),
            (vec![0.0, 0.0], Err("a vector is zero")),
            (vec![1.0, f32::NAN], Err("a vector holds what is no finite number")),
            (vec![f32::INFINITY], Err("a vector holds what is no finite number")),
            (vec![], Err("a vector is empty")),
        ] {
            assert_eq!(normalised(vector), expected);
        }
    }
}
