//! Work that blocks or computes for long, off the async threads, until nobody waits for it any more.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says whether a work that runs off the async threads is still wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted(Arc<AtomicBool>);

impl Wanted {
    /// An error when nobody waits any more.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(io::Error::other("cancelled")) } else { Ok(()) }
    }
}

/// Runs a work on a thread that may block. Dropping the future makes the work stop at its next chunk.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce(&Wanted) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    struct UnwantedOnDrop(Wanted);
    impl Drop for UnwantedOnDrop {
        fn drop(&mut self) {
            self.0.0.store(true, Ordering::Relaxed);
        }
    }
    let guard = UnwantedOnDrop(Wanted::default());
    let wanted = guard.0.clone();
    let done = tokio::task::spawn_blocking(move || work(&wanted)).await;
    done.unwrap_or_else(|error| Err(io::Error::other(error.to_string())))
}
