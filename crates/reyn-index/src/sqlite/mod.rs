//! The store in files of this machine: a SQLite database for each source.

mod fault;
mod folder;
mod manifest;
mod meta;
mod read;
mod rebuild;
mod rows;
mod schema;
mod snapshot;
mod source;
mod source_lock;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

pub use source_lock::SourceLock;

use self::fault::Faults;
use self::meta::Meta;
use self::rebuild::SqliteRebuild;
use self::schema::Set;
use self::source::{Changed, Source};
use crate::bounds::{CODES_BYTES_MAX, WAIT_MS_MAX};
use crate::chunk::Chunk;
use crate::error::IndexError;
use crate::filter::Filters;
use crate::prepared::{bounded, said};
use crate::search;
use crate::source_name::SourceName;
use crate::store::{
    Found, Hit, Query, Rebuild, Removal, SourceEntry, Stats, VectorStore, WriteMode, WriteOptions, Written,
};
use reyn_core::embedding::ModelIdentity;

/// Sources whose files stay open; the least used is closed first.
const OPEN_MAX: usize = 64;
/// How often a change begins again because the source was dropped under it.
const TRIES_MAX: usize = 5;

/// Limits of a store, besides those in [`bounds`](crate::bounds).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Bytes that the file of one source may have; `None`: as many as the disk has.
    pub source_bytes_max: Option<u64>,
    /// Bytes of codes that stay in memory over all sources.
    pub memory_bytes_max: usize,
    /// How long a database that somebody else writes is waited for, in milliseconds.
    pub wait_ms_max: u64,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { source_bytes_max: None, memory_bytes_max: CODES_BYTES_MAX, wait_ms_max: WAIT_MS_MAX }
    }
}

/// The sources below one folder, each in `<source>/index.db`, with `sources.yaml` beside them.
pub struct SqliteStore {
    root: PathBuf,
    options: SqliteOptions,
    uses: AtomicU64,
    open: Mutex<HashMap<SourceName, Arc<Source>>>,
}

impl SqliteStore {
    /// A store in this folder, which is made with the first source.
    #[must_use]
    pub fn new(root: &Path, options: SqliteOptions) -> Self {
        Self { root: root.to_owned(), options, uses: AtomicU64::new(0), open: Mutex::default() }
    }

    /// Takes the right to index a source, which others are refused until it is dropped.
    ///
    /// # Errors
    /// [`IndexError::Busy`] with the process that has it.
    pub fn lock(&self, name: &SourceName) -> Result<SourceLock, IndexError> {
        SourceLock::take(&self.folder(name), name)
    }

    fn folder(&self, name: &SourceName) -> PathBuf {
        self.root.join(name.as_str())
    }

    fn open_sources(&self) -> MutexGuard<'_, HashMap<SourceName, Arc<Source>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open source; nothing when it is not there and may not be made.
    fn source(&self, name: &SourceName, may_create: bool) -> Result<Option<Arc<Source>>, IndexError> {
        let used = self.uses.fetch_add(1, Ordering::Relaxed) + 1;
        let mut open = self.open_sources();
        if let Some(source) = open.get(name) {
            if source.is_in_place() {
                source.set_used(used);
                return Ok(Some(Arc::clone(source)));
            }
            open.remove(name);
        }
        if open.len() >= OPEN_MAX {
            let least = open.iter().min_by_key(|(_, source)| source.used()).map(|(name, _)| name.clone());
            least.and_then(|least| open.remove(&least));
        }
        let folder = self.folder(name);
        let Some(source) = Source::open(&folder, name, &self.options, may_create)? else {
            return Ok(None);
        };
        source.set_used(used);
        let source = Arc::new(source);
        open.insert(name.clone(), Arc::clone(&source));
        Ok(Some(source))
    }

