//! `reyn chat` at a real terminal: what a person sees, types and gets.

use std::time::{Duration, Instant};

use expect_test::expect;
use reyn_testkit::{FakeServer, Gate, Response, call, calls, says, sse};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::place::Place;
use crate::screen::AtScreen;

/// A chat that waits for the first word.
#[track_caller]
fn chat(place: &Place) -> AtScreen {
    let screen = AtScreen::start(place, &["chat", "--session", "s"]);
    screen.wait_for("› ");
    screen
}

fn writes(path: &str, content: &str) -> reyn_core::request::ChatReply {
    calls([call("a", "write_file", json!({"path": path, "content": content}))])
}

/// A reply that is held back until the gate opens.
fn held(gate: &Gate, reply: &reyn_core::request::ChatReply) -> Response {
    Response::stream().wait(gate).bytes(sse(reply))
}

/// What the server was last told by the person.
fn last_said(server: &FakeServer) -> String {
    let request = server.requests().pop().unwrap();
    let said = request["messages"].as_array().unwrap().iter().rev().find(|message| message["role"] == "user");
    said.unwrap()["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_turn_with_an_approval() {
    let server = FakeServer::script([
        writes("notes/a.md", "# Notes\none\n"),
        says("Written to **notes/a.md**:\n\n- one\n- 日本語"),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("write notes");
    screen.wait_for("[n] no");
    expect![[r#"
        reyn 0.0.0 · fake/test (`llm.model` in ~/.reyn/config.yaml:2)
        /help lists the commands; esc stops the model; ctrl-D leaves

        › write notes

        ? write_file wants to write `notes/a.md`
          asked because `permissions.file.write` is not set, and only `.reyn/` is
            written without asking
            @@ -0,0 +1,2 @@
            +# Notes
            +one

        ? write_file wants to write `notes/a.md`
          [y] once  [s] this session  [j] always this path  [r] always below notes/
          [n] no  [b] no, because …
        › 
        fake/test · 15 tokens · s
    "#]]
    .assert_eq(&screen.everything());
    screen.send("y");
    screen.wait_for("日本語");
    expect![[r#"
        reyn 0.0.0 · fake/test (`llm.model` in ~/.reyn/config.yaml:2)
        /help lists the commands; esc stops the model; ctrl-D leaves

        › write notes

        ? write_file wants to write `notes/a.md`
          asked because `permissions.file.write` is not set, and only `.reyn/` is
            written without asking
            @@ -0,0 +1,2 @@
            +# Notes
            +one
          once
        ✓ write_file notes/a.md: done created, bytes 12

        Written to notes/a.md:

        • one
        • 日本語

        `reyn chat --session s` goes on
    "#]]
    .assert_eq(&screen.leave());
    assert_eq!(place.read("notes/a.md").as_deref(), Some("# Notes\none\n"));
}

#[test]
fn what_is_typed_for_something_else_does_not_answer_a_question() {
    let gate = Gate::new();
    let server = FakeServer::script([held(&gate, &writes("a.md", "x")), says("all done").into()]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("thinking");
    screen.send("and anoth");
    gate.open();
    // However long the person thinks about the next letter: half a message stands there.
    screen.wait_for("tab sets your text aside");
    screen.send("y");
    screen.wait_for("› and anothy");
    screen.send("\t");
    screen.wait_for("[n] no");
    assert_eq!(place.read("a.md"), None);
    screen.send("n");
    screen.wait_for("› and anothy");
    screen.wait_for("all done");
    assert_eq!(place.read("a.md"), None);
    screen.kill();
}

#[test]
fn text_that_is_pasted_without_marks_does_not_answer_a_question() {
    let server = FakeServer::script([writes("a.md", "x"), says("all done")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("[n] no");
    screen.send("yes to all");
    screen.wait_for("› yes to all");
    screen.send("\x15");
    screen.wait_for("[n] no");
    screen.send("y\r");
    screen.wait_for("one letter answers, by itself");
    assert_eq!(place.read("a.md"), None);
    screen.wait_for("[n] no");
    screen.send("y");
    screen.wait_for("all done");
    assert_eq!(place.read("a.md").as_deref(), Some("x"));
    screen.leave();
}

#[test]
fn a_key_that_is_held_down_answers_one_question() {
    let server = FakeServer::script([writes("a.md", "x"), writes("b.md", "x"), says("all done")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("[n] no");
    let pressed = std::time::Instant::now();
    screen.send("y");
    screen.wait_for("✓ write_file a.md");
    screen.wait_until("not asked again", |shown| shown.contains("`b.md`") && shown.contains("[n] no"));
    // A keyboard begins to repeat within this time.
    assert!(pressed.elapsed() >= std::time::Duration::from_millis(1_000));
    assert_eq!(place.read("b.md"), None);
    screen.send("n");
    screen.wait_for("all done");
    screen.leave();
}

#[test]
fn a_large_change_is_seen_whole_before_it_is_decided_on() {
    let long: String = (0..2_000).map(|at| format!("line {at}\n")).collect();
    let wide = format!("{}THE END\n", "a".repeat(3_000));
    let server = FakeServer::script([
        calls([
            call("a", "write_file", json!({"path": "a.md", "content": long})),
            call("b", "write_file", json!({"path": "b.md", "content": wide})),
        ]),
        says("both"),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("… 1961 more lines; ctrl-O shows them");
    screen.wait_for("then write_file wants to write `b.md`  +1 −0");
    screen.wait_for("[a] all 2 once");
    screen.send("\x0f");
    screen.wait_for("q closes");
    screen.send("G");
    screen.wait_for("THE END");
    screen.send("b");
    screen.wait_for("+line 1999");
    screen.send("q");
    screen.wait_until("not closed", |shown| !shown.contains("q closes") && !shown.contains("[a] all 2 once"));
    screen.wait_for("[a] all 2 once");
    screen.send("n");
    screen.wait_until("not asked about the next", |shown| shown.contains("`b.md`\n  [y] once"));
    screen.send("n");
    screen.wait_for("both");
    screen.leave();
}

#[test]
fn a_long_line_of_a_change_is_a_key_away() {
    let content = format!("x='{}'; more\n", "a".repeat(1_200));
    let server = FakeServer::script([writes("a.sh", &content), says("all done")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("… the lines are longer; ctrl-O shows them");
    screen.wait_for("[n] no");
    screen.send("\x0f");
    screen.wait_for("'; more");
    screen.kill();
}

#[test]
fn a_change_that_cannot_be_seen_whole_is_allowed_for_one_call() {
    let endless = "a\n".repeat(100_001);
    let server = FakeServer::script([
        calls([
            call("a", "write_file", json!({"path": "a.md", "content": endless})),
            call("b", "write_file", json!({"path": "b.md", "content": "b"})),
        ]),
        says("all done"),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("not all of this change can be shown; a yes is for this call alone");
    screen.wait_for("  [y] once  [n] no  [b] no, because …\n");
    screen.send("y");
    screen.wait_until("not asked about the next", |shown| shown.contains("`b.md`\n  [y] once  [s]"));
    screen.send("n");
    screen.wait_for("all done");
    assert_eq!((place.read("a.md").map(|text| text.len()), place.read("b.md")), (Some(200_002), None));
    screen.leave();
}

#[test]
fn a_question_that_comes_up_behind_a_page_is_answered_only_after_it_was_seen() {
    let gate = Gate::new();
    let read = calls([call("r", "read_file", json!({"path": "README.md"}))]);
    let server =
        FakeServer::script([read.into(), held(&gate, &writes("a.md", "x")), says("all done").into()]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("✓ read_file");
    screen.send("\x0f");
    screen.wait_for("q closes");
    gate.open();
    screen.wait_until("not asked", |_| server.requests().len() == 2);
    screen.send("qy");
    screen.wait_for("› y");
    screen.wait_for("tab sets your text aside");
    assert_eq!(place.read("a.md"), None);
    screen.send("\t");
    screen.wait_for("[y] once");
    screen.send("y");
    screen.wait_for("all done");
    assert_eq!(place.read("a.md").as_deref(), Some("x"));
    screen.kill();
}

#[test]
fn a_question_says_what_it_is_about_right_above_its_letters_however_long_the_change() {
    let long: String = (0..60).map(|at| format!("line {at}\n")).collect();
    let server = FakeServer::script([writes("a/long/way/down.md", &long), says("all done")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = AtScreen::start_sized(&place, &["chat", "--session", "s"], 70, 16);
    screen.wait_for("› ");
    screen.say("go");
    screen.wait_for("[n] no");
    expect![[r#"
            +line 30
            +line 31
            +line 32
            +line 33
            +line 34
            +line 35
            +line 36
            +line 37
            +line 38
            … 21 more lines; ctrl-O shows them

        ? write_file wants to write `a/long/way/down.md`
          [y] once  [s] this session  [j] always this path
          [r] always below a/long/way/  [n] no  [b] no, because …
        › 
        fake/test · 15 tokens · s"#]]
    .assert_eq(&screen.text());
    screen.kill();
}

#[test]
fn where_a_question_does_not_fit_no_letter_answers_it() {
    let server = FakeServer::script([writes("a.md", "x"), says("all done")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = AtScreen::start_sized(&place, &["chat"], 30, 4);
    screen.wait_for("› ");
    screen.say("go");
    screen.wait_for("make it larger");
    screen.send("y");
    screen.wait_for("› y");
    assert_eq!(place.read("a.md"), None);
    screen.kill();
}

#[test]
fn what_was_typed_before_the_chat_came_up_is_said() {
    let server = FakeServer::script([says("quick")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = AtScreen::start(&place, &["chat"]);
    screen.say("hello");
    screen.wait_for("quick");
    assert_eq!(last_said(&server), "hello");
    screen.leave();
}

#[test]
fn one_letter_allows_every_change_of_a_reply_and_ctrl_o_shows_them() {
    let server = FakeServer::script([
        calls([
            call("a", "write_file", json!({"path": "a.md", "content": "one\n"})),
            call("b", "write_file", json!({"path": "b.md", "content": "two\n"})),
        ]),
        says("both"),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("[a] all 2 once");
    screen.send("\x0f");
    screen.wait_for("+two");
    screen.send("q");
    // The question is looked at anew before a letter counts.
    screen.wait_until("not closed", |shown| shown.contains("› go") && !shown.contains("[a] all 2 once"));
    screen.wait_for("[a] all 2 once");
    screen.send("a");
    screen.wait_for("both");
    assert_eq!(["a.md", "b.md"].map(|name| place.read(name).unwrap()), ["one\n", "two\n"]);
    screen.leave();
}

#[test]
fn a_no_with_a_reason_reaches_the_model() {
    let server = FakeServer::script([writes("a.md", "x"), says("as you like")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("[b] no, because");
    screen.send("b");
    screen.wait_for("why not?");
    screen.say("docs/ だけ");
    screen.wait_for("as you like");
    let told = server.requests().pop().unwrap()["messages"].to_string();
    assert!(told.contains("and why: docs/ だけ"), "{told}");
    assert_eq!(place.read("a.md"), None);
    screen.leave();
}

#[test]
fn esc_stops_the_model_and_the_conversation_goes_on() {
    let gate = Gate::new();
    let server = FakeServer::script([held(&gate, &says("never")), says("here I am").into()]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("think long");
    screen.wait_for("thinking");
    screen.send("\x1b");
    screen.wait_for("interrupted");
    screen.say("hello?");
    screen.wait_for("here I am");
    gate.open();
    expect![[r#"
        reyn 0.0.0 · fake/test (`llm.model` in ~/.reyn/config.yaml:2)
        /help lists the commands; esc stops the model; ctrl-D leaves

        › think long

        interrupted; say `go on` to go on

        › hello?

        here I am

        `reyn chat --session s` goes on
    "#]]
    .assert_eq(&screen.leave());
}

#[test]
fn ctrl_c_twice_leaves_while_the_model_works_and_while_it_does_not() {
    let gate = Gate::new();
    let server = FakeServer::script([held(&gate, &says("never"))]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("thinking");
    screen.send("\x03\x03");
    assert_eq!(screen.finish(), Some(0));
    let mut screen = chat(&place);
    screen.send("half a line\x03");
    screen.wait_gone("half a line");
    screen.send("\x03");
    screen.wait_for("again leaves");
    screen.send("\x03");
    assert_eq!(screen.finish(), Some(0));
    gate.open();
}

/// Waits until the model is asked: what is said before is part of that very request.
fn until_asked(server: &FakeServer) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while server.requests().is_empty() && Instant::now() < deadline {
        std::thread::yield_now();
    }
}

#[test]
fn what_is_typed_during_a_turn_joins_its_next_round() {
    let gate = Gate::new();
    let read = calls([call("a", "read_file", json!({"path": "README.md"}))]);
    let server = FakeServer::script([held(&gate, &read), says("It says hello, briefly.").into()]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("what does README say?");
    screen.wait_for("thinking");
    until_asked(&server);
    screen.say("be brief");
    screen.wait_for("next: be brief");
    gate.open();
    screen.wait_for("briefly.");
    assert_eq!(last_said(&server), "be brief");
    expect![[r#"
        reyn 0.0.0 · fake/test (`llm.model` in ~/.reyn/config.yaml:2)
        /help lists the commands; esc stops the model; ctrl-D leaves

        › what does README say?

        ✓ read_file README.md: 6 B

        › be brief

        It says hello, briefly.

        `reyn chat --session s` goes on
    "#]]
    .assert_eq(&screen.leave());
}

#[test]
fn what_was_queued_comes_back_to_the_input_when_the_turn_is_stopped() {
    let gate = Gate::new();
    let server = FakeServer::script([held(&gate, &says("never"))]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("thinking");
    screen.say("and this");
    screen.wait_for("next: and this");
    screen.send("\x1b");
    screen.wait_for("› and this");
    screen.kill();
    gate.open();
}

#[test]
fn japanese_is_edited_by_letters_that_are_two_columns_wide() {
    let server = FakeServer::script([says("はい。")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.send("こんばんは");
    screen.wait_for("こんばんは");
    let (row, column) = screen.cursor();
    assert_eq!(column, 12);
    // Three to the left, two deleted, two typed.
    screen.send("\x1b[D\x1b[D\x1b[D");
    screen.wait_until("the cursor is elsewhere", |_| screen.cursor() == (row, 6));
    screen.send("\x1b[3~\x1b[3~にち");
    screen.wait_for("こんにちは");
    assert_eq!(screen.cursor(), (row, 10));
    screen.send("\r");
    screen.wait_for("はい。");
    assert_eq!(last_said(&server), "こんにちは");
    screen.leave();
}

#[test]
fn a_message_of_several_lines_is_sent_as_one() {
    let server = FakeServer::script([says("all done")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.send("one\x1b\rtwo");
    screen.send("\x1b[200~\r\nthree\r\x1b[201~\r");
    screen.wait_for("all done");
    assert_eq!(last_said(&server), "one\ntwo\nthree\n");
    screen.leave();
}

#[test]
fn another_size_shows_the_same_conversation() {
    let long = "a sentence that is longer than the narrow terminal and is broken at its spaces";
    let server = FakeServer::script([says(long), says("still here")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("spaces");
    screen.send("half typed");
    screen.wait_for("half typed");
    screen.resize(40, 12);
    screen.wait_until("not narrow", |shown| shown.contains("narrow\n") || shown.contains("half typed"));
    // A storm: only the last size counts.
    for at in 0..40_u16 {
        screen.resize(20 + at, 8 + at / 4);
    }
    screen.resize(40, 12);
    screen.send("!");
    screen.wait_for("half typed!");
    screen.send("\r");
    screen.wait_for("still here");
    screen.wait_gone("esc stops");
    // Where a row breaks and how many empty ones stand between depends on the size at which it was drawn.
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let expected = format!("› go {long} › half typed! still here › fake/test · 15 tokens · s");
    let shown = plain(&screen.everything());
    assert!(shown.ends_with(&plain(&expected)), "{shown}");
    screen.leave();
}

#[test]
fn a_storm_of_sizes_while_an_answer_streams_loses_no_line() {
    let gates: Vec<Gate> = (0..12).map(|_| Gate::new()).collect();
    let text: String =
        (1..=40).map(|at| format!("line number {at:02} of a long answer that is wide\n\n")).collect();
    let whole = sse(&says(&text));
    let mut response = Response::stream();
    let mut rest = whole.as_str();
    for gate in &gates {
        let at = rest.char_indices().nth(whole.len() / 13).unwrap().0;
        let at = rest[..at].rfind("data: ").unwrap();
        response = response.bytes(&rest[..at]).wait(gate);
        rest = &rest[at..];
    }
    let server = FakeServer::script([response.bytes(rest)]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("line number 01");
    let sizes = [
        (60, 20),
        (100, 30),
        (45, 12),
        (80, 24),
        (50, 10),
        (90, 40),
        (44, 15),
        (120, 24),
        (70, 8),
        (80, 30),
        (45, 20),
        (80, 24),
    ];
    for (gate, (columns, rows)) in gates.iter().zip(sizes) {
        screen.resize(columns, rows);
        gate.open();
    }
    screen.wait_for("line number 40");
    screen.wait_gone("esc stops");
    let everything = screen.everything();
    for at in 1..=40 {
        let count = everything.matches(&format!("line number {at:02}")).count();
        assert_eq!(count, 1, "line {at} of\n{everything}");
    }
    for words in ["› go", "/help lists the commands"] {
        assert_eq!(everything.matches(words).count(), 1, "{words}: {everything}");
    }
    screen.leave();
}

#[test]
fn a_short_chat_stands_once_after_another_size() {
    let server = FakeServer::script([says("one answer")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("one answer");
    screen.wait_until("not idle", |shown| shown.ends_with("15 tokens · s"));
    for (columns, typed) in [(70, "a"), (60, "b"), (90, "c")] {
        screen.resize(columns, 24);
        screen.send(typed);
        screen.wait_until("not painted", |shown| {
            shown.contains(&format!("{typed}\n")) && shown.starts_with("reyn")
        });
    }
    let everything = screen.everything();
    assert_eq!(
        (everything.matches("one answer").count(), everything.matches("› go").count()),
        (1, 1),
        "{everything}"
    );
    screen.send("\x15");
    screen.leave();
}

#[test]
fn a_terminal_of_one_row_shows_the_input() {
    let server = FakeServer::script([says("many\n\nparagraphs\n\nare here")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = AtScreen::start_sized(&place, &["chat"], 30, 1);
    screen.wait_for("›");
    screen.say("hi");
    screen.wait_until("not idle", |shown| shown.trim() == "›");
    screen.send("typed");
    screen.wait_for("› typed");
    screen.send("\x15");
    screen.leave();
}

#[test]
fn a_chat_in_which_nothing_was_said_leaves_no_session() {
    let server = FakeServer::script([says("hi"), says("again")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    place.run(["ask", "hello", "--session", "real"]).exits(0).stdout.clear();
    AtScreen::start(&place, &["chat", "--session", "empty"]).leave_at("› ");
    let list = place.run(["sessions", "list", "--json"]).exits(0).json();
    assert_eq!((list["total"].as_u64(), list["sessions"][0]["id"].as_str()), (Some(1), Some("real")));
    place.run(["ask", "more", "--continue"]).exits(0).stdout.clear();
    assert!(place.run(["sessions", "show", "real"]).exits(0).stdout.contains("again"));
}

#[test]
fn a_conversation_goes_on_after_a_crash() {
    let gate = Gate::new();
    let server = FakeServer::script([
        says("the number is 7").into(),
        held(&gate, &says("never")),
        says("It was 7.").into(),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("choose a number");
    screen.wait_for("is 7");
    screen.say("think about it");
    screen.wait_until("not asked", |_| server.requests().len() == 2);
    screen.signal(Signal::KILL);
    screen.kill();
    gate.open();
    let mut screen = AtScreen::start(&place, &["chat", "--continue"]);
    screen.wait_for("the number is 7");
    screen.say("which was it?");
    screen.wait_for("It was 7.");
    expect![[r#"
        reyn 0.0.0 · fake/test (`llm.model` in ~/.reyn/config.yaml:2)
        /help lists the commands; esc stops the model; ctrl-D leaves

        › choose a number

        the number is 7

        › think about it

        the process ended during this turn

        › which was it?

        It was 7.

        `reyn chat --session s` goes on
    "#]]
    .assert_eq(&screen.leave());
}

#[test]
fn control_characters_of_a_file_and_of_an_answer_are_shown_and_not_sent() {
    let server = FakeServer::script([
        calls([call("a", "read_file", json!({"path": "evil\u{1b}[2J.md"}))]),
        says("an \x1b]0;title\x07escape and `code\x1b[31m`"),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("escape and");
    let sent = screen.sent();
    for forbidden in ["\x1b[2J.md", "\x1b]0;", "\x1b[31m"] {
        assert!(!String::from_utf8_lossy(&sent).contains(forbidden), "{forbidden:?}");
    }
    assert!(screen.text().contains(r"an \u{1b}]0;title\u{7}escape"), "{}", screen.text());
    screen.leave();
}

#[test]
fn much_pasted_text_bad_bytes_and_a_very_long_line_are_taken_calmly() {
    let server = FakeServer::script([says("thanks"), says("again")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    let line = "0123456789".repeat(10_000);
    screen.send(format!("\x1b[200~{line}\x1b[201~\r"));
    screen.wait_for("thanks");
    assert_eq!(last_said(&server).len(), 100_000);
    screen.send(b"\x1b[200~caf\xe9 \x83\x65\x83\x58\x83\x67 \xff\x1b[201~");
    screen.wait_for("› caf");
    screen.send(b"\xff\xfe ok\r");
    screen.wait_for("again");
    screen.leave();
}

#[test]
fn commands_are_run_and_wrong_ones_told() {
    let server = FakeServer::script([says("an **answer**")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("ask");
    screen.wait_for("an answer");
    screen.say("!echo from $((6 * 7)); echo x > reyn.yaml");
    screen.wait_for("from 42");
    screen.wait_for("Read-only file system");
    screen.wait_for("ended with");
    screen.say("!sleep 86405");
    screen.wait_for("esc stops");
    screen.send("\x1b");
    screen.wait_for("cancelled by the person");
    screen.say("/modle");
    screen.wait_for("did you mean `/model`");
    screen.say("/cost");
    screen.wait_for("not known for fake/test");
    screen.say("/copy");
    screen.wait_for("sent to the terminal");
    assert!(String::from_utf8_lossy(&screen.sent()).contains("\x1b]52;c;YW4gKiphbnN3ZXIqKg==\x07"));
    screen.say("/save out.md");
    screen.wait_for("written to");
    assert!(place.read("out.md").unwrap().contains("an **answer**"));
    screen.say("/tools read_file");
    screen.wait_for("path");
    screen.say("/con\t");
    screen.wait_for("1 turn; bars are bytes");
    screen.say("/clear");
    screen.wait_for("`/resume s` goes back");
    screen.say("/resume");
    screen.wait_for("an answer");
    screen.say("/quit");
    assert_eq!(screen.finish(), Some(0));
    assert_eq!(server.requests().len(), 1, "no command goes to the model");
}

#[test]
fn a_conversation_is_saved_where_its_name_says_and_not_where_a_link_leads() {
    let server = FakeServer::script([says("an answer")]);
    let place = Place::with(&server);
    std::os::unix::fs::symlink(&place.outside, place.root.join("docs")).unwrap();
    let input = format!("ask\n/save docs/x.md\n/save {}/y.md\n/save ../z.md\n", place.outside.display());
    let done = place.run_with_input(["chat", "--session", "s"], &input);
    let saved = |name: &str| place.outside.join(name).exists();
    assert_eq!((saved("x.md"), saved("y.md"), saved("../z.md")), (false, true, true), "{}", done.stderr);
    let refused = "`docs/x.md` is not written: a link on the way leads to `/outside/x.md`; give that path";
    assert!(done.stderr.contains(refused), "{}", done.stderr);
    assert!(done.stdout.contains("written to `/z.md`"), "{}", done.stdout);
}

#[test]
fn an_answer_to_a_question_can_be_taken_back() {
    let server =
        FakeServer::script([writes("docs/a.md", "x"), says("one"), writes("docs/b.md", "x"), says("two")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("[r] always below docs/");
    screen.send("r");
    screen.wait_for("one");
    screen.say("/permissions");
    screen.wait_for("yes chat_router/file.write/docs/  always");
    screen.say("/permissions revoke chat_router/file.write/docs/");
    screen.wait_for("is taken back");
    screen.say("again");
    screen.wait_for("[r] always below docs/");
    screen.send("n");
    screen.wait_for("two");
    assert_eq!((place.read("docs/a.md").as_deref(), place.read("docs/b.md")), (Some("x"), None));
    screen.leave();
}

#[test]
fn a_session_in_use_is_refused_with_who_holds_it() {
    let server = FakeServer::script([says("never asked")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let screen = chat(&place);
    let refused = place.run(["ask", "x", "--session", "s"]).exits(1);
    assert!(refused.stderr.contains("is in use by process"), "{}", refused.stderr);
    screen.leave();
}

#[test]
fn sigterm_and_a_terminal_that_goes_away_end_the_turn_and_the_process() {
    let gate = Gate::new();
    let server = FakeServer::script([held(&gate, &says("x")), held(&gate, &says("y"))]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("thinking");
    screen.signal(Signal::TERM);
    assert_eq!(screen.finish(), Some(130));
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("thinking");
    screen.hang_up();
    gate.open();
    let ended = place.run(["sessions", "show", "s", "--json"]).exits(0);
    assert!(ended.stdout.contains("cancelled"), "{}", ended.stdout);
}

#[test]
fn the_terminal_is_itself_again_afterwards() {
    let server = FakeServer::script([says("never asked")]);
    let place = Place::with(&server);
    let mut screen = chat(&place);
    screen.send("\x04");
    assert_eq!(screen.finish(), Some(0));
    screen.look(|terminal| {
        let shown = terminal.screen();
        assert!(!shown.hide_cursor() && !shown.bracketed_paste() && !shown.alternate_screen());
    });
}

#[test]
fn a_command_typed_during_a_turn_is_shown_where_it_runs() {
    let gate = Gate::new();
    let server = FakeServer::script([held(&gate, &says("an answer"))]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("thinking");
    screen.say("/help cost");
    screen.wait_for("next: /help cost");
    gate.open();
    screen.wait_for("money where a price is known");
    screen.say("/help quit");
    screen.wait_for("leave; the session is kept");
    expect![[r#"
        reyn 0.0.0 · fake/test (`llm.model` in ~/.reyn/config.yaml:2)
        /help lists the commands; esc stops the model; ctrl-D leaves

        › go

        an answer

        › /help cost

        /cost  tokens, and money where a price is known

        › /help quit

        /quit  leave; the session is kept

        `reyn chat --session s` goes on
    "#]]
    .assert_eq(&screen.leave());
}

#[test]
fn a_message_after_a_command_that_waits_is_for_what_the_command_leaves() {
    let gate = Gate::new();
    let server = FakeServer::script([held(&gate, &says("first")), says("second").into()]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("one");
    screen.wait_for("thinking");
    screen.say("/clear");
    screen.say("two");
    screen.wait_for("next: two");
    gate.open();
    screen.wait_for("second");
    let messages = server.requests().pop().unwrap()["messages"].clone();
    assert!(!messages.to_string().contains("first"), "{messages}");
    screen.leave();
}

#[test]
fn a_page_is_left_whatever_ends_the_chat() {
    let read = calls([call("r", "read_file", json!({"path": "README.md"}))]);
    let server = FakeServer::script([read, says("all done")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("all done");
    screen.send("\x0f");
    screen.wait_for("q closes");
    screen.signal(Signal::TERM);
    assert_eq!(screen.finish(), Some(130));
    assert!(!screen.look(|terminal| terminal.screen().alternate_screen()));
    assert!(screen.text().contains("all done"), "{}", screen.text());
}

#[test]
fn a_terminal_that_takes_nothing_is_no_reason_to_stay() {
    let long = "a line\n\n".repeat(100_000);
    let server = FakeServer::script([says(&long)]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut screen = chat(&place);
    screen.say("go");
    screen.wait_for("a line");
    screen.freeze();
    screen.signal(Signal::TERM);
    assert_eq!(screen.code(), Some(130));
}

#[test]
fn control_z_gives_the_terminal_to_the_shell_and_fg_gives_it_back() {
    let server = FakeServer::script([says("still here")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut shell = AtScreen::start_shell(&place);
    shell.say("reyn chat --session s");
    shell.wait_for("ctrl-D leaves");
    shell.wait_for("› ");
    shell.send("half");
    shell.wait_for("› half");
    shell.send("\x1a");
    shell.wait_for("Stopped");
    shell.say("echo in the shell: $((6 * 7))");
    shell.wait_for("in the shell: 42");
    shell.say("fg");
    shell.wait_until("not back", |shown| shown.trim_end().ends_with("s") && shown.contains("› half\n"));
    shell.send(" a line\r");
    shell.wait_for("still here");
    shell.send("\x04");
    shell.wait_for("goes on");
    shell.kill();
}

#[test]
fn a_stop_from_outside_gives_the_terminal_to_the_shell_and_fg_gives_it_back() {
    let server = FakeServer::script([says("still here")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut shell = AtScreen::start_shell(&place);
    shell.say("reyn chat --session s");
    shell.wait_for("ctrl-D leaves");
    shell.wait_for("› ");
    shell.send("half");
    shell.wait_for("› half");
    for round in 1..=2 {
        kill_process(process_named(&shell, "reyn"), Signal::TSTP).unwrap();
        let sent = || String::from_utf8_lossy(&shell.sent()).into_owned();
        shell.wait_until("not stopped", |_| sent().matches("Stopped").count() == round);
        assert_eq!(sent().matches("\x1b[<1u\x1b[?2004l").count(), round, "given back before it stopped");
        shell.say(&format!("echo in the shell: $((6 * {round}))"));
        shell.wait_for(&format!("in the shell: {}", 6 * round));
        shell.say("fg");
        shell.wait_until("not back", |shown| shown.trim_end().ends_with("s") && shown.contains("› half\n"));
    }
    shell.send(" a line\r");
    shell.wait_for("still here");
    shell.send("\x04");
    shell.wait_for("goes on");
    shell.kill();
}

/// The process of this name that the shell started.
fn process_named(shell: &AtScreen, name: &str) -> Pid {
    let id = shell.child_id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let is_named =
        |id: &&str| std::fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|comm| comm.trim() == name);
    Pid::from_raw(children.split_whitespace().find(is_named).unwrap().parse().unwrap()).unwrap()
}

#[test]
fn a_quit_gives_the_terminal_back_and_ends_the_process_by_its_signal() {
    let server = FakeServer::script([says("never asked")]);
    let place = Place::with(&server);
    let mut screen = chat(&place);
    assert!(screen.look(|terminal| terminal.screen().bracketed_paste()));
    screen.signal(Signal::QUIT);
    assert_eq!(screen.ended_by(), Some(Signal::QUIT.as_raw()));
    screen.look(|terminal| {
        let shown = terminal.screen();
        assert!(!shown.hide_cursor() && !shown.bracketed_paste() && !shown.alternate_screen());
    });
}
