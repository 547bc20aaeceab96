//! The store on a PostgreSQL server with pgvector, for teams and for collections beyond one machine.
//!
//! It answers as [`SqliteStore`](crate::SqliteStore) does: rows are checked, split into words and ranked by the
//! same code. The server passes over codes of the vectors and compares the best rows exactly, and sums the words'
//! scores.

mod codes;
mod condition;
mod connection;
mod fault;
mod pool;
mod read;
mod rebuild;
mod rows;
mod schema;
mod set;
mod source;
mod source_lock;
mod words;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use postgres::{Client, IsolationLevel, Transaction};

pub use source_lock::PostgresLock;

use self::condition::Conditions;
use self::fault::{Faults, IN_DOUBT, is_broken};
use self::pool::Pool;
use self::read::View;
use self::rebuild::PostgresRebuild;
use self::set::Set;
use self::source::Source;
use crate::bounds::{SOURCES_MAX, WAIT_MS_MAX};
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

/// How often a look begins again because its tables were replaced under it.
const TRIES_MAX: usize = 5;
/// How long the server is asked what became of a commit whose answer was lost, and the time between two asks.
const ASK_MAX: Duration = Duration::from_secs(5);
const ASK_PAUSE: Duration = Duration::from_millis(100);

/// Limits of a store, besides those in [`bounds`](crate::bounds).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// The schema of its tables, made when it is not there: lower case letters, digits and `_`.
    pub schema: String,
    /// Connections that are open at a time. A lock or a rebuild has one of its own besides.
    pub connections_max: usize,
    /// How long connecting may take, in milliseconds.
    pub connect_ms_max: u64,
    /// How long the server may work on one statement, in milliseconds.
    pub statement_ms_max: u64,
    /// How long a source that somebody else changes, or a free connection, is waited for, in milliseconds.
    pub wait_ms_max: u64,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: "reyn".to_owned(),
            connections_max: 8,
            connect_ms_max: 10_000,
            statement_ms_max: 120_000,
            wait_ms_max: WAIT_MS_MAX,
        }
    }
}

/// The sources in one schema of a server.
///
/// Its calls block and drive a small runtime of their own, so asynchronous code makes them where blocking is
/// allowed, as with any file. Settings and locks belong to a connection, so a pooler before the server has to keep
/// one for each session. PostgreSQL 13 and pgvector 0.7, or later.
pub struct PostgresStore {
    pool: Pool,
}

impl PostgresStore {
    /// A store at this connection string, like `postgresql://user:password@host:5432/database`. The server is
    /// asked with the first call.
    ///
    /// # Errors
    /// [`IndexError::Connection`] for what is no connection string, or a schema with an unusual name.
    pub fn new(connection: &str, options: PostgresOptions) -> Result<Self, IndexError> {
        Ok(Self { pool: Pool::new(connection, options)? })
    }

    /// Takes the right to index a source, which others are refused until it is dropped.
    ///
    /// # Errors
    /// [`IndexError::Busy`] with the process that has it, which may be one of another machine.
    pub fn lock(&self, name: &SourceName) -> Result<PostgresLock, IndexError> {
        let faults = self.pool.faults(name.as_str());
        PostgresLock::take(self.pool.connect(faults)?, &self.pool.options.schema, faults)
    }

    fn unknown(
        &self,
        transaction: &mut Transaction<'_>,
        name: &SourceName,
        faults: Faults<'_>,
    ) -> IndexError {
        /// Names that an error shows.
        const SHOWN_MAX: usize = 10;
        let sources = source::names(transaction, SHOWN_MAX, faults).unwrap_or_default();
        let sources = sources.iter().map(ToString::to_string).collect();
        IndexError::UnknownSource { name: name.to_string(), sources }
    }

