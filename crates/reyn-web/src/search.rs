//! Searching the web: one backend is asked, and others when it does not answer.

mod backend;
mod brave;
mod duckduckgo;
mod error;
mod searxng;

use std::time::Duration;

use reyn_page::results::SearchResult;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::client::WebClient;
use crate::limits::{CALL_TIMEOUT_MS, CALL_TIMEOUT_MS_MAX, QUERY_CHARS_MAX, RESULTS_MAX};

pub use backend::{SearchBackend, SearchCall};
pub use brave::{Brave, SearchKey};
pub use duckduckgo::DuckDuckGo;
pub use error::{SearchError, SearchErrorKind};
pub use searxng::SearXng;

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words. Operators (`site:`, a quoted phrase, `-term`) reach the backend as they are.
    pub query: String,
    /// Results, from 1 to [`RESULTS_MAX`].
    pub max_results: usize,
    /// Milliseconds for all backends together.
    pub timeout_ms: u64,
}

impl SearchQuery {
    /// A query with ten results and the usual time.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), max_results: 10, timeout_ms: CALL_TIMEOUT_MS }
    }
}

/// What was found, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchAnswer {
    /// The results in the backend's order; empty when nothing was found.
    pub results: Vec<SearchResult>,
    /// The backend that answered.
    pub backend: &'static str,
    /// Why the backends before it did not answer, in the order in which they were asked.
    pub passed_over: Vec<SearchError>,
}

/// A backend and those that are asked instead.
pub struct Search {
    backends: Vec<Box<dyn SearchBackend>>,
}

impl Search {
    /// A chain: `backend` is asked first, then each of `fallbacks`.
    #[must_use]
    pub fn new(backend: Box<dyn SearchBackend>, fallbacks: Vec<Box<dyn SearchBackend>>) -> Self {
        let backends = std::iter::once(backend).chain(fallbacks).collect();
        Self { backends }
    }

    /// The names of the backends, in the order in which they are asked.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.backends.iter().map(|backend| backend.name())
    }

    /// Searches. A backend is passed over when another one may answer ([`SearchErrorKind::may_fall_back`]).
    ///
    /// # Errors
    /// The error of the only backend, or one that holds the errors of all.
    pub async fn run(
        &self,
        web: &WebClient,
        query: &SearchQuery,
        cancel: &CancellationToken,
    ) -> Result<SearchAnswer, SearchError> {
        let words = checked(query)?;
        let deadline = Instant::now() + Duration::from_millis(query.timeout_ms.min(CALL_TIMEOUT_MS_MAX));
        let mut passed_over: Vec<SearchError> = vec![];
        for (at, backend) in self.backends.iter().enumerate() {
            let left = deadline.saturating_duration_since(Instant::now());
            // A share each, so that a backend that hangs leaves time for the next.
            let share = left / u32::try_from(self.backends.len() - at).unwrap_or(u32::MAX);
            let timeout_ms = u64::try_from(share.as_millis()).unwrap_or(u64::MAX);
            let call = SearchCall { web, words, max_results: query.max_results, timeout_ms, cancel };
            match backend.search(call).await {
                Ok(mut results) => {
                    results.truncate(query.max_results);
                    return Ok(SearchAnswer { results, backend: backend.name(), passed_over });
                }
                Err(error) if error.kind().may_fall_back() => passed_over.push(error),
                Err(error) => return Err(error),
            }
        }
        Err(if passed_over.len() == 1 {
            passed_over.remove(0)
        } else {
            SearchError::NoneAnswered(passed_over)
        })
    }
}

fn checked(query: &SearchQuery) -> Result<&str, SearchError> {
    let words = query.query.trim();
    let why = if words.is_empty() {
        "it is empty".to_owned()
    } else if words.chars().count() > QUERY_CHARS_MAX {
        format!("it is longer than {QUERY_CHARS_MAX} characters")
    } else if !(1..=RESULTS_MAX).contains(&query.max_results) {
        format!("`max_results` is {}, but must be from 1 to {RESULTS_MAX}", query.max_results)
    } else {
        return Ok(words);
    };
    Err(SearchError::BadQuery { why })
}
