//! Who is indexing a source: a lock that ends with its process, and the process number beside it for people.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::IndexError;
use crate::source_name::SourceName;

const FILE: &str = ".lock";
/// Bytes of a lock file that are read.
const BYTES_MAX: u64 = 1024;

#[derive(Serialize, Deserialize)]
struct Holder {
    pid: u32,
    ts: String,
}

/// The right to index a source, until it is dropped or the process ends. Writes of single rows do not need it.
#[derive(Debug)]
pub struct SourceLock(#[expect(dead_code, reason = "holds the lock")] File);

impl SourceLock {
    /// Takes the lock in a source's folder, or says at once who has it.
    pub(super) fn take(folder: &Path, name: &SourceName) -> Result<Self, IndexError> {
        let path = folder.join(FILE);
        let fail = |source| IndexError::Io { act: "lock", path: path.clone(), source };
        fs::create_dir_all(folder).map_err(|source| IndexError::Io {
            act: "make",
            path: folder.to_owned(),
            source,
        })?;
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = (&mut file).take(BYTES_MAX).read_to_string(&mut text);
                let pid = read
                    .ok()
                    .and_then(|_| serde_json::from_str(&text).ok())
                    .map_or(0, |holder: Holder| holder.pid);
                return Err(IndexError::Busy { name: name.to_string(), pid });
            }
            Err(fs::TryLockError::Error(error)) => return Err(fail(error)),
        }
        let holder = Holder { pid: std::process::id(), ts: jiff::Timestamp::now().to_string() };
        let text = serde_json::to_string(&holder).map_err(|error| fail(error.into()))?;
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(fail)?;
        Ok(Self(file))
    }
}
