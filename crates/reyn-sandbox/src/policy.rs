//! What a process may do: the policy, as data. Backends enforce it; nothing here asks a system.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::launch::LaunchError;

/// What a process may reach. What is not granted is refused.
///
/// Paths are absolute. A folder stands for everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPolicy {
    /// Whether it may open sockets to anything: IPv4, IPv6 and Unix.
    pub network: bool,
    /// Whether it may start further processes. Threads are always allowed.
    pub subprocess: bool,
    /// Existing folders and files that it may read and execute.
    #[serde(with = "crate::bytes_in_json::paths")]
    pub read_paths: Vec<PathBuf>,
    /// Existing folders and files that it may read, execute and change.
    #[serde(with = "crate::bytes_in_json::paths")]
    pub write_paths: Vec<PathBuf>,
    /// What stays unwritable although it lies in a write path.
    ///
    /// On Linux this holds for what is there when the process starts: an entry that somebody outside the
    /// sandbox replaces by renaming while the process runs is open to the process from then on.
    pub protected: Vec<ProtectedPath>,
    /// What stays unreadable although it lies in a readable folder. What is not there is passed over.
    #[serde(with = "crate::bytes_in_json::paths")]
    pub read_deny_paths: Vec<PathBuf>,
    /// Bounds on what it may use up.
    pub limits: Limits,
}

/// A file or folder that must not be changed, replaced or made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtectedPath {
    /// Where it is, or would be. When it is a link, the place that it leads to is protected as well.
    #[serde(with = "crate::bytes_in_json::path")]
    pub path: PathBuf,
    /// Whether it is a folder; what it is taken for while it is absent.
    pub is_folder: bool,
}

/// Bounds on what a process and its descendants may use up; `None` leaves the system's own bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Writable memory of each process.
    pub memory_bytes: Option<u64>,
    /// Processes and threads at a time; the kernel keeps it only roughly, up to 300 more.
    pub processes_max: Option<u64>,
    /// Open descriptors of each process.
    pub open_files_max: Option<u64>,
    /// Length of each file written.
    pub file_bytes_max: Option<u64>,
}

/// A list of a policy, to say where a path stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathList {
    /// [`SandboxPolicy::read_paths`].
    Read,
    /// [`SandboxPolicy::write_paths`].
    Write,
    /// [`SandboxPolicy::protected`].
    Protected,
    /// [`SandboxPolicy::read_deny_paths`].
    ReadDeny,
}

impl std::fmt::Display for PathList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read_paths",
            Self::Write => "write_paths",
            Self::Protected => "protected",
            Self::ReadDeny => "read_deny_paths",
        })
    }
}

impl SandboxPolicy {
    /// A policy that grants nothing and limits nothing.
    pub fn nothing() -> Self {
        Self {
            network: false,
            subprocess: false,
            read_paths: vec![],
            write_paths: vec![],
            protected: vec![],
            read_deny_paths: vec![],
            limits: Limits::default(),
        }
    }

    /// Says what in this policy contradicts itself, without asking the file system.
    ///
    /// # Errors
    /// The first contradiction: a path that is not absolute or holds `..`, a limit of zero, a write path at
    /// or under a protected one, a denied read at or above a write path.
    pub fn check(&self) -> Result<(), LaunchError> {
        let lists = [
            (PathList::Read, self.read_paths.iter().map(PathBuf::as_path).collect::<Vec<_>>()),
            (PathList::Write, self.write_paths.iter().map(PathBuf::as_path).collect()),
            (PathList::Protected, self.protected.iter().map(|one| one.path.as_path()).collect()),
            (PathList::ReadDeny, self.read_deny_paths.iter().map(PathBuf::as_path).collect()),
        ];
        for (list, paths) in lists {
            if let Some(path) = paths.into_iter().find(|path| !is_plain(path)) {
                return Err(LaunchError::NoPlainPath { list, path: path.to_owned() });
            }
        }
        let limits = [
            ("memory_bytes", self.limits.memory_bytes),
            ("processes_max", self.limits.processes_max),
            ("open_files_max", self.limits.open_files_max),
            ("file_bytes_max", self.limits.file_bytes_max),
        ];
        if let Some((limit, _)) = limits.into_iter().find(|(_, value)| *value == Some(0)) {
            return Err(LaunchError::ZeroLimit { limit });
        }
        for write in &self.write_paths {
            if let Some(one) = self.protected.iter().find(|one| write.starts_with(&one.path)) {
                let protected = one.path.clone();
                return Err(LaunchError::WriteUnderProtected { write: write.clone(), protected });
            }
            if let Some(denied) = self.read_deny_paths.iter().find(|denied| write.starts_with(denied)) {
                return Err(LaunchError::WriteUnderDenied { write: write.clone(), denied: denied.clone() });
            }
        }
        Ok(())
    }
}

/// Whether a path is absolute, without `..` and without a NUL.
fn is_plain(path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    path.is_absolute()
        && !path.components().any(|part| matches!(part, std::path::Component::ParentDir))
        && !path.as_os_str().as_bytes().contains(&0)
}
