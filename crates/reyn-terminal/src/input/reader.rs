//! A thread that reads the keyboard.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, ThreadId};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::Input;
use super::decoder::Decoder;

/// How long the thread waits for a byte before it looks at the size of the window and at what is asked of it; also
/// how long an escape stands alone before it is the key.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How long [`InputReader::pause`] and its end wait for the thread.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(1);
/// Bytes of one read.
const READ_BYTES: usize = 16 << 10;
/// Reads that fail one after the other before the terminal counts as gone.
const FAILURES_MAX: u32 = 20;

/// What is asked of the thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Reading,
    Paused,
    Stopped,
}

struct State {
    wanted: Wanted,
    /// Whether the thread may touch the terminal at this moment.
    is_reading: bool,
    has_ended: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn want(&self, wanted: Wanted) {
        self.state().wanted = wanted;
        self.changed.notify_all();
    }

    /// Waits, for a bounded time, until the state is as it should be; says whether it is.
    fn wait_while(&self, is_otherwise: impl FnMut(&mut State) -> bool) -> bool {
        let waited = self.changed.wait_timeout_while(self.state(), ANSWER_TIME_MAX, is_otherwise);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Begins a look at the terminal once it is wanted; false when it is not any more.
    fn begin(&self) -> bool {
        let waiting = self.changed.wait_while(self.state(), |state| state.wanted == Wanted::Paused);
        let mut state = waiting.unwrap_or_else(PoisonError::into_inner);
        state.is_reading = state.wanted == Wanted::Reading;
        state.is_reading
    }

    fn end(&self) {
        self.state().is_reading = false;
        self.changed.notify_all();
    }
}

/// Says that the thread has ended, however it does.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_reading = false;
        state.has_ended = true;
        drop(state);
        self.0.changed.notify_all();
    }
}

/// Reads the keyboard on a thread of its own, until it is dropped or the terminal is gone.
pub struct InputReader {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    id: ThreadId,
}

impl InputReader {
    /// Starts to read standard input. `send` is called on the thread with whatever comes; it answers false when
    /// nobody listens any more, and the thread ends. After [`Input::Closed`] it ends too.
    ///
    /// Fails when standard input is no terminal, or when there can be no thread.
    pub fn start(send: impl FnMut(Input) -> bool + Send + 'static) -> io::Result<Self> {
        let input = io::stdin();
        if !input.is_terminal() {
            let why = "standard input is no terminal, so there is no keyboard to read";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        Self::on(input.as_fd().try_clone_to_owned()?, send)
    }

    /// Starts to read a terminal.
    fn on(terminal: OwnedFd, send: impl FnMut(Input) -> bool + Send + 'static) -> io::Result<Self> {
        // Looked at before anything is read.
        let typed_ahead = rustix::io::ioctl_fionread(&terminal).unwrap_or(0);
        let state = State { wanted: Wanted::Reading, is_reading: false, has_ended: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let ending = Ending(Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
            // The size is known before anything comes, so that only a change is told.
            let size = size_of(&terminal);
            let buffer = vec![0; READ_BYTES].into_boxed_slice();
            let decoder = Decoder::default();
            let mut source = Source { terminal, size, decoder, failures: 0, typed_ahead, buffer };
            run(&ending.0, &mut source, send);
        })?;
        let id = thread.thread().id();
        Ok(Self { shared, thread: Some(thread), id })
    }

    /// Lets another program have the terminal. Returns when the thread no longer touches it, within a second.
    /// Keys typed from then on are not taken. The thread's own `send` may call it.
    pub fn pause(&self) {
        self.shared.want(Wanted::Paused);
        self.shared.wait_while(|state| state.is_reading && state.wanted == Wanted::Paused);
    }

    /// Reads on after [`Self::pause`].
    pub fn resume(&self) {
        self.shared.want(Wanted::Reading);
    }
}

impl Drop for InputReader {
    fn drop(&mut self) {
        self.shared.want(Wanted::Stopped);
        // The thread may be the one that drops this, and its `send` may stand in a queue: neither is waited for.
        if std::thread::current().id() != self.id
            && self.shared.wait_while(|state| !state.has_ended)
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared, source: &mut Source, mut send: impl FnMut(Input) -> bool) {
    let mut found = vec![];
    while shared.begin() {
        let is_closed = source.look(&mut found);
        // Not while `send` runs: it may wait, and it may pause the reader itself.
        shared.end();
        for input in found.drain(..) {
            if !send(input) {
                return;
            }
        }
        if is_closed {
            send(Input::Closed);
            return;
        }
    }
}

/// The size of a terminal, in cells; `None` when it does not say, or says nothing of use.
fn size_of(terminal: &OwnedFd) -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// The terminal as bytes and a size.
struct Source {
    terminal: OwnedFd,
    size: Option<(u16, u16)>,
    decoder: Decoder,
    failures: u32,
    /// Bytes that were typed before the terminal was raw: in them, enter is a line feed.
    typed_ahead: u64,
    buffer: Box<[u8]>,
}

impl Source {
    /// Waits one tick at most and adds what came; says whether the terminal is gone.
    fn look(&mut self, found: &mut Vec<Input>) -> bool {
        let mut polled = [PollFd::new(&self.terminal, PollFlags::IN)];
        let ready = match poll(&mut polled, Some(&TICK)) {
            Ok(_) => polled[0].revents(),
            // A signal; the next look follows at once.
            Err(_) => return false,
        };
        let is_closed = if ready.contains(PollFlags::IN) {
            self.read(found)
        } else if ready.is_empty() {
            self.decoder.settle(found);
            false
        } else {
            true
        };
        // Looked at once a tick, so that a storm of sizes is one.
        let size = size_of(&self.terminal);
        if let Some((columns, rows)) = size
            && size != self.size
        {
            self.size = size;
            found.push(Input::Resize { columns, rows });
        }
        is_closed
    }

    fn read(&mut self, found: &mut Vec<Input>) -> bool {
        match rustix::io::read(&self.terminal, &mut self.buffer[..]) {
            Ok(0) => return true,
            Ok(bytes) => {
                self.failures = 0;
                let ahead = bytes.min(usize::try_from(self.typed_ahead).unwrap_or(usize::MAX));
                self.typed_ahead -= ahead as u64;
                self.buffer[..ahead].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r');
                self.decoder.feed(&self.buffer[..bytes], found);
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => {
                self.failures += 1;
                // A terminal that is gone fails at once, again and again; one that another process took does too.
                let _ = poll(&mut [], Some(&TICK));
            }
        }
        self.failures >= FAILURES_MAX
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
