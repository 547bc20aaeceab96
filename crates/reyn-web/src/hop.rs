//! One request to one URL: resolve, judge, connect to what was judged, read.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap,
    HeaderName, LOCATION, RETRY_AFTER,
};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::answer::Answer;
use crate::body::{Body, BodyError};
use crate::client::{Call, WebClient, location_of};
use crate::failure::Circumstances;
use crate::get_error::{GetError, Stage};
use crate::hosts::retry_after_seconds;
use crate::limits::{CONNECT_TIMEOUT_MS, HEADERS_MAX, URL_BYTES_MAX};
use crate::names::Pinned;
use crate::target::Target;

const USER_AGENT: &str = concat!("reyn/", env!("CARGO_PKG_VERSION"), " (agent; reads pages for a person)");
const ACCEPT_ENCODING_VALUE: &str = "gzip, br, zstd";

/// What came of one request.
pub(crate) enum HopEnd {
    /// A whole answer, without its hops.
    Answer(Box<Answer>),
    /// A redirect to follow.
    Redirect {
        /// The status.
        status: u16,
        /// Where it leads; not judged yet.
        location: Url,
    },
}

impl WebClient {
    /// Asks one URL, which has passed.
    pub(crate) async fn hop(&self, target: &Target, call: &Call<'_>) -> Result<HopEnd, GetError> {
        let host_port = target.host_port();
        let _turn = self.hosts.turn(&host_port, call.times).await?;
        let addresses = self.resolve(target, call).await?;
        let left = call.times.deadline.saturating_duration_since(Instant::now());
        let circumstances = Circumstances {
            target,
            has_proxy: !self.proxies.list.is_empty(),
            // It ends before the whole call does, so that the error says what was waited for.
            connect_timeout: Duration::from_millis(CONNECT_TIMEOUT_MS).min(left - left / 10),
        };
        let client = self.client(target, addresses, circumstances.connect_timeout)?;
        let sending = request(&client, self, target, call).send();
        let response = timeout_at(call.times.deadline, sending)
            .await
            .map_err(|_| timed_out(target, Stage::Head, call.times.whole))?
            .map_err(|error| circumstances.of_sending(error))?;
        if let (false, Some(peer)) = (circumstances.has_proxy, response.remote_addr()) {
            target.judge_all(&[peer.ip()], &call.policy)?;
        }
        let status = response.status().as_u16();
        let retry_after = text_of(response.headers(), &RETRY_AFTER)
            .and_then(|value| retry_after_seconds(&value, jiff::Timestamp::now()));
        if let (429 | 503, Some(seconds)) = (status, retry_after) {
            self.hosts.leave_alone(&host_port, seconds);
        }
        if call.is_following
            && matches!(status, 301 | 302 | 303 | 307 | 308)
            && let Some(location) = location_of(target.url(), response.headers())
        {
            return Ok(HopEnd::Redirect { status, location: location? });
        }
        let headers = response.headers().clone();
        let body = self.receive(response, call, &circumstances).await?;
        Ok(HopEnd::Answer(Box::new(Answer {
            final_url: target.url().clone(),
            status,
            content_type: text_of(&headers, &CONTENT_TYPE),
            content_language: text_of(&headers, &CONTENT_LANGUAGE),
            content_encoding: text_of(&headers, &CONTENT_ENCODING),
            location: text_of(&headers, &LOCATION).filter(|location| location.len() <= URL_BYTES_MAX),
            retry_after_seconds: retry_after,
            body,
            hops: vec![],
        })))
    }

    /// The judged addresses of the host; empty where the host is an address, which is judged already.
    async fn resolve(&self, target: &Target, call: &Call<'_>) -> Result<Vec<IpAddr>, GetError> {
        if target.literal().is_some() {
            return Ok(vec![]);
        }
        let no_address = |why: String| GetError::Dns { host: target.host().to_owned(), why };
        let mut addresses = timeout_at(call.times.deadline, self.names.lookup(target.host()))
            .await
            .map_err(|_| timed_out(target, Stage::Resolving, call.times.whole))?
            .map_err(|error| no_address(error.to_string()))?;
        if addresses.is_empty() {
            return Err(no_address("the resolver knows none".to_owned()));
        }
        target.judge_all(&addresses, &call.policy)?;
        addresses.dedup();
        Ok(addresses)
    }

    /// A client that can connect to the judged addresses and to nothing else.
    fn client(
        &self,
        target: &Target,
        addresses: Vec<IpAddr>,
        connect_timeout: Duration,
    ) -> Result<Client, GetError> {
        let pinned = Pinned {
            host: target.host().to_owned(),
            addresses,
            proxies: self.proxies.servers.clone(),
            names: Arc::clone(&self.names),
        };
        let builder = ClientBuilder::new()
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .http1_only()
            .http1_max_headers(HEADERS_MAX)
            .http1_ignore_invalid_headers_in_responses(true)
            .pool_max_idle_per_host(0)
            .connect_timeout(connect_timeout)
            .tcp_nodelay(true)
            .user_agent(USER_AGENT)
            .dns_resolver(Arc::new(pinned));
        let builder = self.proxies.list.iter().cloned().fold(builder, ClientBuilder::proxy);
        let wrong = |why: String| GetError::Tls { host: target.host().to_owned(), why };
        let is_https = target.url().scheme() == "https" || !self.proxies.list.is_empty();
        let builder = self.trust.apply(builder, is_https).map_err(wrong)?;
        builder.build().map_err(|error| wrong(error.without_url().to_string()))
    }

    async fn receive(
        &self,
        mut response: Response,
        call: &Call<'_>,
        circumstances: &Circumstances<'_>,
    ) -> Result<Vec<u8>, GetError> {
        let target = circumstances.target;
        let encoding = text_of(response.headers(), &CONTENT_ENCODING).unwrap_or_default();
        let failed = |error| match error {
            BodyError::TooLarge => {
                GetError::TooLarge { url: circumstances.shown(), limit_bytes: call.bytes_max }
            }
            BodyError::Decode(why) => {
                GetError::Decode { url: circumstances.shown(), encoding: encoding.clone(), why }
            }
        };
        let mut body = Body::new(&encoding, response.content_length(), call.bytes_max).map_err(failed)?;
        loop {
            let left = call.times.deadline.saturating_duration_since(Instant::now());
            let is_last = left <= self.idle_timeout;
            let (stage, after) =
                if is_last { (Stage::Body, call.times.whole) } else { (Stage::Piece, self.idle_timeout) };
            let piece = timeout(left.min(self.idle_timeout), response.chunk())
                .await
                .map_err(|_| timed_out(target, stage, after))?
                .map_err(|error| circumstances.of_receiving(error, body.received_bytes()))?;
            let Some(piece) = piece else { break };
            body.push(&piece).map_err(failed)?;
        }
        body.finish().map_err(failed)
    }
}

fn request(client: &Client, web: &WebClient, target: &Target, call: &Call<'_>) -> reqwest::RequestBuilder {
    let mut request = client
        .request(call.method.clone(), target.url().clone())
        .header(ACCEPT, call.accept)
        .header(ACCEPT_ENCODING, ACCEPT_ENCODING_VALUE)
        .header(ACCEPT_LANGUAGE, web.accept_language.clone());
    for (name, value) in &call.headers {
        request = request.header(name, value.clone());
    }
    match &call.form {
        Some(form) => request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form.clone()),
        None => request,
    }
}

fn timed_out(target: &Target, stage: Stage, after: Duration) -> GetError {
    GetError::Timeout { host: target.host().to_owned(), stage, after }
}

fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}
