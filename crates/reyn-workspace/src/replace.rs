//! Puts a file in its place whole: the old one or the new one, never a third.
//!
//! The new content is written to a file without a name, synced, and only then named. A process that dies
//! before leaves nothing; one that dies between the two names leaves a scratch file that the next write of
//! the same file removes, as does [`Workspace::recover`].

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use reyn_core::permission::{SCRATCH_PREFIX, Target};
use rustix::fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;

use crate::Workspace;
use crate::bounds::{ATTRIBUTE_BYTES_MAX, TURN_MS_MAX, WRITERS_MAX};
use crate::open::FOLDER_FLAGS;

/// The attribute that holds a file's access list.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Why a file could not be put in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplaceError {
    /// The system refused; the old file is untouched.
    System(Errno),
    /// The file belongs to somebody else, and that cannot be kept.
    Ownership,
    /// The access list of the file cannot be kept.
    Attributes(String),
    /// The file is not the one that was looked at.
    Changed,
    /// The new file is there, but the disk does not confirm its name.
    Unconfirmed(Errno),
}

impl From<Errno> for ReplaceError {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

/// What stands in the place before.
pub(crate) struct Old<'a> {
    /// Facts about it.
    pub stat: &'a Stat,
    /// Whether it must not have changed since these facts were taken.
    pub is_read: bool,
}

/// Puts `content` at `name` in `folder`.
pub(crate) fn put(
    folder: &OwnedFd,
    name: &OsStr,
    old: Option<Old<'_>>,
    content: &[u8],
) -> Result<(), ReplaceError> {
    let mode = match &old {
        None => Mode::from_raw_mode(0o666),
        // Not the bits that lend the owner's rights: they were given to the old content.
        Some(old) => Mode::from_raw_mode(old.stat.st_mode & 0o777),
    };
    let scratch = Scratch::create(folder.as_fd(), name, mode)?;
    if let Some(old) = &old {
        keep_facts(folder.as_fd(), name, old.stat, mode, &scratch.file)?;
    }
    (&scratch.file)
        .write_all(content)
        .and_then(|()| scratch.file.sync_all())
        .map_err(|error| errno_of(&error))?;
    // From the last look at what is there to the rename it is one step for everybody who asks for the lock.
    let turn = Turn::wait(folder);
    match old {
        None => scratch.name_new(name)?,
        Some(old) => scratch.replace(name, &old)?,
    }
    drop(turn);
    match rustix::fs::fsync(folder) {
        // Some file systems cannot sync a folder.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(ReplaceError::Unconfirmed(errno)),
    }
}

/// The right to change what is in a folder. File systems without locks give it to everybody.
struct Turn<'a>(Option<&'a OwnedFd>);

