//! Finds matches that can go across lines, in a text that is in memory.
//!
//! grep-searcher is not asked for these: it puts neighbouring matches together, and searches on behind a
//! match as if the text began there.

use std::io;

use grep_matcher::{Match, Matcher as _};
use grep_regex::RegexMatcher;
use memchr::{memchr, memchr_iter, memrchr};

use crate::grep::GrepMode;
use crate::grep::rows::Rows;

/// Gives every match in `text` to `rows`, with the lines that it is on and, as the request says, those around
/// it.
pub(crate) fn search_across(matcher: &RegexMatcher, text: &[u8], rows: &mut Rows<'_>) -> io::Result<()> {
    let is_content = rows.request.mode == GrepMode::Content;
    let mut lines = Lines { text, at: 0, number: 1, last_begin: 0, after_left: 0 };
    let mut is_wanted = true;
    let searched = matcher.find_iter(text, |found| {
        let is_behind_all_lines =
            found.start() == text.len() && text.last().is_none_or(|last| *last == b'\n');
        let is_inside_character = text.get(found.start()).is_some_and(|byte| byte & 0xC0 == 0x80);
        if is_behind_all_lines || found.is_empty() && is_inside_character {
            return true;
        }
        is_wanted =
            if is_content { lines.take(found, rows) } else { rows.take_result(0, std::iter::empty()) };
        is_wanted
    });
    if is_content && is_wanted {
        lines.take_after(text.len(), rows);
    }
    searched.map_err(io::Error::other)
}

/// The lines of a text, of which those before `at` are given or passed over.
struct Lines<'t> {
    text: &'t [u8],
    at: usize,
    /// Of the line that begins at `at`, from 1.
    number: u64,
    /// Where the last line of the last match begins.
    last_begin: usize,
    /// Lines that the last match still wants after it.
    after_left: usize,
}

impl Lines<'_> {
    /// Gives a match and the context before it; says whether to go on.
    fn take(&mut self, found: Match, rows: &mut Rows<'_>) -> bool {
        let text = self.text;
        // What is before `at` is not looked at again, since a line can be long and have many matches.
        let shared = (found.start() < self.at).then(|| &text[self.last_begin..self.at]);
        if shared.is_none() {
            let begin = self.line_begin(found.start());
            if !self.take_after(begin, rows) || !self.take_before(begin, rows) {
                return false;
            }
        }
        let last = if found.is_empty() { found.start() } else { found.end() - 1 };
        let (begin, number) = (self.at, self.number);
        if last >= begin {
            self.last_begin = self.line_begin(last);
            self.pass_to(self.line_end(last));
        }
        self.after_left = rows.request.after;
        let lines = text[begin..self.at].split_inclusive(|byte| *byte == b'\n');
        rows.take_result(number - u64::from(shared.is_some()), shared.into_iter().chain(lines))
    }

    /// Gives the context after the last match, as far as it lies before `end`.
    fn take_after(&mut self, end: usize, rows: &mut Rows<'_>) -> bool {
        while self.after_left > 0 && self.at < end {
            self.after_left -= 1;
            if !self.take_context(rows) {
                return false;
            }
        }
        true
    }

    /// Gives the context before the line that begins at `end`.
    fn take_before(&mut self, end: usize, rows: &mut Rows<'_>) -> bool {
        let mut begin = end;
        for _ in 0..rows.request.before {
            if begin > self.at {
                begin = self.line_begin(begin - 1);
            }
        }
        self.pass_to(begin);
        while self.at < end {
            if !self.take_context(rows) {
                return false;
            }
        }
        true
    }

    fn take_context(&mut self, rows: &mut Rows<'_>) -> bool {
        let (begin, number) = (self.at, self.number);
        self.pass_to(self.line_end(begin));
        rows.take_context(number, &self.text[begin..self.at])
    }

    /// Where the line with the byte at `place`, not before `self.at`, begins.
    fn line_begin(&self, place: usize) -> usize {
        memrchr(b'\n', &self.text[self.at..place]).map_or(self.at, |found| self.at + found + 1)
    }

    /// Where the line with the byte at `place` ends, the line ending included.
    fn line_end(&self, place: usize) -> usize {
        memchr(b'\n', &self.text[place..]).map_or(self.text.len(), |found| place + found + 1)
    }

    fn pass_to(&mut self, at: usize) {
        self.number += memchr_iter(b'\n', &self.text[self.at..at]).count() as u64;
        self.at = at;
    }
}
