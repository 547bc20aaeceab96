//! What can be enforced here, found by trying: a confined process attempts what must be refused, and so does one
//! that is not confined, for which everything must work.

use std::io;

use nix::libc;
use tokio::sync::OnceCell;

use super::attempts::{FILE, INSIDE, OUTSIDE, PROTECTED};
use super::control::{Control, Streams};
use super::scratch::Scratch;
use super::syscalls;
use super::wire::{Act, Attempted, Means, Namespaces, Step, Task};
use crate::backend::{AxisName, NamespaceChoice};
use crate::helper_program::HelperProgram;
use crate::policy::{Limits, ProtectedPath, SandboxPolicy};

/// No means at all: for processes that are not confined.
pub(super) const NOTHING: Means = Means {
    namespaces: Namespaces::Never,
    has_fresh_proc: false,
    has_network_namespace: false,
    has_pid_bound: false,
    landlock_abi: 0,
};
/// How often less is tried.
const STEPS_DOWN_MAX: usize = 10;
/// A number of processes that the self-test stays below.
const PROCESSES_MAX: u64 = 4000;

/// What was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) means: Means,
    /// The axes that were seen to hold.
    pub(super) proven: Vec<AxisName>,
}

/// Tries once per process and choice.
pub(super) async fn once(helper: &HelperProgram, choice: NamespaceChoice) -> Result<Found, String> {
    static AUTO: OnceCell<Result<Found, String>> = OnceCell::const_new();
    static NEVER: OnceCell<Result<Found, String>> = OnceCell::const_new();
    let cell = match choice {
        NamespaceChoice::Auto => &AUTO,
        NamespaceChoice::Never => &NEVER,
    };
    cell.get_or_init(|| find(helper, choice)).await.clone()
}

async fn find(helper: &HelperProgram, choice: NamespaceChoice) -> Result<Found, String> {
    let landlock_abi =
        syscalls::landlock_abi().ok_or("this kernel has no Landlock, or it is switched off")?;
    if !syscalls::can_filter() {
        return Err("this kernel cannot filter system calls".to_owned());
    }
    let free = attempt(helper, None).await.map_err(|(_, why)| why)?;
    let mut means = match choice {
        NamespaceChoice::Auto => Means {
            namespaces: Namespaces::User,
            has_fresh_proc: true,
            has_network_namespace: true,
            has_pid_bound: true,
            landlock_abi,
        },
        NamespaceChoice::Never => Means { has_pid_bound: true, landlock_abi, ..NOTHING },
    };
    let mut reason = String::new();
    for _ in 0..STEPS_DOWN_MAX {
        let (step, why) = match attempt(helper, Some(means)).await {
            Ok(confined) => return judge(means, free, confined),
            Err(failed) => failed,
        };
        reason = why;
        match less(means, step) {
            Some(next) => means = next,
            None => break,
        }
    }
    Err(reason)
}

/// What is tried next when a step failed.
fn less(means: Means, step: Option<Step>) -> Option<Means> {
    let never = Means { has_pid_bound: true, landlock_abi: means.landlock_abi, ..NOTHING };
    match (step?, means.namespaces) {
        (Step::Proc, _) if means.has_fresh_proc => Some(Means { has_fresh_proc: false, ..means }),
        (Step::PidBound, _) if means.has_pid_bound => Some(Means { has_pid_bound: false, ..means }),
        (_, Namespaces::Never) => None,
        (Step::Namespaces, _) if means.has_network_namespace => {
            Some(Means { has_network_namespace: false, ..means })
        }
        (_, Namespaces::User) if rustix::process::geteuid().is_root() => {
            Some(Means { namespaces: Namespaces::Privileged, has_network_namespace: true, ..means })
        }
        (_, Namespaces::User | Namespaces::Privileged) => Some(never),
    }
}

async fn attempt(helper: &HelperProgram, means: Option<Means>) -> Result<Attempted, (Option<Step>, String)> {
    let prepare = |error: io::Error| (None, format!("cannot prepare the self-test: {error}"));
    let scratch = Scratch::make().map_err(|error| (None, error.to_string()))?;
    let place = Scratch::make().map_err(|error| (None, error.to_string()))?;
    let inside = place.path().join(INSIDE);
    let outside = place.path().join(OUTSIDE);
    for folder in [&inside, &outside] {
        std::fs::create_dir(folder).map_err(prepare)?;
    }
    for file in [outside.join(FILE), inside.join(FILE), inside.join(PROTECTED)] {
        std::fs::write(file, "").map_err(prepare)?;
    }
    let has_bound = means.is_some_and(|means| means.has_pid_bound);
    let task = Task {
        act: Act::Attempt,
        is_confined: means.is_some(),
        means: means.unwrap_or(NOTHING),
        policy: SandboxPolicy {
            write_paths: vec![inside.clone()],
            protected: vec![ProtectedPath { path: inside.join(PROTECTED), is_folder: false }],
            limits: Limits { processes_max: has_bound.then_some(PROCESSES_MAX), ..Limits::default() },
            ..SandboxPolicy::nothing()
        },
        cwd: inside,
        scratch: scratch.path().to_owned(),
        has_stdin: false,
    };
    let null = || {
        let file = std::fs::File::options().write(true).open("/dev/null");
        file.map(std::os::fd::OwnedFd::from).map_err(prepare)
    };
    let streams = Streams { stdin: None, stdout: null()?, stderr: null()? };
    let mut control =
        Control::start(helper, &task, streams, &[], scratch).map_err(|error| (None, error.to_string()))?;
    control.attempted().await
}

fn judge(means: Means, free: Attempted, confined: Attempted) -> Result<Found, String> {
    for (what, answer) in
        [("a write where it is granted", confined.write_inside), ("a thread", confined.thread)]
    {
        if answer != 0 {
            let why = io::Error::from_raw_os_error(answer);
            return Err(format!("the self-test failed: {what} is refused: {why}"));
        }
    }
    let refusals = [
        (AxisName::Writes, "a write outside", free.write_outside, confined.write_outside),
        (AxisName::Reads, "a read outside", free.read_outside, confined.read_outside),
        (AxisName::Protected, "a write to a protected file", free.write_protected, confined.write_protected),
        (AxisName::Subprocess, "a new process", free.fork, confined.fork),
        (AxisName::Network, "a socket", free.socket, confined.socket),
    ];
    let mut proven = vec![];
    // Without mount namespaces it is told to be unenforced.
    if means.namespaces != Namespaces::Never {
        if confined.mode_outside == 0 {
            return Err("the self-test failed: a change of mode outside is not refused".to_owned());
        }
        proven.extend((free.mode_outside == 0).then_some(AxisName::Metadata));
    }
    for (axis, what, free, confined) in refusals {
        if !matches!(confined, libc::EPERM | libc::EACCES | libc::EROFS) {
            return Err(format!("the self-test failed: {what} is not refused"));
        }
        // What is refused without the sandbox as well proves nothing.
        if free == 0 {
            proven.push(axis);
        }
    }
    Ok(Found { means, proven })
}
