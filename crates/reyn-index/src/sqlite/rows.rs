//! Writing and removing the rows of a set of tables: chunk, code, facets and words together, within the
//! caller's transaction.

use reyn_core::embedding::ModelIdentity;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::fault::Faults;
use super::schema::Set;
use crate::chunk::{Chunk, Metadata};
use crate::error::IndexError;
use crate::filter::{COLUMNS, FacetNumbers, facet_number, facets};
use crate::keyword;
use crate::prepared::{Prepared, prepare};
use crate::scan;
use crate::store::Written;
use crate::unit_vector::little_endian;

/// Writes rows into one set of tables.
pub(super) struct RowWriter<'c> {
    faults: Faults<'c>,
    model: Option<&'c ModelIdentity>,
    chunk: CachedStatement<'c>,
    code: CachedStatement<'c>,
    facet: CachedStatement<'c>,
    words: Option<CachedStatement<'c>>,
    connection: &'c Connection,
    numbers: FacetNumbers,
}

impl<'c> RowWriter<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        set: Set,
        model: Option<&'c ModelIdentity>,
        is_without_words: bool,
        faults: Faults<'c>,
    ) -> Result<Self, IndexError> {
        let prepare = |sql: &str| faults.of(connection.prepare_cached(&set.sql(sql)));
        Ok(Self {
            faults,
            model,
            chunk: prepare(
                "INSERT OR IGNORE INTO {}chunks(content_hash, text, metadata_json, source_path, source_type,
                    embedding_model, chunk_index, size_tokens, parent_context, external, vector)
                 VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?,
            code: prepare("INSERT INTO {}codes(id, code) VALUES(?1, ?2)")?,
            facet: prepare("INSERT OR IGNORE INTO {}facets(facet, id) VALUES(?1, ?2)")?,
            words: if is_without_words {
                None
            } else {
                Some(prepare("INSERT INTO {}words(rowid, terms) VALUES(?1, ?2)")?)
            },
            connection,
            numbers: FacetNumbers::default(),
        })
    }

    /// Writes rows; one whose hash is there is skipped.
    pub(super) fn write(&mut self, rows: &[Chunk]) -> Result<Written, IndexError> {
        let mut written = Written::default();
        for (at, row) in rows.iter().enumerate() {
            if self.write_row(at, row)? {
                written.written += 1;
            } else {
                written.skipped += 1;
            }
        }
        Ok(written)
    }

    fn write_row(&mut self, at: usize, row: &Chunk) -> Result<bool, IndexError> {
        let Prepared { text, path, metadata, json, vector } = prepare(at, row, self.model)?;
        let bytes = little_endian(&vector);
        let inserted = self.faults.of(self.chunk.execute(params![
            metadata.content_hash,
            text,
            json,
            path,
            metadata.source_type,
            metadata.embedding_model,
            i64::try_from(metadata.chunk_index).unwrap_or(i64::MAX),
            i64::try_from(metadata.size_tokens).unwrap_or(i64::MAX),
            metadata.parent_context,
            metadata.external,
            bytes,
        ]))?;
        if inserted == 0 {
            return Ok(false);
        }
        let id = self.connection.last_insert_rowid();
        if !vector.is_empty() {
            self.faults.of(self.code.execute(params![id, scan::encode(&vector)]))?;
        }
        for (key, value) in facets(&metadata).filter(|(key, _)| !COLUMNS.contains(key)) {
            let number = self.numbers.of(key, value);
            self.faults.of(self.facet.execute([number, id]))?;
        }
        if let Some(words) = &mut self.words {
            let terms = keyword::indexed(text, metadata.parent_context.as_deref());
            self.faults.of(words.execute(params![id, terms]))?;
        }
        Ok(true)
    }
}

/// Removes rows by their numbers from all tables of a set, and returns how many there were.
pub(super) fn remove(
    connection: &Connection,
    set: Set,
    ids: &[i64],
    faults: Faults<'_>,
) -> Result<u64, IndexError> {
    let prepare = |sql: &str| faults.of(connection.prepare_cached(&set.sql(sql)));
    let mut metadata = prepare("SELECT metadata_json FROM {}chunks WHERE id = ?1")?;
    let mut facet = prepare("DELETE FROM {}facets WHERE facet = ?1 AND id = ?2")?;
    let mut words = prepare("DELETE FROM {}words WHERE rowid = ?1")?;
    let mut code = prepare("DELETE FROM {}codes WHERE id = ?1")?;
    let mut chunk = prepare("DELETE FROM {}chunks WHERE id = ?1")?;
    let mut removed = 0;
    for id in ids {
        let json: Option<String> = faults.of(metadata.query_row([id], |row| row.get(0)).optional())?;
        let Some(json) = json else { continue };
        let known: Metadata =
            serde_json::from_str(&json).map_err(|error| faults.corrupt(&error.to_string()))?;
        for (key, value) in facets(&known) {
            faults.of(facet.execute([facet_number(key, &value), *id]))?;
        }
        faults.of(words.execute([id]))?;
        faults.of(code.execute([id]))?;
        faults.of(chunk.execute([id]))?;
        removed += 1;
    }
    Ok(removed)
}

/// Removes every row of a set, without reading it.
pub(super) fn clear(connection: &Connection, set: Set, faults: Faults<'_>) -> Result<(), IndexError> {
    faults.of(connection.execute_batch(&set.sql(
        "DELETE FROM {}chunks; DELETE FROM {}codes; DELETE FROM {}facets;
         INSERT INTO {}words({}words) VALUES('delete-all');",
    )))
}
