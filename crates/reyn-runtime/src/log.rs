//! The conversation log on disk: `.reyn/state/sessions/<id>/log.jsonl`.
//!
//! Each line is `{"v":1,"crc":"…","rec":{"seq":…,"ts":…,"entry":{…}}}` with the CRC-32 of the bytes of
//! `rec`. Invariant: a record is in the file (one `write(2)`) before anything acts on it, and the file
//! is synced before an effect that changes something. A session has one writer.

mod head;
mod lock;
mod record;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use reyn_core::conversation::Entry;
use reyn_core::limits::LOG_BYTES_MAX;
use rustix::fs::OFlags;
use rustix::io::Errno;

pub(crate) use head::Head;
pub use lock::Holder;
pub(crate) use lock::{holder, take_lock};
pub use record::Record;
use record::line_for;
pub(crate) use record::{Scan, scan};

pub(crate) const LOG_FILE: &str = "log.jsonl";
pub(crate) const LOCK_FILE: &str = "lock";
pub(crate) const DAMAGED_FILE: &str = "log.damaged";
/// A log that is being written anew, until it takes the old one's place.
pub(crate) const SCRATCH_FILE: &str = "log.jsonl.new";
/// Folders that a session may be the first to make: its own, `sessions`, `state` and `.reyn`.
const FOLDERS_OF_OURS: usize = 4;

/// An open session log: the records, and the file they go to.
#[derive(Debug)]
pub struct ConversationLog {
    entries: Vec<Entry>,
    file: File,
    length: u64,
    next_seq: u64,
    is_dirty: bool,
    is_broken: bool,
    path: PathBuf,
    /// Folders in which a name is new, until the first sync.
    new_names_in: Vec<PathBuf>,
    _lock: File,
}

/// What opening a log found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenReport {
    /// Whether the session existed.
    pub is_resumed: bool,
    /// Bytes that were no good record and were moved aside.
    pub damaged_bytes: u64,
    /// Where they were moved.
    pub damaged_file: Option<PathBuf>,
}

/// Why a log cannot be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The name is no session name.
    #[error(
        "`{0}` is no session name: use 1 to 64 letters, digits, `-`, `_` or `.`, not starting with a dot"
    )]
    BadName(String),
    /// Another process writes it.
    #[error("{}", lock::in_use(id, holder.as_ref(), now))]
    InUse {
        /// The session.
        id: String,
        /// Who holds it; `None` when the lock file does not say.
        holder: Option<Holder>,
        /// When it was found to be so.
        now: String,
    },
    /// It was written by a later version.
    #[error("`{path}` was written by a newer version (format {version}); use that one to open it")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u32,
    },
    /// It is larger than any session should be.
    #[error("`{path}` is larger than {LOG_BYTES_MAX} bytes; start a new session")]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The system says no.
    #[error("cannot {what} `{path}`: {source}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// An earlier write failed half-way and could not be undone.
    #[error("`{0}` could not be written before; open the session again")]
    Broken(PathBuf),
}

/// Checks a session's name: it becomes a folder's name.
///
/// # Errors
/// [`LogError::BadName`].
pub fn check_name(id: &str) -> Result<(), LogError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_good = (1..=64).contains(&id.len()) && id.chars().all(is_plain) && !id.starts_with('.');
    if is_good { Ok(()) } else { Err(LogError::BadName(id.to_owned())) }
}

