//! The web as tools reach it: a client behind an address guard, and search engines.
//!
//! Invariant: every page and every redirect passes the guard of [`reyn_web`] and the session's own rules.

use std::fmt;

use reyn_core::settings::SearchEngine;
use reyn_core::text::{alternatives, nearest};
use reyn_web::search::{Brave, DuckDuckGo, SearXng, Search, SearchBackend, SearchKey};
use reyn_web::{WebClient, WebClientError, WebClientOptions};
use url::Url;

use crate::tool::ToolError;

/// How the web is reached.
#[derive(Clone, Default)]
pub struct WebOptions {
    /// The client's own.
    pub client: WebClientOptions,
    /// The engine that is asked first.
    pub engine: SearchEngine,
    /// Those that are asked when it does not answer, in their order.
    pub fallback: Vec<SearchEngine>,
    /// Where the SearXNG instance is.
    pub searxng_url: Option<String>,
    /// Where DuckDuckGo is asked, when not at its own address.
    pub duckduckgo_url: Option<String>,
    /// Where Brave is asked, when not at its own address.
    pub brave_url: Option<String>,
    /// The key for Brave.
    pub brave_key: Option<String>,
}

/// The web.
pub struct Web {
    client: Result<WebClient, WebClientError>,
    options: WebOptions,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("engine", &self.options.engine).finish_non_exhaustive()
    }
}

impl Web {
    /// Opens nothing yet. Options that cannot be used, such as a proxy of the environment that is none, fail the
    /// calls that need them and nothing else.
    #[must_use]
    pub fn new(options: WebOptions) -> Self {
        Self { client: WebClient::new(options.client.clone()), options }
    }

    /// Why the web cannot be reached as configured, when it cannot.
    #[must_use]
    pub fn defect(&self) -> Option<String> {
        self.client.as_ref().err().map(|error| format!("the web cannot be reached as configured: {error}"))
    }

    pub(crate) fn client(&self) -> Result<&WebClient, ToolError> {
        self.client.as_ref().map_err(|_| {
            let hint =
                "the person corrects `web_fetch`, or the variable of the environment; `reyn doctor` shows it";
            ToolError::failed(self.defect().unwrap_or_default()).cause("not_configured").hint(hint)
        })
    }

    /// The address of a page, as far as its text tells.
    pub(crate) fn page(url: &str) -> Result<Url, ToolError> {
        reyn_web::page_url(url)
            .map_err(|error| ToolError::failed(error.to_string()).cause(error.kind()).hint(error.advice()))
    }

    /// The engine of this name, or the usual one.
    pub(crate) fn engine(&self, name: Option<&str>) -> Result<SearchEngine, ToolError> {
        let Some(name) = name else { return Ok(self.options.engine) };
        let names = SearchEngine::ALL.map(SearchEngine::name);
        SearchEngine::ALL.into_iter().find(|engine| engine.name() == name).ok_or_else(|| {
            ToolError::failed(format!("`{name}` is no search engine that is known here"))
                .cause("unknown_backend")
                .suggest(nearest(name, names))
                .hint(format!("`backend` is {}; leave it out for the usual one", alternatives(&names)))
        })
    }

    /// The engine and, when it is the usual one, those that are asked instead of it.
    pub(crate) fn chain(
        &self,
        engine: SearchEngine,
        admits: impl Fn(SearchEngine) -> bool,
    ) -> Result<Search, ToolError> {
        let instead: &[SearchEngine] =
            if engine == self.options.engine { &self.options.fallback } else { &[] };
        let others = instead.iter().copied().filter(|other| *other != engine && admits(*other));
        let fallback = others.map(|other| self.backend(other)).collect::<Result<Vec<_>, _>>()?;
        Ok(Search::new(self.backend(engine)?, fallback))
    }

    fn backend(&self, engine: SearchEngine) -> Result<Box<dyn SearchBackend>, ToolError> {
        let options = &self.options;
        let at = |configured: &Option<String>, own: &str| {
            let address = configured.as_deref().unwrap_or(own);
            Url::parse(address).map_err(|_| unset(engine, "its address is none", "the operator corrects it"))
        };
        Ok(match engine {
            SearchEngine::Duckduckgo => {
                Box::new(DuckDuckGo::new(at(&options.duckduckgo_url, DuckDuckGo::BASE)?))
            }
            SearchEngine::Searxng => {
                let missing = || {
                    unset(engine, "nothing says where it is", "the operator sets `web.search.searxng_url`")
                };
                let url = options.searxng_url.as_ref().ok_or_else(missing)?;
                Box::new(SearXng::new(at(&Some(url.clone()), "")?))
            }
            SearchEngine::Brave => {
                let missing = || {
                    let hint =
                        "the person puts `BRAVE_API_KEY` into the environment or `~/.reyn/secrets.env`";
                    unset(engine, "it takes a key, and there is none", hint)
                };
                let key = options.brave_key.as_deref().and_then(SearchKey::new).ok_or_else(missing)?;
                Box::new(Brave::new(at(&options.brave_url, Brave::BASE)?, key))
            }
        })
    }
}

fn unset(engine: SearchEngine, why: &str, hint: &str) -> ToolError {
    ToolError::failed(format!("`{}` cannot be asked: {why}", engine.name()))
        .cause("not_configured")
        .hint(format!("{hint}; other engines are {}", others(engine)))
}

fn others(engine: SearchEngine) -> String {
    let names: Vec<&str> =
        SearchEngine::ALL.into_iter().filter(|other| *other != engine).map(SearchEngine::name).collect();
    alternatives(&names)
}
