//! Opens and lists folders by their handle. No link is followed, and no path from `/` is used.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use crate::FileId;

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    /// A link, pipe, socket or device.
    Other,
}

impl Kind {
    fn of(file_type: FileType) -> Self {
        match file_type {
            FileType::Directory => Self::Folder,
            FileType::RegularFile => Self::File,
            FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Self::Other,
        }
    }
}

/// A name that stays in its folder. Whatever a pattern says, nothing else is looked up.
fn plain(name: &[u8]) -> Result<&[u8], Errno> {
    let leads_away = name == b".." || name.is_empty() || name.contains(&b'/') || name.contains(&0);
    if leads_away { Err(Errno::INVAL) } else { Ok(name) }
}

/// Opens the folder `name` of `parent` for listing.
pub(crate) fn open_folder(parent: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, plain(name)?, flags, Mode::empty())
}

/// Opens the folder `name` of `parent` to go through it, which needs no permission to list it.
pub(crate) fn pass_folder(parent: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    let access = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let access = OFlags::RDONLY;
    let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, plain(name)?, flags, Mode::empty())
}

/// Opens the file `name` of `parent` for reading; None when it is no regular file.
pub(crate) fn open_file(parent: BorrowedFd<'_>, name: &[u8]) -> Result<Option<(OwnedFd, Stat)>, Errno> {
    // Without NONBLOCK, a pipe that has taken the place of a file would hang the search.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = openat(parent, plain(name)?, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(is_regular.then_some((file, stat)))
}

/// The file behind a stat.
#[allow(clippy::unnecessary_cast, reason = "the types of these fields differ from system to system")]
pub(crate) fn file_id(stat: &Stat) -> FileId {
    FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64, links: stat.st_nlink as u64 }
}

/// The device that an open folder is on.
pub(crate) fn device(folder: &OwnedFd) -> Result<u64, Errno> {
    fstat(folder).map(|stat| file_id(&stat).device)
}

/// What the entry `name` of `folder` is.
pub(crate) fn kind(folder: BorrowedFd<'_>, name: &[u8]) -> Result<Kind, Errno> {
    let stat = statat(folder, plain(name)?, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Kind::of(FileType::from_raw_mode(stat.st_mode)))
}

/// Calls `each` for the entries of a folder in the order in which the file system has them.
///
/// `buffer` is scratch space that calls share.
pub(crate) fn list(
    folder: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&[u8], Kind) -> ControlFlow<()>,
) -> Result<(), Errno> {
    let mut visit = |name: &[u8], file_type: FileType| {
        if name == b"." || name == b".." {
            return ControlFlow::Continue(());
        }
        let kind = if file_type == FileType::Unknown {
            // An entry that is gone by now is none.
            kind(folder, name).unwrap_or(Kind::Other)
        } else {
            Kind::of(file_type)
        };
        each(name, kind)
    };
    #[cfg(target_os = "linux")]
    {
        buffer.reserve(LISTING_BUFFER_BYTES);
        let mut entries = rustix::fs::RawDir::new(folder.as_fd(), buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
                break;
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    for entry in rustix::fs::Dir::read_from(folder.as_fd())? {
        let entry = entry?;
        if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
            break;
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
const LISTING_BUFFER_BYTES: usize = 32 << 10;

/// Whether the process, or the machine, has no file descriptor left.
pub(crate) fn is_out_of_descriptors(error: Errno) -> bool {
    error == Errno::MFILE || error == Errno::NFILE
}

/// What an error of the system is in words.
pub(crate) fn reason(error: Errno) -> String {
    match error {
        Errno::NOENT => "no such file or folder".to_owned(),
        Errno::ACCESS | Errno::PERM => "permission denied".to_owned(),
        Errno::LOOP => "it is a link".to_owned(),
        Errno::NOTDIR => "not a folder".to_owned(),
        Errno::MFILE | Errno::NFILE => "too many files are open".to_owned(),
        other => std::io::Error::from(other).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_link_is_never_opened() {
        let tree = Tree::new(&[("folder/file", b"x")]);
        std::os::unix::fs::symlink("folder", tree.path("folder_link")).unwrap();
        std::os::unix::fs::symlink("folder/file", tree.path("file_link")).unwrap();
        let handle = tree.handle();
        assert!(open_folder(handle.as_fd(), b"folder").is_ok());
        assert!(pass_folder(handle.as_fd(), b"folder").is_ok());
        for open in [open_folder, pass_folder] {
            assert!(matches!(open(handle.as_fd(), b"folder_link"), Err(Errno::NOTDIR | Errno::LOOP)));
        }
        assert!(matches!(open_file(handle.as_fd(), b"file_link"), Err(Errno::LOOP)));
        let folder = open_folder(handle.as_fd(), b"folder").unwrap();
        assert!(matches!(open_file(folder.as_fd(), b"file"), Ok(Some(_))));
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_no_file_and_does_not_hang() {
        let tree = Tree::new(&[("file", b"x")]);
        tree.pipe("pipe");
        assert!(matches!(open_file(tree.handle().as_fd(), b"pipe"), Ok(None)));
        assert!(matches!(open_file(tree.handle().as_fd(), b"file"), Ok(Some(_))));
    }
}
