//! Proxies: judged themselves, and asked only for what was judged here.

use std::sync::Arc;

use reyn_web::{AddressPolicy, NameLookup, ProxyOptions, WebClient, WebClientOptions};

use crate::get;
use crate::names::Names;
use crate::server::{Server, answer};

fn through(proxy: &str, names: Arc<dyn NameLookup>) -> WebClientOptions {
    let proxy = ProxyOptions { http: Some(proxy.to_owned()), https: Some(proxy.to_owned()), no_proxy: None };
    WebClientOptions { proxy: Some(proxy), names, ..Default::default() }
}

#[tokio::test]
async fn a_proxy_is_asked_for_what_was_judged() {
    let proxy = Server::saying(answer("200 OK", &[], b"from the proxy")).await;
    let names = Names::new(&[&["93.184.216.34"]]);
    let fetched = get(through(&proxy.url(""), names), "http://page.example/x").await.unwrap();
    assert_eq!(fetched.body, b"from the proxy");
    assert!(proxy.requests()[0].starts_with("GET http://page.example/x HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_proxy_is_not_asked_for_what_is_inside() {
    let proxy = Server::saying(answer("200 OK", &[], b"secret")).await;
    for url in
        ["http://127.0.0.1:1/", "http://inside.example/", "https://inside.example/", "http://metadata/"]
    {
        let names = Names::new(&[&["10.0.0.1"]]);
        let error = get(through(&proxy.url(""), names), url).await.unwrap_err();
        assert_eq!(error.kind(), "blocked_address", "{url}");
    }
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn a_proxy_with_a_name_is_judged_before_it_is_connected_to() {
    let names = Names::new(&[&["93.184.216.34"], &["169.254.169.254"]]);
    let error = get(through("http://proxy.example:3128", names), "http://page.example/").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the proxy failed for `page.example`: `proxy.example` resolves to `169.254.169.254` and is refused because \
         it is a cloud's metadata service, which hands out credentials"
    );
    let proxy = Server::saying(answer("200 OK", &[], b"named")).await;
    let port = proxy.address.port();
    let names = Names::new(&[&["93.184.216.34"], &["127.0.0.1"]]);
    let fetched =
        get(through(&format!("proxy.example:{port}"), names), "http://page.example/").await.unwrap();
    assert_eq!(fetched.body, b"named");
}

#[tokio::test]
async fn a_proxy_that_refuses_a_tunnel_or_is_not_there_is_a_proxy_error() {
    let proxy = Server::saying(answer("407 Proxy Authentication Required", &[], b"")).await;
    let address = format!("http://user:hunter2@{}", proxy.address);
    let error = get(through(&address, Names::new(&[&["93.184.216.34"]])), "https://page.example/").await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), "proxy", "{error:?}");
    assert!(!error.to_string().contains("hunter2"));
    assert!(
        proxy.requests()[0].starts_with("CONNECT page.example:443 HTTP/1.1\r\n"),
        "{:?}",
        proxy.requests()
    );
}

#[tokio::test]
async fn a_host_that_needs_no_proxy_is_asked_directly() {
    let proxy = Server::saying(answer("200 OK", &[], b"proxy")).await;
    let direct = Server::saying(answer("200 OK", &[], b"direct")).await;
    let options = through(&proxy.url(""), Names::new(&[]));
    let proxy_options =
        options.proxy.map(|proxy| ProxyOptions { no_proxy: Some("127.0.0.1".into()), ..proxy });
    let options = WebClientOptions { proxy: proxy_options, ..crate::reaching(&[direct.address]) };
    assert_eq!(get(options, &direct.url("/")).await.unwrap().body, b"direct");
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn a_proxy_that_cannot_be_used_is_refused_when_the_client_is_made() {
    let said = |proxy: &str, is_strict| {
        let options = WebClientOptions { is_strict, ..through(proxy, Names::new(&[])) };
        WebClient::new(options).err().map(|error| error.to_string())
    };
    assert_eq!(said("http://127.0.0.1:3128", false), None);
    assert_eq!(said("http://user:hunter2@10.0.0.1:3128", false), None);
    assert_eq!(
        said("http://10.0.0.1:3128", true).unwrap(),
        "a proxy is named, but `REYN_SSRF_STRICT` refuses proxies, because behind one no address can be enforced; \
         unset one of them"
    );
    assert_eq!(
        said("http://169.254.169.254:80", false).unwrap(),
        "the proxy cannot be used: `169.254.169.254` is refused because it is a cloud's metadata service, which \
         hands out credentials"
    );
    assert_eq!(
        said("socks5://user:hunter2@127.0.0.1:1080", false).unwrap(),
        "the http proxy is no `http://host:port` or `https://host:port`: `socks5` is not supported"
    );
    assert!(said("http://[bad", false).is_some());
    assert!(said("", true).is_none());
    let options =
        WebClientOptions { policy: AddressPolicy::default(), is_strict: true, ..Default::default() };
    assert!(WebClient::new(options).is_ok());
}
