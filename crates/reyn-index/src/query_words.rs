//! Which words of a query are looked up, and how much each can tell: the same for every store.

use std::collections::{HashMap, HashSet};

use crate::bounds::{QUERY_BYTES_MAX, QUERY_TERMS_MAX, QUERY_TERMS_READ_MAX};
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
pub(crate) const VOCABULARY_MAX: i64 = 50_000;

/// The terms of a store's texts.
pub(crate) trait Vocabulary {
    /// In how many rows each of the terms is; one that is in none may be left out.
    fn rows_with(&mut self, terms: &[&str]) -> Result<HashMap<String, u64>, IndexError>;

    /// Shows the terms that begin with an ASCII letter and in how many rows each is, at most
    /// [`VOCABULARY_MAX`] in the order of their bytes.
    fn each_beginning_with(&mut self, first: char, see: &mut dyn FnMut(&str, u64)) -> Result<(), IndexError>;
}

/// A row that has some of the words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WordHit {
    pub(crate) id: i64,
    /// BM25 as a share of what a row of average length with each term of the query once has.
    pub(crate) share: f32,
}

/// A term of the query and how telling it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known {
    pub(crate) text: String,
    /// In how many rows it is.
    pub(crate) rows: u64,
    weight: f64,
}

/// What is looked up for a query.
pub(crate) struct QueryWords {
    /// The terms that some row has, the most telling first.
    pub(crate) found: Vec<Known>,
    /// BM25 of a row of average length that has each word of the query once; a score is a share of it.
    pub(crate) ideal: f64,
}

/// The most telling terms of a query over an index of `rows` rows.
pub(crate) fn query_words(
    vocabulary: &mut dyn Vocabulary,
    text: &str,
    rows: u64,
) -> Result<QueryWords, IndexError> {
    let mut known = telling(known(vocabulary, text, rows)?, rows);
    let ideal = known.iter().map(|term| term.weight).sum();
    known.retain(|term| term.rows > 0);
    Ok(QueryWords { found: known, ideal })
}

/// The best `count` of these rows, best first; ties by number.
pub(crate) fn best(mut hits: Vec<WordHit>, count: usize) -> Vec<WordHit> {
    hits.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.id.cmp(&b.id)));
    hits.truncate(count);
    hits
}

/// The different terms of a query. A word that no row has counts as the most telling: it says that the words
/// are not those of the texts. Before that, a word of the texts that is a typing error away stands in for it.
fn known(vocabulary: &mut dyn Vocabulary, text: &str, rows: u64) -> Result<Vec<Known>, IndexError> {
    let end =
        (0..=text.len().min(QUERY_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let mut different = HashSet::new();
    let mut asked: Vec<Term> = terms(&text[..end]);
    asked.retain(|term| different.insert(term.text.clone()));
    asked.truncate(QUERY_TERMS_READ_MAX);
    let with = vocabulary.rows_with(&asked.iter().map(|term| term.text.as_str()).collect::<Vec<_>>())?;
    let mut seen = HashSet::new();
    let mut known = vec![];
    let mut corrections = 0;
    for mut term in asked {
        if known.len() >= QUERY_TERMS_MAX {
            break;
        }
        if !seen.insert(term.text.clone()) {
            continue;
        }
        let mut found = with.get(&term.text).copied().unwrap_or(0);
        let weight = idf(rows, found);
        if found == 0 {
            if !is_word(&term) {
                continue;
            }
            if corrections < CORRECTIONS_MAX && typo::may_be_one(&term.text) {
                corrections += 1;
                let meant = correction(vocabulary, &term.text)?;
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
fn correction(vocabulary: &mut dyn Vocabulary, word: &str) -> Result<Option<(String, u64)>, IndexError> {
    let Some(first) = word.chars().next().filter(char::is_ascii_lowercase) else { return Ok(None) };
    let mut best: Option<(usize, u64, String)> = None;
    vocabulary.each_beginning_with(first, &mut |term, with| {
        let Some(distance) = typo::distance(word, term) else { return };
        let is_better = |(least, most, _): &(usize, u64, String)| {
            distance < *least || (distance == *least && with > *most)
        };
        if best.as_ref().is_none_or(is_better) {
            best = Some((distance, with, term.to_owned()));
        }
    })?;
    Ok(best.map(|(_, with, term)| (term, with)))
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
