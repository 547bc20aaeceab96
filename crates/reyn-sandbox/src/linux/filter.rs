//! Which system calls a confined process may make.
//!
//! A list of what is refused, so that programs of any kind run; what is newer than the list is refused too.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    sock_filter,
};

use super::wire::{During, Failure, Step};
use crate::policy::SandboxPolicy;

/// The last system call that this list knows (`removexattrat`); a newer one does not exist for the process,
/// nor does one of the x32 interface, whose numbers are far above.
const NEWEST: u32 = 466;

/// What no program needs that builds, tests or runs code of its own.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_perf_event_open,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_fanotify_init,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] =
    &[libc::SYS_kexec_file_load, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS__sysctl];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// The kinds of namespaces that `clone` could make.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// Personalities that change nothing but what the system says its name is; the last one only asks.
const PERSONALITIES: [u64; 5] = [0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];
/// Simulating what is typed on a terminal, and its relative on the console.
const TYPING: [u64; 2] = [0x5412, 0x541c];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Compiles the filters; the first to be applied first.
pub(super) fn compile(policy: &SandboxPolicy) -> Result<Vec<BpfProgram>, Failure> {
    let error = |error: &dyn std::fmt::Display| Failure {
        step: Step::Filter,
        errno: 0,
        path: None,
        detail: error.to_string(),
    };
    let rules = rules(policy).map_err(|problem| error(&problem))?;
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|problem| error(&problem))?;
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)
        .and_then(BpfProgram::try_from)
        .map_err(|problem| error(&problem))?;
    Ok(vec![unknown_calls(), filter])
}

/// Applies compiled filters to this process for good.
pub(super) fn apply(filters: &[BpfProgram]) -> Result<(), Failure> {
    for filter in filters {
        seccompiler::apply_filter(filter).map_err(std::io::Error::other).during(Step::Filter)?;
    }
    Ok(())
}

/// Refuses, as calls that do not exist, those newer than the list and `clone3`, whose flags no filter can
/// see: every libc then falls back to `clone`.
fn unknown_calls() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_EQUAL: u16 = 0x15;
    const JUMP_ABOVE: u16 = 0x25;
    const RETURN: u16 = 0x06;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(435);
    let missing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let mut program =
        vec![step(LOAD, 0, 0, 0), step(JUMP_EQUAL, 2, 0, clone3), step(JUMP_ABOVE, 1, 0, NEWEST)];
    program.push(step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    program.push(step(RETURN, 0, 0, missing));
    program
}

fn rules(policy: &SandboxPolicy) -> seccompiler::Result<Rules> {
    let mut rules: Rules = REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, vec![])).collect();
    let mut clone = vec![];
    for kind in NAMESPACES {
        let bit = u64::from(kind.cast_unsigned());
        clone.push(when(&[(0, MaskedEq(bit), bit)])?);
    }
    if !policy.subprocess {
        let thread = u64::from(libc::CLONE_THREAD.cast_unsigned());
        clone.push(when(&[(0, MaskedEq(thread), 0)])?);
        #[cfg(target_arch = "x86_64")]
        rules.extend([(libc::SYS_fork, vec![]), (libc::SYS_vfork, vec![])]);
    }
    rules.insert(libc::SYS_clone, clone);
    let typing: Result<_, _> = TYPING.iter().map(|wish| when(&[(1, Eq, *wish)])).collect();
    rules.insert(libc::SYS_ioctl, typing?);
    let known: Vec<_> = PERSONALITIES.iter().map(|one| (0, Ne, *one)).collect();
    rules.insert(libc::SYS_personality, vec![when(&known)?]);
    let devices = |argument: u8| -> seccompiler::Result<Vec<SeccompRule>> {
        let kind = u64::from(libc::S_IFMT);
        [libc::S_IFCHR, libc::S_IFBLK]
            .iter()
            .map(|device| when(&[(argument, MaskedEq(kind), u64::from(*device))]))
            .collect()
    };
    rules.insert(libc::SYS_mknodat, devices(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_mknod, devices(1)?);
    sockets(policy.network, &mut rules)?;
    Ok(rules)
}

fn sockets(network: bool, rules: &mut Rules) -> seccompiler::Result<()> {
    let number = |value: libc::c_int| u64::from(value.cast_unsigned());
    let (unix, netlink) = (number(libc::AF_UNIX), number(libc::AF_NETLINK));
    // Both ends of a pair are in the process: no network.
    rules.insert(libc::SYS_socketpair, vec![when(&[(0, Ne, unix)])?]);
    if !network {
        let calls = [
            libc::SYS_socket,
            libc::SYS_bind,
            libc::SYS_listen,
            libc::SYS_accept,
            libc::SYS_accept4,
            libc::SYS_connect,
        ];
        rules.extend(calls.map(|call| (call, vec![])));
        return Ok(());
    }
    let families = [unix, number(libc::AF_INET), number(libc::AF_INET6), netlink];
    let kind = 0xf;
    let packet = 10;
    rules.insert(
        libc::SYS_socket,
        vec![
            when(&families.map(|family| (0, Ne, family)))?,
            // Of netlink only the routing tables, which libc reads to look names up; its sockets are raw.
            when(&[(0, Eq, netlink), (2, Ne, number(libc::NETLINK_ROUTE))])?,
            when(&[(0, Ne, netlink), (1, MaskedEq(kind), number(libc::SOCK_RAW))])?,
            when(&[(1, MaskedEq(kind), packet)])?,
        ],
    );
    Ok(())
}

/// A rule that holds when every argument (number, comparison, value) is as said. The kernel takes all of
/// these arguments as 32 bits wide.
fn when(arguments: &[(u8, SeccompCmpOp, u64)]) -> seccompiler::Result<SeccompRule> {
    let conditions: seccompiler::Result<Vec<_>> = arguments
        .iter()
        .map(|(argument, comparison, value)| {
            Ok(SeccompCondition::new(*argument, Dword, comparison.clone(), *value)?)
        })
        .collect();
    Ok(SeccompRule::new(conditions?)?)
}
