//! The private folder for temporary files of a run.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::launch::LaunchError;

/// How many folders that a program closed are opened again to remove them.
const CLOSED_MAX: usize = 100_000;

/// A run's private folder, removed with all it holds when dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes one below the system's folder for temporary files, for nobody else.
    pub(super) fn make() -> Result<Self, LaunchError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let path = std::env::temp_dir().join(format!("reyn-{}-{count}-{now:x}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|why| LaunchError::System { what: "make a folder for temporary files", why })?;
        Ok(Self { path })
    }

    /// Removes it when the program left nothing in it; else gives it back, for it may take long.
    pub(super) fn remove_empty(mut self) -> Option<Self> {
        if std::fs::remove_dir(&self.path).is_err() {
            return Some(self);
        }
        self.path.clear();
        None
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            remove(&self.path);
        }
    }
}

/// Removes a folder with all it holds, also what its owner may not list. Everybody who could change it is dead.
pub(super) fn remove(path: &Path) {
    let Err(error) = std::fs::remove_dir_all(path) else { return };
    if error.kind() != io::ErrorKind::PermissionDenied {
        return;
    }
    let mut open = vec![path.to_owned()];
    for _ in 0..CLOSED_MAX {
        let Some(folder) = open.pop() else { break };
        let _ = std::fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        open.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
    let _ = std::fs::remove_dir_all(path);
}
