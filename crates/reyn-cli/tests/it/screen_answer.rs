//! What `reyn ask` draws at a terminal that can draw.

use expect_test::expect;
use reyn_testkit::{FakeServer, Gate, Response, call, calls, says, sse};
use serde_json::json;

use crate::place::Place;
use crate::screen::AtScreen;

#[test]
fn an_answer_is_drawn_as_markdown_between_the_notes() {
    let read = calls([call("a", "read_file", json!({"path": "README.md"}))]);
    let answer =
        "# Result\n\nIt says **hello**:\n\n| a | 値 |\n|---|---|\n| 1 | 二 |\n\n```sh\nls # here\n```";
    let server = FakeServer::script([read, says(answer)]);
    let place = Place::with(&server).env("NO_COLOR", "1").env("TERM", "xterm");
    let mut screen = AtScreen::start(&place, &["ask", "go", "--session", "s"]);
    assert_eq!(screen.finish(), Some(0));
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session s
        · read_file README.md
          6 B
        Result

        It says hello:

        ┌───┬────┐
        │ a │ 値 │
        ├───┼────┤
        │ 1 │ 二 │
        └───┴────┘

          ls # here
    "#]]
    .assert_eq(&screen.everything());
    assert!(!screen.look(|terminal| terminal.screen().hide_cursor()));
}

#[test]
fn an_answer_that_is_interrupted_leaves_what_was_written_and_a_cursor() {
    let gate = Gate::new();
    let whole = sse(&says("one **two** three four five six seven eight"));
    let cut = whole[..whole.find("seven").or_else(|| whole.find("eight")).unwrap()].rfind("data: ").unwrap();
    let (first, rest) = whole.split_at(cut);
    let response = Response::stream().bytes(first).wait(&gate).bytes(rest);
    let server = FakeServer::script([response]);
    let place = Place::with(&server).env("NO_COLOR", "1").env("TERM", "xterm");
    let mut screen = AtScreen::start(&place, &["ask", "go", "--session", "s"]);
    screen.wait_for("one two three four");
    screen.signal(rustix::process::Signal::INT);
    assert_eq!(screen.finish(), Some(130));
    gate.open();
    assert!(screen.everything().contains("reyn: interrupted"), "{}", screen.everything());
    assert!(!screen.look(|terminal| terminal.screen().hide_cursor()));
}
