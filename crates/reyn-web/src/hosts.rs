//! How hosts are treated: one connection at a time, and left alone when they ask for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::get_error::{GetError, Stage};
use crate::limits::{HOSTS_MAX, RETRY_AFTER_SECONDS_MAX};
use crate::policy::HostPort;

/// The hosts that are asked now or want to be left alone; at most [`HOSTS_MAX`].
#[derive(Default)]
pub(crate) struct Hosts {
    table: Mutex<HashMap<HostPort, Host>>,
}

#[derive(Default)]
struct Host {
    turn: Arc<tokio::sync::Mutex<()>>,
    quiet_until: Option<Instant>,
}

impl Host {
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.turn) > 1
    }

    fn is_quiet(&self, now: Instant) -> bool {
        self.quiet_until.is_some_and(|until| until > now)
    }
}

impl Hosts {
    /// Waits for the turn to ask a host; the turn ends when the guard is dropped.
    ///
    /// A host that asked to be left alone is waited for when that takes at most half of the time that is left.
    pub(crate) async fn turn(&self, host: &HostPort, times: Times) -> Result<OwnedMutexGuard<()>, GetError> {
        let turn = self.entry(host)?;
        let guard = timeout_at(times.deadline, turn.lock_owned()).await.map_err(|_| GetError::Timeout {
            host: host.host().to_owned(),
            stage: Stage::Queue,
            after: times.whole,
        })?;
        let now = Instant::now();
        // Read under the turn, since the call before may have been told to wait.
        if let Some(until) = self.quiet_until(host).filter(|until| *until > now) {
            let wait = until - now;
            if wait > times.deadline.saturating_duration_since(now) / 2 {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                return Err(GetError::RetryLater { host: host.host().to_owned(), seconds });
            }
            sleep_until(until).await;
        }
        Ok(guard)
    }

    /// Notes that a host wants to be left alone, for at most [`RETRY_AFTER_SECONDS_MAX`].
    pub(crate) fn leave_alone(&self, host: &HostPort, seconds: u64) {
        let until = Instant::now() + Duration::from_secs(seconds.min(RETRY_AFTER_SECONDS_MAX));
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = table.get_mut(host) {
            entry.quiet_until = Some(until);
        }
    }

    fn quiet_until(&self, host: &HostPort) -> Option<Instant> {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(host).and_then(|entry| entry.quiet_until)
    }

    fn entry(&self, host: &HostPort) -> Result<Arc<tokio::sync::Mutex<()>>, GetError> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if !table.contains_key(host) && table.len() >= HOSTS_MAX {
            make_room(&mut table, Instant::now());
            if table.len() >= HOSTS_MAX {
                return Err(GetError::Busy { host: host.host().to_owned() });
            }
        }
        Ok(Arc::clone(&table.entry(host.clone()).or_default().turn))
    }
}

/// Forgets what nobody needs; failing that, the unused host whose wait ends first.
fn make_room(table: &mut HashMap<HostPort, Host>, now: Instant) {
    table.retain(|_, host| host.is_in_use() || host.is_quiet(now));
    if table.len() < HOSTS_MAX {
        return;
    }
    let unused = table.iter().filter(|(_, host)| !host.is_in_use());
    let first = unused.min_by_key(|(_, host)| host.quiet_until).map(|(name, _)| name.clone());
    if let Some(first) = first {
        table.remove(&first);
    }
}

/// The time of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// When it must have ended.
    pub(crate) deadline: Instant,
    /// What it was given as a whole.
    pub(crate) whole: Duration,
}

/// Reads `retry-after`: seconds, or a date that `now` is compared with.
pub(crate) fn retry_after_seconds(value: &str, now: jiff::Timestamp) -> Option<u64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(seconds);
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(u64::try_from(date.as_second() - now.as_second()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(at: usize) -> HostPort {
        HostPort::new(&format!("h{at}.example"), 80)
    }

    fn times() -> Times {
        let whole = Duration::from_secs(10);
        Times { deadline: Instant::now() + whole, whole }
    }

    #[test]
    fn a_wait_is_read_from_seconds_and_from_a_date() {
        let now: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        for (value, expected) in [
            ("7", Some(7)),
            (" 120 ", Some(120)),
            ("Thu, 01 Jan 2026 00:01:00 GMT", Some(60)),
            ("Wed, 31 Dec 2025 00:01:00 GMT", Some(0)),
            ("-3", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after_seconds(value, now), expected, "{value}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_wait_is_waited_and_a_long_one_is_an_error_at_once() {
        let hosts = Hosts::default();
        drop(hosts.turn(&host(0), times()).await.unwrap());
        hosts.leave_alone(&host(0), 4);
        let started = Instant::now();
        drop(hosts.turn(&host(0), times()).await.unwrap());
        assert_eq!(started.elapsed().as_secs(), 4);
        hosts.leave_alone(&host(0), 100_000);
        let started = Instant::now();
        let error = hosts.turn(&host(0), times()).await.unwrap_err();
        assert_eq!(
            error,
            GetError::RetryLater { host: "h0.example".into(), seconds: RETRY_AFTER_SECONDS_MAX }
        );
        assert_eq!(started.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_call_waits_for_the_first_and_only_so_long() {
        let hosts = Hosts::default();
        let first = hosts.turn(&host(0), times()).await.unwrap();
        assert!(hosts.turn(&host(1), times()).await.is_ok());
        let error = hosts.turn(&host(0), times()).await.unwrap_err();
        assert_eq!(error.kind(), "timeout");
        drop(first);
        assert!(hosts.turn(&host(0), times()).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn the_table_is_bounded_and_forgets_what_nobody_uses() {
        let hosts = Hosts::default();
        let mut turns = vec![];
        for at in 0..HOSTS_MAX {
            turns.push(hosts.turn(&host(at), times()).await.unwrap());
        }
        let error = hosts.turn(&host(HOSTS_MAX), times()).await.unwrap_err();
        assert_eq!(error.kind(), "busy");
        hosts.leave_alone(&host(7), 60);
        turns.clear();
        assert!(hosts.turn(&host(HOSTS_MAX), times()).await.is_ok());
        let mut left: Vec<String> = hosts.table.lock().unwrap().keys().map(ToString::to_string).collect();
        left.sort();
        assert_eq!(left, ["h256.example:80", "h7.example:80"]);
    }
}
