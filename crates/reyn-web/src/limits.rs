//! Every bound of this crate, its unit in its name.

/// Bytes of a body after decoding, where the options do not say another number.
pub const DOWNLOAD_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Redirects that one call follows.
pub const REDIRECTS_MAX: usize = 10;
/// Milliseconds for one call, redirects and waits included, where the request does not say another number.
pub const CALL_TIMEOUT_MS: u64 = 30_000;
/// Milliseconds that one call may ask for.
pub const CALL_TIMEOUT_MS_MAX: u64 = 600_000;
/// Milliseconds between two pieces of a body, where the options do not say another number.
pub const IDLE_TIMEOUT_MS: u64 = 10_000;
/// Milliseconds to connect, TLS included, to one of the addresses of a host.
pub const CONNECT_TIMEOUT_MS: u64 = 10_000;
/// Bytes of a URL.
pub const URL_BYTES_MAX: usize = 8192;
/// Characters of a URL in a message.
pub const SHOWN_URL_CHARS_MAX: usize = 200;
/// Addresses of one name; the rest is neither judged nor connected to.
pub const ADDRESSES_MAX: usize = 32;
/// Hosts that are remembered at once: being asked, or to be left alone for a while.
pub const HOSTS_MAX: usize = 256;
/// Seconds that a host can ask to be left alone; what is longer counts as this.
pub const RETRY_AFTER_SECONDS_MAX: u64 = 300;
/// Header lines of an answer.
pub const HEADERS_MAX: usize = 200;
/// Bytes of a file of certificates.
pub const CA_BUNDLE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bytes that a body's buffer grows by at the least.
pub const BODY_GROWTH_BYTES_MIN: usize = 64 * 1024;
/// Bits of an offset in the window of a body in Zstandard: 8 MiB (RFC 9659: what the encoding has in HTTP).
pub const ZSTD_WINDOW_BITS_MAX: u32 = 23;
/// Characters of a search query.
pub const QUERY_CHARS_MAX: usize = 500;
/// Results of one search.
pub const RESULTS_MAX: usize = 50;
/// Bytes of a page of search results.
pub const RESULTS_BYTES_MAX: usize = 4 * 1024 * 1024;
