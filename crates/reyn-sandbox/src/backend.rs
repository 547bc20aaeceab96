//! The backends, which of them this system has, and what each was seen to enforce.

use std::os::fd::OwnedFd;

use tokio_util::sync::CancellationToken;

use crate::child::{Child, Exited};
use crate::helper_program::HelperProgram;
use crate::launch::{Launch, LaunchError};
use crate::noop::Noop;
use crate::policy::SandboxPolicy;
use crate::seatbelt::Seatbelt;

/// Which backend is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendChoice {
    /// The one of this system.
    Auto,
    /// Landlock with a filter of system calls, on Linux.
    Landlock,
    /// `sandbox-exec`, on macOS.
    Seatbelt,
    /// None: processes are taken care of, nothing is refused.
    Noop,
}

/// Which backend is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    /// See [`BackendChoice::Landlock`].
    Landlock,
    /// See [`BackendChoice::Seatbelt`].
    Seatbelt,
    /// See [`BackendChoice::Noop`].
    Noop,
}

impl BackendKind {
    /// The name in configuration, results and events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Seatbelt => "seatbelt",
            Self::Noop => "noop",
        }
    }
}

impl std::fmt::Display for BackendKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether namespaces are used on Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceChoice {
    /// Where the system allows them.
    Auto,
    /// As if the system forbade them.
    Never,
}

/// Something that a policy can bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisName {
    /// Writing outside the write paths.
    Writes,
    /// Changing modes, owners, times and attributes outside the write paths.
    Metadata,
    /// Reading outside the read paths.
    Reads,
    /// Protected entries in a write path.
    Protected,
    /// New entries beside protected ones; a right that is lost, not a bound.
    NewEntries,
    /// Unreadable entries in a readable folder.
    ReadDeny,
    /// The network.
    Network,
    /// Sockets of this machine's programs, while the network is allowed.
    LocalSockets,
    /// Starting processes.
    Subprocess,
    /// Reaching other processes.
    OtherProcesses,
    /// The number of processes.
    ProcessCount,
    /// Memory.
    Memory,
    /// Open descriptors and lengths of files.
    Files,
    /// That nothing outlives its owner.
    Lifetime,
}

impl std::fmt::Display for AxisName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Writes => "writes",
            Self::Metadata => "modes, owners and times",
            Self::Reads => "reads",
            Self::Protected => "protected entries",
            Self::NewEntries => "new entries beside protected ones",
            Self::ReadDeny => "denied reads",
            Self::Network => "network",
            Self::LocalSockets => "local sockets",
            Self::Subprocess => "subprocesses",
            Self::OtherProcesses => "other processes",
            Self::ProcessCount => "number of processes",
            Self::Memory => "memory",
            Self::Files => "open files and their size",
            Self::Lifetime => "lifetime",
        })
    }
}

/// How an axis stands on this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisState {
    /// It is enforced.
    Enforced {
        /// By what.
        how: String,
    },
    /// It is not enforced.
    Unenforced {
        /// Why not.
        why: String,
    },
}

/// An axis, and whether it was seen to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Which one.
    pub name: AxisName,
    /// How it stands.
    pub state: AxisState,
    /// Whether the self-test saw it refuse, after it saw the same attempt work without a sandbox.
    pub is_proven: bool,
}

/// Something of a policy that the backend cannot enforce here, or a right that enforcing takes along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unenforced {
    /// Which axis.
    pub axis: AxisName,
    /// Why, and what it means.
    pub why: String,
}

/// A way to run processes under a policy.
pub trait SandboxBackend: std::fmt::Debug + Send + Sync {
    /// Which one it is.
    fn kind(&self) -> BackendKind;

    /// How every axis stands here.
    fn axes(&self) -> Vec<Axis>;

    /// What of this policy it cannot enforce here.
    fn unenforced(&self, policy: &SandboxPolicy) -> Vec<Unenforced>;

    /// Starts a process; both its arguments are checked already. `extras` become its descriptors from 3 on.
    ///
    /// # Errors
    /// Why it was not started, as far as that shows at once; the rest shows in [`Child::wait`].
    fn start(
        &self,
        policy: &SandboxPolicy,
        launch: &Launch,
        extras: &[OwnedFd],
        has_stdin: bool,
    ) -> Result<Child, LaunchError>;
}

/// The backend that was chosen.
#[derive(Debug)]
pub struct Sandbox {
    backend: Box<dyn SandboxBackend>,
}

