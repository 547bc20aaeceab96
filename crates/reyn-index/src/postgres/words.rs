//! Looks up the words of a query. The server sums BM25 over the postings and returns the best rows.

use std::collections::HashMap;

use postgres::Transaction;
use postgres::types::{ToSql, Type};

use super::condition::Conditions;
use super::fault::Faults;
use super::set::Set;
use crate::error::IndexError;
use crate::hybrid::idf;
use crate::query_words::{VOCABULARY_MAX, Vocabulary, WordHit, best, query_words};
use crate::store::Query;

/// The rows that share the words best, best first. The constants are those of FTS5, so that both stores rank alike.
pub(super) fn find(
    transaction: &mut Transaction<'_>,
    set: &Set,
    query: &Query<'_>,
    count: usize,
    faults: Faults<'_>,
) -> Result<Vec<WordHit>, IndexError> {
    let words =
        query_words(&mut Terms { transaction: &mut *transaction, set, faults }, query.text, set.rows)?;
    if words.found.is_empty() || words.ideal <= 0.0 || set.worded == 0 {
        return Ok(vec![]);
    }
    let terms: Vec<&str> = words.found.iter().map(|term| term.text.as_str()).collect();
    let weights: Vec<f64> = words.found.iter().map(|term| idf(set.worded, term.rows)).collect();
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    let average = set.lengths.max(1) as f64 / set.worded as f64;
    let limit = i64::try_from(count).unwrap_or(i64::MAX);
    let conditions = Conditions::of_filters(query.filters, 4);
    let filter = if query.filters.is_empty() {
        String::new()
    } else {
        format!("WHERE p.row IN (SELECT r.id FROM rows_# r WHERE {})", conditions.sql)
    };
    let sql = set.sql(&format!(
        "SELECT p.row, sum(a.weight * (p.count * 2.2::float8)
                           / (p.count + 1.2::float8 * (0.25::float8 + 0.75::float8 * p.length / $3))) AS score
         FROM unnest($1, $2) AS a(term, weight) JOIN terms_# t ON t.term = a.term
         JOIN postings_# p ON p.term = t.id {filter}
         GROUP BY p.row ORDER BY score DESC, p.row LIMIT $4"
    ));
    let mut values: Vec<(&(dyn ToSql + Sync), Type)> = vec![
        (&terms, Type::TEXT_ARRAY),
        (&weights, Type::FLOAT8_ARRAY),
        (&average, Type::FLOAT8),
        (&limit, Type::INT8),
    ];
    values.extend(conditions.values());
    let mut hits = vec![];
    for row in faults.of(transaction.query_typed(&sql, &values))? {
        let score: f64 = faults.of(row.try_get(1))?;
        #[expect(clippy::cast_possible_truncation, reason = "a score")]
        hits.push(WordHit { id: faults.of(row.try_get(0))?, share: (score / words.ideal) as f32 });
    }
    Ok(best(hits, count))
}

struct Terms<'t, 'c> {
    transaction: &'t mut Transaction<'c>,
    set: &'t Set,
    faults: Faults<'t>,
}

impl Vocabulary for Terms<'_, '_> {
    fn rows_with(&mut self, terms: &[&str]) -> Result<HashMap<String, u64>, IndexError> {
        let sql = self.set.sql("SELECT term, rows FROM terms_# WHERE term = ANY($1)");
        let rows = self.transaction.query_typed(&sql, &[(&terms, Type::TEXT_ARRAY)]);
        let mut with = HashMap::new();
        for row in self.faults.of(rows)? {
            let rows: i64 = self.faults.of(row.try_get(1))?;
            with.insert(self.faults.of(row.try_get(0))?, u64::try_from(rows).unwrap_or(0));
        }
        Ok(with)
    }

    fn each_beginning_with(&mut self, first: char, see: &mut dyn FnMut(&str, u64)) -> Result<(), IndexError> {
        let end = char::from_u32(u32::from(first) + 1).unwrap_or('{');
        let (first, end) = (first.to_string(), end.to_string());
        let sql = self
            .set
            .sql("SELECT term, rows FROM terms_# WHERE term >= $1 AND term < $2 ORDER BY term LIMIT $3");
        let values: [(&(dyn ToSql + Sync), Type); 3] =
            [(&first, Type::TEXT), (&end, Type::TEXT), (&VOCABULARY_MAX, Type::INT8)];
        for row in self.faults.of(self.transaction.query_typed(&sql, &values))? {
            let rows: i64 = self.faults.of(row.try_get(1))?;
            let term: &str = self.faults.of(row.try_get(0))?;
            see(term, u64::try_from(rows).unwrap_or(0));
        }
        Ok(())
    }
}
