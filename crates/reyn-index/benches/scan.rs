//! What writing and finding cost as a source grows, as a table. `REYN_BENCH_ROWS=1000000` adds a size, and
//! `REYN_BENCH_POSTGRES` with a connection string to a server of this machine adds the lines of that store.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints its table")]

use std::collections::BTreeMap;
use std::time::Instant;

use reyn_core::embedding::ModelIdentity;
use reyn_index::{
    Chunk, Filters, Metadata, PostgresOptions, PostgresStore, Query, SourceName, SqliteOptions, SqliteStore,
    VectorStore, WriteOptions,
};
use rustix::time::{ClockId, clock_gettime};

const DIMENSIONS: usize = 512;
/// Rows of one write, as an indexer flushes them.
const BATCH: usize = 500;
const QUERIES: usize = 15;

fn main() {
    println!(
        "{DIMENSIONS} dimensions; ms are wall / CPU, of queries the median of {QUERIES}; rows/s are per CPU second"
    );
    println!(
        "{:<10} {:>9} {:>11} {:>11} {:>13} {:>15} {:>15} {:>15} {:>15} {:>9} {:>9}",
        "store",
        "rows",
        "write",
        "with words",
        "first",
        "warm",
        "1 in 10",
        "words",
        "hybrid",
        "MiB",
        "x vectors"
    );
    let more = std::env::var("REYN_BENCH_ROWS").ok().and_then(|rows| rows.parse().ok());
    let server = std::env::var("REYN_BENCH_POSTGRES").ok();
    for rows in [1_000, 10_000, 100_000].into_iter().chain(more) {
        let folder = tempfile::tempdir().unwrap();
        line("SQLite", rows, &|name| {
            Box::new(SqliteStore::new(&folder.path().join(name), SqliteOptions::default()))
        });
        if let Some(server) = &server {
            line("PostgreSQL", rows, &|name| {
                let options =
                    PostgresOptions { schema: format!("bench_{name}"), ..PostgresOptions::default() };
                Box::new(PostgresStore::new(server, options).unwrap())
            });
        }
    }
}

/// Opens the store of this name.
type Open<'a> = &'a dyn Fn(&str) -> Box<dyn VectorStore>;

fn line(kind: &str, rows: usize, open: Open<'_>) {
    let with_words = rate(&*open("words"), rows, false);
    let write = rate(&*open("plain"), rows, true);
    drop(open("plain").drop_source(&SourceName::new("docs").unwrap()));
    let model = model();
    let name = SourceName::new("docs").unwrap();
    let store = open("words");
    let every = Filters::default();
    let tenth = Filters::new(BTreeMap::from([("part".to_owned(), "3".to_owned())])).unwrap();
    let before = resident_mib();
    let query = |seed: usize, filters: &Filters, kind: u8| {
        let vector = vector(seed * 7 + 3);
        let text = format!(
            "{} {} of the ERR-{}",
            WORDS[seed % WORDS.len()],
            WORDS[seed * 3 % WORDS.len()],
            seed * 11
        );
        let query = Query { text: &text, vector: Some((&model, &vector)), top: 10, filters };
        let start = (Instant::now(), cpu_ms());
        let found = match kind {
            0 => store.find_by_vector(&name, &query).unwrap().len(),
            1 => store.find_by_words(&name, &query).unwrap().len(),
            _ => store.find(&name, &query).unwrap().hits.len(),
        };
        assert!(found > 0);
        (start.0.elapsed().as_secs_f64() * 1e3, cpu_ms() - start.1)
    };
    let first = query(0, &every, 0);
    let warm = median((1..=QUERIES).map(|seed| query(seed, &every, 0)).collect());
    let memory = resident_mib() - before;
    query(0, &tenth, 0);
    let filtered = median((1..=QUERIES).map(|seed| query(seed, &tenth, 0)).collect());
    let words = median((1..=QUERIES).map(|seed| query(seed, &every, 1)).collect());
    let hybrid = median((1..=QUERIES).map(|seed| query(seed, &every, 2)).collect());
    let vectors_mib = (rows * DIMENSIONS * 4) as f64 / f64::from(1 << 20);
    println!(
        "{kind:<10} {rows:>9} {write:>11.0} {with_words:>11.0} {:>6.1}/{:<6.1} {:>7.2}/{:<7.2} {:>7.2}/{:<7.2} {:>7.2}/{:<7.2} {:>7.2}/{:<7.2} {memory:>9.1} {:>9.2}",
        first.0,
        first.1,
        warm.0,
        warm.1,
        filtered.0,
        filtered.1,
        words.0,
        words.1,
        hybrid.0,
        hybrid.1,
        memory / vectors_mib,
    );
    store.drop_source(&name).unwrap();
}

