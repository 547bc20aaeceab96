//! The web client against real servers on this machine.

#![allow(clippy::unwrap_used, reason = "helpers of tests stand outside of test functions here")]

mod addresses;
mod bodies;
mod faults;
mod names;
mod proxies;
mod redirects;
mod requests;
mod search;
mod server;
mod tls;

use std::net::SocketAddr;

use reyn_web::{AddressPolicy, Answer, GetError, GetRequest, HostPort, WebClient, WebClientOptions};
use tokio_util::sync::CancellationToken;

/// Options that reach these servers and nothing else beside the internet.
fn reaching(servers: &[SocketAddr]) -> WebClientOptions {
    let allow_hosts = servers.iter().map(|address| address.to_string().parse().unwrap()).collect();
    WebClientOptions { policy: AddressPolicy { allow_private: false, allow_hosts }, ..Default::default() }
}

fn allowing(entries: &[String]) -> AddressPolicy {
    let allow_hosts = entries.iter().map(|entry| entry.parse::<HostPort>().unwrap()).collect();
    AddressPolicy { allow_private: false, allow_hosts }
}

async fn get(options: WebClientOptions, url: &str) -> Result<Answer, GetError> {
    get_within(options, url, 10_000).await
}

async fn get_within(options: WebClientOptions, url: &str, timeout_ms: u64) -> Result<Answer, GetError> {
    let request = GetRequest { timeout_ms, ..GetRequest::new(url) };
    WebClient::new(options).unwrap().get(&request, &CancellationToken::new()).await
}
