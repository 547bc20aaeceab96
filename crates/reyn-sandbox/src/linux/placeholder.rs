//! Empty stand-ins for protected entries that are not there, so that a run cannot make them.
//!
//! A stand-in is told from a person's own empty file by its time and mode. Runs that share one hold a shared
//! lock on it; the last removes it. What was put in its place meanwhile is left alone.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;

/// Seconds since the epoch at which a stand-in was changed: a time that no real file has.
const MARK_SECONDS: i64 = 271_828;
/// How often making one is tried again when another run removes it at the same moment.
const TRIES_MAX: usize = 16;

/// A stand-in that this run made or shares.
#[derive(Debug)]
pub(super) struct Placeholder {
    path: PathBuf,
    is_folder: bool,
    held: OwnedFd,
}

/// What is at a path now.
#[derive(Debug)]
pub(super) enum Held {
    /// A stand-in, to be released after the run.
    StandIn(Placeholder),
    /// Something real.
    Real,
    /// Nothing, and nothing can be made there: not by a run of the same user either.
    Impossible,
}

impl Placeholder {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a stand-in at a path where nothing is, or shares the one that is there.
    pub(super) fn hold(path: &Path, is_folder: bool) -> io::Result<Held> {
        for _ in 0..TRIES_MAX {
            match make(path, is_folder) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => return Ok(Held::Impossible),
                Err(error) => return Err(error.into()),
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let held = match rustix::fs::open(path, flags, Mode::empty()) {
                Ok(held) => held,
                Err(Errno::NOENT) => continue,
                Err(Errno::LOOP | Errno::ACCESS | Errno::NXIO) => return Ok(Held::Real),
                Err(error) => return Err(error.into()),
            };
            if !is_marked(&rustix::fs::fstat(&held)?) {
                return Ok(Held::Real);
            }
            match rustix::fs::flock(&held, FlockOperation::NonBlockingLockShared) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => continue,
                Err(error) => return Err(error.into()),
            }
            if is_at(&held, path)? {
                return Ok(Held::StandIn(Self { path: path.to_owned(), is_folder, held }));
            }
        }
        Err(io::Error::other("it appears and disappears"))
    }

    /// Removes the stand-in unless another run holds it or something else took its place.
    pub(super) fn release(self) {
        if rustix::fs::flock(&self.held, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        let is_ours = is_at(&self.held, &self.path).unwrap_or(false)
            && rustix::fs::fstat(&self.held).is_ok_and(|stat| is_marked(&stat));
        if is_ours {
            let flags = if self.is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            // A folder that is not empty any more stays, as does what the system will not remove.
            let _ = rustix::fs::unlinkat(rustix::fs::CWD, &self.path, flags);
        }
    }
}

/// Makes and marks one; under a name of its own first, so that nobody sees it without its mark.
fn make(path: &Path, is_folder: bool) -> Result<(), Errno> {
    if rustix::fs::lstat(path).is_ok() {
        return Err(Errno::EXIST);
    }
    let mut hidden = path.as_os_str().to_owned();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    hidden.push(format!(".reyn-{}-{now}", std::process::id()));
    let (flags, mode) = if is_folder {
        rustix::fs::mkdir(&hidden, Mode::from_raw_mode(0o555))?;
        (OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW, 0)
    } else {
        (OFlags::RDONLY | OFlags::CREATE | OFlags::EXCL, 0o444)
    };
    let made = rustix::fs::open(&hidden, flags | OFlags::CLOEXEC, Mode::from_raw_mode(mode))?;
    let time = Timespec { tv_sec: MARK_SECONDS, tv_nsec: 0 };
    let marked = rustix::fs::futimens(&made, &Timestamps { last_access: time, last_modification: time });
    let named = marked.and_then(|()| {
        let cwd = rustix::fs::CWD;
        rustix::fs::renameat_with(cwd, &hidden, cwd, path, rustix::fs::RenameFlags::NOREPLACE)
    });
    if named.is_err() {
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let _ = rustix::fs::unlinkat(rustix::fs::CWD, &hidden, flags);
    }
    named
}

/// Whether an entry looks like a stand-in, which [`Placeholder::hold`] then makes sure of.
pub(super) fn may_be(found: &std::fs::Metadata) -> bool {
    found.mtime() == MARK_SECONDS && (found.is_dir() || found.is_file() && found.len() == 0)
}

fn is_marked(stat: &Stat) -> bool {
    let is_folder = stat.st_mode & 0o170_000 == 0o040_000;
    stat.st_mtime == MARK_SECONDS && (is_folder || stat.st_size == 0)
}

fn is_at(held: &OwnedFd, path: &Path) -> io::Result<bool> {
    let stat = rustix::fs::fstat(held)?;
    match rustix::fs::lstat(path) {
        Ok(there) => Ok((there.st_dev, there.st_ino) == (stat.st_dev, stat.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(path: &Path, is_folder: bool) -> Placeholder {
        match Placeholder::hold(path, is_folder).unwrap() {
            Held::StandIn(held) => held,
            other @ (Held::Real | Held::Impossible) => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_holder_removes_it() {
        let folder = tempfile::tempdir().unwrap();
        for (name, is_folder) in [("file", false), ("folder", true)] {
            let path = folder.path().join(name);
            let (first, second) = (hold(&path, is_folder), hold(&path, is_folder));
            first.release();
            assert!(path.exists(), "{name}");
            second.release();
            assert!(!path.exists(), "{name}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_person_put_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let held = hold(&path, false);
        std::fs::write(folder.path().join("new"), "real").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        held.release();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "real");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(Placeholder::hold(&path, false).unwrap(), Held::Real));
    }
}
