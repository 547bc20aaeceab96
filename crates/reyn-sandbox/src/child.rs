//! A process that runs: its streams, its end, and the way to end it.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use rustix::pipe::PipeFlags;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio_util::sync::CancellationToken;

use crate::captured::{Capture, Captured};
use crate::denial::{self, Denial};
use crate::launch::{Launch, LaunchError};
use crate::plain::Plain;

/// How long a process has to end after it was asked to.
pub const GRACE: Duration = Duration::from_secs(2);
/// How long the rest of its output is waited for after it was killed.
pub const DRAIN: Duration = Duration::from_secs(3);
/// How long a killed process is waited for.
const KILL_WAIT: Duration = Duration::from_secs(12);
/// How much is read from a stream at once.
const PIECE_BYTES: usize = 64 * 1024;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Exited {
        /// What it returned; 0 is success.
        code: i32,
    },
    /// By a signal that nobody here sent.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It took longer than it may and was killed.
    TimedOut,
    /// It was not wanted any more and was killed.
    Cancelled,
}

impl Ending {
    /// From a status as `wait` gives it.
    pub(crate) fn of_status(status: i32) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let status = std::process::ExitStatus::from_raw(status);
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited { code },
            (None, Some(signal)) => Self::Signalled { signal },
            (None, None) => Self::Exited { code: -1 },
        }
    }
}

/// A finished process.
#[derive(Debug, Clone, PartialEq)]
pub struct Exited {
    /// How it ended.
    pub ending: Ending,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// How long it took, from the start to the death of all it started.
    pub took: Duration,
    /// What the sandbox seems to have refused, when it failed.
    pub denial: Option<Denial>,
}

/// A running process. Dropping it kills it with everything that it started.
#[derive(Debug)]
pub struct Child {
    /// Writes to its standard input; dropping it is the end of the input.
    pub stdin: Option<Sender>,
    /// Reads its standard output.
    pub stdout: Option<Receiver>,
    /// Reads its standard error.
    pub stderr: Option<Receiver>,
    process: Process,
}

#[derive(Debug)]
pub(crate) enum Process {
    #[cfg(target_os = "linux")]
    Supervised(Box<crate::linux::Control>),
    Plain(Plain),
}

impl Child {
    pub(crate) fn new(ends: Ends, process: Process) -> Self {
        Self { stdin: ends.stdin, stdout: Some(ends.stdout), stderr: Some(ends.stderr), process }
    }

    /// Asks the process and its group to end (SIGTERM).
    pub fn terminate(&self) {
        match &self.process {
            #[cfg(target_os = "linux")]
            Process::Supervised(control) => control.terminate(),
            Process::Plain(plain) => plain.terminate(),
        }
    }

    /// Kills the process and everything that it started.
    pub fn kill(&self) {
        match &self.process {
            #[cfg(target_os = "linux")]
            Process::Supervised(control) => control.kill(),
            Process::Plain(plain) => plain.kill(),
        }
    }

    /// Waits until the process and everything that it started is dead. Cut short, it may be called again.
    ///
    /// # Errors
    /// Why the process was never started, where that shows only now.
    pub async fn wait(&mut self) -> Result<Ending, LaunchError> {
        match &mut self.process {
            #[cfg(target_os = "linux")]
            Process::Supervised(control) => control.wait().await,
            Process::Plain(plain) => plain.wait().await,
        }
    }

    /// The CPU time that the process needed to confine itself; known after it ended.
    pub fn setup(&self) -> Option<Duration> {
        match &self.process {
            #[cfg(target_os = "linux")]
            Process::Supervised(control) => control.setup(),
            Process::Plain(_) => None,
        }
    }

    /// Feeds it, reads all it says and waits for its end, within the bounds of `launch`.
    pub(crate) async fn finish(
        mut self,
        launch: Launch,
        cancel: CancellationToken,
    ) -> Result<Exited, LaunchError> {
        let started = Instant::now();
        let mut stdout = Capture::new(launch.output_bytes_max);
        let mut stderr = Capture::new(launch.output_bytes_max);
        let (stdin, out, err) = (self.stdin.take(), self.stdout.take(), self.stderr.take());
        let ending = {
            let streams = async {
                tokio::join!(feed(stdin, launch.stdin), read(out, &mut stdout), read(err, &mut stderr));
            };
            let end = self.end(launch.timeout, &cancel);
            tokio::pin!(streams, end);
            let ending = tokio::select! {
                ending = &mut end => Some(ending),
                () = &mut streams => None,
            };
            match ending {
                Some(ending) => {
                    // Everybody who could write is dead, but for what holds a stream from outside.
                    let _ = tokio::time::timeout(DRAIN, streams).await;
                    ending?
                }
                None => end.await?,
            }
        };
        let (stdout, stderr) = (stdout.finish(), stderr.finish());
        let denial = denial::of(ending, &stderr);
        Ok(Exited { ending, stdout, stderr, took: started.elapsed(), denial })
    }

    async fn end(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<Ending, LaunchError> {
        let why = tokio::select! {
            biased;
            ending = self.wait() => return ending,
            () = cancel.cancelled() => Ending::Cancelled,
            () = tokio::time::sleep(timeout) => Ending::TimedOut,
        };
        self.terminate();
        let asked = tokio::time::timeout(GRACE, self.wait()).await;
        let ended = match asked {
            Ok(ended) => ended,
            Err(_) => {
                self.kill();
                match tokio::time::timeout(KILL_WAIT, self.wait()).await {
                    Ok(ended) => ended,
                    Err(_) => {
                        let why = std::io::ErrorKind::TimedOut.into();
                        return Err(LaunchError::System { what: "kill the process", why });
                    }
                }
            }
        };
        ended.map(|_| why)
    }
}

async fn feed(stdin: Option<Sender>, bytes: Option<Vec<u8>>) {
    if let (Some(mut stdin), Some(bytes)) = (stdin, bytes) {
        // A process may end, or close its input, without having read all of it.
        let _ = stdin.write_all(&bytes).await;
    }
}

async fn read(stream: Option<Receiver>, capture: &mut Capture) {
    let Some(mut stream) = stream else { return };
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        capture.push(&piece[..length]);
    }
}

/// The agent's ends of the three streams.
#[derive(Debug)]
pub(crate) struct Ends {
    stdin: Option<Sender>,
    stdout: Receiver,
    stderr: Receiver,
}

/// The process's ends.
pub(crate) struct Theirs {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// Makes the pipes.
pub(crate) fn pipes(has_stdin: bool) -> Result<(Ends, Theirs), LaunchError> {
    let make = || -> std::io::Result<(Ends, Theirs)> {
        let (stdin_read, stdin) = if has_stdin {
            let (read, write) = pipe()?;
            (Some(read), Some(Sender::from_owned_fd(write)?))
        } else {
            (None, None)
        };
        let (stdout_read, stdout) = pipe()?;
        let (stderr_read, stderr) = pipe()?;
        let ends = Ends {
            stdin,
            stdout: Receiver::from_owned_fd(stdout_read)?,
            stderr: Receiver::from_owned_fd(stderr_read)?,
        };
        Ok((ends, Theirs { stdin: stdin_read, stdout, stderr }))
    };
    make().map_err(|why| LaunchError::System { what: "make pipes", why })
}

/// A pipe that no program started meanwhile inherits.
fn pipe() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    #[cfg(target_os = "linux")]
    return rustix::pipe::pipe_with(PipeFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    {
        let (read, write) = rustix::pipe::pipe()?;
        for end in [&read, &write] {
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok((read, write))
    }
}
