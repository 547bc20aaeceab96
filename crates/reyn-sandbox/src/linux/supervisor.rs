//! The supervisor: lives as long as the run, does as the agent says, and kills everything when the agent is gone.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use nix::libc;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid as NixPid;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, WaitOptions};

use super::cgroup::Group;
use super::plan::Plan;
use super::wire::{
    DESCRIPTORS_MAX, During, Failure, KILL, Namespaces, Report, Step, TASK_BYTES_MAX, TERMINATE, Task,
};
use super::{confine, descendants, identity, init, scratch, syscalls};

/// Descriptors of ours stand above this number, so that a program's own can be put below.
const OWN_DESCRIPTORS_FROM: i32 = 64;

/// What goes through the forks.
pub(super) struct Descriptors {
    /// The socket to the agent.
    pub(super) control: OwnedFd,
    /// What the program finds from descriptor 3 on.
    pub(super) extras: Vec<OwnedFd>,
}

/// Serves the agent on descriptor 0; gives the exit code.
pub(crate) fn main() -> i32 {
    let Ok(control) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), OWN_DESCRIPTORS_FROM) else {
        return 2;
    };
    let Ok(own) = rustix::io::fcntl_dupfd_cloexec(&control, OWN_DESCRIPTORS_FROM) else { return 2 };
    match serve(own) {
        Ok(()) => 0,
        Err(failure) => {
            say(&control, &failure.report());
            1
        }
    }
}

/// Sends a report; who does not listen any more needs none.
pub(super) fn say(control: &OwnedFd, report: &Report) {
    if let Ok(text) = serde_json::to_vec(report) {
        let _ = rustix::io::retry_on_intr(|| rustix::net::send(control, &text, SendFlags::NOSIGNAL));
    }
}

/// Puts `/dev/null` in the place of the three streams.
pub(super) fn forget_streams() -> rustix::io::Result<()> {
    let null = null()?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)
}

fn null() -> rustix::io::Result<OwnedFd> {
    rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
}

fn serve(control: OwnedFd) -> Result<(), Failure> {
    rustix::process::setsid().during(Step::Task)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).during(Step::Task)?;
    let (task, mut extras) = receive(&control)?;
    if task.has_stdin && !extras.is_empty() {
        let stdin = extras.remove(0);
        rustix::stdio::dup2_stdin(&stdin).during(Step::Descriptors)?;
    } else {
        rustix::stdio::dup2_stdin(null().during(Step::Descriptors)?).during(Step::Descriptors)?;
    }
    let child_ends = SigSet::from_iter([Signal::SIGCHLD]);
    nix::sys::signal::sigprocmask(SigmaskHow::SIG_SETMASK, Some(&child_ends), None).during(Step::Task)?;
    let ends = SignalFd::with_flags(&child_ends, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        .during(Step::Task)?;
    let has_namespaces = task.is_confined && task.means.namespaces != Namespaces::Never;
    let mut plan = if task.is_confined { Plan::of(&task.policy, has_namespaces)? } else { Plan::default() };
    let group = match task.policy.limits.processes_max {
        Some(most) if task.is_confined && !has_namespaces && task.means.has_pid_bound => {
            match Group::enter(most).during(Step::PidBound) {
                Ok(group) => Some(group),
                Err(failure) => {
                    plan.release();
                    return Err(failure);
                }
            }
        }
        Some(_) | None => None,
    };
    let descriptors = Descriptors { control, extras };
    let started = if has_namespaces {
        start_init(&task, &plan, descriptors)
    } else {
        start_program(&task, &plan, descriptors)
    };
    let result = started.map(|(control, child, go)| {
        let run = Run { control, ends, child, has_namespaces, group: group.as_ref() };
        let is_alone = run.watch();
        drop(go);
        is_alone
    });
    if let Some(group) = group {
        group.leave();
    }
    plan.release();
    if result? {
        // The agent removes it, unless it is gone.
        scratch::remove(&task.scratch);
    }
    Ok(())
}

/// Reads the task, which comes as a file with the first message, and the program's descriptors.
fn receive(control: &OwnedFd) -> Result<(Task, Vec<OwnedFd>), Failure> {
    let mut byte = [0_u8; 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::net::recvmsg(
        control,
        &mut [io::IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )
    .during(Step::Task)?;
    let mut found = vec![];
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            for one in descriptors {
                found.push(rustix::io::fcntl_dupfd_cloexec(one, OWN_DESCRIPTORS_FROM).during(Step::Task)?);
            }
        }
    }
    if received.bytes == 0 || found.is_empty() {
        return Err(Failure::new(Step::Task, &io::ErrorKind::UnexpectedEof.into()));
    }
    let file = std::fs::File::from(found.remove(0));
    let mut text = vec![];
    io::Read::read_to_end(&mut io::Read::take(&file, TASK_BYTES_MAX), &mut text).during(Step::Task)?;
    let task = serde_json::from_slice(&text).map_err(io::Error::from).during(Step::Task)?;
    Ok((task, found))
}