impl<'a> Turn<'a> {
    /// Waits for its turn, and goes on without it when somebody keeps it: a write is then judged by what is
    /// there alone.
    fn wait(folder: &'a OwnedFd) -> Self {
        let until = Instant::now() + Duration::from_millis(TURN_MS_MAX);
        loop {
            match rustix::fs::flock(folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Self(Some(folder)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_micros(200));
                }
                Err(_) => return Self(None),
            }
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(folder) = self.0 {
            let _ = rustix::fs::flock(folder, FlockOperation::Unlock);
        }
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Gives the new file what the old one had besides its content: owner, attributes and access list, mode.
fn keep_facts(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    old: &Stat,
    mode: Mode,
    new: &File,
) -> Result<(), ReplaceError> {
    let fresh = rustix::fs::fstat(new)?;
    if (fresh.st_uid, fresh.st_gid) != (old.st_uid, old.st_gid) {
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        rustix::fs::fchown(new, Some(owner), Some(group)).map_err(|_| ReplaceError::Ownership)?;
    }
    // The mode comes after the owner, which clears bits of it, and before the access list, which holds it.
    rustix::fs::fchmod(new, mode)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(opened) => keep_attributes(&opened, new, mode),
        Err(Errno::NOENT) => Err(ReplaceError::Changed),
        Err(_) => Err(ReplaceError::Attributes("the file cannot be opened to see them".to_owned())),
    }
}

fn keep_attributes(old: &OwnedFd, new: &File, mode: Mode) -> Result<(), ReplaceError> {
    let mut names = vec![0_u8; ATTRIBUTE_BYTES_MAX];
    let len = match rustix::fs::flistxattr(old, &mut names) {
        Ok(len) => len,
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
        Err(errno) => return Err(ReplaceError::Attributes(crate::open::words(errno))),
    };
    let names = || names[..len].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    if !names().any(|name| name == ACCESS_LIST) {
        // The folder may have given the new file a list that lets others in.
        match rustix::fs::fremovexattr(new, OsStr::from_bytes(ACCESS_LIST)) {
            Ok(()) => rustix::fs::fchmod(new, mode)?,
            Err(Errno::NODATA | Errno::NOTSUP) => {}
            Err(errno) => return Err(ReplaceError::Attributes(crate::open::words(errno))),
        }
    }
    // The others are the system's to give: labels of new files, and rights that were given to the old
    // content.
    for name in names().filter(|name| name.starts_with(b"user.") || *name == ACCESS_LIST) {
        let name = OsStr::from_bytes(name);
        let mut value = vec![0_u8; ATTRIBUTE_BYTES_MAX];
        let kept = rustix::fs::fgetxattr(old, name, &mut value)
            .and_then(|len| rustix::fs::fsetxattr(new, name, &value[..len], XattrFlags::empty()));
        kept.map_err(|errno| {
            ReplaceError::Attributes(format!("`{}`: {}", name.display(), crate::open::words(errno)))
        })?;
    }
    Ok(())
}

/// A file that is being written. Locked as long as it is open, so that one left by a dead process is told
/// from one in use.
struct Scratch<'a> {
    folder: BorrowedFd<'a>,
    file: File,
    /// Its name in the folder while it has one. Removed when dropped.
    name: std::cell::RefCell<Option<String>>,
    /// What its names begin with.
    stem: String,
}

impl<'a> Scratch<'a> {
    fn create(folder: BorrowedFd<'a>, target: &OsStr, mode: Mode) -> Result<Self, Errno> {
        let stem = scratch_stem(target);
        remove_stale(folder, &stem);
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
            if let Ok(file) = rustix::fs::openat(folder, ".", flags, mode) {
                rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
                return Ok(Self { folder, file: File::from(file), name: None.into(), stem });
            }
        }
        Self::create_named(folder, &stem, mode)
    }

    /// For file systems that have no files without names.
    fn create_named(folder: BorrowedFd<'a>, stem: &str, mode: Mode) -> Result<Self, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        for count in 0..WRITERS_MAX {
            let name = format!("{stem}-{count}");
            let file = match rustix::fs::openat(folder, &name, flags, mode) {
                Err(Errno::EXIST) => continue,
                file => file?,
            };
            // Between the two calls it looks like one left behind; whoever removed it is past it now.
            let is_locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if is_locked && rustix::fs::fstat(&file).is_ok_and(|stat| stat.st_nlink == 1) {
                return Ok(Self {
                    folder,
                    file: File::from(file),
                    name: Some(name).into(),
                    stem: stem.to_owned(),
                });
            }
        }
        Err(Errno::EXIST)
    }

    /// Names it `target`, where nothing is. `EEXIST` when something is there by now.
    fn name_new(&self, target: &OsStr) -> Result<(), ReplaceError> {
        let named = self.name.borrow().clone();
        let Some(name) = named else { return Ok(self.link(target)?) };
        rustix::fs::renameat_with(
            self.folder,
            &name,
            self.folder,
            target,
            rustix::fs::RenameFlags::NOREPLACE,
        )?;
        self.name.replace(None);
        Ok(())
    }

    /// Puts it in the place of `target`.
    fn replace(&self, target: &OsStr, old: &Old<'_>) -> Result<(), ReplaceError> {
        if self.name.borrow().is_none() {
            self.name_beside()?;
        }
        let now = match rustix::fs::statat(self.folder, target, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Err(ReplaceError::Changed),
            now => now?,
        };
        let is_same_file = (now.st_dev, now.st_ino) == (old.stat.st_dev, old.stat.st_ino);
        if !is_same_file || (old.is_read && version(&now) != version(old.stat)) {
            return Err(ReplaceError::Changed);
        }
        let name = self.name.borrow().clone().unwrap_or_default();
        rustix::fs::renameat(self.folder, &name, self.folder, target)?;
        self.name.replace(None);
        Ok(())
    }

    fn name_beside(&self) -> Result<(), Errno> {
        let usual = (0..WRITERS_MAX).map(|count| format!("{}-{count}", self.stem));
        // Somebody may have put other things under all of these names.
        let own = std::iter::once(format!("{}-{}-{}", self.stem, std::process::id(), unique()));
        for name in usual.chain(own) {
            match self.link(OsStr::new(&name)) {
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
                Ok(()) => {
                    self.name.replace(Some(name));
                    return Ok(());
                }
            }
        }
        Err(Errno::EXIST)
    }

    /// Gives the file, which has no name, one.
    #[cfg(target_os = "linux")]
    fn link(&self, name: &OsStr) -> Result<(), Errno> {
        match rustix::fs::linkat(&self.file, "", self.folder, name, AtFlags::EMPTY_PATH) {
            Err(Errno::NOENT | Errno::INVAL | Errno::PERM) => {}
            result => return result,
        }
        // Older kernels want a privilege for that and take this way without one.
        use std::os::fd::AsRawFd as _;
        let through = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::linkat(rustix::fs::CWD, through, self.folder, name, AtFlags::SYMLINK_FOLLOW)
    }

    #[cfg(not(target_os = "linux"))]
    fn link(&self, _name: &OsStr) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }
}

