//! The address behind the redirect that a search engine puts before it.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use url::Url;

use crate::bounds::{LINK_BYTES_MAX, REDIRECTS_MAX};

/// Bing leaves the padding out, or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The address that `url` leads to, when it is a redirect of DuckDuckGo (`/l/?uddg=`), Google (`/url?q=`), Bing
/// (`/ck/a?u=a1…`) or Yahoo (`/RU=…/`); else `url` itself. One without a scheme (`//host/`) is taken as `https`.
///
/// What such a redirect holds is only taken when it is an address of the web itself.
#[must_use]
pub fn unwrap_redirect(url: &str) -> String {
    let mut address = url.trim().to_owned();
    if address.starts_with("//") {
        address.insert_str(0, "https:");
    }
    for _ in 0..REDIRECTS_MAX {
        match wrapped(&address).filter(|target| is_web(target)) {
            Some(target) => address = target,
            None => break,
        }
    }
    address
}

/// What a redirect holds, whatever it is; None for an address that is no redirect.
pub(super) fn wrapped(address: &str) -> Option<String> {
    if address.len() > 4 * LINK_BYTES_MAX {
        return None;
    }
    let url = match Url::parse(address) {
        Ok(url) => url,
        // A page of results names its redirects by path alone.
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            let host = [("/l/?", "duckduckgo.com"), ("/url?", "www.google.com"), ("/ck/a?", "www.bing.com")];
            let (_, host) = host.into_iter().find(|(path, _)| address.starts_with(path))?;
            Url::parse(&format!("https://{host}{address}")).ok()?
        }
        Err(_) => return None,
    };
    let host = url.host_str()?;
    let parameter =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let is_of =
        |domain: &str| host == domain || host.strip_suffix(domain).is_some_and(|sub| sub.ends_with('.'));
    let is_google = host.strip_prefix("www.").unwrap_or(host).starts_with("google.");
    if is_of("duckduckgo.com") && url.path().trim_end_matches('/') == "/l" {
        parameter("uddg")
    } else if is_google && url.path() == "/url" {
        parameter("q").filter(|it| is_web(it)).or_else(|| parameter("url"))
    } else if is_of("bing.com") && url.path() == "/ck/a" {
        parameter("u").and_then(|value| {
            let bytes = BASE64.decode(value.strip_prefix("a1")?).ok()?;
            String::from_utf8(bytes).ok()
        })
    } else if is_of("search.yahoo.com") {
        let part = url.path().split('/').find_map(|part| part.strip_prefix("RU="))?;
        Some(percent_decoded(part))
    } else {
        None
    }
}

fn is_web(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
}

fn percent_decoded(text: &str) -> String {
    // A query's decoding, with the one sign it reads otherwise kept.
    let kept = text.replace('+', "%2B");
    url::form_urlencoded::parse(kept.as_bytes()).map(|(key, _)| key.into_owned()).next().unwrap_or_default()
}
