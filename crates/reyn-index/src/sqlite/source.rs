//! One open index file: a connection that writes and one that reads, so that a long write keeps no query
//! waiting.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::fault::Faults;
use super::meta::Meta;
use super::snapshot::Snapshot;
use super::words;
use super::{SqliteOptions, schema};
use crate::error::IndexError;
use crate::source_name::SourceName;

/// The file of an index in its folder.
pub(super) const FILE: &str = "index.db";
/// Bytes of a page: three rows of 512 numbers fit one.
const PAGE_BYTES: u32 = 8192;
/// Kibibytes of pages that each connection keeps.
const WRITER_CACHE_KIB: i64 = 32 * 1024;
const READER_CACHE_KIB: i64 = 8 * 1024;

/// An open index file.
pub(super) struct Source {
    name: SourceName,
    path: PathBuf,
    file: (u64, u64),
    wait_ms: u64,
    used: AtomicU64,
    writer: Mutex<Connection>,
    reader: Mutex<Reader>,
}

/// The reading connection and what it keeps in memory.
pub(super) struct Reader {
    pub(super) connection: Connection,
    pub(super) snapshot: Snapshot,
}

/// What became of a change.
pub(super) enum Changed<T> {
    /// It is in the file.
    Done(T),
    /// The source was dropped by somebody; this file is on its way out.
    Dropped,
}

impl Source {
    /// Opens the file in a source's folder; makes both when `may_create`, else returns nothing for none.
    pub(super) fn open(
        folder: &Path,
        name: &SourceName,
        options: &SqliteOptions,
        may_create: bool,
    ) -> Result<Option<Self>, IndexError> {
        let path = folder.join(FILE);
        if !path.exists() {
            if !may_create {
                return Ok(None);
            }
            fs::create_dir_all(folder).map_err(|source| IndexError::Io {
                act: "make",
                path: folder.to_owned(),
                source,
            })?;
        }
        let wait_ms = options.wait_ms_max;
        let faults = Faults::new(name.as_str(), wait_ms);
        let mut writer = connect(&path, WRITER_CACHE_KIB, may_create, faults)?;
        schema::migrate(&mut writer, faults)?;
        if let Some(bytes) = options.source_bytes_max {
            let pages = bytes / u64::from(PAGE_BYTES);
            faults.of(writer.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())))?;
        }
        let reader = connect(&path, READER_CACHE_KIB, false, faults)?;
        faults.of(reader.execute_batch(words::VOCABULARY))?;
        let file =
            file_of(&path).map_err(|source| IndexError::Io { act: "look at", path: path.clone(), source })?;
        Ok(Some(Self {
            name: name.clone(),
            path,
            file,
            wait_ms,
            used: AtomicU64::new(0),
            writer: Mutex::new(writer),
            reader: Mutex::new(Reader { connection: reader, snapshot: Snapshot::default() }),
        }))
    }

    pub(super) fn faults(&self) -> Faults<'_> {
        Faults::new(self.name.as_str(), self.wait_ms)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the open file is still the one with this name.
    pub(super) fn is_in_place(&self) -> bool {
        file_of(&self.path).is_ok_and(|file| file == self.file)
    }

    /// When it was used last, on a counter of the store.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn set_used(&self, at: u64) {
        self.used.store(at, Ordering::Relaxed);
    }

    pub(super) fn reader(&self) -> MutexGuard<'_, Reader> {
        // What a panic left half made is made anew when its epoch is compared; connections are whole.
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that the reader keeps in memory; nothing when it is at work.
    pub(super) fn memory_bytes(&self) -> usize {
        self.reader.try_lock().map_or(0, |reader| reader.snapshot.bytes())
    }

    /// Gives back what the reader keeps, unless it is at work.
    pub(super) fn forget(&self) {
        if let Ok(mut reader) = self.reader.try_lock() {
            reader.snapshot = Snapshot::default();
        }
    }

    /// Runs a change in one transaction, which is kept when it succeeds and leaves nothing when it fails.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&Connection, &Meta) -> Result<T, IndexError>,
    ) -> Result<Changed<T>, IndexError> {
        let faults = self.faults();
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = faults.of(writer.transaction_with_behavior(TransactionBehavior::Immediate))?;
        let meta = Meta::read(&transaction, faults)?;
        if meta.is_dropped() {
            return Ok(Changed::Dropped);
        }
        let done = change(&transaction, &meta)?;
        faults.of(transaction.commit())?;
        Ok(Changed::Done(done))
    }
}

fn connect(
    path: &Path,
    cache_kib: i64,
    may_create: bool,
    faults: Faults<'_>,
) -> Result<Connection, IndexError> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if may_create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connection = faults.of(Connection::open_with_flags(path, flags))?;
    faults.of(connection.busy_timeout(Duration::from_millis(faults.wait_ms())))?;
    faults.of(connection.pragma_update(None, "page_size", PAGE_BYTES))?;
    faults.of(connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())))?;
    // A commit is on the disk when it returns, whatever the machine does next.
    faults.of(connection.pragma_update(None, "synchronous", "FULL"))?;
    faults.of(connection.pragma_update(None, "cache_size", -cache_kib))?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn file_of(path: &Path) -> std::io::Result<(u64, u64)> {
    let facts = fs::metadata(path)?;
    Ok((facts.dev(), facts.ino()))
}
