//! Names: every address is judged, and what was judged is what is connected to.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_web::{AddressClass, AddressPolicy, GetError, NameLookup, WebClientOptions};

use crate::addresses::TABLE;
use crate::server::{Server, answer, redirect};
use crate::{allowing, get};

/// A resolver that gives one list after the other, and then no address.
pub(crate) struct Names {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
}

impl Names {
    pub(crate) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self { answers: Mutex::new(answers.iter().map(parse).collect()) })
    }

    pub(crate) fn left(&self) -> usize {
        self.answers.lock().unwrap().len()
    }
}

impl NameLookup for Names {
    fn lookup<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or_default();
        async move { Ok(answer) }.boxed()
    }
}

fn class_of(result: Result<reyn_web::Answer, GetError>) -> AddressClass {
    match result {
        Err(GetError::BlockedAddress { blocked, .. }) => blocked.class,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_name_with_one_denied_address_is_refused_as_a_whole() {
    for (addresses, class) in [
        (["93.184.216.34", "127.0.0.1"], AddressClass::Loopback),
        (["93.184.216.34", "10.0.0.1"], AddressClass::Private),
        (["2606:4700::1111", "fd00:ec2::254"], AddressClass::Metadata),
        (["169.254.169.254", "93.184.216.34"], AddressClass::Metadata),
        (["93.184.216.34", "::ffff:192.168.0.1"], AddressClass::Private),
    ] {
        let names = Names::new(&[&addresses]);
        let options = WebClientOptions { names, ..Default::default() };
        assert_eq!(class_of(get(options, "https://mixed.example/").await), class, "{addresses:?}");
    }
}

#[tokio::test]
async fn a_name_of_any_address_that_is_not_public_is_refused() {
    for (text, class) in TABLE.iter().filter(|(_, class)| *class != AddressClass::Public) {
        let options = WebClientOptions { names: Names::new(&[&[text]]), ..Default::default() };
        assert_eq!(class_of(get(options, "http://name.example/").await), *class, "{text}");
    }
}

#[tokio::test]
async fn an_open_private_network_still_keeps_names_off_this_machine() {
    let policy = AddressPolicy { allow_private: true, allow_hosts: vec![] };
    let options = WebClientOptions { policy, names: Names::new(&[&["127.0.0.1"]]), ..Default::default() };
    assert_eq!(class_of(get(options, "https://name.example/").await), AddressClass::Loopback);
}

#[tokio::test]
async fn a_name_that_changes_its_address_after_the_judgement_is_not_followed() {
    let judged = Server::saying(answer("200 OK", &[], b"judged")).await;
    let port = judged.address.port();
    let names = Names::new(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let options = WebClientOptions {
        policy: allowing(&[format!("rebind.example:{port}")]),
        names: Arc::clone(&names) as Arc<dyn NameLookup>,
        ..Default::default()
    };
    let fetched = get(options, &format!("http://rebind.example:{port}/")).await.unwrap();
    assert_eq!(fetched.body, b"judged");
    assert_eq!((judged.connections(), names.left()), (1, 1));
}

#[tokio::test]
async fn a_name_that_changes_its_address_between_two_hops_is_judged_anew() {
    let server = Server::saying(redirect("302 Found", "/next")).await;
    let port = server.address.port();
    let options = WebClientOptions {
        policy: allowing(&[format!("rebind.example:{port}")]),
        names: Names::new(&[&["127.0.0.1"], &["169.254.169.254"]]),
        ..Default::default()
    };
    let url = format!("http://rebind.example:{port}/");
    assert_eq!(class_of(get(options, &url).await), AddressClass::Metadata);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_redirect_to_another_port_of_an_allowed_host_is_refused() {
    let inside = Server::saying(answer("200 OK", &[], b"secret")).await;
    let server = Server::saying(redirect("302 Found", &inside.url("/"))).await;
    let options = crate::reaching(&[server.address]);
    assert_eq!(class_of(get(options, &server.url("/")).await), AddressClass::Loopback);
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn localhost_with_a_trailing_dot_is_the_same_entry() {
    let server = Server::saying(answer("200 OK", &[], b"here")).await;
    let port = server.address.port();
    for host in ["localhost", "localhost.", "LOCALHOST"] {
        let options = WebClientOptions {
            policy: allowing(&[format!("localhost:{port}")]),
            names: Names::new(&[&["127.0.0.1"]]),
            ..Default::default()
        };
        let fetched = get(options, &format!("http://{host}:{port}/")).await.unwrap();
        assert_eq!(fetched.body, b"here", "{host}");
        let options = WebClientOptions { names: Names::new(&[&["127.0.0.1"]]), ..Default::default() };
        let refused = get(options, &format!("http://{host}:{port}/")).await;
        assert_eq!(class_of(refused), AddressClass::Loopback, "{host}");
    }
}

#[tokio::test]
async fn a_name_without_an_address_is_a_dns_error() {
    let options = WebClientOptions { names: Names::new(&[]), ..Default::default() };
    let error = get(options, "https://nowhere.example/").await.unwrap_err();
    let why = "the resolver knows none".to_owned();
    assert_eq!(error, GetError::Dns { host: "nowhere.example".into(), why });
}
