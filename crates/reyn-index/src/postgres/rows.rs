//! Writing and removing the rows of a set: row, vector, words and counts together, within the caller's transaction.

use std::collections::{BTreeMap, HashMap, HashSet};

use postgres::Transaction;
use postgres::binary_copy::BinaryCopyInWriter;
use postgres::types::{ToSql, Type};
use reyn_core::embedding::ModelIdentity;

use super::codes;
use super::condition::Conditions;
use super::fault::Faults;
use super::set::Set;
use crate::chunk::Chunk;
use crate::error::IndexError;
use crate::filter::{COLUMNS, FacetNumbers, facets};
use crate::keyword;
use crate::prepared::{Prepared, prepare};
use crate::store::Written;

/// Rows that are prepared and sent at a time.
const BLOCK_ROWS: usize = 2_000;

/// Rows from which on the server counts values whenever a set has doubled. Its own counting comes minutes later,
/// and until then it may look up row by row what it had better read through.
const COUNTED_FROM: u64 = 1_000;

/// A row with its number.
struct New<'a> {
    id: i64,
    row: Prepared<'a>,
    /// Its terms, each as often as it is there; nothing when it is not found by words.
    terms: Option<String>,
}

impl New<'_> {
    fn length(&self) -> Option<i32> {
        self.terms.as_ref().map(|terms| i32::try_from(terms.split_whitespace().count()).unwrap_or(i32::MAX))
    }
}

/// Writes rows into a set; one whose hash is there is skipped.
pub(super) fn write(
    transaction: &mut Transaction<'_>,
    set: &mut Set,
    rows: &[Chunk],
    model: Option<&ModelIdentity>,
    is_without_words: bool,
    faults: Faults<'_>,
) -> Result<Written, IndexError> {
    let mut written = Written::default();
    let before = set.rows;
    for (block, from) in rows.chunks(BLOCK_ROWS).zip((0..).step_by(BLOCK_ROWS)) {
        let prepared: Vec<Prepared<'_>> =
            block.iter().zip(from..).map(|(row, at)| prepare(at, row, model)).collect::<Result<_, _>>()?;
        let mut known = known_hashes(transaction, set, &prepared, faults)?;
        let mut new = vec![];
        for row in prepared {
            if !known.insert(row.metadata.content_hash.clone()) {
                written.skipped += 1;
                continue;
            }
            set.last_row += 1;
            let parent = row.metadata.parent_context.as_deref();
            let terms = (!is_without_words).then(|| keyword::indexed(row.text, parent));
            new.push(New { id: set.last_row, row, terms });
        }
        copy_rows(transaction, set, &new, faults)?;
        copy_vectors(transaction, set, &new, faults)?;
        set.rows += new.len() as u64;
        let vectors = new.iter().map(|new| (new.id, new.row.vector.as_slice()));
        codes::write(transaction, set, vectors.filter(|(_, vector)| !vector.is_empty()), faults)?;
        codes::begin(transaction, set, faults)?;
        if !is_without_words {
            write_words(transaction, set, &new, faults)?;
        }
        written.written += new.len();
    }
    if set.rows >= COUNTED_FROM && set.rows.ilog2() > before.max(1).ilog2() {
        let sql = set.sql(
            "SET LOCAL default_statistics_target = 10;
             ANALYZE rows_#, vectors_#(id), codes_#(id), terms_#, postings_#",
        );
        faults.of(transaction.batch_execute(&sql))?;
    }
    Ok(written)
}

