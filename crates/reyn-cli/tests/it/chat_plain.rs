//! `reyn chat` without a screen of its own: pipes, dumb terminals, no terminal type at all.

use expect_test::expect;
use reyn_testkit::{FakeServer, Response, call, calls, says};
use serde_json::json;

use crate::place::Place;
use crate::screen::AtScreen;

#[test]
fn piped_lines_are_said_one_after_the_other_and_the_answers_are_raw() {
    let server = FakeServer::script([says("# One\n\n**bold** and `code`"), says("二つ目")]);
    let place = Place::with(&server);
    let done = place.run_with_input(["chat", "--session", "s"], "first\n\n  second  \n").exits(0);
    expect![[r#"
        # One

        **bold** and `code`
        二つ目
    "#]]
    .assert_eq(&done.stdout);
    let said: Vec<String> = server
        .requests()
        .iter()
        .map(|request| {
            request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(said, ["first", "second"]);
}

#[test]
fn commands_work_in_a_pipe_too_and_what_needs_a_person_is_refused() {
    let write = calls([call("a", "write_file", json!({"path": "a.md", "content": "x"}))]);
    let server = FakeServer::script([write, says("I may not")]);
    let place = Place::with(&server);
    let done = place.run_with_input(["chat"], "/model\nwrite it\n/quit\nnever said\n").exits(4);
    expect![[r#"
          now   fake/test (`llm.model` in ~/.reyn/config.yaml:2)
          fake  fake/test
        I may not
    "#]]
    .assert_eq(&done.stdout);
    assert_eq!(place.read("a.md"), None);
}

#[test]
fn a_command_line_out_of_a_pipe_is_nobodys_yes() {
    let place = Place::with(&FakeServer::script([says("never asked")]));
    let done = place.run_with_input(["chat"], "!echo x > out\n").exits(1);
    assert!(
        done.stderr.contains("nobody is there to allow it: running `sh -c 'echo x > out'`"),
        "{}",
        done.stderr
    );
    assert_eq!(place.read("out"), None);
    let place = place.config("permissions: {exec: [\"sh -c\"]}\n");
    assert_eq!(place.run_with_input(["chat"], "!echo $((6 * 7))\n").exits(0).stdout, "42\n");
}

#[test]
fn the_exit_code_is_that_of_the_worst_message_or_command() {
    let server =
        FakeServer::script([Response::json(400, &json!({"error": {"message": "no"}})), says("ok").into()]);
    let place = Place::with(&server);
    let done = place.run_with_input(["chat"], "refused\nanswered\n").exits(1);
    assert_eq!(done.stdout, "ok\n");
    let done = place.run_with_input(["chat"], "/nonsense\n").exits(1);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("there is no command `/nonsense`"), "{}", done.stderr);
}

#[test]
fn a_line_beyond_the_bound_is_refused_whole_and_the_next_one_is_taken() {
    let server = FakeServer::script([says("ok")]);
    let place = Place::with(&server);
    let done = place.run_with_input(["chat"], &format!("{}\nshort\n", "長".repeat(1_500_000))).exits(1);
    assert_eq!(done.stdout, "ok\n");
    assert!(done.stderr.contains("is longer than 4194304 bytes and was not sent"), "{}", done.stderr);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn bytes_that_are_no_text_are_told_and_the_next_line_is_taken() {
    let server = FakeServer::script([says("ok")]);
    let place = Place::with(&server);
    let path = place.root.join("input");
    std::fs::write(&path, b"caf\xe9 \x83\x65\x83\x58\x83\x67\nplain\n").unwrap();
    let mut command = place.command(&["chat"]);
    command.stdin(std::fs::File::open(path).unwrap());
    let output = command.output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("that line is not UTF-8 text and was not sent"), "{words}");
    assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap().as_str()), (Some(1), "ok\n"));
}

/// What a chat with one write shows on a terminal of this type.
fn shown_on(term: &str) -> String {
    let write = calls([call("a", "write_file", json!({"path": "a.md", "content": "x\n"}))]);
    let server = FakeServer::script([write, says("written")]);
    let place = Place::with(&server).env("TERM", term).env("NO_COLOR", "1");
    let mut screen = AtScreen::start(&place, &["chat", "--session", "s"]);
    screen.wait_for("> ");
    screen.send("go\n");
    screen.wait_for("because …: ");
    screen.send("y\n");
    screen.wait_for("written");
    screen.send("\x04");
    assert_eq!(screen.finish(), Some(0));
    assert!(!screen.sent().contains(&0x1b), "{term:?}");
    assert_eq!(place.read("a.md").as_deref(), Some("x\n"));
    screen.everything()
}

#[test]
fn a_dumb_terminal_and_one_without_a_type_get_plain_lines_and_questions() {
    let dumb = shown_on("dumb");
    expect![[r#"
        reyn 0.0.0 · fake/test (`llm.model` in ~/.reyn/config.yaml:2)
        /help lists the commands; ctrl-D leaves
        > go
        · write_file a.md

        write_file wants to write `a.md`
          asked because `permissions.file.write` is not set, and only `.reyn/` is writte
        n without asking
            @@ -0,0 +1 @@
            +x
        write_file wants to write `a.md`
          [y] once  [s] this session  [j] always this path  [r] always below ./  [N] no 
         [b] no, because …: y
          done created, bytes 2
        written
        >
    "#]]
    .assert_eq(&dumb);
    assert_eq!(shown_on(""), dumb);
}

#[test]
fn a_line_of_a_megabyte_is_said_whole() {
    let server = FakeServer::script([says("long")]);
    let place = Place::with(&server);
    let line = "0123456789abcdef".repeat(65_536);
    let done = place.run_with_input(["chat"], &format!("{line}\n")).exits(0);
    assert_eq!(done.stdout, "long\n");
    let request = server.requests().pop().unwrap();
    assert_eq!(
        request["messages"].as_array().unwrap().last().unwrap()["content"].as_str(),
        Some(line.as_str())
    );
}
