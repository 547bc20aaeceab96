//! System calls that no crate wraps safely; the only file with `unsafe`.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use nix::libc;
use rustix::process::Pid;

/// Forks the calling process, the child in new namespaces of the kinds in `flags` (`CLONE_NEW…`).
///
/// Gives `None` in the child. Only for a process with a single thread: the child has a copy of its memory.
pub(super) fn fork_into(flags: libc::c_int) -> io::Result<Option<Pid>> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    #[expect(unsafe_code, reason = "no crate forks into namespaces")]
    // SAFETY: the caller has one thread, so no lock is held by a thread that the child lacks. The stack
    // pointer is null, so the child goes on with a copy of this stack; all other arguments are unused.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) };
    match i32::try_from(pid) {
        Ok(pid) if pid >= 0 => Ok(Pid::from_raw(pid)),
        Ok(_) | Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Makes a mount and all below it read-only, leaving its other flags as they are.
pub(super) fn make_read_only(mount: &CStr) -> io::Result<()> {
    let wish =
        libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    #[expect(unsafe_code, reason = "no crate wraps mount_setattr")]
    // SAFETY: the path is a C string and the structure lives until the call returns; its size is passed.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            mount.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const wish,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets every descriptor from `first` on be closed by the next `exec`.
pub(super) fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    let flags = libc::c_long::from(libc::CLOSE_RANGE_CLOEXEC);
    #[expect(unsafe_code, reason = "no crate wraps close_range with flags")]
    // SAFETY: marks descriptors only; none is closed under anybody who uses it.
    let result = unsafe {
        libc::syscall(libc::SYS_close_range, libc::c_long::from(first), libc::c_long::from(u32::MAX), flags)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes `number` a copy of a descriptor that an `exec` leaves open.
pub(super) fn put_at(descriptor: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    #[expect(unsafe_code, reason = "a chosen number is what the program expects")]
    // SAFETY: the caller uses numbers below those of every descriptor that it owns.
    let result = unsafe { libc::dup2(descriptor.as_raw_fd(), number) };
    if result == number { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives every signal its default action: an ignored one would stay ignored across `exec`.
pub(super) fn default_signals() {
    for signal in 1..=64 {
        #[expect(unsafe_code, reason = "nix names no real-time signals")]
        // SAFETY: the default action runs no code of ours. Signals that cannot be set are left as they are.
        unsafe {
            libc::signal(signal, libc::SIG_DFL)
        };
    }
}

/// The version of Landlock's interface, or `None` where the kernel has none.
pub(super) fn landlock_abi() -> Option<u32> {
    #[expect(unsafe_code, reason = "the landlock crate does not tell the kernel's version")]
    // SAFETY: with this flag the call reads no memory and makes nothing.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, 1_u32) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Whether a filter of system calls may answer with an error number.
pub(super) fn can_filter() -> bool {
    const GET_ACTION_AVAILABLE: libc::c_uint = 2;
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    #[expect(unsafe_code, reason = "no crate wraps this question")]
    // SAFETY: reads one number, which lives until the call returns.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAILABLE, 0_u32, &raw const action) };
    result == 0
}
