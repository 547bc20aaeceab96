//! Looks up the words of a query in the FTS5 table.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _};

use super::fault::Faults;
use crate::error::IndexError;
use crate::query_words::{Known, VOCABULARY_MAX, Vocabulary, WordHit, best, query_words};

/// The table of terms and in how many rows they are, for one connection.
pub(super) const VOCABULARY: &str =
    "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row')";

/// The `count` rows that share the words best, best first; of `among` alone when given, which rises.
pub(super) fn find(
    connection: &Connection,
    text: &str,
    rows: u64,
    count: usize,
    among: Option<&[i64]>,
    faults: Faults<'_>,
) -> Result<Vec<WordHit>, IndexError> {
    let words = query_words(&mut Terms { connection, faults }, text, rows)?;
    if words.found.is_empty() || words.ideal <= 0.0 || among.is_some_and(<[i64]>::is_empty) {
        return Ok(vec![]);
    }
    let sql = match among {
        None => "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT ?2",
        Some(_) => "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1 LIMIT -1 + 0 * ?2",
    };
    let mut statement = faults.of(connection.prepare_cached(sql))?;
    let limit = i64::try_from(count).unwrap_or(i64::MAX);
    let mut found = faults.of(statement.query(rusqlite::params![expression(&words.found), limit]))?;
    let mut hits = vec![];
    while let Some(row) = faults.of(found.next())? {
        let id: i64 = faults.of(row.get(0))?;
        if among.is_some_and(|ids| ids.binary_search(&id).is_err()) {
            continue;
        }
        let score: f64 = faults.of(row.get(1))?;
        #[expect(clippy::cast_possible_truncation, reason = "a score")]
        hits.push(WordHit { id, share: (-score / words.ideal) as f32 });
    }
    Ok(best(hits, count))
}

struct Terms<'c> {
    connection: &'c Connection,
    faults: Faults<'c>,
}

impl Vocabulary for Terms<'_> {
    fn rows_with(&mut self, terms: &[&str]) -> Result<HashMap<String, u64>, IndexError> {
        let sql = "SELECT doc FROM temp.vocabulary WHERE term = ?1";
        let mut statement = self.faults.of(self.connection.prepare_cached(sql))?;
        let mut with = HashMap::new();
        for term in terms {
            let rows: Option<i64> =
                self.faults.of(statement.query_row([term], |row| row.get(0)).optional())?;
            if let Some(rows) = rows.and_then(|rows| u64::try_from(rows).ok()) {
                with.insert((*term).to_owned(), rows);
            }
        }
        Ok(with)
    }

    fn each_beginning_with(&mut self, first: char, see: &mut dyn FnMut(&str, u64)) -> Result<(), IndexError> {
        let end = char::from_u32(u32::from(first) + 1).unwrap_or('{');
        let sql = "SELECT term, doc FROM temp.vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3";
        let mut statement = self.faults.of(self.connection.prepare_cached(sql))?;
        let bounds = rusqlite::params![first.to_string(), end.to_string(), VOCABULARY_MAX];
        let mut rows = self.faults.of(statement.query(bounds))?;
        while let Some(row) = self.faults.of(rows.next())? {
            let rows: i64 = self.faults.of(row.get(1))?;
            let term = self.faults.of(row.get_ref(0))?;
            if let (Ok(term), Ok(rows)) = (term.as_str(), u64::try_from(rows)) {
                see(term, rows);
            }
        }
        Ok(())
    }
}

/// The query for the table.
fn expression(found: &[Known]) -> String {
    let quoted: Vec<String> =
        found.iter().map(|term| format!("\"{}\"", term.text.replace('"', "\"\""))).collect();
    quoted.join(" OR ")
}
