//! Writing files whole: the old one or the new one, never a third.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use reyn_core::permission::{SCRATCH_PREFIX, Target};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::Workspace;
use super::open::open_real;
use super::read::words;
use crate::tool::ToolError;

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Whether there was no file before.
    pub is_new: bool,
}

impl Workspace {
    /// Creates or replaces a file, with the folders above it. Keeps the mode of a file that was there.
    ///
    /// # Errors
    /// When the place cannot be written, the old file is then untouched; or when the disk does not confirm
    /// the new one, which is said.
    pub fn write_whole(&self, target: &Target, content: &[u8]) -> Result<Written, ToolError> {
        let (Some(folder), Some(name)) = (target.path.parent(), target.path.file_name()) else {
            return Err(ToolError::failed("cannot write `/`: it is a folder"));
        };
        let folder = open_or_make(folder).map_err(|errno| self.open_error(target, errno, "write"))?;
        let fail =
            |errno: Errno| ToolError::failed(format!("cannot write `{}`: {}", target.asked, words(errno)));
        let old = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(fail(errno)),
        };
        let mode = match old.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat.st_mode)) {
            None => Mode::from_raw_mode(0o666),
            // Not the bits that lend the owner's rights: they were given to the old content.
            Some((FileType::RegularFile, mode)) => Mode::from_raw_mode(mode & 0o777),
            Some((FileType::Directory, _)) => {
                return Err(ToolError::failed(format!("cannot write `{}`: it is a folder", target.asked)));
            }
            Some((FileType::Symlink, _)) => return Err(self.open_error(target, Errno::LOOP, "write")),
            Some(_) => {
                return Err(ToolError::failed(format!(
                    "cannot write `{}`: it is a pipe, a socket or a device",
                    target.asked
                )));
            }
        };
        let scratch = Scratch::create(folder.as_fd(), mode, old.is_some()).map_err(fail)?;
        scratch
            .fill(content)
            .map_err(|error| ToolError::failed(format!("cannot write `{}`: {error}", target.asked)))?;
        scratch.rename_to(name).map_err(fail)?;
        match rustix::fs::fsync(&folder) {
            // Some file systems cannot sync a folder.
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => {}
            Err(errno) => {
                let message = format!("`{}` is written, but may be lost: {}", target.asked, words(errno));
                return Err(ToolError::failed(message));
            }
        }
        Ok(Written { bytes: content.len() as u64, is_new: old.is_none() })
    }
}

/// Opens a folder, making it and the ones above it where they are missing.
fn open_or_make(folder: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    match open_real(folder, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        result => return result,
    }
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else { return Err(Errno::NOENT) };
    let above = open_or_make(above)?;
    match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    open_real(folder, flags, Mode::empty())
}

/// A file beside the one to be written. Removed unless it is renamed.
struct Scratch<'a> {
    folder: BorrowedFd<'a>,
    name: String,
    file: File,
    is_renamed: std::cell::Cell<bool>,
}

/// Names that are tried for one file beside another.
const SCRATCH_NAMES_MAX: u32 = 1_000;

static SCRATCH_COUNT: AtomicU64 = AtomicU64::new(0);

impl<'a> Scratch<'a> {
    /// `is_exact` sets the mode as it is; otherwise the process' mask applies, as for any new file.
    fn create(folder: BorrowedFd<'a>, mode: Mode, is_exact: bool) -> Result<Self, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        for _ in 0..SCRATCH_NAMES_MAX {
            let count = SCRATCH_COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{SCRATCH_PREFIX}{}-{count}", std::process::id());
            let file = match rustix::fs::openat(folder, &name, flags, mode) {
                // A process of the same number, dead or in another container, owns that file.
                Err(Errno::EXIST) => continue,
                file => file?,
            };
            let scratch = Self { folder, name, file: File::from(file), is_renamed: false.into() };
            if is_exact {
                rustix::fs::fchmod(&scratch.file, mode)?;
            }
            return Ok(scratch);
        }
        Err(Errno::EXIST)
    }

    fn fill(&self, content: &[u8]) -> std::io::Result<()> {
        (&self.file).write_all(content)?;
        self.file.sync_all()
    }

    fn rename_to(&self, name: &std::ffi::OsStr) -> Result<(), Errno> {
        rustix::fs::renameat(self.folder, &self.name, self.folder, name)?;
        self.is_renamed.set(true);
        Ok(())
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        if !self.is_renamed.get() {
            let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path(), None).unwrap();
        (dir, workspace)
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_and_its_folders_are_made() {
        let (dir, workspace) = workspace();
        let written = workspace.write_whole(&workspace.resolve("a/b/c.txt").unwrap(), b"hi").unwrap();
        assert_eq!(written, Written { bytes: 2, is_new: true });
        assert_eq!(std::fs::read(dir.path().join("a/b/c.txt")).unwrap(), b"hi");
        assert_eq!(names(&dir.path().join("a/b")), ["c.txt"]);
    }

    #[test]
    fn replacing_keeps_the_mode_and_leaves_nothing_beside_it() {
        let (dir, workspace) = workspace();
        let path = dir.path().join("run.sh");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
        let written = workspace.write_whole(&workspace.resolve("run.sh").unwrap(), b"new").unwrap();
        assert_eq!(written, Written { bytes: 3, is_new: false });
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(names(dir.path()), ["run.sh"]);
    }

    #[test]
    fn a_file_beside_it_that_another_process_writes_is_left_alone() {
        let (dir, workspace) = workspace();
        let next = SCRATCH_COUNT.load(Ordering::Relaxed);
        let others: Vec<String> =
            (next..next + 100).map(|count| format!(".reyn-tmp-{}-{count}", std::process::id())).collect();
        for name in &others {
            std::fs::write(dir.path().join(name), "another's").unwrap();
        }
        workspace.write_whole(&workspace.resolve("a").unwrap(), b"x").unwrap();
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
    }

    #[test]
    fn new_content_does_not_run_with_the_owners_rights() {
        let (dir, workspace) = workspace();
        let path = dir.path().join("run");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o6755)).unwrap();
        workspace.write_whole(&workspace.resolve("run").unwrap(), b"new").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o755);
    }

    #[test]
    fn a_link_planted_after_the_path_was_judged_is_not_followed() {
        let (dir, workspace) = workspace();
        let outside = tempfile::tempdir().unwrap();
        let target = workspace.resolve("sub/file").unwrap();
        symlink(outside.path(), dir.path().join("sub")).unwrap();
        let error = workspace.write_whole(&target, b"x").unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
        assert_eq!(names(outside.path()), Vec::<String>::new());

        let target = workspace.resolve("file").unwrap();
        symlink(outside.path().join("file"), dir.path().join("file")).unwrap();
        assert!(workspace.write_whole(&target, b"x").is_err());
        assert_eq!(names(outside.path()), Vec::<String>::new());
    }

    #[test]
    fn a_folder_is_not_replaced() {
        let (dir, workspace) = workspace();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        let error = workspace.write_whole(&workspace.resolve("d").unwrap(), b"x").unwrap_err();
        assert!(error.to_string().contains("it is a folder"));
        assert_eq!(names(dir.path()), ["d"]);
    }
}
