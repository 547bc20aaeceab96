//! Runs the fuzz targets, each for a while.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::steps::{cargo, step, works};

/// Seconds of each target when the call does not say.
const SECONDS: u64 = 60;
const TARGETS: [&str; 2] = ["edit", "decode"];

/// Installs `cargo fuzz` when it is missing, then runs every target. What makes one fail is kept below
/// `fuzz/artifacts`.
pub(crate) fn run(words: &[String]) -> Result<ExitCode> {
    let seconds: u64 = words.first().map_or(Ok(SECONDS), |text| text.parse()).context("how many seconds?")?;
    if !works("cargo", &["fuzz", "--version"]) {
        step("install cargo-fuzz", &mut cargo(&["install", "--locked", "cargo-fuzz"]))?;
    }
    for target in TARGETS {
        // There is no code without bounds checks of ours to look into, so the sanitizers stay off.
        let time = format!("-max_total_time={seconds}");
        let words = ["fuzz", "run", "--sanitizer", "none", target, "--", &time, "-max_len=4096"];
        // The coverage marks are a compiler option that only this variable opens on a stable toolchain.
        let mut command = cargo(&words);
        command.env("RUSTC_BOOTSTRAP", "1");
        step(&format!("fuzz {target} for {seconds} s"), &mut command)?;
    }
    Ok(ExitCode::SUCCESS)
}
