//! Why a page was not fetched, in words for a model: what, why, and what to do.

use std::time::Duration;

use url::Url;

use crate::policy::{Blocked, HostPort};
use crate::shown_url::shown_url;

/// Why there is no answer. An HTTP status is never one of these.
///
/// The message is lower case, holds no user, password or key of a URL, and ends without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GetError {
    /// The text is no URL.
    #[error("the text is no URL that can be fetched: {why}")]
    BadUrl {
        /// What is wrong with it, without repeating it.
        why: String,
    },
    /// The scheme is neither `http` nor `https`.
    #[error("`{scheme}:` cannot be fetched, only `http:` and `https:`")]
    Scheme {
        /// The scheme, without a colon.
        scheme: String,
    },
    /// The URL has a user or a password before its host.
    #[error("the URL has a user name or password before its host, which is never sent")]
    Userinfo,
    /// The address, or one of the host's addresses, may not be connected to.
    #[error("`{url}` was not fetched: {blocked}")]
    BlockedAddress {
        /// The URL, of the first request or of a redirect.
        url: String,
        /// What is refused and why.
        blocked: Blocked,
    },
    /// The name does not resolve.
    #[error("the host `{host}` has no address: {why}")]
    Dns {
        /// The host.
        host: String,
        /// What the system's resolver says.
        why: String,
    },
    /// Nothing listens there.
    #[error("`{host}` refused the connection on port {port}")]
    Refused {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// No connection could be made.
    #[error("no connection to `{host}`: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// What the system says.
        why: String,
    },
    /// TLS failed, mostly because of the certificate.
    #[error("no secure connection to `{host}`: {why}")]
    Tls {
        /// The host.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// It took too long.
    #[error("`{host}` {stage}, for {} ms", after.as_millis())]
    Timeout {
        /// The host.
        host: String,
        /// What was waited for.
        stage: Stage,
        /// The time that was given for it.
        after: Duration,
    },
    /// The connection ended before the answer did.
    #[error(
        "`{host}` closed the connection before the end of the answer, after {received_bytes} bytes of its body"
    )]
    Reset {
        /// The host.
        host: String,
        /// Bytes of the body that had come, as they were sent.
        received_bytes: usize,
    },
    /// What came is no HTTP.
    #[error("the answer of `{host}` is no valid HTTP: {why}")]
    Protocol {
        /// The host.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// The body is larger than is downloaded.
    #[error("the body of `{url}` is larger than {limit_bytes} bytes, the most that is downloaded")]
    TooLarge {
        /// The URL.
        url: String,
        /// The limit on decoded bytes.
        limit_bytes: usize,
    },
    /// One redirect led to the next, too often or in a circle.
    #[error("{}", redirects_text(*count, *is_loop, url))]
    TooManyRedirects {
        /// The redirects that were followed.
        count: usize,
        /// Whether a URL came twice.
        is_loop: bool,
        /// The URL that was not asked for any more.
        url: String,
    },
    /// A redirect leads to a host that was not admitted ([`crate::GetRequest::admits`]).
    #[error("`{url}` redirects to `{target}`, which takes a permission of its own")]
    NotAdmitted {
        /// The URL that redirects.
        url: String,
        /// Where it redirects to; the rest of that address is not shown.
        target: HostPort,
    },
    /// The body is not in the encoding that its headers say.
    #[error("the body of `{url}` cannot be decoded as `{encoding}`: {why}")]
    Decode {
        /// The URL.
        url: String,
        /// The value of `content-encoding`.
        encoding: String,
        /// What is wrong.
        why: String,
    },
    /// The host asked to be left alone.
    #[error("`{host}` asks to be left alone for {seconds} more seconds")]
    RetryLater {
        /// The host.
        host: String,
        /// The rest of the wait.
        seconds: u64,
    },
    /// Too many calls are under way.
    #[error("`{host}` is not asked now: {HOSTS_MAX} other hosts are being asked", HOSTS_MAX = crate::limits::HOSTS_MAX)]
    Busy {
        /// The host.
        host: String,
    },
    /// The proxy does not do its part.
    #[error("the proxy failed for `{host}`: {why}")]
    Proxy {
        /// The host behind the proxy.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// The call was cancelled.
    #[error("the fetch was cancelled")]
    Cancelled,
}

/// What a call waited for when its time was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The addresses of the name.
    Resolving,
    /// The end of another call to the same host.
    Queue,
    /// A connection.
    Connecting,
    /// The head of the answer.
    Head,
    /// The rest of the body, within the whole call's time.
    Body,
    /// The next piece of the body.
    Piece,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Resolving => "could not be resolved in time",
            Self::Queue => "was still being asked by another call",
            Self::Connecting => "accepted no connection in time",
            Self::Head => "sent no complete answer head in time",
            Self::Body => "did not end its answer in time",
            Self::Piece => "sent nothing more of its answer",
        })
    }
}

