//! Does work on several threads and takes the results in the order of the work.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How work is spread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pool {
    pub(crate) threads: usize,
    /// Work that is done on the caller's thread before threads are started, since these cost more than little
    /// work does.
    pub(crate) batches_before_threads: usize,
}

/// Batches that are waiting or worked on, for each thread.
const BATCHES_PER_THREAD: usize = 2;

impl Pool {
    /// Gives the batches of `next` to `work` and the results to `take`, in the same order, until one of them
    /// has enough. `next` and `take` are called on this thread; `start` makes what a thread works with.
    ///
    /// # Panics
    /// When `work` does, on any thread.
    pub(crate) fn run<B: Send, R: Send, S>(
        self,
        mut next: impl FnMut() -> Option<B>,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, B) -> R + Sync,
        mut take: impl FnMut(R) -> ControlFlow<()>,
    ) {
        let mut own = start();
        let mut done = 0;
        while self.threads <= 1 || done < self.batches_before_threads {
            let Some(batch) = next() else { return };
            if take(work(&mut own, batch)).is_break() {
                return;
            }
            done += 1;
        }
        drop(own);
        let Some(first) = next() else { return };
        let board = Board::new();
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| board.work(&start, &work));
            }
            let _closing = Closing(&board);
            let mut first = Some(first);
            let mut in_flight = 0;
            loop {
                while in_flight < self.threads * BATCHES_PER_THREAD {
                    let Some(batch) = first.take().or_else(&mut next) else { break };
                    board.post(batch);
                    in_flight += 1;
                }
                if in_flight == 0 {
                    return;
                }
                let Some(result) = board.next_result() else { return };
                in_flight -= 1;
                if take(result).is_break() {
                    return;
                }
            }
        });
    }
}

/// Where threads find work and leave results.
struct Board<B, R> {
    state: Mutex<State<B, R>>,
    posted: Condvar,
    finished: Condvar,
}

struct State<B, R> {
    /// Work that nobody does yet, with its number.
    waiting: VecDeque<(usize, B)>,
    /// Results from number `taken` on, as far as work is posted.
    results: VecDeque<Option<R>>,
    taken: usize,
    is_closed: bool,
}

impl<B: Send, R: Send> Board<B, R> {
    fn new() -> Self {
        let state = State { waiting: VecDeque::new(), results: VecDeque::new(), taken: 0, is_closed: false };
        Self { state: Mutex::new(state), posted: Condvar::new(), finished: Condvar::new() }
    }

    fn post(&self, batch: B) {
        let mut state = self.lock();
        let number = state.taken + state.results.len();
        state.results.push_back(None);
        state.waiting.push_back((number, batch));
        drop(state);
        self.posted.notify_one();
    }

    /// The result of the oldest work; None when a thread has panicked.
    fn next_result(&self) -> Option<R> {
        let mut state = self.lock();
        loop {
            if state.results.front().is_some_and(Option::is_some) {
                state.taken += 1;
                return state.results.pop_front().flatten();
            }
            if state.is_closed {
                return None;
            }
            state = self.finished.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work<S>(&self, start: &(impl Fn() -> S + Sync), work: &(impl Fn(&mut S, B) -> R + Sync)) {
        // Closes the board also when the work panics, so that nobody waits for its result.
        let _closing = Closing(self);
        let mut own = start();
        while let Some((number, batch)) = self.next_batch() {
            let result = work(&mut own, batch);
            let mut state = self.lock();
            let at = number - state.taken;
            if let Some(place) = state.results.get_mut(at) {
                *place = Some(result);
            }
            drop(state);
            if at == 0 {
                self.finished.notify_one();
            }
        }
    }

    fn next_batch(&self) -> Option<(usize, B)> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(batch) = state.waiting.pop_front() {
                return Some(batch);
            }
            state = self.posted.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<B, R> Board<B, R> {
    fn lock(&self) -> MutexGuard<'_, State<B, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends all work when it is dropped.
struct Closing<'a, B, R>(&'a Board<B, R>);

impl<B, R> Drop for Closing<'_, B, R> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.posted.notify_all();
        self.0.finished.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(threads: usize, batches_before_threads: usize, count: u32, enough: usize) -> Vec<u32> {
        let mut numbers = 0..count;
        let mut taken = vec![];
        Pool { threads, batches_before_threads }.run(
            || numbers.next(),
            || (),
            |(), number| {
                // Later work is done sooner, so that results come out of order.
                (0..(count - number) * 100).for_each(|round| assert!(std::hint::black_box(round) < 10_000));
                number * 2
            },
            |result| {
                taken.push(result);
                if taken.len() >= enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        taken
    }

    #[test]
    fn results_come_in_the_order_of_the_work_on_any_number_of_threads() {
        for threads in 0..=4 {
            for before in [0, 3, 1000] {
                let all: Vec<u32> = (0..100).map(|number| number * 2).collect();
                assert_eq!(run(threads, before, 100, usize::MAX), all);
                assert_eq!(run(threads, before, 100, 7), all[..7]);
                assert_eq!(run(threads, before, 0, 7), Vec::<u32>::new());
            }
        }
    }

    #[test]
    fn a_panic_of_the_work_reaches_the_caller_instead_of_hanging() {
        for threads in 1..=4 {
            let mut numbers = 0..100;
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Pool { threads, batches_before_threads: 0 }.run(
                    || numbers.next(),
                    || (),
                    |(), number| assert_ne!(number, 50),
                    |()| ControlFlow::Continue(()),
                );
            }));
            assert!(result.is_err());
        }
    }
}
