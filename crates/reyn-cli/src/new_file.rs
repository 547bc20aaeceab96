//! A file that a person asked for: written whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use reyn_core::permission::SCRATCH_PREFIX;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Why a file was not written.
#[derive(Debug)]
pub(crate) enum NewFileError {
    /// Something is there.
    Exists(PathBuf),
    /// The system says no.
    Io {
        /// Which file.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
}

impl std::fmt::Display for NewFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exists(path) => write!(f, "`{}` is there already", path.display()),
            Self::Io { path, source } => write!(f, "cannot write `{}`: {source}", path.display()),
        }
    }
}

/// Writes a file that only its owner can read. What is there is replaced only when it may be; a link is
/// replaced itself, never written through.
///
/// # Errors
/// When something is there, or the system says no; then nothing is changed.
pub(crate) fn write(path: &Path, bytes: &[u8], may_replace: bool) -> Result<(), NewFileError> {
    let fail = |source| NewFileError::Io { path: path.to_owned(), source };
    if !may_replace && path.symlink_metadata().is_ok() {
        return Err(NewFileError::Exists(path.to_owned()));
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    let scratch = folder.join(format!("{SCRATCH_PREFIX}export-{}", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&scratch).map_err(fail)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(fail)
        .and_then(|()| put(&scratch, path, may_replace));
    if written.is_err() {
        let _ = std::fs::remove_file(&scratch);
        return written;
    }
    match rustix::fs::fsync(File::open(folder).map_err(fail)?) {
        // Some file systems cannot sync a folder; that is no failure.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(fail(errno.into())),
    }
}

fn put(scratch: &Path, path: &Path, may_replace: bool) -> Result<(), NewFileError> {
    let fail = |source| NewFileError::Io { path: path.to_owned(), source };
    if may_replace {
        return std::fs::rename(scratch, path).map_err(fail);
    }
    match renameat_with(CWD, scratch, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(NewFileError::Exists(path.to_owned())),
        // Not every file system can rename without replacing; a second name replaces nothing either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            std::fs::hard_link(scratch, path).map_err(fail)?;
            std::fs::remove_file(scratch).map_err(fail)
        }
        Err(errno) => Err(fail(errno.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_replaced_only_when_it_may_be() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.md");
        write(&path, b"one", false).unwrap();
        assert!(matches!(write(&path, b"two", false), Err(NewFileError::Exists(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write(&path, b"three", true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing beside it");
    }

    #[test]
    fn a_file_that_came_in_the_meantime_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let [scratch, path] = ["scratch", "out"].map(|name| dir.path().join(name));
        std::fs::write(&scratch, "ours").unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert!(matches!(put(&scratch, &path, false), Err(NewFileError::Exists(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[test]
    fn a_link_is_replaced_itself() {
        let dir = tempfile::tempdir().unwrap();
        let [outside, link] = ["outside", "link"].map(|name| dir.path().join(name));
        std::fs::write(&outside, "theirs").unwrap();
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        assert!(matches!(write(&link, b"ours", false), Err(NewFileError::Exists(_))));
        write(&link, b"ours", true).unwrap();
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs");
        assert!(link.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn a_file_that_cannot_take_its_place_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(write(&path, b"x", true), Err(NewFileError::Io { .. })));
        assert!(matches!(write(&dir.path().join("no/x"), b"x", false), Err(NewFileError::Io { .. })));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