    /// Runs a change of a source in one transaction.
    fn change<T>(
        &self,
        name: &SourceName,
        may_create: bool,
        change: impl FnOnce(&mut Transaction<'_>, &mut Source, Faults<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let mut lease = self.pool.lease(self.pool.faults(name.as_str()))?;
        self.change_with(&mut lease, name, may_create, change)
    }

    /// The same through this connection. It is kept when it succeeds and leaves nothing when it fails.
    fn change_with<T>(
        &self,
        client: &mut Client,
        name: &SourceName,
        may_create: bool,
        change: impl FnOnce(&mut Transaction<'_>, &mut Source, Faults<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let faults = self.pool.faults(name.as_str());
        let mut transaction = faults.of(client.transaction())?;
        let source = if may_create {
            Some(Source::take_or_make(&mut transaction, faults)?)
        } else {
            Source::take(&mut transaction, faults)?
        };
        let Some(mut source) = source else { return Err(self.unknown(&mut transaction, name, faults)) };
        let done = change(&mut transaction, &mut source, faults)?;
        source.save(&mut transaction, faults)?;
        self.commit(transaction, faults)?;
        Ok(done)
    }

    /// Commits. When the answer is lost, the server is asked through another connection what became of it.
    fn commit(&self, mut transaction: Transaction<'_>, faults: Faults<'_>) -> Result<(), IndexError> {
        let row = faults.of(transaction.query_one("SELECT pg_current_xact_id()::text", &[]))?;
        let number: String = faults.of(row.try_get(0))?;
        match transaction.commit() {
            Err(error) if is_broken(&error) => self.settle(&number, faults),
            committed => faults.of(committed),
        }
    }

    fn settle(&self, number: &str, faults: Faults<'_>) -> Result<(), IndexError> {
        let until = Instant::now() + ASK_MAX;
        loop {
            let asked = self.pool.connect(faults).and_then(|mut client| {
                let sql = "SELECT pg_xact_status($1::text::xid8)";
                faults.of(client.query_one(sql, &[&number]).and_then(|row| row.try_get(0)))
            });
            let status: Option<String> = asked.unwrap_or_default();
            match status.as_deref() {
                Some("committed") => return Ok(()),
                Some("aborted") => return Err(faults.lost(fault::NOTHING_KEPT)),
                Some(_) | None if Instant::now() > until => return Err(faults.lost(IN_DOUBT)),
                Some(_) | None => std::thread::sleep(ASK_PAUSE),
            }
        }
    }

    /// Runs a look at a source in one transaction, again when a rebuild or a drop took its tables away.
    fn look<T>(
        &self,
        name: &SourceName,
        mut look: impl FnMut(&mut View<'_, '_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let faults = self.pool.faults(name.as_str());
        let mut tries = 1;
        loop {
            let mut lease = self.pool.lease(faults)?;
            let mut transaction = faults.of(lease
                .build_transaction()
                .isolation_level(IsolationLevel::RepeatableRead)
                .read_only(true)
                .start())?;
            let Some(source) = Source::read(&mut transaction, faults)? else {
                return Err(self.unknown(&mut transaction, name, faults));
            };
            let looked = source
                .hold(&mut transaction, faults)
                .and_then(|()| look(&mut View { transaction: &mut transaction, source, faults }));
            match looked {
                Ok(done) => {
                    faults.of(transaction.commit())?;
                    return Ok(done);
                }
                Err(IndexError::Corrupt { .. }) if tries < TRIES_MAX => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl VectorStore for PostgresStore {
    fn write(
        &self,
        name: &SourceName,
        chunks: &[Chunk],
        options: &WriteOptions,
    ) -> Result<Written, IndexError> {
        bounded(chunks)?;
        said(options)?;
        self.change(name, true, |transaction, source, faults| {
            let model = options.model.as_ref();
            if options.mode == WriteMode::Replace {
                let last_row = source.live.last_row;
                let new = Set::create(transaction, model, last_row, faults)?;
                std::mem::replace(&mut source.live, new).drop(transaction, faults)?;
                if let Some(next) = source.next.take() {
                    let empty = Set::create(transaction, next.model.as_ref(), next.last_row, faults)?;
                    next.drop(transaction, faults)?;
                    source.next = Some(empty);
                }
            } else if let Some(model) = model {
                source.live.check(model, faults)?;
                if source.live.model.is_none() {
                    source.live.set_model(transaction, Some(model), faults)?;
                }
            }
            let written =
                rows::write(transaction, &mut source.live, chunks, model, options.is_without_words, faults)?;
            source.is_written_now();
            let sql = "UPDATE sources SET description = coalesce($2, description), path = coalesce($3, path)
                       WHERE name = $1";
            faults.of(transaction.execute(sql, &[&faults.name, &options.description, &options.path]))?;
            Ok(written)
        })
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
        let conditions = Conditions::of_removal(removal);
        self.change(name, false, |transaction, source, faults| {
            let removed = rows::remove(transaction, &mut source.live, &conditions, faults)?;
            if let Some(next) = &mut source.next {
                rows::remove(transaction, next, &conditions, faults)?;
            }
            Ok(removed)
        })
    }

    fn content_hashes(&self, name: &SourceName) -> Result<BTreeMap<String, Vec<String>>, IndexError> {
        match self.look(name, |view| view.content_hashes()) {
            Err(IndexError::UnknownSource { .. }) => Ok(BTreeMap::new()),
            hashes => hashes,
        }
    }

    fn drop_source(&self, name: &SourceName) -> Result<u64, IndexError> {
        let faults = self.pool.faults(name.as_str());
        let mut lease = self.pool.lease(faults)?;
        let mut transaction = faults.of(lease.transaction())?;
        let Some(source) = Source::take(&mut transaction, faults)? else { return Ok(0) };
        let rows = source.live.rows;
        source.drop(&mut transaction, faults)?;
        self.commit(transaction, faults)?;
        Ok(rows)
    }

    fn stats(&self, name: &SourceName) -> Result<Stats, IndexError> {
        self.look(name, |view| view.stats())
    }

    fn sources(&self) -> Result<Vec<SourceEntry>, IndexError> {
        let faults = self.pool.faults("");
        let mut lease = self.pool.lease(faults)?;
        let sql = "SELECT name, coalesce(description, 'Index of source ''' || name || ''''),
                          coalesce(path, '(unknown)'), rows, last_indexed, model
                   FROM sources JOIN sets ON sets.id = live ORDER BY name LIMIT $1";
        let limit = i64::try_from(SOURCES_MAX).unwrap_or(i64::MAX);
        let mut entries = vec![];
        for row in faults.of(lease.query(sql, &[&limit]))? {
            let name: &str = faults.of(row.try_get(0))?;
            let rows: i64 = faults.of(row.try_get(3))?;
            entries.push(SourceEntry {
                name: SourceName::new(name)?,
                description: faults.of(row.try_get(1))?,
                path: faults.of(row.try_get(2))?,
                rows: u64::try_from(rows).unwrap_or(0),
                last_indexed: faults.of(row.try_get(4))?,
                embedding_model: faults.of(row.try_get(5))?,
            });
        }
        Ok(entries)
    }

    fn rebuild<'a>(
        &'a self,
        name: &SourceName,
        model: Option<&ModelIdentity>,
    ) -> Result<Box<dyn Rebuild + 'a>, IndexError> {
        Ok(Box::new(PostgresRebuild::begin(self, name, model)?))
    }
}
