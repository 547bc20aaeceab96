//! What may be connected to: tables, properties, and the same through a redirect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use reyn_web::{
    AddressClass, AddressPolicy, GetError, HostPort, Target, WebClientOptions, judge, judge_proxy,
};

use crate::server::{Server, redirect};
use crate::{allowing, get, reaching};

use AddressClass::{
    Benchmark, Documentation, LinkLocal, Loopback, Metadata, Multicast, Private, Public, Reserved,
    Unspecified,
};

/// First and last addresses of every block, and their public neighbours.
pub(crate) const TABLE: &[(&str, AddressClass)] = &[
    ("0.0.0.0", Unspecified),
    ("0.0.0.1", Reserved),
    ("0.255.255.255", Reserved),
    ("1.0.0.0", Public),
    ("9.255.255.255", Public),
    ("10.0.0.0", Private),
    ("10.255.255.255", Private),
    ("11.0.0.0", Public),
    ("100.63.255.255", Public),
    ("100.64.0.0", Private),
    ("100.100.100.199", Private),
    ("100.100.100.200", Metadata),
    ("100.127.255.255", Private),
    ("100.128.0.0", Public),
    ("126.255.255.255", Public),
    ("127.0.0.0", Loopback),
    ("127.0.0.1", Loopback),
    ("127.255.255.255", Loopback),
    ("128.0.0.0", Public),
    ("168.63.129.16", Metadata),
    ("168.63.129.17", Public),
    ("169.253.255.255", Public),
    ("169.254.0.0", LinkLocal),
    ("169.254.169.253", LinkLocal),
    ("169.254.169.254", Metadata),
    ("169.254.255.255", LinkLocal),
    ("169.255.0.0", Public),
    ("172.15.255.255", Public),
    ("172.16.0.0", Private),
    ("172.31.255.255", Private),
    ("172.32.0.0", Public),
    ("192.0.0.0", Reserved),
    ("192.0.0.192", Metadata),
    ("192.0.0.255", Reserved),
    ("192.0.1.0", Public),
    ("192.0.2.0", Documentation),
    ("192.0.2.255", Documentation),
    ("192.88.99.1", Reserved),
    ("192.167.255.255", Public),
    ("192.168.0.0", Private),
    ("192.168.255.255", Private),
    ("192.169.0.0", Public),
    ("198.17.255.255", Public),
    ("198.18.0.0", Benchmark),
    ("198.19.255.255", Benchmark),
    ("198.20.0.0", Public),
    ("198.51.100.7", Documentation),
    ("203.0.113.7", Documentation),
    ("223.255.255.255", Public),
    ("224.0.0.0", Multicast),
    ("239.255.255.255", Multicast),
    ("240.0.0.0", Reserved),
    ("255.255.255.254", Reserved),
    ("255.255.255.255", Reserved),
    ("::", Unspecified),
    ("::1", Loopback),
    ("::2", Reserved),
    ("::127.0.0.1", Loopback),
    ("::ffff:127.0.0.1", Loopback),
    ("::ffff:0:10.0.0.1", Private),
    ("::ffff:100.100.100.200", Metadata),
    ("::ffff:8.8.8.8", Public),
    ("64:ff9b::169.254.169.254", Metadata),
    ("64:ff9b::8.8.8.8", Public),
    ("64:ff9b:1::10.0.0.1", Private),
    ("64:ff9b:1:0:1::", Reserved),
    ("64:ff9b:2::", Reserved),
    ("100::1", Reserved),
    ("2001:0:4136:e378:8000:63bf:807f:fffe", Loopback),
    ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", Public),
    ("2001:2::1", Benchmark),
    ("2001:10::1", Reserved),
    ("2001:20::1", Reserved),
    ("2001:1ff:ffff::", Reserved),
    ("2001:200::1", Public),
    ("2001:db8::1", Reserved),
    ("2001:db9::1", Public),
    ("2002:7f00:1::", Loopback),
    ("2002:a9fe:a9fe::1", Metadata),
    ("2002:808:808::", Public),
    ("2606:4700::1111", Public),
    ("2606:4700::5efe:192.168.0.1", Private),
    ("2606:4700::200:5efe:127.0.0.1", Loopback),
    ("3fff::1", Reserved),
    ("3fff:1000::1", Public),
    ("4000::1", Reserved),
    ("5f00::1", Reserved),
    ("fbff::1", Reserved),
    ("fc00::1", Private),
    ("fd00:ec2::253", Private),
    ("fd00:ec2::254", Metadata),
    ("fd20:ce::254", Metadata),
    ("fdff::1", Private),
    ("fe00::1", Reserved),
    ("fe80::1", LinkLocal),
    ("febf::1", LinkLocal),
    ("fec0::1", Reserved),
    ("feff::1", Reserved),
    ("ff02::1", Multicast),
];

