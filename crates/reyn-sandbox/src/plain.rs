//! A process without a supervisor, where the system has no means for one: it leads a group, and the group is killed.

use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};
use tokio::sync::oneshot;

use crate::child::{Child, Ending, Process, pipes};
use crate::launch::{Launch, LaunchError};

/// A running process; dropping it kills its group.
#[derive(Debug)]
pub(crate) struct Plain {
    group: Option<Pid>,
    end: oneshot::Receiver<i32>,
    status: Option<i32>,
}

impl Plain {
    /// Starts `launch` by way of `command`, to which the streams, the folder and the environment are added.
    pub(crate) fn start(
        mut command: Command,
        launch: &Launch,
        extras: &[OwnedFd],
        has_stdin: bool,
    ) -> Result<Child, LaunchError> {
        if !extras.is_empty() {
            let why = std::io::ErrorKind::Unsupported.into();
            return Err(LaunchError::System { what: "hand over descriptors on this system", why });
        }
        let (ends, theirs) = pipes(has_stdin)?;
        let stdin = theirs.stdin.map_or_else(Stdio::null, Stdio::from);
        let mut child = command
            .env_clear()
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&launch.cwd)
            .process_group(0)
            .stdin(stdin)
            .stdout(Stdio::from(theirs.stdout))
            .stderr(Stdio::from(theirs.stderr))
            .spawn()
            .map_err(|why| LaunchError::ProgramUnusable { program: launch.program.clone(), why })?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (tell, end) = oneshot::channel();
        std::thread::spawn(move || {
            let status = child.wait().map_or(-1, ExitStatusExt::into_raw);
            // What it left in its group goes with it.
            if let Some(group) = group {
                let _ = rustix::process::kill_process_group(group, Signal::KILL);
            }
            let _ = tell.send(status);
        });
        Ok(Child::new(ends, Process::Plain(Self { group, end, status: None })))
    }

    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(crate) async fn wait(&mut self) -> Result<Ending, LaunchError> {
        let status = match self.status {
            Some(status) => status,
            None => (&mut self.end).await.unwrap_or(-1),
        };
        self.status = Some(status);
        Ok(Ending::of_status(status))
    }

    fn signal(&self, signal: Signal) {
        if let (Some(group), None) = (self.group, self.status) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        if matches!(self.end.try_recv(), Err(oneshot::error::TryRecvError::Empty)) {
            self.kill();
        }
    }
}
