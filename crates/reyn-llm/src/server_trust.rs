//! Whether a model's server may be asked without a person's yes. Pure.
//!
//! Invariant: only what the person said, or this machine, is trusted. Two addresses have the same server when the
//! parser that the requests go through finds the same scheme, host and port in them.

use std::fmt;

use reqwest::Url;

use crate::http_client::is_loopback;
use crate::server_address::parsed;

/// Scheme, host and port of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOrigin(String);

/// Why a text is no origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// It is no address of a server.
    #[error("{0}")]
    Address(String),
    /// It says more than scheme, host and port.
    #[error("it must end after the host and port, as `{0}` does")]
    More(String),
}

impl ServerOrigin {
    /// Reads `https://llm.example` or `http://10.0.0.5:8080`; a `/` may end it, and nothing else may follow.
    ///
    /// # Errors
    /// When it is no address with `http` or `https`, or has a user, a path, a query or a fragment.
    pub fn parse(text: &str) -> Result<Self, OriginError> {
        let url = parsed(text).map_err(OriginError::Address)?;
        let origin = Self::of(&url);
        let has_user = !url.username().is_empty() || url.password().is_some() || text.contains('@');
        let is_more = has_user || url.path() != "/" || url.query().is_some() || url.fragment().is_some();
        if is_more { Err(OriginError::More(origin.0)) } else { Ok(origin) }
    }

    fn of(url: &Url) -> Self {
        Self(url.origin().ascii_serialization())
    }
}

/// As in `https://llm.example`, in ASCII.
impl fmt::Display for ServerOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who named an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    /// The person: their own settings, their environment, their command line.
    Person,
    /// The list of providers, which is the program's or the person's.
    Providers,
    /// A file of the project, which may have come with it.
    Project,
}

/// What may be done with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTrust {
    /// It may be asked.
    Trusted,
    /// It may be asked after a person's yes.
    Asks(ServerOrigin),
    /// The address is none, so nothing can be sent there; whoever tries says why.
    NoAddress,
}

