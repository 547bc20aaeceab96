//! What writing and finding cost as a source grows, as a table.
//!
//! `REYN_BENCH_ROWS=1000000` adds a size. `REYN_BENCH_POSTGRES`, a connection string to a server of this machine, adds the
//! lines of that store. `REYN_BENCH_VECTORS` names a file of real vectors of 512 numbers, little-endian, for which it is
//! also told how many of the ten nearest are found. `REYN_BENCH_PICTURE` names a file for the table as a picture,
//! and `REYN_BENCH_KEPT` one that keeps the lines of several runs for it.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints its table")]

mod cost;
mod picture;
mod rows;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use reyn_core::embedding::ModelIdentity;
use reyn_index::scan::cosine;
use reyn_index::{
    Chunk, Filters, PostgresOptions, PostgresStore, Query, SourceName, SqliteOptions, SqliteStore,
    VectorStore, WriteOptions,
};
use serde::{Deserialize, Serialize};

use crate::cost::{Cost, median, resident_mib};
use crate::picture::{Line, Panel, svg};
use crate::rows::{DIMENSIONS, Vectors, WORDS, chunk};

/// Names what a process of its own measures.
const ONE: &str = "REYN_BENCH_ONE";
/// Rows of one write, as an indexer flushes them.
const BATCH: usize = 500;
const QUERIES: usize = 31;
/// Rows up to which the server is measured.
const SERVER_ROWS_MAX: usize = 100_000;

/// What one store with so many rows costs.
#[derive(Serialize, Deserialize)]
struct Measured {
    store: String,
    rows: usize,
    /// Writing all rows.
    plain: Cost,
    with_words: Cost,
    first: Cost,
    warm: Cost,
    tenth: Cost,
    words: Cost,
    both: Cost,
    memory_mib: f64,
    /// Of the ten nearest, the part that is found.
    recall: Option<f64>,
}

fn main() {
    if let Ok(told) = std::env::var(ONE) {
        let (store, rows) = told.split_once(' ').unwrap();
        one(store, rows.parse().unwrap());
        return;
    }
    println!(
        "{DIMENSIONS} dimensions; CPU: of this process + of the server; ms, of queries the median of {QUERIES}; rows a CPU second"
    );
    println!(
        "{:<10} {:>8} {:>21} {:>21} {:>13} {:>13} {:>13} {:>13} {:>13} {:>8} {:>8} {:>6}",
        "store",
        "rows",
        "rows/s (own, server)",
        "with words",
        "first",
        "warm",
        "1 in 10",
        "words",
        "both",
        "MiB",
        "x vector",
        "recall"
    );
    let more = std::env::var("REYN_BENCH_ROWS").ok().and_then(|rows| rows.parse().ok());
    let has_server = std::env::var_os("REYN_BENCH_POSTGRES").is_some();
    let mut measured = vec![];
    for rows in [1_000, 10_000, 100_000].into_iter().chain(more) {
        measured.push(apart("SQLite", rows));
        if has_server && rows <= SERVER_ROWS_MAX {
            measured.push(apart("PostgreSQL", rows));
        }
    }
    let measured = with_kept(measured);
    if let Some(path) = std::env::var_os("REYN_BENCH_PICTURE") {
        std::fs::write(path, drawn(&measured)).unwrap();
    }
}

/// What was measured with what was kept of other runs, by store and rows, and keeps it too.
fn with_kept(measured: Vec<Measured>) -> Vec<Measured> {
    let Some(path) = std::env::var_os("REYN_BENCH_KEPT") else { return measured };
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let kept = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let all: BTreeMap<(String, usize), Measured> =
        kept.chain(measured).map(|one: Measured| ((one.store.clone(), one.rows), one)).collect();
    let lines: Vec<String> = all.values().map(|one| serde_json::to_string(one).unwrap() + "\n").collect();
    std::fs::write(path, lines.concat()).unwrap();
    all.into_values().collect()
}

/// Measures in a process of its own, so that memory that others gave back is not taken for none.
fn apart(store: &str, rows: usize) -> Measured {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let done = command.env(ONE, format!("{store} {rows}")).stderr(Stdio::inherit()).output().unwrap();
    assert!(done.status.success(), "{store} with {rows} rows: {}", done.status);
    let measured: Measured = serde_json::from_slice(&done.stdout).unwrap();
    told(&measured);
    measured
}

