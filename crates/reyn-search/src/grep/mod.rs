//! Finds lines of files by a regular expression.

mod across;
mod content;
mod cut;
mod file;
mod matcher;
mod page;
mod pool;
mod rows;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

use crate::bounds::{BATCH_FILES_MAX, BATCH_FOLDERS_MAX, Bounds, CONTEXT_LINES_MAX};
use crate::grep::file::{FileSearch, Outcome};
use crate::grep::matcher::Matching;
use crate::grep::page::Page;
use crate::grep::rows::Window;
use crate::pattern::Pattern;
use crate::root::{Gatekeeper, Root, SearchFile, SearchFolder, Start};
use crate::skipped::Skipped;
use crate::walk::Walk;
use crate::watch::{Stop, Watch};
use crate::{Admits, SearchError};

/// What a search of lines gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrepMode {
    /// The lines. A result is a matching line, or a match when the expression is matched across lines.
    Content,
    /// The files. A result is a file; its other matches are not counted.
    FilesWithMatches,
    /// The files and how many matches each has. A result is a file.
    Count,
}

/// Which lines to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepRequest {
    /// A regular expression of Rust's `regex` crate. It is matched line by line, where `$` matches before
    /// `\r\n` too. When it has `\n`, `\r`, `[\s\S]` or the flag `s` in it, it is matched across lines; `\n`
    /// then stands for `\r\n` too, unless the expression has `\r` in it.
    pub pattern: String,
    /// Only files that this glob matches, as [`crate::GlobRequest::pattern`] says. Not for a search root
    /// that is a file.
    pub glob: Option<String>,
    /// Whether case counts.
    pub is_case_sensitive: bool,
    /// What to give.
    pub mode: GrepMode,
    /// Lines to show before each match, at most [`CONTEXT_LINES_MAX`].
    pub before: usize,
    /// Lines to show after each match, at most [`CONTEXT_LINES_MAX`].
    pub after: usize,
    /// Whether hidden and ignored files are searched too.
    pub include_ignored: bool,
    /// How many results to pass over.
    pub offset: usize,
    /// How many results to give; at least one is given.
    pub max_results: usize,
    /// Bytes of paths and lines that are given, with 8 for each line and each file; the first result is
    /// given whatever its size, without its context when that does not fit.
    pub output_bytes_max: usize,
}

/// A line of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Its text without the line ending; `…` stands where a long line is cut, U+FFFD for what is no text.
    pub text: String,
    /// Whether it is a result of this page, or part of one; else it is context. A matching line that belongs
    /// to the page before or after this one is context.
    pub is_match: bool,
}

/// What was found in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHits {
    /// Relative to [`Root::folder`].
    pub path: PathBuf,
    /// Matches and their context, sorted, each line once; empty unless the mode is [`GrepMode::Content`].
    pub lines: Vec<Line>,
    /// Matches: those in `lines`, all of the file for [`GrepMode::Count`], else 1.
    pub matches: u64,
    /// The encoding, when it is not UTF-8.
    pub encoding: Option<&'static str>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grepped {
    /// Sorted by path component, each byte by byte.
    pub files: Vec<FileHits>,
    /// Matches from the beginning of the search to its end, those passed over included. It is the number of
    /// all matches when `has_more` is false and `partial` is None.
    pub matches: u64,
    /// Files with a match, in the same range.
    pub files_with_matches: u64,
    /// Files that were searched, in the same range.
    pub files_searched: u64,
    /// Whether there are more results after these.
    pub has_more: bool,
    /// The `offset` that gives the next results, when there are more.
    pub next_offset: Option<usize>,
    /// What was passed over on the way.
    pub skipped: Skipped,
    /// Why the search has not looked everywhere, when a bound ended it.
    pub partial: Option<String>,
}

/// Finds the lines below `root` that a regular expression matches. Which files are searched is as
/// [`crate::glob()`] says.
///
/// # Errors
/// [`SearchError::Pattern`], [`SearchError::Root`], [`SearchError::Cancelled`].
pub fn grep(
    root: &Root<'_>,
    request: &GrepRequest,
    admits: Admits<'_>,
    cancel: &CancellationToken,
) -> Result<Grepped, SearchError> {
    grep_within(root, request, admits, cancel, &Bounds::default())
}

