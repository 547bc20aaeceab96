//! Search backends against servers that answer as the real ones do, and the chain of them.

use std::time::{Duration, Instant};

use reyn_page::results::SearchResult;
use reyn_web::search::{
    Brave, DuckDuckGo, SearXng, Search, SearchAnswer, SearchBackend, SearchError, SearchErrorKind, SearchKey,
    SearchQuery,
};
use reyn_web::{AddressPolicy, GetError, WebClient, WebClientOptions};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::reaching;
use crate::server::{Server, answer, redirect};

const RESULTS: &[u8] = br#"<html><body><div class="result results_links"><h2 class="result__title">
    <a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa">First</a></h2>
    <a class="result__snippet" href="x">About it</a></div></body></html>"#;
const ANOMALY: &[u8] =
    br#"<html><body><form id="challenge-form"><div class="anomaly-modal"></div></form></body></html>"#;
const SEARXNG: &[u8] = br#"{"query":"q","results":[
    {"title":"One","url":"https://example.com/1","content":"first"},
    {"title":"Two","url":"https://example.com/2","content":"second"}]}"#;
const BRAVE: &[u8] = br#"{"type":"search","web":{"results":[
    {"title":"B","url":"https://example.com/b","description":"by brave"}]}}"#;

fn base(server: &Server, path: &str) -> Url {
    Url::parse(&server.url(path)).unwrap()
}

fn result(title: &str, url: &str, snippet: &str) -> SearchResult {
    SearchResult { title: title.into(), url: url.into(), snippet: snippet.into() }
}

fn duckduckgo(server: &Server) -> Box<dyn SearchBackend> {
    Box::new(DuckDuckGo::new(base(server, "")))
}

fn searxng(server: &Server) -> Box<dyn SearchBackend> {
    Box::new(SearXng::new(base(server, "")))
}

fn brave(server: &Server) -> Box<dyn SearchBackend> {
    Box::new(Brave::new(base(server, ""), SearchKey::new("brave-key-1").unwrap()))
}

async fn search(
    options: WebClientOptions,
    backends: Vec<Box<dyn SearchBackend>>,
    query: &SearchQuery,
) -> Result<SearchAnswer, SearchError> {
    let mut backends = backends.into_iter();
    let search = Search::new(backends.next().unwrap(), backends.collect());
    search.run(&WebClient::new(options).unwrap(), query, &CancellationToken::new()).await
}

