//! Which addresses may be connected to, and for which host and port.
//!
//! Pure. Nothing opens a metadata service, link-local, multicast, unspecified or reserved addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::Host;

use crate::address::AddressClass;

/// Names of metadata services; they are refused before they are resolved.
const METADATA_NAMES: [&str; 5] =
    ["metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"];

/// What an operator opened beside the internet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressPolicy {
    /// Opens addresses of private networks to every page; never this machine.
    pub allow_private: bool,
    /// Opens this machine and private networks to URLs of exactly these hosts and ports.
    pub allow_hosts: Vec<HostPort>,
}

/// A host as the URL parser writes it, without a trailing dot, and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPort {
    host: String,
    port: u16,
}

/// Why a text names no host and port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostPortError {
    /// There is no port, or it is not between 1 and 65535.
    #[error("`{0}` names no port; write `host:port`, as in `localhost:8080`")]
    Port(String),
    /// The host is no host of a URL.
    #[error("`{0}` names no host; write `host:port`, as in `localhost:8080` or `[::1]:8080`")]
    Host(String),
}

impl HostPort {
    /// Takes a host as the URL parser wrote it.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Self {
        Self { host: without_dot(host).to_owned(), port }
    }

    /// The host, an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    fn is(&self, host: &str, port: u16) -> bool {
        self.port == port && self.host == without_dot(host)
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl FromStr for HostPort {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let port = |text: &str| text.parse().ok().filter(|port| *port > 0);
        let (host, port) = text
            .rsplit_once(':')
            .and_then(|(host, digits)| Some((host, port(digits)?)))
            .ok_or_else(|| HostPortError::Port(text.to_owned()))?;
        let host = Host::parse(host).map_err(|_| HostPortError::Host(text.to_owned()))?.to_string();
        if without_dot(&host).is_empty() {
            return Err(HostPortError::Host(text.to_owned()));
        }
        Ok(Self::new(&host, port))
    }
}

/// Why an address or a name is not connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The host of the URL.
    pub host: String,
    /// The address that is refused; `None` where the name alone is enough.
    pub ip: Option<IpAddr>,
    /// What it is.
    pub class: AddressClass,
    /// What an operator can set to lift it; `None` where nothing does.
    pub lifts_when: Option<String>,
}

impl Blocked {
    /// Why such an address is refused: a clause that follows "because".
    #[must_use]
    pub const fn why(&self) -> &'static str {
        match self.class {
            AddressClass::Public => "it is not allowed",
            AddressClass::Private => "it is in a private network",
            AddressClass::Loopback => "it is this machine",
            AddressClass::LinkLocal => "it is on the local link",
            AddressClass::Metadata => "it is a cloud's metadata service, which hands out credentials",
            AddressClass::Multicast => "it is a multicast group",
            AddressClass::Unspecified => "it is the unspecified address, which means this machine",
            AddressClass::Benchmark => "it is in a network for benchmarks",
            AddressClass::Documentation => "it is in a network for examples",
            AddressClass::Reserved => "it is reserved",
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.host)?;
        match self.ip {
            Some(ip) if !is_written_as(&self.host, ip) => {
                write!(f, " resolves to `{ip}` and is refused because {}", self.why())
            }
            Some(_) | None => write!(f, " is refused because {}", self.why()),
        }
    }
}

impl std::error::Error for Blocked {}

/// Judges one address for the host and the port of a URL.
///
/// `host` is as the URL parser writes it. A name is reached only when all its addresses pass.
///
/// # Errors
/// [`Blocked`] says what the address is and what would lift it.
pub fn judge(ip: IpAddr, port: u16, host: &str, policy: &AddressPolicy) -> Result<(), Blocked> {
    judge_name(host)?;
    let class = AddressClass::of(ip);
    let is_listed = || policy.allow_hosts.iter().any(|listed| listed.is(host, port));
    let may_pass = match class {
        AddressClass::Public => true,
        AddressClass::Loopback => is_listed(),
        AddressClass::Private | AddressClass::Benchmark | AddressClass::Documentation => {
            policy.allow_private || is_listed()
        }
        AddressClass::LinkLocal
        | AddressClass::Metadata
        | AddressClass::Multicast
        | AddressClass::Unspecified
        | AddressClass::Reserved => false,
    };
    if may_pass {
        return Ok(());
    }
    let entry = HostPort::new(host, port);
    let lifts_when = match class {
        AddressClass::Loopback => Some(format!("`web_fetch.allow_hosts` has `{entry}`")),
        AddressClass::Private | AddressClass::Benchmark | AddressClass::Documentation => {
            Some(format!("`web_fetch.allow_hosts` has `{entry}`, or `web_fetch.allow_private_ips` is true"))
        }
        AddressClass::Public
        | AddressClass::LinkLocal
        | AddressClass::Metadata
        | AddressClass::Multicast
        | AddressClass::Unspecified
        | AddressClass::Reserved => None,
    };
    Err(Blocked { host: host.to_owned(), ip: Some(ip), class, lifts_when })
}

/// Judges a name before it is resolved.
///
/// # Errors
/// [`Blocked`] for the name of a metadata service.
pub fn judge_name(host: &str) -> Result<(), Blocked> {
    let name = without_dot(host);
    if METADATA_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        let host = host.to_owned();
        return Err(Blocked { host, ip: None, class: AddressClass::Metadata, lifts_when: None });
    }
    Ok(())
}

/// Judges an address of a proxy, which the operator named: this machine and private networks pass.
///
/// # Errors
/// [`Blocked`] for every other address that is not public.
pub fn judge_proxy(ip: IpAddr, port: u16, host: &str) -> Result<(), Blocked> {
    let itself = AddressPolicy { allow_private: true, allow_hosts: vec![HostPort::new(host, port)] };
    judge(ip, port, host, &itself).map_err(|blocked| Blocked { lifts_when: None, ..blocked })
}

fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn is_written_as(host: &str, ip: IpAddr) -> bool {
    host.trim_start_matches('[').trim_end_matches(']').parse() == Ok(ip)
}
