//! The backend of Linux: Landlock, a filter of system calls, and namespaces where they may be had.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::control::{Control, Streams};
use super::plan::Plan;
use super::scratch::Scratch;
use super::wire::{Act, Means, Namespaces, Task};
use super::{probe, syscalls};
use crate::backend::{Axis, AxisName, AxisState, BackendKind, NamespaceChoice, SandboxBackend, Unenforced};
use crate::bytes_in_json::Bytes;
use crate::child::{Child, Process, pipes};
use crate::helper_program::HelperProgram;
use crate::launch::{Launch, LaunchError};
use crate::policy::SandboxPolicy;

/// The first interface with a right to send signals, and to connect to sockets without a file.
const ABI_WITH_SCOPES: u32 = 6;
/// The first interface that governs cutting files off.
const ABI_WITH_TRUNCATE: u32 = 3;

/// Landlock, as it was seen to work here.
#[derive(Debug)]
pub(crate) struct Landlock {
    helper: HelperProgram,
    means: Means,
    proven: Vec<AxisName>,
}

/// The version of Landlock's interface, asked of the kernel.
pub(crate) fn landlock_abi() -> Option<u32> {
    syscalls::landlock_abi()
}

impl Landlock {
    /// Tries, once per process, what can be enforced here.
    pub(crate) async fn proven(helper: HelperProgram, choice: NamespaceChoice) -> Result<Self, String> {
        let found = probe::once(&helper, choice).await?;
        Ok(Self { helper, means: found.means, proven: found.proven })
    }

    fn has_namespaces(&self) -> bool {
        self.means.namespaces != Namespaces::Never
    }

    fn how(&self, name: AxisName) -> Result<String, String> {
        let abi = self.means.landlock_abi;
        let text = match name {
            AxisName::Writes if abi < ABI_WITH_TRUNCATE => {
                return Err("this kernel's Landlock does not govern cutting files off".to_owned());
            }
            AxisName::Writes | AxisName::Reads => format!("Landlock {abi}"),
            AxisName::Metadata if self.has_namespaces() => "read-only mounts".to_owned(),
            AxisName::Metadata => return Err(MODES_STAY.to_owned()),
            AxisName::Protected if self.has_namespaces() => "read-only mounts".to_owned(),
            AxisName::Protected => "rights for each entry beside them".to_owned(),
            AxisName::NewEntries if self.has_namespaces() => "read-only mounts".to_owned(),
            AxisName::NewEntries => return Err(NO_NEW_ENTRIES.to_owned()),
            AxisName::ReadDeny if self.has_namespaces() => "empty mounts".to_owned(),
            AxisName::ReadDeny => return Err(NAMES_STAY.to_owned()),
            AxisName::Network if self.means.has_network_namespace => {
                "no sockets, no interfaces, Landlock".to_owned()
            }
            AxisName::Network => "no sockets, Landlock".to_owned(),
            AxisName::LocalSockets if self.has_namespaces() && abi >= ABI_WITH_SCOPES => {
                "sockets of daemons are covered; abstract ones are closed".to_owned()
            }
            AxisName::LocalSockets => return Err(SOCKETS_STAY.to_owned()),
            AxisName::Subprocess => "system calls that make processes are refused".to_owned(),
            AxisName::OtherProcesses if self.means.has_fresh_proc => "a process namespace".to_owned(),
            AxisName::OtherProcesses if self.has_namespaces() || abi >= ABI_WITH_SCOPES => {
                "signals and memory are closed; that others run, and their command lines, can be read"
                    .to_owned()
            }
            AxisName::OtherProcesses => return Err(SIGNALS_STAY.to_owned()),
            AxisName::ProcessCount if self.means.has_pid_bound && self.has_namespaces() => {
                "a bound on process numbers".to_owned()
            }
            AxisName::ProcessCount if self.means.has_pid_bound => "a control group".to_owned(),
            AxisName::ProcessCount if rustix::process::geteuid().is_root() => {
                return Err(ROOT_COUNTS.to_owned());
            }
            AxisName::ProcessCount => "a limit for the user".to_owned(),
            AxisName::Memory => "a limit on the writable memory of each process".to_owned(),
            AxisName::Files => "limits of each process".to_owned(),
            AxisName::Lifetime if self.has_namespaces() => {
                "a process namespace dies with its supervisor".to_owned()
            }
            AxisName::Lifetime => "a supervisor kills every descendant".to_owned(),
        };
        Ok(text)
    }
}

const NO_NEW_ENTRIES: &str = "mount namespaces are forbidden here";
const MODES_STAY: &str = "mount namespaces are forbidden here: Landlock does not govern modes, owners, times and \
                          attributes of files that can be read";
