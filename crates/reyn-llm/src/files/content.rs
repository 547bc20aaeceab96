//! Reading and copying large files off the async threads, until nobody waits for it any more.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest as _, Sha256};

/// Bytes that are handled before cancellation is looked at.
const CHUNK_BYTES: usize = 1 << 20;

/// Says whether a work that runs off the async threads is still wanted.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted(Arc<AtomicBool>);

impl Wanted {
    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(io::Error::other("cancelled")) } else { Ok(()) }
    }
}

/// Runs a work on a thread that may block. Dropping the future makes the work stop at its next chunk.
pub(super) async fn off_thread<T: Send + 'static>(
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

/// Copies all of `from`, at most `bytes_max` bytes; more is an error. Returns how many there were.
pub(super) fn copy(
    from: &mut dyn Read,
    to: &mut dyn Write,
    bytes_max: u64,
    wanted: &Wanted,
) -> io::Result<u64> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut copied = 0;
    loop {
        wanted.check()?;
        let count = match from.read(&mut chunk) {
            Ok(0) => return Ok(copied),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        copied += count as u64;
        if copied > bytes_max {
            return Err(io::Error::other(format!("it is longer than {bytes_max} bytes")));
        }
        to.write_all(&chunk[..count])?;
    }
}

/// The sha256 of a file, as small hex digits.
pub(super) fn sha256_of(path: &Path, wanted: &Wanted) -> io::Result<String> {
    struct Hasher(Sha256);
    impl Write for Hasher {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hasher = Hasher(Sha256::new());
    copy(&mut File::open(path)?, &mut hasher, u64::MAX, wanted)?;
    Ok(hasher.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
