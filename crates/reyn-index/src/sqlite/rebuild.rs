//! Filling a second set of tables beside the live one, and putting it in its place.

use reyn_core::embedding::ModelIdentity;
use rusqlite::Connection;

use super::fault::Faults;
use super::schema::{self, Set};
use super::snapshot::number;
use super::source_lock::SourceLock;
use super::{SqliteStore, meta, rows};
use crate::chunk::Chunk;
use crate::error::IndexError;
use crate::prepared::bounded;
use crate::source_name::SourceName;
use crate::store::{Rebuild, Written};

/// An unfinished rebuild of a source, held by this process.
pub(super) struct SqliteRebuild<'s> {
    store: &'s SqliteStore,
    name: SourceName,
    model: Option<ModelIdentity>,
    seen: i64,
    /// What was seen before the last rows were handed out, which may not be written yet.
    settled: i64,
    _lock: SourceLock,
}

/// Whether a rebuild is unfinished.
pub(super) fn has_next(connection: &Connection, faults: Faults<'_>) -> Result<bool, IndexError> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'next_chunks'";
    Ok(number(connection, sql, faults)? > 0)
}

impl<'s> SqliteRebuild<'s> {
    pub(super) fn begin(
        store: &'s SqliteStore,
        name: &SourceName,
        model: Option<&ModelIdentity>,
    ) -> Result<Self, IndexError> {
        let lock = store.lock(name)?;
        let seen = store.change(name, false, |connection, meta, faults| {
            if has_next(connection, faults)? {
                if meta.model(Set::Next).as_ref() == model {
                    return Ok(meta.seen());
                }
                schema::remove(connection, Set::Next, faults)?;
            }
            let number = meta::next_set_number(connection, faults)?;
            schema::create(connection, Set::Next, number, faults)?;
            meta::set_rows(connection, Set::Next, 0, faults)?;
            meta::set_model(connection, Set::Next, model, faults)?;
            meta::set_seen(connection, 0, faults)?;
            Ok(0)
        })?;
        Ok(Self { store, name: name.clone(), model: model.cloned(), seen, settled: seen, _lock: lock })
    }
}

impl Rebuild for SqliteRebuild<'_> {
    fn pending(&mut self, rows_max: usize) -> Result<Vec<Chunk>, IndexError> {
        let (hits, last) = self.store.look(&self.name, |view| view.rows_after(self.seen, rows_max))?;
        self.settled = self.seen;
        self.seen = last;
        Ok(hits
            .into_iter()
            .map(|hit| Chunk { text: hit.text, vector: vec![], metadata: hit.metadata })
            .collect())
    }

    fn skip_pending(&mut self) -> Result<(), IndexError> {
        self.seen = self.store.look(&self.name, |view| view.last_row())?;
        Ok(())
    }

    fn write(&mut self, rows: &[Chunk]) -> Result<Written, IndexError> {
        bounded(rows)?;
        let (model, settled) = (self.model.as_ref(), self.settled);
        self.store.change(&self.name, false, |connection, meta, faults| {
            let written = rows::RowWriter::new(connection, Set::Next, model, false, faults)?.write(rows)?;
            let count = meta.rows(Set::Next) + written.written as u64;
            meta::set_rows(connection, Set::Next, count, faults)?;
            // With the rows, so that a rebuild that is taken up again has written all that it has seen.
            meta::set_seen(connection, settled, faults)?;
            Ok(written)
        })
    }

    fn finish(&mut self) -> Result<u64, IndexError> {
        let seen = self.seen;
        let rows = self.store.change(&self.name, false, |connection, meta, faults| {
            let sql = format!("SELECT count(*) FROM chunks WHERE id > {seen}");
            let rows = u64::try_from(number(connection, &sql, faults)?).unwrap_or(0);
            if rows > 0 {
                return Err(IndexError::ChangedMeanwhile { name: faults.name().to_owned(), rows });
            }
            let model = meta.model(Set::Next);
            let rows = meta.rows(Set::Next);
            schema::swap(connection, faults)?;
            meta::set_model(connection, Set::Live, model.as_ref(), faults)?;
            meta::set_model(connection, Set::Next, None, faults)?;
            meta::set_rows(connection, Set::Live, rows, faults)?;
            meta::set_last_indexed(connection, faults)?;
            meta::next_epoch(connection, faults)?;
            Ok(rows)
        })?;
        // The swap is done whatever becomes of the note, which a list does not rely on.
        let _ = self.store.note(&self.name, None);
        Ok(rows)
    }

    fn abandon(&mut self) -> Result<(), IndexError> {
        self.store.change(&self.name, false, |connection, _, faults| {
            schema::remove(connection, Set::Next, faults)?;
            meta::set_model(connection, Set::Next, None, faults)
        })
    }
}
