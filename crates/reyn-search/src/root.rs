//! From a root handle to the folder or file that a search begins at.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;

use crate::folder::{Kind, device, kind, open_folder, pass_folder, reason};
use crate::rules::{RuleFiles, Rules, Verdict};
use crate::{Admits, FileId, Found, SearchError};

/// Where a search begins.
#[derive(Debug, Clone, Copy)]
pub struct Root<'a> {
    /// The workspace's root, or `/`. Ignore rules count from here on down.
    pub folder: BorrowedFd<'a>,
    /// The search root: a folder below `folder`, or for a search of lines a file. May be empty. It is
    /// searched also where rules ignore it, and then the rules of the folders above it do not count.
    pub below: &'a Path,
    /// The absolute real path of `folder`, for [`Admits`].
    pub path: &'a Path,
}

/// The folder or file that a search begins at, opened.
#[derive(Debug)]
pub(crate) enum Start {
    Folder(SearchFolder),
    File(SearchFile),
}

#[derive(Debug)]
pub(crate) struct SearchFolder {
    pub(crate) folder: OwnedFd,
    /// The path of the folder with a `/` at the end; empty for the root handle itself.
    pub(crate) prefix: Vec<u8>,
    /// Those of the folders above it.
    pub(crate) rules: Rules,
    pub(crate) device: u64,
}

#[derive(Debug)]
pub(crate) struct SearchFile {
    /// The folder it is in.
    pub(crate) folder: OwnedFd,
    pub(crate) path: Vec<u8>,
    pub(crate) name_begin: usize,
}

impl Root<'_> {
    pub(crate) fn open(&self, does_include_ignored: bool) -> Result<Start, SearchError> {
        let failed = |error: Errno| SearchError::Root(format!("`{}`: {}", self.shown(), reason(error)));
        let mut names = self.names()?.into_iter().peekable();
        let mut folder = if names.peek().is_some() {
            pass_folder(self.folder, b".").map_err(failed)?
        } else {
            // A handle of its own, since listing moves the position that copies of a handle share.
            open_folder(self.folder, b".").map_err(failed)?
        };
        let mut path = vec![];
        let mut rules = Rules::default();
        while let Some(name) = names.next() {
            let is_last = names.peek().is_none();
            let kind = kind(folder.as_fd(), name).map_err(failed)?;
            if !does_include_ignored {
                rules = rules.and(folder.as_fd(), RuleFiles::look(folder.as_fd()), path.len());
            }
            let name_begin = path.len();
            path.extend_from_slice(name);
            if is_last && kind == Kind::File {
                return Ok(Start::File(SearchFile { folder, path, name_begin }));
            }
            if rules.judge(&path, name_begin, true) != Verdict::Searched {
                rules = Rules::default();
            }
            let open = if is_last { open_folder } else { pass_folder };
            folder = open(folder.as_fd(), name).map_err(failed)?;
            path.push(b'/');
        }
        let device = device(&folder).map_err(failed)?;
        Ok(Start::Folder(SearchFolder { folder, prefix: path, rules, device }))
    }

    fn names(&self) -> Result<Vec<&[u8]>, SearchError> {
        let mut names = vec![];
        for component in self.below.components() {
            match component {
                Component::Normal(name) => names.push(name.as_bytes()),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(SearchError::Root(format!(
                        "`{}`: not a plain path below a folder",
                        self.shown()
                    )));
                }
            }
        }
        Ok(names)
    }

    fn shown(&self) -> String {
        if self.below.as_os_str().is_empty() { ".".to_owned() } else { self.below.display().to_string() }
    }
}

/// Asks the caller about files, with their absolute paths.
pub(crate) struct Gatekeeper<'a> {
    admits: Admits<'a>,
    /// The path of the root handle with a `/` at the end.
    prefix: Vec<u8>,
    path: Vec<u8>,
}

impl<'a> Gatekeeper<'a> {
    pub(crate) fn new(root: &Root<'_>, admits: Admits<'a>) -> Self {
        let mut prefix = root.path.as_os_str().as_bytes().to_vec();
        if !prefix.ends_with(b"/") {
            prefix.push(b'/');
        }
        Self { admits, path: prefix.clone(), prefix }
    }

    /// Whether the file at `path`, relative to the root handle, is admitted.
    pub(crate) fn admits(&mut self, path: &[u8], id: Option<FileId>) -> bool {
        self.path.truncate(self.prefix.len());
        self.path.extend_from_slice(path);
        (self.admits)(&Found { path: Path::new(OsStr::from_bytes(&self.path)), id })
    }
}

/// Bytes of the system as a path.
pub(crate) fn to_path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}