/// Measures one store and prints what came of it as JSON.
fn one(store: &str, rows: usize) {
    let vectors = Vectors::of_environment();
    let folder = tempfile::tempdir().unwrap();
    let measured = if store == "SQLite" {
        measure(store, rows, &vectors, &|name| {
            Box::new(SqliteStore::new(&folder.path().join(name), SqliteOptions::default()))
        })
    } else {
        // Workers that help with one query end with it, and what they spent is known in ticks only.
        let server = std::env::var("REYN_BENCH_POSTGRES").unwrap();
        let server = format!("{server} options='-c max_parallel_workers_per_gather=0'");
        measure(store, rows, &vectors, &|name| {
            let options = PostgresOptions { schema: format!("bench_{name}"), ..PostgresOptions::default() };
            Box::new(PostgresStore::new(&server, options).unwrap())
        })
    };
    println!("{}", serde_json::to_string(&measured).unwrap());
}

/// Opens the store of this name.
type Open<'a> = &'a dyn Fn(&str) -> Box<dyn VectorStore>;

fn measure(store: &str, rows: usize, vectors: &Vectors, open: Open<'_>) -> Measured {
    let is_server = store == "PostgreSQL";
    let name = SourceName::new("docs").unwrap();
    let plain = written(&*open("plain"), is_server, rows, true, vectors);
    open("plain").drop_source(&name).unwrap();
    let with_words = written(&*open("words"), is_server, rows, false, vectors);
    let opened = open("words");
    let every = Filters::default();
    let tenth = Filters::new(BTreeMap::from([("part".to_owned(), "3".to_owned())])).unwrap();
    let before = resident_mib();
    let asked = |seed: usize, filters: &Filters, half: Half| {
        let vector = vectors.of_query(seed);
        cost::of(is_server, || find(&*opened, &vector, seed, filters, half)).1
    };
    let many = |filters: &Filters, half: Half| {
        median((1..=QUERIES).map(|seed| asked(seed, filters, half)).collect())
    };
    let first = asked(0, &every, Half::Vectors);
    let warm = many(&every, Half::Vectors);
    let memory_mib = resident_mib() - before;
    asked(0, &tenth, Half::Vectors);
    let measured = Measured {
        store: store.to_owned(),
        rows,
        plain,
        with_words,
        first,
        warm,
        tenth: many(&tenth, Half::Vectors),
        words: many(&every, Half::Words),
        both: many(&every, Half::Both),
        memory_mib,
        recall: recall(&*opened, rows, vectors),
    };
    opened.drop_source(&name).unwrap();
    measured
}

#[derive(Clone, Copy)]
enum Half {
    Vectors,
    Words,
    Both,
}

/// The rows that one query finds.
fn find(store: &dyn VectorStore, vector: &[f32], seed: usize, filters: &Filters, half: Half) -> Vec<u64> {
    let (name, model) = (SourceName::new("docs").unwrap(), model());
    let text =
        format!("{} {} of the ERR-{}", WORDS[seed % WORDS.len()], WORDS[seed * 3 % WORDS.len()], seed * 11);
    let query = Query { text: &text, vector: Some((&model, vector)), top: 10, filters };
    let hits = match half {
        Half::Vectors => store.find_by_vector(&name, &query).unwrap(),
        Half::Words => store.find_by_words(&name, &query).unwrap(),
        Half::Both => store.find(&name, &query).unwrap().hits,
    };
    assert!(!hits.is_empty());
    let number = |text: &str| text.rsplit_once("ERR-").and_then(|(_, number)| number.parse().ok());
    hits.iter().filter_map(|hit| number(&hit.text)).collect()
}

/// The part of the ten nearest rows that queries find, where vectors are real and rows not too many to compare here.
fn recall(store: &dyn VectorStore, rows: usize, vectors: &Vectors) -> Option<f64> {
    const ASKED: usize = 200;
    if matches!(vectors, Vectors::MadeUp) || rows > SERVER_ROWS_MAX {
        return None;
    }
    let of_rows: Vec<Vec<f32>> = (0..rows).map(|row| normal(vectors.of_row(row))).collect();
    let mut found = 0;
    for seed in 0..ASKED {
        let asked = normal(vectors.of_query(seed));
        let mut exact: Vec<(f32, u64)> =
            of_rows.iter().zip(0..).map(|(row, at)| (cosine(row, &asked), at)).collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let got = find(store, &asked, seed, &Filters::default(), Half::Vectors);
        // Rows that are as near as the tenth are as good.
        let least = exact[9].0 - 1e-6;
        let near: Vec<u64> = exact.iter().take_while(|(near, _)| *near >= least).map(|(_, at)| *at).collect();
        found += got.iter().filter(|row| near.contains(row)).count();
    }
    Some(found as f64 / (ASKED * 10) as f64)
}

