//! The lines of a log: how a record is written, and how good records are found among damage.

use std::ops::Range;
use std::path::Path;

use reyn_core::conversation::Entry;
use serde::{Deserialize, Serialize};

use super::LogError;

/// Version of the lines that are written.
pub(super) const VERSION: u32 = 1;
/// The start of every line of every version.
const LINE_START: &[u8] = b"{\"v\":";

/// A record of a log, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number; counts up.
    pub seq: u64,
    /// When it was written, as RFC 3339 in UTC.
    #[serde(default)]
    pub ts: String,
    /// What it says.
    pub entry: Entry,
}

#[derive(Serialize)]
struct RecordOut<'a> {
    seq: u64,
    ts: &'a str,
    entry: &'a Entry,
}

/// One line with its guard and its newline.
pub(super) fn line_for(seq: u64, ts: &str, entry: &Entry) -> Vec<u8> {
    let record = serde_json::to_vec(&RecordOut { seq, ts, entry }).expect("an entry is plain data");
    let crc = crc32fast::hash(&record);
    let mut line = format!("{{\"v\":{VERSION},\"crc\":\"{crc:08x}\",\"rec\":").into_bytes();
    line.extend_from_slice(&record);
    line.extend_from_slice(b"}\n");
    line
}

/// What a file holds: the good records, where they stand, and what is between them.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The good records, in the order of the file.
    pub(crate) records: Vec<Record>,
    /// The bytes of each, its newline included.
    pub(crate) good: Vec<Range<usize>>,
    /// The bytes that are no good record.
    pub(crate) damage: Vec<Range<usize>>,
}

impl Scan {
    /// The highest number of a record; 0 when there is none.
    pub(super) fn last_seq(&self) -> u64 {
        self.records.iter().map(|record| record.seq).max().unwrap_or(0)
    }
}

/// Reads every line of a file.
///
/// # Errors
/// [`LogError::Newer`] when a good line is of a later version.
pub(crate) fn scan(bytes: &[u8], path: &Path) -> Result<Scan, LogError> {
    let mut scan = Scan::default();
    let mut start = 0;
    while start < bytes.len() {
        let newline = memchr::memchr(b'\n', &bytes[start..]).map(|at| start + at);
        let end = newline.unwrap_or(bytes.len());
        let next = newline.map_or(bytes.len(), |at| at + 1);
        let record = if newline.is_some() { record_in(&bytes[start..end], path)? } else { None };
        match record {
            Some((offset, record)) => {
                if offset > 0 {
                    scan.damage.push(start..start + offset);
                }
                scan.good.push(start + offset..next);
                scan.records.push(record);
            }
            None => scan.damage.push(start..next),
        }
        start = next;
    }
    Ok(scan)
}

/// The record of a line, with the offset at which it begins: a write that was cut short, or a block of
/// NULs, may stand before it.
pub(super) fn record_in(line: &[u8], path: &Path) -> Result<Option<(usize, Record)>, LogError> {
    for offset in memchr::memmem::find_iter(line, LINE_START) {
        match parse_line(&line[offset..]) {
            Ok(None) => {}
            Ok(Some(record)) => return Ok(Some((offset, record))),
            Err(version) => return Err(LogError::Newer { path: path.to_owned(), version }),
        }
    }
    Ok(None)
}

/// The record that these bytes are; `None` when they are none, and the version when it is a later one.
fn parse_line(bytes: &[u8]) -> Result<Option<Record>, u32> {
    let Some((version, crc, record)) = parts_of(bytes) else { return Ok(None) };
    if crc != crc32fast::hash(record) {
        return Ok(None);
    }
    if version > VERSION {
        return Err(version);
    }
    Ok(serde_json::from_slice(record).ok())
}

/// The version, the guard and the record of a line.
fn parts_of(line: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (version, crc, rest) = guard_of(line)?;
    Some((version, crc, rest.strip_suffix(b"}")?))
}

/// The version and the guard of a line, and what follows them.
pub(super) fn guard_of(line: &[u8]) -> Option<(u32, u32, &[u8])> {
    let rest = line.strip_prefix(LINE_START)?;
    let (version, rest) = rest.split_at(memchr::memchr(b',', rest)?);
    let version = std::str::from_utf8(version).ok()?.parse().ok()?;
    let (crc, rest) = rest.strip_prefix(b",\"crc\":\"")?.split_at_checked(8)?;
    let crc = u32::from_str_radix(std::str::from_utf8(crc).ok()?, 16).ok()?;
    Some((version, crc, rest.strip_prefix(b"\",\"rec\":")?))
}