/// What came of a choice. Whether a missing backend is a warning or an error is the caller's to say.
#[derive(Debug)]
pub struct Resolution {
    /// What runs processes from here on.
    pub sandbox: Sandbox,
    /// Its kind; [`BackendKind::Noop`] when what was asked for is not there.
    pub kind: BackendKind,
    /// Why what was asked for is not there.
    pub reason: Option<String>,
    /// How every axis stands.
    pub axes: Vec<Axis>,
    /// The version of Landlock's interface, when the kernel has one.
    pub landlock_abi: Option<u32>,
    /// Whether this process is in a sandbox itself.
    pub is_nested: bool,
}

impl Sandbox {
    /// Finds the backend, and lets it show once per process that it refuses what it must.
    pub async fn resolve(
        choice: BackendChoice,
        helper: HelperProgram,
        namespaces: NamespaceChoice,
    ) -> Resolution {
        let found: Result<Box<dyn SandboxBackend>, String> = match choice {
            BackendChoice::Noop => Ok(Box::new(Noop::new(helper.clone()))),
            BackendChoice::Seatbelt => seatbelt().await,
            BackendChoice::Landlock => landlock(helper.clone(), namespaces).await,
            BackendChoice::Auto if cfg!(target_os = "macos") => seatbelt().await,
            BackendChoice::Auto => landlock(helper.clone(), namespaces).await,
        };
        let (backend, reason) = match found {
            Ok(backend) => (backend, None),
            Err(reason) => (Box::new(Noop::new(helper)) as Box<dyn SandboxBackend>, Some(reason)),
        };
        Resolution {
            kind: backend.kind(),
            axes: backend.axes(),
            sandbox: Self { backend },
            reason,
            landlock_abi: landlock_abi(),
            is_nested: is_nested(),
        }
    }

    /// Which backend it is.
    pub fn kind(&self) -> BackendKind {
        self.backend.kind()
    }

    /// What of this policy is not enforced here, and which rights enforcing it takes along.
    pub fn unenforced(&self, policy: &SandboxPolicy) -> Vec<Unenforced> {
        self.backend.unenforced(policy)
    }

    /// Runs a process to its end, within the bounds of `launch`.
    ///
    /// # Errors
    /// Why it was not run. A program that fails is no error.
    pub async fn run(
        &self,
        policy: &SandboxPolicy,
        launch: Launch,
        cancel: CancellationToken,
    ) -> Result<Exited, LaunchError> {
        policy.check()?;
        launch.check()?;
        let child = self.backend.start(policy, &launch, &[], launch.stdin.is_some())?;
        child.finish(launch, cancel).await
    }

    /// Starts a process with pipes for its three streams, and `extras` (at most 14) as its descriptors from 3 on.
    ///
    /// Needs a tokio runtime. `stdin`, `timeout` and `output_bytes_max` of `launch` are the caller's to keep.
    ///
    /// # Errors
    /// Why it was not started, as far as that shows at once; the rest shows in [`Child::wait`].
    pub fn spawn(
        &self,
        policy: &SandboxPolicy,
        launch: &Launch,
        extras: &[OwnedFd],
    ) -> Result<Child, LaunchError> {
        policy.check()?;
        launch.check()?;
        self.backend.start(policy, launch, extras, true)
    }
}

async fn seatbelt() -> Result<Box<dyn SandboxBackend>, String> {
    Ok(Box::new(Seatbelt::proven().await?))
}

#[cfg(target_os = "linux")]
async fn landlock(
    helper: HelperProgram,
    namespaces: NamespaceChoice,
) -> Result<Box<dyn SandboxBackend>, String> {
    Ok(Box::new(crate::linux::backend::Landlock::proven(helper, namespaces).await?))
}

#[cfg(not(target_os = "linux"))]
async fn landlock(_: HelperProgram, _: NamespaceChoice) -> Result<Box<dyn SandboxBackend>, String> {
    Err("Landlock is a part of Linux; use `auto`".to_owned())
}

#[cfg(target_os = "linux")]
fn landlock_abi() -> Option<u32> {
    crate::linux::backend::landlock_abi()
}

#[cfg(not(target_os = "linux"))]
fn landlock_abi() -> Option<u32> {
    None
}

/// Whether system calls are filtered, or a folder that everybody may list cannot be listed.
fn is_nested() -> bool {
    let is_filtered = std::fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() != "0"))
    });
    is_filtered || std::fs::read_dir("/").is_err()
}
