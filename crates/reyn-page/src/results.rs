//! Pages of search results: from the answer of a search engine to a list, or to why there is none.

mod brave;
mod duckduckgo;
mod redirect;
mod searxng;

use std::collections::HashSet;

use serde::Serialize;
use url::Url;

use crate::bounds::{LINK_BYTES_MAX, RESULTS_MAX, SNIPPET_CHARS_MAX, TITLE_CHARS_MAX};
use crate::line::one_line;

pub use brave::brave;
pub use duckduckgo::duckduckgo;
pub use redirect::unwrap_redirect;
pub use searxng::searxng;

/// One result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchResult {
    /// Its title in one line, at most [`TITLE_CHARS_MAX`] characters; the address when it has none.
    pub title: String,
    /// Its address, `http` or `https`, without the engine's redirect.
    pub url: String,
    /// What the engine shows of it, in one line, at most [`SNIPPET_CHARS_MAX`] characters; may be empty.
    pub snippet: String,
}

/// Why an answer holds no list of results. The messages are for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultsError {
    /// The engine asks to prove that a person searches, or to slow down.
    #[error(
        "{engine} answered with {what} instead of results: it limits how often programs search; this does not \
         mean that nothing was found. Wait a few minutes before the next search, or use another backend; \
         `web.search.fallback` names one that is asked instead"
    )]
    RateLimited {
        /// The engine's name.
        engine: &'static str,
        /// What it answered with.
        what: String,
    },
    /// The answer is not in the form that is known.
    #[error(
        "the answer of {engine} is not in the form that is known here ({what}), so its results cannot be read; \
         this does not mean that nothing was found. Use another backend; `web.search.fallback` names one that \
         is asked instead"
    )]
    LayoutChanged {
        /// The engine's name.
        engine: &'static str,
        /// What is missing or wrong.
        what: String,
    },
    /// The answer has no content.
    #[error(
        "{engine} answered with nothing at all (status {status}); this does not mean that nothing was found. \
         Search once more, then use another backend; `web.search.fallback` names one that is asked instead"
    )]
    Empty {
        /// The engine's name.
        engine: &'static str,
        /// The status of the answer.
        status: u16,
    },
    /// The engine does not answer this request, and will not when it is asked again.
    #[error(
        "{engine} refused the search (status {status}): {what}. Asking again changes nothing; use another \
         backend; `web.search.fallback` names one that is asked instead"
    )]
    Refused {
        /// The engine's name.
        engine: &'static str,
        /// The status of the answer.
        status: u16,
        /// The likely reason, and what to do about it.
        what: String,
    },
}

/// Results in the order of the engine: each address once, at most [`RESULTS_MAX`], `http` and `https` alone.
#[derive(Default)]
struct Results {
    list: Vec<SearchResult>,
    seen: HashSet<String>,
}

impl Results {
    fn add(&mut self, title: &str, url: &str, snippet: &str) {
        let Some(url) = web_address(url) else {
            return;
        };
        if self.list.len() < RESULTS_MAX && self.seen.insert(url.clone()) {
            let title = one_line(title, TITLE_CHARS_MAX);
            let title = if title.is_empty() { url.clone() } else { title };
            self.list.push(SearchResult { title, url, snippet: one_line(snippet, SNIPPET_CHARS_MAX) });
        }
    }
}

/// The address without the engine's redirect, if it is one of the web. A redirect to anything else is none.
fn web_address(url: &str) -> Option<String> {
    let url = unwrap_redirect(url);
    if redirect::wrapped(&url).is_some() {
        return None;
    }
    let parsed = Url::parse(&url).ok()?;
    let is_web = matches!(parsed.scheme(), "http" | "https") && parsed.host().is_some();
    Some(String::from(parsed)).filter(|url| is_web && url.len() <= LINK_BYTES_MAX)
}

/// What a status alone says, whatever the body is.
fn by_status(engine: &'static str, status: u16, refusal: &str) -> Option<ResultsError> {
    let limited =
        |what: &str| ResultsError::RateLimited { engine, what: format!("{what} (status {status})") };
    let refused = |what: String| ResultsError::Refused { engine, status, what };
    match status {
        429 => Some(limited("too many requests")),
        403 => Some(limited("a refusal")),
        500..=599 => Some(limited("a failure of the server")),
        400..=499 => Some(refused(refusal.to_owned())),
        300..=399 => Some(refused("it redirects to another page".to_owned())),
        _ => None,
    }
}

/// The JSON of an answer.
fn json(engine: &'static str, body: &[u8], status: u16) -> Result<serde_json::Value, ResultsError> {
    if body.trim_ascii().is_empty() {
        return Err(ResultsError::Empty { engine, status });
    }
    serde_json::from_slice(body)
        .map_err(|error| ResultsError::LayoutChanged { engine, what: format!("no JSON: {error}") })
}

/// The text of a field; empty when there is none.
fn text_of<'a>(value: &'a serde_json::Value, name: &str) -> &'a str {
    value.get(name).and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// The words of a piece of HTML, its tags dropped and its character references resolved.
fn words_of_html(html: &str) -> String {
    if !html.contains(['<', '&']) {
        return html.to_owned();
    }
    let reduced = crate::reduced::reduced(html, None);
    dom_query::Document::from(reduced.html).select("body").text().to_string()
}