impl ConversationLog {
    /// Opens the session `id` below `sessions`, or begins it. What is no good record is moved to a side
    /// file; every good record is kept.
    ///
    /// # Errors
    /// When another process has it open, a newer version wrote it, or the system says no.
    pub fn open(sessions: &Path, id: &str, now: &str) -> Result<(Self, OpenReport), LogError> {
        check_name(id)?;
        let folder = sessions.join(id);
        check_own_folders(&folder, OWN_FOLDERS).map_err(|source| io("create", &folder, source))?;
        std::fs::create_dir_all(&folder).map_err(|source| io("create", &folder, source))?;
        let lock = take_lock(&folder, id, now)?;
        let path = folder.join(LOG_FILE);
        let mut file = no_link()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|source| io("open", &path, source))?;
        if !file.metadata().map_err(|source| io("open", &path, source))?.is_file() {
            return Err(io("open", &path, std::io::Error::other("it is not a regular file")));
        }
        let bytes = read_all(&mut file, &path)?;
        let scan = scan(&bytes, &path)?;
        let mut report = OpenReport { is_resumed: !bytes.is_empty(), ..OpenReport::default() };
        let mut length = bytes.len() as u64;
        if !scan.damage.is_empty() {
            let side = folder.join(DAMAGED_FILE);
            report.damaged_bytes = scan.damage.iter().map(|range| range.len() as u64).sum();
            set_aside(&side, &bytes, &scan.damage)?;
            report.damaged_file = Some(side);
            (file, length) = rewrite(file, &path, &bytes, &scan)?;
        }
        let next_seq = scan.last_seq().saturating_add(1);
        let log = Self {
            entries: scan.records.into_iter().map(|record| record.entry).collect(),
            file,
            length,
            next_seq,
            is_dirty: report.damaged_bytes > 0,
            is_broken: false,
            new_names_in: folder.ancestors().take(FOLDERS_OF_OURS).map(Path::to_owned).collect(),
            path,
            _lock: lock,
        };
        Ok((log, report))
    }

    /// The records, in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a record, then makes it part of [`Self::entries`]. A write that fails leaves neither.
    ///
    /// # Errors
    /// When the file cannot be written, for instance because the disk is full.
    pub fn append(&mut self, entry: Entry, now: &str) -> Result<(), LogError> {
        if self.is_broken {
            return Err(LogError::Broken(self.path.clone()));
        }
        let line = line_for(self.next_seq, now, &entry);
        if let Err(source) = self.file.write_all(&line) {
            // Part of the line may be there; without it the next record would fuse with that part.
            self.is_broken = self.file.set_len(self.length).is_err();
            return Err(io("write", &self.path, source));
        }
        self.length += line.len() as u64;
        self.next_seq = self.next_seq.saturating_add(1);
        self.is_dirty = true;
        self.entries.push(entry);
        Ok(())
    }

    /// Waits until every record is on the disk.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&mut self) -> Result<(), LogError> {
        if self.is_broken {
            return Err(LogError::Broken(self.path.clone()));
        }
        if self.is_dirty {
            // After a sync that failed, the next one can succeed without the records being there.
            self.is_broken = true;
            self.file.sync_data().map_err(|source| io("sync", &self.path, source))?;
            for folder in std::mem::take(&mut self.new_names_in) {
                sync_folder(&folder).map_err(|source| io("sync", &folder, source))?;
            }
            self.is_broken = false;
            self.is_dirty = false;
        }
        Ok(())
    }
}

/// How the files of a session are opened: never through a link, which could have them written elsewhere.
fn no_link() -> OpenOptions {
    let mut options = OpenOptions::new();
    // Without NONBLOCK, a pipe in the place of a log would be waited for.
    options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    options
}

/// `state`, `sessions` and the session's own.
pub(crate) const OWN_FOLDERS: usize = 3;

