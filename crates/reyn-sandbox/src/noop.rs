//! No sandbox: a process is taken care of, and nothing is refused.

use std::os::fd::OwnedFd;

use crate::backend::{Axis, AxisName, AxisState, BackendKind, SandboxBackend, Unenforced};
use crate::child::Child;
use crate::helper_program::HelperProgram;
use crate::launch::{Launch, LaunchError};
use crate::policy::SandboxPolicy;

/// Runs processes unconfined: timeout, environment, output and lifetime are kept, nothing else.
#[derive(Debug)]
pub(crate) struct Noop {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "a group is killed instead"))]
    helper: HelperProgram,
}

const WHY: &str = "there is no sandbox";

impl Noop {
    pub(crate) fn new(helper: HelperProgram) -> Self {
        Self { helper }
    }
}

impl SandboxBackend for Noop {
    fn kind(&self) -> BackendKind {
        BackendKind::Noop
    }

    fn axes(&self) -> Vec<Axis> {
        use AxisName::{
            Files, LocalSockets, Memory, Metadata, Network, OtherProcesses, ProcessCount, Protected,
            ReadDeny, Reads, Subprocess, Writes,
        };
        let axis =
            |name| Axis { name, state: AxisState::Unenforced { why: WHY.to_owned() }, is_proven: false };
        let mut axes: Vec<Axis> = [
            Writes,
            Metadata,
            Reads,
            Protected,
            ReadDeny,
            Network,
            LocalSockets,
            Subprocess,
            OtherProcesses,
            ProcessCount,
            Memory,
            Files,
        ]
        .map(axis)
        .into();
        let how = if cfg!(target_os = "linux") {
            "a supervisor kills every descendant"
        } else {
            "the process group is killed"
        };
        let state = AxisState::Enforced { how: how.to_owned() };
        axes.push(Axis { name: AxisName::Lifetime, state, is_proven: false });
        axes
    }

    fn unenforced(&self, policy: &SandboxPolicy) -> Vec<Unenforced> {
        let limits = policy.limits;
        let asked = [
            (AxisName::Writes, true),
            (AxisName::Metadata, true),
            (AxisName::Reads, true),
            (AxisName::Protected, !policy.protected.is_empty()),
            (AxisName::ReadDeny, !policy.read_deny_paths.is_empty()),
            (AxisName::Network, !policy.network),
            (AxisName::Subprocess, !policy.subprocess),
            (AxisName::OtherProcesses, true),
            (AxisName::ProcessCount, limits.processes_max.is_some()),
            (AxisName::Memory, limits.memory_bytes.is_some()),
            (AxisName::Files, limits.open_files_max.is_some() || limits.file_bytes_max.is_some()),
        ];
        asked
            .into_iter()
            .filter(|(_, is_asked)| *is_asked)
            .map(|(axis, _)| Unenforced { axis, why: WHY.to_owned() })
            .collect()
    }

    #[cfg(target_os = "linux")]
    fn start(
        &self,
        policy: &SandboxPolicy,
        launch: &Launch,
        extras: &[OwnedFd],
        has_stdin: bool,
    ) -> Result<Child, LaunchError> {
        crate::linux::backend::start(&self.helper, None, policy, launch, extras, has_stdin)
    }

    #[cfg(not(target_os = "linux"))]
    fn start(
        &self,
        _: &SandboxPolicy,
        launch: &Launch,
        extras: &[OwnedFd],
        has_stdin: bool,
    ) -> Result<Child, LaunchError> {
        use std::os::unix::process::CommandExt;
        let mut command = std::process::Command::new(&launch.program);
        command.arg0(&launch.argv[0]).args(&launch.argv[1..]);
        crate::plain::Plain::start(command, launch, extras, has_stdin)
    }
}
