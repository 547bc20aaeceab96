//! The rows of the bench: texts of common and rare words, and vectors that are made up or read from a file.

use reyn_index::{Chunk, Metadata};

pub(crate) const DIMENSIONS: usize = 512;

pub(crate) const WORDS: [&str; 24] = [
    "the", "of", "server", "index", "vector", "timeout", "retry", "policy", "account", "password", "release",
    "version", "kernel", "memory", "garden", "recipe", "refund", "invoice", "travel", "license", "cluster",
    "backup", "restore", "query",
];

/// Where vectors come from.
pub(crate) enum Vectors {
    /// One of 500 clusters.
    MadeUp,
    /// Real ones, of length one. Queries are taken from the end, which is no row.
    Read(Vec<Vec<f32>>),
}

/// Vectors of a file that are kept for queries.
const QUERIES_KEPT: usize = 500;

impl Vectors {
    /// Those of the file that `REYN_BENCH_VECTORS` names.
    pub(crate) fn of_environment() -> Self {
        let Some(path) = std::env::var_os("REYN_BENCH_VECTORS") else { return Self::MadeUp };
        let bytes = std::fs::read(path).unwrap();
        let numbers: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
        Self::Read(numbers.as_chunks::<DIMENSIONS>().0.iter().map(|vector| vector.to_vec()).collect())
    }

    pub(crate) fn of_row(&self, number: usize) -> Vec<f32> {
        match self {
            Self::MadeUp => made_up(number),
            Self::Read(all) => {
                let rows = all.len() - QUERIES_KEPT;
                let mut vector = all[number % rows].clone();
                if number >= rows {
                    // More rows than vectors: near ones.
                    for (number, other) in vector.iter_mut().zip(made_up(number)) {
                        *number += 0.02 * other;
                    }
                }
                vector
            }
        }
    }

    pub(crate) fn of_query(&self, number: usize) -> Vec<f32> {
        match self {
            Self::MadeUp => made_up(number * 7 + 3),
            Self::Read(all) => all[all.len() - 1 - number % QUERIES_KEPT].clone(),
        }
    }
}

pub(crate) fn chunk(number: usize, vectors: &Vectors) -> Chunk {
    let mut metadata = Metadata {
        source_path: format!("docs/{}/{}.md", number / 1000, number / 10),
        chunk_index: (number % 10) as u64,
        size_tokens: 60,
        ..Metadata::default()
    };
    metadata.extra.insert("part".into(), (number % 10).into());
    let text: Vec<&str> = (0..50).map(|at| word(number * 50 + at)).collect();
    Chunk { text: format!("{} ERR-{number}", text.join(" ")), vector: vectors.of_row(number), metadata }
}

/// Common words often, rare ones seldom.
fn word(seed: usize) -> &'static str {
    let random = mixed(seed as u64) as usize;
    WORDS[(random % WORDS.len()) * (random / 64 % WORDS.len()) / WORDS.len()]
}

fn made_up(number: usize) -> Vec<f32> {
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
