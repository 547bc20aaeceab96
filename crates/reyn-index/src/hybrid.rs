//! Puts what vectors find and what words find into one order.
//!
//! A row's score is its cosine, moved towards 1 by its share of what the query's words can tell. The share weighs
//! each word by how few rows have it, and a word that no row has counts in full: words that half miss the
//! texts are a description and say little, words that all hit are the name of the thing. So the share is
//! squared. Adding ranks would give both halves the same say on every query, and lose to the better half.

use std::collections::BTreeMap;

/// How much a row with every word gains, as a cosine. See the tests on the retrieval set.
const WORDS_GAIN: f32 = 0.8;
/// The share above which more of the same words say nothing new.
const SHARE_MAX: f32 = 1.2;

/// A row with what each half says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The row.
    pub id: i64,
    /// Its cosine with the query, when both have a vector.
    pub cosine: Option<f32>,
    /// BM25 as a share of what a row with each word once has; 0 when no word hits.
    pub share: f32,
}

/// The inverse document frequency of BM25: how telling a term is that `with` of `rows` rows have.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of rows")]
pub fn idf(rows: u64, with: u64) -> f64 {
    let (rows, with) = (rows.max(with) as f64, with as f64);
    ((rows - with + 0.5) / (with + 0.5)).ln().max(1e-6)
}

/// The score of a row in 0 to 1.
#[must_use]
pub fn score(candidate: &Candidate) -> f32 {
    let share = candidate.share.clamp(0.0, SHARE_MAX);
    let cosine = candidate.cosine.unwrap_or(0.0).clamp(0.0, 1.0);
    (cosine + WORDS_GAIN * share * share) / (1.0 + WORDS_GAIN * SHARE_MAX * SHARE_MAX)
}

/// The best `top` of the candidates with their scores, best first; ties by number. A row that comes twice is
/// one candidate with the better of both.
#[must_use]
pub fn fuse(candidates: impl IntoIterator<Item = Candidate>, top: usize) -> Vec<(i64, f32)> {
    let mut rows: BTreeMap<i64, Candidate> = BTreeMap::new();
    for candidate in candidates {
        let known = rows.entry(candidate.id).or_insert(candidate);
        known.share = known.share.max(candidate.share);
        known.cosine = match (known.cosine, candidate.cosine) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
    }
    let mut scored: Vec<(i64, f32)> =
        rows.values().map(|candidate| (candidate.id, score(candidate))).collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(top);
    scored
}
