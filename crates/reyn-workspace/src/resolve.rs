//! From a path as written to its real place.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use reyn_core::limits::LINKS_MAX;
use reyn_core::permission::{FileAxis, Target};
use reyn_core::text::unshown;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::Workspace;
use crate::bounds::PATH_BYTES_MAX;
use crate::open::words;

/// Why a path names nothing that can be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathError {
    /// Nothing was written.
    Empty,
    /// A byte that no path can hold.
    Nul,
    /// Longer than any path can be.
    TooLong,
    /// `~name`, or `~` without a home folder.
    Tilde(String),
    /// Links lead to each other.
    Loop(String),
    /// `name/` where there is no folder.
    NotFolder(String),
    /// The file system would not say.
    Unreadable {
        /// As written.
        path: String,
        /// The system's words.
        reason: String,
    },
}

impl std::fmt::Display for PathError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("the path is empty"),
            Self::Nul => f.write_str("the path holds a NUL character"),
            Self::TooLong => write!(f, "the path is longer than {PATH_BYTES_MAX} bytes"),
            Self::Tilde(path) => write!(f, "`{path}` cannot be expanded; write the path out"),
            Self::Loop(path) => write!(f, "`{path}` goes through too many symbolic links"),
            Self::NotFolder(path) => write!(f, "`{path}` ends with `/` and is no folder"),
            Self::Unreadable { path, reason } => write!(f, "`{path}` cannot be resolved: {reason}"),
        }
    }
}

impl std::error::Error for PathError {}

/// A real place, and what is there.
struct Real {
    path: PathBuf,
    stat: Option<Stat>,
}

impl Workspace {
    /// The real place of `asked`: absolute, links followed, `.` and `..` gone, in the letters that the file
    /// system keeps. What does not exist yet stands below its deepest existing folder. A hard link to a
    /// file that is guarded on `axis` says which one.
    ///
    /// # Errors
    /// When there is no such place.
    pub fn resolve(&self, asked: &str, axis: FileAxis) -> Result<Target, PathError> {
        let (start, parts) = self.absolute(asked)?;
        let real = self.real_place(start, parts, asked)?;
        let is_folder = |stat: Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        // To read what is missing is told as that.
        let is_other = match real.stat {
            Some(stat) => !is_folder(stat),
            None => axis == FileAxis::Write,
        };
        if asked.ends_with('/') && is_other {
            return Err(PathError::NotFolder(asked.to_owned()));
        }
        Ok(self.target(asked, real, axis))
    }

    /// The same for the name itself: when it is a link, the place of the link, not where it leads.
    ///
    /// # Errors
    /// When there is no such place.
    pub fn resolve_entry(&self, asked: &str, axis: FileAxis) -> Result<Target, PathError> {
        if asked.ends_with('/') {
            return self.resolve(asked, axis);
        }
        let (start, mut parts) = self.absolute(asked)?;
        let Some(name) = parts.pop_back().filter(|name| name != "..") else {
            return self.resolve(asked, axis);
        };
        let folder = self.real_place(start, parts, asked)?.path;
        let name = self.stored_name(&folder, &name);
        let path = folder.join(name);
        let stat = self.lstat(&path).ok();
        Ok(self.target(asked, Real { path, stat }, axis))
    }

    fn target(&self, asked: &str, real: Real, axis: FileAxis) -> Target {
        let same_as = real.stat.and_then(|stat| self.guarded_twin(axis, &real.path, &stat));
        Target { asked: asked.to_owned(), path: real.path, same_as, link: None }
    }

