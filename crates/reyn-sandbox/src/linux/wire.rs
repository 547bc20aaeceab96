//! What the agent tells the supervisor, and what comes back.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bytes_in_json::Bytes;
use crate::policy::SandboxPolicy;

/// Longest task in bytes: arguments and environment are bounded by the kernel to less.
pub(super) const TASK_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Longest report in bytes.
pub(super) const REPORT_BYTES_MAX: usize = 8192;
/// Most descriptors that go over with a task.
pub(super) const DESCRIPTORS_MAX: usize = 16;

/// The order to ask the program to end.
pub(super) const TERMINATE: u8 = b't';
/// The order to kill everything at once.
pub(super) const KILL: u8 = b'k';

/// Everything that the supervisor needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) act: Act,
    /// Whether the policy is enforced; without it only processes are taken care of.
    pub(super) is_confined: bool,
    pub(super) means: Means,
    pub(super) policy: SandboxPolicy,
    #[serde(with = "crate::bytes_in_json::path")]
    pub(super) cwd: PathBuf,
    /// The run's private folder for temporary files.
    #[serde(with = "crate::bytes_in_json::path")]
    pub(super) scratch: PathBuf,
    /// Whether the first descriptor is the standard input.
    pub(super) has_stdin: bool,
}

/// What is done once confined.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Act {
    /// A program is run.
    Run {
        #[serde(with = "crate::bytes_in_json::path")]
        program: PathBuf,
        argv: Vec<Bytes>,
        env: Vec<(Bytes, Bytes)>,
    },
    /// What must be refused is attempted, and what must work too.
    Attempt,
}

/// What this system lets the supervisor use; found by trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Means {
    pub(super) namespaces: Namespaces,
    /// Whether `/proc` can be mounted anew in the namespaces.
    pub(super) has_fresh_proc: bool,
    /// Whether a network namespace can be made.
    pub(super) has_network_namespace: bool,
    /// Whether the number of processes can be bounded: for the namespace, else by a control group.
    pub(super) has_pid_bound: bool,
    pub(super) landlock_abi: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Namespaces {
    /// In a user namespace of their own.
    User,
    /// Made with the privileges that the agent has.
    Privileged,
    Never,
}

/// A message of the supervisor or a process of its.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Report {
    /// Everything is confined; the program is about to be executed.
    Ready { setup_us: u64 },
    /// A step failed, so the program does not run.
    Failed { step: Step, errno: i32, path: Option<Bytes>, detail: String },
    /// The program ended with this status of `wait`.
    Ended { status: i32 },
    /// What the attempts came to.
    Attempted(Attempted),
}

/// What a confined process could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attempted {
    pub(super) write_inside: Answer,
    pub(super) write_outside: Answer,
    pub(super) read_outside: Answer,
    pub(super) write_protected: Answer,
    pub(super) mode_outside: Answer,
    pub(super) fork: Answer,
    pub(super) thread: Answer,
    pub(super) socket: Answer,
}

/// How an attempt went: 0, or the error number.
pub(super) type Answer = i32;

/// A step on the way to a confined program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Step {
    Task,
    Protect,
    Namespaces,
    Identity,
    Proc,
    PidBound,
    SharedMemory,
    Mounts,
    Fork,
    Limits,
    Cwd,
    ReadPath,
    WritePath,
    Links,
    TooManyEntries,
    Privileges,
    Landlock,
    Filter,
    Descriptors,
    Exec,
    Kill,
}

/// A step that failed, on its way to a report.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) step: Step,
    pub(super) errno: i32,
    pub(super) path: Option<PathBuf>,
    pub(super) detail: String,
}

impl Failure {
    pub(super) fn new(step: Step, error: &std::io::Error) -> Self {
        Self { step, errno: error.raw_os_error().unwrap_or(0), path: None, detail: error.to_string() }
    }

    pub(super) fn at(step: Step, path: impl Into<PathBuf>, error: &std::io::Error) -> Self {
        Self { path: Some(path.into()), ..Self::new(step, error) }
    }

    pub(super) fn report(self) -> Report {
        let path = self.path.map(|path| Bytes(path.into_os_string()));
        Report::Failed { step: self.step, errno: self.errno, path, detail: self.detail }
    }
}

/// Marks an error with the step that it came from.
pub(super) trait During<T> {
    fn during(self, step: Step) -> Result<T, Failure>;
}

impl<T, E: Into<std::io::Error>> During<T> for Result<T, E> {
    fn during(self, step: Step) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(step, &error.into()))
    }
}
