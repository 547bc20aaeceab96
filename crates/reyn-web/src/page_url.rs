//! What a text must be to name a page, before any address is judged.
//!
//! Pure. What passes here may still be refused: only [`crate::Target`] says whether it may be asked for.

use url::Url;

use crate::get_error::GetError;
use crate::host_name::host_of;
use crate::limits::URL_BYTES_MAX;

/// Reads the URL of a page: `http` or `https`, with a host and without a user. Its fragment is dropped.
///
/// No address is judged, so the URL may still lead to one that is refused.
///
/// # Errors
/// [`GetError::BadUrl`], [`GetError::Scheme`] or [`GetError::Userinfo`].
pub fn page_url(text: &str) -> Result<Url, GetError> {
    checked(parsed(text)?)
}

/// Whether a text is the address of a server: an `http` or `https` URL with a host, perhaps with a path, and
/// without user, query and fragment.
#[must_use]
pub fn is_server_address(text: &str) -> bool {
    let Ok(url) = parsed(text) else { return false };
    url.query().is_none() && url.fragment().is_none() && checked(url).is_ok()
}

/// Checks a URL that is parsed already, as a redirect's is, and drops its fragment.
pub(crate) fn checked(mut url: Url) -> Result<Url, GetError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(GetError::Scheme { scheme: url.scheme().to_owned() });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(GetError::Userinfo);
    }
    if host_of(&url).is_empty() {
        return Err(GetError::BadUrl { why: "it has no host".to_owned() });
    }
    if url.port() == Some(0) {
        return Err(GetError::BadUrl { why: "port 0 is no port".to_owned() });
    }
    url.set_fragment(None);
    Ok(url)
}

fn parsed(text: &str) -> Result<Url, GetError> {
    if text.len() > URL_BYTES_MAX {
        return Err(GetError::BadUrl { why: format!("it is longer than {URL_BYTES_MAX} bytes") });
    }
    Url::parse(text.trim()).map_err(|error| GetError::BadUrl { why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_an_http_url_with_a_host_and_without_a_user() {
        let long = format!("https://example.com/{}", "a".repeat(URL_BYTES_MAX));
        for (text, expected) in [
            ("https://example.com", Ok("https://example.com/")),
            (" HTTP://EXAMPLE.com:80/a?b=c#d\n", Ok("http://example.com/a?b=c")),
            ("https://日本.jp/道", Ok("https://xn--wgv71a.jp/%E9%81%93")),
            ("http://0x7f.1/", Ok("http://127.0.0.1/")),
            ("http://[::1]:8080/", Ok("http://[::1]:8080/")),
            ("https://example.com./", Ok("https://example.com./")),
            ("", Err("bad_url")),
            ("example.com", Err("bad_url")),
            ("/a", Err("bad_url")),
            ("http://", Err("bad_url")),
            ("http://./", Err("bad_url")),
            ("http://[bad/", Err("bad_url")),
            ("http://a b/", Err("bad_url")),
            ("http://example.com:0/", Err("bad_url")),
            ("http://example.com:99999/", Err("bad_url")),
            (long.as_str(), Err("bad_url")),
            ("file:///etc/passwd", Err("scheme")),
            ("javascript:alert(1)", Err("scheme")),
            ("ws://example.com/", Err("scheme")),
            ("https://user@example.com/", Err("userinfo")),
            ("https://:secret@example.com/", Err("userinfo")),
        ] {
            let found = page_url(text);
            let found = found.as_ref().map(Url::as_str).map_err(GetError::kind);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_address_of_a_server_has_neither_user_nor_query_nor_fragment() {
        for (text, expected) in [
            ("https://search.example.com", true),
            ("http://127.0.0.1:8080/", true),
            ("http://[::1]:8080/searxng/", true),
            ("https://search.example.com/below/a/path", true),
            ("", false),
            ("search.example.com", false),
            ("ftp://search.example.com/", false),
            ("https://", false),
            ("https://user@search.example.com/", false),
            ("https://search.example.com:0/", false),
            ("https://search.example.com/?q=a", false),
            ("https://search.example.com/?", false),
            ("https://search.example.com/#a", false),
            ("https://search.example.com/#", false),
        ] {
            assert_eq!(is_server_address(text), expected, "{text}");
        }
    }
}
