//! The sessions of a project: listing, reading, repairing and removing them.
//!
//! Invariant: looking at a session takes no lock and follows no link, so it disturbs no writer and reads
//! nothing but logs; what changes one holds its lock.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use reyn_core::conversation::Entry;
use reyn_core::limits::{SESSION_HEAD_BYTES_MAX, SESSION_TITLE_CHARS_MAX, SESSIONS_MAX};
use reyn_core::text::{excerpt, is_invisible};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use crate::log::{
    ConversationLog, Head, Holder, LOG_FILE, LogError, OpenReport, Record, Scan, check_name,
    check_own_folders, holder, io, read_all, scan,
};

mod claim;
mod find;

pub use claim::{Claim, Removed};
pub use find::FindError;

/// The sessions of one project.
#[derive(Debug, Clone)]
pub struct Sessions {
    folder: PathBuf,
}

/// What a list says of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its name.
    pub id: String,
    /// The first line of its first message, without control characters; `None` when it has none.
    pub title: Option<String>,
    /// When its first record was written.
    pub started: Option<Timestamp>,
    /// When its log was last written.
    pub changed: Timestamp,
    /// Its turns; `None` when its log is longer than [`SESSION_HEAD_BYTES_MAX`] and was not read for that.
    pub turns: Option<u64>,
    /// Size of its log, in bytes.
    pub bytes: u64,
    /// Who has it open.
    pub holder: Option<Holder>,
}

/// Some sessions, newest first, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The ones that were asked for.
    pub sessions: Vec<SessionSummary>,
    /// How many there are.
    pub total: usize,
}

/// A session as it is on the disk.
#[derive(Debug)]
pub struct StoredSession {
    /// What a list says of it, with its turns counted.
    pub summary: SessionSummary,
    /// The good records, in the order of the file.
    pub records: Vec<Record>,
    /// The bytes of the file that are no good record. Without the record that is being written now.
    pub damage: Vec<Range<usize>>,
    /// Records that do not count up, which no process of ours writes.
    pub out_of_order: Vec<OutOfOrder>,
    /// Records whose numbers are missing between those that are there.
    pub missing: u64,
    bytes: Vec<u8>,
    good: Vec<Range<usize>>,
}

/// A record that does not count up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfOrder {
    /// Its number.
    pub seq: u64,
    /// The number of the one before.
    pub after: u64,
    /// Where it begins, in bytes.
    pub at: usize,
}

/// What a repair found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// Good records, all of which are kept.
    pub records: usize,
    /// What was moved aside, and where to.
    pub report: OpenReport,
}

/// A session's name with what the file system says of its log.
struct Stamp {
    id: String,
    changed: Timestamp,
    bytes: u64,
}

impl Stamp {
    /// `None` when the log is no regular file.
    fn new(id: &str, stat: &Stat) -> Option<Self> {
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let nanoseconds = i32::try_from(stat.st_mtime_nsec).unwrap_or(0);
        let changed = Timestamp::new(stat.st_mtime, nanoseconds).unwrap_or(Timestamp::UNIX_EPOCH);
        Some(Self { id: id.to_owned(), changed, bytes: u64::try_from(stat.st_size).unwrap_or(0) })
    }
}

