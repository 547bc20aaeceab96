//! Passwords of proxies and keys of search engines: used, and shown nowhere.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use reyn_testkit::{FakeServer, call, calls, says};
use serde_json::json;

use crate::place::Place;

const PASSWORD: &str = "pr0xypassw0rd";
const KEY: &str = "BSAkeykeykeykeykey";

/// A server that answers every request with this status and repeats the lines of its head that begin with this.
fn repeating(status: &'static str, begin: &'static str) -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(String::new()));
    let ear = Arc::clone(&heard);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut line) = (String::new(), String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                head.push_str(&line);
                line.clear();
            }
            ear.lock().unwrap().push_str(&head);
            let said: Vec<&str> = head.lines().filter(|line| line.starts_with(begin)).collect();
            let said = said.join(" ");
            let answer = format!(
                "HTTP/1.1 {status}\r\nx-said: {said}\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>{said}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, heard)
}

/// Everything that can be read after a run: what it said, what doctor says, the trail, the log.
fn shown(place: &Place, server: &FakeServer) -> Vec<(&'static str, String)> {
    let asked = place.run(["ask", "go", "--session", "s"]);
    assert_eq!(asked.code, Some(0), "{}", asked.stderr);
    let both = |args: &[&str]| {
        let done = crate::running::Running::new(place.command(args), place.masks()).finish();
        done.stdout + &done.stderr
    };
    vec![
        ("ask", asked.stdout + &asked.stderr),
        ("request", server.requests().last().unwrap().to_string()),
        ("doctor", both(&["doctor"])),
        ("doctor --json", both(&["doctor", "--json"])),
        ("config show", both(&["config", "show"])),
        ("events", both(&["events", "--json"])),
        ("export", both(&["sessions", "export", "s", "--format", "jsonl"])),
        ("files", place.everything_written()),
    ]
}

#[test]
fn a_password_of_a_proxy_is_sent_to_the_proxy_and_shown_nowhere() {
    let (port, heard) = repeating("407 who are you", "host: ");
    // The value, and whether it can be used.
    for (proxy, is_used) in [
        (format!("http://me:{PASSWORD}@127.0.0.1:{port}"), true),
        (format!("me:{PASSWORD}@127.0.0.1:{port}"), true),
        (format!("socks5://me:{PASSWORD}@127.0.0.1:{port}"), false),
        (format!("http://me:{PASSWORD}@127.0.0.1:{port}0000"), false),
        (format!("http://me:{PASSWORD}@169.254.169.254:80"), false),
        (format!("http://me:{PASSWORD}@[::1"), false),
    ] {
        // An address for documentation: where a proxy were passed by, nobody would be there.
        for url in ["https://203.0.113.7/", "http://203.0.113.7/"] {
            let server =
                FakeServer::script([calls([call("a", "web_fetch", json!({"url": url}))]), says("x")]);
            let place = Place::with(&server).env("HTTPS_PROXY", &proxy).env("http_proxy", &proxy);
            let place = place.env("NO_PROXY", "127.0.0.1").config("web_fetch: {allow_private_ips: true}\n");
            heard.lock().unwrap().clear();
            for (what, text) in shown(&place, &server) {
                let may_hold = ["proxy-authorization", "bWU6"];
                for secret in [PASSWORD].iter().chain(&may_hold) {
                    assert!(!text.contains(secret), "{proxy} {url}: {what} shows `{secret}`: {text}");
                }
            }
            let has_heard = heard.lock().unwrap().to_lowercase().contains("proxy-authorization: basic ");
            assert_eq!(has_heard, is_used, "{proxy} {url}: {:?}", server.requests().last());
        }
    }
}

#[test]
fn a_key_of_a_search_engine_is_sent_to_the_engine_and_shown_nowhere() {
    for status in ["200 fine", "401 no", "422 no", "500 no", "302 there"] {
        let (port, heard) = repeating(status, "");
        let server = FakeServer::script([calls([call("a", "web_search", json!({"query": "x"}))]), says("x")]);
        let config = format!("web_fetch: {{allow_hosts: [\"127.0.0.1:{port}\"]}}\n");
        let place = Place::with(&server).env("BRAVE_API_KEY", KEY).config(&config);
        let own = place.home.join(".reyn/config.yaml");
        let text = std::fs::read_to_string(&own).unwrap();
        let web = format!("web: {{search: {{backend: brave, brave_url: \"http://127.0.0.1:{port}\"}}}}\n");
        std::fs::write(&own, text + &web).unwrap();
        for (what, text) in shown(&place, &server) {
            assert!(!text.contains(KEY), "{status}: {what} shows the key: {text}");
        }
        assert!(heard.lock().unwrap().contains(KEY), "{status}: {:?}", server.requests().last());
    }
}
