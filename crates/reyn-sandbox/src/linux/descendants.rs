//! Killing every descendant of this process where there is no process namespace to do it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid as NixPid;
use rustix::process::WaitOptions;

/// How long descendants are hunted.
const HUNT_MAX: Duration = Duration::from_secs(10);
/// Pause between two rounds.
const PAUSE: Duration = Duration::from_millis(2);
/// How often the list is read again until nobody new is in it.
const STOP_ROUNDS_MAX: usize = 64;

/// Kills and reaps until no child is left; says whether none is.
///
/// The caller is the subreaper of its descendants, so that each ends as its child.
pub(super) fn kill_all() -> bool {
    let started = Instant::now();
    while started.elapsed() < HUNT_MAX {
        if !reap() {
            return true;
        }
        stop_all();
        for pid in all() {
            let _ = kill(NixPid::from_raw(pid), Signal::SIGKILL);
        }
        std::thread::sleep(PAUSE);
    }
    false
}

/// Takes the status of every child that is dead; says whether one is left.
fn reap() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Stops them first: a stopped process starts no new one while the list is read.
fn stop_all() {
    let mut known = 0;
    for _ in 0..STOP_ROUNDS_MAX {
        let found = all();
        for pid in &found {
            let _ = kill(NixPid::from_raw(*pid), Signal::SIGSTOP);
        }
        if found.len() <= known {
            return;
        }
        known = found.len();
    }
}

/// The numbers of all living descendants.
fn all() -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![] };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = std::fs::read(entry.path().join("stat")) else { continue };
        if let Some(parent) = parent(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut found = vec![];
    let mut open = vec![own];
    while let Some(pid) = open.pop() {
        if let Some(next) = children.remove(&pid) {
            found.extend(&next);
            open.extend(next);
        }
    }
    found
}

/// How many processes the user of this one runs.
pub(super) fn of_this_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::getuid().as_raw();
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let counted = entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == own))
        .count();
    u64::try_from(counted).unwrap_or(u64::MAX)
}

/// The parent in a line of `/proc/PID/stat`, whose second field may hold anything, also spaces and brackets;
/// `None` for a process that is dead already.
fn parent(stat: &[u8]) -> Option<i32> {
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[after + 1..]).ok()?.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z" && state != "X").then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_hides_no_parent() {
        assert_eq!(parent(b"12 (a) R 7) S 42 12 12 0"), Some(42));
        assert_eq!(parent(b"12 (a) Z 42 12"), None);
        assert_eq!(parent(b""), None);
    }
}