const NAMES_STAY: &str =
    "mount namespaces are forbidden here: what is denied cannot be read, but its names can be listed";
const SOCKETS_STAY: &str = "with the network allowed, sockets of this machine's daemons can be reached: Landlock does not govern them";
const SIGNALS_STAY: &str = "this kernel's Landlock does not govern signals";
const ROOT_COUNTS: &str =
    "the kernel does not bound the processes of root without a process namespace or a control group";

impl SandboxBackend for Landlock {
    fn kind(&self) -> BackendKind {
        BackendKind::Landlock
    }

    fn axes(&self) -> Vec<Axis> {
        [
            AxisName::Writes,
            AxisName::Metadata,
            AxisName::Reads,
            AxisName::Protected,
            AxisName::NewEntries,
            AxisName::ReadDeny,
            AxisName::Network,
            AxisName::LocalSockets,
            AxisName::Subprocess,
            AxisName::OtherProcesses,
            AxisName::ProcessCount,
            AxisName::Memory,
            AxisName::Files,
            AxisName::Lifetime,
        ]
        .into_iter()
        .map(|name| Axis {
            name,
            state: match self.how(name) {
                Ok(how) => AxisState::Enforced { how },
                Err(why) => AxisState::Unenforced { why },
            },
            is_proven: self.proven.contains(&name),
        })
        .collect()
    }

    fn unenforced(&self, policy: &SandboxPolicy) -> Vec<Unenforced> {
        let asked = [
            (AxisName::Writes, true),
            (AxisName::Metadata, true),
            (AxisName::ReadDeny, !policy.read_deny_paths.is_empty()),
            (AxisName::LocalSockets, policy.network),
            (AxisName::OtherProcesses, true),
            (AxisName::ProcessCount, policy.limits.processes_max.is_some()),
        ];
        let mut found: Vec<Unenforced> = asked
            .into_iter()
            .filter(|(_, is_asked)| *is_asked)
            .filter_map(|(axis, _)| self.how(axis).err().map(|why| Unenforced { axis, why }))
            .collect();
        if !self.has_namespaces() {
            found.extend(lost_folders(policy).into_iter().map(|folder| Unenforced {
                axis: AxisName::NewEntries,
                why: format!("no new entries directly in `{}`: {NO_NEW_ENTRIES}", folder.display()),
            }));
        }
        found
    }

    fn start(
        &self,
        policy: &SandboxPolicy,
        launch: &Launch,
        extras: &[OwnedFd],
        has_stdin: bool,
    ) -> Result<Child, LaunchError> {
        start(&self.helper, Some(self.means), policy, launch, extras, has_stdin)
    }
}

/// The folders of write paths in which nothing can be made, because something in them is protected.
fn lost_folders(policy: &SandboxPolicy) -> BTreeSet<PathBuf> {
    let Ok(plan) = Plan::of(policy, false) else { return BTreeSet::new() };
    let guarded = plan.fixed.iter().chain(plan.links.iter().map(|(link, _)| link));
    let guarded = guarded.chain(plan.covered.iter().map(|(path, _)| path));
    guarded
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|folder| plan.writable.iter().any(|write| folder.starts_with(write)))
        .map(Path::to_owned)
        .collect()
}

/// Starts a process by way of a supervisor; without `means` it is not confined.
pub(crate) fn start(
    helper: &HelperProgram,
    means: Option<Means>,
    policy: &SandboxPolicy,
    launch: &Launch,
    extras: &[OwnedFd],
    has_stdin: bool,
) -> Result<Child, LaunchError> {
    let bytes = |text: &std::ffi::OsString| Bytes(text.clone());
    let act = Act::Run {
        program: launch.program.clone(),
        argv: launch.argv.iter().map(bytes).collect(),
        env: launch.env.iter().map(|(name, value)| (bytes(name), bytes(value))).collect(),
    };
    let scratch = Scratch::make()?;
    let (ends, theirs) = pipes(has_stdin)?;
    let task = Task {
        act,
        is_confined: means.is_some(),
        means: means.unwrap_or(probe::NOTHING),
        policy: policy.clone(),
        cwd: launch.cwd.clone(),
        scratch: scratch.path().to_owned(),
        has_stdin,
    };
    let streams = Streams { stdin: theirs.stdin, stdout: theirs.stdout, stderr: theirs.stderr };
    let control = Control::start(helper, &task, streams, extras, scratch)?;
    Ok(Child::new(ends, Process::Supervised(Box::new(control))))
}
