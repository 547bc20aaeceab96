//! Collects matching lines and their context while a file is searched.

use std::io;
use std::ops::Range;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use crate::bounds::{LINE_CHARS_MAX, MATCH_LINES_MAX};
use crate::grep::cut::cut_around;
use crate::grep::file::Outcome;
use crate::grep::{GrepMode, GrepRequest};
use crate::watch::{Stop, Watch};

/// A line with the results that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) number: u64,
    pub(crate) text: String,
    /// The positions of the results among all of the file; empty for context.
    pub(crate) results: Range<usize>,
}

/// What a line or a file costs besides its text, in bytes of output.
pub(crate) const ROW_BYTES: usize = 8;

/// Which results of a file to keep the lines of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) begin: usize,
    pub(crate) len: usize,
}

impl Window {
    pub(crate) fn end(self) -> usize {
        self.begin.saturating_add(self.len)
    }
}

/// Takes what the searcher finds in one file.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) request: &'a GrepRequest,
    matcher: &'a RegexMatcher,
    watch: &'a Watch<'a>,
    window: Window,
    rows: Vec<Row>,
    /// What the rows cost as output.
    bytes: usize,
    results: usize,
    /// The last line of the last result that is kept.
    last_line: u64,
    /// Whether the window has all its results, and only context follows.
    is_full: bool,
    pub(crate) stop: Option<Stop>,
}

/// Results between two looks at the clock.
const CHECK_INTERVAL: usize = 64;

impl<'a> Rows<'a> {
    pub(crate) fn new(
        request: &'a GrepRequest,
        matcher: &'a RegexMatcher,
        watch: &'a Watch<'a>,
        window: Window,
    ) -> Self {
        Self {
            request,
            matcher,
            watch,
            window,
            rows: vec![],
            bytes: 0,
            results: 0,
            last_line: 0,
            is_full: false,
            stop: None,
        }
    }

    /// Puts the lines of the window and the number of results into `outcome`. The window ends early when its
    /// lines are more than the output holds; results beyond what a page can need are not counted.
    pub(crate) fn finish(self, outcome: &mut Outcome) {
        (outcome.rows, outcome.window, outcome.results) = (self.rows, self.window, self.results);
    }

    /// Results beyond which nothing of a file matters: one more than a page shows.
    fn results_max(&self) -> usize {
        let (offset, shown) = (self.request.offset, self.request.max_results);
        offset.saturating_add(shown).saturating_add(1)
    }

    fn is_shown(&self, number: u64) -> bool {
        !self.is_full || number <= self.last_line.saturating_add(self.request.after as u64)
    }

    /// Takes the next result, whose lines have the numbers from `number` on; a line of the result before may
    /// be the first. Says whether to go on.
    pub(crate) fn take_result<'l>(&mut self, number: u64, lines: impl Iterator<Item = &'l [u8]>) -> bool {
        let result = self.results;
        self.results += 1;
        if self.results.is_multiple_of(CHECK_INTERVAL)
            && let Err(stop) = self.watch.check()
        {
            self.stop = Some(stop);
            return false;
        }
        match self.request.mode {
            GrepMode::FilesWithMatches => return false,
            GrepMode::Count => return true,
            GrepMode::Content => {}
        }
        if self.bytes > self.request.output_bytes_max && result > self.window.begin && !self.is_full {
            self.window.len = result - self.window.begin;
            self.is_full = true;
        }
        if self.is_shown(number) {
            for (line, number) in lines.take(MATCH_LINES_MAX).zip(number..) {
                self.push(number, line, Some(result));
                if !self.is_full {
                    self.last_line = number;
                }
            }
            self.is_full |= result + 1 >= self.window.end();
        }
        self.results < self.results_max() || self.is_shown(number)
    }

    /// Takes a line around results; says whether to go on.
    pub(crate) fn take_context(&mut self, number: u64, line: &[u8]) -> bool {
        let is_shown = self.is_shown(number);
        if is_shown {
            self.push(number, line, None);
        }
        is_shown || self.results < self.results_max()
    }

    fn push(&mut self, number: u64, line: &[u8], result: Option<usize>) {
        if let (Some(row), Some(result)) = (self.rows.last_mut(), result)
            && row.number == number
        {
            row.results.end = result + 1;
            return;
        }
        if self.results <= self.window.begin && result.is_none_or(|result| result < self.window.begin) {
            // Only what can be context of the window's first result stays.
            if self.request.before == 0 {
                return;
            }
            if self.rows.len() >= self.request.before {
                self.bytes -= cost(&self.rows.remove(0));
            }
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = cut_around(line, LINE_CHARS_MAX, || {
            let found = result.and_then(|_| self.matcher.find(line).ok().flatten());
            found.map_or(0..0, |found| found.start()..found.end())
        });
        let row = Row { number, text, results: result.map_or(0..0, |result| result..result + 1) };
        self.bytes += cost(&row);
        self.rows.push(row);
    }
}

impl Sink for Rows<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        Ok(self.take_result(found.line_number().unwrap_or_default(), found.lines()))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.take_context(context.line_number().unwrap_or_default(), context.bytes()))
    }
}

/// What a line costs as output, in bytes.
pub(crate) fn cost(row: &Row) -> usize {
    row.text.len() + ROW_BYTES
}
