//! The client: every hop of a call is judged, connected to what was judged, and read within bounds.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::answer::{Answer, Hop};
use crate::get_error::GetError;
use crate::hop::HopEnd;
use crate::host_name::host_of;
use crate::hosts::{Hosts, Times};
use crate::limits::{CALL_TIMEOUT_MS_MAX, REDIRECTS_MAX};
use crate::names::NameLookup;
use crate::options::{Admits, GetRequest, WebClientError, WebClientOptions};
use crate::policy::{AddressPolicy, HostPort};
use crate::proxy::{Proxies, ProxyError};
use crate::shown_url::shown_url;
use crate::target::Target;
use crate::tls::Trust;

const ACCEPT_OF_PAGES: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.8";

/// Fetches from the web.
///
/// No cookies, no referrer, no credentials, no proxies of the environment. One connection to a host at a time,
/// and none to a host that asked to be left alone. A connection serves one request, so an address that was
/// judged for one URL is never used for another.
pub struct WebClient {
    pub(crate) policy: AddressPolicy,
    pub(crate) download_bytes_max: usize,
    pub(crate) idle_timeout: Duration,
    pub(crate) accept_language: HeaderValue,
    pub(crate) trust: Trust,
    pub(crate) proxies: Proxies,
    pub(crate) names: Arc<dyn NameLookup>,
    pub(crate) hosts: Hosts,
}

/// One call as it is sent.
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    pub(crate) accept: &'static str,
    /// Headers of this call alone; never sent on to where a redirect leads.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The body and its type.
    pub(crate) form: Option<String>,
    pub(crate) is_following: bool,
    /// Whether a redirect may lead to a host.
    pub(crate) admits: Option<Admits>,
    pub(crate) policy: Cow<'a, AddressPolicy>,
    pub(crate) times: Times,
    pub(crate) bytes_max: usize,
}

impl WebClient {
    /// Makes a client.
    ///
    /// # Errors
    /// [`WebClientError`] says which option cannot be used. The system's certificates are read later, with the
    /// first `https` URL.
    pub fn new(options: WebClientOptions) -> Result<Self, WebClientError> {
        let accept_language = HeaderValue::from_str(&options.accept_language)
            .map_err(|_| WebClientError::AcceptLanguage(options.accept_language.clone()))?;
        let proxies = options.proxy.as_ref().map(Proxies::new).transpose()?.unwrap_or_default();
        if options.is_strict && !proxies.list.is_empty() {
            return Err(ProxyError::Strict.into());
        }
        Ok(Self {
            trust: Trust::new(options.ca_bundle.as_deref(), options.is_tls_verified)?,
            policy: options.policy,
            download_bytes_max: options.download_bytes_max,
            idle_timeout: Duration::from_millis(options.idle_timeout_ms),
            accept_language,
            proxies,
            names: options.names,
            hosts: Hosts::default(),
        })
    }

    /// Fetches a page with GET, following at most [`REDIRECTS_MAX`] redirects.
    ///
    /// Statuses 4xx and 5xx are answers. An answer is whole: a body that ends early is an error.
    ///
    /// # Errors
    /// [`GetError`]; all of them come within the request's time.
    pub async fn get(&self, request: &GetRequest, cancel: &CancellationToken) -> Result<Answer, GetError> {
        let call = Call {
            method: Method::GET,
            accept: ACCEPT_OF_PAGES,
            headers: vec![],
            form: None,
            is_following: true,
            admits: request.admits.clone(),
            policy: Cow::Borrowed(&self.policy),
            times: times(request.timeout_ms),
            bytes_max: self.download_bytes_max,
        };
        self.run(&request.url, &call, cancel).await
    }

    /// The policy with this machine and private networks opened for one more host and port.
    pub(crate) fn policy_with(&self, trusted: Option<&HostPort>) -> Cow<'_, AddressPolicy> {
        let Some(trusted) = trusted else { return Cow::Borrowed(&self.policy) };
        let mut policy = self.policy.clone();
        policy.allow_hosts.push(trusted.clone());
        Cow::Owned(policy)
    }

    pub(crate) async fn run(
        &self,
        url: &str,
        call: &Call<'_>,
        cancel: &CancellationToken,
    ) -> Result<Answer, GetError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(GetError::Cancelled),
            answer = self.follow(url, call) => answer,
        }
    }

    async fn follow(&self, url: &str, call: &Call<'_>) -> Result<Answer, GetError> {
        let mut target = Target::parse(url, &call.policy)?;
        let mut hops: Vec<Hop> = vec![];
        loop {
            match self.hop(&target, call).await? {
                HopEnd::Answer(answer) => return Ok(Answer { hops, ..*answer }),
                HopEnd::Redirect { status, location } => {
                    let next = Target::of(location, &call.policy)?;
                    let is_downgrade = target.url().scheme() == "https" && next.url().scheme() == "http";
                    hops.push(Hop { url: target.url().clone(), status, is_downgrade });
                    let is_loop = hops.iter().any(|hop| hop.url == *next.url());
                    if is_loop || hops.len() > REDIRECTS_MAX {
                        // The last one is not followed, unless it closes a circle.
                        let count = if is_loop { hops.len() } else { REDIRECTS_MAX };
                        return Err(GetError::TooManyRedirects {
                            count,
                            is_loop,
                            url: shown_url(next.url()),
                        });
                    }
                    let host = host_of(next.url());
                    if call.admits.as_ref().is_some_and(|admits| !admits(&host)) {
                        return Err(GetError::NotAdmitted {
                            url: shown_url(target.url()),
                            target: next.host_port(),
                        });
                    }
                    target = next;
                }
            }
        }
    }
}

/// The time of a call that begins now.
pub(crate) fn times(timeout_ms: u64) -> Times {
    let whole = Duration::from_millis(timeout_ms.min(CALL_TIMEOUT_MS_MAX));
    Times { deadline: Instant::now() + whole, whole }
}

/// Where a redirect leads. Bytes that are no ASCII are percent-encoded as they are, as browsers do.
pub(crate) fn location_of(from: &Url, headers: &HeaderMap) -> Option<Result<Url, GetError>> {
    let value = headers.get(reqwest::header::LOCATION)?;
    let mut text = String::with_capacity(value.len());
    for byte in value.as_bytes() {
        if byte.is_ascii() {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    let wrong = |error| GetError::BadUrl {
        why: format!("a redirect of `{}` leads to no URL: {error}", shown_url(from)),
    };
    Some(from.join(text.trim()).map_err(wrong))
}
