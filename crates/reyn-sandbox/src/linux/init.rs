//! The first process of the run's namespaces: makes the mounts, starts the program, reaps, and by its own end
//! lets the kernel kill whatever is left.

use std::os::fd::OwnedFd;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::unistd::Pid as NixPid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions};

use super::plan::Plan;
use super::supervisor::{Descriptors, say};
use super::wire::{During, Failure, Report, Step, Task};
use super::{confine, mounts, syscalls};

/// Process numbers below this are never given again once they were, so a bound stands above it.
const RESERVED_PIDS: u64 = 300;

/// Runs in the child of the supervisor; gives the exit code.
pub(super) fn run(task: &Task, plan: &Plan, descriptors: Descriptors, go: &OwnedFd) -> i32 {
    match start(task, plan, &descriptors, go) {
        Ok(program) => {
            let control = descriptors.control;
            drop(descriptors.extras);
            // The streams are the program's alone, so that their ends are seen.
            let _ = super::supervisor::forget_streams();
            let status = reap_until_end(program);
            say(&control, &Report::Ended { status });
            0
        }
        Err(failure) => {
            say(&descriptors.control, &failure.report());
            1
        }
    }
}

fn start(task: &Task, plan: &Plan, descriptors: &Descriptors, go: &OwnedFd) -> Result<Pid, Failure> {
    let waited: SigSet = [Signal::SIGCHLD, Signal::SIGTERM].into_iter().collect();
    nix::sys::signal::sigprocmask(SigmaskHow::SIG_SETMASK, Some(&waited), None).during(Step::Fork)?;
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .during(Step::Fork)?;
    wait_for(go)?;
    if let Some(processes_max) = task.policy.limits.processes_max.filter(|_| task.means.has_pid_bound) {
        let bound = processes_max.saturating_add(RESERVED_PIDS + 1).min(4_194_304);
        std::fs::write("/proc/sys/kernel/pid_max", bound.to_string()).during(Step::PidBound)?;
    }
    // After the bound is written: everything outside the grants is read-only then.
    mounts::make(task, plan)?;
    match syscalls::fork_into(0).during(Step::Fork)? {
        Some(program) => Ok(program),
        None => match confine::become_program(task, plan, descriptors)? {},
    }
}

/// Waits until the supervisor has said who is who; its death before that is ours.
fn wait_for(go: &OwnedFd) -> Result<(), Failure> {
    let mut byte = [0_u8; 1];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(go, &mut byte)).during(Step::Identity)?;
    // It may have died before the kernel was asked to tell: its end of the pipe is closed then.
    let mut polled = [PollFd::new(go, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).during(Step::Identity)?;
    if read == 0 || polled[0].revents().contains(PollFlags::HUP) {
        return Err(Failure::new(Step::Identity, &std::io::ErrorKind::BrokenPipe.into()));
    }
    Ok(())
}

/// Reaps whatever ends, passes on the order to terminate, and gives the program's status.
fn reap_until_end(program: Pid) -> i32 {
    let waited: SigSet = [Signal::SIGCHLD, Signal::SIGTERM].into_iter().collect();
    loop {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == program => return status.as_raw(),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                // No child is left and the program's status was not seen, which cannot be.
                Err(_) => return Signal::SIGKILL as i32,
            }
        }
        if waited.wait() == Ok(Signal::SIGTERM) {
            let program = NixPid::from_raw(program.as_raw_nonzero().get());
            // The program leads a group as soon as it has got that far.
            if kill(NixPid::from_raw(-program.as_raw()), Signal::SIGTERM).is_err() {
                let _ = kill(program, Signal::SIGTERM);
            }
        }
    }
}
