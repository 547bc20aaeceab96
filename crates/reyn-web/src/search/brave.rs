//! The Brave Search API, which needs a key.

use std::fmt;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::header::{HeaderName, HeaderValue};
use reyn_page::results::{SearchResult, brave};
use url::Url;

use super::backend::{Ask, SearchBackend, SearchCall, ask, below, is_this_machine};
use super::error::SearchError;

/// The most results that one request can ask for.
const COUNT_MAX: usize = 20;

/// A key of a search service; it is never shown.
#[derive(Clone)]
pub struct SearchKey(HeaderValue);

impl SearchKey {
    /// Takes a key, if it can be sent in a header.
    #[must_use]
    pub fn new(key: &str) -> Option<Self> {
        let mut value = HeaderValue::from_str(key.trim()).ok().filter(|value| !value.is_empty())?;
        value.set_sensitive(true);
        Some(Self(value))
    }
}

impl fmt::Debug for SearchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SearchKey([redacted])")
    }
}

/// Asks the Brave Search API.
#[derive(Debug, Clone)]
pub struct Brave {
    base: Url,
    key: SearchKey,
}

impl Brave {
    /// The public server.
    pub const BASE: &'static str = "https://api.search.brave.com";

    /// A backend at an address, without `/res/v1/web/search`.
    #[must_use]
    pub const fn new(base: Url, key: SearchKey) -> Self {
        Self { base, key }
    }
}

impl SearchBackend for Brave {
    fn name(&self) -> &'static str {
        "brave"
    }

    fn search<'a>(&'a self, call: SearchCall<'a>) -> BoxFuture<'a, Result<Vec<SearchResult>, SearchError>> {
        if self.base.scheme() != "https" && !is_this_machine(&self.base) {
            let error = SearchError::KeyInTheClear { backend: self.name() };
            return async move { Err(error) }.boxed();
        }
        let mut url = below(&self.base, "res/v1/web/search");
        let count = call.max_results.min(COUNT_MAX).to_string();
        url.query_pairs_mut().append_pair("q", call.words).append_pair("count", &count);
        let header = (HeaderName::from_static("x-subscription-token"), self.key.0.clone());
        let request =
            Ask { url, accept: "application/json", headers: vec![header], form: None, trusted: None };
        ask(self.name(), call, request, brave).boxed()
    }
}
