//! Runs that are interrupted or killed.

use std::sync::mpsc::{Receiver, channel};

use expect_test::expect;
use reyn_testkit::{FakeServer, Response, call, calls, says};
use rustix::process::Signal;
use serde_json::json;

use crate::place::Place;
use crate::running::WAIT_MAX;

/// A server that hangs at the request of this number, counted from 1, and says when it does.
fn hanging_at(hangs_at: usize) -> (FakeServer, Receiver<()>) {
    let (tell, told) = channel();
    let mut count = 0;
    let server = FakeServer::answering(move |_| {
        count += 1;
        if count == hangs_at {
            tell.send(()).unwrap();
            Response::hang()
        } else if count < hangs_at {
            calls([call(&format!("call_{count}"), "read_file", json!({"path": "README.md"}))]).into()
        } else {
            says("back again").into()
        }
    });
    (server, told)
}

#[test]
fn an_interrupted_run_exits_130_and_its_session_goes_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (server, hangs) = hanging_at(2);
        let place = Place::with(&server);
        let running = place.start(["ask", "first", "--session", "s"]);
        hangs.recv_timeout(WAIT_MAX).unwrap();
        running.signal(signal);
        let _ = running.finish().exits(130);
        let done = place.run(["ask", "second", "--session", "s"]).exits(0);
        assert_eq!(done.stdout, "back again\n", "{signal:?}");
    }
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let (server, hangs) = hanging_at(1);
    let place = Place::with(&server);
    let running = place.start(["ask", "first"]);
    hangs.recv_timeout(WAIT_MAX).unwrap();
    running.signal(Signal::INT);
    let done = running.finish().exits(130);
    expect![[""]].assert_eq(&done.stdout);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        reyn: interrupted; `reyn ask --session SESSION "go on"` goes on
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn an_interrupted_run_is_one_object() {
    let (server, hangs) = hanging_at(1);
    let place = Place::with(&server);
    let running = place.start(["ask", "first", "--json", "--session", "s"]);
    hangs.recv_timeout(WAIT_MAX).unwrap();
    running.signal(Signal::INT);
    let value = running.finish().exits(130).json();
    assert_eq!(
        (&value["ending"], &value["exit_code"], &value["error"]),
        (&json!("cancelled"), &json!(130), &json!({"kind": "cancelled", "message": "interrupted"}))
    );
}

#[test]
fn an_interrupt_while_a_model_is_looked_for_is_one_object() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let place = Place::new().providers(&format!(
        "[[provider]]\nname = \"silent\"\napi_base = \"http://127.0.0.1:{port}/v1\"\nlocal = true\nport = {port}\n"
    ));
    let running = place.start(["ask", "first", "--json"]);
    let (connection, _) = listener.accept().unwrap();
    running.signal(Signal::INT);
    let value = running.finish().exits(130).json();
    drop(connection);
    assert_eq!(value["error"]["kind"], "cancelled");
}

#[test]
fn a_killed_run_leaves_a_session_that_goes_on() {
    let (server, hangs) = hanging_at(2);
    let place = Place::with(&server);
    let running = place.start(["ask", "first", "--session", "s"]);
    hangs.recv_timeout(WAIT_MAX).unwrap();
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);
    let done = place.run(["ask", "second", "--session", "s"]).exits(0);
    assert_eq!(done.stdout, "back again\n");
}

#[test]
fn a_session_in_use_is_refused_and_its_holder_named() {
    let (server, hangs) = hanging_at(1);
    let place = Place::with(&server);
    let running = place.start(["ask", "first", "--session", "s"]);
    hangs.recv_timeout(WAIT_MAX).unwrap();
    let done = place.run(["ask", "second", "--session", "s"]).exits(1);
    let holder = format!("the session `s` is in use by process {} (since ", running.id());
    assert!(done.stderr.contains(&holder), "{}", done.stderr);
    running.signal(Signal::INT);
    let _ = running.finish().exits(130);
}
