//! A model file from an address, gone on from where the last attempt stopped.

use std::fs::{self, File};
use std::io::Write as _;
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, LOCATION, RANGE};
use reqwest::{Response, StatusCode, Url};
use reyn_core::limits::{
    LLM_CONNECT_SECONDS, LLM_FIRST_BYTE_SECONDS, LLM_IDLE_SECONDS, MODEL_FILE_ATTEMPTS_MAX,
    MODEL_FILE_REDIRECTS_MAX,
};
use tokio::time::timeout;

use super::pull::{OnProgress, PullProgress, SourceError, Wish};
use crate::http_client::{client_for, is_loopback, root_cause};

/// Fetches all bytes. A transfer that breaks off is taken up again while it brings anything.
pub(super) async fn fetch(
    url: &str,
    wish: &Wish<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), SourceError> {
    let mut fruitless = 0;
    loop {
        let before = bytes_here(wish);
        match transfer(url, wish, on_progress).await {
            Ok(()) => return Ok(()),
            Err(Broken::ForGood(why)) => return Err(SourceError(why)),
            Err(Broken::MayGoOn(why)) => {
                fruitless = if bytes_here(wish) > before { 1 } else { fruitless + 1 };
                if fruitless >= MODEL_FILE_ATTEMPTS_MAX {
                    return Err(SourceError(why));
                }
            }
        }
    }
}

/// How a transfer failed.
enum Broken {
    MayGoOn(String),
    ForGood(String),
}

fn bytes_here(wish: &Wish<'_>) -> u64 {
    fs::metadata(wish.part).map_or(0, |file| file.len())
}

async fn transfer(url: &str, wish: &Wish<'_>, on_progress: &mut OnProgress<'_>) -> Result<(), Broken> {
    let bytes_total = wish.file.bytes;
    let here = bytes_here(wish);
    if here == bytes_total {
        return Ok(());
    }
    let start = if here > bytes_total { 0 } else { here };
    let url = Url::parse(url).map_err(|error| Broken::ForGood(error.to_string()))?;
    let mut response = get(url, start).await?;
    let start = accepted_start(&response, start, bytes_total)?;
    let disk = |error: std::io::Error| Broken::ForGood(format!("`{}`: {error}", wish.part.display()));
    let mut file = File::options().create(true).truncate(false).write(true).open(wish.part).map_err(disk)?;
    file.set_len(start).map_err(disk)?;
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(start)).map_err(disk)?;
    let mut bytes_done = start;
    loop {
        on_progress(PullProgress { what: "downloading", bytes_done, bytes_total, is_failure: false });
        let piece = timeout(Duration::from_secs(LLM_IDLE_SECONDS), response.chunk()).await;
        let piece = piece
            .map_err(|_| Broken::MayGoOn(format!("nothing came for {LLM_IDLE_SECONDS} s")))?
            .map_err(|error| Broken::MayGoOn(stopped(bytes_done, bytes_total, &root_cause(&error))))?;
        let Some(piece) = piece else { break };
        bytes_done += piece.len() as u64;
        if bytes_done > bytes_total {
            file.set_len(0).map_err(disk)?;
            return Err(Broken::ForGood(format!("it is longer than {bytes_total} bytes")));
        }
        file.write_all(&piece).map_err(disk)?;
    }
    if bytes_done < bytes_total {
        return Err(Broken::MayGoOn(stopped(bytes_done, bytes_total, "the server closed the connection")));
    }
    Ok(())
}

fn stopped(bytes_done: u64, bytes_total: u64, why: &str) -> String {
    format!("the download stopped after {bytes_done} of {bytes_total} bytes: {why}")
}

/// Asks for the bytes from `start` on. Follows redirects to `https`, and on this machine to this machine.
async fn get(mut url: Url, start: u64) -> Result<Response, Broken> {
    for _ in 0..=MODEL_FILE_REDIRECTS_MAX {
        if url.scheme() != "https" && !is_loopback(&url) {
            return Err(Broken::ForGood(format!("`{url}` is not `https`")));
        }
        let client = client_for(&url, Duration::from_secs(LLM_CONNECT_SECONDS))
            .map_err(|error| Broken::ForGood(error.to_string()))?;
        let mut request = client.get(url.clone());
        if start > 0 {
            request = request.header(RANGE, format!("bytes={start}-"));
        }
        let sent = timeout(Duration::from_secs(LLM_FIRST_BYTE_SECONDS), request.send()).await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) if error.is_connect() => {
                return Err(Broken::ForGood(format!("not reachable: {}", root_cause(&error))));
            }
            Ok(Err(error)) => return Err(Broken::MayGoOn(root_cause(&error))),
            Err(_) => return Err(Broken::MayGoOn(format!("no answer within {LLM_FIRST_BYTE_SECONDS} s"))),
        };
        if !response.status().is_redirection() {
            return Ok(response);
        }
        let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
        let next = target.and_then(|target| url.join(target).ok());
        url = next.ok_or_else(|| Broken::ForGood("a redirect to nowhere".to_owned()))?;
    }
    Err(Broken::ForGood(format!("more than {MODEL_FILE_REDIRECTS_MAX} redirects")))
}

/// Where the bytes of an answer begin: where they were asked for, or at 0.
fn accepted_start(response: &Response, asked: u64, bytes_total: u64) -> Result<u64, Broken> {
    let start = match response.status() {
        StatusCode::OK => 0,
        StatusCode::PARTIAL_CONTENT => {
            let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
            if !range.is_some_and(|range| range.starts_with(&format!("bytes {asked}-"))) {
                return Err(Broken::ForGood(format!("it sent {range:?} when asked for {asked} on")));
            }
            asked
        }
        other => return Err(Broken::ForGood(format!("it answers {other}"))),
    };
    match response.content_length() {
        Some(bytes) if start + bytes != bytes_total => Err(Broken::ForGood(format!(
            "it offers {} bytes, and the model has {bytes_total}",
            start + bytes
        ))),
        Some(_) | None => Ok(start),
    }
}
