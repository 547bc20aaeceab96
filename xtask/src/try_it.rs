//! The main job on a real model, with nothing configured.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::setup;
use crate::steps::{cargo, root, step};

const QUESTION: &str = "What does README.md say this project is?";

/// Sets up, builds with the local model, and asks it.
pub(crate) fn run(words: &[String]) -> Result<ExitCode> {
    setup::system_packages()?;
    let build = ["build", "--release", "--locked", "--package", "reyn-cli", "--features", "local"];
    step("build (some ten minutes the first time: the model's engine is C++)", &mut cargo(&build))?;
    let program = built_program()?;
    let question = if words.is_empty() { vec![QUESTION.to_owned()] } else { words.to_vec() };
    println!("── {} ask {}", program.display(), question.join(" "));
    let status = Command::new(&program)
        .arg("ask")
        .args(&question)
        .env("REYN_MODELS__AUTO_PULL", "always")
        .status()
        .with_context(|| format!("cannot start `{}`", program.display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// Where cargo puts a release build of the program.
pub(crate) fn built_program() -> Result<std::path::PathBuf> {
    let output = cargo(&["metadata", "--format-version", "1", "--no-deps", "--locked"]).output()?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("`cargo metadata` gave no JSON")?;
    let Some(target) = metadata["target_directory"].as_str() else { bail!("cargo names no target folder") };
    let program = root().join(target).join("release/reyn");
    if !program.is_file() {
        bail!("`{}` was not built", program.display());
    }
    Ok(program)
}
