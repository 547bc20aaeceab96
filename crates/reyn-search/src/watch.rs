//! When a search has to end early.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// Why a search ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    TimeUp,
}

/// Looks at the cancel token and the clock.
#[derive(Debug, Clone)]
pub(crate) struct Watch<'a> {
    cancel: &'a CancellationToken,
    begun: Instant,
    time_max: Duration,
}

impl<'a> Watch<'a> {
    pub(crate) fn start(cancel: &'a CancellationToken, time_max: Duration) -> Self {
        Self { cancel, begun: Instant::now(), time_max }
    }

    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        if self.begun.elapsed() >= self.time_max {
            return Err(Stop::TimeUp);
        }
        Ok(())
    }

    /// What a partial result says about the time.
    pub(crate) fn time_up(&self) -> String {
        format!(
            "the search was ended after {} s; name a smaller folder or a more exact pattern",
            self.time_max.as_secs()
        )
    }
}
