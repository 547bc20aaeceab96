//! What a person at a terminal sees and answers.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use expect_test::expect;
use reyn_testkit::{FakeServer, call, calls, says};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use crate::place::Place;
use crate::running::{Heard, Owned};

/// A process whose input and both outputs are one terminal.
pub(crate) struct AtTerminal {
    keyboard: File,
    screen: Heard,
    child: Owned,
}

impl AtTerminal {
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        Self::start_typed(place, args, "")
    }

    /// With this typed before the process is there.
    pub(crate) fn start_typed(place: &Place, args: &[&str], typed: &str) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, vec![]).unwrap();
        let open = || {
            rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap()
        };
        let mut command = place.command(args);
        command.stdin(Stdio::from(open())).stdout(Stdio::from(open())).stderr(Stdio::from(open()));
        let mut keyboard = File::from(ours);
        keyboard.write_all(typed.as_bytes()).unwrap();
        let child = Owned(command.spawn().unwrap());
        let screen = Heard::from(keyboard.try_clone().unwrap());
        Self { keyboard, screen, child }
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let is_there = self.screen.wait(|heard| heard.text().contains(text));
        assert!(is_there, "no `{text}` on the screen:\n{}", self.screen.text());
    }

    /// Types a line once the screen shows `after`.
    #[track_caller]
    pub(crate) fn type_after(&mut self, after: &str, line: &str) {
        self.wait_for(after);
        self.keyboard.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The exit code, and everything that the screen showed.
    #[track_caller]
    pub(crate) fn finish(mut self, place: &Place) -> (Option<i32>, String) {
        assert!(self.screen.wait(|heard| heard.has_ended), "still running:\n{}", self.screen.text());
        let code = self.child.0.wait().unwrap().code();
        (code, place.masks().apply(&self.screen.text().replace("\r\n", "\n")))
    }
}

fn writes(path: &str) -> FakeServer {
    FakeServer::script([
        calls([call("a", "write_file", json!({"path": path, "content": "new\n"}))]),
        says("done"),
    ])
}

/// Asks for a write into `notes.md` and gives this answer.
fn answered(letter: &str) -> (Place, Option<i32>, String) {
    let server = writes("notes.md");
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut terminal = AtTerminal::start(&place, &["ask", "go", "--session", "s"]);
    terminal.type_after("because …: ", letter);
    let (code, screen) = terminal.finish(&place);
    (place, code, screen)
}

/// Whether a second run, where nobody is there, may write into `path`.
fn may_write_later(place: &Place, path: &str) -> bool {
    let server = writes(path);
    let there = Place::with(&server);
    std::fs::copy(there.home.join(".reyn/config.yaml"), place.home.join(".reyn/config.yaml")).unwrap();
    place.run(["ask", "go"]).code == Some(0)
}

#[test]
fn a_person_is_asked_before_a_write_and_sees_why() {
    let (place, code, screen) = answered("y");
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session s
        · write_file notes.md

        write_file wants to write `notes.md`
          asked because `permissions.file.write` is not set, and only `.reyn/` is written without asking
            @@ -0,0 +1 @@
            +new
        write_file wants to write `notes.md`
          [y] once  [s] this session  [j] always this path  [r] always below ./  [N] no  [b] no, because …: y
          done created, bytes 4
        done
    "#]]
    .assert_eq(&screen);
    assert_eq!((code, place.read("notes.md").as_deref()), (Some(0), Some("new\n")));
}

#[test]
fn a_yes_for_once_or_for_the_session_is_not_kept() {
    for letter in ["y", "s"] {
        let (place, ..) = answered(letter);
        assert!(!may_write_later(&place, "notes.md"), "{letter}");
    }
}

#[test]
fn a_yes_for_this_path_is_kept_for_this_path_alone() {
    let (place, ..) = answered("j");
    assert_eq!(["notes.md", "more.md"].map(|path| may_write_later(&place, path)), [true, false]);
}

#[test]
fn a_yes_for_the_folder_is_kept_for_everything_below_it() {
    let (place, ..) = answered("r");
    assert_eq!(["more.md", "a/b.md"].map(|path| may_write_later(&place, path)), [true, true]);
}

#[test]
fn an_empty_line_is_a_no() {
    let (place, code, screen) = answered("");
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session s
        · write_file notes.md

        write_file wants to write `notes.md`
          asked because `permissions.file.write` is not set, and only `.reyn/` is written without asking
            @@ -0,0 +1 @@
            +new
        write_file wants to write `notes.md`
          [y] once  [s] this session  [j] always this path  [r] always below ./  [N] no  [b] no, because …: 
          permission_denied: the person said no: you may not write `notes.md`
        done
    "#]]
    .assert_eq(&screen);
    assert_eq!((code, place.read("notes.md")), (Some(0), None));
}

