//! Reading and copying large files, until nobody waits for it any more.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::off_thread::Wanted;

/// Bytes that are handled before cancellation is looked at.
const CHUNK_BYTES: usize = 1 << 20;

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
