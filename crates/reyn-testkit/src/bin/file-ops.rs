//! One file operation a process, for measuring: `file-ops OPERATION PATH [PATTERN]`.
//!
//! `grep`, `glob`, `tail` (the last 200 lines), `skip` (200 lines at line 10,000,000) and `edit` are the
//! workspace's; `walk` and `walk-parallel` are the `ignore` crate's own, with the same glob.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use globset::Glob;
use ignore::{WalkBuilder, WalkState};
use reyn_core::permission::{FileAxis, Target, Zones};
use reyn_search::{GlobRequest, GrepMode, GrepRequest};
use reyn_workspace::{EditRequest, PageRequest, Workspace};
use tokio_util::sync::CancellationToken;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (operation, path) = match words.as_slice() {
        [operation, path, ..] => (operation.as_str(), PathBuf::from(path).canonicalize()?),
        _ => return Err("which operation, on what?".into()),
    };
    let pattern = words.get(2).map_or("*", String::as_str);
    let folder = if path.is_dir() { path.clone() } else { path.parent().unwrap_or(&path).to_owned() };
    let workspace = Workspace::open(Zones::new(folder, vec![]), None)?;
    let target = workspace.resolve(&path.display().to_string(), FileAxis::Read)?;
    let found = match operation {
        "grep" => grep(&workspace, &target, pattern)?,
        "glob" => glob(&workspace, &target, pattern)?,
        "walk" => walk(&path, pattern)?,
        "walk-parallel" => walk_parallel(&path, pattern)?,
        "tail" => page(&workspace, &target, -200)?,
        "skip" => page(&workspace, &target, 10_000_000)?,
        "edit" => edit(&workspace, &target, pattern)?,
        other => return Err(format!("no operation is called `{other}`").into()),
    };
    Ok(writeln!(std::io::stdout(), "{found}")?)
}

fn grep(workspace: &Workspace, target: &Target, pattern: &str) -> Result<u64, Failure> {
    let request = GrepRequest {
        pattern: pattern.to_owned(),
        glob: None,
        is_case_sensitive: true,
        mode: GrepMode::Content,
        before: 0,
        after: 0,
        include_ignored: false,
        offset: 0,
        max_results: usize::MAX,
        output_bytes_max: usize::MAX,
    };
    Ok(workspace.grep(target, &request, &|_| true, &CancellationToken::new())?.matches)
}

fn glob(workspace: &Workspace, target: &Target, pattern: &str) -> Result<u64, Failure> {
    let request = GlobRequest {
        pattern: pattern.to_owned(),
        include_ignored: false,
        offset: 0,
        max_results: usize::MAX,
    };
    let found = workspace.glob(target, &request, &|_| true, &CancellationToken::new())?;
    Ok(found.paths.len() as u64)
}

fn walk(folder: &Path, pattern: &str) -> Result<u64, Failure> {
    let glob = Glob::new(pattern)?.compile_matcher();
    let mut paths = vec![];
    for entry in WalkBuilder::new(folder).require_git(false).build() {
        let entry = entry?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) && glob.is_match(entry.path()) {
            paths.push(entry.into_path());
        }
    }
    paths.sort();
    Ok(paths.len() as u64)
}

fn walk_parallel(folder: &Path, pattern: &str) -> Result<u64, Failure> {
    let glob = Glob::new(pattern)?.compile_matcher();
    let paths = Mutex::new(vec![]);
    WalkBuilder::new(folder).require_git(false).build_parallel().run(|| {
        Box::new(|entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
                && glob.is_match(entry.path())
                && let Ok(mut paths) = paths.lock()
            {
                paths.push(entry.into_path());
            }
            WalkState::Continue
        })
    });
    let mut paths = paths.into_inner()?;
    paths.sort();
    Ok(paths.len() as u64)
}

fn page(workspace: &Workspace, target: &Target, offset: i64) -> Result<u64, Failure> {
    let request = PageRequest { offset, limit: Some(200), ..PageRequest::default() };
    let page = workspace.read_page(target, request, &CancellationToken::new())?;
    Ok(page.text.lines().count() as u64)
}

/// Turns the pattern round at the end of the file, so that the next run turns it back.
fn edit(workspace: &Workspace, target: &Target, pattern: &str) -> Result<u64, Failure> {
    let turned: String = pattern.chars().rev().collect();
    let mut end = vec![0; pattern.len() + 1];
    let mut file = std::fs::File::open(&target.path)?;
    file.seek(SeekFrom::End(-i64::try_from(end.len())?))?;
    file.read_exact(&mut end)?;
    let (old, new) = if end.starts_with(pattern.as_bytes()) {
        (pattern, turned.as_str())
    } else {
        (turned.as_str(), pattern)
    };
    let request =
        EditRequest { old: old.to_owned(), new: new.to_owned(), replace_all: false, encoding: None };
    let edited = workspace.edit(target, &request, true, &CancellationToken::new())?;
    Ok(edited.replacements as u64)
}
