//! Where a URL leads: judged before anything is resolved or sent.

use std::net::IpAddr;

use url::{Host, Url};

use crate::get_error::GetError;
use crate::page_url::{checked, page_url};
use crate::policy::{AddressPolicy, HostPort, judge, judge_name};
use crate::shown_url::shown_url;

/// A URL that may be asked for, as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: String,
    port: u16,
    literal: Option<IpAddr>,
}

impl Target {
    /// Reads a URL that someone wrote.
    ///
    /// # Errors
    /// The errors of [`page_url`], and [`GetError::BlockedAddress`].
    pub fn parse(text: &str, policy: &AddressPolicy) -> Result<Self, GetError> {
        Self::judged(page_url(text)?, policy)
    }

    /// Judges a URL: its scheme, what stands before its host, its host where that is an address or the name
    /// of a metadata service, and its port.
    ///
    /// # Errors
    /// [`GetError::Scheme`], [`GetError::Userinfo`], [`GetError::BadUrl`] or [`GetError::BlockedAddress`].
    pub fn of(url: Url, policy: &AddressPolicy) -> Result<Self, GetError> {
        Self::judged(checked(url)?, policy)
    }

    fn judged(url: Url, policy: &AddressPolicy) -> Result<Self, GetError> {
        let literal = match url.host() {
            Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
            Some(Host::Domain(_)) | None => None,
        };
        let host = url.host_str().unwrap_or_default().to_owned();
        let port = url.port_or_known_default().unwrap_or_default();
        let blocked = match literal {
            Some(ip) => judge(ip, port, &host, policy),
            None => judge_name(&host),
        };
        blocked.map_err(|blocked| GetError::BlockedAddress { url: shown_url(&url), blocked })?;
        Ok(Self { url, host, port, literal })
    }

    /// The URL, without a fragment.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// The host as the URL parser writes it.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, the scheme's own where none is written.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The address, where the host is one; it has passed.
    #[must_use]
    pub const fn literal(&self) -> Option<IpAddr> {
        self.literal
    }

    /// Judges what the host resolved to: all of it passes, or nothing does.
    ///
    /// # Errors
    /// [`GetError::BlockedAddress`] for the first address that does not pass.
    pub fn judge_all(&self, addresses: &[IpAddr], policy: &AddressPolicy) -> Result<(), GetError> {
        addresses.iter().try_for_each(|ip| {
            judge(*ip, self.port, &self.host, policy)
                .map_err(|blocked| GetError::BlockedAddress { url: shown_url(&self.url), blocked })
        })
    }

    pub(crate) fn host_port(&self) -> HostPort {
        HostPort::new(&self.host, self.port)
    }
}
