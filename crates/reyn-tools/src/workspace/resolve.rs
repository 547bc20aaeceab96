//! From a path as written to its real place.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use reyn_core::limits::LINKS_MAX;
use reyn_core::permission::Target;

use super::Workspace;

/// Longest path that is looked at, in bytes, as the kernel bounds it.
const PATH_BYTES_MAX: usize = 4096;

/// Why a path names nothing that can be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing was written.
    #[error("the path is empty")]
    Empty,
    /// A byte that no path can hold.
    #[error("the path holds a NUL character")]
    Nul,
    /// Longer than any path can be.
    #[error("the path is longer than {PATH_BYTES_MAX} bytes")]
    TooLong,
    /// `~name`, or `~` without a home folder.
    #[error("`{0}` cannot be expanded; write the path out")]
    Tilde(String),
    /// Links lead to each other.
    #[error("`{0}` goes through too many symbolic links")]
    Loop(String),
    /// `missing/..` has no real place.
    #[error("`{0}` goes up from a folder that does not exist")]
    UpFromMissing(String),
    /// The file system would not say.
    #[error("`{path}` cannot be resolved: {reason}")]
    Unreadable {
        /// As written.
        path: String,
        /// The system's words.
        reason: String,
    },
}

impl Workspace {
    /// The real place of `asked`: absolute, links followed, `.` and `..` gone. What does not exist yet
    /// stands below its deepest existing folder.
    ///
    /// # Errors
    /// When there is no such place.
    pub fn resolve(&self, asked: &str) -> Result<Target, PathError> {
        let path = self.absolute(asked)?;
        let path = real_place(&path, asked)?;
        Ok(Target { asked: asked.to_owned(), path })
    }

    fn absolute(&self, asked: &str) -> Result<PathBuf, PathError> {
        if asked.is_empty() {
            return Err(PathError::Empty);
        }
        if asked.contains('\0') {
            return Err(PathError::Nul);
        }
        if asked.len() > PATH_BYTES_MAX {
            return Err(PathError::TooLong);
        }
        match (asked.strip_prefix('~'), &self.home) {
            (None, _) => Ok(self.root.join(asked)),
            (Some(""), Some(home)) => Ok(home.clone()),
            (Some(rest), Some(home)) if rest.starts_with('/') => Ok(home.join(rest.trim_start_matches('/'))),
            // A file may well be named `~x`; only where there is none is it read as somebody's home.
            (Some(_), _) if self.root.join(asked).symlink_metadata().is_ok() => Ok(self.root.join(asked)),
            (Some(_), _) => Err(PathError::Tilde(asked.to_owned())),
        }
    }
}

/// Walks `path` part by part, as the kernel would, and keeps going where nothing exists.
fn real_place(path: &Path, asked: &str) -> Result<PathBuf, PathError> {
    let mut todo: VecDeque<OsString> = parts(path);
    let mut real = PathBuf::from("/");
    let mut missing_depth = 0_usize;
    let mut links = 0;
    while let Some(part) = todo.pop_front() {
        if part == ".." {
            if missing_depth > 0 {
                return Err(PathError::UpFromMissing(asked.to_owned()));
            }
            real.pop();
            continue;
        }
        let candidate = real.join(&part);
        if missing_depth > 0 {
            missing_depth += 1;
            real = candidate;
            continue;
        }
        match candidate.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => {
                links += 1;
                if links > LINKS_MAX {
                    return Err(PathError::Loop(asked.to_owned()));
                }
                let leads_to = candidate.read_link().map_err(|error| unreadable(asked, &error))?;
                if leads_to.is_absolute() {
                    real = PathBuf::from("/");
                }
                for part in parts(&leads_to).into_iter().rev() {
                    todo.push_front(part);
                }
            }
            Ok(_) => real = candidate,
            Err(error) if is_missing(&error) => {
                missing_depth = 1;
                real = candidate;
            }
            Err(error) => return Err(unreadable(asked, &error)),
        }
    }
    Ok(real)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}

/// A part below a file does not exist either; opening it will say that it is no folder.
fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn unreadable(asked: &str, error: &std::io::Error) -> PathError {
    PathError::Unreadable { path: asked.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn path_table() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let root = base.join("ws");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(base.join("secret"), "x").unwrap();
        std::fs::write(root.join("~odd"), "x").unwrap();
        symlink("/etc/passwd", root.join("leak")).unwrap();
        symlink("/", root.join("d")).unwrap();
        symlink("src", root.join("inside")).unwrap();
        symlink("../../secret", root.join("src/up")).unwrap();
        symlink("nowhere/file", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let workspace = Workspace::open(&root, Some(base.join("home"))).unwrap();
        let at = |path: &str| base.join(path).display().to_string();
        for (asked, place) in [
            (".", at("ws")),
            ("src/a.rs", at("ws/src/a.rs")),
            ("./src/../src//a.rs", at("ws/src/a.rs")),
            ("../secret", at("secret")),
            ("src/../../secret", at("secret")),
            ("src/up", at("secret")),
            ("leak", "/etc/passwd".into()),
            ("d/etc/hosts", "/etc/hosts".into()),
            ("inside/../secret", at("ws/secret")),
            ("inside/new/deep.txt", at("ws/src/new/deep.txt")),
            ("dangling", at("ws/nowhere/file")),
            ("/etc/hosts", "/etc/hosts".into()),
            ("~/notes", at("home/notes")),
            ("~", at("home")),
            ("~odd", at("ws/~odd")),
            ("../../../../../../../../..", "/".into()),
        ] {
            let target = workspace.resolve(asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
            assert_eq!(target.path.display().to_string(), place, "{asked}");
        }
        let error = |asked: &str| workspace.resolve(asked).unwrap_err();
        assert_eq!(error(""), PathError::Empty);
        assert_eq!(error("a\0b"), PathError::Nul);
        assert_eq!(error("loop"), PathError::Loop("loop".into()));
        assert_eq!(error("missing/../x"), PathError::UpFromMissing("missing/../x".into()));
        assert_eq!(error("~nobody/x"), PathError::Tilde("~nobody/x".into()));
        assert_eq!(error(&"a".repeat(5000)), PathError::TooLong);
    }
}
