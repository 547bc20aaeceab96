//! `reyn events --follow`.

use std::io::Read;

use reyn_testkit::{FakeServer, says};
use rustix::process::Signal;

use crate::place::Place;
use crate::running::Running;

fn server() -> FakeServer {
    FakeServer::answering(|_| says("hello").into())
}

fn ask(place: &Place, session: &str) {
    let _ = place.run(["ask", "what?", "--session", session]).exits(0);
}

#[test]
fn events_are_shown_as_they_are_written_and_ctrl_c_ends_it() {
    let server = server();
    let place = Place::with(&server);
    let following = place.start(["events", "--follow"]);
    assert!(following.says("there are no events yet"));
    for session in ["one", "two"] {
        ask(&place, session);
        assert!(following.prints(&format!("chain_id={session}.1  ending=answered")));
    }
    following.signal(Signal::INT);
    let done = following.finish().exits(130);
    assert_eq!(done.stdout, place.run(["events"]).exits(0).stdout);
}

#[test]
fn a_new_file_is_followed() {
    let server = server();
    let place = Place::with(&server).config("audit_events:\n  max_bytes: 1\n");
    ask(&place, "one");
    let following = place.start(["events", "--follow", "--json", "--since", "1h"]);
    ask(&place, "two");
    assert!(following.prints("\"chain_id\":\"two.1\",\"ending\""));
    following.signal(Signal::TERM);
    assert_eq!(following.finish().exits(130).lines_of_json(), place.events());
}

#[test]
fn only_the_last_events_of_before_are_shown() {
    let server = server();
    let place = Place::with(&server);
    for session in ["one", "two", "three", "four"] {
        ask(&place, session);
    }
    let all = place.run(["events"]).exits(0).stdout;
    let following = place.start(["events", "--follow"]);
    assert!(following.prints("chain_id=four.1  ending=answered"));
    following.signal(Signal::INT);
    let shown = following.finish().exits(130).stdout;
    assert_eq!(shown.lines().count(), 20);
    assert!(all.ends_with(&shown));
}

#[test]
fn what_is_followed_can_be_chosen() {
    let server = server();
    let place = Place::with(&server);
    ask(&place, "one");
    let following = place.start([
        "events",
        "--follow",
        "--kind",
        "turn_settled",
        "--kind",
        "turn_started",
        "--session",
        "two",
    ]);
    ask(&place, "two");
    assert!(following.prints("ending=answered"));
    following.signal(Signal::INT);
    let shown = following.finish().exits(130).stdout;
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(!shown.contains("one.1"), "{shown}");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let server = server();
    let place = Place::with(&server);
    ask(&place, "one");
    let (mut reader, writer) = std::io::pipe().unwrap();
    let following = Running::into(place.command(&["events", "--follow"]), writer, place.masks());
    let mut first = [0; 10];
    reader.read_exact(&mut first).unwrap();
    drop(reader);
    assert_eq!(following.finish().exits(0).stderr, "");
}

#[test]
fn a_path_that_is_not_there_is_not_waited_for() {
    let done = Place::new().run(["events", "--follow", "nowhere.jsonl"]).exits(1);
    assert!(done.stderr.contains("there are no events at `nowhere.jsonl`"), "{}", done.stderr);
}
