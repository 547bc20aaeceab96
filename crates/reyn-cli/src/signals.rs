//! Signals: the first one cancels, the second one ends the process.

use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// Cancels the turn at the first signal and ends the process at the second. Signals are caught from the
/// call on, not from the first poll.
pub(crate) fn cancel_on_signal(cancel: CancellationToken) -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    // Under `nohup` a closed terminal is no reason to stop; catching the signal would undo that.
    let hangup = if ignores_hangup() { None } else { signal(SignalKind::hangup()).ok() };
    async move {
        let [Ok(mut interrupt), Ok(mut terminate)] = signals else { return };
        let mut hangup = hangup;
        for attempt in 0..2 {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = heard(&mut hangup) => {}
            }
            if attempt == 0 {
                cancel.cancel();
            }
        }
        // A terminal that is left in raw mode would be of no use to the person.
        reyn_terminal::RawMode::restore();
        std::process::exit(i32::from(Exit::Interrupted.code()));
    }
}

async fn heard(signal: &mut Option<tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether whoever started the process told it to ignore a closed terminal.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