impl Sessions {
    /// The sessions below a project's `.reyn` folder; nothing is read yet.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("state").join("sessions") }
    }

    /// The sessions whose logs were written last, newest first, at most `count`.
    ///
    /// Looks at every log's time and reads the first [`SESSION_HEAD_BYTES_MAX`] bytes of those that are
    /// shown. What is no session, such as a link, is left out.
    ///
    /// # Errors
    /// When the folder cannot be read, or is not a folder of its own.
    pub fn latest(&self, count: usize) -> Result<Listing, LogError> {
        let Some(folder) = self.open_folder()? else { return Ok(Listing::default()) };
        let mut stamps = self.stamps(&folder)?;
        let total = stamps.len();
        stamps.truncate(count);
        let sessions = stamps.into_iter().map(|stamp| self.summary(&folder, stamp)).collect();
        Ok(Listing { sessions, total })
    }

    /// Every session, newest first; see [`Self::latest`].
    ///
    /// # Errors
    /// When the folder cannot be read, or is not a folder of its own.
    pub fn all(&self) -> Result<Listing, LogError> {
        self.latest(usize::MAX)
    }

    /// Every session's name, newest first.
    ///
    /// # Errors
    /// When the folder cannot be read, or is not a folder of its own.
    pub fn ids(&self) -> Result<Vec<String>, LogError> {
        let Some(folder) = self.open_folder()? else { return Ok(vec![]) };
        Ok(self.stamps(&folder)?.into_iter().map(|stamp| stamp.id).collect())
    }

    /// The name of the session whose log was written last; `None` when there is none. One in which nothing
    /// was said does not count.
    ///
    /// # Errors
    /// When the folder cannot be read, or is not a folder of its own.
    pub fn latest_id(&self) -> Result<Option<String>, LogError> {
        let Some(folder) = self.open_folder()? else { return Ok(None) };
        Ok(self.stamps(&folder)?.into_iter().find(|stamp| stamp.bytes > 0).map(|stamp| stamp.id))
    }

    /// Reads a session without taking its lock, and checks every record of it.
    ///
    /// # Errors
    /// When there is no such session, a newer version wrote it, or the system says no.
    pub fn read(&self, id: &str) -> Result<StoredSession, LogError> {
        check_name(id)?;
        let path = self.path_of(id);
        let none = || io("open", &path, std::io::ErrorKind::NotFound.into());
        let folder = self.open_folder()?.ok_or_else(none)?;
        let session = open_folder_at(&folder, id).map_err(|errno| io("open", &path, errno.into()))?;
        let mut log = open_log(&session).map_err(|source| io("open", &path, source))?;
        let stamp = rustix::fs::fstat(&log).ok().and_then(|stat| Stamp::new(id, &stat)).ok_or_else(none)?;
        let bytes = read_all(&mut log, &path)?;
        let Scan { records, good, mut damage } = scan(&bytes, &path)?;
        let holder = holder(session.as_fd());
        let is_being_written = |last: &Range<usize>| last.end == bytes.len() && bytes.last() != Some(&b'\n');
        if holder.is_some() {
            damage.pop_if(|last| is_being_written(last));
        }
        let (out_of_order, missing) = order_of(&records, &good);
        let messages = records.iter().filter_map(|record| message_of(&record.entry));
        let summary = SessionSummary {
            title: messages.clone().next().and_then(title_of),
            started: records.first().and_then(|record| record.ts.parse().ok()),
            turns: Some(messages.count() as u64),
            id: stamp.id,
            changed: stamp.changed,
            bytes: bytes.len() as u64,
            holder,
        };
        Ok(StoredSession { summary, records, damage, out_of_order, missing, bytes, good })
    }

    /// Opens a session under its lock, which moves aside what is no good record, and waits until that is on
    /// the disk. A sound session stays as it is.
    ///
    /// # Errors
    /// When there is no such session, another process has it open, or the system says no.
    pub fn repair(&self, id: &str, now: Timestamp) -> Result<Repair, LogError> {
        check_name(id)?;
        // Opening would begin a session that is not there.
        if self.open_folder()?.is_none_or(|folder| !is_there(&folder, id)) {
            return Err(io("open", &self.path_of(id), std::io::ErrorKind::NotFound.into()));
        }
        let (mut log, report) = ConversationLog::open(&self.folder, id, &now.to_string())?;
        log.sync()?;
        Ok(Repair { records: log.entries().len(), report })
    }

    /// Takes a session's lock, so that nobody opens it until it is removed or the claim is dropped.
    ///
    /// # Errors
    /// When there is no such session, another process has it open, or the system says no.
    pub fn claim(&self, id: &str, now: Timestamp) -> Result<Claim, LogError> {
        Claim::take(&self.folder, id, now)
    }

    /// Removes a session: its own files, then its folder when nothing else is in it.
    ///
    /// # Errors
    /// As [`Self::claim`], or when the system does not remove a file.
    pub fn remove(&self, id: &str, now: Timestamp) -> Result<Removed, LogError> {
        self.claim(id, now)?.remove()
    }

    fn path_of(&self, id: &str) -> PathBuf {
        self.folder.join(id).join(LOG_FILE)
    }

    /// The folder of all sessions; `None` when there is none yet.
    fn open_folder(&self) -> Result<Option<OwnedFd>, LogError> {
        let fail = |source| io("open", &self.folder, source);
        // `state` and `sessions`.
        check_own_folders(&self.folder, 2).map_err(fail)?;
        match openat(CWD, &self.folder, FOLDER, Mode::empty()) {
            Ok(folder) => Ok(Some(folder)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(fail(errno.into())),
        }
    }

    /// Every session, newest first; of two of the same time, the one whose name is later.
    fn stamps(&self, folder: &OwnedFd) -> Result<Vec<Stamp>, LogError> {
        let fail = |errno: Errno| io("read", &self.folder, errno.into());
        let mut stamps = vec![];
        for entry in Dir::read_from(folder).map_err(fail)?.take(SESSIONS_MAX) {
            let entry = entry.map_err(fail)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if check_name(name).is_err() {
                continue;
            }
            let is_folder = match entry.file_type() {
                FileType::Directory => true,
                // Some file systems do not say.
                FileType::Unknown => statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory),
                FileType::RegularFile
                | FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice => false,
            };
            if is_folder {
                stamps.extend(stamp_of(folder, name));
            }
        }
        stamps.sort_unstable_by(|left, right| {
            right.changed.cmp(&left.changed).then_with(|| right.id.cmp(&left.id))
        });
        Ok(stamps)
    }

    fn summary(&self, folder: &OwnedFd, stamp: Stamp) -> SessionSummary {
        let session = open_folder_at(folder, &stamp.id).ok();
        let mut bytes = vec![];
        if let Some(log) = session.as_ref().and_then(|session| open_log(session).ok()) {
            // A log that cannot be read is listed without what it would say; reading it alone says why.
            let _ = log.take(SESSION_HEAD_BYTES_MAX).read_to_end(&mut bytes);
        }
        let head = Head::of(&bytes, &self.path_of(&stamp.id));
        SessionSummary {
            title: head.message.as_deref().and_then(title_of),
            started: head.started.and_then(|text| text.parse().ok()),
            turns: (bytes.len() as u64 >= stamp.bytes && stamp.bytes < SESSION_HEAD_BYTES_MAX)
                .then_some(head.messages),
            holder: session.and_then(|session| holder(session.as_fd())),
            id: stamp.id,
            changed: stamp.changed,
            bytes: stamp.bytes,
        }
    }
}

