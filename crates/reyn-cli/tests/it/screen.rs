//! A `reyn chat` at a terminal that is drawn as a person would see it.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::place::Place;
use crate::running::{Heard, Owned, WAIT_MAX};

/// Rows above the screen that are kept.
const SCROLLBACK_ROWS: usize = 2_000;

/// A process, and the terminal that it runs at.
pub(crate) struct AtScreen {
    keyboard: Option<File>,
    heard: Heard,
    is_deaf: Arc<AtomicBool>,
    child: Owned,
    drawn: RefCell<Drawn>,
}

/// Hears what is sent to the terminal until it is told not to, so that the terminal can go away.
struct Ear {
    window: File,
    is_deaf: Arc<AtomicBool>,
}

impl Read for Ear {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let tick = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        while !self.is_deaf.load(Ordering::Relaxed) {
            let mut fds = [PollFd::new(&self.window, PollFlags::IN)];
            if poll(&mut fds, Some(&tick))? > 0 {
                return self.window.read(buffer);
            }
        }
        Ok(0)
    }
}

struct Drawn {
    terminal: vt100::Parser,
    bytes_taken: usize,
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 }
}

impl AtScreen {
    /// Starts `reyn` with these arguments at a terminal of 80 by 24.
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        Self::start_sized(place, args, 80, 24)
    }

    pub(crate) fn start_sized(place: &Place, args: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_command(place.command(args), place, columns, rows)
    }

    fn start_command(mut command: Command, place: &Place, columns: u16, rows: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        tcsetwinsize(&ours, size(columns, rows)).unwrap();
        let name = ptsname(&ours, vec![]).unwrap();
        let open = || {
            rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap()
        };
        if !place.has_env("TERM") {
            command.env("TERM", "xterm-256color").env("VTE_VERSION", "7600");
        }
        command.stdin(Stdio::from(open())).stdout(Stdio::from(open())).stderr(Stdio::from(open()));
        let child = Owned(command.spawn().unwrap());
        let keyboard = File::from(ours);
        let is_deaf = Arc::new(AtomicBool::new(false));
        let ear = Ear { window: keyboard.try_clone().unwrap(), is_deaf: Arc::clone(&is_deaf) };
        let heard = Heard::from(ear);
        let terminal =
            vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), SCROLLBACK_ROWS);
        let drawn = RefCell::new(Drawn { terminal, bytes_taken: 0 });
        Self { keyboard: Some(keyboard), heard, is_deaf, child, drawn }
    }

    /// Starts an interactive shell that controls the terminal and finds `reyn`.
    pub(crate) fn start_shell(place: &Place) -> Self {
        let folder = std::path::Path::new(env!("CARGO_BIN_EXE_reyn")).parent().unwrap();
        let mut command = place.command_of(std::path::Path::new("setsid"));
        command.args(["--ctty", "bash", "--norc", "--noprofile", "-i"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.display())).env("PS1", "$ ");
        Self::start_command(command, place, 80, 24)
    }

    /// Looks at the screen once everything that was sent is drawn.
    pub(crate) fn look<T>(&self, see: impl FnOnce(&mut vt100::Parser) -> T) -> T {
        let mut drawn = self.drawn.borrow_mut();
        let bytes = self.heard.bytes_from(drawn.bytes_taken);
        drawn.terminal.process(&bytes);
        drawn.bytes_taken += bytes.len();
        see(&mut drawn.terminal)
    }

    /// What the screen shows, without the spaces at the ends of its rows.
    pub(crate) fn text(&self) -> String {
        self.look(|terminal| terminal.screen().contents())
    }

    /// Everything that was shown, also what scrolled away.
    pub(crate) fn everything(&self) -> String {
        self.look(|terminal| {
            let screen = terminal.screen_mut();
            let columns = screen.size().1.get();
            let mut rows = vec![];
            for offset in (1..=screen.scrollback_len()).rev() {
                screen.set_scrollback(offset);
                rows.extend(screen.rows(0, columns).next());
            }
            screen.set_scrollback(0);
            rows.extend(screen.rows(0, columns));
            rows.join("\n").trim_end().to_owned() + "\n"
        })
    }

    /// Row and column of the cursor.
    pub(crate) fn cursor(&self) -> (u16, u16) {
        self.look(|terminal| terminal.screen().cursor_position())
    }

    /// Waits until the screen is so.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let came = self.heard.wait_with(|| is_so(&self.text()));
        assert!(came, "{what}; the screen shows:\n{}", self.everything());
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(&format!("no `{text}`"), |shown| shown.contains(text));
    }

    #[track_caller]
    pub(crate) fn wait_gone(&self, text: &str) {
        self.wait_until(&format!("`{text}` stays"), |shown| !shown.contains(text));
    }

    /// Types, as a terminal sends it.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.keyboard.as_mut().unwrap().write_all(bytes.as_ref()).unwrap();
    }

    /// Types a line.
    pub(crate) fn say(&mut self, line: &str) {
        self.send(format!("{line}\r"));
    }

    /// Gives the terminal another size, as one that breaks rows which are too wide.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.look(|terminal| reyn_testkit::reflow(terminal, columns, rows));
        tcsetwinsize(self.keyboard.as_ref().unwrap(), size(columns, rows)).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.0), signal).unwrap();
    }

    /// Every byte that was sent to the terminal.
    pub(crate) fn sent(&self) -> Vec<u8> {
        self.heard.bytes_from(0)
    }

    /// The exit code, once the process ended by itself.
    #[track_caller]
    pub(crate) fn finish(&mut self) -> Option<i32> {
        assert!(self.heard.wait(|heard| heard.has_ended), "still running:\n{}", self.everything());
        self.child.0.wait().unwrap().code()
    }

    /// The signal that ended the process; `None` where it ended by itself.
    #[track_caller]
    pub(crate) fn ended_by(&mut self) -> Option<i32> {
        assert!(self.heard.wait(|heard| heard.has_ended), "still running:\n{}", self.everything());
        self.child.0.wait().unwrap().signal()
    }

    /// The process's number.
    pub(crate) fn child_id(&self) -> u32 {
        self.child.0.id()
    }

    /// Takes the terminal away, and waits until the process has ended.
    #[track_caller]
    pub(crate) fn hang_up(mut self) {
        self.keyboard = None;
        self.is_deaf.store(true, Ordering::Relaxed);
        let deadline = std::time::Instant::now() + WAIT_MAX;
        while self.child.0.try_wait().unwrap().is_none() {
            assert!(std::time::Instant::now() < deadline, "still running without a terminal");
            std::thread::yield_now();
        }
    }

    /// Takes nothing more from the terminal.
    pub(crate) fn freeze(&self) {
        self.is_deaf.store(true, Ordering::Relaxed);
    }

    /// The exit code, whatever became of the terminal.
    #[track_caller]
    pub(crate) fn code(&mut self) -> Option<i32> {
        let deadline = std::time::Instant::now() + WAIT_MAX;
        loop {
            if let Some(status) = self.child.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(std::time::Instant::now() < deadline, "still running");
            std::thread::yield_now();
        }
    }

    /// Ends the process without asking it.
    pub(crate) fn kill(mut self) {
        self.child.0.kill().unwrap();
        self.child.0.wait().unwrap();
    }

    /// Leaves once this is shown.
    #[track_caller]
    pub(crate) fn leave_at(self, text: &str) {
        self.wait_for(text);
        self.leave();
    }

    /// Leaves with ctrl-D.
    #[track_caller]
    pub(crate) fn leave(mut self) -> String {
        self.send("\x04");
        assert_eq!(self.finish(), Some(0), "{}", self.everything());
        self.everything()
    }
}
