//! The one owner of retries: nothing below or above this asks a model again after a failure.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_core::limits::{MODEL_ATTEMPTS_MAX, RETRY_WAIT_MS_BASE, RETRY_WAIT_MS_MAX};
use reyn_core::request::{ChatReply, ChatRequest};
use reyn_core::settings::RetryBackoff;
use reyn_core::tool_use::Framing;

use crate::chat::{ChatModel, ModelError, StreamEvent};

/// How often a model is asked, and how long is waited in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub attempts_max: u32,
    /// How the wait grows.
    pub backoff: RetryBackoff,
}

impl RetryPolicy {
    /// The one of chat models.
    pub const CHAT: Self = Self { attempts_max: MODEL_ATTEMPTS_MAX, backoff: RetryBackoff::Exponential };

    /// How long is waited after a failed attempt, counted from 1; `None` when it was the last.
    #[must_use]
    pub fn wait_after(self, attempt: u32, error: &ModelError, random: f64) -> Option<Duration> {
        let is_last = attempt >= self.attempts_max || !error.kind.is_retryable();
        (!is_last).then(|| wait_before(self.backoff, attempt, error.retry_after, random))
    }

    /// Makes attempts until one succeeds or was the last; `on_retry` hears of each that is followed by another.
    pub(crate) async fn run<'a, T>(
        self,
        random: fn() -> f64,
        attempt_once: &(dyn Fn() -> BoxFuture<'a, Result<T, ModelError>> + Sync),
        on_retry: &(dyn Fn(u32, &ModelError, Duration) + Sync),
    ) -> Result<T, ModelError> {
        let mut attempt = 1;
        loop {
            let error = match attempt_once().await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let Some(wait) = self.wait_after(attempt, &error, random()) else { return Err(error) };
            on_retry(attempt, &error, wait);
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }
}

/// A model that is asked again when another attempt may help, [`MODEL_ATTEMPTS_MAX`] times in all.
pub struct Retrying<M> {
    model: M,
    random: fn() -> f64,
}

impl<M: ChatModel> Retrying<M> {
    /// Wraps a model; waits are jittered with the system's randomness.
    #[must_use]
    pub fn new(model: M) -> Self {
        Self::with_random(model, system_random)
    }

    /// Wraps a model; `random` gives numbers from 0 to 1.
    #[must_use]
    pub const fn with_random(model: M, random: fn() -> f64) -> Self {
        Self { model, random }
    }

    async fn attempts(
        &self,
        request: &ChatRequest<'_>,
        on_event: &mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> Result<ChatReply, ModelError> {
        let mut attempt = 1;
        loop {
            let error = match self.model.reply(request, &mut *on_event).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let Some(wait) = RetryPolicy::CHAT.wait_after(attempt, &error, (self.random)()) else {
                return Err(error);
            };
            on_event(StreamEvent::Retry { attempt, error: &error, wait });
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }
}

impl<M: ChatModel> ChatModel for Retrying<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn framing(&self) -> Framing {
        self.model.framing()
    }

    fn reply<'a>(
        &'a self,
        request: &'a ChatRequest<'a>,
        on_event: &'a mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.attempts(request, on_event).boxed()
    }
}

/// The wait after a failed attempt, counted from 1, at most [`RETRY_WAIT_MS_MAX`].
///
/// Without a wish of the server it doubles with each attempt, or grows by the first wait, and half of it is random. A wish is a floor,
/// and up to a tenth is added, so that clients told the same do not come back at once. A wish of zero means
/// at once. `random` is from 0 to 1.
#[must_use]
pub fn wait_before(
    backoff: RetryBackoff,
    attempt: u32,
    retry_after: Option<Duration>,
    random: f64,
) -> Duration {
    let longest = Duration::from_millis(RETRY_WAIT_MS_MAX);
    let random = random.clamp(0.0, 1.0);
    let wait = retry_after.map_or_else(
        || {
            let growth = match backoff {
                RetryBackoff::Exponential => 1 << attempt.saturating_sub(1).min(16),
                RetryBackoff::Linear => attempt.clamp(1, 1 << 16),
            };
            let full = Duration::from_millis(RETRY_WAIT_MS_BASE * u64::from(growth)).min(longest);
            full / 2 + (full / 2).mul_f64(random)
        },
        |wish| wish.min(longest).mul_f64(1.0 + random / 10.0),
    );
    wait.min(longest)
}

pub(crate) fn system_random() -> f64 {
    // Without randomness the wait is only less spread.
    getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_or_grows_is_half_random_and_never_passes_the_limit() {
        let seconds = |seconds: u64| Some(Duration::from_secs(seconds));
        for (attempt, retry_after, random, expected_ms) in [
            (1, None, 0.0, 1_000),
            (1, None, 1.0, 2_000),
            (2, None, 0.0, 2_000),
            (2, None, 0.5, 3_000),
            (3, None, 1.0, 8_000),
            (9, None, 1.0, 16_000),
            (u32::MAX, None, 0.0, 8_000),
            (1, seconds(2), 0.0, 2_000),
            (1, seconds(2), 1.0, 2_200),
            (2, seconds(0), 1.0, 0),
            (1, seconds(16), 1.0, 16_000),
            (1, seconds(3_600), 0.0, 16_000),
            (1, Some(Duration::MAX), 1.0, 16_000),
            (1, None, 7.0, 2_000),
        ] {
            let wait = wait_before(RetryBackoff::Exponential, attempt, retry_after, random);
            assert_eq!(wait.as_millis(), expected_ms, "{attempt} {retry_after:?} {random}");
        }
        for (attempt, random, expected_ms) in
            [(0, 1.0, 2_000), (1, 1.0, 2_000), (2, 0.0, 2_000), (3, 1.0, 6_000), (u32::MAX, 1.0, 16_000)]
        {
            let wait = wait_before(RetryBackoff::Linear, attempt, None, random);
            assert_eq!(wait.as_millis(), expected_ms, "{attempt} {random}");
        }
    }
}
