//! Filling a second set beside the live one, and putting it in its place.

use reyn_core::embedding::ModelIdentity;

use super::source_lock::PostgresLock;
use super::{PostgresStore, read, rows, set::Set};
use crate::chunk::Chunk;
use crate::error::IndexError;
use crate::prepared::bounded;
use crate::source_name::SourceName;
use crate::store::{Rebuild, Written};

/// An unfinished rebuild of a source. It works through the connection that holds the lock, so it cannot go on
/// after the lock is lost.
pub(super) struct PostgresRebuild<'s> {
    store: &'s PostgresStore,
    name: SourceName,
    model: Option<ModelIdentity>,
    seen: i64,
    /// What was seen before the last rows were handed out, which may not be written yet.
    settled: i64,
    lock: PostgresLock,
}

impl<'s> PostgresRebuild<'s> {
    pub(super) fn begin(
        store: &'s PostgresStore,
        name: &SourceName,
        model: Option<&ModelIdentity>,
    ) -> Result<Self, IndexError> {
        let mut lock = store.lock(name)?;
        let seen = store.change_with(&mut lock.client, name, false, |transaction, source, faults| {
            if let Some(next) = source.next.take() {
                if next.model.as_ref() == model {
                    source.next = Some(next);
                    return Ok(source.seen);
                }
                next.drop(transaction, faults)?;
            }
            source.next = Some(Set::create(transaction, model, 0, faults)?);
            source.seen = 0;
            Ok(0)
        })?;
        Ok(Self { store, name: name.clone(), model: model.cloned(), seen, settled: seen, lock })
    }
}

impl Rebuild for PostgresRebuild<'_> {
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
        self.seen = self.store.look(&self.name, |view| Ok(view.source.live.last_row))?;
        Ok(())
    }

    fn write(&mut self, chunks: &[Chunk]) -> Result<Written, IndexError> {
        bounded(chunks)?;
        let (model, settled) = (self.model.as_ref(), self.settled);
        self.store.change_with(&mut self.lock.client, &self.name, false, |transaction, source, faults| {
            let next = source.next.as_mut().ok_or_else(|| faults.corrupt("its rebuild is not there"))?;
            let written = rows::write(transaction, next, chunks, model, false, faults)?;
            // With the rows, so that a rebuild that is taken up again has written all that it has seen.
            source.seen = settled;
            Ok(written)
        })
    }

    fn finish(&mut self) -> Result<u64, IndexError> {
        let seen = self.seen;
        self.store.change_with(&mut self.lock.client, &self.name, false, |transaction, source, faults| {
            let rows = read::count_after(transaction, &source.live, seen, faults)?;
            if rows > 0 {
                return Err(IndexError::ChangedMeanwhile { name: faults.name.to_owned(), rows });
            }
            let next = source.next.take().ok_or_else(|| faults.corrupt("its rebuild is not there"))?;
            let rows = next.rows;
            let old = std::mem::replace(&mut source.live, next);
            old.drop(transaction, faults)?;
            source.seen = 0;
            source.is_written_now();
            Ok(rows)
        })
    }

    fn abandon(&mut self) -> Result<(), IndexError> {
        self.store.change_with(&mut self.lock.client, &self.name, false, |transaction, source, faults| {
            match source.next.take() {
                Some(next) => next.drop(transaction, faults),
                None => Ok(()),
            }
        })
    }
}
