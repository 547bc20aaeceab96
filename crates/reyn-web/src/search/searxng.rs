//! SearXNG, a server that the operator runs or trusts; its JSON form must be enabled.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_page::results::{SearchResult, searxng};
use url::Url;

use super::backend::{Ask, SearchBackend, SearchCall, ask, below};
use super::error::SearchError;
use crate::policy::HostPort;

/// Asks one SearXNG server. Its host and port are reached on this machine and in private networks too, by this
/// backend and by nothing else.
#[derive(Debug, Clone)]
pub struct SearXng {
    base: Url,
}

impl SearXng {
    /// A backend at an address, without `/search`.
    #[must_use]
    pub const fn new(base: Url) -> Self {
        Self { base }
    }
}

impl SearchBackend for SearXng {
    fn name(&self) -> &'static str {
        "searxng"
    }

    fn search<'a>(&'a self, call: SearchCall<'a>) -> BoxFuture<'a, Result<Vec<SearchResult>, SearchError>> {
        let mut url = below(&self.base, "search");
        url.query_pairs_mut().append_pair("q", call.words).append_pair("format", "json");
        let host = self.base.host_str().unwrap_or_default();
        let trusted = self.base.port_or_known_default().map(|port| HostPort::new(host, port));
        let request = Ask { url, accept: "application/json", headers: vec![], form: None, trusted };
        ask(self.name(), call, request, searxng).boxed()
    }
}