type Started = (OwnedFd, Pid, Option<OwnedFd>);

/// Starts the init in namespaces, and says who its users are.
fn start_init(task: &Task, plan: &Plan, descriptors: Descriptors) -> Result<Started, Failure> {
    let mut flags = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    if task.means.namespaces == Namespaces::User {
        flags |= libc::CLONE_NEWUSER;
    }
    if task.means.has_network_namespace && !task.policy.network {
        flags |= libc::CLONE_NEWNET;
    }
    let (go_read, go_write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).during(Step::Namespaces)?;
    let Some(child) = syscalls::fork_into(flags).during(Step::Namespaces)? else {
        drop(go_write);
        std::process::exit(init::run(task, plan, descriptors, &go_read));
    };
    if task.means.namespaces == Namespaces::User
        && let Err(error) = identity::keep(child)
    {
        let _ = kill(NixPid::from_raw(child.as_raw_nonzero().get()), Signal::SIGKILL);
        let _ = rustix::process::waitpid(Some(child), WaitOptions::empty());
        return Err(Failure::new(Step::Identity, &error));
    }
    rustix::io::write(&go_write, b"g").during(Step::Identity)?;
    // Kept open: its closing tells the init that this process is dead.
    Ok((descriptors.control, child, Some(go_write)))
}

fn start_program(task: &Task, plan: &Plan, descriptors: Descriptors) -> Result<Started, Failure> {
    let own = rustix::process::getpid();
    let Some(child) = syscalls::fork_into(0).during(Step::Fork)? else {
        let fate = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
        if fate.is_err() || rustix::process::getppid() != Some(own) {
            std::process::exit(1);
        }
        let Err(failure) = confine::become_program(task, plan, &descriptors);
        say(&descriptors.control, &failure.report());
        std::process::exit(1);
    };
    Ok((descriptors.control, child, None))
}

struct Run<'a> {
    control: OwnedFd,
    ends: SignalFd,
    child: Pid,
    has_namespaces: bool,
    group: Option<&'a Group>,
}

impl Run<'_> {
    /// Follows the agent's orders until the child and all its descendants are dead; says whether the agent
    /// died first.
    fn watch(&self) -> bool {
        let _ = forget_streams();
        let mut is_agent_gone = false;
        loop {
            if let Some(status) = self.ended() {
                if let Some(group) = self.group {
                    group.close();
                }
                if !self.has_namespaces && !descendants::kill_all() {
                    let detail = "descendants outlive ten seconds of killing".to_owned();
                    say(&self.control, &Failure { step: Step::Kill, errno: 0, path: None, detail }.report());
                }
                // An init that was killed could not tell.
                if !self.has_namespaces || status != 0 {
                    say(&self.control, &Report::Ended { status });
                }
                return is_agent_gone;
            }
            let control = if is_agent_gone { PollFlags::empty() } else { PollFlags::IN };
            let mut polled = [PollFd::new(&self.ends, PollFlags::IN), PollFd::new(&self.control, control)];
            if poll(&mut polled, None).is_err() {
                continue;
            }
            while matches!(self.ends.read_signal(), Ok(Some(_))) {}
            if !is_agent_gone && !polled[1].revents().is_empty() {
                is_agent_gone = self.obey();
            }
            if is_agent_gone {
                self.kill();
            }
        }
    }

    /// Does what the agent says; says whether it is gone.
    fn obey(&self) -> bool {
        let mut order = [0_u8; 16];
        match rustix::net::recv(&self.control, &mut order, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return true,
            Ok(_) if order[0] == TERMINATE => self.terminate(),
            Ok(_) if order[0] == KILL => self.kill(),
            Ok(_) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(_) => return true,
        }
        false
    }

    fn ended(&self) -> Option<i32> {
        // Without namespaces orphans become children of this process, and are reaped here as well.
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.child => return Some(status.as_raw()),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return None,
                Err(_) => return Some(Signal::SIGKILL as i32),
            }
        }
    }

    fn terminate(&self) {
        let child = self.child.as_raw_nonzero().get();
        // The init passes it on; without one the program leads its group as soon as it has got that far.
        if self.has_namespaces || kill(NixPid::from_raw(-child), Signal::SIGTERM).is_err() {
            let _ = kill(NixPid::from_raw(child), Signal::SIGTERM);
        }
    }

    fn kill(&self) {
        let _ = kill(NixPid::from_raw(self.child.as_raw_nonzero().get()), Signal::SIGKILL);
    }
}
