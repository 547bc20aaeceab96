//! Answers of search engines, and what is read in them.

use reyn_page::bounds::{RESULTS_MAX, SNIPPET_CHARS_MAX};
use reyn_page::results::{ResultsError, SearchResult, brave, duckduckgo, searxng, unwrap_redirect};

const HTML: Option<&str> = Some("text/html; charset=UTF-8");
const JSON: Option<&str> = Some("application/json");

fn result(title: &str, url: &str, snippet: &str) -> SearchResult {
    SearchResult { title: title.into(), url: url.into(), snippet: snippet.into() }
}

/// The kind of an error, for tables.
fn kind(found: &Result<Vec<SearchResult>, ResultsError>) -> &'static str {
    match found {
        Ok(list) if list.is_empty() => "nothing found",
        Ok(_) => "results",
        Err(ResultsError::RateLimited { .. }) => "rate limited",
        Err(ResultsError::LayoutChanged { .. }) => "layout changed",
        Err(ResultsError::Empty { .. }) => "empty",
        Err(ResultsError::Refused { .. }) => "refused",
    }
}

#[test]
fn a_page_of_duckduckgo_is_read_without_ads_redirects_and_repetitions() {
    let page = include_bytes!("pages/duckduckgo_results.html");
    let expected = vec![
        result("The lorem & the 'ipsum'", "https://one.example/a?b=1&c=%E3%81%82", "First words — and more"),
        result("日本語の結果です", "https://two.example/%E6%97%A5%E6%9C%AC", "間に空白のない文章。"),
        result("http://three.example/", "http://three.example/", ""),
    ];
    assert_eq!(duckduckgo(page, HTML, 200), Ok(expected.clone()));
    assert_eq!(duckduckgo(page, None, 202), Ok(expected));
}

#[test]
fn each_answer_of_duckduckgo_without_results_says_why() {
    let results = include_bytes!("pages/duckduckgo_results.html").as_slice();
    let anomaly = include_bytes!("pages/duckduckgo_anomaly.html").as_slice();
    let nothing = include_bytes!("pages/duckduckgo_nothing.html").as_slice();
    let ads = include_bytes!("pages/duckduckgo_ads_alone.html").as_slice();
    for (body, status, expected) in [
        (results, 200, "results"),
        (nothing, 200, "nothing found"),
        (anomaly, 200, "rate limited"),
        (anomaly, 202, "rate limited"),
        (b"<html><body>Please wait</body></html>".as_slice(), 202, "rate limited"),
        (b"", 202, "rate limited"),
        (b"", 200, "empty"),
        (b" \r\n", 200, "empty"),
        (ads, 200, "layout changed"),
        (b"<html><body><p>All is new here</p></body></html>", 200, "layout changed"),
        (b"\0\xFF\xFE\x80", 200, "layout changed"),
        (results, 403, "rate limited"),
        (b"", 403, "rate limited"),
        (nothing, 429, "rate limited"),
        (b"", 500, "rate limited"),
        (b"", 503, "rate limited"),
        (b"", 400, "refused"),
        (b"", 404, "refused"),
        (b"", 302, "refused"),
    ] {
        let found = duckduckgo(body, HTML, status);
        assert_eq!(kind(&found), expected, "{status} {}", String::from_utf8_lossy(body));
    }
}

#[test]
fn a_result_that_speaks_of_the_challenge_is_a_result() {
    let page = r#"<div class="result"><a class="result__a" href="https://one.example/">What anomaly.js is</a>
        <div class="result__snippet">The anomaly-modal says: bots use DuckDuckGo too</div></div>"#;
    let expected = result(
        "What anomaly.js is",
        "https://one.example/",
        "The anomaly-modal says: bots use DuckDuckGo too",
    );
    assert_eq!(duckduckgo(page.as_bytes(), HTML, 200), Ok(vec![expected]));
}

#[test]
fn a_page_of_duckduckgo_in_a_declared_charset_is_decoded() {
    let (page, _, _) = encoding_rs::SHIFT_JIS.encode(
        r#"<div class="result"><a class="result__a" href="https://one.example/">検索の結果</a></div>"#,
    );
    let found = duckduckgo(&page, Some("text/html; charset=Shift_JIS"), 200);
    assert_eq!(found, Ok(vec![result("検索の結果", "https://one.example/", "")]));
}

