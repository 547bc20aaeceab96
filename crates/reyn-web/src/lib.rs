//! Fetching from the web and searching it, behind a guard that no URL, redirect or name gets around.
//!
//! Invariant: a connection is made only to an address that was judged for the host and port of its URL, and
//! nothing is resolved between the judgement and the connection.

mod address;
mod answer;
mod body;
mod brotli_stream;
mod client;
mod failure;
mod get_error;
mod hop;
mod host_name;
mod hosts;
pub mod limits;
mod names;
mod options;
mod page_url;
mod policy;
mod proxy;
pub mod search;
mod shown_url;
mod sink;
mod target;
mod tls;
mod zstd_stream;

pub use address::AddressClass;
pub use answer::{Answer, Hop};
pub use client::WebClient;
pub use get_error::{GetError, Stage};
pub use host_name::{host_name, host_of};
pub use names::{NameLookup, SystemNames};
pub use options::{Admits, GetRequest, WebClientError, WebClientOptions};
pub use page_url::{is_server_address, page_url};
pub use policy::{AddressPolicy, Blocked, HostPort, HostPortError, judge, judge_name, judge_proxy};
pub use proxy::{ProxyError, ProxyOptions};
pub use shown_url::shown_url;
pub use target::Target;
pub use tls::CaBundleError;
