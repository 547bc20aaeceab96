//! Looking at a source: everything in one transaction, so that all of it is of the same moment.

use std::collections::{BTreeMap, HashMap};

use postgres::types::{ToSql, Type};
use postgres::{Row, Transaction};

use super::codes;
use super::condition::Conditions;
use super::fault::Faults;
use super::set::Set;
use super::source::Source;
use super::words;
use crate::chunk::Metadata;
use crate::error::IndexError;
use crate::filter::Filters;
use crate::query_words::WordHit;
use crate::scan::cosine;
use crate::search::{Halves, Neighbour};
use crate::store::{Hit, Query, Stats};
use crate::unit_vector::unit;

/// Rows more than asked for that the server compares: the last digits of its cosines are not ours.
const NEAR_MORE: usize = 8;
/// Rows that are read at a time when all are.
const PAGE_ROWS: i32 = 500;

/// A source as one transaction sees it.
pub(super) struct View<'t, 'c> {
    pub(super) transaction: &'t mut Transaction<'c>,
    pub(super) source: Source,
    pub(super) faults: Faults<'t>,
}

impl Halves for View<'_, '_> {
    fn unit(&self, query: &Query<'_>) -> Result<Option<Vec<f32>>, IndexError> {
        let Some((model, vector)) = query.vector else { return Ok(None) };
        self.source.live.check(model, self.faults)?;
        unit(model, vector, || "the query".to_owned()).map(Some)
    }

    fn near(&mut self, query: &Query<'_>, count: usize) -> Result<Vec<Neighbour>, IndexError> {
        let Some(unit) = self.unit(query)? else { return Ok(vec![]) };
        if self.source.live.model.is_none() {
            return Ok(vec![]);
        }
        let limit = i64::try_from(count.saturating_add(NEAR_MORE)).unwrap_or(i64::MAX);
        let taken = codes::taken(count, &self.source.live);
        let code = taken.and_then(|_| codes::of_query(&self.source.live, &unit));
        let conditions = Conditions::of_filters(query.filters, 4);
        let sql = self.source.live.sql(&near_sql(&conditions.sql, !query.filters.is_empty(), code.is_some()));
        let mut values: Vec<(&(dyn ToSql + Sync), Type)> = vec![
            (&unit, Type::FLOAT4_ARRAY),
            (&limit, Type::INT8),
            (&taken, Type::INT8),
            (&code, Type::TEXT),
        ];
        values.extend(conditions.values());
        let mut near = vec![];
        for row in self.faults.of(self.transaction.query_typed(&sql, &values))? {
            let vector: Vec<f32> = self.faults.of(row.try_get(1))?;
            let id = self.faults.of(row.try_get(0))?;
            near.push(Neighbour { id, cosine: cosine(&vector, &unit), vector });
        }
        near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.id.cmp(&b.id)));
        near.truncate(count);
        Ok(near)
    }

    fn with_words(&mut self, query: &Query<'_>, count: usize) -> Result<Vec<WordHit>, IndexError> {
        words::find(self.transaction, &self.source.live, query, count, self.faults)
    }

    fn vectors_of(&mut self, ids: &[i64]) -> Result<HashMap<i64, Vec<f32>>, IndexError> {
        let sql = self.source.live.sql("SELECT id, vector::real[] FROM vectors_# WHERE id = ANY($1)");
        let mut vectors = HashMap::with_capacity(ids.len());
        for row in self.faults.of(self.transaction.query_typed(&sql, &[(&ids, Type::INT8_ARRAY)]))? {
            vectors.insert(self.faults.of(row.try_get(0))?, self.faults.of(row.try_get(1))?);
        }
        Ok(vectors)
    }

    fn hits(&mut self, order: &[(i64, f32)], query: &Query<'_>) -> Result<Vec<Hit>, IndexError> {
        let sql = self.source.live.sql("SELECT id, text, json FROM rows_# WHERE id = ANY($1)");
        let mut hits = vec![];
        // Almost always the first part is enough: filters were applied, but two values may share a number.
        for part in order.chunks(query.top) {
            let ids: Vec<i64> = part.iter().map(|(id, _)| *id).collect();
            let rows = self.transaction.query_typed(&sql, &[(&ids, Type::INT8_ARRAY)]);
            let mut found = HashMap::new();
            for row in self.faults.of(rows)? {
                let hit = hit(&row, self.faults)?;
                found.insert(hit.id, hit);
            }
            for (id, score) in part {
                let Some(hit) = found.remove(id) else { continue };
                if hits.len() < query.top && query.filters.admits(&hit.metadata) {
                    hits.push(Hit { score: *score, ..hit });
                }
            }
            if hits.len() >= query.top {
                break;
            }
        }
        Ok(hits)
    }
}

