//! Rules of the codebase that no compiler checks. A rule holds for all code or is not a rule.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

/// Lines of a file without its tests above which it fails.
const LINES_MAX: usize = 800;
/// Lines above which it is printed as a place to look.
const LINES_WARN: usize = 500;

/// The workspace, as cargo says when it runs this: clones that share a target folder may share the program,
/// and each must look at its own sources.
fn root() -> &'static Path {
    static ROOT: std::sync::LazyLock<PathBuf> = std::sync::LazyLock::new(|| {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
        PathBuf::from(package).parent().unwrap().to_owned()
    });
    &ROOT
}

/// Every Rust file of the workspace, with its path from the root and its text.
fn sources() -> Vec<(String, String)> {
    let mut files = vec![];
    for folder in ["crates", "xtask"] {
        collect(&root().join(folder), &mut files);
    }
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The text before a file's inline tests.
fn without_tests(text: &str) -> &str {
    text.find("\n#[cfg(test)]\nmod ").map_or(text, |at| &text[..at])
}

/// The comment of a line, if it has one outside a string.
fn comment(line: &str) -> Option<&str> {
    let at = line.find("//")?;
    let quotes = line[..at].matches('"').count();
    quotes.is_multiple_of(2).then(|| line[at..].trim_start_matches('/'))
}

fn report(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let mut problems = vec![];
    for (name, text) in sources() {
        let lines = without_tests(&text).lines().count();
        let is_test = name.contains("/tests/") || name.ends_with("_tests.rs");
        if lines > LINES_MAX && !is_test {
            problems.push(format!("{name}: {lines} lines without tests; {LINES_MAX} are the limit"));
        } else if lines > LINES_WARN && !is_test {
            eprintln!("{name}: {lines} lines without tests, a place to look");
        }
    }
    report(&problems);
}

#[test]
fn comments_hold_no_history() {
    let mut problems = vec![];
    for (name, text) in sources().into_iter().filter(|(name, _)| name != "xtask/tests/tidy.rs") {
        for (at, line) in text.lines().enumerate() {
            let Some(comment) = comment(line) else { continue };
            let marks = ["TODO", "FIXME", "XXX", "HACK"].iter().any(|mark| comment.contains(mark));
            let number = comment
                .match_indices('#')
                .any(|(at, _)| comment[at + 1..].chars().take_while(char::is_ascii_digit).count() >= 2);
            if marks || number {
                problems.push(format!("{name}:{}: {}", at + 1, comment.trim()));
            }
        }
    }
    report(&problems);
}

#[test]
fn unsafe_stands_in_the_sandbox_alone() {
    let allowed = ["xtask/tests/tidy.rs", "crates/reyn-sandbox/src/linux/syscalls.rs"];
    let mut problems = vec![];
    // The tests of the sandbox attack it with bare system calls.
    let attacks = |name: &str| name.starts_with("crates/reyn-sandbox/src/bin/");
    for (name, text) in
        sources().into_iter().filter(|(name, _)| !allowed.contains(&name.as_str()) && !attacks(name))
    {
        for (at, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            if code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe") {
                problems.push(format!("{name}:{}: {line}", at + 1));
            }
        }
    }
    report(&problems);
}

#[test]
fn core_does_no_input_or_output_and_reads_no_clock() {
    let banned = [
        "std::fs",
        "std::net",
        "std::process",
        "std::env",
        "std::io::std",
        "std::io::Read",
        "std::thread",
        "SystemTime",
        "Instant",
        "tokio",
        "reqwest",
    ];
    let mut problems = vec![];
    for (name, text) in sources().into_iter().filter(|(name, _)| name.starts_with("crates/reyn-core/src")) {
        for word in banned.iter().filter(|word| without_tests(&text).contains(**word)) {
            problems.push(format!("{name}: `{word}`"));
        }
    }
    let manifest = std::fs::read_to_string(root().join("crates/reyn-core/Cargo.toml")).unwrap();
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let names: Vec<&str> = dependencies
        .lines()
        .filter_map(|line| line.split('.').next())
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(names, ["serde", "serde_json", "schemars", "shell-words", "strsim"]);
    report(&problems);
}

#[test]
fn one_place_decides_and_one_place_runs() {
    for (call, place) in [
        ("decide(prepared", "crates/reyn-runtime/src/gate.rs"),
        ("reyn_tools::run(", "crates/reyn-runtime/src/gate.rs"),
        ("effective(agent", "crates/reyn-cli/src/wiring.rs"),
    ] {
        let callers: Vec<String> = sources()
            .into_iter()
            .filter(|(name, _)| name.contains("/src/") && !name.starts_with("xtask"))
            .filter(|(_, text)| {
                without_tests(text)
                    .lines()
                    .any(|line| line.contains(call) && !line.trim_start().starts_with("//"))
            })
            .map(|(name, _)| name)
            .collect();
        assert_eq!(callers, [place], "`{call}`");
    }
}

#[test]
fn crates_depend_in_one_direction() {
    let order = [
        "reyn-core",
        "reyn-embedding",
        "reyn-llm",
        "reyn-local",
        "reyn-untrusted",
        "reyn-text",
        "reyn-page",
        "reyn-web",
        "reyn-sandbox",
        "reyn-supervisor",
        "reyn-search",
        "reyn-index",
        "reyn-workspace",
        "reyn-tools",
        "reyn-runtime",
        "reyn-terminal",
        "reyn-cli",
    ];
    let mut problems = vec![];
    for (at, name) in order.iter().enumerate() {
        let manifest = std::fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap();
        for later in &order[at..] {
            if dependencies.contains(&format!("\n{later}.")) || dependencies.contains(&format!("\n{later} ="))
            {
                problems.push(format!("{name} depends on {later}"));
            }
        }
    }
    report(&problems);
}

#[test]
fn files_are_named_after_one_concept() {
    let vague = ["utils", "util", "helpers", "helper", "common", "manager", "handler", "base", "misc"];
    let problems: Vec<String> = sources()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| {
            let stem = Path::new(name).file_stem().unwrap().to_string_lossy().into_owned();
            vague.contains(&stem.as_str())
        })
        .collect();
    report(&problems);
}

#[test]
fn every_file_says_what_it_is() {
    let problems: Vec<String> = sources()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(name, _)| format!("{name}: no module doc"))
        .collect();
    report(&problems);
}
