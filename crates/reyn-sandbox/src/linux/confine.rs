//! The last process before the program: it confines itself, then becomes the program.

use std::convert::Infallible;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow};
use rustix::thread::CapabilitySet;

use super::attempts;
use super::plan::Plan;
use super::supervisor::{Descriptors, say};
use super::wire::{Act, During, Failure, Namespaces, Report, Step, Task};
use super::{descendants, filter, mounts, rules, syscalls};

/// The first descriptor after the three streams.
const FIRST_EXTRA: i32 = 3;

/// What a program of the user `root` may keep of its powers: over files and users, not over the system.
const KEPT_CAPABILITIES: [CapabilitySet; 8] = [
    CapabilitySet::CHOWN,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::FOWNER,
    CapabilitySet::FSETID,
    CapabilitySet::KILL,
    CapabilitySet::SETGID,
    CapabilitySet::SETUID,
    CapabilitySet::NET_BIND_SERVICE,
];
/// The highest capability that a kernel could have.
const CAPABILITIES_MAX: u32 = 63;

/// Confines this process and executes the program; gives only the failure.
pub(super) fn become_program(
    task: &Task,
    plan: &Plan,
    descriptors: &Descriptors,
) -> Result<Infallible, Failure> {
    let before_us = cpu_us();
    // Already a leader only when it was started as one.
    let _ = rustix::process::setsid();
    syscalls::default_signals();
    nix::sys::signal::sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)
        .during(Step::Fork)?;
    rustix::process::chdir(&task.cwd).map_err(|error| Failure::at(Step::Cwd, &*task.cwd, &error.into()))?;
    let (program, arguments) = prepared(task, plan)?;
    for (at, extra) in (FIRST_EXTRA..).zip(&descriptors.extras) {
        syscalls::put_at(extra.as_fd(), at).during(Step::Descriptors)?;
    }
    let extras = i32::try_from(descriptors.extras.len()).unwrap_or(i32::MAX - FIRST_EXTRA);
    syscalls::close_on_exec_from(FIRST_EXTRA + extras).during(Step::Descriptors)?;
    if task.is_confined {
        confine(task, plan, program.as_deref())?;
    }
    say(&descriptors.control, &Report::Ready { setup_us: cpu_us().saturating_sub(before_us) });
    let Some(Arguments { argv, env }) = arguments else {
        say(&descriptors.control, &Report::Attempted(attempts::make(&task.cwd)));
        std::process::exit(0);
    };
    let program = program.unwrap_or_else(|| task.cwd.clone());
    let file = c_string(program.as_os_str())?;
    let Err(error) = nix::unistd::execve(&file, &argv, &env);
    Err(Failure::at(Step::Exec, program, &error.into()))
}

/// The CPU time that this process took so far: unlike the time of day, not stretched by what others do.
fn cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec * 1_000_000 + time.tv_nsec / 1000).unwrap_or(0)
}

struct Arguments {
    argv: Vec<CString>,
    env: Vec<CString>,
}

fn prepared(task: &Task, plan: &Plan) -> Result<(Option<std::path::PathBuf>, Option<Arguments>), Failure> {
    let Act::Run { program, argv, env } = &task.act else { return Ok((None, None)) };
    let argv = argv.iter().map(|one| c_string(&one.0)).collect::<Result<_, _>>()?;
    let mut variables = vec![];
    for (name, value) in env.iter().filter(|(name, _)| !task.is_confined || name.0 != *"TMPDIR") {
        let mut variable = name.0.clone();
        variable.push("=");
        variable.push(&value.0);
        variables.push(c_string(&variable)?);
    }
    if task.is_confined {
        let mut variable = std::ffi::OsString::from("TMPDIR=");
        variable.push(mounts::temporary_folder(task, plan));
        variables.push(c_string(&variable)?);
    }
    Ok((Some(program.clone()), Some(Arguments { argv, env: variables })))
}

fn c_string(text: &OsStr) -> Result<CString, Failure> {
    CString::new(text.as_bytes()).map_err(io::Error::from).during(Step::Exec)
}

/// Everything that binds the process from here on.
fn confine(task: &Task, plan: &Plan, program: Option<&Path>) -> Result<(), Failure> {
    let filters = filter::compile(&task.policy)?;
    let rules = rules::build(task, plan, program)?;
    drop_capabilities()?;
    rustix::thread::set_no_new_privs(true).during(Step::Privileges)?;
    rules::apply(rules)?;
    limit(task)?;
    filter::apply(&filters)
}

/// Takes from the bounding set what a program of root would get back by `exec`.
fn drop_capabilities() -> Result<(), Failure> {
    for number in 0..=CAPABILITIES_MAX {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if KEPT_CAPABILITIES.contains(&one) {
            continue;
        }
        match rustix::thread::remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // The first number that the kernel does not know.
            Err(rustix::io::Errno::INVAL) => break,
            // Who may not drop has none to lose: `exec` gives capabilities to root alone, and no program
            // brings its own once there are no new privileges.
            Err(rustix::io::Errno::PERM) => break,
            Err(error) => return Err(Failure::new(Step::Privileges, &error.into())),
        }
    }
    rustix::thread::clear_ambient_capability_set().during(Step::Privileges)
}

fn limit(task: &Task) -> Result<(), Failure> {
    let limits = &task.policy.limits;
    let processes_max = match (task.means.namespaces, limits.processes_max) {
        // The control group counts.
        (Namespaces::Never, Some(_)) if task.means.has_pid_bound => None,
        // The limit counts everything that the user runs.
        (Namespaces::Never, Some(most)) => Some(most.saturating_add(descendants::of_this_user())),
        (Namespaces::User | Namespaces::Privileged, most) | (Namespaces::Never, most) => most,
    };
    let bounds = [
        (Resource::RLIMIT_CORE, Some(0)),
        (Resource::RLIMIT_DATA, limits.memory_bytes),
        (Resource::RLIMIT_NPROC, processes_max),
        (Resource::RLIMIT_FSIZE, limits.file_bytes_max),
        (Resource::RLIMIT_NOFILE, limits.open_files_max),
    ];
    for (resource, bound) in bounds {
        let Some(bound) = bound else { continue };
        let (_, most) = getrlimit(resource).during(Step::Limits)?;
        let bound = bound.min(most);
        setrlimit(resource, bound, bound).during(Step::Limits)?;
    }
    Ok(())
}
