//! Deleting a file.

use reyn_core::permission::Target;
use reyn_text::diff::{self, Diff, Extent};
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use crate::Workspace;
use crate::error::FileError;
use crate::open::words;
use crate::write::{OldContent, hidden_diff};

/// What a deletion did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deleted {
    /// There was nothing to delete.
    Nothing,
    /// The file is gone.
    File {
        /// What it held, for people.
        diff: Diff,
    },
    /// A symbolic link is gone; what it leads to stays.
    Link,
}

impl Workspace {
    /// Deletes the file or the link at `entry`, which is the name itself, not where a link leads. Nothing
    /// there is no error.
    ///
    /// # Errors
    /// When it is a folder, or cannot be deleted.
    pub fn delete(&self, entry: &Target) -> Result<Deleted, FileError> {
        let asked = &entry.asked;
        let Some((folder, name)) = self.open_folder_of(&entry.path) else {
            return Err(FileError::failed("cannot delete `/`: it is a folder"));
        };
        let folder = match folder {
            Ok(folder) => folder,
            Err(Errno::NOENT) if !self.is_root_moved() => return Ok(Deleted::Nothing),
            Err(errno) => return Err(self.open_error(entry, errno, "delete")),
        };
        let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Deleted::Nothing),
            Err(errno) => return Err(self.open_error(entry, errno, "delete")),
        };
        let deleted = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                return Err(FileError::failed(format!("cannot delete `{asked}`: it is a folder"))
                    .hint("delete the files in it one by one; an empty folder does no harm"));
            }
            FileType::Symlink => Deleted::Link,
            FileType::RegularFile => match OldContent::read(&folder, name, &stat).0 {
                Some(_) if self.hides(entry) => Deleted::File { diff: hidden_diff() },
                Some(content) => {
                    Deleted::File { diff: diff::between(Some(&content), None, asked, Extent::Excerpt) }
                }
                None => Deleted::File { diff: hidden_diff() },
            },
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => {
                return Err(FileError::failed(format!(
                    "cannot delete `{asked}`: it is a pipe, a socket or a device, not a file"
                )));
            }
        };
        match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Deleted::Nothing),
            Err(errno) => return Err(self.open_error(entry, errno, "delete")),
        }
        match rustix::fs::fsync(&folder) {
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(deleted),
            Err(errno) => {
                let message = format!("`{asked}` is deleted, but may come back: {}", words(errno));
                Err(FileError::failed(message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Place;
    use reyn_core::permission::FileAxis;
    use std::os::unix::fs::symlink;

    fn delete(place: &Place, path: &str) -> Result<Deleted, FileError> {
        place.delete(&place.resolve_entry(path, FileAxis::Write).unwrap())
    }

    #[test]
    fn a_file_goes_and_what_it_held_is_shown() {
        let place = Place::new();
        place.put("a.txt", "one\ntwo\n");
        place.put("b.txt", "stays");
        let Ok(Deleted::File { diff }) = delete(&place, "a.txt") else { panic!("deleted") };
        assert_eq!((diff.added, diff.removed), (0, 2));
        assert_eq!(place.names("."), ["b.txt"]);
    }

    #[test]
    fn of_a_link_the_link_goes_and_the_file_stays() {
        let place = Place::new();
        place.put("real", "x");
        symlink("real", place.at("link")).unwrap();
        symlink("nowhere", place.at("dangling")).unwrap();
        assert_eq!(delete(&place, "link"), Ok(Deleted::Link));
        assert_eq!(delete(&place, "dangling"), Ok(Deleted::Link));
        assert_eq!(place.names("."), ["real"]);
    }

    #[test]
    fn nothing_there_is_no_error_and_a_folder_is_one() {
        let place = Place::new();
        place.put("d/f", "x");
        assert_eq!(delete(&place, "missing"), Ok(Deleted::Nothing));
        assert_eq!(delete(&place, "no/such/folder"), Ok(Deleted::Nothing));
        let error = delete(&place, "d").unwrap_err();
        assert_eq!(error.to_string(), "cannot delete `d`: it is a folder");
        assert_eq!(place.names("d"), ["f"]);
    }
}
