//! What a server answered.

use url::Url;

/// A whole answer, whatever its status.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// The URL that answered, after the redirects; without a fragment.
    pub final_url: Url,
    /// The HTTP status.
    pub status: u16,
    /// `content-type`, as sent.
    pub content_type: Option<String>,
    /// `content-language`, as sent.
    pub content_language: Option<String>,
    /// `content-encoding`, as sent; the body is decoded already.
    pub content_encoding: Option<String>,
    /// `location`, as sent: a status 3xx that was not followed.
    pub location: Option<String>,
    /// Seconds that the server asks to be left alone for, from `retry-after`.
    pub retry_after_seconds: Option<u64>,
    /// The body, decoded.
    pub body: Vec<u8>,
    /// The redirects that were followed, in order; empty where the first URL answered.
    pub hops: Vec<Hop>,
}

impl Answer {
    /// Whether a redirect led from `https` to `http`, so that the page may have been changed on its way.
    #[must_use]
    pub fn is_downgraded(&self) -> bool {
        self.hops.iter().any(|hop| hop.is_downgrade)
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer")
            .field("final_url", &self.final_url.as_str())
            .field("status", &self.status)
            .field("content_type", &self.content_type)
            .field("body_bytes", &self.body.len())
            .field("hops", &self.hops)
            .finish_non_exhaustive()
    }
}

/// One redirect that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The URL that redirected.
    pub url: Url,
    /// Its status: 301, 302, 303, 307 or 308.
    pub status: u16,
    /// Whether it led from `https` to `http`.
    pub is_downgrade: bool,
}