/// How a host of a URL may be written, and the host that the parser makes of it.
const SPELLINGS: &[(&str, &str)] = &[
    ("2130706433", "127.0.0.1"),
    ("0x7f000001", "127.0.0.1"),
    ("0177.0.0.1", "127.0.0.1"),
    ("127.1", "127.0.0.1"),
    ("127.0.1", "127.0.0.1"),
    ("0x7f.0.0.0x1", "127.0.0.1"),
    ("127.0.0.1.", "127.0.0.1"),
    ("１２７.0.0.1", "127.0.0.1"),
    ("127。0。0。1", "127.0.0.1"),
    ("①②⑦.0.0.1", "127.0.0.1"),
    ("%31%32%37.0.0.1", "127.0.0.1"),
    ("0", "0.0.0.0"),
    ("0x0a000001", "10.0.0.1"),
    ("3232235777", "192.168.1.1"),
    ("2852039166", "169.254.169.254"),
    ("0xa9fea9fe", "169.254.169.254"),
    ("[::ffff:7f00:1]", "[::ffff:7f00:1]"),
    ("[0:0:0:0:0:0:0:1]", "[::1]"),
    ("[::127.0.0.1]", "[::7f00:1]"),
    ("[2002:a00:1::]", "[2002:a00:1::]"),
    ("METADATA", "metadata"),
    ("metadata.google.internal", "metadata.google.internal"),
    ("Metadata.Google.Internal.", "metadata.google.internal."),
    ("ｍetadata.google.internal", "metadata.google.internal"),
    ("instance-data", "instance-data"),
];

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn any_ip() -> impl Strategy<Value = IpAddr> {
    let v4 = any::<u32>().prop_map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)));
    let v6 = any::<u128>().prop_map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)));
    let listed = proptest::sample::select(TABLE).prop_map(|(text, _)| ip(text));
    let near = (0..TABLE.len(), -2_i128..=2).prop_map(|(at, by)| match ip(TABLE[at].0) {
        IpAddr::V4(v4) => IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits().wrapping_add_signed(by as i32))),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits().wrapping_add_signed(by))),
    });
    prop_oneof![v4, v6, listed, near]
}

#[test]
fn every_block_begins_and_ends_where_its_registry_says() {
    for (text, class) in TABLE {
        assert_eq!(AddressClass::of(ip(text)), *class, "{text}");
    }
}

proptest! {
    #[test]
    fn an_address_inside_another_is_what_it_is_by_itself(bits in any::<u32>(), prefix in any::<u64>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        let class = AddressClass::of(v4.into());
        let [a, b, c, d] = v4.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let prefix = prefix as u16;
        let mut forms = vec![
            v4.to_ipv6_mapped(),
            Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, prefix, 0, 0, 0, prefix),
            Ipv6Addr::new(0x2001, 0, prefix, prefix, 0, prefix, !high, !low),
            Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0x5efe, high, low),
        ];
        if bits > 1 {
            forms.push(Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low));
        }
        for form in forms {
            prop_assert_eq!(AddressClass::of(form.into()), class, "{} in {}", v4, form);
        }
    }

    #[test]
    fn nothing_but_the_internet_passes_where_nothing_was_opened(ip in any_ip(), port in 1_u16.., host in "[a-z]{1,9}") {
        let passes = judge(ip, port, &host, &AddressPolicy::default()).is_ok();
        prop_assert_eq!(passes, AddressClass::of(ip) == Public && host != "metadata");
    }

    #[test]
    fn an_open_private_network_opens_nothing_else(ip in any_ip(), port in 1_u16..) {
        let policy = AddressPolicy { allow_private: true, allow_hosts: vec![] };
        let may_pass = matches!(AddressClass::of(ip), Public | Private | Benchmark | Documentation);
        prop_assert_eq!(judge(ip, port, "h", &policy).is_ok(), may_pass);
    }

    #[test]
    fn an_entry_opens_this_machine_and_private_networks_for_its_host_and_port_alone(ip in any_ip()) {
        let policy = AddressPolicy { allow_private: false, allow_hosts: vec![HostPort::new("h", 81)] };
        let is_opened = matches!(AddressClass::of(ip), Public | Private | Benchmark | Documentation | Loopback);
        prop_assert_eq!(judge(ip, 81, "h", &policy).is_ok(), is_opened);
        prop_assert_eq!(judge(ip, 81, "h.", &policy).is_ok(), is_opened);
        for (host, port) in [("h", 80), ("g", 81), ("hh", 81)] {
            prop_assert_eq!(judge(ip, port, host, &policy).is_ok(), AddressClass::of(ip) == Public);
        }
    }

    #[test]
    fn a_proxy_may_be_on_this_machine_or_inside_and_nowhere_special(ip in any_ip()) {
        let may_pass = matches!(AddressClass::of(ip), Public | Private | Benchmark | Documentation | Loopback);
        prop_assert_eq!(judge_proxy(ip, 3128, "proxy").is_ok(), may_pass);
    }
}

