//! Measures file operations as whole processes, beside programs that do the same.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::bench::{Cost, middle};
use crate::steps::{cargo, works};

/// Source files that are searched.
const SOURCES: usize = 5_000;
/// What they are searched for: rare, frequent, and a pattern that no literal helps.
const PATTERNS: [&str; 3] = ["impl Drop for", "fn ", r"\b[a-z]+_[a-z]+_[a-z]+\("];
const LARGE_LINES: u64 = 18 << 20;
const EDITED_LINES: usize = 190_000;

/// One command and what it is compared with.
struct Case {
    name: String,
    /// The command that is measured.
    ours: Vec<String>,
    /// Commands that do the same.
    others: Vec<Vec<String>>,
    bound: &'static str,
}

/// Runs all of them in `place`, `runs` times each in turn. `reyn` is the built program; the operations are a
/// program beside it.
pub(crate) fn run(reyn: &Path, place: &Path, runs: usize) -> Result<()> {
    let ops = reyn.with_file_name("file-ops").display().to_string();
    let rg = ripgrep(reyn)?;
    let sources = place.join("sources");
    let count = copy_sources(&sources)?;
    let (large, edited) = (place.join("large.txt"), place.join("edited.txt"));
    write_large(&large)?;
    write_edited(&edited)?;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let path = |path: &Path| path.display().to_string();
    let mut cases: Vec<Case> = PATTERNS
        .iter()
        .map(|pattern| Case {
            name: format!("grep `{pattern}`, {count} source files"),
            ours: words(&[&ops, "grep", &path(&sources), pattern]),
            others: vec![words(&[&rg, "--no-config", "-n", pattern, &path(&sources)])],
            bound: "1.3 times",
        })
        .collect();
    cases.push(Case {
        name: format!("glob `**/m*.rs`, {count} source files"),
        ours: words(&[&ops, "glob", &path(&sources), "**/m*.rs"]),
        others: ["walk", "walk-parallel"]
            .map(|walk| words(&[&ops, walk, &path(&sources), "**/m*.rs"]))
            .to_vec(),
        bound: "1.3 times",
    });
    for (name, operation, bound) in [
        ("200 lines at the end of 1 GiB, from its end", "tail", "50 ms, 8 MiB"),
        ("200 lines of 1 GiB, 10,000,000 lines in", "skip", "none"),
    ] {
        let ours = words(&[&ops, operation, &path(&large)]);
        cases.push(Case { name: name.to_owned(), ours, others: vec![], bound });
    }
    cases.push(Case {
        name: "edit of a 10 MB file".to_owned(),
        ours: words(&[&ops, "edit", &path(&edited), "needle"]),
        others: vec![],
        bound: "60 ms",
    });
    println!("── file operations, median of {runs} runs, CPU = user + system");
    for case in &cases {
        report(case, runs)?;
    }
    Ok(())
}

fn report(case: &Case, runs: usize) -> Result<()> {
    let commands: Vec<&Vec<String>> = std::iter::once(&case.ours).chain(&case.others).collect();
    let mut costs: Vec<Vec<Cost>> = vec![vec![]; commands.len()];
    for _ in 0..=runs {
        for (command, costs) in commands.iter().zip(&mut costs) {
            costs.push(measured(command)?);
        }
    }
    // The first run warms the cache.
    let cpu: Vec<u64> = costs.iter().map(|costs| middle(costs[1..].iter().map(|cost| cost.cpu_us))).collect();
    let memory = middle(costs[0][1..].iter().map(|cost| cost.rss_kib));
    print!("{:<52} {:>8} µs CPU {memory:>7} KiB  bound {}", case.name, cpu[0], case.bound);
    for (other, command) in cpu[1..].iter().zip(&case.others) {
        #[expect(clippy::cast_precision_loss, reason = "a ratio shown with two digits")]
        let ratio = cpu[0] as f64 / (*other).max(1) as f64;
        let program = Path::new(&command[0]).file_name().unwrap_or_default().to_string_lossy();
        print!("  {ratio:.2} times `{program} {}` ({other} µs)", command[1]);
    }
    println!();
    Ok(())
}

fn measured(words: &[String]) -> Result<Cost> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.arg("measure").args(words).output()?;
    if !output.status.success() {
        bail!("`{}` failed", words.join(" "));
    }
    serde_json::from_slice(&output.stdout).context("no figures")
}

/// ripgrep's own command: the one on the path, else one built from its crate beside the release build.
fn ripgrep(reyn: &Path) -> Result<String> {
    if works("rg", &["--version"]) {
        return Ok("rg".to_owned());
    }
    let tools = reyn.with_file_name("bench-tools");
    let program = tools.join("bin/rg").display().to_string();
    if !works(&program, &["--version"]) {
        let status = cargo(&["install", "--locked", "ripgrep", "--root"]).arg(&tools).status()?;
        if !status.success() {
            bail!("ripgrep could not be built to compare with");
        }
    }
    Ok(program)
}

/// Copies Rust sources of the crates that this build was made from, folder by folder.
fn copy_sources(to: &Path) -> Result<usize> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).context("no cargo home")?;
    let mut folders = vec![home.join("registry/src")];
    let from = folders[0].clone();
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let copy = to.join(path.strip_prefix(&from)?);
                std::fs::create_dir_all(copy.parent().context("no folder")?)?;
                std::fs::copy(&path, copy)?;
                count += 1;
                if count == SOURCES {
                    return Ok(count);
                }
            }
        }
    }
    Ok(count)
}

fn write_large(path: &Path) -> Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for line in 0..LARGE_LINES {
        writeln!(file, "line {line:>10}: some words of a long log that go on and on")?;
    }
    Ok(file.flush()?)
}

fn write_edited(path: &Path) -> Result<()> {
    let mut text = "日本語の行 and some words of another kind of text\n".repeat(EDITED_LINES);
    text.push_str("needle\n");
    Ok(std::fs::write(path, text)?)
}