#[test]
fn a_reason_for_a_no_goes_to_the_model() {
    let server = writes("notes.md");
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut terminal = AtTerminal::start(&place, &["ask", "go"]);
    terminal.type_after("because …: ", "b");
    terminal.type_after("why not? ", "put it below docs/");
    let (code, _) = terminal.finish(&place);
    assert_eq!((code, place.read("notes.md")), (Some(0), None));
    let told = server.requests().last().unwrap()["messages"].to_string();
    assert!(told.contains("and why: put it below docs/"), "{told}");
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let gate = reyn_testkit::Gate::new();
    let write = calls([call("a", "write_file", json!({"path": "a.md", "content": "x"}))]);
    let held = reyn_testkit::Response::stream().wait(&gate).bytes(reyn_testkit::sse(&write));
    let server = FakeServer::script([held, says("done").into()]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut terminal = AtTerminal::start(&place, &["ask", "go", "--session", "s"]);
    terminal.type_after("session s", "r");
    terminal.wait_for("r\r\n");
    gate.open();
    terminal.type_after("because …: ", "n");
    let (code, _) = terminal.finish(&place);
    assert_eq!((code, place.read("a.md"), place.read(".reyn/approvals.yaml")), (Some(0), None, None));
}

/// The offer that follows a line which is no answer.
fn offer_after(line: &str) -> String {
    format!("{line}\r\nplease type one of the letters\r\nwrite_file wants to write `notes.md`\r\n  [y]")
}

#[test]
fn three_answers_that_mean_nothing_are_a_no() {
    let server = writes("notes.md");
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut terminal = AtTerminal::start(&place, &["ask", "go"]);
    terminal.type_after("because …: ", "maybe");
    terminal.type_after(&offer_after("maybe"), "yep");
    terminal.type_after(&offer_after("yep"), "sure");
    let (code, screen) = terminal.finish(&place);
    assert_eq!((code, screen.matches("please type").count(), place.read("notes.md")), (Some(0), 3, None));
}

#[test]
fn several_lines_at_once_do_not_answer() {
    let server = writes("notes.md");
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut terminal = AtTerminal::start(&place, &["ask", "go"]);
    terminal.type_after("because …: ", "here is what I mean:\nr\ny");
    terminal.wait_for("please type one of the letters\r\nwrite_file wants");
    terminal
        .type_after("please type one of the letters\r\nwrite_file wants to write `notes.md`\r\n  [y]", "n");
    let (code, _) = terminal.finish(&place);
    assert_eq!((code, place.read("notes.md"), place.read(".reyn/approvals.yaml")), (Some(0), None, None));
}

#[test]
fn a_long_line_of_a_change_does_not_look_like_a_question() {
    let forged = "write_file wants to write `safe.md`";
    let content = format!("{}{forged}{}\n", "a".repeat(75), " ".repeat(80 - forged.len()) + forged);
    let server = FakeServer::script([
        calls([call("a", "write_file", json!({"path": "notes.md", "content": content}))]),
        says("done"),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut terminal = AtTerminal::start(&place, &["ask", "go"]);
    terminal.type_after("because …: ", "n");
    let (_, screen) = terminal.finish(&place);
    let change = screen.split("@@").nth(2).unwrap().split("\nwrite_file wants to write `notes.md`").next();
    let rows: Vec<&str> = change.unwrap().lines().skip(1).collect();
    assert!(rows.len() >= 3, "{screen}");
    for row in rows {
        assert!(row.starts_with("    ") && row.chars().count() <= 80, "{row:?} of\n{screen}");
    }
}

#[test]
fn a_large_change_is_shown_whole_when_it_is_wanted() {
    let long: String = (0..500).map(|at| format!("line {at}\n")).collect();
    let server = FakeServer::script([
        calls([call("a", "write_file", json!({"path": "notes.md", "content": long}))]),
        says("done"),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut terminal = AtTerminal::start(&place, &["ask", "go"]);
    terminal.wait_for(
        "    … 461 more lines\r\nwrite_file wants to write `notes.md`\r\n  [v] view all of it  [y]",
    );
    terminal.type_after("because …: ", "v");
    terminal.wait_for("    +line 499\r\nwrite_file wants to write `notes.md`\r\n  [v] view all of it  [y]");
    terminal.type_after("because …: ", "y");
    let (code, _) = terminal.finish(&place);
    assert_eq!((code, place.read("notes.md")), (Some(0), Some(long)));
}

#[test]
fn a_write_into_a_protected_file_cannot_be_allowed_for_more_than_it() {
    let server = writes("reyn.yaml");
    let place = Place::with(&server).env("NO_COLOR", "1");
    let mut terminal = AtTerminal::start(&place, &["ask", "go"]);
    terminal.type_after("because …: ", "n");
    let (code, screen) = terminal.finish(&place);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        · write_file reyn.yaml

        write_file wants to write `reyn.yaml`
          asked because it is one of the runtime's own files, which no grant opens
            @@ -1 +1 @@
            -# nothing
            +new
        write_file wants to write `reyn.yaml`
          [y] once  [N] no  [b] no, because …: n
          permission_denied: the person said no: you may not write `reyn.yaml`
        done
    "#]]
    .assert_eq(&screen);
    assert_eq!(code, Some(0));
}

#[test]
fn control_c_at_the_question_ends_the_turn() {
    let server = FakeServer::script([calls([call("a", "write_file", json!({"path": "x", "content": ""}))])]);
    let place = Place::with(&server);
    let terminal = AtTerminal::start(&place, &["ask", "go"]);
    terminal.wait_for("because …: ");
    kill_process(Pid::from_child(&terminal.child.0), Signal::INT).unwrap();
    let (code, _) = terminal.finish(&place);
    assert_eq!((code, place.read("x")), (Some(130), None));
}

#[test]
fn an_answer_with_escape_sequences_reaches_the_terminal_without_them() {
    let server = FakeServer::script([says("a\x1b[2Jb\u{202e}c")]);
    let place = Place::with(&server).env("NO_COLOR", "1");
    let (_, screen) = AtTerminal::start(&place, &["ask", "go"]).finish(&place);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        a[2Jbc
    "#]]
    .assert_eq(&screen);
}

#[test]
fn notes_are_grey_where_the_terminal_has_colours() {
    let server = FakeServer::script([says("hi")]);
    let place = Place::with(&server);
    let (_, screen) = AtTerminal::start(&place, &["ask", "go"]).finish(&place);
    assert!(screen.starts_with("\x1b[2mfake/test"), "{screen:?}");
}
