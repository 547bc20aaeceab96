//! Looking at an index: everything in one transaction, so that all of it is of the same moment.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension as _};

use super::fault::Faults;
use super::meta::Meta;
use super::schema::Set;
use super::snapshot::{Snapshot, number};
use super::source::{Reader, Source};
use super::{rebuild, snapshot, words};
use crate::bounds::TOP_MAX;
use crate::chunk::Metadata;
use crate::error::IndexError;
use crate::filter::Filters;
use crate::query_words::WordHit;
use crate::scan::cosine;
use crate::search::{Halves, Neighbour};
use crate::store::{Hit, Query, Stats};
use crate::unit_vector::unit;

/// Rows of the first pass that are compared exactly, at least and for each row that is returned.
const EXACT_MIN: usize = 256;
const EXACT_PER_TOP: usize = 8;

/// An index as one transaction sees it.
pub(super) struct View<'a> {
    connection: &'a Connection,
    pub(super) meta: Meta,
    snapshot: &'a mut Snapshot,
    faults: Faults<'a>,
}

/// Looks at a source; nothing when it was dropped.
pub(super) fn look<T>(
    source: &Source,
    look: impl FnOnce(&mut View<'_>) -> Result<T, IndexError>,
) -> Result<Option<T>, IndexError> {
    let faults = source.faults();
    let mut reader = source.reader();
    let Reader { connection, snapshot } = &mut *reader;
    let transaction = faults.of(connection.transaction())?;
    let meta = Meta::read(&transaction, faults)?;
    if meta.is_dropped() {
        return Ok(None);
    }
    let mut view = View { connection: &transaction, meta, snapshot, faults };
    look(&mut view).map(Some)
}

impl View<'_> {
    pub(super) fn rows(&self) -> Result<u64, IndexError> {
        Ok(self.meta.rows(Set::Live))
    }
}

impl Halves for View<'_> {
    fn unit(&self, query: &Query<'_>) -> Result<Option<Vec<f32>>, IndexError> {
        let Some((model, vector)) = query.vector else { return Ok(None) };
        self.meta.check(Set::Live, model, self.faults)?;
        unit(model, vector, || "the query".to_owned()).map(Some)
    }

    fn near(&mut self, query: &Query<'_>, count: usize) -> Result<Vec<Neighbour>, IndexError> {
        let Some(unit) = self.unit(query)? else { return Ok(vec![]) };
        self.snapshot.refresh(self.connection, &self.meta, self.faults)?;
        let set = self.snapshot.row_set(self.connection, query.filters, self.faults)?;
        let first = count.saturating_mul(EXACT_PER_TOP).clamp(EXACT_MIN, TOP_MAX * EXACT_PER_TOP);
        let places = set.as_ref().map(|set| set.places.as_slice());
        let mut near = vec![];
        for candidate in self.snapshot.codes().nearest(&unit, first, places) {
            let Some(id) = self.snapshot.id(candidate.row) else { continue };
            let vector = self.vector_of(id)?;
            if vector.len() != unit.len() {
                return Err(self.faults.corrupt(&format!("the vector of row {id} has another length")));
            }
            near.push(Neighbour { id, cosine: cosine(&vector, &unit), vector });
        }
        near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.id.cmp(&b.id)));
        near.truncate(count);
        Ok(near)
    }

    fn with_words(&mut self, query: &Query<'_>, count: usize) -> Result<Vec<WordHit>, IndexError> {
        self.snapshot.refresh(self.connection, &self.meta, self.faults)?;
        let set = self.snapshot.row_set(self.connection, query.filters, self.faults)?;
        let among = set.as_ref().map(|set| set.ids.as_slice());
        words::find(self.connection, query.text, self.meta.rows(Set::Live), count, among, self.faults)
    }

    fn vectors_of(&mut self, ids: &[i64]) -> Result<HashMap<i64, Vec<f32>>, IndexError> {
        let mut vectors = HashMap::with_capacity(ids.len());
        for id in ids {
            let vector = self.vector_of(*id)?;
            if !vector.is_empty() {
                vectors.insert(*id, vector);
            }
        }
        Ok(vectors)
    }

    fn hits(&mut self, order: &[(i64, f32)], query: &Query<'_>) -> Result<Vec<Hit>, IndexError> {
        let mut hits = vec![];
        for (id, score) in order.iter().copied() {
            if hits.len() >= query.top {
                break;
            }
            let sql = "SELECT id, text, metadata_json FROM chunks WHERE id = ?1";
            let mut statement = self.faults.of(self.connection.prepare_cached(sql))?;
            let row = self.faults.of(statement.query_row([id], parts).optional())?;
            let Some(row) = row else { continue };
            let hit = self.hit(row, score)?;
            // Two values may share a number among the facets.
            if query.filters.admits(&hit.metadata) {
                hits.push(hit);
            }
        }
        Ok(hits)
    }
}