impl View<'_, '_> {
    pub(super) fn in_order(&mut self, filters: &Filters, tokens_max: u64) -> Result<Vec<Hit>, IndexError> {
        let conditions = Conditions::of_filters(filters, 0);
        let sql = self.source.live.sql(&format!(
            "SELECT r.id, r.text, r.json FROM rows_# r WHERE {}
             ORDER BY r.source_path, r.chunk_index, r.id",
            conditions.sql
        ));
        let values = conditions.values();
        let kinds: Vec<Type> = values.iter().map(|(_, kind)| kind.clone()).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|(value, _)| *value).collect();
        let statement = self.faults.of(self.transaction.prepare_typed(&sql, &kinds))?;
        let portal = self.faults.of(self.transaction.bind(&statement, &values))?;
        let mut tokens = 0_u64;
        let mut hits = vec![];
        loop {
            let rows = self.faults.of(self.transaction.query_portal(&portal, PAGE_ROWS))?;
            if rows.is_empty() {
                return Ok(hits);
            }
            for row in rows {
                let hit = hit(&row, self.faults)?;
                if !filters.admits(&hit.metadata) {
                    continue;
                }
                tokens = tokens.saturating_add(hit.tokens());
                if tokens > tokens_max {
                    return Ok(hits);
                }
                hits.push(hit);
            }
        }
    }

    pub(super) fn content_hashes(&mut self) -> Result<BTreeMap<String, Vec<String>>, IndexError> {
        let sql = self.source.live.sql(
            "SELECT source_path, content_hash FROM rows_# ORDER BY source_path, chunk_index, content_hash",
        );
        let mut hashes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in self.faults.of(self.transaction.query_typed(&sql, &[]))? {
            let path = self.faults.of(row.try_get(0))?;
            hashes.entry(path).or_default().push(self.faults.of(row.try_get(1))?);
        }
        Ok(hashes)
    }

    pub(super) fn stats(&mut self) -> Result<Stats, IndexError> {
        let sql = self.source.live.sql(
            "SELECT count(*), (SELECT count(*) FROM vectors_#), count(DISTINCT source_path),
                    coalesce(sum(size_tokens), 0)::bigint FROM rows_#",
        );
        let row = self.faults.of(self.transaction.query_one(&sql, &[]))?;
        let count = |at: usize| -> Result<u64, IndexError> {
            let count: i64 = self.faults.of(row.try_get(at))?;
            Ok(u64::try_from(count).unwrap_or(0))
        };
        let (rows, vectors, paths, tokens) = (count(0)?, count(1)?, count(2)?, count(3)?);
        let mut bytes = self.source.live.bytes(self.transaction, self.faults)?;
        if let Some(next) = &self.source.next {
            bytes += next.bytes(self.transaction, self.faults)?;
        }
        Ok(Stats {
            rows,
            vectors,
            paths,
            tokens,
            model: self.source.live.model.clone(),
            last_indexed: self.source.last_indexed.clone(),
            bytes,
            rebuilt_rows: self.source.next.as_ref().map(|next| next.rows),
        })
    }

    /// The rows after one, without their vectors, and the number of the last.
    pub(super) fn rows_after(&mut self, id: i64, rows_max: usize) -> Result<(Vec<Hit>, i64), IndexError> {
        let sql =
            self.source.live.sql("SELECT id, text, json FROM rows_# WHERE id > $1 ORDER BY id LIMIT $2");
        let limit = i64::try_from(rows_max).unwrap_or(i64::MAX);
        let rows = self.transaction.query_typed(&sql, &[(&id, Type::INT8), (&limit, Type::INT8)]);
        let hits: Vec<Hit> =
            self.faults.of(rows)?.iter().map(|row| hit(row, self.faults)).collect::<Result<_, _>>()?;
        let last = hits.last().map_or(id, |hit| hit.id);
        Ok((hits, last))
    }
}

/// How many rows of a set come after one.
pub(super) fn count_after(
    transaction: &mut Transaction<'_>,
    set: &Set,
    id: i64,
    faults: Faults<'_>,
) -> Result<u64, IndexError> {
    let sql = set.sql("SELECT count(*) FROM rows_# WHERE id > $1");
    let row = faults.of(transaction.query_one(&sql, &[&id]))?;
    let rows: i64 = faults.of(row.try_get(0))?;
    Ok(u64::try_from(rows).unwrap_or(0))
}

/// The nearest rows to `$1`, `$2` of them. With codes, of the `$3` whose codes are nearest to `$4`.
fn near_sql(filters: &str, has_filters: bool, has_codes: bool) -> String {
    let from = match (has_codes, has_filters) {
        (true, _) => {
            // Looked up by number: a join reads all codes, however few rows meet the filters.
            let only = if has_filters {
                format!("WHERE c.id = ANY(ARRAY(SELECT r.id FROM rows_# r WHERE {filters}))")
            } else {
                String::new()
            };
            format!(
                "(SELECT c.id FROM codes_# c {only}
                  ORDER BY c.code <~> $4::bit varying, c.id LIMIT $3) AS taken
                 JOIN vectors_# v ON v.id = taken.id"
            )
        }
        (false, true) => format!("vectors_# v JOIN rows_# r ON r.id = v.id WHERE {filters}"),
        (false, false) => "vectors_# v".to_owned(),
    };
    format!(
        "SELECT n.id, n.vector::real[] FROM (
            SELECT v.id FROM {from} ORDER BY v.vector <#> $1::vector, v.id LIMIT $2) AS nearest
         JOIN vectors_# n ON n.id = nearest.id"
    )
}

fn hit(row: &Row, faults: Faults<'_>) -> Result<Hit, IndexError> {
    let id: i64 = faults.of(row.try_get(0))?;
    let json: &str = faults.of(row.try_get(2))?;
    let metadata: Metadata = serde_json::from_str(json)
        .map_err(|error| faults.corrupt(&format!("the metadata of row {id}: {error}")))?;
    Ok(Hit { id, text: faults.of(row.try_get(1))?, metadata, score: 0.0 })
}