/// Refuses links among the last `count` folders of a path: they are the runtime's own, and a project could
/// bring them to have other places written.
///
/// # Errors
/// When one of them is a link or another thing that is no folder.
pub(crate) fn check_own_folders(path: &Path, count: usize) -> std::io::Result<()> {
    for folder in path.ancestors().take(count) {
        match folder.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => {
                let message = format!("`{}` is not a folder of its own; remove it", folder.display());
                return Err(std::io::Error::other(message));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Some file systems cannot sync a folder; that is no failure.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    match rustix::fs::fsync(File::open(folder)?) {
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

pub(crate) fn io(what: &'static str, path: &Path, source: std::io::Error) -> LogError {
    LogError::Io { what, path: path.to_owned(), source }
}

pub(crate) fn read_all(file: &mut File, path: &Path) -> Result<Vec<u8>, LogError> {
    let length = file.metadata().map_err(|source| io("read", path, source))?.len();
    if length > LOG_BYTES_MAX {
        return Err(LogError::TooLarge { path: path.to_owned() });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.read_to_end(&mut bytes).map_err(|source| io("read", path, source))?;
    Ok(bytes)
}

/// Keeps damaged bytes for whoever wants to look at them.
fn set_aside(side: &Path, bytes: &[u8], damage: &[std::ops::Range<usize>]) -> Result<(), LogError> {
    let mut file =
        no_link().append(true).create(true).open(side).map_err(|source| io("open", side, source))?;
    for range in damage {
        file.write_all(&bytes[range.clone()])
            .and_then(|()| file.write_all(b"\n"))
            .map_err(|source| io("write", side, source))?;
    }
    file.sync_data().map_err(|source| io("sync", side, source))
}

/// Leaves only the good records in the file: by cutting its end where that is enough, else by writing it
/// anew.
fn rewrite(file: File, path: &Path, bytes: &[u8], scan: &Scan) -> Result<(File, u64), LogError> {
    let good_end = scan.good.last().map_or(0, |range| range.end);
    let is_tail = scan.damage.iter().all(|range| range.start >= good_end);
    if is_tail {
        file.set_len(good_end as u64).map_err(|source| io("cut", path, source))?;
        return Ok((file, good_end as u64));
    }
    let scratch = path.with_file_name(SCRATCH_FILE);
    let mut new = no_link()
        .read(true)
        .append(true)
        .create(true)
        .open(&scratch)
        .map_err(|source| io("open", &scratch, source))?;
    new.set_len(0).map_err(|source| io("cut", &scratch, source))?;
    let good: Vec<u8> = scan.good.iter().flat_map(|range| &bytes[range.clone()]).copied().collect();
    new.write_all(&good).map_err(|source| io("write", &scratch, source))?;
    new.sync_all().map_err(|source| io("sync", &scratch, source))?;
    std::fs::rename(&scratch, path).map_err(|source| io("replace", path, source))?;
    Ok((new, good.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::conversation::{Ending, Reply};

    const NOW: &str = "2026-01-02T03:04:05Z";

    fn says(text: &str) -> Entry {
        Entry::User { text: text.into() }
    }

    fn open(dir: &Path) -> (ConversationLog, OpenReport) {
        ConversationLog::open(dir, "s", NOW).unwrap()
    }

    /// A log of three records, as bytes and as entries.
    fn three() -> (tempfile::TempDir, Vec<Entry>, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let entries = vec![
            says("日本語 \n line"),
            Entry::Reply(Reply { text: "{\"v\":1,\"crc\":\"".into(), ..Reply::default() }),
            Entry::Ended { ending: Ending::Answered },
        ];
        let (mut log, report) = open(dir.path());
        assert_eq!(report, OpenReport::default());
        for entry in &entries {
            log.append(entry.clone(), NOW).unwrap();
        }
        let bytes = std::fs::read(log.path()).unwrap();
        (dir, entries, bytes)
    }

    /// Puts `bytes` in place of the log, opens it, appends a record and opens it again.
    fn reopened(bytes: &[u8]) -> (Vec<Entry>, OpenReport, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("s")).unwrap();
        std::fs::write(dir.path().join("s/log.jsonl"), bytes).unwrap();
        let (mut log, report) = open(dir.path());
        let kept = log.entries().to_vec();
        log.append(says("next"), NOW).unwrap();
        drop(log);
        let (log, second) = open(dir.path());
        assert_eq!(second.damaged_bytes, 0, "damage is said once");
        assert_eq!(log.entries().len(), kept.len() + 1, "the next record round-trips");
        let side = std::fs::read(dir.path().join("s/log.damaged")).unwrap_or_default();
        (kept, report, side)
    }

    #[test]
    fn what_a_project_puts_in_the_place_of_our_folders_and_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("state")).unwrap();
        let sessions = dir.path().join("state/sessions");
        std::os::unix::fs::symlink(elsewhere.path(), &sessions).unwrap();
        let error = ConversationLog::open(&sessions, "s", NOW).unwrap_err();
        assert!(error.to_string().contains("is not a folder of its own"), "{error}");
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);

        std::fs::remove_file(&sessions).unwrap();
        std::fs::create_dir_all(sessions.join("s")).unwrap();
        let (mode, kind) = (rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(rustix::fs::CWD, sessions.join("s/log.jsonl"), kind, mode, 0).unwrap();
        let error = ConversationLog::open(&sessions, "s", NOW).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");

        std::fs::remove_file(sessions.join("s/log.jsonl")).unwrap();
        ConversationLog::open(&sessions, "s", NOW).unwrap();
    }

    #[test]
    fn records_come_back_as_they_were_written() {
        let (dir, entries, _) = three();
        let (log, report) = open(dir.path());
        assert_eq!(log.entries(), entries);
        assert_eq!(report, OpenReport { is_resumed: true, ..OpenReport::default() });
    }

    #[test]
    fn a_log_cut_at_any_byte_keeps_every_whole_record() {
        let (_dir, entries, bytes) = three();
        for cut in 0..bytes.len() {
            let whole = bytes[..cut].iter().filter(|byte| **byte == b'\n').count();
            let (kept, report, _) = reopened(&bytes[..cut]);
            assert_eq!(kept, entries[..whole], "cut at {cut}");
            let end = bytes[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            assert_eq!(report.damaged_bytes, (cut - end) as u64);
        }
    }

    #[test]
    fn damage_in_the_middle_is_moved_aside_and_the_rest_is_kept() {
        let (_dir, entries, bytes) = three();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let flipped: Vec<u8> = lines[1].iter().map(|byte| if *byte == b'c' { b'x' } else { *byte }).collect();
        for (damage, joins) in [
            (b"\0\0\0\0\0\0".to_vec(), true),
            (b"\0\0\0\n".to_vec(), true),
            (b"\xe6\x97\n".to_vec(), true),
            (b"not json\n".to_vec(), true),
            (lines[1][..lines[1].len() / 2].to_vec(), true),
            (flipped, false),
        ] {
            let middle: &[u8] = if joins { lines[1] } else { b"" };
            let file = [lines[0], &damage, middle, lines[2]].concat();
            let expected: Vec<Entry> =
                if joins { entries.clone() } else { vec![entries[0].clone(), entries[2].clone()] };
            let (kept, report, side) = reopened(&file);
            assert_eq!(kept, expected, "{}", String::from_utf8_lossy(&damage));
            assert_eq!(report.damaged_bytes, damage.len() as u64);
            assert_eq!(side, [damage.as_slice(), b"\n"].concat());
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        for name in [LOG_FILE, LOCK_FILE, DAMAGED_FILE] {
            let dir = tempfile::tempdir().unwrap();
            let outside = dir.path().join("outside");
            std::fs::write(&outside, "theirs").unwrap();
            std::fs::create_dir(dir.path().join("s")).unwrap();
            std::fs::write(dir.path().join("s").join(LOG_FILE), "damage\n").unwrap();
            let _ = std::fs::remove_file(dir.path().join("s").join(name));
            std::os::unix::fs::symlink(&outside, dir.path().join("s").join(name)).unwrap();
            assert!(
                matches!(ConversationLog::open(dir.path(), "s", NOW), Err(LogError::Io { .. })),
                "{name}"
            );
            assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs", "{name}");
        }
    }

    #[test]
    fn a_number_at_the_end_of_its_range_does_not_overflow() {
        let line = line_for(u64::MAX, NOW, &says("last"));
        let (kept, report, _) = reopened(&line);
        assert_eq!((kept, report.damaged_bytes), (vec![says("last")], 0));
    }

    #[test]
    fn arguments_nested_as_deep_as_they_may_be_come_back() {
        use reyn_core::limits::ARGUMENT_DEPTH_MAX;
        use reyn_core::tool::{Args, ToolCall};
        let nested = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1));
        for depth in [ARGUMENT_DEPTH_MAX, ARGUMENT_DEPTH_MAX + 1, 127] {
            let args = Args::parse(&nested(depth), false);
            let call = ToolCall { id: "a".into(), name: "x".into(), args };
            let entry = Entry::Reply(Reply { calls: vec![call], ..Reply::default() });
            let (kept, report, _) = reopened(&line_for(1, NOW, &entry));
            assert_eq!((kept, report.damaged_bytes), (vec![entry], 0), "{depth} levels");
        }
    }

    #[test]
    fn a_second_writer_is_told_who_holds_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let (_log, _) = open(dir.path());
        let error = ConversationLog::open(dir.path(), "s", NOW).unwrap_err().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        assert!(error.contains(NOW), "{error}");
    }

    #[test]
    fn a_newer_format_is_refused_and_left_as_it_is() {
        let (dir, _, bytes) = three();
        let text = String::from_utf8(bytes).unwrap().replacen("{\"v\":1,", "{\"v\":2,", 1);
        std::fs::write(dir.path().join("s/log.jsonl"), &text).unwrap();
        assert!(matches!(
            ConversationLog::open(dir.path(), "s", NOW),
            Err(LogError::Newer { version: 2, .. })
        ));
        assert_eq!(std::fs::read_to_string(dir.path().join("s/log.jsonl")).unwrap(), text);
    }

    #[test]
    fn a_name_that_is_no_plain_folder_name_is_refused() {
        for name in ["", ".", "..", ".x", "a/b", "a\\b", "é", &"x".repeat(65)] {
            assert!(matches!(check_name(name), Err(LogError::BadName(_))), "{name:?}");
        }
        assert!(check_name("2026-01-02.a_b").is_ok());
    }
}