    /// A place without links that `asked` starts from, and the parts from there.
    fn absolute(&self, asked: &str) -> Result<(PathBuf, VecDeque<OsString>), PathError> {
        if asked.is_empty() {
            return Err(PathError::Empty);
        }
        if asked.contains('\0') {
            return Err(PathError::Nul);
        }
        if asked.len() > PATH_BYTES_MAX {
            return Err(PathError::TooLong);
        }
        let literal = match (asked.strip_prefix('~'), &self.home) {
            (None, _) => self.root().join(asked),
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            // A file may well be named `~x`; only where there is none is it read as somebody's home.
            (Some(_), _) if self.lstat(&self.root().join(asked)).is_ok() => self.root().join(asked),
            (Some(_), _) => return Err(PathError::Tilde(asked.to_owned())),
        };
        let path = self.unescaped(asked).unwrap_or(literal);
        Ok(match path.strip_prefix(self.root()) {
            Ok(inside) => (self.root().to_owned(), parts(inside)),
            Err(_) => (PathBuf::from("/"), parts(&path)),
        })
    }

    /// The path that was shown to the model as `asked`, when some of its bytes were escaped. A file that
    /// really has a name like that comes first.
    fn unescaped(&self, asked: &str) -> Option<PathBuf> {
        let path = self.root().join(unshown(asked)?);
        let is_literal = std::fs::symlink_metadata(self.root().join(asked)).is_ok();
        (!is_literal && std::fs::symlink_metadata(&path).is_ok()).then_some(path)
    }

    /// Walks part by part, as the kernel would, and keeps going where nothing exists.
    fn real_place(
        &self,
        start: PathBuf,
        mut todo: VecDeque<OsString>,
        asked: &str,
    ) -> Result<Real, PathError> {
        let mut real = start;
        let mut stat = None;
        let mut missing_depth = 0_usize;
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                real.pop();
                stat = None;
                // What is missing is left as it is written: to tell it from what is there would tell about
                // folders that nobody may look into.
                missing_depth = missing_depth.saturating_sub(1);
                continue;
            }
            if missing_depth > 0 {
                missing_depth += 1;
                real.push(part);
                continue;
            }
            let candidate = real.join(self.stored_name(&real, &part));
            match self.lstat(&candidate) {
                Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(PathError::Loop(asked.to_owned()));
                    }
                    let leads_to = self.read_link(&candidate).map_err(|errno| unreadable(asked, errno))?;
                    let leads_to = Path::new(&leads_to);
                    if leads_to.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    for part in parts(leads_to).into_iter().rev() {
                        todo.push_front(part);
                    }
                    stat = None;
                }
                Ok(found) => {
                    real = candidate;
                    stat = Some(found);
                }
                // A part below a file does not exist either; opening it will say that it is no folder.
                Err(Errno::NOENT | Errno::NOTDIR) => {
                    missing_depth = 1;
                    real = candidate;
                    stat = None;
                }
                Err(errno) => return Err(unreadable(asked, errno)),
            }
        }
        // After `..` the place is another one than was last looked at.
        let stat = stat.or_else(|| self.lstat(&real).ok());
        Ok(Real { path: real, stat })
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsStr::new("..").to_owned()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}

