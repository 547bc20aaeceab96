//! Signals that stop or end the process by themselves: the terminal is given back first.
//!
//! They are blocked in every thread but for the moment in which this one takes them, so that the system does what it
//! always does with them: it stops nobody whom no shell could wake, and a quit leaves its core.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, raise};
use reyn_terminal::RawMode;

use super::wire::News;

/// How long a screen that draws may take to give the terminal back.
const GIVE_BACK_MS_MAX: u64 = 1_000;
/// How long a screen that gave it back waits to be stopped and woken. A stopped process does not count.
const STOP_MS_MAX: u64 = 500;

/// Between the thread that takes the signals and the one that owns the screen.
#[derive(Clone)]
pub(crate) struct Stops(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The way to the screen, while one is drawn.
    screen: Option<SyncSender<News>>,
    /// Whether the terminal was given back, for the process to be stopped.
    is_given_back: bool,
}

impl Stops {
    /// Blocks the signals and takes them on a thread of its own. Called before any other thread begins: they
    /// inherit what is blocked.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn take() -> std::io::Result<Self> {
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGTSTP);
        signals.add(Signal::SIGQUIT);
        signals.thread_block()?;
        let state = Mutex::new(State { screen: None, is_given_back: false });
        let stops = Self(Arc::new(Shared { state, changed: Condvar::new() }));
        let taking = stops.clone();
        std::thread::Builder::new().name("stops".to_owned()).spawn(move || {
            // An error of the wait is none that passes: the signals stay blocked, and the chat goes on.
            while let Ok(signal) = signals.wait() {
                if signal == Signal::SIGTSTP {
                    taking.stop();
                } else {
                    RawMode::restore();
                    by_default(signal);
                }
            }
        })?;
        Ok(stops)
    }

    /// From here on the screen is told before the process stops.
    pub(crate) fn tell(&self, screen: SyncSender<News>) {
        self.state().screen = Some(screen);
    }

    /// For the screen, which has given the terminal back: waits until the process was stopped and woken. Returns
    /// soon where nobody stops it.
    pub(crate) fn wait(&self, stop: impl FnOnce()) {
        let mut state = self.state();
        state.is_given_back = true;
        self.0.changed.notify_all();
        drop(state);
        stop();
        let is_stopping = |state: &mut State| state.is_given_back;
        let wait = Duration::from_millis(STOP_MS_MAX);
        let waited = self.0.changed.wait_timeout_while(self.state(), wait, is_stopping);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_given_back = false;
    }

    fn stop(&self) {
        let state = self.state();
        let is_told = !state.is_given_back
            && state.screen.as_ref().is_some_and(|screen| screen.try_send(News::Suspend).is_ok());
        let wait = Duration::from_millis(if is_told { GIVE_BACK_MS_MAX } else { 0 });
        let waited = self.0.changed.wait_timeout_while(state, wait, |state| !state.is_given_back);
        drop(waited);
        // Also for a screen that is stuck in a terminal which takes nothing.
        RawMode::restore();
        by_default(Signal::SIGTSTP);
        self.state().is_given_back = false;
        self.0.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets a signal do what it does to a process that takes no notice of it.
fn by_default(signal: Signal) {
    let mut one = SigSet::empty();
    one.add(signal);
    let _ = one.thread_unblock();
    let _ = raise(signal);
    let _ = one.thread_block();
}
