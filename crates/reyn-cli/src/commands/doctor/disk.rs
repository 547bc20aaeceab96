//! Whether there is room, whether it can be written, and how much Reyn keeps.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

use super::{Finding, Surroundings};
use crate::output;
use crate::wiring::cache_folder;

/// Free space below which a session may not be written to its end, in bytes.
const FREE_BYTES_MIN: u64 = 8 << 20;
/// Free space below which a person is told, in bytes.
const FREE_BYTES_WARN: u64 = 500 << 20;
/// Entries of a folder that are counted.
const ENTRIES_MAX: usize = 50_000;

pub(super) fn check(surroundings: &Surroundings) -> Vec<Finding> {
    let mut findings = vec![];
    if let Some(state) = surroundings.state() {
        findings.push(room(
            "the project",
            &state,
            "sessions and the audit trail are written there, and nothing runs without them",
        ));
        findings.extend(kept(&state));
    }
    match cache_folder() {
        Ok(cache) => findings.push(room("the cache", &cache, "model files are kept there")),
        Err(failure) => findings.push(Finding::warn(failure.message, "`export REYN_CACHE_DIR=/a/folder`")),
    }
    findings
}

/// Whether a folder, or the one it would be made in, has room.
fn room(name: &str, folder: &Path, why: &str) -> Finding {
    let Some(there) = folder.ancestors().find(|folder| folder.exists()) else {
        return Finding::warn(format!("{name}: `{}` is nowhere", folder.display()), "look at the path");
    };
    let found = match statvfs(there) {
        Ok(found) => found,
        Err(error) => {
            let message = format!("{name}: cannot look at `{}`: {error}", there.display());
            return Finding::warn(message, "look at its owner and mode");
        }
    };
    let is_read_only = found.f_flag.contains(StatVfsMountFlags::RDONLY);
    if is_read_only || access(there, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let message = format!("{name}: `{}` cannot be written; {why}", there.display());
        return Finding::fail(message, "make it yours to write, or work in another folder");
    }
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let message = format!("{name}: {} free at {}", output::size(free), folder.display());
    match free {
        0..FREE_BYTES_MIN => Finding::fail(format!("{message}; {why}"), "make room"),
        FREE_BYTES_MIN..FREE_BYTES_WARN => Finding::warn(message, "make room before it is full"),
        FREE_BYTES_WARN.. => Finding::ok(message),
    }
}

/// What Reyn has written into the project.
fn kept(state: &Path) -> Option<Finding> {
    if !state.exists() {
        return None;
    }
    let [events, sessions] =
        [state.join("events"), state.join("state/sessions")].map(|folder| size_of(&folder));
    Some(Finding::info(format!("kept: audit trail {events}, sessions {sessions}")))
}

/// `1.2 MB in 3 files`; a folder with more entries than are counted is said to have more.
fn size_of(folder: &Path) -> String {
    let (mut bytes, mut files, mut entries) = (0_u64, 0_u64, 0_usize);
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    'all: while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            entries += 1;
            if entries > ENTRIES_MAX {
                break 'all;
            }
            // Links are not followed: what is behind them is not ours.
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => {
                    bytes += found.len();
                    files += 1;
                }
                Err(_) => {}
            }
        }
    }
    let more = if entries > ENTRIES_MAX { "more than " } else { "" };
    let noun = if files == 1 { "file" } else { "files" };
    format!("{more}{} in {files} {noun}", output::size(bytes))
}
