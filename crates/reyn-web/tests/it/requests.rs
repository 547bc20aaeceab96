//! What is sent, to whom, and how often.

use std::time::{Duration, Instant};

use reyn_web::{GetError, GetRequest, WebClient};
use tokio::io::AsyncWriteExt as _;
use tokio_util::sync::CancellationToken;

use crate::server::{Server, answer, redirect};
use crate::{get, get_within, reaching};

#[tokio::test]
async fn a_request_says_what_it_is_and_nothing_about_the_person() {
    let server = Server::routing(|path| match path {
        "/" => answer("302 Found", &["location: /next", "set-cookie: a=b"], b""),
        _ => answer("200 OK", &[], b""),
    })
    .await;
    get(reaching(&[server.address]), &server.url("/")).await.unwrap();
    let expected = |path| {
        format!(
            "GET {path} HTTP/1.1\r\naccept: text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.8\r\n\
             accept-encoding: gzip, br, zstd\r\naccept-language: en,*;q=0.5\r\n\
             user-agent: reyn/{} (agent; reads pages for a person)\r\nhost: {}\r\n\r\n",
            env!("CARGO_PKG_VERSION"),
            server.address
        )
    };
    assert_eq!(server.requests(), [expected("/"), expected("/next")]);
}

#[tokio::test]
async fn a_status_of_failure_is_an_answer_with_its_body() {
    for status in ["404 Not Found", "500 Oops", "418 Teapot", "401 Unauthorized"] {
        let server = Server::saying(answer(status, &["content-type: text/html; charset=x"], b"why")).await;
        let fetched = get(reaching(&[server.address]), &server.url("/")).await.unwrap();
        assert_eq!(
            (fetched.status.to_string(), fetched.body.as_slice()),
            (status[..3].into(), b"why".as_slice())
        );
        assert_eq!(fetched.content_type.as_deref(), Some("text/html; charset=x"));
    }
}

#[tokio::test]
async fn a_host_that_asks_to_be_left_alone_is_not_asked_again() {
    for status in ["429 Too Many Requests", "503 Unavailable"] {
        let server = Server::saying(answer(status, &["retry-after: 100000"], b"")).await;
        let client = WebClient::new(reaching(&[server.address])).unwrap();
        let request = GetRequest::new(server.url("/"));
        let first = client.get(&request, &CancellationToken::new()).await.unwrap();
        assert_eq!(first.retry_after_seconds, Some(100_000));
        let started = Instant::now();
        let error = client.get(&request, &CancellationToken::new()).await.unwrap_err();
        assert_eq!(error, GetError::RetryLater { host: "127.0.0.1".into(), seconds: 300 });
        assert!(started.elapsed() < Duration::from_secs(1));
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn a_redirect_to_a_host_that_asks_to_be_left_alone_is_not_followed_either() {
    let busy = Server::saying(answer("429 Slow Down", &["retry-after: 200"], b"")).await;
    let server = Server::saying(redirect("302 Found", &busy.url("/x"))).await;
    let client = WebClient::new(reaching(&[server.address, busy.address])).unwrap();
    let request = GetRequest::new(server.url("/"));
    assert_eq!(client.get(&request, &CancellationToken::new()).await.unwrap().status, 429);
    let error = client.get(&request, &CancellationToken::new()).await.unwrap_err();
    assert_eq!((error.kind(), busy.connections()), ("retry_later", 1));
}

#[tokio::test]
async fn two_calls_to_one_host_come_one_after_the_other() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (Arc::clone(&open), Arc::clone(&most));
    let server = Server::new(move |_, _, mut stream| {
        let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // Lets the other calls of this test run as far as they can.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            now.fetch_sub(1, Ordering::SeqCst);
            let _ = stream.write_all(&answer("200 OK", &[], b"")).await;
        }
    })
    .await;
    let client = WebClient::new(reaching(&[server.address])).unwrap();
    let request = GetRequest::new(server.url("/"));
    let cancel = CancellationToken::new();
    let calls = (0..6).map(|_| client.get(&request, &cancel));
    for result in futures::future::join_all(calls).await {
        result.unwrap();
    }
    assert_eq!((server.connections(), most.load(Ordering::SeqCst)), (6, 1));
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_at_once_and_frees_its_host() {
    let server = Server::new(|index, _, mut stream| async move {
        if index == 0 {
            std::future::pending::<()>().await;
        }
        let _ = stream.write_all(&answer("200 OK", &[], b"second")).await;
    })
    .await;
    let client = WebClient::new(reaching(&[server.address])).unwrap();
    let request = GetRequest::new(server.url("/"));
    let cancel = CancellationToken::new();
    let (first, ()) = tokio::join!(client.get(&request, &cancel), async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(first, Err(GetError::Cancelled));
    let second = client.get(&request, &CancellationToken::new()).await.unwrap();
    assert_eq!(second.body, b"second");
}

#[tokio::test]
async fn a_port_where_nobody_listens_refuses() {
    let server = Server::saying("").await;
    let address = server.address;
    drop(server);
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let error = get_within(reaching(&[address]), &format!("http://{address}/"), 5000).await.unwrap_err();
    assert_eq!(error, GetError::Refused { host: "127.0.0.1".into(), port: address.port() });
}
