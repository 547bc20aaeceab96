//! Hosts in one way of writing, so that two spellings of one host are equal.

use url::{Host, Url};

use crate::limits::URL_BYTES_MAX;

/// Writes a host as the URL parser does, without a trailing dot: in lower case, IDNA encoded, an IPv4 address in
/// four decimal numbers, an IPv6 address shortened and in brackets.
///
/// `None` for what is no host: nothing, a port or a path beside it, characters that no host has.
#[must_use]
pub fn host_name(text: &str) -> Option<String> {
    if text.len() > URL_BYTES_MAX {
        return None;
    }
    let host = without_dots(&Host::parse(text).ok()?.to_string());
    (!host.is_empty()).then_some(host)
}

/// The host of a URL, written as [`host_name`] does; empty where it has none.
#[must_use]
pub fn host_of(url: &Url) -> String {
    without_dots(url.host_str().unwrap_or_default())
}

fn without_dots(host: &str) -> String {
    host.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_way_of_writing_alone_and_in_a_url() {
        for (text, expected) in [
            ("example.com", "example.com"),
            ("EXAMPLE.Com.", "example.com"),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
            ("xn--r8jz45g.xn--zckzah", "xn--r8jz45g.xn--zckzah"),
            ("ｅｘａｍｐｌｅ。com", "example.com"),
            ("ex%61mple.com", "example.com"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("127.0.0.1.", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("0177.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("[0:0:0:0:0:FFFF:7F00:1]", "[::ffff:7f00:1]"),
        ] {
            assert_eq!(host_name(text).as_deref(), Some(expected), "{text}");
            assert_eq!(host_name(expected).as_deref(), Some(expected), "{text}");
            let url = Url::parse(&format!("https://{text}/a")).unwrap();
            assert_eq!(host_of(&url), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_host_has_no_name() {
        for text in [
            "",
            ".",
            " ",
            "a b",
            "a:80",
            "a/b",
            "user@a",
            "a?b",
            "a#b",
            "a\\b",
            "[::1",
            "::1",
            "[::g]",
            "1.2.3.4.5",
            "256.0.0.1",
            "*.example.com\0",
            "%00",
            "https://a",
        ] {
            assert_eq!(host_name(text), None, "{text}");
        }
        assert_eq!(host_name(&"a".repeat(URL_BYTES_MAX + 1)), None);
    }

    #[test]
    fn a_url_without_a_host_has_an_empty_one() {
        assert_eq!(host_of(&Url::parse("data:,a").unwrap()), "");
    }
}
