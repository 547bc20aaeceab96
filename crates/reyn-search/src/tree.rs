//! Folders for tests.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::Root;

/// A folder with files, deleted when it is dropped.
pub(crate) struct Tree {
    dir: tempfile::TempDir,
    handle: File,
    real: PathBuf,
}

impl Tree {
    /// A folder with these files; the folders above them are made.
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        let tree = Self { handle: File::open(&real).unwrap(), dir, real };
        for (path, bytes) in files {
            tree.write(path.as_bytes(), bytes);
        }
        tree
    }

    pub(crate) fn write(&self, path: &[u8], bytes: &[u8]) {
        let path = self.real.join(OsStr::from_bytes(path));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn pipe(&self, path: &str) {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(&self.handle, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn handle(&self) -> &File {
        &self.handle
    }

    pub(crate) fn root<'a>(&'a self, below: &'a str) -> Root<'a> {
        Root { folder: self.handle.as_fd(), below: Path::new(below), path: &self.real }
    }
}
