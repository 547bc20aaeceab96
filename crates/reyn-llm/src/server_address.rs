//! The address of a model's server: what is called, and what may be shown of it.
//!
//! Invariant: `Debug`, [`ServerAddress::shown`] and whatever went through [`ServerAddress::redact`] hold no
//! secret of the address. Whoever sends something reads the address with [`parsed`], so that what is judged is
//! what is called.

use std::fmt;

use reqwest::Url;

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";

/// The address of a server, up to and including `/v1`.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerAddress {
    address: String,
    shown: String,
    secrets: Vec<String>,
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerAddress").field(&self.shown).finish()
    }
}

impl ServerAddress {
    /// An address without a secret. A name and a password before the host, and a query, are not shown all the
    /// same.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        let address = address.into();
        let shown = parsed(&address).map_or_else(|_| without_user(&address), |url| shown(&url));
        Self { address, shown, secrets: vec![] }
    }

    /// An address in which `secrets` stand; `written` is shown in its place, as in `https://host/${TOKEN}/v1`.
    #[must_use]
    pub fn with_secrets(address: impl Into<String>, written: &str, secrets: &[String]) -> Self {
        let mut forms: Vec<String> = secrets.iter().flat_map(|secret| forms(secret)).collect();
        // The longest first: one secret may be a part of another.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self { address: address.into(), shown: without_user(written), secrets: forms }
    }

    /// The address as it may be shown.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The whole address, secrets included: never for a message.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.address
    }

    /// The text without the secrets of the address, which a server may repeat.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED))
    }

    /// The address as it is called.
    pub(crate) fn url(&self) -> Result<Url, String> {
        parsed(&self.address)
    }
}

/// Reads an address as it is called. The error says what is wrong and repeats nothing of the address.
pub(crate) fn parsed(address: &str) -> Result<Url, String> {
    let url = Url::parse(address)
        .map_err(|error| format!("{error}; it must look like `http://127.0.0.1:8080/v1`"))?;
    if matches!(url.scheme(), "http" | "https") {
        Ok(url)
    } else {
        Err("it must begin with `http://` or `https://`".to_owned())
    }
}

fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // An address with a host takes both.
    let _ = shown.set_username("").and_then(|()| shown.set_password(None));
    shown.set_query(None);
    shown.set_fragment(None);
    shown.as_str().trim_end_matches('/').to_owned()
}

/// The same for a text that is no address, or not yet.
fn without_user(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let end = rest.find(['/', '\\']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => address.to_owned(),
    }
}

/// A secret as it is, as a host, and as a part of a path.
fn forms(secret: &str) -> Vec<String> {
    let secret = secret.trim_matches('/');
    let mut forms = vec![secret.to_owned(), secret.to_lowercase()];
    if let Ok(mut url) = Url::parse("http://host/") {
        url.set_path(secret);
        forms.push(url.path().trim_matches('/').to_owned());
    }
    forms.retain(|form| !form.is_empty());
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_name_password_and_query() {
        for (address, shown) in [
            ("http://me:secret@host:1/v1", "http://host:1/v1"),
            ("http://host/v1@2", "http://host/v1@2"),
            ("http://host/v1/?key=secret#secret", "http://host/v1"),
            ("https://api.openai.com@evil.example/v1", "https://evil.example/v1"),
            ("https://evil.example\\@api.openai.com/v1", "https://evil.example/@api.openai.com/v1"),
            ("http://host", "http://host"),
            ("host", "host"),
            ("ftp://me:secret@host/?secret", "ftp://host"),
        ] {
            let address = ServerAddress::new(address);
            assert_eq!(address.shown(), shown);
            assert_eq!(format!("{address:?}"), format!("ServerAddress({shown:?})"));
        }
    }

    #[test]
    fn a_secret_of_an_address_is_nowhere_but_in_the_address() {
        let secrets = ["Se cret/1".to_owned(), String::new()];
        let written = "https://me:${TOKEN}@host/${TOKEN}/v1?key=${TOKEN}";
        let address = ServerAddress::with_secrets("https://host/Se cret/1/v1", written, &secrets);
        assert_eq!(address.shown(), "https://host/${TOKEN}/v1");
        assert_eq!(address.secret(), "https://host/Se cret/1/v1");
        assert_eq!(
            address.redact("no route Se%20cret/1/v1; Se cret/1; se cret/1.host; other"),
            "no route [redacted]/v1; [redacted]; [redacted].host; other"
        );
        assert!(!format!("{address:?}").contains("cret"));
    }
}
