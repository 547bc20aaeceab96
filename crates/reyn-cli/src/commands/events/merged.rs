//! The events of several files in the order of their times: each process writes a file of its own.
//!
//! Nothing is sorted: the events of one file stay in its order, and the earliest of those that come next is taken.
//! Events of one time stay in the order of the files.

use std::collections::VecDeque;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use super::lines::{Line, LineReader};
use crate::exit::Failure;

/// Files that are read at the same time; where more processes wrote at once, the order is that of the files.
const OPEN_MAX: usize = 64;

/// A file to read, and where to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub path: PathBuf,
    /// Bytes that are passed over.
    pub start: u64,
}

/// Reads events out of files.
pub(super) struct Merged {
    waiting: VecDeque<Part>,
    open: Vec<Source>,
    /// Whether a last line without its end counts.
    takes_cut_lines: bool,
    /// Lines that are no events, so far.
    pub bad_lines: u64,
    /// The files that were read to their end, and where that is.
    pub ended: Vec<Part>,
}

/// A file that is being read.
struct Source {
    path: PathBuf,
    reader: LineReader,
    /// Where the last whole line ends.
    end: u64,
    /// What comes next, and its time.
    next: (Timestamp, Value),
    /// Whether nothing of it was taken yet.
    is_fresh: bool,
}

impl Merged {
    /// The files in the order in which they were begun.
    pub(super) fn new(parts: impl IntoIterator<Item = Part>, takes_cut_lines: bool) -> Self {
        let waiting = parts.into_iter().collect();
        Self { waiting, open: vec![], takes_cut_lines, bad_lines: 0, ended: vec![] }
    }

    /// The next event; `None` when there are no more.
    pub(super) fn next(&mut self) -> Result<Option<Value>, Failure> {
        let Some(at) = self.earliest()? else { return Ok(None) };
        let mut source = self.open.remove(at);
        let (time, event) = source.next;
        source.is_fresh = false;
        match next_event(&mut source.reader, &mut source.end, self.takes_cut_lines, &mut self.bad_lines)? {
            Some(next) => {
                source.next = (time_of(&next).unwrap_or(time), next);
                self.open.insert(at, source);
            }
            None => self.ended.push(Part { path: source.path, start: source.end }),
        }
        Ok(Some(event))
    }

    /// Which of the open files has the earliest event. Files are opened until one is that begins later.
    fn earliest(&mut self) -> Result<Option<usize>, Failure> {
        loop {
            let earliest = (0..self.open.len()).min_by_key(|at| self.open[*at].next.0);
            let may_be_earlier = earliest.is_none_or(|at| at + 1 == self.open.len() && self.open[at].is_fresh)
                // What was begun before goes on with any time.
                || self.waiting.front().is_some_and(|part| part.start > 0);
            match self.waiting.pop_front() {
                Some(part) if may_be_earlier && self.open.len() < OPEN_MAX => self.open(part)?,
                Some(part) => {
                    self.waiting.push_front(part);
                    return Ok(earliest);
                }
                None => return Ok(earliest),
            }
        }
    }

    fn open(&mut self, Part { path, start }: Part) -> Result<(), Failure> {
        let mut reader = LineReader::open(&path, start)?;
        let mut end = start;
        match next_event(&mut reader, &mut end, self.takes_cut_lines, &mut self.bad_lines)? {
            Some(event) => {
                let time = time_of(&event).unwrap_or(Timestamp::MIN);
                self.open.push(Source { path, reader, end, next: (time, event), is_fresh: true });
            }
            None => self.ended.push(Part { path, start: end }),
        }
        Ok(())
    }
}

fn next_event(
    reader: &mut LineReader,
    end: &mut u64,
    takes_cut_lines: bool,
    bad_lines: &mut u64,
) -> Result<Option<Value>, Failure> {
    while let Some(line) = reader.next_line()? {
        let Line { is_whole, .. } = line;
        if !is_whole && !takes_cut_lines {
            return Ok(None);
        }
        *end = reader.position;
        match line.event() {
            Some(event) => return Ok(Some(event)),
            None => *bad_lines += 1,
        }
    }
    Ok(None)
}

fn time_of(event: &Value) -> Option<Timestamp> {
    event["timestamp"].as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(files: &[&[&str]], start: u64) -> (Vec<String>, u64) {
        let dir = tempfile::tempdir().unwrap();
        let parts = files.iter().enumerate().map(|(number, lines)| {
            let path = dir.path().join(format!("{number:03}.jsonl"));
            let lines = lines.iter().map(|line| match line.split_once(' ') {
                Some((second, kind)) => {
                    format!("{{\"type\":\"{kind}\",\"timestamp\":\"2026-01-02T03:04:{second}Z\"}}\n")
                }
                None => format!("{line}\n"),
            });
            std::fs::write(&path, " ".repeat(usize::try_from(start).unwrap()) + &lines.collect::<String>())
                .unwrap();
            Part { path, start }
        });
        let mut merged = Merged::new(parts.collect::<Vec<_>>(), true);
        let mut kinds = vec![];
        while let Some(event) = merged.next().unwrap() {
            kinds.push(event["type"].as_str().unwrap().to_owned());
        }
        assert_eq!(merged.ended.len(), files.len());
        (kinds, merged.bad_lines)
    }

    #[test]
    fn events_come_in_the_order_of_their_times_and_else_of_their_files() {
        let table: [(&[&[&str]], &str, u64); 6] = [
            (&[], "", 0),
            (&[&["01 a", "05 d"], &["02 b", "03 c", "06 e"]], "a b c d e", 0),
            (&[&["01 a", "02 b"], &["02 c"], &["02 d", "02 e"]], "a b c d e", 0),
            // A clock that was set back changes nothing within a file.
            (&[&["05 b", "01 c", "06 d"], &["04 a", "07 e"]], "a b c d e", 0),
            (&[&["01 a", "09 e"], &["none"], &["03 b", "08 d"], &[], &["04 c"]], "a b c d e", 1),
            (&[&["01 a", "{\"type\":\"b\"}", "05 d"], &["02 c"]], "a b c d", 0),
        ];
        for (files, kinds, bad_lines) in table {
            assert_eq!(merged(files, 0), (kinds.split_whitespace().map(str::to_owned).collect(), bad_lines));
        }
        // Files that were begun before may go on with any time.
        let files: [&[&str]; 3] = [&["05 b"], &["07 c"], &["03 a"]];
        assert_eq!(merged(&files, 1).0, ["a", "b", "c"]);
    }

    #[test]
    fn more_files_than_are_opened_at_once_lose_nothing() {
        let lines: Vec<Vec<String>> =
            (0..OPEN_MAX + 10).map(|at| vec![format!("01 a{at}"), format!("02 b{at}")]).collect();
        let files: Vec<Vec<&str>> =
            lines.iter().map(|file| file.iter().map(String::as_str).collect()).collect();
        let files: Vec<&[&str]> = files.iter().map(Vec::as_slice).collect();
        assert_eq!(merged(&files, 0).0.len(), 2 * files.len());
    }
}
