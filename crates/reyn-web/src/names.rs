//! From a name to addresses: looked up once, judged, and only then shown to the connector.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::limits::ADDRESSES_MAX;
use crate::policy::{Blocked, HostPort, judge_proxy};

/// Where names are looked up.
pub trait NameLookup: Send + Sync {
    /// All addresses of a name; an empty list is a name without one.
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver, its hosts file included.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNames;

impl NameLookup for SystemNames {
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        }
        .boxed()
    }
}

/// The proxy's address may not be connected to.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ProxyBlocked(Blocked);

/// The resolver of one connection: it knows the addresses that were judged, and no others.
pub(crate) struct Pinned {
    /// The host of the URL with its judged addresses; empty where the host is an address.
    pub(crate) host: String,
    /// The judged addresses.
    pub(crate) addresses: Vec<IpAddr>,
    /// The hosts of the proxies, which are looked up and judged when the connector asks for them.
    pub(crate) proxies: Vec<HostPort>,
    /// Where the proxies are looked up.
    pub(crate) names: Arc<dyn NameLookup>,
}

impl Resolve for Pinned {
    fn resolve(&self, name: Name) -> Resolving {
        if name.as_str().eq_ignore_ascii_case(&self.host) {
            let addresses = sockets(self.addresses.clone());
            return async move { Ok(addresses) }.boxed();
        }
        let proxy = self.proxies.iter().find(|proxy| name.as_str().eq_ignore_ascii_case(proxy.host()));
        let Some(proxy) = proxy.cloned() else {
            let error = io::Error::other(format!("`{}` was not judged", name.as_str()));
            return async move { Err(error.into()) }.boxed();
        };
        let names = Arc::clone(&self.names);
        async move {
            let found = names.lookup(proxy.host()).await?;
            found
                .iter()
                .try_for_each(|ip| judge_proxy(*ip, proxy.port(), proxy.host()))
                .map_err(ProxyBlocked)?;
            Ok(sockets(found))
        }
        .boxed()
    }
}

/// Port 0 is replaced by the URL's.
fn sockets(addresses: Vec<IpAddr>) -> Addrs {
    Box::new(addresses.into_iter().take(ADDRESSES_MAX).map(|ip| SocketAddr::new(ip, 0)))
}
