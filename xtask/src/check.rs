//! Everything that CI runs.

use std::process::ExitCode;

use anyhow::Result;

use crate::setup;
use crate::steps::{cargo, step};

/// The models that tests run: small enough for two cores.
const TEST_MODELS: [&str; 2] = ["qwen2.5-coder-0.5b", "use-multilingual-v3"];
/// One set of features for every command, so that nothing is built twice.
const FEATURES: [&str; 4] = ["--workspace", "--features", "reyn-cli/local", "--locked"];

/// Checks the form of the code, then runs every test.
pub(crate) fn run() -> Result<ExitCode> {
    setup::run()?;
    step("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    let clippy: Vec<&str> =
        ["clippy"].into_iter().chain(FEATURES).chain(["--all-targets", "--", "-D", "warnings"]).collect();
    step("lints", &mut cargo(&clippy))?;
    for model in TEST_MODELS {
        let run = ["run", "--quiet", "--locked", "--package", "reyn-cli", "--features", "local", "--"];
        let pull: Vec<&str> = run.into_iter().chain(["models", "pull", model]).collect();
        step(&format!("`{model}` for tests"), &mut cargo(&pull))?;
    }
    let doc: Vec<&str> =
        ["doc"].into_iter().chain(FEATURES).chain(["--no-deps", "--document-private-items"]).collect();
    step("documentation", cargo(&doc).env("RUSTDOCFLAGS", "-D warnings"))?;
    let doc_tests: Vec<&str> = ["test", "--doc"].into_iter().chain(FEATURES).collect();
    step("tests in the documentation", &mut cargo(&doc_tests))?;
    let tests: Vec<&str> = ["nextest", "run"].into_iter().chain(FEATURES).collect();
    step("tests", &mut cargo(&tests))?;
    Ok(ExitCode::SUCCESS)
}
