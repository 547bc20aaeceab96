//! The files of a trail, and their lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::exit::Failure;

/// Folders deep that are looked into.
const DEPTH_MAX: usize = 12;
/// Longest line that is read, in bytes.
const LINE_BYTES_MAX: u64 = 4 << 20;

/// Event files below a path, oldest first: their names begin with their time.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = vec![];
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            // An old month may be removed while we look.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            entries => entries.map_err(|error| unreadable(&folder, &error))?,
        };
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&folder, &error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
            let path = entry.path();
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort_by_cached_key(|path| (order(path), path.clone()));
    Ok(found)
}

/// A file's time, and its number among those of one second: `2026-01-02T030405_12` comes after `…_9`.
fn order(path: &Path) -> (String, u32) {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let numbered =
        stem.rsplit_once('_').and_then(|(time, number)| Some((time.to_owned(), number.parse().ok()?)));
    numbered.unwrap_or((stem, 0))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed("io", format!("cannot read `{}`: {error}; look at its owner and mode", path.display()))
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// What stands on it, without the line end.
    pub bytes: Vec<u8>,
    /// Whether it ends: the last line of a file may still be written, or was cut short.
    pub is_whole: bool,
}

impl Line {
    /// The event, if it is one to look at.
    pub(crate) fn event(&self) -> Option<Value> {
        serde_json::from_slice::<Value>(&self.bytes).ok().filter(|event| event["type"].is_string())
    }
}

/// Reads a file line by line.
pub(crate) struct LineReader {
    path: PathBuf,
    reader: BufReader<File>,
    /// Bytes up to the end of the line that was read last.
    pub position: u64,
}

impl LineReader {
    /// Opens a file and begins `position` bytes into it.
    pub(crate) fn open(path: &Path, position: u64) -> Result<Self, Failure> {
        let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
        file.seek(SeekFrom::Start(position)).map_err(|error| unreadable(path, &error))?;
        Ok(Self { path: path.to_owned(), reader: BufReader::new(file), position })
    }

    /// The next line; `None` at the end. A line that is too long comes in pieces, which are no events.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line>, Failure> {
        let mut bytes = vec![];
        let taken = Read::by_ref(&mut self.reader)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut bytes)
            .map_err(|error| unreadable(&self.path, &error))?;
        if taken == 0 {
            return Ok(None);
        }
        self.position += taken as u64;
        let is_whole = bytes.last() == Some(&b'\n') || taken as u64 == LINE_BYTES_MAX;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Ok(Some(Line { bytes, is_whole }))
    }
}
