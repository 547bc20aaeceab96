//! Runs that are interrupted or killed.

use std::sync::mpsc::{Receiver, channel};

use expect_test::expect;
use reyn_testkit::{FakeServer, Response, call, calls, says};
use rustix::process::Signal;
use serde_json::json;

use crate::place::Place;
use crate::running::{Running, WAIT_MAX};

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

#[test]
fn an_interrupt_while_standard_input_is_read_is_one_object() {
    let place = Place::new();
    let (reader, _writer) = std::io::pipe().unwrap();
    let mut command = place.command(&["ask", "first", "--json"]);
    command.stdin(reader);
    let running = Running::new(command, place.masks());
    // Only then is it certain that the signal is caught.
    assert!(running.says("reading standard input"));
    running.signal(Signal::INT);
    assert_eq!(running.finish().exits(130).json()["error"]["kind"], "cancelled");
}

#[test]
fn damage_to_a_session_is_said_once_and_the_session_goes_on() {
    let server = FakeServer::script([says("one"), says("two"), says("three")]);
    let place = Place::with(&server);
    let _ = place.run(["ask", "first", "--session", "s"]).exits(0);
    let log = place.root.join(".reyn/state/sessions/s/log.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.extend_from_slice(b"\0\0\0\0{\"v\":1,\"crc\xe6\x97");
    std::fs::write(&log, bytes).unwrap();
    let done = place.run(["ask", "second", "--session", "s"]).exits(0);
    expect![[r#"
        reyn: 17 B of the session's log were damaged and are now in `/work/.reyn/state/sessions/s/log.damaged`; everything else is kept
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session s
    "#]]
    .assert_eq(&done.stderr);
    let done = place.run(["ask", "third", "--session", "s"]).exits(0);
    assert!(!done.stderr.contains("damaged"), "{}", done.stderr);
    let said = server.requests()[2]["messages"].as_array().unwrap().len();
    assert_eq!(said, 1 + 2 + 2 + 1, "the system prompt, two turns and the new message");
}

#[test]
fn a_full_disk_in_a_turn_is_told_with_the_way_to_go_on() {
    for (args, way_on) in [
        ("chat --session s", "then `reyn chat --session s` goes on\n"),
        ("ask first --session s", "then `reyn ask --session s \"go on\"` goes on\n"),
    ] {
        let long = "x".repeat(4_096);
        let server = FakeServer::script([says(&long), says("back again")]);
        let place = Place::with(&server).file("input", "first\n");
        let mut command = place.command_of(std::path::Path::new("/bin/sh"));
        let limited = format!("trap '' XFSZ; ulimit -f 4; exec \"$0\" {args} < input");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_reyn")]);
        let done = Running::new(command, place.masks()).finish().exits(1);
        assert!(done.stderr.ends_with(way_on), "{}", done.stderr);
        let done = place.run(["ask", "second", "--session", "s"]).exits(0);
        assert_eq!(done.stdout, "back again\n");
    }
}

/// The limit on the size of files makes a write fail as a full disk does, at any point of a turn.
#[test]
fn a_full_disk_fails_the_run_and_the_session_goes_on() {
    let mut has_failed = false;
    for blocks in 1..8 {
        let mut count = 0;
        let server = FakeServer::answering(move |_| {
            count += 1;
            if count == 1 {
                calls([call("a", "read_file", json!({"path": "README.md"}))]).into()
            } else {
                says("back again").into()
            }
        });
        let place = Place::with(&server);
        let mut command = place.command_of(std::path::Path::new("/bin/sh"));
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" ask first --session s --json");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_reyn")]);
        let first = Running::new(command, place.masks()).finish();
        let value = first.json();
        assert_eq!(value["exit_code"], json!(first.code), "{value}");
        has_failed |= first.code == Some(1);
        let done = place.run(["ask", "second", "--session", "s"]).exits(0);
        assert_eq!(done.stdout, "back again\n", "{blocks} blocks");
    }
    assert!(has_failed, "no limit was low enough");
}
