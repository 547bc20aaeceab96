//! `reyn events --verify`.

use reyn_testkit::{FakeServer, says};
use serde_json::json;

use crate::place::Place;

/// A place with two sessions, whose trail has a file for each event.
fn place() -> Place {
    let server = FakeServer::answering(|_| says("hello").into());
    let place = Place::with(&server).config("audit_events:\n  max_bytes: 1\n");
    for session in ["one", "two"] {
        let _ = place.run(["ask", "what?", "--session", session]).exits(0);
    }
    place
}

fn files(place: &Place) -> Vec<std::path::PathBuf> {
    let chat = place.root.join(".reyn/events/agents/default/chat");
    let month = std::fs::read_dir(chat).unwrap().next().unwrap().unwrap().path();
    let mut files: Vec<_> = std::fs::read_dir(month).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_trail_as_it_was_written_is_whole() {
    let place = place();
    let count = place.events().len();
    let done = place.run(["events", "--verify"]).exits(0);
    assert_eq!(done.stdout, format!("the trail is whole: {count} events of 2 processes in {count} files\n"));
    let value = place.run(["events", "--verify", "--json"]).exits(0).json();
    assert_eq!(
        (&value["status"], &value["faults"], &value["processes"]),
        (&json!("ok"), &json!([]), &json!(2))
    );
}

#[test]
fn an_event_that_is_taken_out_is_missed() {
    let place = place();
    let files = files(&place);
    let second =
        files.iter().find(|file| std::fs::read_to_string(file).unwrap().contains("\"audit_seq\":2")).unwrap();
    std::fs::remove_file(second).unwrap();
    let done = place.run(["events", "--verify"]).exits(1);
    assert!(
        done.stdout.contains(".jsonl:1: number 2 is missing of this process before it\n"),
        "{}",
        done.stdout
    );
}

#[test]
fn an_event_that_is_changed_into_none_is_told_with_file_and_line() {
    let place = place();
    std::fs::write(files(&place).last().unwrap(), "{}\n").unwrap();
    let value = place.run(["events", "--verify", "--json"]).exits(1).json();
    let fault = &value["faults"][0];
    assert_eq!((&fault["line"], &value["exit_code"]), (&json!(1), &json!(1)), "{value}");
    assert!(fault["message"].as_str().unwrap().starts_with("no event: "), "{value}");
}

#[test]
fn a_check_takes_no_filter() {
    let done = Place::new().run(["events", "--verify", "--session", "s"]).exits(2);
    assert!(done.stderr.contains("cannot be used with"), "{}", done.stderr);
}