#[test]
fn the_json_of_searxng_is_read_as_the_plain_text_that_it_is() {
    let expected = vec![
        result("The <div> element", "https://one.example/", "Some words of it"),
        result("二番目", "https://two.example/", ""),
    ];
    assert_eq!(searxng(include_bytes!("pages/searxng.json"), JSON, 200), Ok(expected));
}

#[test]
fn each_answer_of_searxng_without_results_says_why() {
    for (body, content_type, status, expected) in [
        (r#"{"results": []}"#, JSON, 200, "nothing found"),
        (r#"{"results": [], "unresponsive_engines": []}"#, JSON, 200, "nothing found"),
        (r#"{"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}"#, JSON, 200, "rate limited"),
        (r#"{"results": [{"url": "javascript:1"}]}"#, JSON, 200, "layout changed"),
        (r#"{"results": {}}"#, JSON, 200, "layout changed"),
        (r#"{"result": []}"#, JSON, 200, "layout changed"),
        ("[]", JSON, 200, "layout changed"),
        ("{\"results\": [", JSON, 200, "layout changed"),
        ("<html>results</html>", HTML, 200, "layout changed"),
        ("", JSON, 200, "empty"),
        ("", HTML, 200, "empty"),
        ("Forbidden", HTML, 403, "refused"),
        ("{}", JSON, 429, "rate limited"),
        ("{}", JSON, 502, "rate limited"),
        ("{}", JSON, 404, "refused"),
    ] {
        let found = searxng(body.as_bytes(), content_type, status);
        assert_eq!(kind(&found), expected, "{status} {body}");
    }
}

#[test]
fn the_json_of_brave_is_read_without_its_markup() {
    let expected = vec![
        result("Lorem & ipsum", "https://one.example/", "The lorem isn't <b>"),
        result("結果", "https://two.example/", "日本語の文章"),
    ];
    assert_eq!(brave(include_bytes!("pages/brave.json"), JSON, 200), Ok(expected));
}

#[test]
fn each_answer_of_brave_without_results_says_why() {
    for (body, status, expected) in [
        (r#"{"type": "search", "query": {}}"#, 200, "nothing found"),
        (r#"{"web": {"results": []}}"#, 200, "nothing found"),
        (r#"{"web": {"results": [{"title": "no address"}]}}"#, 200, "layout changed"),
        (r#"{"web": {}}"#, 200, "layout changed"),
        (r#"{"message": "hello"}"#, 200, "layout changed"),
        ("not json", 200, "layout changed"),
        ("", 200, "empty"),
        ("{}", 401, "refused"),
        ("{}", 402, "refused"),
        ("{}", 403, "refused"),
        ("{}", 422, "refused"),
        ("{}", 429, "rate limited"),
        ("{}", 500, "rate limited"),
    ] {
        let found = brave(body.as_bytes(), JSON, status);
        assert_eq!(kind(&found), expected, "{status} {body}");
    }
}

#[test]
fn deep_json_is_an_error_and_not_an_overflow() {
    let deep = "[".repeat(200_000);
    assert_eq!(kind(&searxng(deep.as_bytes(), JSON, 200)), "layout changed");
    assert_eq!(kind(&brave(deep.as_bytes(), JSON, 200)), "layout changed");
}

#[test]
fn results_and_their_words_are_bounded() {
    let words = "語".repeat(SNIPPET_CHARS_MAX + 1);
    let list: Vec<String> = (0..RESULTS_MAX + 50)
        .map(|n| format!(r#"{{"url": "https://e.example/{n}", "title": "t", "content": "{words}"}}"#))
        .collect();
    let body = format!(r#"{{"results": [{}]}}"#, list.join(","));
    let found = searxng(body.as_bytes(), JSON, 200).unwrap();
    assert_eq!(found.len(), RESULTS_MAX);
    assert_eq!(found[0].snippet.chars().count(), SNIPPET_CHARS_MAX + 1);
    assert!(found[0].snippet.ends_with('…'));
}

#[test]
fn each_error_says_what_why_and_what_to_do() {
    let messages: Vec<String> = [
        duckduckgo(b"", HTML, 202),
        duckduckgo(b"<p>new</p>", HTML, 200),
        duckduckgo(b"", HTML, 200),
        brave(b"", JSON, 401),
    ]
    .into_iter()
    .filter_map(|found| found.err().map(|error| error.to_string()))
    .collect();
    assert_eq!(
        messages,
        [
            "DuckDuckGo answered with status 202 and an empty page instead of results: it limits how often \
             programs search; this does not mean that nothing was found. Wait a few minutes before the next \
             search, or use another backend; `web.search.fallback` names one that is asked instead",
            "the answer of DuckDuckGo is not in the form that is known here (neither a link `result__a` nor a \
             note `no-results`), so its results cannot be read; this does not mean that nothing was found. Use \
             another backend; `web.search.fallback` names one that is asked instead",
            "DuckDuckGo answered with nothing at all (status 200); this does not mean that nothing was found. \
             Search once more, then use another backend; `web.search.fallback` names one that is asked instead",
            "Brave refused the search (status 401): the key is missing, wrong or out of its plan; check \
             `BRAVE_API_KEY`. Asking again changes nothing; use another backend; `web.search.fallback` names \
             one that is asked instead",
        ]
    );
}

#[test]
fn each_known_redirect_is_unwrapped_and_nothing_else() {
    for (url, expected) in [
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fb%3Fc%3D1&rut=0", "https://a.example/b?c=1"),
        ("https://html.duckduckgo.com/l/?kh=-1&uddg=http%3A%2F%2Fa.example", "http://a.example"),
        ("/l/?uddg=https%3A%2F%2Fa.example%2F", "https://a.example/"),
        ("https://www.google.com/url?q=https://a.example/%3Fx%3D1&sa=U", "https://a.example/?x=1"),
        ("/url?q=https://a.example/&sa=U", "https://a.example/"),
        ("https://www.google.co.jp/url?sa=t&url=https%3A%2F%2Fa.example%2F", "https://a.example/"),
        (
            "https://www.bing.com/ck/a?!&&p=00&u=a1aHR0cHM6Ly9hLmV4YW1wbGUvP3E95pel&ntb=1",
            "https://a.example/?q=日",
        ),
        ("https://www.bing.com/ck/a?u=a1aHR0cHM6Ly9hLmV4YW1wbGU", "https://a.example"),
        (
            "https://r.search.yahoo.com/_ylt=A/RV=2/RE=1/RO=10/RU=https%3a%2f%2fa.example%2fa+b/RK=2/RS=x-",
            "https://a.example/a+b",
        ),
        // One in the other.
        (
            "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.google.com%2Furl%3Fq%3Dhttps%3A%2F%2Fa.example%2F",
            "https://a.example/",
        ),
        // Nothing to unwrap.
        ("https://a.example/url?q=https://b.example/", "https://a.example/url?q=https://b.example/"),
        ("https://a.example/l/?uddg=https://b.example/", "https://a.example/l/?uddg=https://b.example/"),
        ("https://notgoogle.com/url?q=https://b.example/", "https://notgoogle.com/url?q=https://b.example/"),
        (
            "https://notbing.com/ck/a?u=a1aHR0cHM6Ly9hLmV4YW1wbGU",
            "https://notbing.com/ck/a?u=a1aHR0cHM6Ly9hLmV4YW1wbGU",
        ),
        (
            "https://www.google.com/url?q=javascript:alert(1)",
            "https://www.google.com/url?q=javascript:alert(1)",
        ),
        ("https://www.bing.com/ck/a?u=a1!!!", "https://www.bing.com/ck/a?u=a1!!!"),
        ("https://www.bing.com/ck/a?u=a1_w", "https://www.bing.com/ck/a?u=a1_w"),
        ("https://duckduckgo.com/?q=a", "https://duckduckgo.com/?q=a"),
        ("//a.example/b", "https://a.example/b"),
        ("not an address", "not an address"),
        ("", ""),
    ] {
        assert_eq!(unwrap_redirect(url), expected, "{url}");
    }
}

#[test]
fn a_redirect_to_itself_ends() {
    let mut url = "https://a.example/".to_owned();
    for _ in 0..6 {
        url = url::Url::parse_with_params("https://duckduckgo.com/l/", [("uddg", &url)]).unwrap().to_string();
    }
    assert!(unwrap_redirect(&url).starts_with("https://duckduckgo.com/l/"), "two of six are left");
}