#[tokio::test]
async fn duckduckgo_is_asked_with_its_form_and_operators_reach_it_as_they_are() {
    let server = Server::saying(answer("200 OK", &["content-type: text/html"], RESULTS)).await;
    let query = SearchQuery::new(r#"site:example.com "日本 語" -ads"#);
    let found = search(reaching(&[server.address]), vec![duckduckgo(&server)], &query).await.unwrap();
    let results = vec![result("First", "https://example.com/a", "About it")];
    assert_eq!(found, SearchAnswer { results, backend: "duckduckgo", passed_over: vec![] });
    let request = server.requests().remove(0);
    assert!(request.starts_with("POST /html/ HTTP/1.1\r\n"), "{request}");
    let (_, form) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(form, "q=site%3Aexample.com+%22%E6%97%A5%E6%9C%AC+%E8%AA%9E%22+-ads&b=");
}

#[tokio::test]
async fn searxng_below_a_path_is_asked_for_json_on_this_machine_without_an_allowed_host() {
    let server = Server::saying(answer("200 OK", &["content-type: application/json"], SEARXNG)).await;
    let backend = Box::new(SearXng::new(base(&server, "/searx/")));
    let query = SearchQuery { max_results: 1, ..SearchQuery::new("a b") };
    let found = search(WebClientOptions::default(), vec![backend], &query).await.unwrap();
    let results = vec![result("One", "https://example.com/1", "first")];
    assert_eq!(found, SearchAnswer { results, backend: "searxng", passed_over: vec![] });
    assert!(server.requests()[0].starts_with("GET /searx/search?q=a+b&format=json HTTP/1.1\r\n"));
}

#[tokio::test]
async fn the_trust_in_searxng_opens_its_host_to_no_fetch() {
    let server = Server::saying(answer("200 OK", &["content-type: application/json"], SEARXNG)).await;
    let web = WebClient::new(WebClientOptions::default()).unwrap();
    let cancel = CancellationToken::new();
    let chain = Search::new(searxng(&server), vec![]);
    assert!(chain.run(&web, &SearchQuery::new("q"), &cancel).await.is_ok());
    let fetched = web.get(&reyn_web::GetRequest::new(server.url("/")), &cancel).await;
    assert_eq!(fetched.unwrap_err().kind(), "blocked_address");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn brave_is_asked_with_its_key_which_is_never_shown_or_sent_on() {
    let server = Server::saying(answer("200 OK", &["content-type: application/json"], BRAVE)).await;
    let query = SearchQuery { max_results: 50, ..SearchQuery::new("q") };
    let found = search(reaching(&[server.address]), vec![brave(&server)], &query).await.unwrap();
    assert_eq!(found.results, [result("B", "https://example.com/b", "by brave")]);
    let request = server.requests().remove(0);
    assert!(request.starts_with("GET /res/v1/web/search?q=q&count=20 HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("x-subscription-token: brave-key-1\r\n"), "{request}");
    assert_eq!(format!("{:?}", SearchKey::new("brave-key-1")), "Some(SearchKey([redacted]))");

    let other = Server::saying(answer("200 OK", &[], BRAVE)).await;
    let redirecting = Server::saying(redirect("302 Found", &other.url("/x?token=t"))).await;
    let options = reaching(&[other.address, redirecting.address]);
    let error = search(options, vec![brave(&redirecting)], &query).await.unwrap_err();
    let to = other.url("/x?token=[redacted]");
    assert_eq!(error, SearchError::Redirected { backend: "brave", to });
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_key_is_not_sent_in_the_clear() {
    let key = SearchKey::new("k").unwrap();
    let backend = Box::new(Brave::new(Url::parse("http://search.example/").unwrap(), key));
    let error = search(WebClientOptions::default(), vec![backend], &SearchQuery::new("q")).await.unwrap_err();
    assert_eq!(error, SearchError::KeyInTheClear { backend: "brave" });
    assert!(SearchKey::new("a\nb").is_none() && SearchKey::new(" ").is_none());
}

#[tokio::test]
async fn a_page_that_asks_for_a_person_is_rate_limited_and_the_next_backend_answers() {
    for status in ["200 OK", "202 Accepted", "403 Forbidden", "429 Too Many Requests"] {
        let first = Server::saying(answer(status, &["content-type: text/html"], ANOMALY)).await;
        let second = Server::saying(answer("200 OK", &["content-type: application/json"], SEARXNG)).await;
        let query = SearchQuery::new("q");
        let alone = search(reaching(&[first.address]), vec![duckduckgo(&first)], &query).await.unwrap_err();
        assert_eq!(alone.kind(), SearchErrorKind::RateLimited, "{status}: {alone}");
        let backends = vec![duckduckgo(&first), searxng(&second)];
        let found = search(reaching(&[first.address]), backends, &query).await.unwrap();
        assert_eq!(
            (found.backend, found.results.len(), found.passed_over),
            ("searxng", 2, vec![alone]),
            "{status}"
        );
    }
}

#[tokio::test]
async fn an_unknown_page_and_a_server_that_is_not_there_are_passed_over_and_told() {
    let changed = Server::saying(answer("200 OK", &["content-type: text/html"], b"<p>new design</p>")).await;
    let gone = Server::saying("").await;
    let last = Server::saying(answer("200 OK", &["content-type: application/json"], BRAVE)).await;
    let backends = vec![duckduckgo(&changed), searxng(&gone), brave(&last)];
    let options = reaching(&[changed.address, last.address]);
    let found = search(options, backends, &SearchQuery::new("q")).await.unwrap();
    let kinds: Vec<_> =
        found.passed_over.iter().map(|error| (error.backend().unwrap(), error.kind())).collect();
    assert_eq!(found.backend, "brave");
    assert_eq!(
        kinds,
        [("duckduckgo", SearchErrorKind::LayoutChanged), ("searxng", SearchErrorKind::Unreachable)]
    );
}

#[tokio::test]
async fn when_nobody_answers_the_error_holds_every_reason() {
    let first = Server::saying(answer("200 OK", &["content-type: text/html"], ANOMALY)).await;
    let second = Server::saying("").await;
    let backends = vec![duckduckgo(&first), searxng(&second)];
    let error = search(reaching(&[first.address]), backends, &SearchQuery::new("q")).await.unwrap_err();
    let SearchError::NoneAnswered(errors) = &error else { panic!("{error:?}") };
    let reset = GetError::Reset { host: "127.0.0.1".into(), received_bytes: 0 };
    assert_eq!(errors[1], SearchError::Unreachable { backend: "searxng", error: reset });
    assert_eq!((errors.len(), error.kind()), (2, SearchErrorKind::RateLimited));
    assert!(
        error
            .to_string()
            .starts_with("no search backend answered, which does not mean that nothing was found: (1) ")
    );
}

#[tokio::test]
async fn a_backend_that_hangs_leaves_time_for_the_next() {
    let hanging = Server::new(|_, _, stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let second = Server::saying(answer("200 OK", &["content-type: application/json"], SEARXNG)).await;
    let query = SearchQuery { timeout_ms: 2000, ..SearchQuery::new("q") };
    let started = Instant::now();
    let backends = vec![duckduckgo(&hanging), searxng(&second)];
    let found = search(reaching(&[hanging.address]), backends, &query).await.unwrap();
    assert_eq!((found.backend, found.passed_over[0].kind()), ("searxng", SearchErrorKind::Unreachable));
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_backend_that_asks_to_be_left_alone_is_not_asked_again() {
    let server = Server::saying(answer("429 Slow Down", &["retry-after: 250"], b"")).await;
    let web = WebClient::new(reaching(&[server.address])).unwrap();
    let chain = Search::new(duckduckgo(&server), vec![]);
    for _ in 0..3 {
        let error = chain.run(&web, &SearchQuery::new("q"), &CancellationToken::new()).await.unwrap_err();
        assert_eq!(error.kind(), SearchErrorKind::RateLimited);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_query_that_cannot_be_searched_for_asks_nobody() {
    let server = Server::saying(answer("200 OK", &[], RESULTS)).await;
    for query in [
        SearchQuery::new("  "),
        SearchQuery::new("a".repeat(501)),
        SearchQuery { max_results: 0, ..SearchQuery::new("q") },
        SearchQuery { max_results: 51, ..SearchQuery::new("q") },
    ] {
        let error = search(reaching(&[server.address]), vec![duckduckgo(&server)], &query).await.unwrap_err();
        assert_eq!(error.kind(), SearchErrorKind::BadQuery);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_backend_at_a_denied_address_is_not_asked() {
    let server = Server::saying(answer("200 OK", &[], RESULTS)).await;
    let options = WebClientOptions { policy: AddressPolicy::default(), ..Default::default() };
    let error = search(options, vec![duckduckgo(&server)], &SearchQuery::new("q")).await.unwrap_err();
    let SearchError::Unreachable { error, .. } = &error else { panic!("{error:?}") };
    assert_eq!((error.kind(), server.connections()), ("blocked_address", 0));
}

#[tokio::test]
async fn a_search_that_is_cancelled_asks_no_other_backend() {
    let server = Server::saying(answer("200 OK", &[], RESULTS)).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let chain = Search::new(duckduckgo(&server), vec![searxng(&server)]);
    let web = WebClient::new(reaching(&[server.address])).unwrap();
    let error = chain.run(&web, &SearchQuery::new("q"), &cancel).await.unwrap_err();
    assert_eq!((error, server.connections()), (SearchError::Cancelled, 0));
}
