//! Opens a resolved place below a folder held open, without following a single link.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags, Stat, openat};
use rustix::io::Errno;

use crate::Workspace;
use crate::bounds::MOVED_RETRIES_MAX;

/// How a folder is opened to be held.
pub(crate) const FOLDER_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Workspace {
    /// The held folder that `path` lies below, and the way from there. `path` is absolute and resolved.
    pub(crate) fn base<'a>(&self, path: &'a Path) -> (BorrowedFd<'_>, &'a Path) {
        match path.strip_prefix(self.root()) {
            Ok(below) => (self.root_folder.as_fd(), below),
            Err(_) => (self.slash.as_fd(), path.strip_prefix("/").unwrap_or(path)),
        }
    }

    /// Opens `path`, which is absolute and resolved. Fails with `ELOOP` or `ENOTDIR` when any part of it has
    /// become a link.
    pub(crate) fn open_real(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let (folder, below) = self.base(path);
        open_below(folder, below, flags)
    }

    /// Opens the folder that `path` is in, and gives the name in it. `None` for `/`.
    pub(crate) fn open_folder_of<'a>(&self, path: &'a Path) -> Option<(Result<OwnedFd, Errno>, &'a OsStr)> {
        let name = path.file_name()?;
        let folder = path.parent()?;
        Some((self.open_real(folder, FOLDER_FLAGS), name))
    }

    /// Facts about `path` itself, not about what a link there leads to. A link further up is not followed
    /// by [`Self::open_real`], so facts of a place that moved meanwhile do no harm.
    pub(crate) fn lstat(&self, path: &Path) -> Result<Stat, Errno> {
        let (folder, below) = self.base(path);
        if below.as_os_str().is_empty() {
            return rustix::fs::fstat(folder);
        }
        rustix::fs::statat(folder, below, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Where the link at `path` leads, as it says.
    pub(crate) fn read_link(&self, path: &Path) -> Result<OsString, Errno> {
        use std::os::unix::ffi::OsStringExt as _;
        let (folder, below) = self.base(path);
        Ok(OsString::from_vec(rustix::fs::readlinkat(folder, below, vec![])?.into_bytes()))
    }

    /// Whether the held root is no longer what stands at its path.
    pub(crate) fn is_root_moved(&self) -> bool {
        let held = rustix::fs::fstat(&self.root_folder);
        let named = rustix::fs::stat(self.root());
        match (held, named) {
            (Ok(held), Ok(named)) => (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino),
            _ => true,
        }
    }
}

/// Opens `below`, a resolved way from `folder`. Never leaves the folder and follows no link.
fn open_below(folder: BorrowedFd<'_>, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..MOVED_RETRIES_MAX {
            match openat2(folder, below, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN) => {}
                // An old kernel, or a filter that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => break,
                result => return result,
            }
        }
    }
    walk(folder, below, flags)
}

/// The same, part by part, for kernels without `openat2`.
fn walk(folder: BorrowedFd<'_>, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names: Vec<&OsStr> = below
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect();
    let last = names.pop().unwrap_or(OsStr::new("."));
    let mut above: Option<OwnedFd> = None;
    for name in names {
        let here = above.as_ref().map_or(folder, |above| above.as_fd());
        above = Some(openat(here, name, FOLDER_FLAGS | OFlags::NOFOLLOW, Mode::empty())?);
    }
    openat(above.as_ref().map_or(folder, |above| above.as_fd()), last, flags, Mode::empty())
}

/// The system's words for an error.
pub(crate) fn words(errno: Errno) -> String {
    std::io::Error::from(errno).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Place;
    use std::os::unix::fs::symlink;

    #[test]
    fn neither_way_of_opening_follows_a_link_in_any_part() {
        let place = Place::new();
        place.put("real/file", "x");
        symlink("real", place.at("folder")).unwrap();
        symlink("real/file", place.at("file")).unwrap();
        let folder = place.open_real(place.root(), FOLDER_FLAGS).unwrap();
        for is_walk in [false, true] {
            let open = |folder: BorrowedFd<'_>, below: &Path, flags| {
                if is_walk {
                    walk(folder, below, flags | OFlags::NOFOLLOW)
                } else {
                    open_below(folder, below, flags)
                }
            };
            let attempt = |path: &str| open(folder.as_fd(), Path::new(path), OFlags::RDONLY).map(drop);
            assert_eq!(attempt("real/file"), Ok(()));
            assert_eq!(attempt(""), Ok(()));
            assert!(matches!(attempt("folder/file"), Err(Errno::LOOP | Errno::NOTDIR)));
            assert_eq!(attempt("file"), Err(Errno::LOOP));
            assert_eq!(attempt("missing"), Err(Errno::NOENT));
        }
    }

    #[test]
    fn a_workspace_that_is_renamed_is_still_the_same_folder() {
        let place = Place::new();
        place.put("a.txt", "mine");
        let target = place.to_read("a.txt");
        let moved = place.outside().join("moved");
        std::fs::rename(place.root(), &moved).unwrap();
        std::fs::create_dir(place.root()).unwrap();
        std::fs::write(place.at("a.txt"), "planted").unwrap();
        let file = place.open_real(&target.path, OFlags::RDONLY).unwrap();
        assert_eq!(std::io::read_to_string(std::fs::File::from(file)).unwrap(), "mine");
        assert!(place.is_root_moved());
    }
}
