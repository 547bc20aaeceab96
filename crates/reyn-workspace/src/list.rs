//! Listing a folder.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::permission::Target;
use reyn_core::text::shown_path;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use crate::Workspace;
use crate::bounds::FOLDER_ENTRIES_MAX;
use crate::error::FileError;
use crate::open::{FOLDER_FLAGS, words};

/// Which names of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListRequest {
    /// Names to skip.
    pub offset: usize,
    /// Names at most.
    pub entries_max: usize,
}

/// The names in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Sorted by name; as many as were asked for and fit into [`RESULT_BYTES_MAX`].
    pub entries: Vec<ListedEntry>,
    /// How many there are in all; when `is_partial`, how many were looked at.
    pub total: usize,
    /// Where the rest begins, when there is more.
    pub next_offset: Option<usize>,
    /// Whether the folder holds more names than are looked at.
    pub is_partial: bool,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEntry {
    /// The name as it is shown and can be asked for.
    pub name: String,
    /// `/` for a folder, `@` for a link, `|` for a pipe, `=` for a socket, `%` for a device, nothing for a
    /// file.
    pub mark: &'static str,
}

impl Workspace {
    /// Lists a folder.
    ///
    /// # Errors
    /// When it is missing, not a folder, or the call is cancelled.
    pub fn list(
        &self,
        target: &Target,
        request: ListRequest,
        cancel: &CancellationToken,
    ) -> Result<Listing, FileError> {
        let asked = &target.asked;
        let folder = self.open_real(&target.path, FOLDER_FLAGS).map_err(|errno| match errno {
            Errno::NOTDIR if self.is_file(target) => {
                FileError::failed(format!("cannot list `{asked}`: it is a file, not a folder"))
                    .hint("`read_file` reads it")
            }
            other => self.open_error(target, other, "list"),
        })?;
        let failed = |errno| FileError::failed(format!("cannot list `{asked}`: {}", words(errno)));
        let mut names: Vec<(Vec<u8>, FileType)> = vec![];
        let mut is_partial = false;
        for entry in rustix::fs::Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if cancel.is_cancelled() {
                return Err(FileError::Cancelled);
            }
            if names.len() == FOLDER_ENTRIES_MAX {
                is_partial = true;
                break;
            }
            names.push((name.to_vec(), entry.file_type()));
        }
        names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let total = names.len();
        let mut entries = vec![];
        let mut bytes = 0;
        for (name, kind) in names.iter().skip(request.offset).take(request.entries_max) {
            let name = OsStr::from_bytes(name);
            let shown = shown_path(Path::new(name));
            bytes += shown.len() + 2;
            if bytes > RESULT_BYTES_MAX {
                break;
            }
            let mut kind = *kind;
            if kind == FileType::Unknown {
                // Some file systems do not say it with the name.
                kind = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
            }
            entries.push(ListedEntry { name: shown, mark: mark(kind) });
        }
        let reached = request.offset + entries.len();
        let next_offset = (reached < total).then_some(reached);
        Ok(Listing { entries, total, next_offset, is_partial })
    }

    fn is_file(&self, target: &Target) -> bool {
        self.lstat(&target.path)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
    }
}

const fn mark(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "/",
        FileType::Symlink => "@",
        FileType::Fifo => "|",
        FileType::Socket => "=",
        FileType::CharacterDevice | FileType::BlockDevice => "%",
        FileType::RegularFile | FileType::Unknown => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Place;

    fn list(place: &Place, path: &str, offset: usize, entries_max: usize) -> Result<Listing, FileError> {
        let request = ListRequest { offset, entries_max };
        place.list(&place.to_read(path), request, &CancellationToken::new())
    }

    fn shown(listing: &Listing) -> Vec<String> {
        listing.entries.iter().map(|entry| format!("{}{}", entry.name, entry.mark)).collect()
    }

    #[test]
    fn a_folder_is_listed_in_order_with_marks_and_a_total() {
        let place = Place::new();
        place.put("src/x", "");
        place.put("b.txt", "");
        place.put(".hidden", "");
        std::os::unix::fs::symlink("b.txt", place.at("link")).unwrap();
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(rustix::fs::CWD, place.at("pipe"), FileType::Fifo, mode, 0).unwrap();
        let listing = list(&place, ".", 0, 9).unwrap();
        assert_eq!(shown(&listing), [".hidden", "b.txt", "link@", "pipe|", "src/"]);
        assert_eq!((listing.total, listing.next_offset, listing.is_partial), (5, None, false));
    }

    #[test]
    fn pages_of_a_large_folder_are_all_its_names_together() {
        let place = Place::new();
        std::fs::create_dir(place.at("many")).unwrap();
        let names: Vec<String> = (0..3_000).map(|at| format!("{at:05}-{}", "x".repeat(40))).collect();
        for name in &names {
            std::fs::File::create(place.at("many").join(name)).unwrap();
        }
        let (mut seen, mut offset, mut pages) = (vec![], Some(0), 0);
        while let Some(at) = offset {
            let listing = list(&place, "many", at, 5_000).unwrap();
            assert!(!listing.entries.is_empty());
            seen.extend(shown(&listing));
            offset = listing.next_offset;
            pages += 1;
        }
        assert_eq!((seen, pages), (names, 3));
    }

    #[test]
    fn names_that_are_no_text_or_hold_line_ends_are_shown_so_that_they_can_be_asked_for() {
        let place = Place::new();
        std::fs::write(place.root().join(OsStr::from_bytes(b"caf\xe9")), "latin").unwrap();
        std::fs::write(place.at("two\nlines"), "newline").unwrap();
        let listing = list(&place, ".", 0, 9).unwrap();
        assert_eq!(shown(&listing), ["caf\\xe9", "two\\x0alines"]);
        for (name, content) in [("caf\\xe9", "latin"), ("two\\x0alines", "newline")] {
            let target = place.to_read(name);
            let page = place.read_page(&target, crate::PageRequest::default(), &CancellationToken::new());
            assert_eq!(page.unwrap().text, content);
        }
    }

    #[test]
    fn listing_a_file_says_that_it_is_one_and_how_to_read_it() {
        let place = Place::new();
        place.put("a.txt", "x");
        let error = list(&place, "a.txt", 0, 9).unwrap_err();
        let expected =
            FileError::failed("cannot list `a.txt`: it is a file, not a folder").hint("`read_file` reads it");
        assert_eq!(error, expected);
    }

    #[test]
    fn cancelling_stops_a_listing() {
        let place = Place::new();
        place.put("a.txt", "x");
        let cancel = CancellationToken::new();
        cancel.cancel();
        let request = ListRequest { offset: 0, entries_max: 9 };
        assert_eq!(place.list(&place.to_read("."), request, &cancel), Err(FileError::Cancelled));
    }
}