    fn known(&self, name: &SourceName) -> Result<Arc<Source>, IndexError> {
        match self.source(name, false)? {
            Some(source) => Ok(source),
            None => Err(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &SourceName) -> IndexError {
        /// Names that an error shows.
        const SHOWN_MAX: usize = 10;
        let sources = folder::names(&self.root).unwrap_or_default();
        let sources = sources.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
        IndexError::UnknownSource { name: name.to_string(), sources }
    }

    /// Runs a change of a source, again when the source was dropped meanwhile and may be made anew.
    fn change<T>(
        &self,
        name: &SourceName,
        may_create: bool,
        mut change: impl FnMut(&Connection, &Meta, Faults<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        for _ in 0..TRIES_MAX {
            let Some(source) = self.source(name, may_create)? else { return Err(self.unknown(name)) };
            match source.change(|connection, meta| change(connection, meta, source.faults()))? {
                Changed::Done(done) => return Ok(done),
                Changed::Dropped => folder::remove_dropped(&self.root, &source)?,
            }
            self.open_sources().remove(name);
        }
        Err(IndexError::Locked { name: name.to_string(), waited_ms: 0 })
    }

    /// Runs a look at a source in one transaction, and keeps the memory of all sources within its bound.
    fn look<T>(
        &self,
        name: &SourceName,
        look: impl FnOnce(&mut read::View<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let source = self.known(name)?;
        let done = read::look(&source, look)?;
        let Some(done) = done else {
            folder::remove_dropped(&self.root, &source)?;
            self.open_sources().remove(name);
            return Err(self.unknown(name));
        };
        self.bound_memory(&source);
        Ok(done)
    }

    fn bound_memory(&self, just_used: &Arc<Source>) {
        let open = self.open_sources();
        let mut by_use: Vec<&Arc<Source>> = open.values().collect();
        by_use.sort_by_key(|source| std::cmp::Reverse(source.used()));
        let mut bytes = 0;
        for source in by_use {
            bytes += source.memory_bytes();
            if bytes > self.options.memory_bytes_max && !Arc::ptr_eq(source, just_used) {
                source.forget();
            }
        }
    }

    /// Writes what is known about a source into the manifest.
    fn note(&self, name: &SourceName, options: Option<&WriteOptions>) -> Result<(), IndexError> {
        let (rows, last_indexed, model) =
            self.look(name, |view| Ok((view.rows()?, view.meta.last_indexed(), view.meta.model(Set::Live))))?;
        manifest::change(&self.root, name.as_str(), |mut entry| {
            entry.chunk_count = rows;
            entry.last_indexed = last_indexed;
            entry.embedding_model = model.map(|model| model.name);
            if let Some(description) = options.and_then(|options| options.description.clone()) {
                entry.description = description;
            }
            if let Some(path) = options.and_then(|options| options.path.clone()) {
                entry.path = path;
            }
            Some(entry)
        })
    }
}

impl VectorStore for SqliteStore {
    fn write(
        &self,
        name: &SourceName,
        rows: &[Chunk],
        options: &WriteOptions,
    ) -> Result<Written, IndexError> {
        bounded(rows)?;
        said(options)?;
        // One that cannot be read is reported before anything is written.
        manifest::read(&self.root)?;
        let written = self.change(name, true, |connection, meta, faults| {
            let model = options.model.as_ref();
            let mut count = meta.rows(Set::Live);
            if options.mode == WriteMode::Replace {
                rows::clear(connection, Set::Live, faults)?;
                count = 0;
                if rebuild::has_next(connection, faults)? {
                    rows::clear(connection, Set::Next, faults)?;
                    meta::set_rows(connection, Set::Next, 0, faults)?;
                }
                meta::next_epoch(connection, faults)?;
                meta::set_model(connection, Set::Live, model, faults)?;
            } else if let Some(model) = model {
                meta.check(Set::Live, model, faults)?;
                if meta.model(Set::Live).is_none() {
                    meta::set_model(connection, Set::Live, Some(model), faults)?;
                }
            }
            let written =
                rows::RowWriter::new(connection, Set::Live, model, options.is_without_words, faults)?
                    .write(rows)?;
            meta::set_rows(connection, Set::Live, count + written.written as u64, faults)?;
            meta::set_last_indexed(connection, faults)?;
            Ok(written)
        })?;
        let noted = self.note(name, Some(options));
        // The rows are there whatever becomes of the note, and lists read their number from the file. What the
        // caller said of the source is in the manifest alone.
        if options.description.is_some() || options.path.is_some() {
            noted?;
        }
        Ok(written)
    }

    fn find_by_vector(&self, name: &SourceName, query: &Query<'_>) -> Result<Vec<Hit>, IndexError> {
        query.checked()?;
        self.look(name, |view| search::by_vector(view, query))
    }

    fn find_by_words(&self, name: &SourceName, query: &Query<'_>) -> Result<Vec<Hit>, IndexError> {
        query.checked()?;
        self.look(name, |view| search::by_words(view, query))
    }

    fn find(&self, name: &SourceName, query: &Query<'_>) -> Result<Found, IndexError> {
        query.checked()?;
        self.look(name, |view| search::by_both(view, query))
    }

    fn enumerate(
        &self,
        name: &SourceName,
        filters: &Filters,
        tokens_max: u64,
    ) -> Result<Vec<Hit>, IndexError> {
        self.look(name, |view| view.in_order(filters, tokens_max))
    }

    fn remove(&self, name: &SourceName, removal: Removal<'_>) -> Result<u64, IndexError> {
        let removed = self.change(name, false, |connection, meta, faults| {
            let take = |set: Set| -> Result<u64, IndexError> {
                let removed = remove_from(connection, set, removal, faults)?;
                meta::set_rows(connection, set, meta.rows(set).saturating_sub(removed), faults)?;
                Ok(removed)
            };
            let removed = take(Set::Live)?;
            if rebuild::has_next(connection, faults)? {
                take(Set::Next)?;
            }
            if removed > 0 {
                meta::next_epoch(connection, faults)?;
            }
            Ok(removed)
        })?;
        // As after a write.
        let _ = self.note(name, None);
        Ok(removed)
    }

    fn content_hashes(&self, name: &SourceName) -> Result<BTreeMap<String, Vec<String>>, IndexError> {
        match self.look(name, |view| view.content_hashes()) {
            Err(IndexError::UnknownSource { .. }) => Ok(BTreeMap::new()),
            hashes => hashes,
        }
    }

    fn drop_source(&self, name: &SourceName) -> Result<u64, IndexError> {
        let dropped = folder::drop_source(self, name)?;
        self.open_sources().remove(name);
        if self.root.exists() {
            manifest::change(&self.root, name.as_str(), |_| None)?;
        }
        Ok(dropped)
    }

    fn stats(&self, name: &SourceName) -> Result<Stats, IndexError> {
        let bytes = folder::bytes(&self.folder(name));
        self.look(name, |view| view.stats(bytes))
    }

    fn sources(&self) -> Result<Vec<SourceEntry>, IndexError> {
        folder::entries(self)
    }

    fn rebuild<'a>(
        &'a self,
        name: &SourceName,
        model: Option<&ModelIdentity>,
    ) -> Result<Box<dyn Rebuild + 'a>, IndexError> {
        self.known(name)?;
        Ok(Box::new(SqliteRebuild::begin(self, name, model)?))
    }
}

fn remove_from(
    connection: &Connection,
    set: Set,
    removal: Removal<'_>,
    faults: Faults<'_>,
) -> Result<u64, IndexError> {
    let ids = match removal {
        // Nobody who names no path means all of them.
        Removal::Path("") => {
            let sql = set.sql("SELECT id FROM {}chunks WHERE source_path = ''");
            snapshot::ids(connection, &sql, [], faults)?
        }
        Removal::Path(path) => snapshot::below(connection, set, path.trim_end_matches('/'), faults)?,
        Removal::Hashes(hashes) => {
            let sql = set.sql("SELECT id FROM {}chunks WHERE content_hash = ?1");
            let mut ids = vec![];
            for hash in hashes {
                ids.extend(snapshot::ids(connection, &sql, [hash], faults)?);
            }
            ids
        }
    };
    rows::remove(connection, set, &ids, faults)
}
