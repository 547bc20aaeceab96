//! Servers that break: each has its own error, within its time.

use std::time::{Duration, Instant};

use reyn_web::{GetError, Stage, WebClientOptions};
use tokio::io::AsyncWriteExt as _;

use crate::server::{Server, answer};
use crate::{get, get_within, reaching};

const HOST: &str = "127.0.0.1";

#[tokio::test]
async fn a_body_shorter_than_its_length_is_a_reset_that_says_how_much_came() {
    let server = Server::saying("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await;
    let error = get(reaching(&[server.address]), &server.url("/")).await.unwrap_err();
    assert_eq!(error, GetError::Reset { host: HOST.into(), received_bytes: 4 });
}

#[tokio::test]
async fn a_body_longer_than_its_length_ends_at_its_length() {
    let server =
        Server::saying("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfourHTTP/1.1 200 OK\r\n\r\n").await;
    assert_eq!(get(reaching(&[server.address]), &server.url("/")).await.unwrap().body, b"four");
}

#[tokio::test]
async fn a_body_without_a_length_ends_with_the_connection() {
    let server = Server::saying("HTTP/1.0 200 OK\r\n\r\nall of it").await;
    assert_eq!(get(reaching(&[server.address]), &server.url("/")).await.unwrap().body, b"all of it");
}

#[tokio::test]
async fn a_connection_cut_in_the_body_is_a_reset() {
    let server = Server::new(|_, _, mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n").await;
        let _ = stream.flush().await;
        tokio::task::yield_now().await;
        // Closing with a linger of nothing sends RST.
        let _ = stream.set_zero_linger();
    })
    .await;
    let error = get(reaching(&[server.address]), &server.url("/")).await.unwrap_err();
    assert_eq!(error.kind(), "reset", "{error:?}");
}

#[tokio::test]
async fn a_connection_closed_before_the_head_is_a_reset_and_asked_once() {
    for bytes in ["", "HTTP/1.1 200 OK\r\ncontent-"] {
        let server = Server::saying(bytes).await;
        let error = get(reaching(&[server.address]), &server.url("/")).await.unwrap_err();
        assert_eq!(error, GetError::Reset { host: HOST.into(), received_bytes: 0 });
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn what_is_no_http_is_a_protocol_error() {
    for bytes in [
        "SSH-2.0-OpenSSH_9.9\r\n",
        "220 smtp.example.com ESMTP\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 999999 OK\r\n\r\n",
    ] {
        let server = Server::saying(bytes).await;
        let error = get(reaching(&[server.address]), &server.url("/")).await.unwrap_err();
        assert_eq!(error.kind(), "protocol", "{bytes:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_head_without_an_end_is_a_protocol_error_and_bounded() {
    let server = Server::new(|_, _, mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream
            .write_all(b"x-filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n")
            .await
            .is_ok()
        {}
    })
    .await;
    let error = get(reaching(&[server.address]), &server.url("/")).await.unwrap_err();
    assert_eq!(error.kind(), "protocol", "{error:?}");
}

#[tokio::test]
async fn a_header_line_that_is_no_header_is_passed_over() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nno colon here\r\ncontent-length: 2\r\n\r\nok").await;
    assert_eq!(get(reaching(&[server.address]), &server.url("/")).await.unwrap().body, b"ok");
}

/// Sends a piece every 20 ms, for ever: no two pieces are far apart, only the whole call's time ends it.
async fn dripping(start: &'static [u8], piece: &'static [u8]) -> Server {
    Server::new(move |_, _, mut stream| async move {
        let mut clock = tokio::time::interval(Duration::from_millis(20));
        let _ = stream.write_all(start).await;
        while stream.write_all(piece).await.is_ok() {
            clock.tick().await;
        }
    })
    .await
}

#[tokio::test]
async fn a_head_that_drips_ends_with_the_time_of_the_call() {
    let server = dripping(b"HTTP/1.1 200 OK\r\n", b"x").await;
    let started = Instant::now();
    let error = get_within(reaching(&[server.address]), &server.url("/"), 300).await.unwrap_err();
    let after = Duration::from_millis(300);
    assert_eq!(error, GetError::Timeout { host: HOST.into(), stage: Stage::Head, after });
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_body_that_drips_ends_with_the_time_of_the_call() {
    let server = dripping(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\na\r\n").await;
    let started = Instant::now();
    let error = get_within(reaching(&[server.address]), &server.url("/"), 300).await.unwrap_err();
    let after = Duration::from_millis(300);
    assert_eq!(error, GetError::Timeout { host: HOST.into(), stage: Stage::Body, after });
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_body_that_stops_ends_with_the_time_between_two_pieces() {
    let server = Server::new(|_, _, mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").await;
        std::future::pending::<()>().await;
    })
    .await;
    let started = Instant::now();
    let options = WebClientOptions { idle_timeout_ms: 200, ..reaching(&[server.address]) };
    let error = get_within(options, &server.url("/"), 60_000).await.unwrap_err();
    let after = Duration::from_millis(200);
    assert_eq!(error, GetError::Timeout { host: HOST.into(), stage: Stage::Piece, after });
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!(error.to_string(), "`127.0.0.1` sent nothing more of its answer, for 200 ms");
}

#[tokio::test]
async fn a_server_that_says_nothing_ends_with_the_time_of_the_call() {
    let server = Server::new(|_, _, stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let error = get_within(reaching(&[server.address]), &server.url("/"), 200).await.unwrap_err();
    assert_eq!(error.kind(), "timeout");
}

#[tokio::test]
async fn a_circle_of_slow_redirects_has_one_time_for_all() {
    let server = Server::new(|index, _, mut stream| async move {
        let mut clock = tokio::time::interval(Duration::from_millis(90));
        clock.tick().await;
        clock.tick().await;
        let location = format!("location: /{index}");
        let _ = stream.write_all(&answer("302 Found", &[&location], b"")).await;
    })
    .await;
    let started = Instant::now();
    let error = get_within(reaching(&[server.address]), &server.url("/"), 300).await.unwrap_err();
    assert_eq!(error.kind(), "timeout");
    assert!(started.elapsed() < Duration::from_secs(3));
    assert!(server.connections() < 6);
}
