//! DuckDuckGo, by the page that it gives to browsers without scripts.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_page::results::{SearchResult, duckduckgo};
use url::{Url, form_urlencoded};

use super::backend::{Ask, SearchBackend, SearchCall, ask, below};
use super::error::SearchError;

/// Asks DuckDuckGo; it needs no key and limits how often it is asked.
#[derive(Debug, Clone)]
pub struct DuckDuckGo {
    base: Url,
}

impl DuckDuckGo {
    /// The public server.
    pub const BASE: &'static str = "https://html.duckduckgo.com";

    /// A backend at an address, without the path of the search page.
    #[must_use]
    pub const fn new(base: Url) -> Self {
        Self { base }
    }
}

impl SearchBackend for DuckDuckGo {
    fn name(&self) -> &'static str {
        "duckduckgo"
    }

    fn search<'a>(&'a self, call: SearchCall<'a>) -> BoxFuture<'a, Result<Vec<SearchResult>, SearchError>> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        // The page's own form has an empty `b`.
        form.append_pair("q", call.words).append_pair("b", "");
        let request = Ask {
            url: below(&self.base, "html/"),
            accept: "text/html",
            headers: vec![],
            form: Some(form.finish()),
            trusted: None,
        };
        ask(self.name(), call, request, duckduckgo).boxed()
    }
}