impl GetError {
    /// The one word for records and results.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::BadUrl { .. } => "bad_url",
            Self::Scheme { .. } => "scheme",
            Self::Userinfo => "userinfo",
            Self::BlockedAddress { .. } => "blocked_address",
            Self::Dns { .. } => "dns",
            Self::Refused { .. } => "refused",
            Self::Unreachable { .. } => "unreachable",
            Self::Tls { .. } => "tls",
            Self::Timeout { .. } => "timeout",
            Self::Reset { .. } => "reset",
            Self::Protocol { .. } => "protocol",
            Self::TooLarge { .. } => "too_large",
            Self::TooManyRedirects { .. } => "too_many_redirects",
            Self::NotAdmitted { .. } => "not_admitted",
            Self::Decode { .. } => "decode",
            Self::RetryLater { .. } => "retry_later",
            Self::Busy { .. } => "busy",
            Self::Proxy { .. } => "proxy",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the message quotes more than the URL that was asked for: a server's words, or an address that a
    /// redirect leads to.
    #[must_use]
    pub fn quotes_beside(&self, asked: &Url) -> bool {
        let is_other_host = |host: &str| asked.host_str() != Some(host);
        let is_other_url = |url: &str| shown_url(asked) != url;
        match self {
            // A URL that was asked for passed these before, so it is a redirect's.
            Self::BadUrl { .. } | Self::Scheme { .. } | Self::Userinfo => true,
            Self::TooManyRedirects { .. } | Self::NotAdmitted { .. } => true,
            Self::Protocol { .. } | Self::Tls { .. } | Self::Decode { .. } => true,
            Self::BlockedAddress { url, .. } | Self::TooLarge { url, .. } => is_other_url(url),
            Self::Dns { host, .. }
            | Self::Refused { host, .. }
            | Self::Unreachable { host, .. }
            | Self::Timeout { host, .. }
            | Self::Reset { host, .. }
            | Self::RetryLater { host, .. }
            | Self::Busy { host }
            | Self::Proxy { host, .. } => is_other_host(host),
            Self::Cancelled => false,
        }
    }

    /// What a model can do now.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::BadUrl { .. } => "write a whole URL, as in `https://example.com/page`",
            Self::Scheme { .. } => "use an `https:` URL; a file of the workspace is read with `read_file`",
            Self::Userinfo => "write the URL without them",
            Self::BlockedAddress { blocked, .. } => {
                return blocked.lifts_when.as_ref().map_or_else(
                    || "no setting allows it; use another source".to_owned(),
                    |lifts| format!("only the operator can allow it: when {lifts}"),
                );
            }
            Self::Dns { .. } => "check how the name is written, or search for the page",
            Self::Refused { .. } => "check the port and the scheme; the server may be down",
            Self::Unreachable { .. } => "the network or the server may be down; use another source",
            Self::Tls { .. } => {
                "do not trust this address; use another source, or ask the operator: `web_fetch.ca_bundle` names \
                 a file of certificates to trust instead"
            }
            Self::Timeout { .. } => "try once more with a longer timeout, or use another source",
            Self::Reset { .. } | Self::Protocol { .. } => "try once more; if it stays so, use another source",
            Self::TooLarge { .. } => "fetch a smaller page or a part of it; the operator sets the limit",
            Self::TooManyRedirects { .. } => "the page may want cookies or a login; use another source",
            Self::NotAdmitted { .. } => "fetch that address itself, so that the person can be asked",
            Self::Decode { .. } => "the server sends a broken body; use another source",
            Self::RetryLater { seconds, .. } => {
                return format!("do not ask this host again for {seconds} seconds; use another source until then");
            }
            Self::Busy { .. } => "wait for other fetches to end",
            Self::Proxy { .. } => "the operator must look at the proxy that the environment names",
            Self::Cancelled => "nothing more was sent",
        }
        .to_owned()
    }
}

fn redirects_text(count: usize, is_loop: bool, url: &str) -> String {
    if is_loop {
        format!("{count} redirects lead back to `{url}`")
    } else {
        format!("more than {count} redirects; the next would lead to `{url}`")
    }
}
