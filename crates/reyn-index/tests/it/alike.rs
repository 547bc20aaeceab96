//! Both stores give the same rows in the same order with the same scores, after the same history.

use reyn_core::embedding::ModelIdentity;
use reyn_index::{Chunk, Hit, Metadata, Query, Removal, VectorStore, WriteOptions};

use crate::fixture::{DIMENSIONS, docs, filters, mixed, model, row, vector};
use crate::place::Place;

const WORDS: [&str; 24] = [
    "refund",
    "invoices",
    "the",
    "of",
    "timeout",
    "server",
    "ERR-4021",
    "max_retries",
    "--dry-run",
    "config.yaml",
    "HTTPClient",
    "接続エラー",
    "返金の方法",
    "タイムアウト",
    "password",
    "passwords",
    "index",
    "vector",
    "kernel",
    "garden",
    "résumé",
    "naïve",
    "1.2.3",
    "a",
];

fn text(seed: u64) -> String {
    let words = 3 + mixed(seed) % 40;
    // Few words often, the others seldom.
    let word = |at: u64| {
        let random = mixed(seed * 1_000 + at);
        WORDS[((random % 24) * ((random >> 20) % 24) / 24) as usize]
    };
    format!("{} number{seed}", (0..words).map(word).collect::<Vec<_>>().join(" "))
}

fn rows(from: u64, to: u64) -> Vec<Chunk> {
    (from..to)
        .map(|at| {
            let mut row = row(&format!("docs/{}/{}.md", at % 7, at % 50), at as usize, &text(at));
            row.metadata.extra.insert("part".into(), (at % 5).into());
            row.metadata.external = at % 11 == 0;
            row
        })
        .collect()
}

/// Writes, some without words and some without vectors, removes, and writes again.
fn fill(store: &dyn VectorStore) {
    let with = |model: Option<ModelIdentity>, is_without_words: bool| WriteOptions {
        model,
        is_without_words,
        ..WriteOptions::default()
    };
    store.write(&docs(), &rows(0, 500), &with(Some(model()), false)).unwrap();
    store.write(&docs(), &rows(500, 600), &with(Some(model()), true)).unwrap();
    let without: Vec<Chunk> = rows(600, 700).into_iter().map(|row| Chunk { vector: vec![], ..row }).collect();
    store.write(&docs(), &without, &with(None, false)).unwrap();
    store.remove(&docs(), Removal::Path("docs/3")).unwrap();
    store.write(&docs(), &rows(650, 800), &with(Some(model()), false)).unwrap();
}

/// Everything but the rows' numbers, of which stores leave out different ones.
fn shown(hits: &[Hit]) -> Vec<(&str, &Metadata, i64)> {
    let score = |hit: &Hit| (f64::from(hit.score) * 1e5).round() as i64;
    hits.iter().map(|hit| (hit.text.as_str(), &hit.metadata, score(hit))).collect()
}

#[test]
fn both_stores_answer_a_hundred_queries_alike() {
    let (folder, Some(schema)) = (Place::folder(), Place::schema()) else { return };
    let (files, server) = (folder.open(), schema.open());
    fill(&*files);
    fill(&*server);
    let model = model();
    let mut found = 0;
    for seed in 0..100_u64 {
        let asked = vector(mixed(seed), DIMENSIONS);
        let words = match seed % 4 {
            0 => text(seed * 13),
            1 => "refnud of teh passwrod".to_owned(),
            2 => format!("number{} 接続エラー", seed * 7),
            _ => format!("{} {}", WORDS[seed as usize % 24], WORDS[seed as usize * 5 % 24]),
        };
        let filters = match seed % 5 {
            0 => filters(&[("part", "3")]),
            1 => filters(&[("path", "docs/2"), ("external", "false")]),
            2 => filters(&[("path", "docs/5/12.md"), ("chunk_index", "12")]),
            _ => filters(&[]),
        };
        let vector = (seed % 7 != 0).then_some((&model, asked.as_slice()));
        let query = Query { text: &words, vector, top: 1 + seed as usize % 20, filters: &filters };
        let (one, other) = (files.find(&docs(), &query).unwrap(), server.find(&docs(), &query).unwrap());
        assert_eq!(one.mode, other.mode, "{words}");
        assert_eq!(shown(&one.hits), shown(&other.hits), "{words}");
        let pairs = [
            (files.find_by_words(&docs(), &query), server.find_by_words(&docs(), &query)),
            (files.find_by_vector(&docs(), &query), server.find_by_vector(&docs(), &query)),
            (files.enumerate(&docs(), &filters, 300), server.enumerate(&docs(), &filters, 300)),
        ];
        for (one, other) in pairs {
            assert_eq!(shown(&one.unwrap()), shown(&other.unwrap()), "{words}");
        }
        found += one.hits.len();
    }
    assert!(found > 500, "{found}");
    assert_eq!(files.content_hashes(&docs()).unwrap(), server.content_hashes(&docs()).unwrap());
    let counted = |store: &dyn VectorStore| {
        let stats = store.stats(&docs()).unwrap();
        (stats.rows, stats.vectors, stats.paths, stats.tokens, stats.model)
    };
    assert_eq!(counted(&*files), counted(&*server));
}
