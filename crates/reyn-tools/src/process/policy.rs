//! The sandbox's policy for one program: what the operator says, what the file permissions say, what the call gives up.

use std::path::{Path, PathBuf};

use reyn_core::permission::ProcessReach;
use reyn_sandbox::git::GitPaths;
use reyn_sandbox::{ProtectedPath, SandboxPolicy, system};

use super::{ProcessSettings, Request};

/// What a call gives up of what the operator grants. It can only take away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Narrowed {
    pub network: Option<bool>,
    pub subprocess: Option<bool>,
    /// Of the workspace and other granted folders, what is read; `None` is all.
    pub read_paths: Option<Vec<PathBuf>>,
    /// The same for writing.
    pub write_paths: Option<Vec<PathBuf>>,
    /// The variables that are passed; `None` is what the operator passes.
    pub env_names: Option<Vec<String>>,
}

pub(super) fn policy(
    settings: &ProcessSettings,
    request: &Request,
    reach: &ProcessReach,
    git: &GitPaths,
) -> SandboxPolicy {
    let Narrowed { network, subprocess, read_paths, write_paths, .. } = &request.narrowed;
    let home = settings.home.clone().unwrap_or_else(|| PathBuf::from("/nonexistent"));
    let granted_reads = [reach.read.clone(), settings.read_paths.clone()].concat();
    let in_workspace = if settings.is_workspace_writable { reach.write.clone() } else { vec![] };
    let mut granted_writes = [in_workspace.clone(), settings.write_paths.clone()].concat();
    // Git's folder of a linked worktree is written to where the worktree is.
    if !in_workspace.is_empty() {
        granted_writes.extend(git.write_paths.iter().cloned());
    }
    let denied: Vec<PathBuf> = [reach.unreadable.clone(), settings.read_deny_paths.clone()].concat();
    let mut protected: Vec<ProtectedPath> = reach
        .protected
        .iter()
        .map(|place| ProtectedPath {
            is_folder: is_folder(&place.path, place.is_folder),
            path: place.path.clone(),
        })
        .chain(git.protected.iter().cloned())
        .chain(
            settings
                .write_deny_paths
                .iter()
                .map(|path| ProtectedPath { path: path.clone(), is_folder: is_folder(path, false) }),
        )
        .collect();
    let mut writes = within(granted_writes, write_paths.as_deref());
    writes.retain(|path| path.exists() && !protected.iter().any(|one| path.starts_with(&one.path)));
    protected.retain(|one| writes.iter().any(|write| one.path.starts_with(write)));
    let mut reads = within(granted_reads, read_paths.as_deref());
    reads.retain(|path| path.exists());
    reads.extend(system::read_paths());
    reads.extend(system::toolchain_paths(&home, settings.path_variable()));
    reads.extend(system::named_paths(&home, |name| settings.variable(name).map(ToOwned::to_owned)));
    reads.extend(system::program_paths(&request.program, &home));
    writes.extend(system::write_paths());
    SandboxPolicy {
        network: settings.network && network.unwrap_or(true),
        subprocess: settings.subprocess && subprocess.unwrap_or(true),
        read_paths: sorted(reads),
        write_paths: sorted(writes),
        protected,
        read_deny_paths: sorted(denied),
        limits: settings.limits,
    }
}

/// What is granted and asked for: the narrower of the two wherever they meet.
fn within(granted: Vec<PathBuf>, asked: Option<&[PathBuf]>) -> Vec<PathBuf> {
    let Some(asked) = asked else { return granted };
    let lies_in = |path: &Path, paths: &[PathBuf]| paths.iter().any(|one| path.starts_with(one));
    let of_asked = asked.iter().filter(|path| lies_in(path, &granted)).cloned();
    of_asked.chain(granted.iter().filter(|path| lies_in(path, asked)).cloned()).collect()
}

fn is_folder(path: &Path, default: bool) -> bool {
    std::fs::symlink_metadata(path).map_or(default, |found| found.is_dir())
}

fn sorted(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    paths
}
