//! Exit codes that no other test looks at.

use reyn_testkit::{FakeServer, call, calls, says};
use serde_json::json;

use crate::place::Place;
use crate::running::Running;

#[test]
fn a_limit_exits_3_and_says_what_allows_more() {
    let server = FakeServer::script([
        calls([call("a", "read_file", json!({"path": "README.md"}))]),
        says("So far: hello."),
    ]);
    let done = Place::with(&server).run(["ask", "what?", "--max-iterations", "1"]).exits(3);
    assert_eq!(done.stdout, "So far: hello.\n");
    assert!(done.stderr.contains("`--max-iterations`"), "{}", done.stderr);
}

#[test]
fn a_wrong_call_exits_2_before_anything_is_written() {
    let server = FakeServer::script([says("never")]);
    let place = Place::with(&server);
    let _ = place.run(["ask", "what?", "--max-iterations", "0"]).exits(2);
    let _ = place.run(["ask", "what?", "--session", "../s"]).exits(2);
    let _ = place.run(["ask", ""]).exits(2);
    let _ = place.run(["tools"]).exits(2);
    assert!(!place.root.join(".reyn").exists());
}

#[test]
fn an_answer_that_cannot_be_written_exits_1() {
    let server = FakeServer::script([says("lost")]);
    let place = Place::with(&server);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let done = Running::into(place.command(&["ask", "what?"]), full, place.masks()).finish().exits(1);
    assert!(done.stderr.contains("reyn: cannot write the result: "), "{}", done.stderr);
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let server = FakeServer::script([says("lost")]);
    let place = Place::with(&server);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let _ = Running::into(place.command(&["ask", "what?"]), writer, place.masks()).finish().exits(0);
}