pub(crate) fn grep_within(
    root: &Root<'_>,
    request: &GrepRequest,
    admits: Admits<'_>,
    cancel: &CancellationToken,
    bounds: &Bounds,
) -> Result<Grepped, SearchError> {
    let matching = Matching::new(request)?;
    let pattern = match &request.glob {
        None => Pattern::everything(),
        Some(glob) => Pattern::parse(glob)
            .map_err(|reason| SearchError::Pattern(format!("`{glob}` is no glob: {reason}")))?,
    };
    let request = GrepRequest {
        before: request.before.min(CONTEXT_LINES_MAX),
        after: request.after.min(CONTEXT_LINES_MAX),
        max_results: request.max_results.max(1),
        ..request.clone()
    };
    let watch = Watch::start(cancel, bounds.time_max);
    let search = Search { root, request: &request, matching: &matching, admits, watch: &watch, bounds };
    match root.open(request.include_ignored)? {
        Start::File(file) => search.file(file),
        Start::Folder(folder) => search.folder(folder, &pattern),
    }
}

/// A file to search.
#[derive(Debug)]
pub(crate) struct Job {
    folder: Arc<OwnedFd>,
    path: Vec<u8>,
    name_begin: usize,
    /// What the walk has passed over up to this file.
    skipped: Skipped,
}

/// A search with all that it is made from.
struct Search<'a> {
    root: &'a Root<'a>,
    request: &'a GrepRequest,
    matching: &'a Matching,
    admits: Admits<'a>,
    watch: &'a Watch<'a>,
    bounds: &'a Bounds,
}

impl Search<'_> {
    fn file_search(&self) -> FileSearch<'_> {
        let gatekeeper = Gatekeeper::new(self.root, self.admits);
        FileSearch::new(self.request, self.matching, gatekeeper, self.watch.clone(), self.bounds)
    }

    fn file(&self, start: SearchFile) -> Result<Grepped, SearchError> {
        let SearchFile { folder, path, name_begin } = start;
        let job = Job { folder: Arc::new(folder), path, name_begin, skipped: Skipped::default() };
        let mut file_search = self.file_search();
        let mut page = Page::new(self.request);
        let outcome = file_search.search(&job, self.first_window());
        let _ = page.take(job, outcome, &mut |job, window| file_search.search(job, window));
        page.finish(Skipped::default(), None, self.watch)
    }

    fn folder(&self, start: SearchFolder, pattern: &Pattern) -> Result<Grepped, SearchError> {
        let does_include_ignored = self.request.include_ignored;
        let walk = Walk::new(start, pattern, does_include_ignored, self.watch.clone(), self.bounds.clone());
        let mut page = Page::new(self.request);
        let mut walk = match walk {
            Ok(walk) => walk,
            Err(stop) => {
                page.stop(stop);
                return page.finish(Skipped::default(), None, self.watch);
            }
        };
        let mut walk_stop = None;
        let mut again = None;
        let is_over = AtomicBool::new(false);
        let pool = pool::Pool {
            threads: self.bounds.threads_max,
            batches_before_threads: self.bounds.files_before_threads.div_ceil(BATCH_FILES_MAX),
        };
        pool.run(
            || next_batch(&mut walk, &mut walk_stop),
            || self.file_search(),
            |file_search, batch: Vec<Job>| self.search_batch(file_search, batch, &is_over),
            |batch| {
                for (job, outcome) in batch {
                    let mut search_again = |job: &Job, window| {
                        again.get_or_insert_with(|| self.file_search()).search(job, window)
                    };
                    if page.take(job, outcome, &mut search_again).is_break() {
                        is_over.store(true, Ordering::Relaxed);
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            },
        );
        if let Some(stop) = walk_stop {
            page.stop(stop);
        }
        page.finish(walk.skipped(), walk.into_partial(), self.watch)
    }

    fn search_batch(
        &self,
        file_search: &mut FileSearch<'_>,
        batch: Vec<Job>,
        is_over: &AtomicBool,
    ) -> Vec<(Job, Outcome)> {
        let mut outcomes = Vec::with_capacity(batch.len());
        for job in batch {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let outcome = file_search.search(&job, self.first_window());
            outcomes.push((job, outcome));
        }
        outcomes
    }

    /// The results of a file that are kept before it is known how many the files before it have.
    fn first_window(&self) -> Window {
        Window { begin: 0, len: self.request.max_results }
    }
}

fn next_batch(walk: &mut Walk<'_>, walk_stop: &mut Option<Stop>) -> Option<Vec<Job>> {
    let mut batch: Vec<Job> = vec![];
    let mut folders = HashSet::new();
    while walk_stop.is_none() && batch.len() < BATCH_FILES_MAX && folders.len() < BATCH_FOLDERS_MAX {
        match walk.next() {
            Ok(Some(file)) => {
                let job = Job {
                    folder: Arc::clone(file.folder),
                    path: file.path.to_vec(),
                    name_begin: file.name_begin,
                    skipped: Skipped::default(),
                };
                folders.insert(job.folder.as_raw_fd());
                batch.push(Job { skipped: walk.skipped(), ..job });
            }
            Ok(None) => break,
            Err(stop) => *walk_stop = Some(stop),
        }
    }
    (!batch.is_empty()).then_some(batch)
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