/// Decides about the server at `address`. `own` is the address that the list of providers has for the same
/// provider; `trusted` is `llm.trusted_servers`.
#[must_use]
pub fn server_trust(
    address: &str,
    named_by: NamedBy,
    own: Option<&str>,
    trusted: &[ServerOrigin],
) -> ServerTrust {
    let Ok(url) = parsed(address) else { return ServerTrust::NoAddress };
    let origin = ServerOrigin::of(&url);
    let is_own = || own.and_then(|own| parsed(own).ok()).is_some_and(|own| ServerOrigin::of(&own) == origin);
    let is_trusted = match named_by {
        NamedBy::Person | NamedBy::Providers => true,
        NamedBy::Project => is_loopback(&url) || is_own() || trusted.contains(&origin),
    };
    if is_trusted { ServerTrust::Trusted } else { ServerTrust::Asks(origin) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "https://api.openai.com/v1";

    fn trust(address: &str, named_by: NamedBy) -> String {
        let trusted = ["https://llm.example", "http://10.0.0.5:8080/", "https://bücher.example"];
        let trusted = trusted.map(|entry| ServerOrigin::parse(entry).unwrap());
        match server_trust(address, named_by, Some(OWN), &trusted) {
            ServerTrust::Trusted => "trusted".to_owned(),
            ServerTrust::Asks(origin) => origin.to_string(),
            ServerTrust::NoAddress => "no address".to_owned(),
        }
    }

    #[test]
    fn a_server_that_a_project_names_is_trusted_here_at_its_provider_and_in_the_persons_list() {
        for (address, expected) in [
            // This machine, in every spelling that leads to it.
            ("http://localhost:8080/v1", "trusted"),
            ("HTTP://LOCALHOST/v1", "trusted"),
            ("http://127.0.0.1:1/v1", "trusted"),
            ("http://127.9.9.9/v1", "trusted"),
            ("http://2130706433/v1", "trusted"),
            ("http://0x7f.1/v1", "trusted"),
            ("http://0177.0.0.1/v1", "trusted"),
            ("http://[::1]:8080/v1", "trusted"),
            ("https://evil.example@localhost/v1", "trusted"),
            ("http://①②⑦.0.0.1/v1", "trusted"),
            // What only looks like it.
            ("http://localhost./v1", "http://localhost."),
            ("http://localhost.evil.example/v1", "http://localhost.evil.example"),
            ("http://127.0.0.1.evil.example/v1", "http://127.0.0.1.evil.example"),
            ("http://localhost@evil.example/v1", "http://evil.example"),
            ("http://127.0.0.1:80@evil.example/v1", "http://evil.example"),
            ("http://[::ffff:127.0.0.1]/v1", "http://[::ffff:7f00:1]"),
            ("http://[::]/v1", "http://[::]"),
            ("http://0.0.0.0/v1", "http://0.0.0.0"),
            ("http://3221225985/v1", "http://192.0.2.1"),
            ("http://evil.example/localhost", "http://evil.example"),
            ("http://evil.example#@localhost/", "http://evil.example"),
            ("http://evil.example?@localhost/", "http://evil.example"),
            ("http:\\\\evil.example\\@localhost/", "http://evil.example"),
            // The provider's own server, under any path.
            ("https://api.openai.com/v2", "trusted"),
            ("https://API.OpenAI.com:443/", "trusted"),
            ("https://me:pass@api.openai.com/v1", "trusted"),
            ("https://api.openai.com./v1", "https://api.openai.com."),
            ("http://api.openai.com/v1", "http://api.openai.com"),
            ("https://api.openai.com:8443/v1", "https://api.openai.com:8443"),
            ("https://api.openai.com@evil.example/v1", "https://evil.example"),
            ("https://evil.example\\@api.openai.com/v1", "https://evil.example"),
            ("https://evil.example\t/@api.openai.com/v1", "https://evil.example"),
            ("https://api.openai.com.evil.example/v1", "https://api.openai.com.evil.example"),
            ("https://api-openai.com/v1", "https://api-openai.com"),
            ("https://api.оpenai.com/v1", "https://api.xn--penai-iye.com"),
            // The person's list.
            ("https://llm.example/any/path", "trusted"),
            ("https://llm.example:443/v1", "trusted"),
            ("http://10.0.0.5:8080/v1", "trusted"),
            ("https://BÜCHER.example/v1", "trusted"),
            ("https://xn--bcher-kva.example/v1", "trusted"),
            ("http://llm.example/v1", "http://llm.example"),
            ("http://10.0.0.5/v1", "http://10.0.0.5"),
            ("https://10.0.0.5:8080/v1", "https://10.0.0.5:8080"),
            ("https://sub.llm.example/v1", "https://sub.llm.example"),
            // What is no address is never trusted, and nothing can be sent there.
            ("", "no address"),
            ("localhost:8080/v1", "no address"),
            ("//localhost/v1", "no address"),
            ("ftp://localhost/v1", "no address"),
            ("file:///etc/passwd", "no address"),
            ("http://", "no address"),
            ("http://a b/v1", "no address"),
            ("http://[::1", "no address"),
            ("http://1.2.3.4.5/v1", "no address"),
            ("http://localhost:99999/v1", "no address"),
            ("${URL}", "no address"),
        ] {
            assert_eq!(trust(address, NamedBy::Project), expected, "{address}");
        }
    }

    #[test]
    fn what_the_person_or_the_list_of_providers_names_is_trusted_wherever_it_is() {
        for named_by in [NamedBy::Person, NamedBy::Providers] {
            assert_eq!(trust("https://evil.example/v1", named_by), "trusted");
            assert_eq!(trust("nothing", named_by), "no address");
        }
    }

    #[test]
    fn without_a_provider_of_its_name_and_without_a_list_only_this_machine_is_trusted() {
        let trust = |address| server_trust(address, NamedBy::Project, None, &[]);
        assert_eq!(trust("http://127.0.0.1/v1"), ServerTrust::Trusted);
        let origin = ServerOrigin::parse("https://api.openai.com").unwrap();
        assert_eq!(trust(OWN), ServerTrust::Asks(origin));
    }

    #[test]
    fn an_entry_of_the_list_is_scheme_host_and_port_and_no_more() {
        let says = |text: &str| match ServerOrigin::parse(text) {
            Ok(origin) => origin.to_string(),
            Err(error) => format!("wrong: {error}"),
        };
        let more = |origin: &str| format!("wrong: it must end after the host and port, as `{origin}` does");
        for (entry, expected) in [
            ("https://llm.example", "https://llm.example".to_owned()),
            ("HTTPS://LLM.example:443/", "https://llm.example".to_owned()),
            ("http://10.0.0.5:8080", "http://10.0.0.5:8080".to_owned()),
            ("http://[fe80::1]:80", "http://[fe80::1]".to_owned()),
            ("https://llm.example/v1", more("https://llm.example")),
            ("https://llm.example?a", more("https://llm.example")),
            ("https://llm.example#a", more("https://llm.example")),
            ("https://me@llm.example", more("https://llm.example")),
            ("https://@llm.example", more("https://llm.example")),
            ("ftp://llm.example", "wrong: it must begin with `http://` or `https://`".to_owned()),
            (
                "llm.example",
                "wrong: relative URL without a base; it must look like `http://127.0.0.1:8080/v1`".to_owned(),
            ),
        ] {
            assert_eq!(says(entry), expected, "{entry}");
        }
    }
}
