//! Redirects: followed by hand, counted, and each judged.

use reyn_web::{Answer, GetError, Hop};
use url::Url;

use crate::server::{Server, answer, redirect};
use crate::{get, reaching};

#[tokio::test]
async fn every_status_that_redirects_is_followed_with_get() {
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let server = Server::routing(move |path| match path {
            "/end?q=1" => answer("200 OK", &["content-type: text/plain"], b"end"),
            _ => redirect(status, "end?q=1#part"),
        })
        .await;
        let fetched = get(reaching(&[server.address]), &server.url("/start#x")).await.unwrap();
        let url = |path| Url::parse(&server.url(path)).unwrap();
        let hops =
            vec![Hop { url: url("/start"), status: status[..3].parse().unwrap(), is_downgrade: false }];
        let expected = Answer {
            final_url: url("/end?q=1"),
            status: 200,
            content_type: Some("text/plain".into()),
            content_language: None,
            content_encoding: None,
            location: None,
            retry_after_seconds: None,
            body: b"end".to_vec(),
            hops,
        };
        assert_eq!(fetched, expected, "{status}");
    }
}

#[tokio::test]
async fn a_redirect_without_a_location_is_an_answer() {
    for status in ["302 Found", "304 Not Modified", "300 Multiple Choices"] {
        let server = Server::saying(answer(status, &[], b"")).await;
        let fetched = get(reaching(&[server.address]), &server.url("/")).await.unwrap();
        assert_eq!((fetched.status, fetched.hops), (status[..3].parse().unwrap(), vec![]));
    }
}

#[tokio::test]
async fn a_circle_is_an_error_that_names_how_many_redirects_it_has() {
    let server = Server::routing(|path| match path {
        "/a" => redirect("302 Found", "/b"),
        "/b" => redirect("302 Found", "/c"),
        _ => redirect("302 Found", "/a"),
    })
    .await;
    let error = get(reaching(&[server.address]), &server.url("/a")).await.unwrap_err();
    assert_eq!(error, GetError::TooManyRedirects { count: 3, is_loop: true, url: server.url("/a") });
    assert_eq!(error.to_string(), format!("3 redirects lead back to `{}`", server.url("/a")));
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn ten_redirects_are_followed_and_an_eleventh_is_not() {
    let counting = |last: usize| {
        Server::routing(move |path| match path[1..].parse::<usize>().unwrap() {
            at if at == last => answer("200 OK", &[], b"end"),
            at => redirect("302 Found", &format!("/{}", at + 1)),
        })
    };
    let ten = counting(10).await;
    let fetched = get(reaching(&[ten.address]), &ten.url("/0")).await.unwrap();
    assert_eq!((fetched.body.as_slice(), fetched.hops.len()), (b"end".as_slice(), 10));
    let eleven = counting(11).await;
    let error = get(reaching(&[eleven.address]), &eleven.url("/0")).await.unwrap_err();
    assert_eq!(error, GetError::TooManyRedirects { count: 10, is_loop: false, url: eleven.url("/11") });
    assert_eq!(eleven.connections(), 11);
}

#[tokio::test]
async fn a_redirect_to_another_scheme_or_with_a_password_or_to_no_url_is_refused() {
    for (location, kind) in [
        ("file:///etc/passwd", "scheme"),
        ("gopher://example.com/", "scheme"),
        ("https://user:hunter2@example.com/", "userinfo"),
        ("//[::1]/", "blocked_address"),
        ("http://169.254.169.254/latest/meta-data/", "blocked_address"),
        ("http://[bad/", "bad_url"),
    ] {
        let server = Server::saying(redirect("302 Found", location)).await;
        let error = get(reaching(&[server.address]), &server.url("/")).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{location}");
        assert!(!error.to_string().contains("hunter2"));
    }
}

#[tokio::test]
async fn a_location_in_bytes_of_any_encoding_leads_where_a_browser_goes() {
    for (bytes, path) in [
        ("日本".as_bytes(), "/%E6%97%A5%E6%9C%AC"),
        (b"\x93\xfa\x96\x7b".as_slice(), "/%93%FA%96%7B"),
        (b"a b", "/a%20b"),
    ] {
        let mut first = b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: /".to_vec();
        first.extend_from_slice(bytes);
        first.extend_from_slice(b"\r\n\r\n");
        let server = Server::routing(move |asked| match asked {
            "/" => first.clone(),
            _ => answer("200 OK", &[], b""),
        })
        .await;
        let fetched = get(reaching(&[server.address]), &server.url("/")).await.unwrap();
        assert_eq!(fetched.final_url.path(), path);
    }
}
