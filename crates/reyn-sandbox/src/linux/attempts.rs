//! What a confined process tries, so that a backend is believed only after it refused.

use std::io;
use std::path::Path;

use nix::libc;
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketType};

use super::syscalls;
use super::wire::{Answer, Attempted};

/// Names below the folder of a self-test.
pub(super) const INSIDE: &str = "inside";
pub(super) const OUTSIDE: &str = "outside";
pub(super) const PROTECTED: &str = "protected";
pub(super) const FILE: &str = "file";

/// Tries everything, confined or not. `inside` is the granted folder; the one beside it is not granted.
pub(super) fn make(inside: &Path) -> Attempted {
    let outside = inside.with_file_name(OUTSIDE);
    Attempted {
        write_inside: open(&inside.join(FILE), OFlags::WRONLY | OFlags::CREATE),
        write_outside: open(&outside.join(FILE), OFlags::WRONLY | OFlags::CREATE),
        read_outside: open(&outside.join(FILE), OFlags::RDONLY),
        write_protected: open(&inside.join(PROTECTED), OFlags::WRONLY),
        mode_outside: answer(rustix::fs::chmod(outside.join(FILE), Mode::from_raw_mode(0o600))),
        fork: fork(),
        thread: std::thread::Builder::new()
            .spawn(|| {})
            .map_or_else(|error| number(&error), |thread| thread.join().map_or(libc::EFAULT, |()| 0)),
        socket: answer(rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)),
    }
}

fn open(path: &Path, flags: OFlags) -> Answer {
    answer(rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o600)))
}

/// Forks a child that ends at once.
fn fork() -> Answer {
    match syscalls::fork_into(0) {
        Ok(None) => std::process::exit(0),
        Ok(Some(child)) => {
            let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
            0
        }
        Err(error) => number(&error),
    }
}

fn answer<T>(result: rustix::io::Result<T>) -> Answer {
    result.err().map_or(0, |error| number(&error.into()))
}

fn number(error: &io::Error) -> Answer {
    error.raw_os_error().unwrap_or(libc::EIO)
}
