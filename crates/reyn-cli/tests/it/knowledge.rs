//! Indexes in sessions: answers out of passages, passages from outside, a server that keeps them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use reyn_testkit::{FakeServer, call, calls, says};
use serde_json::{Value, json};

use crate::place::Place;

const LINE: &str = "The larder opens at nine on Mondays, and nobody may enter it without a lamp in his hand.";

/// A model that makes these calls one after the other.
fn steps(all: &[(&str, Value)]) -> FakeServer {
    let mut script: Vec<_> = all.iter().map(|(tool, args)| calls([call("a", tool, args)])).collect();
    script.push(says("done"));
    FakeServer::script(script)
}

/// What the model was told of its `at`-th call.
fn result(server: &FakeServer, at: usize) -> String {
    let request = server.requests().remove(at);
    request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// A server on this machine that answers every request with a page of the line; its port.
fn serving_the_page() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let page = format!("<p>{LINE}</p>");
            let length = page.len();
            let head =
                format!("HTTP/1.1 200 x\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n");
            let _ = stream.write_all(format!("{head}{page}").as_bytes());
        }
    });
    port
}

#[test]
fn a_question_is_answered_out_of_passages_with_their_source_and_file() {
    let server = steps(&[("recall", json!({"query": "when are hinges oiled?", "sources": ["docs"]}))]);
    let place = Place::with(&server)
        .config("embedding.enabled: false\n")
        .file("docs/doors.md", "# Doors\n\nOil the hinges twice a year.\n");
    let _ = place.run(["index", "add", "docs", "docs", "--description", "How we run the house"]).exits(0);
    let _ = place.run(["ask", "when are hinges oiled?"]).exits(0);
    let prompt = server.requests().remove(0)["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(prompt.contains("- `docs`: How we run the house (1 passage)\n"), "{prompt}");
    let told = result(&server, 1);
    for part in
        ["mode: keyword", "1. source: docs", r#"{"path":"docs/doors.md""#, "Oil the hinges twice a year."]
    {
        assert!(told.contains(part), "{told}");
    }
    server.finish();
}

#[test]
fn what_came_from_outside_is_fenced_when_it_is_recalled_in_a_later_session() {
    let port = serving_the_page();
    let rows = json!([{"text": LINE, "metadata": {"path": "larder.md"}}]);
    let own = json!([{"text": "The cellar is dry.", "metadata": {"path": "cellar.md"}}]);
    let recall = |query: &str| json!({"query": query, "sources": ["house"], "top_k": 1});
    let url = format!("http://127.0.0.1:{port}/");
    let server = FakeServer::script([
        calls([call("a", "web_fetch", json!({ "url": url }))]),
        calls([call("b", "index_write", json!({"source": "house", "chunks": rows}))]),
        calls([call("c", "index_write", json!({"source": "house", "chunks": own}))]),
        says("kept"),
        calls([call("d", "recall", recall("larder"))]),
        says("done"),
        calls([call("e", "recall", recall("cellar"))]),
        says("done"),
    ]);
    let config = format!("embedding.enabled: false\nweb_fetch: {{allow_hosts: [\"127.0.0.1:{port}\"]}}\n");
    let place = Place::with(&server).config(&config);
    let _ = place.run(["ask", "keep what the page says"]).exits(0);
    let _ = place.run(["ask", "what of the larder?"]).exits(0);
    let _ = place.run(["ask", "what of the cellar?"]).exits(0);
    assert!(result(&server, 5).starts_with("<<<EXTERNAL_UNTRUSTED id="), "{}", result(&server, 5));
    assert!(!result(&server, 7).contains("EXTERNAL_UNTRUSTED"), "{}", result(&server, 7));
    server.finish();
}

#[test]
fn rows_of_a_file_from_outside_are_fenced_when_they_are_recalled() {
    let port = serving_the_page();
    let row = json!({"text": LINE, "metadata": {"path": "larder.md"}}).to_string();
    let url = format!("http://127.0.0.1:{port}/");
    let server = FakeServer::script([
        calls([call("a", "web_fetch", json!({ "url": url }))]),
        calls([call("b", "write_file", json!({"path": "rows.jsonl", "content": row}))]),
        says("kept"),
        calls([call("c", "index_write", json!({"source": "house", "input_artifact": "rows.jsonl"}))]),
        says("indexed"),
        calls([call("d", "recall", json!({"query": "larder", "sources": ["house"]}))]),
        says("done"),
    ]);
    let config = format!("embedding.enabled: false\nweb_fetch: {{allow_hosts: [\"127.0.0.1:{port}\"]}}\n");
    let place = Place::with(&server).config(&config);
    let _ = place.run(["ask", "keep the page", "--allow", "file.write"]).exits(0);
    let _ = place.run(["ask", "index it"]).exits(0);
    let _ = place.run(["ask", "what of the larder?"]).exits(0);
    assert!(result(&server, 6).starts_with("<<<EXTERNAL_UNTRUSTED id="), "{}", result(&server, 6));
    server.finish();
}

#[test]
fn an_index_is_not_removed_where_nobody_is_there_to_be_asked() {
    let server = steps(&[("index_drop", json!({"source": "docs"}))]);
    let place = Place::with(&server).config("embedding.enabled: false\n").file("docs/a.md", "hinges\n");
    let _ = place.run(["index", "add", "docs", "docs"]).exits(0);
    let _ = place.run(["ask", "remove it"]).exits(4);
    assert!(result(&server, 1).contains("permissions.index_drop: allow"), "{}", result(&server, 1));
    let sources = place.run(["index", "list", "--json"]).exits(0).json();
    assert_eq!(sources["sources"][0]["name"], "docs");
    server.finish();
}

#[test]
fn a_server_that_keeps_indexes_is_named_by_a_secret_that_is_never_shown() {
    let place = Place::new().config("index.backend: postgres\n");
    let missing = place.run(["index", "list"]).exits(2);
    assert!(missing.stderr.contains("`REYN_INDEX_URL` is not set"), "{}", missing.stderr);
    let place = place.env("REYN_INDEX_URL", "postgresql://me:hunter2@127.0.0.1:1/team?sslmode=disable");
    let gone = place.run(["index", "list"]).exits(1);
    assert!(gone.stderr.contains("127.0.0.1"), "{}", gone.stderr);
    assert!(!gone.stderr.contains("hunter2"), "{}", gone.stderr);
    let place = place.env("REYN_INDEX_URL", "hunter2");
    let bad = place.run(["index", "list"]).exits(2);
    assert!(bad.stderr.contains("`REYN_INDEX_URL`") && !bad.stderr.contains("hunter2"), "{}", bad.stderr);
}

#[test]
fn what_is_remembered_by_hand_is_found_by_its_words() {
    let place = Place::new().config("embedding.enabled: false\n");
    let _ = place.run(["memory", "add", "deploy", "On Tuesdays, never on Fridays."]).exits(0);
    let found = place.run(["index", "query", "memory", "fridays", "--json"]).exits(0).json();
    assert_eq!(found["results"][0]["metadata"]["path"], ".reyn/memory/deploy.md", "{found}");
    let _ = place.run(["memory", "rm", "deploy"]).exits(0);
    let gone = place.run(["index", "query", "memory", "fridays", "--json"]).exits(0).json();
    assert_eq!(gone["results"], json!([]));
}
