//! The agent's end of a run: starts the supervisor, hears its reports, and kills everything when dropped.

use std::fs::File;
use std::io::{self, IoSlice, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::MemfdFlags;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use tokio::net::UnixDatagram;

use super::scratch::Scratch;
use super::wire::{Attempted, DESCRIPTORS_MAX, KILL, REPORT_BYTES_MAX, Report, Step, TERMINATE, Task};
use crate::bytes_in_json::Bytes;
use crate::child::Ending;
use crate::helper_program::HelperProgram;
use crate::launch::LaunchError;
use crate::policy::PathList;

/// Where a program's three streams come from and go to.
pub(super) struct Streams {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// A supervisor and what it said so far.
#[derive(Debug)]
pub(crate) struct Control {
    /// Keeps messages apart and tells when the other end is closed; tokio takes it for a datagram socket.
    socket: UnixDatagram,
    supervisor: std::process::Child,
    helper: PathBuf,
    scratch: Option<Scratch>,
    said: Said,
    is_over: bool,
}

#[derive(Debug, Default)]
struct Said {
    setup: Option<Duration>,
    failed: Option<(Step, i32, Option<Bytes>, String)>,
    status: Option<i32>,
    attempted: Option<Attempted>,
}

impl Control {
    /// Starts a supervisor with a task. Needs a tokio runtime.
    pub(super) fn start(
        helper: &HelperProgram,
        task: &Task,
        streams: Streams,
        extras: &[OwnedFd],
        scratch: Scratch,
    ) -> Result<Self, LaunchError> {
        if extras.len() + 2 > DESCRIPTORS_MAX {
            let why = io::ErrorKind::InvalidInput.into();
            return Err(LaunchError::System { what: "hand over that many descriptors", why });
        }
        let file = task_file(task).map_err(|why| LaunchError::System { what: "write down the task", why })?;
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|why| LaunchError::System { what: "make a socket", why: why.into() })?;
        let started = helper.start(|program, arguments| {
            Command::new(program)
                .args(arguments)
                .env_clear()
                .stdin(theirs.try_clone()?)
                .stdout(streams.stdout.try_clone()?)
                .stderr(streams.stderr.try_clone()?)
                .spawn()
        });
        let mut supervisor = started.map_err(|why| LaunchError::HelperMissing {
            program: helper.program.clone(),
            why: why.to_string(),
        })?;
        // Their ends are seen only when nobody else holds them.
        drop((theirs, streams.stdout, streams.stderr));
        let mut descriptors = vec![file.as_fd()];
        descriptors.extend(streams.stdin.as_ref().map(AsFd::as_fd));
        descriptors.extend(extras.iter().map(AsFd::as_fd));
        let socket = hand_over(&ours, &descriptors).and_then(|()| {
            rustix::io::ioctl_fionbio(&ours, true)?;
            UnixDatagram::from_std(ours.into())
        });
        let socket = match socket {
            Ok(socket) => socket,
            Err(why) => {
                let _ = supervisor.kill();
                let _ = supervisor.wait();
                let is_gone =
                    matches!(why.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
                return Err(if is_gone {
                    silence(&helper.program)
                } else {
                    LaunchError::System { what: "hand over the task", why }
                });
            }
        };
        let helper = helper.program.clone();
        Ok(Self { socket, supervisor, helper, scratch: Some(scratch), said: Said::default(), is_over: false })
    }

    /// Asks the program to end.
    pub(crate) fn terminate(&self) {
        self.order(TERMINATE);
    }

    /// Kills the program and everything that it started.
    pub(crate) fn kill(&self) {
        self.order(KILL);
    }

    /// Waits until the program and everything that it started is dead. May be called again when cut short.
    pub(crate) async fn wait(&mut self) -> Result<Ending, LaunchError> {
        self.hear_all().await?;
        if let Some((step, errno, path, detail)) = self.said.failed.take() {
            return Err(self.error(step, errno, path, detail));
        }
        match self.said.status {
            Some(status) => Ok(Ending::of_status(status)),
            None => Err(silence(&self.helper)),
        }
    }

    /// How long the confining took, once the program was about to be executed.
    pub(crate) fn setup(&self) -> Option<Duration> {
        self.said.setup
    }

    /// Waits, and gives what a confined process could do, or the step that failed with the reason.
    pub(super) async fn attempted(&mut self) -> Result<Attempted, (Option<Step>, String)> {
        self.hear_all().await.map_err(|error| (None, error.to_string()))?;
        if let Some((step, errno, path, detail)) = self.said.failed.take() {
            return Err((Some(step), self.error(step, errno, path, detail).to_string()));
        }
        self.said.attempted.ok_or_else(|| (None, silence(&self.helper).to_string()))
    }

    async fn hear_all(&mut self) -> Result<(), LaunchError> {
        while !self.is_over {
            let mut text = [0_u8; REPORT_BYTES_MAX];
            // A supervisor that dies with a message unread resets the connection.
            let length = self.socket.recv(&mut text).await.unwrap_or(0);
            match serde_json::from_slice(&text[..length]) {
                _ if length == 0 => self.is_over = true,
                Ok(Report::Ready { setup_us }) => self.said.setup = Some(Duration::from_micros(setup_us)),
                Ok(Report::Failed { step, errno, path, detail }) => {
                    self.said.failed.get_or_insert((step, errno, path, detail));
                }
                Ok(Report::Ended { status }) => self.said.status = Some(status),
                Ok(Report::Attempted(attempted)) => self.said.attempted = Some(attempted),
                Err(_) => {}
            }
        }
        self.reap();
        if let Some(scratch) = self.scratch.take().and_then(Scratch::remove_empty) {
            let _ = tokio::task::spawn_blocking(|| drop(scratch)).await;
        }
        Ok(())
    }

    /// The supervisor has closed its socket, which it does last; what is no supervisor is killed.
    fn reap(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
    }

    fn order(&self, order: u8) {
        // A supervisor that is gone has nothing left to kill.
        let _ = rustix::net::send(&self.socket, &[order], SendFlags::NOSIGNAL);
    }

    fn error(&self, step: Step, errno: i32, path: Option<Bytes>, detail: String) -> LaunchError {
        let why =
            if errno == 0 { io::Error::other(detail.clone()) } else { io::Error::from_raw_os_error(errno) };
        let path = path.map(|path| PathBuf::from(path.0));
        match (step, path) {
            (Step::ReadPath, Some(path)) => LaunchError::PathUnusable { list: PathList::Read, path, why },
            (Step::WritePath, Some(path)) => LaunchError::PathUnusable { list: PathList::Write, path, why },
            (Step::Protect, Some(path)) => LaunchError::PathUnusable { list: PathList::Protected, path, why },
            (Step::Links, Some(path)) => {
                LaunchError::ProtectedHasLinks { path, links: detail.parse().unwrap_or(2) }
            }
            (Step::TooManyEntries, Some(path)) => {
                LaunchError::TooManyEntries { path, max: super::rules::ENTRIES_MAX }
            }
            (Step::Cwd, Some(cwd)) => LaunchError::CwdUnusable { cwd, why },
            (Step::Exec, Some(program)) => LaunchError::ProgramUnusable { program, why },
            (step, path) => {
                let at = path.map(|path| format!(" at `{}`", path.display())).unwrap_or_default();
                LaunchError::Setup { step: format!("{step:?}").to_lowercase(), why: format!("{why}{at}") }
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.kill();
        // The supervisor dies within its own bound; somebody has to take its status.
        let pid = self.supervisor.id();
        let scratch = self.scratch.take();
        std::thread::spawn(move || {
            if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
            }
            drop(scratch);
        });
    }
}

/// What is to be said of a helper that does not know its part.
fn silence(helper: &Path) -> LaunchError {
    let why = "it ended without a word; it must hand `__sandbox-exec` to the sandbox".to_owned();
    LaunchError::HelperMissing { program: helper.to_owned(), why }
}

fn task_file(task: &Task) -> io::Result<File> {
    let text = serde_json::to_vec(task)?;
    let mut file = File::from(rustix::fs::memfd_create("reyn-task", MemfdFlags::CLOEXEC)?);
    file.write_all(&text)?;
    file.rewind()?;
    Ok(file)
}

fn hand_over(socket: &OwnedFd, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(b"r")], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}
