//! Proxies that the operator's environment names.
//!
//! A proxy connects for us and resolves the name anew, so the judged address cannot be enforced behind one: the
//! guard still refuses what this machine's resolver shows to be inside, but the last word is the proxy's.

use reqwest::{NoProxy, Proxy};
use url::{Host, Url};

use crate::policy::{Blocked, HostPort, judge_proxy};

/// The values of `http_proxy`, `https_proxy` and `no_proxy`, as they are written there.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyOptions {
    /// The proxy for `http` URLs, as `http://user:password@host:port`.
    pub http: Option<String>,
    /// The proxy for `https` URLs.
    pub https: Option<String>,
    /// Hosts that are asked directly, separated by commas.
    pub no_proxy: Option<String>,
}

/// Why a proxy cannot be used. The message never repeats its address, which may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// It is no URL of an HTTP proxy.
    #[error("the {for_scheme} proxy is no `http://host:port` or `https://host:port`: {why}")]
    Address {
        /// The scheme that it is for.
        for_scheme: &'static str,
        /// What is wrong.
        why: String,
    },
    /// Its address may not be connected to.
    #[error("the proxy cannot be used: {0}")]
    Blocked(Blocked),
    /// Proxies are refused altogether.
    #[error(
        "a proxy is named, but `REYN_SSRF_STRICT` refuses proxies, because behind one no address can be enforced; \
         unset one of them"
    )]
    Strict,
}

/// The proxies of a client.
#[derive(Default)]
pub(crate) struct Proxies {
    pub(crate) list: Vec<Proxy>,
    pub(crate) servers: Vec<HostPort>,
}

impl Proxies {
    pub(crate) fn new(options: &ProxyOptions) -> Result<Self, ProxyError> {
        let mut proxies = Self::default();
        let no_proxy = options.no_proxy.as_deref().and_then(NoProxy::from_string);
        let build = |for_scheme, url: Url| match for_scheme {
            "http" => Proxy::http(url),
            _ => Proxy::https(url),
        };
        for (for_scheme, written) in [("http", &options.http), ("https", &options.https)] {
            let Some(written) = written.as_deref().filter(|text| !text.trim().is_empty()) else { continue };
            let wrong = |why: String| ProxyError::Address { for_scheme, why };
            let url = parse(written).map_err(wrong)?;
            proxies.servers.push(server(&url).map_err(wrong)?);
            judge_literal(&url)?;
            let proxy = build(for_scheme, url).map_err(|error| wrong(error.without_url().to_string()))?;
            proxies.list.push(proxy.no_proxy(no_proxy.clone()));
        }
        Ok(proxies)
    }
}

/// Reads a proxy's address; without a scheme it is `http`, as other programs read these variables.
fn parse(written: &str) -> Result<Url, String> {
    let written = written.trim();
    let url =
        if written.contains("://") { Url::parse(written) } else { Url::parse(&format!("http://{written}")) };
    let url = url.map_err(|error| error.to_string())?;
    if matches!(url.scheme(), "http" | "https") {
        Ok(url)
    } else {
        Err(format!("`{}` is not supported", url.scheme()))
    }
}

fn server(url: &Url) -> Result<HostPort, String> {
    let host = url.host_str().ok_or("it has no host")?;
    Ok(HostPort::new(host, url.port_or_known_default().unwrap_or_default()))
}

fn judge_literal(url: &Url) -> Result<(), ProxyError> {
    let ip = match url.host() {
        Some(Host::Ipv4(ip)) => ip.into(),
        Some(Host::Ipv6(ip)) => ip.into(),
        Some(Host::Domain(_)) | None => return Ok(()),
    };
    let port = url.port_or_known_default().unwrap_or_default();
    judge_proxy(ip, port, url.host_str().unwrap_or_default()).map_err(ProxyError::Blocked)
}