fn known_hashes(
    transaction: &mut Transaction<'_>,
    set: &Set,
    rows: &[Prepared<'_>],
    faults: Faults<'_>,
) -> Result<HashSet<String>, IndexError> {
    let hashes: Vec<&str> = rows.iter().map(|row| row.metadata.content_hash.as_str()).collect();
    let sql = set.sql("SELECT content_hash FROM rows_# WHERE content_hash = ANY($1)");
    let found = faults.of(transaction.query_typed(&sql, &[(&hashes, Type::TEXT_ARRAY)]))?;
    found.iter().map(|row| faults.of(row.try_get(0))).collect()
}

/// Sends rows of values. Vectors go as the bytes that the server receives them in.
pub(super) fn copy(
    transaction: &mut Transaction<'_>,
    sql: &str,
    types: &[Type],
    faults: Faults<'_>,
    fill: impl FnOnce(&mut BinaryCopyInWriter<'_>) -> Result<(), postgres::Error>,
) -> Result<(), IndexError> {
    let writer = faults.of(transaction.copy_in(sql))?;
    let mut writer = BinaryCopyInWriter::new(writer, types);
    faults.of(fill(&mut writer))?;
    faults.of(writer.finish())?;
    Ok(())
}

fn copy_rows(
    transaction: &mut Transaction<'_>,
    set: &Set,
    new: &[New<'_>],
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    let sql = set.sql(
        "COPY rows_#(id, content_hash, text, json, source_path, embedding_model, chunk_index, size_tokens,
                     length, facets) FROM STDIN BINARY",
    );
    let types = [
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::INT8,
        Type::INT4,
        Type::INT8_ARRAY,
    ];
    let mut numbers = FacetNumbers::default();
    copy(transaction, &sql, &types, faults, |writer| {
        for new in new {
            let metadata = &new.row.metadata;
            let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
            let facets: Vec<i64> = facets(metadata)
                .filter(|(key, _)| !COLUMNS.contains(key))
                .map(|(key, value)| numbers.of(key, value))
                .collect();
            let values: [&(dyn ToSql + Sync); 10] = [
                &new.id,
                &metadata.content_hash,
                &new.row.text,
                &new.row.json,
                &new.row.path,
                &metadata.embedding_model,
                &number(metadata.chunk_index),
                &number(metadata.size_tokens),
                &new.length(),
                &facets,
            ];
            writer.write(&values)?;
        }
        Ok(())
    })
}

fn copy_vectors(
    transaction: &mut Transaction<'_>,
    set: &Set,
    new: &[New<'_>],
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    if new.iter().all(|new| new.row.vector.is_empty()) {
        return Ok(());
    }
    let sql = set.sql("COPY vectors_#(id, vector) FROM STDIN BINARY");
    copy(transaction, &sql, &[Type::INT8, Type::BYTEA], faults, |writer| {
        for new in new.iter().filter(|new| !new.row.vector.is_empty()) {
            let vector = &new.row.vector;
            let mut bytes = Vec::with_capacity(vector.len() * 4 + 4);
            bytes.extend(u16::try_from(vector.len()).unwrap_or(u16::MAX).to_be_bytes());
            bytes.extend([0; 2]);
            bytes.resize(vector.len() * 4 + 4, 0);
            for (bytes, number) in bytes[4..].as_chunks_mut::<4>().0.iter_mut().zip(vector) {
                *bytes = number.to_be_bytes();
            }
            writer.write(&[&new.id, &bytes])?;
        }
        Ok(())
    })
}

/// Writes the terms of rows, and in how many rows each is.
fn write_words(
    transaction: &mut Transaction<'_>,
    set: &mut Set,
    new: &[New<'_>],
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    let mut terms: BTreeMap<&str, Vec<(i64, i32, i16)>> = BTreeMap::new();
    for new in new {
        let Some(words) = &new.terms else { continue };
        let mut counts: HashMap<&str, i16> = HashMap::new();
        for term in words.split_whitespace() {
            let count = counts.entry(term).or_default();
            *count = count.saturating_add(1);
        }
        let length = new.length().unwrap_or(0);
        for (term, count) in counts {
            terms.entry(term).or_default().push((new.id, length, count));
        }
        set.worded += 1;
        set.lengths += u64::try_from(length).unwrap_or(0);
    }
    let ids = number_terms(transaction, set, &terms, faults)?;
    let mut postings: Vec<(i32, i64, i32, i16)> = vec![];
    for (rows, id) in terms.values().zip(&ids) {
        postings.extend(rows.iter().map(|(row, length, count)| (*id, *row, *length, *count)));
    }
    // In the order of the index, where they then lie side by side.
    postings.sort_unstable();
    let sql = set.sql("COPY postings_#(row, term, length, count) FROM STDIN BINARY");
    copy(transaction, &sql, &[Type::INT8, Type::INT4, Type::INT4, Type::INT2], faults, |writer| {
        for (term, row, length, count) in &postings {
            writer.write(&[row, term, length, count])?;
        }
        Ok(())
    })
}

/// Counts the terms' rows, and returns their numbers in the order of the terms.
fn number_terms(
    transaction: &mut Transaction<'_>,
    set: &mut Set,
    terms: &BTreeMap<&str, Vec<(i64, i32, i16)>>,
    faults: Faults<'_>,
) -> Result<Vec<i32>, IndexError> {
    let texts: Vec<&str> = terms.keys().copied().collect();
    let sql = set.sql("SELECT term, id FROM terms_# WHERE term = ANY($1)");
    let mut known: HashMap<String, i32> = HashMap::new();
    for row in faults.of(transaction.query_typed(&sql, &[(&texts, Type::TEXT_ARRAY)]))? {
        known.insert(faults.of(row.try_get(0))?, faults.of(row.try_get(1))?);
    }
    let mut ids = Vec::with_capacity(texts.len());
    for text in &texts {
        let id = match known.get(*text) {
            Some(id) => *id,
            None => {
                set.last_term = set.last_term.checked_add(1).ok_or(IndexError::TooMuch {
                    what: "different terms of a source",
                    is: i32::MAX as usize,
                    max: i32::MAX as usize,
                })?;
                set.last_term
            }
        };
        ids.push(id);
    }
    let rows: Vec<i64> = terms.values().map(|rows| i64::try_from(rows.len()).unwrap_or(i64::MAX)).collect();
    let sql = set.sql(
        "INSERT INTO terms_#(term, id, rows) SELECT * FROM unnest($1, $2, $3)
         ON CONFLICT(term) DO UPDATE SET rows = terms_#.rows + excluded.rows",
    );
    let values: [(&(dyn ToSql + Sync), Type); 3] =
        [(&texts, Type::TEXT_ARRAY), (&ids, Type::INT4_ARRAY), (&rows, Type::INT8_ARRAY)];
    faults.of(transaction.execute_typed(&sql, &values))?;
    Ok(ids)
}

/// Removes the rows that meet the conditions, and returns how many there were.
pub(super) fn remove(
    transaction: &mut Transaction<'_>,
    set: &mut Set,
    conditions: &Conditions,
    faults: Faults<'_>,
) -> Result<u64, IndexError> {
    let sql = set.sql(&format!("DELETE FROM rows_# r WHERE {} RETURNING id, length", conditions.sql));
    let gone = faults.of(transaction.query_typed(&sql, &conditions.values()))?;
    let mut ids: Vec<i64> = Vec::with_capacity(gone.len());
    for row in &gone {
        ids.push(faults.of(row.try_get(0))?);
        let length: Option<i32> = faults.of(row.try_get(1))?;
        if let Some(length) = length {
            set.worded = set.worded.saturating_sub(1);
            set.lengths = set.lengths.saturating_sub(u64::try_from(length).unwrap_or(0));
        }
    }
    if ids.is_empty() {
        return Ok(0);
    }
    set.rows = set.rows.saturating_sub(ids.len() as u64);
    let ids: [(&(dyn ToSql + Sync), Type); 1] = [(&ids, Type::INT8_ARRAY)];
    for sql in ["DELETE FROM vectors_# WHERE id = ANY($1)", "DELETE FROM codes_# WHERE id = ANY($1)"] {
        faults.of(transaction.execute_typed(&set.sql(sql), &ids))?;
    }
    let sql = set.sql(
        "WITH gone AS (DELETE FROM postings_# WHERE row = ANY($1) RETURNING term),
              less AS (SELECT term, count(*) AS rows FROM gone GROUP BY term)
         UPDATE terms_# t SET rows = t.rows - less.rows FROM less WHERE t.id = less.term
         RETURNING t.id, t.rows",
    );
    let mut unused: Vec<i32> = vec![];
    for row in faults.of(transaction.query_typed(&sql, &ids))? {
        if faults.of(row.try_get::<_, i64>(1))? <= 0 {
            unused.push(faults.of(row.try_get(0))?);
        }
    }
    let sql = set.sql("DELETE FROM terms_# WHERE id = ANY($1)");
    faults.of(transaction.execute_typed(&sql, &[(&unused, Type::INT4_ARRAY)]))?;
    Ok(gone.len() as u64)
}
