//! `reyn sessions` and `reyn ask --continue`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use expect_test::expect;
use reyn_testkit::{FakeServer, Response, call, calls, says};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::Place;
use crate::running::{Running, WAIT_MAX};
use crate::terminal::AtTerminal;

/// A server that reads `README.md` once a turn and then answers.
fn server() -> FakeServer {
    FakeServer::answering(|request| {
        let messages = request["messages"].as_array().unwrap();
        if messages.last().unwrap()["role"] == "tool" {
            says("It says **hello**.").into()
        } else {
            calls([call("a", "read_file", json!({"path": "README.md"}))]).into()
        }
    })
}

fn folder(place: &Place, id: &str) -> PathBuf {
    place.root.join(".reyn/state/sessions").join(id)
}

fn log(place: &Place, id: &str) -> PathBuf {
    folder(place, id).join("log.jsonl")
}

/// Says when a session's log was last written.
fn written_before(place: &Place, id: &str, age: Duration) {
    let file = fs::File::options().write(true).open(log(place, id)).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

fn hours(count: u64) -> Duration {
    Duration::from_secs(count * 3600 + 60)
}

/// A place with the sessions `one`, two hours old, and `two`, three days old.
fn place() -> Place {
    let server = server();
    let place = Place::with(&server);
    for (id, question, age) in
        [("one", "what does README.md say?", hours(2)), ("two", "日本語で答えて\n短く", hours(72))]
    {
        let _ = place.run(["ask", question, "--session", id]).exits(0);
        written_before(&place, id, age);
    }
    place
}

/// Puts junk of 9 bytes after the first record of a session.
fn damage(place: &Place, id: &str) {
    let bytes = fs::read(log(place, id)).unwrap();
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    fs::write(log(place, id), [&bytes[..first], b"\0junk\xe6\x97\0\n", &bytes[first..]].concat()).unwrap();
}

#[test]
fn sessions_are_listed_newest_first_with_their_titles() {
    let place = place();
    expect![[r#"
        2 h ago     one  1 turn  what does README.md say?
        3 days ago  two  1 turn  日本語で答えて
    "#]]
    .assert_eq(&place.run(["sessions", "list"]).exits(0).stdout);
    let done = place.run(["sessions", "list", "--limit", "1"]).exits(0);
    assert_eq!(done.stdout, "2 h ago  one  1 turn  what does README.md say?\n");
    assert_eq!(done.stderr, "1 of 2 sessions; `--all` lists every one\n");
    let value = place.run(["sessions", "list", "--json"]).exits(0).json();
    assert_eq!((&value["total"], value["sessions"].as_array().unwrap().len()), (&json!(2), 2));
    let two = &value["sessions"][1];
    let bytes = fs::metadata(log(&place, "two")).unwrap().len();
    assert_eq!(
        [&two["id"], &two["title"], &two["turns"], &two["bytes"], &two["in_use_by"]],
        [&json!("two"), &json!("日本語で答えて"), &json!(1), &json!(bytes), &Value::Null]
    );
}

#[test]
fn where_there_is_no_session_it_is_said_how_to_begin_one() {
    let place = Place::new();
    let done = place.run(["sessions", "list"]).exits(0);
    assert_eq!(
        (done.stdout.as_str(), done.stderr.contains("`reyn chat` or `reyn ask` begins one")),
        ("", true)
    );
    for args in [&["sessions", "show", "latest"][..], &["ask", "go on", "--continue"]] {
        let done = Running::new(place.command(args), place.masks()).finish().exits(2);
        assert!(done.stderr.contains("there is no session here"), "{}", done.stderr);
    }
    assert!(!place.root.join(".reyn").exists(), "looking leaves nothing");
}

#[test]
fn a_session_is_shown_as_it_was_said() {
    let place = place();
    let done = place.run(["sessions", "show", "one"]).exits(0);
    let text = done.stdout.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
    expect![[r#"

        > what does README.md say?

        · read_file README.md: 6 B
        It says **hello**.
        (2 model calls, 20 tokens read, 10 written)
    "#]]
    .assert_eq(&text);
    let value = place.run(["sessions", "show", "one", "--json"]).exits(0).json();
    let kinds: Vec<&str> = value["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["entry"]["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["user", "reply", "started", "finished", "reply", "ended"]);
    assert_eq!((&value["usage"]["prompt_tokens"], &value["entries"][5]["seq"]), (&json!(20), &json!(6)));
}

#[test]
fn a_name_may_be_cut_and_a_wrong_one_is_told_with_the_right_one() {
    let place = place();
    let shown =
        |wanted: &str| place.run(["sessions", "show", wanted, "--json"]).exits(0).json()["id"].clone();
    for (wanted, id) in [("o", "one"), ("tw", "two"), ("@", "one"), ("latest", "one")] {
        assert_eq!(shown(wanted), id, "{wanted}");
    }
    fs::create_dir(folder(&place, "once")).unwrap();
    fs::copy(log(&place, "one"), log(&place, "once")).unwrap();
    for (wanted, kind, says) in [
        ("on", "ambiguous_session", "2 sessions begin with `on`"),
        ("twoo", "unknown_session", "did you mean `two`?; `reyn sessions list` shows them"),
        ("../one", "unknown_session", "no session is named `../one`"),
    ] {
        let value = place.run(["sessions", "show", wanted, "--json"]).exits(2).json();
        assert_eq!(value["error"]["kind"], kind, "{wanted}");
        assert!(value["error"]["message"].as_str().unwrap().contains(says), "{value}");
    }
}

#[test]
fn damage_is_found_and_repaired_and_nothing_good_is_lost() {
    let place = place();
    let sound = fs::read(log(&place, "one")).unwrap();
    assert_eq!(place.run(["sessions", "verify", "one"]).exits(0).stdout, "one: sound, 6 good records\n");
    damage(&place, "one");
    let first = sound.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let done = place.run(["sessions", "verify"]).exits(1);
    let expected = format!(
        "one: damaged, 6 good records\n  bytes {first} to {} are no record\n  \
         `reyn sessions repair one` moves that aside and keeps every good record\n\
         two: sound, 6 good records\n",
        first + 9
    );
    assert_eq!(done.stdout, expected);
    let value = place.run(["sessions", "verify", "--all", "--json"]).exits(1).json();
    let range = &value["sessions"][0]["damage"]["bytes"][0];
    assert_eq!([&range["start"], &range["end"]], [&json!(first), &json!(first + 9)]);
    assert_eq!((&value["status"], &value["exit_code"]), (&json!("error"), &json!(1)));
    assert!(place.run(["sessions", "show", "one"]).exits(0).stderr.contains("is damaged"));

    expect![[r#"
        one: 6 records kept; 9 B of damage moved to `/work/.reyn/state/sessions/one/log.damaged`
    "#]]
    .assert_eq(&place.run(["sessions", "repair", "one"]).exits(0).stdout);
    assert_eq!(fs::read(log(&place, "one")).unwrap(), sound);
    let again = place.run(["sessions", "repair", "one", "--json"]).exits(0).json();
    assert_eq!([&again["records"], &again["damaged_bytes"]], [&json!(6), &json!(0)]);
    let _ = place.run(["sessions", "verify", "--all"]).exits(0);
    let told: Vec<Value> =
        place.events().into_iter().filter(|event| event["data"]["run_id"] == "management").collect();
    assert_eq!(told.len(), 1, "what changes nothing is no event");
    assert_eq!(
        [&told[0]["type"], &told[0]["data"]["session_id"], &told[0]["data"]["damaged_bytes"]],
        [&json!("session_restored"), &json!("one"), &json!(9)]
    );
}

#[test]
fn what_cannot_be_read_is_named_and_the_others_are_checked() {
    let place = place();
    let text = fs::read_to_string(log(&place, "one")).unwrap();
    fs::write(log(&place, "one"), text.replace("{\"v\":1,", "{\"v\":2,")).unwrap();
    let done = place.run(["sessions", "verify"]).exits(1);
    assert!(done.stdout.contains("was written by a newer version (format 2)"), "{}", done.stdout);
    assert!(done.stdout.contains("two: sound"), "{}", done.stdout);
    let listed = place.run(["sessions", "list"]).exits(0).stdout;
    assert!(listed.contains("one") && listed.contains("(nothing was said)"), "{listed}");
}

#[test]
fn a_session_in_use_is_left_alone_and_its_holder_named() {
    let (tell, hangs) = channel();
    let server = FakeServer::answering(move |_| {
        tell.send(()).unwrap();
        Response::hang()
    });
    let place = Place::with(&server);
    let running = place.start(["ask", "first", "--session", "s"]);
    hangs.recv_timeout(WAIT_MAX).unwrap();
    let holder = format!("in use by process {} (since ", running.id());
    let next_step =
        format!("just now); wait until it ends, end it with `kill {}`, or use another", running.id());
    for args in [
        &["ask", "second", "--continue"][..],
        &["sessions", "repair", "s"],
        &["sessions", "rm", "s", "--yes"],
    ] {
        let done = Running::new(place.command(args), place.masks()).finish().exits(1);
        assert!(done.stderr.contains(&holder) && done.stderr.contains(&next_step), "{}", done.stderr);
    }
    let in_use_by = || {
        let value = place.run(["sessions", "list", "--json"]).exits(0).json();
        value["sessions"][0]["in_use_by"]["pid"].clone()
    };
    assert_eq!(in_use_by(), running.id());
    let shown = place.run(["sessions", "show", "s"]).exits(0).stdout;
    assert!(shown.contains("[this turn has no end yet: it runs, or its process died]"), "{shown}");

    running.signal(Signal::KILL);
    let _ = running.finish();
    assert_eq!(in_use_by(), Value::Null, "the lock of a dead process is none");
    let _ = place.run(["sessions", "repair", "s"]).exits(0);
    let _ = place.run(["sessions", "rm", "s", "--yes"]).exits(0);
    assert!(!folder(&place, "s").exists());
}

#[test]
fn removing_takes_a_yes_and_is_in_the_trail() {
    let place = place();
    let done = place.run(["sessions", "rm", "one", "two"]).exits(4);
    expect![[r#"
        reyn: nobody is there to say yes; `reyn sessions rm one two --yes` removes without asking
    "#]]
    .assert_eq(&done.stderr);
    let done = place.run(["sessions", "rm", "one", "three", "--yes"]).exits(2);
    assert!(done.stderr.contains("no session is named `three`"), "{}", done.stderr);
    assert!(log(&place, "one").exists(), "all of them or none");
    let value = place.run(["sessions", "rm", "one", "@", "--yes", "--json"]).exits(0).json();
    assert_eq!((&value["removed"], &value["left"]), (&json!(["one"]), &json!({})));
    assert!(!folder(&place, "one").exists() && log(&place, "two").exists());
    let removed: Vec<Value> =
        place.events().into_iter().filter(|event| event["type"] == "session_removed").collect();
    assert_eq!(removed.len(), 1);
    assert_eq!(
        [&removed[0]["data"]["session_id"], &removed[0]["data"]["run_id"]],
        [&json!("one"), &json!("management")]
    );
}

#[test]
fn at_a_terminal_a_removal_is_asked_first() {
    for (letter, code, is_left) in [("n", 1, true), ("", 1, true), ("y", 0, false)] {
        let place = place().env("NO_COLOR", "1");
        let mut terminal = AtTerminal::start(&place, &["sessions", "rm", "two"]);
        terminal.type_after("no: ", letter);
        let (exit, screen) = terminal.finish(&place);
        assert!(screen.contains("two  日本語で答えて"), "{screen}");
        assert_eq!((exit, folder(&place, "two").exists()), (Some(code), is_left), "{letter}: {screen}");
    }
}

#[test]
fn a_removal_leaves_what_is_not_reyns() {
    let place = place();
    fs::write(folder(&place, "one").join("notes.txt"), "mine").unwrap();
    expect![[r#"
        one: removed; its folder stays for what is not Reyn's: notes.txt
    "#]]
    .assert_eq(&place.run(["sessions", "rm", "one", "--yes"]).exits(0).stdout);
    let left: Vec<_> =
        fs::read_dir(folder(&place, "one")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    assert!(!place.run(["sessions", "list"]).exits(0).stdout.contains("one"));
}

/// Every file below a folder with its bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn links_among_the_sessions_are_never_followed() {
    let place = place();
    let theirs = place.outside.join("theirs");
    fs::create_dir(&theirs).unwrap();
    for name in ["log.jsonl", "log.damaged", "lock"] {
        fs::copy(log(&place, "two"), theirs.join(name)).unwrap();
    }
    let before = files(&place.outside);
    symlink(&theirs, folder(&place, "linked")).unwrap();
    for (id, name) in [("a-log", "log.jsonl"), ("a-lock", "lock"), ("a-side", "log.damaged")] {
        fs::create_dir(folder(&place, id)).unwrap();
        if name != "log.jsonl" {
            fs::copy(log(&place, "two"), log(&place, id)).unwrap();
            damage(&place, id);
        }
        symlink(theirs.join(name), folder(&place, id).join(name)).unwrap();
    }
    let listed = place.run(["sessions", "list"]).exits(0).stdout;
    assert!(!listed.contains("linked") && !listed.contains("a-log"), "{listed}");
    for id in ["linked", "a-log"] {
        for verb in ["show", "verify", "repair", "export"] {
            let _ = place.run(["sessions", verb, id]).exits(2);
        }
        let _ = place.run(["sessions", "rm", id, "--yes"]).exits(2);
    }
    let _ = place.run(["sessions", "repair", "a-lock"]).exits(1);
    let _ = place.run(["sessions", "rm", "a-lock", "--yes"]).exits(1);
    let _ = place.run(["sessions", "repair", "a-side"]).exits(1);
    let done = place.run(["sessions", "rm", "a-side", "--yes"]).exits(0);
    assert!(done.stdout.contains("log.damaged"), "a link is not ours: {}", done.stdout);
    assert_eq!(files(&place.outside), before);

    let sessions = place.root.join(".reyn/state/sessions");
    fs::rename(&sessions, place.outside.join("moved")).unwrap();
    symlink(place.outside.join("moved"), &sessions).unwrap();
    let done = place.run(["sessions", "list"]).exits(1);
    assert!(done.stderr.contains("is not a folder of its own; remove it"), "{}", done.stderr);
}

#[test]
fn an_export_as_records_is_a_session_again() {
    let place = place();
    let _ = place.run(["sessions", "export", "two", "--format", "jsonl", "-o", "copy.jsonl"]).exits(0);
    let sound = fs::read(log(&place, "two")).unwrap();
    assert_eq!(fs::read(place.root.join("copy.jsonl")).unwrap(), sound);
    fs::create_dir(folder(&place, "copy")).unwrap();
    fs::rename(place.root.join("copy.jsonl"), log(&place, "copy")).unwrap();
    let entries = |id: &str| place.run(["sessions", "show", id, "--json"]).exits(0).json()["entries"].clone();
    assert_eq!(entries("copy"), entries("two"));
    damage(&place, "copy");
    let done = place.run(["sessions", "export", "copy", "--format", "jsonl"]).exits(0);
    assert_eq!(done.stdout.as_bytes(), sound, "of a damaged session, what is good");
    assert!(done.stderr.contains("only its good records were exported"), "{}", done.stderr);
    let value = place.run(["sessions", "export", "two", "--format", "json"]).exits(0).json();
    assert_eq!(value, place.run(["sessions", "show", "two", "--json"]).exits(0).json());
}

#[test]
fn an_export_for_people_folds_results_and_replaces_no_file_unasked() {
    let place = place();
    let done = place.run(["sessions", "export", "one", "--output", "one.md"]).exits(0);
    assert_eq!((done.stdout.as_str(), done.stderr.contains("in `one.md`")), ("", true));
    let text = place.read("one.md").unwrap();
    let (_, said) = text.split_once("\n## You\n").unwrap();
    expect![[r#"

        what does README.md say?

        ## Reyn

        <details><summary>✓ read_file README.md: 6 B</summary>

        ```json
        {
          "path": "README.md"
        }
        ```

        ```
        hello
        ```

        </details>

        It says **hello**.

        *2 model calls, 20 tokens read, 10 written*
    "#]]
    .assert_eq(said);
    assert_eq!(place.run(["sessions", "export", "one"]).exits(0).stdout, text);
    let done = place.run(["sessions", "export", "two", "--output", "one.md"]).exits(1);
    expect![[r#"
        reyn: `one.md` is there already; `--force` replaces it, or name another file
    "#]]
    .assert_eq(&done.stderr);
    assert_eq!(place.read("one.md").unwrap(), text);
    let _ = place.run(["sessions", "export", "two", "--output", "one.md", "--force"]).exits(0);
    assert!(place.read("one.md").unwrap().starts_with("# 日本語で答えて\n"));
}

#[test]
fn to_continue_is_to_go_on_with_the_newest_session() {
    let server = server();
    let place = Place::with(&server);
    let _ = place.run(["ask", "first", "--session", "old"]).exits(0);
    let _ = place.run(["ask", "second", "--session", "new"]).exits(0);
    written_before(&place, "old", hours(1));
    let value = place.run(["ask", "third", "--continue", "--json"]).exits(0).json();
    assert_eq!(value["session"], "new");
    written_before(&place, "new", hours(2));
    let value = place.run(["ask", "fourth", "--continue", "--json"]).exits(0).json();
    assert_eq!(value["session"], "old");
    let done = place.run(["ask", "x", "--continue", "--session", "new"]).exits(2);
    assert!(done.stderr.contains("cannot be used with '--session <ID>'"), "{}", done.stderr);
}

/// In memory where there is such a place: a disk can take many seconds for ten thousand folders.
#[test]
fn ten_thousand_sessions_are_listed_newest_first() {
    let place = place();
    let memory = Some(Path::new("/dev/shm")).filter(|folder| folder.is_dir());
    let project = tempfile::tempdir_in(memory.unwrap_or(&std::env::temp_dir())).unwrap();
    let text = fs::read(log(&place, "two")).unwrap();
    let now = SystemTime::now();
    // In another order than the names.
    let age = |at: u64| (at * 7919) % 10_000;
    for at in 0..10_000_u64 {
        let session = project.path().join(format!(".reyn/state/sessions/s{at:05}"));
        fs::create_dir_all(&session).unwrap();
        let mut file = fs::File::create(session.join("log.jsonl")).unwrap();
        file.write_all(&text).unwrap();
        file.set_modified(now - Duration::from_secs(age(at))).unwrap();
    }
    let mut expected: Vec<u64> = (0..10_000).collect();
    expected.sort_by_key(|at| age(*at));
    for (args, count) in
        [(&["sessions", "list", "--json"][..], 20), (&["sessions", "list", "--all", "--json"], 10_000)]
    {
        let done = place.command(args).current_dir(project.path()).output().unwrap();
        let value: Value = serde_json::from_slice(&done.stdout).unwrap();
        let shown = value["sessions"].as_array().unwrap();
        assert_eq!((shown.len(), &value["total"]), (count, &json!(10_000)));
        let is_right = |(one, at): (&Value, &u64)| {
            one["id"] == format!("s{at:05}") && one["title"] == "日本語で答えて" && one["turns"] == 1
        };
        assert_eq!(shown.iter().zip(&expected).position(|pair| !is_right(pair)), None);
    }
}

#[test]
fn sessions_can_be_looked_at_while_the_configuration_is_wrong() {
    let place = place().config("nonsense: true\n");
    for verb in ["list", "verify"] {
        let _ = place.run(["sessions", verb]).exits(0);
    }
    assert!(place.run(["sessions", "show", "one"]).exits(0).stdout.contains("hello"));
    let _ = place.run(["sessions", "rm", "one", "--yes"]).exits(2);
}
