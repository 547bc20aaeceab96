//! The terminal as an editor needs it, and back.
//!
//! Invariant: whatever ends the program in an orderly way, a panic among it, can give the terminal back, and
//! giving it back twice is harmless.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Pasted text comes between marks; keys with modifiers are told apart where the terminal can (kitty's protocol,
/// its first flag). A terminal that knows neither passes over both.
const ENTER: &[u8] = b"\x1b[?2004h\x1b[>1u";
/// The same undone, the cursor shown, no style left.
const LEAVE: &[u8] = b"\x1b[<1u\x1b[?2004l\x1b[?25h\x1b[0m";
/// Back from a page of its own.
const LEAVE_PAGE: &[u8] = b"\x1b[?1049l";
/// How long a terminal that takes nothing is waited for.
const WRITE_TIME_MAX: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// Tries to write one of the two.
const WRITES_MAX: usize = 16;

/// The modes of standard input before it became raw; `None` while it is not.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Whether a page hides the screen.
static HAS_PAGE: AtomicBool = AtomicBool::new(false);

/// Remembers whether a page hides the screen, which is to be left with the raw mode.
pub(crate) fn page_is_open(is_open: bool) {
    HAS_PAGE.store(is_open, Ordering::Relaxed);
}

fn before() -> MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terminal without line editing, echo and signals of its own. Undone on drop.
#[derive(Debug)]
pub struct RawMode(());

impl RawMode {
    /// Makes standard input raw, and asks the terminal for bracketed paste and for keys told apart. Once entered,
    /// entering again changes nothing.
    ///
    /// Fails when standard input is no terminal, or when the terminal does not let its modes be changed.
    pub fn enter() -> io::Result<Self> {
        let mut before = before();
        if before.is_none() {
            *before = Some(make_raw(io::stdin())?);
            drop(before);
            announce(ENTER);
        }
        Ok(Self(()))
    }

    /// Gives the terminal back as it was. Does nothing when it is not raw. For the way out that no drop sees: a
    /// panic of another thread, the thread that waits for signals, the moment before the program is stopped.
    pub fn restore() {
        if let Some(modes) = before().take() {
            if HAS_PAGE.swap(false, Ordering::Relaxed) {
                announce(LEAVE_PAGE);
            }
            announce(LEAVE);
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        Self::restore();
    }
}

/// Makes a terminal raw; returns how it was.
fn make_raw(terminal: impl AsFd) -> io::Result<Termios> {
    let before = tcgetattr(&terminal)?;
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &raw)?;
    Ok(before)
}

fn announce(sequence: &[u8]) {
    // Straight to the terminal: the lock of the standard streams may be held by the thread that panicked.
    if io::stdout().is_terminal() {
        write_all(io::stdout(), sequence);
    } else if io::stderr().is_terminal() {
        write_all(io::stderr(), sequence);
    }
}

fn write_all(terminal: impl AsFd, mut bytes: &[u8]) {
    for _ in 0..WRITES_MAX {
        // A terminal that is held (ctrl-S) takes nothing; the program ends all the same.
        let mut fds = [PollFd::new(&terminal, PollFlags::OUT)];
        if matches!(poll(&mut fds, Some(&WRITE_TIME_MAX)), Ok(0)) {
            return;
        }
        match rustix::io::write(&terminal, bytes) {
            Ok(written) if written < bytes.len() => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::LocalModes;

    #[test]
    fn a_terminal_is_raw_and_then_as_it_was() {
        let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&window).unwrap();
        unlockpt(&window).unwrap();
        let name = ptsname(&window, vec![]).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(&name, flags, Mode::empty()).unwrap();
        let modes = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        let before = make_raw(&terminal).unwrap();
        assert!(before.local_modes.contains(modes));
        assert!(!tcgetattr(&terminal).unwrap().local_modes.intersects(modes));
        tcsetattr(&terminal, OptionalActions::Now, &before).unwrap();
        assert_eq!(tcgetattr(&terminal).unwrap().local_modes, before.local_modes);
    }

    #[test]
    fn what_is_asked_of_the_terminal_is_undone() {
        assert!(ENTER.starts_with(b"\x1b[?2004h"));
        let leave = String::from_utf8_lossy(LEAVE);
        for undone in ["\x1b[?2004l", "\x1b[<1u", "\x1b[?25h"] {
            assert!(leave.contains(undone), "{undone:?}");
        }
    }

    #[test]
    fn giving_back_a_terminal_that_is_not_raw_does_nothing() {
        RawMode::restore();
        RawMode::restore();
        assert!(before().is_none());
    }
}
