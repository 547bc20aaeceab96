//! Whole tasks on a real model with the real tools: what a person would ask of a small project.
//!
//! `cargo xtask tasks [MODEL] [WORD]` builds with the local model, copies the project afresh for each task, asks
//! once, and looks at the answer, the calls and the files. It prints each miss. WORD picks the tasks that hold it.

mod project;
mod table;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::steps::{cargo, step};
use crate::try_it::built_program;

/// A request and how it is seen that it was met.
struct Task {
    said: &'static str,
    is_met: fn(&Seen<'_>) -> bool,
}

/// What came of a task.
struct Seen<'a> {
    answer: &'a str,
    /// Names of the tools that were called, in order.
    calls: Vec<&'a str>,
    folder: &'a Path,
}

impl Seen<'_> {
    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.join(name)).ok()
    }

    /// Whether every file of the project is as it was, and none is new.
    fn is_untouched(&self) -> bool {
        project::is_untouched(self.folder, &[])
    }

    /// Whether nothing but these files differs from the project.
    fn only_changed(&self, names: &[&str]) -> bool {
        project::is_untouched(self.folder, names)
    }

    /// How many of these words the answer holds, whatever their case.
    fn words(&self, words: &[&str]) -> usize {
        let answer = self.answer.to_lowercase();
        words.iter().filter(|word| answer.contains(&word.to_lowercase())).count()
    }

    fn is_japanese(&self) -> bool {
        self.answer.chars().filter(|letter| ('\u{3040}'..='\u{30ff}').contains(letter)).count() >= 5
    }
}

/// Runs the tasks on a local model.
pub(crate) fn run(words: &[String]) -> Result<ExitCode> {
    let model = words.first().map_or("qwen2.5-coder-1.5b", String::as_str);
    let picked = words.get(1).map_or("", String::as_str);
    let build = ["build", "--release", "--locked", "--quiet", "--package", "reyn-cli", "--features", "local"];
    step("build with the local model", &mut cargo(&build))?;
    let program = built_program()?;
    let (mut met, mut all, mut took) = (0, 0, Duration::ZERO);
    for task in table::TASKS.iter().filter(|task| task.said.contains(picked)) {
        let folder = tempfile::tempdir()?;
        project::write(folder.path())?;
        let begun = Instant::now();
        let report = ask(&program, folder.path(), model, task.said)?;
        let spent = begun.elapsed();
        let answer = report["answer"].as_str().unwrap_or_default();
        let calls = report["calls"].as_array().into_iter().flatten();
        let calls = calls.filter_map(|call| call["tool"].as_str()).collect();
        let seen = Seen { answer, calls, folder: folder.path() };
        let is_met = (task.is_met)(&seen);
        println!("{} {:5.1} s  {}", if is_met { "ok  " } else { "MISS" }, spent.as_secs_f64(), task.said);
        if !is_met {
            println!("      calls: {}", seen.calls.join(", "));
            println!("      answer: {:?}", answer.chars().take(300).collect::<String>());
            println!("      ended: {} {}", report["ending"], report["error"]);
        }
        met += u32::from(is_met);
        all += 1;
        took += spent;
    }
    println!("{model}: {met} of {all} tasks, {:.0} s", took.as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

fn ask(program: &Path, folder: &Path, model: &str, said: &str) -> Result<Value> {
    let output = Command::new(program)
        .args(["ask", said, "--json", "--allow", "file.write", "--model", &format!("local/{model}")])
        .current_dir(folder)
        .env("REYN_MODELS__AUTO_PULL", "always")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start `{}`", program.display()))?;
    serde_json::from_slice(&output.stdout).context("`reyn ask --json` gave no JSON")
}
