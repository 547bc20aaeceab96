//! Looks up the words of a query.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _};

use super::fault::Faults;
use crate::bounds::{QUERY_BYTES_MAX, QUERY_TERMS_MAX};
use crate::error::IndexError;
use crate::hybrid::idf;
use crate::keyword::{Term, TermKind, terms};
use crate::typo;

/// Rows that the looked up terms may be in, summed; beyond, the least telling terms are left out.
const POSTINGS_MAX: u64 = 50_000;

/// Rows from which on a term that half of them have is left out.
const MANY_ROWS: u64 = 1_000;
/// Words of a query for which one that was meant is looked for.
const CORRECTIONS_MAX: usize = 8;
/// Terms of the vocabulary that are compared with one word.
const VOCABULARY_MAX: i64 = 50_000;

/// The table of terms and in how many rows they are, for one connection.
pub(super) const VOCABULARY: &str =
    "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row')";

/// A row that has some of the words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WordHit {
    pub(super) id: i64,
    /// BM25 as a share of what a row of average length with each term of the query once has.
    pub(super) share: f32,
}

/// A term of the query and how telling it is.
struct Known {
    text: String,
    rows: u64,
    weight: f64,
}

/// The `count` rows that share the words best, best first; of `among` alone when given, which rises.
pub(super) fn find(
    connection: &Connection,
    text: &str,
    rows: u64,
    count: usize,
    among: Option<&[i64]>,
    faults: Faults<'_>,
) -> Result<Vec<WordHit>, IndexError> {
    let known = telling(known(connection, text, rows, faults)?, rows);
    let ideal: f64 = known.iter().map(|term| term.weight).sum();
    let expression = expression(&known);
    if expression.is_empty() || ideal <= 0.0 || among.is_some_and(<[i64]>::is_empty) {
        return Ok(vec![]);
    }
    let sql = match among {
        None => "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT ?2",
        Some(_) => "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1 LIMIT -1 + 0 * ?2",
    };
    let mut statement = faults.of(connection.prepare_cached(sql))?;
    let limit = i64::try_from(count).unwrap_or(i64::MAX);
    let mut found = faults.of(statement.query(rusqlite::params![expression, limit]))?;
    let mut hits = vec![];
    while let Some(row) = faults.of(found.next())? {
        let id: i64 = faults.of(row.get(0))?;
        if among.is_some_and(|ids| ids.binary_search(&id).is_err()) {
            continue;
        }
        let score: f64 = faults.of(row.get(1))?;
        #[expect(clippy::cast_possible_truncation, reason = "a score")]
        hits.push(WordHit { id, share: (-score / ideal) as f32 });
    }
    hits.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.id.cmp(&b.id)));
    hits.truncate(count);
    Ok(hits)
}

/// The different terms of a query. A word that no row has counts as the most telling: it says that the words
/// are not those of the texts. Before that, a word of the texts that is a typing error away stands in for it.
fn known(
    connection: &Connection,
    text: &str,
    rows: u64,
    faults: Faults<'_>,
) -> Result<Vec<Known>, IndexError> {
    let end =
        (0..=text.len().min(QUERY_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let mut statement =
        faults.of(connection.prepare_cached("SELECT doc FROM temp.vocabulary WHERE term = ?1"))?;
    let mut seen = HashSet::new();
    let mut known = vec![];
    let mut corrections = 0;
    for mut term in terms(&text[..end]) {
        if known.len() >= QUERY_TERMS_MAX {
            break;
        }
        if !seen.insert(term.text.clone()) {
            continue;
        }
        let found: Option<i64> = faults.of(statement.query_row([&term.text], |row| row.get(0)).optional())?;
        let mut found = found.and_then(|found| u64::try_from(found).ok()).unwrap_or(0);
        let weight = idf(rows, found);
        if found == 0 {
            if !is_word(&term) {
                continue;
            }
            if corrections < CORRECTIONS_MAX && typo::may_be_one(&term.text) {
                corrections += 1;
                let meant = correction(connection, &term.text, faults)?;
                if let Some((meant, with)) = meant.filter(|(meant, _)| !seen.contains(meant)) {
                    seen.insert(meant.clone());
                    term.text = meant;
                    found = with;
                }
            }
        }
        known.push(Known { text: term.text, rows: found, weight });
    }
    Ok(known)
}

/// Whether a term that no row has says something: not one that only another way of typing makes, and not a
/// pair with hiragana, which mostly spans the end of a word.
fn is_word(term: &Term) -> bool {
    match term.kind {
        TermKind::Word | TermKind::Identifier | TermKind::Part => true,
        TermKind::Joined => false,
        TermKind::Pair => !term.text.chars().any(|c| ('\u{3040}'..='\u{309F}').contains(&c)),
    }
}

/// The word of the texts that was meant by one that none of them has, and in how many rows it is: the nearest,
/// of those the most frequent. It begins with the same letter, so a part of the vocabulary is looked at.
fn correction(
    connection: &Connection,
    word: &str,
    faults: Faults<'_>,
) -> Result<Option<(String, u64)>, IndexError> {
    let Some(first) = word.chars().next().filter(char::is_ascii_lowercase) else { return Ok(None) };
    let end = char::from_u32(u32::from(first) + 1).unwrap_or('{');
    let sql = "SELECT term, doc FROM temp.vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3";
    let mut statement = faults.of(connection.prepare_cached(sql))?;
    let mut rows =
        faults.of(statement.query(rusqlite::params![first.to_string(), end.to_string(), VOCABULARY_MAX]))?;
    let mut best: Option<(usize, i64, String)> = None;
    while let Some(row) = faults.of(rows.next())? {
        let term = faults.of(row.get_ref(0))?;
        let Ok(term) = term.as_str() else { continue };
        let Some(distance) = typo::distance(word, term) else { continue };
        let with: i64 = faults.of(row.get(1))?;
        if best.as_ref().is_none_or(|(least, most, _)| (distance, -with) < (*least, -*most)) {
            best = Some((distance, with, term.to_owned()));
        }
    }
    Ok(best.and_then(|(_, with, term)| Some((term, u64::try_from(with).ok()?))))
}

/// The most telling terms, as many as their rows can be looked through; one is always among them.
/// Where there are many rows, one that more than half of them have tells nothing and costs most.
fn telling(mut known: Vec<Known>, rows: u64) -> Vec<Known> {
    known.sort_by(|a, b| a.rows.cmp(&b.rows).then_with(|| a.text.cmp(&b.text)));
    let mut postings = 0;
    let mut has_one = false;
    known.retain(|term| {
        postings += term.rows;
        let is_telling = rows < MANY_ROWS || term.rows <= rows / 2;
        let is_kept = (postings <= POSTINGS_MAX && is_telling) || !has_one;
        has_one |= term.rows > 0;
        is_kept
    });
    known
}

/// The query for the table.
fn expression(known: &[Known]) -> String {
    let quoted: Vec<String> = known
        .iter()
        .filter(|term| term.rows > 0)
        .map(|term| format!("\"{}\"", term.text.replace('"', "\"\"")))
        .collect();
    quoted.join(" OR ")
}
