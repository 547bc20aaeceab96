//! How well queries find their passages. A small set in English and Japanese is in `tests/data` with its vectors.
//! A larger one is measured when it is there: `REYN_RETRIEVAL_CASES` names its folder and `REYN_RETRIEVAL_VECTORS` one
//! with `passages.f32` and `queries.f32`, the vectors in its order.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use reyn_core::embedding::ModelIdentity;
use reyn_index::{Chunk, Filters, Metadata, Query, SearchMode, WriteOptions};
use serde_json::Value;

use crate::fixture::docs;
use crate::place::{Place, on_both_stores};

on_both_stores!(both_halves_together_find_more_than_either, the_small_set_is_found,);

const TOP: usize = 5;
/// Queries from which on a kind is held to the better of its halves.
const KIND_QUERIES: usize = 13;

struct Asked {
    kind: String,
    relevant: BTreeMap<String, u64>,
    /// The passages that vectors, words and both find.
    found: [Vec<String>; 3],
}

/// Mean nDCG@5 of the queries of a kind.
#[derive(Clone, Copy)]
struct Scores {
    queries: usize,
    vectors: f64,
    words: f64,
    both: f64,
}

fn both_halves_together_find_more_than_either(place: &Place) {
    let (Ok(cases), Ok(vectors)) =
        (std::env::var("REYN_RETRIEVAL_CASES"), std::env::var("REYN_RETRIEVAL_VECTORS"))
    else {
        return;
    };
    let kinds = scores(&ask(place, cases.as_ref(), vectors.as_ref()));
    let problems: Vec<String> = kinds
        .iter()
        .filter(|(_, of)| of.queries >= KIND_QUERIES && of.both < of.vectors.max(of.words) - 0.03)
        .map(|(kind, of)| format!("{kind}: {:.3} is below the better half", of.both))
        .collect();
    assert_eq!(problems, Vec::<String>::new());
    assert!(kinds["all"].both >= 0.82, "{:.4}", kinds["all"].both);
}

/// Neither half reaches the floor, so an order that leaves out one of them, or gives both the same say on every
/// query, is below it.
fn the_small_set_is_found(place: &Place) {
    const FLOOR: f64 = 0.92;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let kinds = scores(&ask(place, &data, &data));
    let problems: Vec<String> = kinds
        .iter()
        .filter(|(_, of)| of.both < of.vectors.max(of.words) - 0.01)
        .map(|(kind, of)| format!("{kind}: {:.3} is below the better half", of.both))
        .collect();
    assert_eq!(problems, Vec::<String>::new());
    let all = kinds["all"];
    assert!(all.vectors < FLOOR && all.words < FLOOR, "{:.3} {:.3}", all.vectors, all.words);
    assert!(all.both >= FLOOR, "{:.3}", all.both);
}

/// The mean of each kind and of all, told as a table.
fn scores(asked: &[Asked]) -> BTreeMap<String, Scores> {
    let mut kinds: BTreeMap<String, Vec<[f64; 3]>> = BTreeMap::new();
    for query in asked {
        let scores = [0, 1, 2].map(|half| ndcg(&query.found[half], &query.relevant));
        kinds.entry(query.kind.clone()).or_default().push(scores);
        kinds.entry("all".to_owned()).or_default().push(scores);
    }
    let mut table =
        format!("{:<14} {:>7} {:>8} {:>8} {:>8}\n", "kind", "queries", "vectors", "words", "both");
    let mut means = BTreeMap::new();
    for (kind, scores) in kinds {
        let [vectors, words, both] = [0, 1, 2].map(|half| mean(scores.iter().map(|score| score[half])));
        writeln!(table, "{kind:<14} {:>7} {vectors:>8.3} {words:>8.3} {both:>8.3}", scores.len()).unwrap();
        means.insert(kind, Scores { queries: scores.len(), vectors, words, both });
    }
    std::io::stdout().write_all(table.as_bytes()).unwrap();
    means
}

fn ask(place: &Place, cases: &Path, vectors: &Path) -> Vec<Asked> {
    let passages = lines(&cases.join("passages.jsonl"));
    let queries = lines(&cases.join("queries.jsonl"));
    let passage_vectors = numbers(&vectors.join("passages.f32"), passages.len());
    let query_vectors = numbers(&vectors.join("queries.f32"), queries.len());
    let model = ModelIdentity { name: "m".into(), revision: None, dimensions: passage_vectors[0].len() };
    let store = place.open();
    let rows: Vec<Chunk> = passages
        .iter()
        .zip(passage_vectors)
        .map(|(passage, vector)| Chunk {
            text: format!("{}\n{}", text(&passage["title"]), text(&passage["text"])),
            vector,
            metadata: Metadata { source_path: text(&passage["id"]), ..Metadata::default() },
        })
        .collect();
    let options = WriteOptions { model: Some(model.clone()), ..WriteOptions::default() };
    store.write(&docs(), &rows, &options).unwrap();
    let ids = |hits: Vec<reyn_index::Hit>| hits.into_iter().map(|hit| hit.metadata.source_path).collect();
    queries
        .iter()
        .zip(query_vectors)
        .map(|(asked, vector)| {
            let words = text(&asked["text"]);
            let query = Query {
                text: &words,
                vector: Some((&model, &vector)),
                top: TOP,
                filters: &Filters::default(),
            };
            let both = store.find(&docs(), &query).unwrap();
            assert!(matches!(both.mode, SearchMode::Hybrid | SearchMode::Vector));
            Asked {
                kind: text(&asked["kind"]),
                relevant: serde_json::from_value(asked["relevant"].clone()).unwrap(),
                found: [
                    ids(store.find_by_vector(&docs(), &query).unwrap()),
                    ids(store.find_by_words(&docs(), &query).unwrap()),
                    ids(both.hits),
                ],
            }
        })
        .collect()
}

fn ndcg(found: &[String], relevant: &BTreeMap<String, u64>) -> f64 {
    let gain = |grade: u64, rank: usize| ((1_u64 << grade) - 1) as f64 / ((rank + 2) as f64).log2();
    let is: f64 = found
        .iter()
        .enumerate()
        .filter_map(|(rank, id)| Some(gain(*relevant.get(id)?, rank)))
        .fold(0.0, |sum, gain| sum + gain);
    let mut grades: Vec<u64> = relevant.values().copied().collect();
    grades.sort_unstable_by(|a, b| b.cmp(a));
    let best: f64 = grades.iter().take(TOP).enumerate().map(|(rank, grade)| gain(*grade, rank)).sum();
    is / best
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let numbers: Vec<f64> = numbers.collect();
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(path: &Path, rows: usize) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(path).unwrap();
    let all: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
    all.chunks(all.len() / rows).map(<[f32]>::to_vec).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