/// Writes rows and returns how many in a CPU second.
fn rate(store: &dyn VectorStore, rows: usize, is_without_words: bool) -> f64 {
    let name = SourceName::new("docs").unwrap();
    let options = WriteOptions { model: Some(model()), is_without_words, ..WriteOptions::default() };
    let mut spent = 0.0;
    for from in (0..rows).step_by(BATCH) {
        let batch: Vec<Chunk> = (from..rows.min(from + BATCH)).map(chunk).collect();
        let start = cpu_ms();
        store.write(&name, &batch, &options).unwrap();
        spent += cpu_ms() - start;
    }
    rows as f64 / spent * 1e3
}

fn model() -> ModelIdentity {
    ModelIdentity { name: "bench".into(), revision: Some("1".into()), dimensions: DIMENSIONS }
}

fn chunk(number: usize) -> Chunk {
    let mut metadata = Metadata {
        source_path: format!("docs/{}/{}.md", number / 1000, number / 10),
        chunk_index: (number % 10) as u64,
        size_tokens: 60,
        ..Metadata::default()
    };
    metadata.extra.insert("part".into(), (number % 10).into());
    let text: Vec<&str> = (0..50).map(|at| word(number * 50 + at)).collect();
    Chunk { text: format!("{} ERR-{number}", text.join(" ")), vector: vector(number), metadata }
}

const WORDS: [&str; 24] = [
    "the", "of", "server", "index", "vector", "timeout", "retry", "policy", "account", "password", "release",
    "version", "kernel", "memory", "garden", "recipe", "refund", "invoice", "travel", "license", "cluster",
    "backup", "restore", "query",
];

/// Common words often, rare ones seldom.
fn word(seed: usize) -> &'static str {
    let random = mixed(seed as u64) as usize;
    WORDS[(random % WORDS.len()) * (random / 64 % WORDS.len()) / WORDS.len()]
}

/// A vector of one of 500 clusters.
fn vector(number: usize) -> Vec<f32> {
    let cluster = mixed(number as u64 ^ 0x5eed) % 500;
    (0..DIMENSIONS as u64)
        .map(|at| {
            let centre = unit(mixed(cluster * 1_000_003 + at));
            let own = unit(mixed((number as u64) << 20 | at));
            centre + 0.8 * own
        })
        .collect()
}

fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn mixed(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn median(mut times: Vec<(f64, f64)>) -> (f64, f64) {
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times[times.len() / 2]
}

/// CPU time of this process and of every PostgreSQL process of this machine, with those that ended.
fn cpu_ms() -> f64 {
    /// Ticks of a second, on every Linux.
    const TICKS: f64 = 100.0;
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let own = time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6;
    if std::env::var_os("REYN_BENCH_POSTGRES").is_none() {
        return own;
    }
    let of_server = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (name, rest) = text.split_once(") ")?;
        let ticks = rest.split_whitespace().skip(11).take(4).filter_map(|ticks| ticks.parse::<f64>().ok());
        name.ends_with("(postgres").then(|| ticks.sum::<f64>() / TICKS * 1e3)
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    own + entries.filter_map(|entry| of_server(entry.ok()?)).sum::<f64>()
}

fn resident_mib() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = pages.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096.0 / f64::from(1 << 20)
}
