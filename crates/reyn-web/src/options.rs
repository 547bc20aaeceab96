//! What a client is made with, and what it is asked.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::limits::{CALL_TIMEOUT_MS, DOWNLOAD_BYTES_MAX, IDLE_TIMEOUT_MS};
use crate::names::{NameLookup, SystemNames};
use crate::policy::AddressPolicy;
use crate::proxy::{ProxyError, ProxyOptions};
use crate::tls::CaBundleError;

/// How a [`crate::WebClient`] behaves. The default reaches public addresses only and asks no proxy.
#[derive(Clone)]
pub struct WebClientOptions {
    /// Which addresses may be connected to.
    pub policy: AddressPolicy,
    /// Bytes of a body, after decoding, above which a call fails.
    pub download_bytes_max: usize,
    /// Milliseconds between two pieces of a body.
    pub idle_timeout_ms: u64,
    /// The value of `accept-language` where the request has none.
    pub accept_language: String,
    /// A PEM file: its certificates are trusted instead of the system's.
    pub ca_bundle: Option<PathBuf>,
    /// Whether certificates are checked; a `ca_bundle` is always checked against.
    pub is_tls_verified: bool,
    /// The proxies of the environment. Behind one the judged address cannot be enforced.
    pub proxy: Option<ProxyOptions>,
    /// Refuses proxies.
    pub is_strict: bool,
    /// Where names are looked up.
    pub names: Arc<dyn NameLookup>,
}

impl Default for WebClientOptions {
    fn default() -> Self {
        Self {
            policy: AddressPolicy::default(),
            download_bytes_max: DOWNLOAD_BYTES_MAX,
            idle_timeout_ms: IDLE_TIMEOUT_MS,
            accept_language: "en,*;q=0.5".to_owned(),
            ca_bundle: None,
            is_tls_verified: true,
            proxy: None,
            is_strict: false,
            names: Arc::new(SystemNames),
        }
    }
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum WebClientError {
    /// The file of certificates.
    #[error(transparent)]
    CaBundle(#[from] CaBundleError),
    /// The proxy.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// A text that cannot stand in a header.
    #[error("`accept_language` cannot be sent: `{0}` is no value of a header")]
    AcceptLanguage(String),
}

/// Whether a redirect may lead to a host, which is written as [`crate::host_name()`] does.
pub type Admits = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// One page to fetch.
#[derive(Clone)]
pub struct GetRequest {
    /// The URL as someone wrote it.
    pub url: String,
    /// Milliseconds for the whole call: resolving, waiting for the host, redirects and the body. Above
    /// [`crate::limits::CALL_TIMEOUT_MS_MAX`] it counts as that.
    pub timeout_ms: u64,
    /// Asked for the host of every redirect's target, the same host included, before it is resolved; the host of
    /// `url` is not asked about. `None` admits all.
    pub admits: Option<Admits>,
}

impl fmt::Debug for GetRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetRequest")
            .field("url", &self.url)
            .field("timeout_ms", &self.timeout_ms)
            .field("has_admits", &self.admits.is_some())
            .finish()
    }
}

impl GetRequest {
    /// A request with the usual time, [`CALL_TIMEOUT_MS`], that admits every host.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), timeout_ms: CALL_TIMEOUT_MS, admits: None }
    }
}
