//! A session that is about to be removed: nobody else can open it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, openat, statat, unlinkat};
use rustix::io::Errno;

use super::{FOLDER, open_folder_at};
use crate::log::{
    DAMAGED_FILE, LOCK_FILE, LOG_FILE, LogError, OWN_FOLDERS, SCRATCH_FILE, check_name, check_own_folders,
    io, sync_folder, take_lock,
};

/// The files of a session. Its log goes late, so that a removal that was cut short can be asked for again.
const OWN_FILES: [&str; 4] = [DAMAGED_FILE, SCRATCH_FILE, LOG_FILE, LOCK_FILE];
/// Names of foreign files that are told.
const LEFT_SHOWN_MAX: usize = 20;

/// A locked session. Dropping it leaves the session as it is.
#[derive(Debug)]
pub struct Claim {
    id: String,
    path: PathBuf,
    sessions: OwnedFd,
    folder: OwnedFd,
    _lock: File,
}

/// What a removal left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    /// Names of files in the session's folder that are not ours, at most 20; the folder stays for them.
    pub left: Vec<String>,
}

impl Claim {
    pub(super) fn take(sessions: &Path, id: &str, now: Timestamp) -> Result<Self, LogError> {
        check_name(id)?;
        let path = sessions.join(id);
        let fail = |errno: Errno| io("open", &path, errno.into());
        check_own_folders(&path, OWN_FOLDERS).map_err(|source| io("open", &path, source))?;
        let parent = openat(CWD, sessions, FOLDER, Mode::empty()).map_err(fail)?;
        let folder = open_folder_at(&parent, id).map_err(fail)?;
        let lock = take_lock(&path, id, &now.to_string())?;
        Ok(Self { id: id.to_owned(), path, sessions: parent, folder, _lock: lock })
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Removes the session's own files, then its folder. What is not ours stays, and the folder with it.
    ///
    /// # Errors
    /// When the system does not remove one of them.
    pub fn remove(self) -> Result<Removed, LogError> {
        for name in OWN_FILES {
            let path = || self.path.join(name);
            let is_ours = statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
            if is_ours {
                unlinkat(&self.folder, name, AtFlags::empty())
                    .map_err(|errno| io("remove", &path(), errno.into()))?;
            }
        }
        let fail = |errno: Errno| io("remove", &self.path, errno.into());
        match unlinkat(&self.sessions, &self.id, AtFlags::REMOVEDIR) {
            Ok(()) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST) => return Ok(Removed { left: self.left().map_err(fail)? }),
            Err(errno) => return Err(fail(errno)),
        }
        let sessions = self.path.parent().unwrap_or(&self.path);
        sync_folder(sessions).map_err(|source| io("sync", sessions, source))?;
        Ok(Removed::default())
    }

    fn left(&self) -> Result<Vec<String>, Errno> {
        let mut left: Vec<String> = Dir::read_from(&self.folder)?
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name != "." && name != "..")
            .take(LEFT_SHOWN_MAX)
            .collect();
        left.sort_unstable();
        Ok(left)
    }
}
