//! What an IP address is: on the internet, or somewhere that a page must not be able to send us.
//!
//! Pure. An IPv6 address that carries an IPv4 address is what the carried one is, because a translator on the
//! way would deliver to that.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is, by the registries of special-purpose addresses and the clouds' manuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// Reachable on the internet.
    Public,
    /// A network of its own: RFC 1918, shared space of carriers (100.64/10), unique local (fc00::/7).
    Private,
    /// This machine.
    Loopback,
    /// This link: 169.254/16, fe80::/10.
    LinkLocal,
    /// A cloud's metadata service, which hands out credentials to whoever asks from the machine.
    Metadata,
    /// A group, not a machine.
    Multicast,
    /// `0.0.0.0` or `::`, which connect to this machine.
    Unspecified,
    /// For measuring networks: 198.18/15, 2001:2::/48.
    Benchmark,
    /// For examples in texts: the IPv4 test nets.
    Documentation,
    /// Set aside or withdrawn; whoever answers there is not who it says.
    Reserved,
}

impl AddressClass {
    /// The word for it in messages and records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
            Self::Loopback => "loopback",
            Self::LinkLocal => "link_local",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Unspecified => "unspecified",
            Self::Benchmark => "benchmark",
            Self::Documentation => "documentation",
            Self::Reserved => "reserved",
        }
    }

    /// Whether it lies in a network of its own, which an operator can open as a whole.
    #[must_use]
    pub const fn is_inside(self) -> bool {
        match self {
            Self::Private | Self::Benchmark | Self::Documentation => true,
            Self::Public
            | Self::Loopback
            | Self::LinkLocal
            | Self::Metadata
            | Self::Multicast
            | Self::Unspecified
            | Self::Reserved => false,
        }
    }

    /// Classifies an address.
    #[must_use]
    pub fn of(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => of_v4(ip),
            IpAddr::V6(ip) => carried_v4(ip).map_or_else(|| of_bare_v6(ip), of_v4),
        }
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Single addresses of metadata services: AWS, GCP, Azure, Oracle and OpenStack; Alibaba; Azure's host;
/// Oracle's second one.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// The same in IPv6: AWS, GCP.
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// Blocks of IPv4 that are not public, as first address, length of the prefix and class.
const V4: [([u8; 4], u32, AddressClass); 17] = [
    ([0, 0, 0, 0], 32, AddressClass::Unspecified),
    ([0, 0, 0, 0], 8, AddressClass::Reserved),
    ([10, 0, 0, 0], 8, AddressClass::Private),
    ([100, 64, 0, 0], 10, AddressClass::Private),
    ([127, 0, 0, 0], 8, AddressClass::Loopback),
    ([169, 254, 0, 0], 16, AddressClass::LinkLocal),
    ([172, 16, 0, 0], 12, AddressClass::Private),
    ([192, 0, 0, 0], 24, AddressClass::Reserved),
    ([192, 0, 2, 0], 24, AddressClass::Documentation),
    ([192, 88, 99, 0], 24, AddressClass::Reserved),
    ([192, 168, 0, 0], 16, AddressClass::Private),
    ([198, 18, 0, 0], 15, AddressClass::Benchmark),
    ([198, 51, 100, 0], 24, AddressClass::Documentation),
    ([203, 0, 113, 0], 24, AddressClass::Documentation),
    ([224, 0, 0, 0], 4, AddressClass::Multicast),
    ([255, 255, 255, 255], 32, AddressClass::Reserved),
    ([240, 0, 0, 0], 4, AddressClass::Reserved),
];

/// Blocks of IPv6 that are not public, as the first four groups, length of the prefix (at most 64) and class.
const V6: [([u16; 4], u32, AddressClass); 9] = [
    // Discard-only.
    ([0x0100, 0, 0, 0], 64, AddressClass::Reserved),
    ([0x2001, 2, 0, 0], 48, AddressClass::Benchmark),
    // Protocol assignments, both ORCHIDs in them.
    ([0x2001, 0, 0, 0], 23, AddressClass::Reserved),
    ([0x2001, 0xdb8, 0, 0], 32, AddressClass::Reserved),
    ([0x3fff, 0, 0, 0], 20, AddressClass::Reserved),
    ([0xfc00, 0, 0, 0], 7, AddressClass::Private),
    ([0xfe80, 0, 0, 0], 10, AddressClass::LinkLocal),
    // Site-local, withdrawn.
    ([0xfec0, 0, 0, 0], 10, AddressClass::Reserved),
    ([0xff00, 0, 0, 0], 8, AddressClass::Multicast),
];

fn of_v4(ip: Ipv4Addr) -> AddressClass {
    if METADATA_V4.contains(&ip) {
        return AddressClass::Metadata;
    }
    let bits = ip.to_bits();
    V4.iter()
        .find(|(first, prefix, _)| {
            let shift = 32 - prefix;
            u32::from_be_bytes(*first) >> shift == bits >> shift
        })
        .map_or(AddressClass::Public, |(_, _, class)| *class)
}

fn of_bare_v6(ip: Ipv6Addr) -> AddressClass {
    if METADATA_V6.contains(&ip) {
        return AddressClass::Metadata;
    }
    if ip.is_loopback() {
        return AddressClass::Loopback;
    }
    if ip.is_unspecified() {
        return AddressClass::Unspecified;
    }
    let [a, b, c, d, ..] = ip.segments();
    let bits = high_bits([a, b, c, d]);
    let listed = V6.iter().find(|(first, prefix, _)| {
        let shift = 64 - prefix;
        high_bits(*first) >> shift == bits >> shift
    });
    match listed {
        Some((_, _, class)) => *class,
        // Only 2000::/3 is given out to networks.
        None if a >> 13 == 1 => AddressClass::Public,
        None => AddressClass::Reserved,
    }
}

fn high_bits(groups: [u16; 4]) -> u64 {
    groups.into_iter().fold(0, |bits, group| bits << 16 | u64::from(group))
}

/// The IPv4 address that an IPv6 address carries.
fn carried_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let last = Some(v4(g, h));
    match [a, b, c, d, e, f] {
        // `::` and `::1` are no IPv4-compatible addresses.
        [0, 0, 0, 0, 0, 0] if g == 0 && h <= 1 => None,
        // IPv4-compatible, IPv4-mapped, translated (SIIT), NAT64 with its well-known and its local prefix.
        [0, 0, 0, 0, 0, 0 | 0xffff] | [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0 | 1, 0, 0, 0] => last,
        [0x2002, high, low, ..] => Some(v4(high, low)),
        // Teredo keeps the client's address inverted.
        [0x2001, 0, ..] => Some(v4(!g, !h)),
        // ISATAP, in any network.
        [.., 0 | 0x200, 0x5efe] => last,
        _ => None,
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}