fn unreadable(asked: &str, errno: Errno) -> PathError {
    PathError::Unreadable { path: asked.to_owned(), reason: words(errno) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Place;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    #[test]
    fn path_table() {
        let place = Place::new();
        let base = place.root().parent().unwrap().to_owned();
        place.put("src/x", "");
        std::fs::write(base.join("secret"), "x").unwrap();
        place.put("~odd", "x");
        place.put("か\u{3099}.txt", "x");
        place.put("\\x41", "x");
        std::fs::write(place.root().join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
        symlink("/etc/passwd", place.at("leak")).unwrap();
        symlink("/", place.at("d")).unwrap();
        symlink("src", place.at("inside")).unwrap();
        symlink("../../secret", place.at("src/up")).unwrap();
        symlink("nowhere/file", place.at("dangling")).unwrap();
        symlink("loop", place.at("loop")).unwrap();
        symlink(&base, base.join("alias")).unwrap();
        let at = |path: &str| base.join(path).display().to_string();
        for (asked, leads_to) in [
            (".", at("ws")),
            ("src/a.rs", at("ws/src/a.rs")),
            ("./src/../src//a.rs", at("ws/src/a.rs")),
            ("src/", at("ws/src")),
            ("../secret", at("secret")),
            ("src/../../secret", at("secret")),
            ("src/up", at("secret")),
            ("leak", "/etc/passwd".into()),
            ("d/etc/hosts", "/etc/hosts".into()),
            ("inside/../secret", at("ws/secret")),
            ("inside/new/deep.txt", at("ws/src/new/deep.txt")),
            ("dangling", at("ws/nowhere/file")),
            ("/etc/hosts", "/etc/hosts".into()),
            (at("ws/src/x").as_str(), at("ws/src/x")),
            (at("alias/ws/src/x").as_str(), at("ws/src/x")),
            (at("alias/alias/secret").as_str(), at("secret")),
            ("/proc/self/root/etc/hosts", "/etc/hosts".into()),
            ("~/notes", at("home/notes")),
            ("~", at("home")),
            ("~odd", at("ws/~odd")),
            ("../../../../../../../../..", "/".into()),
            ("missing/../src/x", at("ws/src/x")),
            ("missing/deep/../../../secret", at("secret")),
            ("src/x/../../../secret", at("secret")),
            ("が.txt", at("ws/か\u{3099}.txt")),
            ("か\u{3099}.txt", at("ws/か\u{3099}.txt")),
            ("きが.txt", at("ws/きが.txt")),
            ("caf\\xe9", format!("{}/caf\u{FFFD}", at("ws"))),
            ("\\x41", at("ws/\\x41")),
            ("\\x42", at("ws/\\x42")),
        ] {
            let target =
                place.resolve(asked, FileAxis::Read).unwrap_or_else(|error| panic!("{asked}: {error}"));
            assert_eq!(target.path.to_string_lossy(), leads_to, "{asked}");
        }
        let error = |asked: &str| place.resolve(asked, FileAxis::Read).unwrap_err();
        assert_eq!(error(""), PathError::Empty);
        assert_eq!(error("a\0b"), PathError::Nul);
        assert_eq!(error("loop"), PathError::Loop("loop".into()));
        assert_eq!(error("~odd/"), PathError::NotFolder("~odd/".into()));
        assert!(place.resolve("new/", FileAxis::Read).is_ok());
        assert!(matches!(place.resolve("new/", FileAxis::Write), Err(PathError::NotFolder(_))));
        assert_eq!(error("~nobody/x"), PathError::Tilde("~nobody/x".into()));
        assert_eq!(error(&"a".repeat(5000)), PathError::TooLong);
    }

    #[test]
    fn the_name_itself_is_the_place_of_a_link() {
        let place = Place::new();
        place.put("src/real", "x");
        symlink("src", place.at("folder")).unwrap();
        symlink("real", place.at("src/link")).unwrap();
        symlink("/nowhere", place.at("dangling")).unwrap();
        for (asked, entry) in [
            ("src/real", "src/real"),
            ("src/link", "src/link"),
            ("folder/link", "src/link"),
            ("folder", "folder"),
            ("folder/", "src"),
            ("dangling", "dangling"),
            ("src/..", "."),
            ("new", "new"),
        ] {
            let target = place.resolve_entry(asked, FileAxis::Write).unwrap();
            assert_eq!(place.display(&target.path), entry, "{asked}");
        }
    }

    #[test]
    fn a_parent_that_is_moved_after_the_path_was_judged_does_not_lead_away() {
        let place = Place::new();
        place.put("a/f", "inside");
        std::fs::write(place.outside().join("f"), "outside").unwrap();
        let target = place.to_read("a/f");
        let read = || {
            let request = crate::PageRequest::default();
            place.read_page(&target, request, &tokio_util::sync::CancellationToken::new())
        };
        assert_eq!(read().unwrap().text, "inside");
        std::fs::rename(place.at("a"), place.at("b")).unwrap();
        symlink(place.outside(), place.at("a")).unwrap();
        let error = read().unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
        assert!(place.write_whole(&target, "x", None).is_err());
        assert_eq!(std::fs::read(place.outside().join("f")).unwrap(), b"outside");
    }
}
