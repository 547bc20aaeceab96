//! A lock that several processes take in turn, on a file of the workspace.
//!
//! Invariant: the lock is the system's, so it ends with its process; nothing is ever read from the file.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::Workspace;
use crate::bounds::LOCK_MS_MAX;
use crate::error::FileError;
use crate::open::words;

/// How long between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

impl Workspace {
    /// Waits for the lock on `path`, which is relative to the workspace, and makes its file where it is missing. It is
    /// let go when the file is dropped. Blocks.
    ///
    /// # Errors
    /// When somebody else keeps it for longer than [`LOCK_MS_MAX`], or its file cannot be opened.
    pub fn lock(&self, path: &str) -> Result<File, FileError> {
        let place = self.root().join(path);
        let failed = |why: String| FileError::failed(format!("cannot lock `{path}`: {why}"));
        let name = place.file_name().ok_or_else(|| failed("it names no file".to_owned()))?;
        let folder = self.open_or_make(place.parent().unwrap_or(Path::new("/")));
        let folder = folder.map_err(|errno| failed(words(errno)))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o600));
        let lock = File::from(opened.map_err(|errno| failed(words(errno)))?);
        let deadline = Instant::now() + Duration::from_millis(LOCK_MS_MAX);
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let message = format!("another process keeps it longer than {} s", LOCK_MS_MAX / 1000);
                    return Err(failed(message).hint("try again when it is done"));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error.to_string())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::Place;

    #[test]
    fn one_has_it_until_it_lets_it_go() {
        let place = Place::new();
        let first = place.lock("state/a.lock").unwrap();
        let other = std::fs::File::open(place.at("state/a.lock")).unwrap();
        assert!(matches!(other.try_lock(), Err(std::fs::TryLockError::WouldBlock)));
        drop(first);
        other.try_lock().unwrap();
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let place = Place::new();
        std::os::unix::fs::symlink(place.outside().join("x"), place.at("a.lock")).unwrap();
        let error = place.lock("a.lock").unwrap_err();
        assert!(error.to_string().starts_with("cannot lock `a.lock`: "), "{error}");
        assert!(!place.outside().join("x").exists());
    }
}
