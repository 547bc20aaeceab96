//! The real model, end to end. Needs its two files, named by their SHA-256, in `$REYN_TEST_MODEL_DIR` or in the usual cache.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside of test functions here"
)]

mod files;
mod golden;
mod texts;

use std::path::PathBuf;
use std::sync::OnceLock;

use reyn_embedding::SentenceEncoder;

const WEIGHTS: &str = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9";
const VOCABULARY: &str = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9";

/// The weights and the vocabulary, or `None` where a file is not there, which is said.
fn model_files() -> Option<[PathBuf; 2]> {
    let folder = std::env::var_os("REYN_TEST_MODEL_DIR").map_or_else(
        || std::env::home_dir().expect("a home folder").join(".cache/reyn/models"),
        PathBuf::from,
    );
    let files = [WEIGHTS, VOCABULARY].map(|name| folder.join(name));
    let missing = files.iter().find(|file| !file.is_file());
    if let Some(file) = missing {
        skip(&format!("`{}` is not there; name its folder in REYN_TEST_MODEL_DIR", file.display()));
        return None;
    }
    Some(files)
}

/// The model, loaded once for all tests.
fn encoder() -> Option<&'static SentenceEncoder> {
    static ENCODER: OnceLock<Option<SentenceEncoder>> = OnceLock::new();
    let load = || {
        let [weights, vocabulary] = model_files()?;
        Some(SentenceEncoder::load(&weights, &vocabulary).unwrap())
    };
    ENCODER.get_or_init(load).as_ref()
}

/// Says that a test does not run here; where nothing may be skipped, fails.
fn skip(why: &str) {
    assert!(std::env::var_os("REYN_TEST_NO_SKIP").is_none(), "skipped: {why}");
    println!("skipped: {why}");
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}
