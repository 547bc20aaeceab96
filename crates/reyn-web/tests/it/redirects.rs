//! Redirects: followed by hand, counted, and each judged.

use std::sync::{Arc, Mutex};

use reyn_web::{Answer, GetError, GetRequest, Hop, HostPort, WebClient, WebClientOptions};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::names::Names;
use crate::server::{Server, answer, redirect};
use crate::{allowing, get, reaching};

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

/// Gets a URL where only these hosts are admitted; gives the hosts that were asked about as well.
async fn admitting(
    admitted: &'static [&'static str],
    options: WebClientOptions,
    url: &str,
) -> (Result<Answer, GetError>, Vec<String>) {
    let asked = Arc::new(Mutex::new(vec![]));
    let seen = Arc::clone(&asked);
    let admits = move |host: &str| {
        seen.lock().unwrap().push(host.to_owned());
        admitted.contains(&host)
    };
    let request = GetRequest { admits: Some(Arc::new(admits)), ..GetRequest::new(url) };
    let answer = WebClient::new(options).unwrap().get(&request, &CancellationToken::new()).await;
    let asked = asked.lock().unwrap().clone();
    (answer, asked)
}

#[tokio::test]
async fn the_host_of_every_redirect_is_asked_about_and_followed_where_it_is_admitted() {
    let server = Server::new(|index, head, mut stream| async move {
        let port = head.lines().find_map(|line| line.strip_prefix("host: ")?.rsplit_once(':')).unwrap().1;
        let bytes = match index {
            0 => redirect("302 Found", &format!("http://B.example.:{port}/b")),
            1 => redirect("302 Found", "/c"),
            _ => answer("200 OK", &[], b"end"),
        };
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, &bytes).await;
    })
    .await;
    let port = server.address.port();
    let names = Names::new(&[&["127.0.0.1"], &["127.0.0.1"], &["127.0.0.1"]]);
    let policy = allowing(&[format!("a.example:{port}"), format!("b.example:{port}")]);
    let options = WebClientOptions { names, policy, ..Default::default() };
    let (fetched, asked) = admitting(&["b.example"], options, &format!("http://a.example:{port}/a")).await;
    assert_eq!(fetched.unwrap().body, b"end");
    assert_eq!(asked, ["b.example", "b.example"]);
}

#[tokio::test]
async fn a_redirect_to_a_host_that_is_not_admitted_is_refused_before_it_is_resolved() {
    let server = Server::saying(redirect("302 Found", "https://b.example:8443/?token=hunter2")).await;
    let names = Names::new(&[&["93.184.216.34"]]);
    let options = WebClientOptions { names: names.clone(), ..reaching(&[server.address]) };
    let (fetched, asked) = admitting(&["127.0.0.1"], options, &server.url("/a?key=hunter2")).await;
    let error = fetched.unwrap_err();
    let url = server.url("/a?key=[redacted]");
    let text = format!("`{url}` redirects to `b.example:8443`, which takes a permission of its own");
    assert_eq!(error, GetError::NotAdmitted { url, target: HostPort::new("b.example", 8443) });
    assert_eq!((error.kind(), error.to_string()), ("not_admitted", text));
    assert_eq!((asked, names.left()), (vec!["b.example".to_owned()], 1));
}

#[tokio::test]
async fn a_redirect_is_refused_after_two_that_were_admitted() {
    let server = Server::routing(|path| match path {
        "/0" => redirect("302 Found", "/1"),
        "/1" => redirect("302 Found", "/2"),
        _ => redirect("302 Found", "https://b.example/"),
    })
    .await;
    let (fetched, asked) = admitting(&["127.0.0.1"], reaching(&[server.address]), &server.url("/0")).await;
    let error = GetError::NotAdmitted { url: server.url("/2"), target: HostPort::new("b.example", 443) };
    assert_eq!(fetched, Err(error));
    assert_eq!(asked, ["127.0.0.1", "127.0.0.1", "b.example"]);
    assert_eq!(server.connections(), 3);
}
