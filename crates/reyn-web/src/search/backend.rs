//! What a search backend is, and how one is asked.

use futures::future::BoxFuture;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use reyn_page::results::{ResultsError, SearchResult};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use super::error::SearchError;
use crate::answer::Answer;
use crate::client::{Call, WebClient, times};
use crate::limits::RESULTS_BYTES_MAX;
use crate::policy::HostPort;

/// A service that searches the web.
pub trait SearchBackend: Send + Sync {
    /// The word for it in settings and records.
    fn name(&self) -> &'static str;

    /// Searches. An empty list means that nothing was found, never that the backend did not answer.
    fn search<'a>(&'a self, call: SearchCall<'a>) -> BoxFuture<'a, Result<Vec<SearchResult>, SearchError>>;
}

/// One search, as a backend is asked for it.
#[derive(Clone, Copy)]
pub struct SearchCall<'a> {
    /// The client, which judges the backend's address as any other.
    pub web: &'a WebClient,
    /// The words, neither empty nor too long.
    pub words: &'a str,
    /// Results that are wanted.
    pub max_results: usize,
    /// Milliseconds for this backend.
    pub timeout_ms: u64,
    /// Ends the search.
    pub cancel: &'a CancellationToken,
}

/// How a backend wants to be asked.
pub(super) struct Ask {
    pub(super) url: Url,
    pub(super) accept: &'static str,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// The fields of a form; with them the method is POST.
    pub(super) form: Option<String>,
    /// A host and port that are reached although they are on this machine or in a private network.
    pub(super) trusted: Option<HostPort>,
}

/// What reads an answer: body, content type, status.
pub(super) type Reading = fn(&[u8], Option<&str>, u16) -> Result<Vec<SearchResult>, ResultsError>;

/// Asks a backend and reads what it answers. Redirects are not followed, so a key stays with its backend.
pub(super) async fn ask(
    backend: &'static str,
    search: SearchCall<'_>,
    ask: Ask,
    read: Reading,
) -> Result<Vec<SearchResult>, SearchError> {
    let call = Call {
        method: if ask.form.is_some() { Method::POST } else { Method::GET },
        accept: ask.accept,
        headers: ask.headers,
        form: ask.form,
        is_following: false,
        admits: None,
        policy: search.web.policy_with(ask.trusted.as_ref()),
        times: times(search.timeout_ms),
        bytes_max: RESULTS_BYTES_MAX,
    };
    let answer = search.web.run(ask.url.as_str(), &call, search.cancel).await;
    let answer = answer.map_err(|error| SearchError::of_fetch(backend, error))?;
    if let Some(to) = redirected(&answer) {
        return Err(SearchError::Redirected { backend, to });
    }
    read(&answer.body, answer.content_type.as_deref(), answer.status)
        .map_err(|error| SearchError::of_results(backend, &error))
}

/// Where an answer redirects to, as it may be shown.
fn redirected(answer: &Answer) -> Option<String> {
    let to = answer.location.as_deref().filter(|_| (300..400).contains(&answer.status))?;
    Some(
        answer
            .final_url
            .join(to)
            .map_or_else(|_| "no URL".to_owned(), |url| crate::shown_url::shown_url(&url)),
    )
}

/// Adds a path to the address of a backend, which may have one of its own.
pub(super) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// Whether an address is on this machine, where nobody listens on the way.
pub(super) fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
