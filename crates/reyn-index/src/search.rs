//! A search over one index, the same for every store: what both halves find goes into one order.

use std::collections::HashMap;

use crate::error::IndexError;
use crate::hybrid::{Candidate, by_share, fuse};
use crate::query_words::WordHit;
use crate::scan::cosine;
use crate::store::{Found, Hit, Query, SearchMode};

/// Candidates of each half that are put into one order, at least.
const CANDIDATES_MIN: usize = 100;

/// A row with its exact cosine.
pub(crate) struct Neighbour {
    pub(crate) id: i64,
    pub(crate) cosine: f32,
    pub(crate) vector: Vec<f32>,
}

/// What a store finds in an index, all of one moment.
pub(crate) trait Halves {
    /// The query's vector with length one, once it is one that the index can be asked with.
    fn unit(&self, query: &Query<'_>) -> Result<Option<Vec<f32>>, IndexError>;

    /// The rows nearest to the query's vector that meet its filters, best first; none without a vector.
    fn near(&mut self, query: &Query<'_>, count: usize) -> Result<Vec<Neighbour>, IndexError>;

    /// The rows that share the query's words and meet its filters, best first.
    fn with_words(&mut self, query: &Query<'_>, count: usize) -> Result<Vec<WordHit>, IndexError>;

    /// The exact vectors of rows; one that has none is left out.
    fn vectors_of(&mut self, ids: &[i64]) -> Result<HashMap<i64, Vec<f32>>, IndexError>;

    /// Reads rows in the order given, those that meet the filters, up to the query's number.
    fn hits(&mut self, order: &[(i64, f32)], query: &Query<'_>) -> Result<Vec<Hit>, IndexError>;
}

/// The nearest rows, scored by their cosines.
pub(crate) fn by_vector(index: &mut dyn Halves, query: &Query<'_>) -> Result<Vec<Hit>, IndexError> {
    let near: Vec<(i64, f32)> =
        index.near(query, query.top)?.into_iter().map(|near| (near.id, near.cosine)).collect();
    index.hits(&near, query)
}

/// The rows that share the words, scored by their shares.
pub(crate) fn by_words(index: &mut dyn Halves, query: &Query<'_>) -> Result<Vec<Hit>, IndexError> {
    let found = index.with_words(query, query.top)?;
    let candidates =
        found.iter().map(|hit| Candidate { id: hit.id, cosine: None, share: hit.share, vector: vec![] });
    index.hits(&by_share(candidates, query.top), query)
}

/// The rows that fit best by both, as far as there are both.
pub(crate) fn by_both(index: &mut dyn Halves, query: &Query<'_>) -> Result<Found, IndexError> {
    let count = query.top.saturating_mul(4).max(CANDIDATES_MIN);
    let near = index.near(query, count)?;
    let found = index.with_words(query, count)?;
    let unit = index.unit(query)?;
    let mode = match (near.is_empty(), found.is_empty()) {
        (false, false) => SearchMode::Hybrid,
        (false, true) => SearchMode::Vector,
        (true, _) => SearchMode::Keyword,
    };
    let mut vectors = match mode {
        SearchMode::Hybrid => index.vectors_of(&found.iter().map(|hit| hit.id).collect::<Vec<_>>())?,
        SearchMode::Vector | SearchMode::Keyword => HashMap::new(),
    };
    let mut candidates: Vec<Candidate> = near
        .into_iter()
        .map(|near| Candidate { id: near.id, cosine: Some(near.cosine), share: 0.0, vector: near.vector })
        .collect();
    for hit in &found {
        let vector = vectors.remove(&hit.id).unwrap_or_default();
        let cosine = unit.as_ref().filter(|_| !vector.is_empty()).map(|unit| cosine(&vector, unit));
        candidates.push(Candidate { id: hit.id, cosine, share: hit.share, vector });
    }
    let order = match mode {
        SearchMode::Hybrid | SearchMode::Vector => fuse(candidates, count),
        SearchMode::Keyword => by_share(candidates, count),
    };
    Ok(Found { hits: index.hits(&order, query)?, mode })
}