impl StoredSession {
    /// Whether every byte is a good record, and the records count up.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.damage.is_empty() && self.out_of_order.is_empty()
    }

    /// What was recorded, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.records.iter().map(|record| &record.entry)
    }

    /// The lines of the good records as they are stored, each with its line end. As the log of another
    /// folder they are a session again.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.good.iter().map(|range| &self.bytes[range.clone()])
    }
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn open_folder_at(folder: &OwnedFd, id: &str) -> Result<OwnedFd, Errno> {
    openat(folder, id, FOLDER, Mode::empty())
}

/// Opens the log of a session's folder; it must be a regular file of its own.
fn open_log(session: &OwnedFd) -> std::io::Result<File> {
    // Without NONBLOCK, a pipe in the place of a log would be waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let log = File::from(openat(session, LOG_FILE, flags, Mode::empty())?);
    if log.metadata()?.is_file() { Ok(log) } else { Err(std::io::Error::other("it is not a regular file")) }
}

/// Whether there is a session of this name: a folder of its own with a log of its own.
fn is_there(folder: &OwnedFd, id: &str) -> bool {
    open_folder_at(folder, id).is_ok_and(|session| {
        statat(&session, LOG_FILE, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
    })
}

/// What the file system says of the log in a folder that is no link.
fn stamp_of(folder: &OwnedFd, id: &str) -> Option<Stamp> {
    let log = format!("{id}/{LOG_FILE}");
    statat(folder, log, AtFlags::SYMLINK_NOFOLLOW).ok().and_then(|stat| Stamp::new(id, &stat))
}

const fn message_of(entry: &Entry) -> Option<&String> {
    match entry {
        Entry::User { text } => Some(text),
        Entry::Said { .. }
        | Entry::Reply(_)
        | Entry::Started { .. }
        | Entry::Finished { .. }
        | Entry::Nudged
        | Entry::LimitReached { .. }
        | Entry::Ended { .. } => None,
    }
}

/// The first line that says something, as a list can show it.
fn title_of(message: impl AsRef<str>) -> Option<String> {
    message.as_ref().lines().map(cleaned).find(|line| !line.chars().all(is_invisible))
}

fn cleaned(line: &str) -> String {
    // A pasted line can be megabytes; what is far behind the end of a title is not looked at.
    let start = line.chars().take(SESSION_TITLE_CHARS_MAX * 4);
    // Joiners and variation selectors are part of how emoji and some scripts are spelled.
    let is_spelling = |c| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    let clean: String = start
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !is_invisible(*c) || is_spelling(*c))
        .collect();
    excerpt(clean.trim(), SESSION_TITLE_CHARS_MAX)
}

/// Records that do not count up, and how many numbers are missing.
fn order_of(records: &[Record], good: &[Range<usize>]) -> (Vec<OutOfOrder>, u64) {
    let mut out_of_order = vec![];
    let mut missing = 0_u64;
    let mut after = 0;
    for (record, range) in records.iter().zip(good) {
        match record.seq.checked_sub(after) {
            None | Some(0) => out_of_order.push(OutOfOrder { seq: record.seq, after, at: range.start }),
            Some(step) => missing = missing.saturating_add(step - 1),
        }
        after = record.seq;
    }
    (out_of_order, missing)
}

#[cfg(test)]
#[path = "sessions/tests.rs"]
mod tests;
