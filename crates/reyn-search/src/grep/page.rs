//! Puts the results of files together, in order, to one page.

use std::ops::{ControlFlow, Range};

use crate::SearchError;
use crate::grep::file::{Ending, Outcome};
use crate::grep::rows::{ROW_BYTES, Row, Window, cost};
use crate::grep::{FileHits, GrepMode, GrepRequest, Grepped, Job, Line};
use crate::root::to_path;
use crate::skipped::Skipped;
use crate::watch::{Stop, Watch};

/// A page that is being filled.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    request: &'a GrepRequest,
    files: Vec<FileHits>,
    matches: u64,
    files_with_matches: u64,
    files_searched: u64,
    /// Results so far, those passed over included.
    results: usize,
    bytes: usize,
    has_more: bool,
    /// What the files searched so far have added.
    skipped: Skipped,
    /// What the walk had passed over at the file where the page ended.
    walk_skipped: Option<Skipped>,
    stop: Option<Stop>,
    partial: Option<String>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(request: &'a GrepRequest) -> Self {
        Self {
            request,
            files: vec![],
            matches: 0,
            files_with_matches: 0,
            files_searched: 0,
            results: 0,
            bytes: 0,
            has_more: false,
            skipped: Skipped::default(),
            walk_skipped: None,
            stop: None,
            partial: None,
        }
    }

    /// Ends the page early.
    pub(crate) fn stop(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
    }

    /// Takes the outcome of the next file; breaks when no further file is needed.
    ///
    /// `search_again` searches a file for other results than the first ones.
    pub(crate) fn take(
        &mut self,
        job: Job,
        outcome: Outcome,
        search_again: &mut dyn FnMut(&Job, Window) -> Outcome,
    ) -> ControlFlow<()> {
        self.skipped += outcome.ending.skipped();
        self.files_searched += u64::from(matches!(outcome.ending, Ending::Searched | Ending::LongLine));
        let (walk_skipped, ending) = (job.skipped, outcome.ending.clone());
        if outcome.results > 0 {
            match self.request.mode {
                GrepMode::Content => self.take_lines(job, outcome, search_again),
                GrepMode::FilesWithMatches | GrepMode::Count => self.take_file(job, &outcome),
            }
        }
        match ending {
            Ending::Stopped(stop) if !self.has_more => self.stop(stop),
            Ending::OutOfDescriptors(reason) if !self.has_more => {
                self.partial = Some(format!("the search was ended: {reason}; try again later"));
            }
            Ending::Searched
            | Ending::NotPermitted
            | Ending::Binary
            | Ending::TooLarge
            | Ending::Unreadable
            | Ending::LongLine
            | Ending::Undecodable
            | Ending::Stopped(_)
            | Ending::OutOfDescriptors(_) => {}
        }
        if self.has_more || self.stop.is_some() || self.partial.is_some() {
            self.walk_skipped = Some(walk_skipped);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// The page. `walk_skipped` and `walk_partial` are of the whole walk, for a page that did not end before.
    pub(crate) fn finish(
        self,
        walk_skipped: Skipped,
        walk_partial: Option<String>,
        watch: &Watch<'_>,
    ) -> Result<Grepped, SearchError> {
        let time_up = match self.stop {
            Some(Stop::Cancelled) => return Err(SearchError::Cancelled),
            Some(Stop::TimeUp) if !self.has_more => Some(watch.time_up()),
            Some(Stop::TimeUp) | None => None,
        };
        let is_whole = self.walk_skipped.is_none();
        let mut skipped = self.walk_skipped.unwrap_or(walk_skipped);
        skipped += self.skipped;
        Ok(Grepped {
            files: self.files,
            matches: self.matches,
            files_with_matches: self.files_with_matches,
            files_searched: self.files_searched,
            has_more: self.has_more,
            next_offset: self.has_more.then_some(self.results),
            skipped,
            partial: self.partial.or(time_up).or(walk_partial.filter(|_| is_whole)),
        })
    }

    fn take_file(&mut self, job: Job, outcome: &Outcome) {
        let bytes = job.path.len() + ROW_BYTES;
        if self.results >= self.request.offset {
            let is_full = self.files.len() >= self.request.max_results
                || self.bytes + bytes > self.request.output_bytes_max;
            if is_full && !self.files.is_empty() {
                self.has_more = true;
                return;
            }
            self.bytes += bytes;
            self.files.push(FileHits {
                path: to_path(job.path),
                lines: vec![],
                matches: outcome.results as u64,
                encoding: outcome.encoding,
            });
        }
        self.results += 1;
        self.matches += outcome.results as u64;
        self.files_with_matches += 1;
    }

    fn take_lines(
        &mut self,
        job: Job,
        mut outcome: Outcome,
        search_again: &mut dyn FnMut(&Job, Window) -> Outcome,
    ) {
        let shown = self.results.saturating_sub(self.request.offset);
        let begin = self.request.offset.saturating_sub(self.results);
        let left = self.request.max_results - shown;
        if outcome.results > begin && left == 0 {
            self.has_more = true;
            return;
        }
        if outcome.results <= begin {
            self.results += outcome.results;
            self.matches += outcome.results as u64;
            self.files_with_matches += 1;
            return;
        }
        let window = Window { begin, len: left };
        // With nothing to pass over, the first search has kept all that a page can show.
        if begin > 0 && window.end().min(outcome.results) > outcome.window.end() {
            outcome = search_again(&job, window);
        }
        // Not fewer than before the page, also when the file has changed in between.
        let end = window.end().min(outcome.results).max(begin);
        let hits = self.hits(job, begin..end, &outcome);
        let next = begin.saturating_add(usize::try_from(hits.matches).unwrap_or(usize::MAX));
        self.has_more = outcome.results > next;
        self.results += next;
        self.matches += next as u64;
        self.files_with_matches += u64::from(next > 0);
        if hits.matches > 0 {
            self.files.push(hits);
        }
    }

    /// As many of `results` as fit, with their context. Takes their bytes.
    fn hits(&mut self, job: Job, results: Range<usize>, outcome: &Outcome) -> FileHits {
        let file_bytes = job.path.len() + ROW_BYTES;
        let room = self.request.output_bytes_max.saturating_sub(self.bytes + file_bytes);
        let (mut shown, mut end) = self.fit(&outcome.rows, results.clone(), room);
        if end == results.start && self.files.is_empty() {
            let is_first = |row: &Row| row.results.contains(&results.start);
            let first = outcome.rows.iter().position(is_first);
            if let (Some(begin), Some(last)) = (first, outcome.rows.iter().rposition(is_first)) {
                shown = outcome.rows.get(begin..=last).unwrap_or_default();
                end += 1;
            }
        }
        self.bytes += file_bytes + bytes(shown);
        let is_match = |row: &Row| row.results.start < end && row.results.end > results.start;
        FileHits {
            path: to_path(job.path),
            lines: shown
                .iter()
                .map(|row| Line { number: row.number, text: row.text.clone(), is_match: is_match(row) })
                .collect(),
            matches: (end - results.start) as u64,
            encoding: outcome.encoding,
        }
    }

    /// The rows of as many of `results` as have room, and the result after them.
    fn fit<'r>(&self, rows: &'r [Row], results: Range<usize>, room: usize) -> (&'r [Row], usize) {
        let (before, after) = (self.request.before as u64, self.request.after as u64);
        let begins = rows.iter().find(|row| row.results.contains(&results.start));
        let first = begins.map_or(0, |row| row.number.saturating_sub(before));
        let begin = rows.partition_point(|row| row.number < first);
        let (mut row_end, mut used, mut end) = (begin, 0, results.start);
        for (at, row) in rows.iter().enumerate() {
            // A result that goes on in the next row is not whole yet.
            let next = rows.get(at + 1).filter(|next| !next.results.is_empty());
            let whole_end = next.map_or(row.results.end, |next| next.results.start.min(row.results.end));
            let whole_end = whole_end.min(results.end);
            if whole_end <= end {
                continue;
            }
            let last = row.number.saturating_add(after);
            let next_end = rows.partition_point(|row| row.number <= last);
            used += bytes(rows.get(row_end..next_end).unwrap_or_default());
            if used > room {
                break;
            }
            (row_end, end) = (next_end, whole_end);
        }
        (rows.get(begin..row_end).unwrap_or_default(), end)
    }
}

fn bytes(rows: &[Row]) -> usize {
    rows.iter().map(cost).sum()
}
