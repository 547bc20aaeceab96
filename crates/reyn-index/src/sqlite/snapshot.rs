//! What a reader keeps in memory of an index: row numbers, codes, and the row sets of recent filters.

use std::sync::Arc;

use rusqlite::{Connection, params};

use super::fault::Faults;
use super::meta::Meta;
use super::schema::Set;
use crate::bounds::FILTER_SETS_MAX;
use crate::error::IndexError;
use crate::filter::{COLUMNS, Condition, Filters, facet_number};
use crate::scan::Codes;

/// The state of the file that it holds.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// The state of the connection's file when it was looked at; a commit of anybody else changes it.
    data_version: Option<i64>,
    epoch: i64,
    last_id: i64,
    ids: Vec<i64>,
    codes: Codes,
    sets: Vec<(Filters, Arc<RowSet>)>,
}

/// The rows that meet some filters.
#[derive(Debug)]
pub(super) struct RowSet {
    /// Their numbers in the file, rising.
    pub(super) ids: Vec<i64>,
    /// Their places among the codes, rising; none until vectors were asked for.
    pub(super) places: Vec<u32>,
}

impl Snapshot {
    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let sets: usize = self.sets.iter().map(|(_, set)| set.ids.len() * 8 + set.places.len() * 4).sum();
        self.codes.bytes() + self.ids.capacity() * size_of::<i64>() + sets
    }

    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The number in the file of a place among the codes.
    pub(super) fn id(&self, place: u32) -> Option<i64> {
        self.ids.get(place as usize).copied()
    }

    /// Brings codes up to what the transaction of `connection` sees. Rows that were added are read; when
    /// others went, all are.
    pub(super) fn refresh(
        &mut self,
        connection: &Connection,
        meta: &Meta,
        faults: Faults<'_>,
    ) -> Result<(), IndexError> {
        let version = self.look(connection, meta, faults)?;
        if self.data_version == Some(version) {
            return Ok(());
        }
        let last: i64 = number(connection, "SELECT coalesce(max(id), 0) FROM codes", faults)?;
        if self.codes.is_empty() {
            self.codes = Codes::new(meta.model(Set::Live).map_or(0, |model| model.dimensions));
            let rows = number(connection, "SELECT count(*) FROM codes", faults)?;
            let rows = usize::try_from(rows).unwrap_or(0);
            self.codes.reserve(rows);
            self.ids.reserve_exact(rows);
        }
        let mut statement =
            faults.of(connection.prepare_cached("SELECT id, code FROM codes WHERE id > ?1 ORDER BY id"))?;
        let mut rows = faults.of(statement.query([self.last_id]))?;
        while let Some(row) = faults.of(rows.next())? {
            let id: i64 = faults.of(row.get(0))?;
            let code = faults.of(row.get_ref(1))?;
            let is_taken = code.as_blob().is_ok_and(|code| self.codes.push(code));
            if !is_taken {
                return Err(faults.corrupt(&format!("the vector of row {id} has another length")));
            }
            self.ids.push(id);
            self.last_id = id;
        }
        self.last_id = self.last_id.max(last);
        self.data_version = Some(version);
        Ok(())
    }

    /// Forgets what is stale and returns the version that is current.
    fn look(&mut self, connection: &Connection, meta: &Meta, faults: Faults<'_>) -> Result<i64, IndexError> {
        let version = number(connection, "PRAGMA data_version", faults)?;
        if self.data_version != Some(version) {
            self.sets.clear();
            if self.epoch != meta.epoch() {
                *self = Self { epoch: meta.epoch(), ..Self::default() };
            }
        }
        Ok(version)
    }

    /// The rows that meet the filters; nothing when there are none to meet. Call after [`Snapshot::refresh`].
    pub(super) fn row_set(
        &mut self,
        connection: &Connection,
        filters: &Filters,
        faults: Faults<'_>,
    ) -> Result<Option<Arc<RowSet>>, IndexError> {
        if filters.is_empty() {
            return Ok(None);
        }
        if let Some(at) = self.sets.iter().position(|(known, _)| known == filters) {
            let known = self.sets.remove(at);
            let set = Arc::clone(&known.1);
            self.sets.push(known);
            return Ok(Some(set));
        }
        let ids = matching(connection, filters, faults)?;
        let places = self.places(&ids);
        let set = Arc::new(RowSet { ids, places });
        if self.sets.len() >= FILTER_SETS_MAX {
            self.sets.remove(0);
        }
        self.sets.push((filters.clone(), Arc::clone(&set)));
        Ok(Some(set))
    }

    /// Both lists rise, so each id is looked for behind the one before.
    fn places(&self, ids: &[i64]) -> Vec<u32> {
        let mut places = Vec::with_capacity(ids.len().min(self.ids.len()));
        let mut from = 0;
        for id in ids {
            match self.ids[from..].binary_search(id) {
                Ok(at) => {
                    from += at + 1;
                    places.extend(u32::try_from(from - 1));
                }
                Err(at) => from += at,
            }
        }
        places
    }
}

/// The numbers of the rows that meet all filters, rising.
pub(super) fn matching(
    connection: &Connection,
    filters: &Filters,
    faults: Faults<'_>,
) -> Result<Vec<i64>, IndexError> {
    let mut common: Option<Vec<i64>> = None;
    for condition in filters.iter() {
        let ids = meeting(connection, condition, faults)?;
        common = Some(match common {
            None => ids,
            Some(mut before) => {
                before.retain(|id| ids.binary_search(id).is_ok());
                before
            }
        });
    }
    Ok(common.unwrap_or_default())
}

fn meeting(
    connection: &Connection,
    condition: Condition<'_>,
    faults: Faults<'_>,
) -> Result<Vec<i64>, IndexError> {
    match condition {
        Condition::Below(path) => below(connection, Set::Live, path, faults),
        Condition::Equal(key, value) if COLUMNS.contains(&key) => {
            let sql = format!("SELECT id FROM chunks WHERE {key} = ?1 ORDER BY id");
            ids(connection, &sql, params![value], faults)
        }
        Condition::Equal(key, value) => ids(
            connection,
            "SELECT id FROM facets WHERE facet = ?1 ORDER BY id",
            params![facet_number(key, value)],
            faults,
        ),
    }
}

/// The rows of a path and of everything below it, rising.
pub(super) fn below(
    connection: &Connection,
    set: Set,
    path: &str,
    faults: Faults<'_>,
) -> Result<Vec<i64>, IndexError> {
    if path.is_empty() {
        return ids(connection, &set.sql("SELECT id FROM {}chunks ORDER BY id"), [], faults);
    }
    // `0` follows `/`, so this is the range of what begins with the folder.
    let sql = set.sql(
        "SELECT id FROM {}chunks WHERE source_path = ?1
         UNION ALL SELECT id FROM {}chunks WHERE source_path > ?1 || '/' AND source_path < ?1 || '0' ORDER BY 1",
    );
    ids(connection, &sql, [path], faults)
}

pub(super) fn ids(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    faults: Faults<'_>,
) -> Result<Vec<i64>, IndexError> {
    let mut statement = faults.of(connection.prepare_cached(sql))?;
    let rows = faults.of(statement.query_map(parameters, |row| row.get(0)))?;
    faults.of(rows.collect())
}

pub(super) fn number(connection: &Connection, sql: &str, faults: Faults<'_>) -> Result<i64, IndexError> {
    faults.of(connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([], |row| row.get(0))))
}
