//! `reyn permissions`.

use expect_test::expect;
use serde_json::{Value, json};

use reyn_testkit::{FakeServer, call, calls, says};

use crate::place::Place;
use crate::terminal::AtTerminal;

const ANSWERS: &str = "\
chat_router/file.write/docs/: true
chat_router/file.write/notes.md: false
chat_router/file.grep//var/log/: true
chat_router/file.write/reyn.yaml: true
chat_router/file.paint/a: true
cron/file.write/a: true
";

fn place() -> Place {
    Place::new().file(".reyn/approvals.yaml", ANSWERS)
}

fn answers(place: &Place) -> String {
    place.read(".reyn/approvals.yaml").unwrap()
}

/// The events of no session, without what is different in every run.
fn trail(place: &Place) -> Vec<Value> {
    let events = place.run(["events", "--json", "--session", "management"]).exits(0).lines_of_json();
    events
        .into_iter()
        .map(|event| json!([event["type"], event["data"]["key"], event["data"]["count"]]))
        .collect()
}

#[test]
fn every_answer_is_listed_with_what_it_covers() {
    expect![[r#"
        yes  search below /var/log/                                chat_router/file.grep//var/log/
        yes  no effect: no such operation or path                  chat_router/file.paint/a
        yes  write below docs/                                     chat_router/file.write/docs/
        no   write notes.md                                        chat_router/file.write/notes.md
        yes  no effect: a change of this file is asked every time  chat_router/file.write/reyn.yaml
        yes  no effect: another program's answer                   cron/file.write/a
    "#]]
    .assert_eq(&place().run(["permissions", "list"]).exits(0).stdout);
}

#[test]
fn answers_for_programs_are_one_object() {
    let place =
        Place::new().file(".reyn/approvals.yaml", "chat_router/file.read//etc/hosts: true\ncron/x: false\n");
    assert_eq!(
        place.run(["permissions", "list", "--json"]).exits(0).json(),
        json!({"answers": [
            {"key": "chat_router/file.read//etc/hosts", "allowed": true, "covers": "read /etc/hosts", "no_effect": null},
            {"key": "cron/x", "allowed": false, "covers": null, "no_effect": "another program's answer"},
        ]})
    );
}

#[test]
fn without_answers_there_is_nothing_to_list_or_to_clear() {
    let place = Place::new();
    assert!(place.run(["permissions", "list"]).exits(0).stdout.starts_with("no answers are kept"));
    assert_eq!(place.run(["permissions", "clear"]).exits(0).stdout, "no answers are kept\n");
    assert_eq!(place.read(".reyn/approvals.lock"), None);
}

#[test]
fn a_file_that_is_wrong_is_told_with_its_line_and_left_as_it_is() {
    let text = "chat_router/file.write/docs/: true\nchat_router/file.write/a: maybe\n";
    let place = Place::new().file(".reyn/approvals.yaml", text);
    for args in [vec!["list"], vec!["clear", "--yes"], vec!["revoke", "chat_router/file.write/docs/"]] {
        let mut command = place.command(&["permissions"]);
        command.args(&args);
        let done = crate::running::Running::new(command, place.masks()).finish().exits(2);
        assert!(done.stderr.contains("line 2") && done.stderr.contains("mend this one"), "{}", done.stderr);
    }
    assert_eq!(answers(&place), text);
}

#[test]
fn a_revoke_takes_the_answer_back_and_is_in_the_trail() {
    let place = place();
    let done = place.run(["permissions", "revoke", "chat_router/file.write/docs/"]).exits(0);
    assert_eq!(done.stdout, "taken back: yes to chat_router/file.write/docs/\n");
    assert!(!answers(&place).contains("docs") && answers(&place).lines().count() == 5);
    assert_eq!(trail(&place), [json!(["permission_approval_revoked", "chat_router/file.write/docs/", null])]);
}

#[test]
fn after_a_revoke_a_run_is_asked_again() {
    let write = || calls([call("a", "write_file", json!({"path": "docs/a.md", "content": "x"}))]);
    let server = FakeServer::script([write(), says("done"), write(), says("done")]);
    let place = Place::with(&server).file(".reyn/approvals.yaml", ANSWERS).file("docs/b.md", "");
    let _ = place.run(["ask", "go"]).exits(0);
    let _ = place.run(["permissions", "revoke", "chat_router/file.write/docs/"]).exits(0);
    let _ = place.run(["ask", "go"]).exits(4);
}

#[test]
fn a_revoke_of_an_unknown_key_is_exit_code_2_with_near_keys() {
    let place = place();
    let done = place.run(["permissions", "revoke", "chat_router/file.write/docs"]).exits(2);
    expect![[r#"
        reyn: no answer has the key `chat_router/file.write/docs`; did you mean `chat_router/file.write/docs/`, `chat_router/file.write/notes.md` or `chat_router/file.write/reyn.yaml`?
    "#]]
    .assert_eq(&done.stderr);
    assert_eq!(answers(&place), ANSWERS);
    let value = place.run(["permissions", "revoke", "x", "--json"]).exits(2).json();
    assert_eq!((&value["exit_code"], &value["error"]["kind"]), (&json!(2), &json!("unknown_key")));
}

#[test]
fn a_clear_without_a_person_needs_a_yes_of_the_command_line() {
    let place = place();
    for args in [["permissions", "clear", "--json"], ["permissions", "clear", ""]] {
        let args: Vec<&str> = args.into_iter().filter(|arg| !arg.is_empty()).collect();
        let done = crate::running::Running::new(place.command(&args), place.masks()).finish().exits(4);
        assert!((done.stdout + &done.stderr).contains("add `--yes`"), "{args:?}");
    }
    assert_eq!(answers(&place), ANSWERS);
    let value = place.run(["permissions", "clear", "--yes", "--json"]).exits(0).json();
    assert_eq!(value, json!({"status": "ok", "cleared": 6}));
    assert_eq!(answers(&place), "");
    assert_eq!(trail(&place), [json!(["permission_approvals_cleared", null, 6])]);
}

#[test]
fn a_clear_at_a_terminal_asks() {
    for (answer, code, left) in [("n", 1, ANSWERS), ("", 1, ANSWERS), ("y", 0, "")] {
        let place = place();
        let mut terminal = AtTerminal::start(&place, &["permissions", "clear"]);
        terminal.type_after("Take back all 6 answers of this project? [y/N] ", answer);
        let (exit, screen) = terminal.finish(&place);
        assert_eq!((exit, answers(&place).as_str()), (Some(code), left), "{answer:?}\n{screen}");
    }
}

#[test]
fn answers_are_taken_back_while_the_configuration_is_wrong() {
    let place = place().config("nonsense: 1\n");
    let _ = place.run(["permissions", "list"]).exits(0);
    let _ = place.run(["permissions", "revoke", "cron/file.write/a"]).exits(0);
    let _ = place.run(["permissions", "clear", "--yes"]).exits(0);
    assert_eq!((answers(&place).as_str(), trail(&place).len()), ("", 2));
}

#[test]
fn a_link_in_the_place_of_the_file_is_refused() {
    let place = place();
    let theirs = place.outside.join("theirs.yaml");
    std::fs::rename(place.root.join(".reyn/approvals.yaml"), &theirs).unwrap();
    std::os::unix::fs::symlink(&theirs, place.root.join(".reyn/approvals.yaml")).unwrap();
    let _ = place.run(["permissions", "clear", "--yes"]).exits(1);
    assert_eq!(std::fs::read_to_string(theirs).unwrap(), ANSWERS);
}