impl View<'_> {
    /// The exact vector of a row; empty when it has none.
    fn vector_of(&self, id: i64) -> Result<Vec<f32>, IndexError> {
        let mut statement =
            self.faults.of(self.connection.prepare_cached("SELECT vector FROM chunks WHERE id = ?1"))?;
        let mut rows = self.faults.of(statement.query([id]))?;
        let Some(row) = self.faults.of(rows.next())? else { return Ok(vec![]) };
        let bytes = self.faults.of(row.get_ref(0))?;
        let bytes = bytes.as_blob().map_err(|_| self.faults.corrupt("a vector is no bytes"))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    fn hit(&self, (id, text, json): (i64, String, String), score: f32) -> Result<Hit, IndexError> {
        let metadata: Metadata = serde_json::from_str(&json)
            .map_err(|error| self.faults.corrupt(&format!("the metadata of row {id}: {error}")))?;
        Ok(Hit { id, text, metadata, score })
    }

    pub(super) fn in_order(&mut self, filters: &Filters, tokens_max: u64) -> Result<Vec<Hit>, IndexError> {
        self.snapshot.refresh(self.connection, &self.meta, self.faults)?;
        let set = self.snapshot.row_set(self.connection, filters, self.faults)?;
        let sql = "SELECT id, text, metadata_json FROM chunks ORDER BY source_path, chunk_index, id";
        let mut statement = self.faults.of(self.connection.prepare_cached(sql))?;
        let mut rows = self.faults.of(statement.query([]))?;
        let mut tokens = 0_u64;
        let mut hits = vec![];
        while let Some(row) = self.faults.of(rows.next())? {
            let id: i64 = self.faults.of(row.get(0))?;
            if set.as_ref().is_some_and(|set| set.ids.binary_search(&id).is_err()) {
                continue;
            }
            let hit = self.hit(self.faults.of(parts(row))?, 0.0)?;
            if !filters.admits(&hit.metadata) {
                continue;
            }
            tokens = tokens.saturating_add(hit.tokens());
            if tokens > tokens_max {
                break;
            }
            hits.push(hit);
        }
        Ok(hits)
    }

    pub(super) fn content_hashes(&self) -> Result<BTreeMap<String, Vec<String>>, IndexError> {
        let sql = "SELECT source_path, content_hash FROM chunks ORDER BY source_path, chunk_index";
        let mut statement = self.faults.of(self.connection.prepare_cached(sql))?;
        let mut rows = self.faults.of(statement.query([]))?;
        let mut hashes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        while let Some(row) = self.faults.of(rows.next())? {
            let (path, hash) = self.faults.of(row.get(0).and_then(|path: String| Ok((path, row.get(1)?))))?;
            hashes.entry(path).or_default().push(hash);
        }
        Ok(hashes)
    }

    pub(super) fn stats(&self, bytes: u64) -> Result<Stats, IndexError> {
        let count = |sql: &str| -> Result<u64, IndexError> {
            Ok(u64::try_from(number(self.connection, sql, self.faults)?).unwrap_or(0))
        };
        let rebuilt_rows = if rebuild::has_next(self.connection, self.faults)? {
            Some(count("SELECT count(*) FROM next_chunks")?)
        } else {
            None
        };
        Ok(Stats {
            rows: count("SELECT count(*) FROM chunks")?,
            vectors: count("SELECT count(*) FROM codes")?,
            paths: count("SELECT count(DISTINCT source_path) FROM chunks")?,
            tokens: count("SELECT coalesce(sum(size_tokens), 0) FROM chunks")?,
            model: self.meta.model(Set::Live),
            last_indexed: self.meta.last_indexed(),
            bytes,
            rebuilt_rows,
        })
    }

    /// The rows after one, without their vectors, and the number of the last.
    pub(super) fn rows_after(&self, id: i64, rows_max: usize) -> Result<(Vec<Hit>, i64), IndexError> {
        let sql = "SELECT id, text, metadata_json FROM chunks WHERE id > ?1 ORDER BY id LIMIT ?2";
        let mut statement = self.faults.of(self.connection.prepare_cached(sql))?;
        let limit = i64::try_from(rows_max).unwrap_or(i64::MAX);
        let rows = self.faults.of(statement.query_map([id, limit], parts))?;
        let rows: Vec<_> = self.faults.of(rows.collect())?;
        let last = rows.last().map_or(id, |row: &(i64, String, String)| row.0);
        let hits = rows.into_iter().map(|row| self.hit(row, 0.0)).collect::<Result<_, _>>()?;
        Ok((hits, last))
    }

    /// The number of the last row.
    pub(super) fn last_row(&self) -> Result<i64, IndexError> {
        snapshot::number(self.connection, "SELECT coalesce(max(id), 0) FROM chunks", self.faults)
    }
}

fn parts(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, String, String)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}
