//! A file that a person asked for: written whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use reyn_core::permission::SCRATCH_PREFIX;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Why a file was not written.
#[derive(Debug)]
pub(crate) enum NewFileError {
    /// Something is there.
    Exists(PathBuf),
    /// A link leads out of the folder that was named.
    LeadsOut {
        /// The file as it was named.
        named: PathBuf,
        /// Where it would be.
        real: PathBuf,
    },
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
            Self::LeadsOut { named, real } => write!(
                f,
                "`{}` is not written: a link on the way leads to `{}`; give that path to write there",
                named.display(),
                real.display()
            ),
            Self::Io { path, source } => write!(f, "cannot write `{}`: {source}", path.display()),
        }
    }
}

/// The real path of a file that a person named, relative to a folder. A link inside the folder may lead to another place
/// in it, and not out of it: whoever names a place in the folder does not see what a link there leads to.
///
/// # Errors
/// When a link leads out, when there is no folder to hold the file, and when the name ends in none.
pub(crate) fn resolve(folder: &Path, name: &Path) -> Result<PathBuf, NewFileError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| NewFileError::Io { path, source }
    };
    let folder = folder.canonicalize().map_err(fail(folder))?;
    let named = folder.join(name);
    let Some(file) = named.file_name() else {
        return Err(fail(&named)(std::io::Error::from(Errno::ISDIR)));
    };
    let written = as_written(named.parent().unwrap_or(&folder));
    let real = named.parent().unwrap_or(&folder).canonicalize().map_err(fail(&named))?;
    let is_meant = if written.starts_with(&folder) {
        real.starts_with(&folder)
    } else {
        written.canonicalize().is_ok_and(|meant| meant == real)
    };
    let real = real.join(file);
    if is_meant { Ok(real) } else { Err(NewFileError::LeadsOut { named: name.to_owned(), real }) }
}

/// A path as its letters say, whatever the links in it.
fn as_written(path: &Path) -> PathBuf {
    let mut written = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                written.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => written.push(part),
        }
    }
    written
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
    fn no_link_leads_out_of_the_folder_that_was_named() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["work/docs", "outside/deep"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        for (link, target) in [
            ("work/inner", "docs"),
            ("work/out", "../outside"),
            ("work/far", "../outside/deep"),
            ("work/loop", "loop"),
            ("outside/own", "deep"),
            ("alias", "work"),
        ] {
            std::os::unix::fs::symlink(target, base.join(link)).unwrap();
        }
        let absolute = |name: &str| base.join(name).display().to_string();
        let table = [
            ("x.md".to_owned(), "work/x.md"),
            ("docs/x.md".to_owned(), "work/docs/x.md"),
            ("docs/../x.md".to_owned(), "work/x.md"),
            ("inner/x.md".to_owned(), "work/docs/x.md"),
            ("../x.md".to_owned(), "x.md"),
            ("../outside/own/x.md".to_owned(), "outside/deep/x.md"),
            (absolute("outside/x.md"), "outside/x.md"),
            (absolute("work/x.md"), "work/x.md"),
            ("out/x.md".to_owned(), "leads to outside/x.md"),
            ("far/../x.md".to_owned(), "leads to outside/x.md"),
            ("far/../../x.md".to_owned(), "x.md"),
            (absolute("work/far/x.md"), "leads to outside/deep/x.md"),
            ("loop/x.md".to_owned(), "no"),
            ("none/x.md".to_owned(), "no"),
            ("..".to_owned(), "no"),
        ];
        for folder in ["work", "alias"] {
            for (name, expected) in &table {
                let below = |path: &Path| path.strip_prefix(&base).unwrap().display().to_string();
                let got = match resolve(&base.join(folder), Path::new(name)) {
                    Ok(real) => below(&real),
                    Err(NewFileError::LeadsOut { real, .. }) => format!("leads to {}", below(&real)),
                    Err(NewFileError::Exists(_) | NewFileError::Io { .. }) => "no".to_owned(),
                };
                assert_eq!(&got, expected, "{name}");
                // The path that a refusal names is one that works.
                if let Some(real) = expected.strip_prefix("leads to ") {
                    assert_eq!(resolve(&base.join(folder), &base.join(real)).unwrap(), base.join(real));
                }
            }
        }
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
