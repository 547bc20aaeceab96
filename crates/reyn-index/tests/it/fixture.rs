//! Rows, vectors and questions for the tests.

use reyn_core::embedding::ModelIdentity;
use reyn_index::{Chunk, Filters, Hit, Metadata, Query, SourceName, VectorStore, WriteOptions};

pub(crate) const DIMENSIONS: usize = 32;

pub(crate) fn docs() -> SourceName {
    SourceName::new("docs").unwrap()
}

pub(crate) fn model() -> ModelIdentity {
    ModelIdentity { name: "test/model".into(), revision: Some("1".into()), dimensions: DIMENSIONS }
}

pub(crate) fn options() -> WriteOptions {
    WriteOptions { model: Some(model()), ..WriteOptions::default() }
}

/// A row of a path whose vector is that of its number.
pub(crate) fn row(path: &str, number: usize, text: &str) -> Chunk {
    let metadata = Metadata {
        source_path: path.into(),
        chunk_index: number as u64,
        size_tokens: 10,
        ..Metadata::default()
    };
    Chunk { text: text.into(), vector: vector(number as u64, DIMENSIONS), metadata }
}

/// A vector of one of a few clusters.
pub(crate) fn vector(number: u64, dimensions: usize) -> Vec<f32> {
    let cluster = mixed(number ^ 0x5eed) % 50;
    (0..dimensions as u64)
        .map(|at| unit(mixed(cluster * 1_000_003 + at)) + 0.8 * unit(mixed((number << 20) | at)))
        .collect()
}

fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// Bits that look random and are the same each time.
pub(crate) fn mixed(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

pub(crate) fn filters(pairs: &[(&str, &str)]) -> Filters {
    Filters::new(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()).unwrap()
}

/// The texts that a vector finds.
pub(crate) fn near(store: &dyn VectorStore, vector: &[f32], filters: &Filters, top: usize) -> Vec<Hit> {
    let model = model();
    let query = Query { text: "", vector: Some((&model, vector)), top, filters };
    store.find_by_vector(&docs(), &query).unwrap()
}

/// The texts that words find.
pub(crate) fn worded(store: &dyn VectorStore, text: &str) -> Vec<String> {
    let query = Query { text, vector: None, top: 10, filters: &Filters::default() };
    texts(store.find_by_words(&docs(), &query).unwrap())
}

pub(crate) fn texts(hits: Vec<Hit>) -> Vec<String> {
    hits.into_iter().map(|hit| hit.text).collect()
}
