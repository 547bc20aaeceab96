//! Opens a resolved place without following a single link.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// Opens `path`, which is absolute and resolved. Fails with `ELOOP` when any part of it has become a link.
pub(super) fn open_real(path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(CWD, path, flags, mode, resolve) {
            // An old kernel, or a filter that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            result => return result,
        }
    }
    walk(path, flags, mode)
}

/// The same, part by part, for kernels without `openat2`.
fn walk(path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let folder_flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut folder = openat(rustix::fs::CWD, "/", folder_flags, Mode::empty())?;
    let names: Vec<&OsStr> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect();
    let Some((last, above)) = names.split_last() else { return Ok(folder) };
    for name in above {
        folder = openat(folder.as_fd(), *name, folder_flags, Mode::empty())?;
    }
    openat(folder.as_fd(), *last, flags, mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn neither_way_of_opening_follows_a_link_in_any_part() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("real")).unwrap();
        std::fs::write(base.join("real/file"), "x").unwrap();
        symlink("real", base.join("folder")).unwrap();
        symlink("real/file", base.join("file")).unwrap();
        for open in [open_real, |path: &Path, flags, mode| walk(path, flags | OFlags::NOFOLLOW, mode)] {
            let attempt = |path: &str| open(&base.join(path), OFlags::RDONLY, Mode::empty()).map(drop);
            assert_eq!(attempt("real/file"), Ok(()));
            assert!(matches!(attempt("folder/file"), Err(Errno::LOOP | Errno::NOTDIR)));
            assert_eq!(attempt("file"), Err(Errno::LOOP));
            assert_eq!(attempt("missing"), Err(Errno::NOENT));
        }
    }
}
