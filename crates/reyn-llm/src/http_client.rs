//! The HTTP client of one address: cheap where no TLS is needed, never following a redirect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use rustls::RootCertStore;
use rustls::crypto::ring;

/// Why there is no client for an address.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The crypto provider knows no protocol version, or the system's certificates cannot be read.
    #[error("cannot prepare TLS: {0}")]
    Tls(String),
}

/// Builds the client for an address.
///
/// For `http` it trusts no certificate at all, which saves loading the system's. Proxies of the environment
/// are used, but never for this machine. `localhost` is this machine, whatever a resolver says.
pub(crate) fn client_for(url: &Url, connect_timeout: Duration) -> Result<Client, ClientError> {
    let mut builder = ClientBuilder::new()
        .redirect(Policy::none())
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .user_agent(concat!("reyn/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        let addresses = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        let addresses = addresses.map(|address| SocketAddr::new(address, 0));
        builder = builder.no_proxy().resolve_to_addrs("localhost", &addresses);
    }
    builder = if url.scheme() == "https" {
        // An error means that one is installed already, which does as well.
        let _ = ring::default_provider().install_default();
        builder.https_only(true)
    } else {
        builder.tls_backend_preconfigured(tls_without_roots()?)
    };
    builder.build().map_err(|error| ClientError::Tls(root_cause(&error)))
}

/// Whether an address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(|_| host.eq_ignore_ascii_case("localhost"), |address| address.is_loopback())
}

/// The words of the innermost error, which alone say what happened.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// The same of a request, without the address that it went to.
pub(crate) fn request_cause(error: reqwest::Error) -> String {
    root_cause(&error.without_url())
}

fn tls_without_roots() -> Result<rustls::ClientConfig, ClientError> {
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ClientError::Tls(error.to_string()))?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for (address, expected) in [
            ("http://127.0.0.1:1/v1", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:1/v1", true),
            ("http://localhost:1", true),
            ("http://LOCALHOST", true),
            ("http://0.0.0.0", false),
            ("http://10.0.0.1", false),
            ("http://localhost.example.com", false),
            ("http://[::2]", false),
            ("https://api.openai.com/v1", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(address).unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn a_client_is_built_for_either_scheme() {
        for address in ["http://127.0.0.1:1/v1", "http://example.com/v1", "https://example.com/v1"] {
            assert!(client_for(&Url::parse(address).unwrap(), Duration::from_secs(1)).is_ok(), "{address}");
        }
    }
}
