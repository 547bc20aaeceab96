//! The lock of a session's folder, and who holds it.
//!
//! Invariant: the lock is the system's, so it ends with its process; what the file says is only for people.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jiff::Timestamp;
use reyn_core::text::age_in_words;
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use super::{LOCK_FILE, LogError, io, no_link};

/// Longest text of a lock file that is read, in bytes.
const HOLDER_BYTES_MAX: u64 = 4096;
/// Attempts to lock a file that whoever held it has just removed.
const ATTEMPTS_MAX: usize = 8;
/// Open files of a process that are looked through for the lock.
const OPEN_FILES_MAX: usize = 65_536;

/// Who holds a session, as the lock file says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// Since when, as RFC 3339 in UTC.
    pub since: String,
}

/// Says that a session is in use, by whom, and what to do.
pub(super) fn in_use(id: &str, holder: Option<&Holder>, now: &str) -> String {
    let Some(Holder { pid, since }) = holder else {
        return format!(
            "the session `{id}` is in use by another process; wait until it ends, or use another session"
        );
    };
    let since = match (since.parse::<Timestamp>(), now.parse::<Timestamp>()) {
        (Ok(since), Ok(now)) => {
            let age = age_in_words(now.as_second().saturating_sub(since.as_second()));
            format!(" (since {since:.0}, {age})")
        }
        (Ok(_) | Err(_), Ok(_) | Err(_)) => String::new(),
    };
    format!(
        "the session `{id}` is in use by process {pid}{since}; wait until it ends, end it with `kill {pid}`, \
         or use another session"
    )
}

/// Takes the lock of a session's folder and says in it who has it.
///
/// # Errors
/// [`LogError::InUse`] when another process has it.
pub(crate) fn take_lock(folder: &Path, id: &str, now: &str) -> Result<File, LogError> {
    let path = folder.join(LOCK_FILE);
    for _ in 0..ATTEMPTS_MAX {
        let mut lock = no_link()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| io("open", &path, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = named_in(&lock);
                return Err(LogError::InUse { id: id.to_owned(), holder, now: now.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(io("lock", &path, source)),
        }
        if !is_at(&lock, &path) {
            continue;
        }
        let holder = Holder { pid: std::process::id(), since: now.to_owned() };
        let text = serde_json::to_string(&holder).expect("plain data");
        lock.set_len(0)
            .and_then(|()| lock.seek(SeekFrom::Start(0)))
            .and_then(|_| lock.write_all(text.as_bytes()))
            .map_err(|source| io("write", &path, source))?;
        return Ok(lock);
    }
    Err(io("lock", &path, std::io::Error::other("it was removed again and again")))
}

/// Whether a file that was opened by its path is still there. Whoever removed the session in the meantime
/// left us a lock that nobody else would meet.
fn is_at(lock: &File, path: &Path) -> bool {
    match (lock.metadata(), path.symlink_metadata()) {
        (Ok(opened), Ok(there)) => (opened.dev(), opened.ino()) == (there.dev(), there.ino()),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

fn named_in(lock: &File) -> Option<Holder> {
    let mut text = String::new();
    lock.take(HOLDER_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Who has a session open, without touching its lock: a lock taken for the blink of a look would refuse
/// whoever opens the session at that moment. `folder` is the session's.
///
/// For people, not for decisions: the process that the file names counts as long as it lives and has the
/// file open, or does not let us see what it has open.
pub(crate) fn holder(folder: impl std::os::fd::AsFd) -> Option<Holder> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let holder = {
        let lock = File::from(openat(&folder, LOCK_FILE, flags, Mode::empty()).ok()?);
        if !lock.metadata().ok()?.is_file() {
            return None;
        }
        named_in(&lock)?
    };
    let pid = i32::try_from(holder.pid).ok().and_then(Pid::from_raw)?;
    if !matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)) {
        return None;
    }
    let there = statat(&folder, LOCK_FILE, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let Ok(open_files) = std::fs::read_dir(format!("/proc/{}/fd", holder.pid)) else { return Some(holder) };
    let has_it_open = open_files
        .take(OPEN_FILES_MAX)
        .filter_map(Result::ok)
        .filter_map(|entry| std::fs::metadata(entry.path()).ok())
        .any(|open| (open.dev(), open.ino()) == (there.st_dev, there.st_ino));
    has_it_open.then_some(holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_was_removed_after_it_was_opened_is_not_the_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LOCK_FILE);
        let opened = File::create(&path).unwrap();
        assert!(is_at(&opened, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&opened, &path));
        let _another = File::create(&path).unwrap();
        assert!(!is_at(&opened, &path));
    }

    #[test]
    fn a_session_in_use_is_told_with_its_holder_and_the_next_step() {
        let holder = |since: &str| Holder { pid: 7, since: since.into() };
        let now = "2026-01-02T03:04:05Z";
        for (holder, words) in [
            (
                Some(holder("2026-01-02T01:00:00Z")),
                "by process 7 (since 2026-01-02T01:00:00Z, 2 h ago); wait until it ends, end it with `kill 7`, \
                 or use another session",
            ),
            (
                Some(holder("2026-01-02T03:04:05.123456789Z")),
                "by process 7 (since 2026-01-02T03:04:05Z, just now); wait until it ends, end it with `kill 7`, \
                 or use another session",
            ),
            (
                Some(holder("\u{1b}[2J")),
                "by process 7; wait until it ends, end it with `kill 7`, or use another session",
            ),
            (None, "by another process; wait until it ends, or use another session"),
        ] {
            assert_eq!(in_use("s", holder.as_ref(), now), format!("the session `s` is in use {words}"));
        }
    }
}