/// What changes when the content of a file does.
fn version(stat: &Stat) -> impl PartialEq + use<> {
    (stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec)
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name.borrow().as_ref() {
            let _ = rustix::fs::unlinkat(self.folder, name, AtFlags::empty());
        }
    }
}

/// A number that no other file of this process was given.
fn unique() -> u64 {
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// How the names of scratch files for `target` begin: always the same, so that one left behind is found
/// without looking through the folder.
fn scratch_stem(target: &OsStr) -> String {
    use std::hash::Hasher as _;
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    hasher.write(target.as_bytes());
    format!("{SCRATCH_PREFIX}{:016x}", hasher.finish())
}

/// FNV-1a: names must be the same in every version of the program, which the standard hasher does not
/// promise.
struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Removes scratch files that no living process holds.
fn remove_stale(folder: BorrowedFd<'_>, stem: &str) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    for count in 0..WRITERS_MAX {
        let name = format!("{stem}-{count}");
        match rustix::fs::openat(folder, &name, flags, Mode::empty()) {
            Err(_) => {}
            Ok(file) => {
                let is_left = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
                // The name may be another writer's by now.
                let identity = |stat: Stat| (stat.st_dev, stat.st_ino);
                let named = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW).map(identity);
                if is_left && named.is_ok() && named == rustix::fs::fstat(&file).map(identity) {
                    let _ = rustix::fs::unlinkat(folder, &name, AtFlags::empty());
                }
            }
        }
    }
}

impl Workspace {
    /// Removes what a process that died while it wrote `target` left beside it.
    pub fn recover(&self, target: &Target) {
        let Some((Ok(folder), name)) = self.open_folder_of(&target.path) else { return };
        remove_stale(folder.as_fd(), &scratch_stem(name));
    }

    /// Opens a folder, making it and the ones above it where they are missing.
    pub(crate) fn open_or_make(&self, folder: &Path) -> Result<OwnedFd, Errno> {
        match self.open_real(folder, FOLDER_FLAGS) {
            Err(Errno::NOENT) => {}
            result => return result,
        }
        let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(Errno::NOENT);
        };
        let above = self.open_or_make(above)?;
        match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        self.open_real(folder, FOLDER_FLAGS)
    }
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