fn normal(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= length);
    vector
}

/// What writing the rows costs.
fn written(
    store: &dyn VectorStore,
    is_server: bool,
    rows: usize,
    is_without_words: bool,
    vectors: &Vectors,
) -> Cost {
    let name = SourceName::new("docs").unwrap();
    let options = WriteOptions { model: Some(model()), is_without_words, ..WriteOptions::default() };
    let mut spent = Cost::default();
    for from in (0..rows).step_by(BATCH) {
        let batch: Vec<Chunk> = (from..rows.min(from + BATCH)).map(|row| chunk(row, vectors)).collect();
        let (_, cost) = cost::of(is_server, || store.write(&name, &batch, &options).unwrap());
        spent.own += cost.own;
        spent.server += cost.server;
        spent.wall += cost.wall;
    }
    spent
}

fn model() -> ModelIdentity {
    ModelIdentity { name: "bench".into(), revision: Some("1".into()), dimensions: DIMENSIONS }
}

fn rate(rows: usize, ms: f64) -> f64 {
    rows as f64 / ms * 1e3
}

fn told(measured: &Measured) {
    let Measured { store, rows, plain, with_words, first, warm, tenth, words, both, memory_mib, recall } =
        measured;
    let shown = |cost: &Cost| format!("{:.2}+{:.2}", cost.own, cost.server);
    let rates = |cost: &Cost| {
        let of = |ms: f64| if ms > 0.0 { format!("{:.1}", rate(*rows, ms) / 1e3) } else { "-".to_owned() };
        format!("{:.0} ({}k,{}k)", rate(*rows, cost.cpu()), of(cost.own), of(cost.server))
    };
    let vectors_mib = (rows * DIMENSIONS * 4) as f64 / f64::from(1 << 20);
    println!(
        "{store:<10} {rows:>8} {:>21} {:>21} {:>13} {:>13} {:>13} {:>13} {:>13} {memory_mib:>8.1} {:>8.2} {:>6}",
        rates(plain),
        rates(with_words),
        shown(first),
        shown(warm),
        shown(tenth),
        shown(words),
        shown(both),
        memory_mib / vectors_mib,
        recall.map_or_else(String::new, |recall| format!("{recall:.4}")),
    );
}

/// The table as a picture.
fn drawn(measured: &[Measured]) -> String {
    let line = |name, colour, store: &str, of: &dyn Fn(&Measured) -> f64| {
        let points = measured.iter().filter(|one| one.store == store && of(one) > 0.0);
        Line { name, colour, points: points.map(|one| (one.rows as f64, of(one))).collect() }
    };
    let with_lines = |title, mut lines: Vec<Line<'static>>| {
        lines.retain(|line| !line.points.is_empty());
        Panel { title, lines }
    };
    svg(&[
        with_lines(
            "a query by vector, ms of CPU",
            vec![
                line("SQLite, first", "#9cc3e6", "SQLite", &|one| one.first.cpu()),
                line("SQLite, warm", "#1f6fb4", "SQLite", &|one| one.warm.cpu()),
                line("PostgreSQL, first", "#f2b78b", "PostgreSQL", &|one| one.first.cpu()),
                line("PostgreSQL, warm", "#c8591a", "PostgreSQL", &|one| one.warm.cpu()),
            ],
        ),
        with_lines(
            "rows written in a second of CPU",
            vec![
                line("SQLite", "#1f6fb4", "SQLite", &|one| rate(one.rows, one.plain.cpu())),
                line("with words", "#9cc3e6", "SQLite", &|one| rate(one.rows, one.with_words.cpu())),
                line("PostgreSQL", "#c8591a", "PostgreSQL", &|one| rate(one.rows, one.plain.cpu())),
                line("with words", "#f2b78b", "PostgreSQL", &|one| rate(one.rows, one.with_words.cpu())),
            ],
        ),
        with_lines(
            "memory of the program, MiB",
            vec![
                line("SQLite", "#1f6fb4", "SQLite", &|one| one.memory_mib),
                line("the vectors", "#999", "SQLite", &|one| {
                    (one.rows * DIMENSIONS * 4) as f64 / f64::from(1 << 20)
                }),
            ],
        ),
    ])
}