#[tokio::test]
async fn every_spelling_of_a_denied_host_is_refused_directly_and_through_a_redirect() {
    for (written, host) in SPELLINGS {
        let url = format!("http://{written}/");
        let direct = get(WebClientOptions::default(), &url).await.unwrap_err();
        let GetError::BlockedAddress { blocked, .. } = &direct else { panic!("{written}: {direct:?}") };
        assert_eq!(blocked.host, *host, "{written}");
        let server = Server::saying(redirect("302 Found", &url)).await;
        assert_eq!(get(reaching(&[server.address]), &server.url("/")).await, Err(direct), "{written}");
    }
}

#[tokio::test]
async fn every_address_of_the_table_that_is_not_public_is_refused_as_a_literal() {
    for (text, class) in TABLE.iter().filter(|(_, class)| *class != Public) {
        let url = match ip(text) {
            IpAddr::V4(ip) => format!("https://{ip}/"),
            IpAddr::V6(ip) => format!("https://[{ip}]/"),
        };
        let error = get(WebClientOptions::default(), &url).await.unwrap_err();
        let GetError::BlockedAddress { blocked, .. } = &error else { panic!("{text}: {error:?}") };
        assert_eq!((blocked.class, blocked.ip), (*class, Some(ip(text))), "{text}");
    }
}

#[test]
fn an_entry_never_opens_a_metadata_service() {
    for host in
        ["169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "metadata", "metadata.google.internal"]
    {
        let policy = AddressPolicy { allow_private: true, ..allowing(&[format!("{host}:80")]) };
        let error = Target::parse(&format!("http://{host}/"), &policy).unwrap_err();
        let GetError::BlockedAddress { blocked, .. } = &error else { panic!("{host}: {error:?}") };
        assert_eq!((blocked.class, &blocked.lifts_when), (Metadata, &None), "{host}");
        assert_eq!(error.advice(), "no setting allows it; use another source");
    }
}

#[test]
fn an_entry_is_read_as_the_parser_reads_a_host() {
    for (written, expected) in [
        ("localhost:8080", Ok("localhost:8080")),
        ("LOCALHOST.:8080", Ok("localhost:8080")),
        ("0x7f.1:80", Ok("127.0.0.1:80")),
        ("[::1]:443", Ok("[::1]:443")),
        ("例え.テスト:80", Ok("xn--r8jz45g.xn--zckzah:80")),
        ("localhost", Err("`localhost` names no port; write `host:port`, as in `localhost:8080`")),
        ("localhost:0", Err("`localhost:0` names no port; write `host:port`, as in `localhost:8080`")),
        ("::1:80", Err("`::1:80` names no host; write `host:port`, as in `localhost:8080` or `[::1]:8080`")),
        (":80", Err("`:80` names no host; write `host:port`, as in `localhost:8080` or `[::1]:8080`")),
    ] {
        let read =
            written.parse::<HostPort>().map(|entry| entry.to_string()).map_err(|error| error.to_string());
        assert_eq!(read, expected.map(str::to_owned).map_err(str::to_owned), "{written}");
    }
}

#[test]
fn a_url_that_cannot_be_fetched_has_its_own_error() {
    let policy = AddressPolicy::default();
    for (url, kind) in [
        ("file:///etc/passwd", "scheme"),
        ("ftp://example.com/", "scheme"),
        ("gopher://127.0.0.1:6379/_x", "scheme"),
        ("data:text/plain,x", "scheme"),
        ("https://user@example.com/", "userinfo"),
        ("https://:secret@example.com/", "userinfo"),
        ("http://example.com@127.0.0.1/", "userinfo"),
        ("https:///", "bad_url"),
        ("https://./", "bad_url"),
        ("https://example.com:0/", "bad_url"),
        ("https://example.com:99999/", "bad_url"),
        ("https://[fe80::1%25eth0]/", "bad_url"),
        ("example.com", "bad_url"),
        ("", "bad_url"),
    ] {
        assert_eq!(Target::parse(url, &policy).unwrap_err().kind(), kind, "{url}");
    }
    let long = format!("https://example.com/{}", "a".repeat(9000));
    assert_eq!(Target::parse(&long, &policy).unwrap_err().kind(), "bad_url");
}

#[test]
fn a_refusal_says_what_why_and_what_lifts_it() {
    let policy = AddressPolicy::default();
    let said = |url: &str| {
        let error = Target::parse(url, &policy).unwrap_err();
        format!("{error} -- {}", error.advice())
    };
    assert_eq!(
        said("http://0x7f.1:8080/x?token=abc"),
        "`http://127.0.0.1:8080/x?token=[redacted]` was not fetched: `127.0.0.1` is refused because it is this \
         machine -- only the operator can allow it: when `web_fetch.allow_hosts` has `127.0.0.1:8080`"
    );
    assert_eq!(
        said("http://10.0.0.1/"),
        "`http://10.0.0.1/` was not fetched: `10.0.0.1` is refused because it is in a private network -- only the \
         operator can allow it: when `web_fetch.allow_hosts` has `10.0.0.1:80`, or `web_fetch.allow_private_ips` is \
         true"
    );
    assert_eq!(
        said("https://user:hunter2@example.com/"),
        "the URL has a user name or password before its host, which is never sent -- write the URL without them"
    );
}
