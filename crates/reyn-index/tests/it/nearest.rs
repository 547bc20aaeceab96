//! The first pass over codes loses next to none of the rows that an exact comparison finds.

use proptest::prelude::*;
use reyn_core::embedding::ModelIdentity;
use reyn_index::scan::{Codes, cosine, encode};
use reyn_index::{Chunk, Filters, Query, WriteOptions};

use crate::fixture::{docs, mixed, row, vector};
use crate::place::{Place, on_both_stores};

on_both_stores!(
    of_the_ten_nearest_99_in_100_are_found_among_clustered_vectors,
    of_the_ten_nearest_99_in_100_are_found_among_vectors_of_much_the_same_direction,
);

const DIMENSIONS: usize = 256;
const ROWS: u64 = 20_000;
const QUERIES: u64 = 40;

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= norm);
    vector
}

fn of_the_ten_nearest_99_in_100_are_found_among_clustered_vectors(place: &Place) {
    nearest_are_found(place, 0.0);
}

/// Some models give any two texts a cosine of 0.8.
fn of_the_ten_nearest_99_in_100_are_found_among_vectors_of_much_the_same_direction(place: &Place) {
    nearest_are_found(place, 1.2);
}

/// Each number of each vector is `shift` more than it would be around nothing.
fn nearest_are_found(place: &Place, shift: f32) {
    let vector = |seed: u64| -> Vec<f32> {
        vector(seed, DIMENSIONS).into_iter().map(|number| number + shift).collect()
    };
    let store = place.open();
    let model = ModelIdentity { name: "m".into(), revision: None, dimensions: DIMENSIONS };
    let options =
        WriteOptions { model: Some(model.clone()), is_without_words: true, ..WriteOptions::default() };
    let rows: Vec<Chunk> = (0..ROWS)
        .map(|at| Chunk { vector: vector(at), ..row("a", at as usize, &format!("number{at}")) })
        .collect();
    store.write(&docs(), &rows, &options).unwrap();
    let units: Vec<Vec<f32>> = rows.into_iter().map(|row| unit(row.vector)).collect();
    let mut found = 0;
    for seed in 0..QUERIES {
        let asked = unit(vector(mixed(seed)));
        let mut exact: Vec<(f32, u64)> =
            units.iter().zip(0..).map(|(unit, at)| (cosine(unit, &asked), at)).collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let query = Query { text: "", vector: Some((&model, &asked)), top: 10, filters: &Filters::default() };
        let hits = store.find_by_vector(&docs(), &query).unwrap();
        found += hits
            .iter()
            .filter(|hit| exact[..10].iter().any(|(_, at)| *at == hit.metadata.chunk_index))
            .count();
    }
    assert!(found as f64 >= 0.99 * 10.0 * QUERIES as f64, "{found} of {}", 10 * QUERIES);
}

proptest! {
    #[test]
    fn the_first_pass_is_right_to_one_in_fifty_and_keeps_to_the_rows_given(
        seeds in proptest::collection::vec(0_u64..1_000_000, 1..60),
        dimensions in 1_usize..70,
        count in 0_usize..20,
    ) {
        let units: Vec<Vec<f32>> = seeds.iter().map(|seed| unit(vector(*seed, dimensions))).collect();
        let mut codes = Codes::new(dimensions);
        for unit in &units {
            prop_assert!(codes.push(&encode(unit)));
        }
        prop_assert!(!codes.push(&[0; 3]));
        let query = unit(vector(77, dimensions));
        let all = codes.nearest(&query, units.len(), None);
        prop_assert_eq!(all.len(), units.len());
        for near in &all {
            prop_assert!((near.score - cosine(&units[near.row as usize], &query)).abs() < 0.02);
        }
        prop_assert_eq!(&codes.nearest(&query, count, None), &all[..count.min(all.len())]);
        let some: Vec<u32> = (0..units.len() as u32).filter(|row| row % 3 == 1).collect();
        let expected: Vec<_> = all.iter().copied().filter(|near| near.row % 3 == 1).collect();
        prop_assert_eq!(codes.nearest(&query, units.len(), Some(&some)), expected);
        prop_assert_eq!(codes.nearest(&query[1..], 5, None), vec![]);
    }
}
