//! Programs: who lets them run, what they reach, and that they end with their owner.

use std::time::Instant;

use expect_test::expect;
use reyn_testkit::{FakeServer, call, calls, says};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::Place;
use crate::running::WAIT_MAX;
use crate::screen::AtScreen;

/// A server whose model runs this, then is done.
fn runs(argv: &[&str]) -> FakeServer {
    uses("exec", json!({ "argv": argv }))
}

fn uses(tool: &str, args: Value) -> FakeServer {
    FakeServer::script([calls([call("a", tool, args)]), says("done")])
}

/// What the model was told of its call.
fn result(server: &FakeServer) -> String {
    let request = server.requests().remove(1);
    let messages = request["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[test]
fn nobody_there_is_no_and_the_key_that_would_allow_it_is_named() {
    let server = runs(&["sh", "-c", "echo hi > out"]);
    let place = Place::with(&server);
    let done = place.run(["ask", "go"]).exits(4);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        · exec sh -c 'echo hi > out'
          permission_denied: nobody is there to allow it: running `sh -c 'echo hi > out'` takes a person's yes, because `permissions.exec` is not set
        reyn: refused: nobody is there to allow it: running `sh -c 'echo hi > out'` takes a person's yes, because `permissions.exec` is not set; the person can run it again with `--allow 'exec:sh -c '\''echo hi > out'\'''`, or set `permissions.exec: ["sh -c 'echo hi > out'"]` in `reyn.yaml`
    "#]].assert_eq(&done.stderr);
    assert_eq!(place.read("out"), None);
}

#[test]
fn an_allowed_program_runs_and_its_output_is_the_result() {
    let server = runs(&["sh", "-c", "echo out; echo err >&2; echo more >&2; exit 3"]);
    let place = Place::with(&server).env("OPENAI_API_KEY", "sk-very-secret").env("WHO", "me");
    let done = place.run(["ask", "go", "--allow", "exec"]).exits(0);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        · exec sh -c 'echo out; echo err >&2; echo more >&2; exit 3'
          4 B, returncode 3, stderr more
    "#]]
    .assert_eq(&done.stderr);
    expect![[r#"
        ---
        status: error
        returncode: 3
        backend: landlock
        ---
        out
        --- stderr
        err
        more"#]]
    .assert_eq(&result(&server));
}

#[test]
fn a_program_gets_no_credential_of_the_environment() {
    let server = runs(&["env"]);
    let place = Place::with(&server).env("OPENAI_API_KEY", "sk-very-secret").env("SSH_AUTH_SOCK", "/x");
    let _ = place.run(["ask", "go", "--allow", "exec:env"]).exits(0);
    let result = result(&server);
    let names: Vec<&str> = result.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert_eq!(names, ["HOME", "PATH", "TZ", "TMPDIR"]);
}

#[test]
fn a_program_that_is_not_there_is_told_with_near_names_and_nobody_is_asked() {
    let server = runs(&["gti", "status"]);
    let place = Place::with(&server);
    let _ = place.run(["ask", "go"]).exits(0);
    let result = result(&server);
    assert!(result.starts_with("Error (handler_error): no program is named `gti` on PATH"), "{result}");
    for (argv, says) in [
        (json!([]), "`argv` is empty"),
        (json!(["a\u{0}b"]), "`argv[0]` holds a NUL character"),
        (json!(["./nothing"]), "no such file"),
    ] {
        let server = uses("exec", json!({ "argv": argv }));
        let _ = Place::with(&server).run(["ask", "go"]).exits(0);
        let result = self::result(&server);
        assert!(result.to_lowercase().contains(&says.to_lowercase()), "{argv}: {result}");
    }
}

#[test]
fn a_program_that_takes_too_long_is_stopped_with_all_it_started() {
    let server = uses("exec", json!({"argv": ["sh", "-c", "echo begun; sleep 86401"], "timeout": 1}));
    let _ = Place::with(&server).run(["ask", "go", "--allow", "exec"]).exits(0);
    expect![[r#"
        ---
        status: timeout
        returncode: -1
        backend: landlock
        stderr: Command timed out after 1s
        ---
        begun
    "#]]
    .assert_eq(&result(&server));
    assert_eq!(processes("86401"), 0);
    let server = uses("exec", json!({"argv": ["true"], "timeout": 601}));
    let _ = Place::with(&server).run(["ask", "go", "--allow", "exec"]).exits(0);
    assert!(result(&server).contains("`timeout` is 601 and must be from 1 to 600 seconds"));
}

/// How many processes have this word in their command.
fn processes(word: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    commands.filter(|command| command.split(|byte| *byte == 0).any(|part| part == word.as_bytes())).count()
}

fn wait_for_processes(word: &str, count: usize) {
    let begun = Instant::now();
    while processes(word) != count {
        assert!(begun.elapsed() < WAIT_MAX, "{} processes have `{word}`", processes(word));
        std::thread::yield_now();
    }
}

#[test]
fn nothing_outlives_the_agent_however_it_ends() {
    for (signal, word) in [(Signal::KILL, "86402"), (Signal::INT, "86403"), (Signal::TERM, "86404")] {
        let script = format!("(setsid sh -c 'sleep {word} & sleep {word}' &) ; setsid sleep {word}");
        let server = runs(&["sh", "-c", &script]);
        let place = Place::with(&server);
        let running = place.start(["ask", "go", "--allow", "exec"]);
        wait_for_processes(word, 3);
        running.signal(signal);
        wait_for_processes(word, 0);
        let _ = running.finish();
    }
}

#[test]
fn much_output_is_cut_in_the_middle_and_counted() {
    let server = runs(&["sh", "-c", "echo begin; yes | head -c 50000000; echo end"]);
    let _ = Place::with(&server).run(["ask", "go", "--allow", "exec"]).exits(0);
    let result = result(&server);
    let facts: Vec<&str> = result.lines().take_while(|line| *line != "y").collect();
    expect![[r#"
        [
            "---",
            "status: ok",
            "returncode: 0",
            "backend: landlock",
            "truncated: true",
            "stdout_bytes: 50000010",
            "stderr_bytes: 0",
            "---",
            "begin",
        ]
    "#]]
    .assert_debug_eq(&facts);
    assert!(result.trim_end().ends_with("y\nend") && result.len() < 50_000, "{}", result.len());
}

#[test]
fn what_stands_below_dot_reyn_is_judged_by_what_it_says_so_a_program_writes_nothing_there() {
    let server = runs(&["sh", "-c", "mkdir -p .reyn/notes; echo x > .reyn/notes/a.md"]);
    let place = Place::with(&server);
    let _ = place.run(["ask", "go", "--allow", "exec", "--allow", "file.write"]).exits(0);
    assert_eq!(place.read(".reyn/notes/a.md"), None);
    assert!(result(&server).contains("Read-only file system"), "{}", result(&server));
}

#[test]
fn where_files_may_not_be_written_a_program_does_not_write_them_either() {
    for (permission, is_written) in
        [("ask", true), ("deny", false), ("[out]", false), ("[notes.md, out]", true)]
    {
        let server = runs(&["sh", "-c", "printf new > notes.md"]);
        let place = Place::with(&server).file("notes.md", "old").file("out/x", "x");
        let place = place.config(&format!("permissions:\n  exec: allow\n  file:\n    write: {permission}\n"));
        let _ = place.run(["ask", "go"]).exits(0);
        let expected = if is_written { "new" } else { "old" };
        assert_eq!(place.read("notes.md").as_deref(), Some(expected), "{permission}: {}", result(&server));
    }
}

#[test]
fn the_network_is_shut_by_one_key() {
    for (network, is_reached) in [("true", true), ("false", false)] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = runs(&["bash", "-c", &format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached")]);
        let place = Place::with(&server)
            .config(&format!("permissions: {{exec: allow}}\nsandbox: {{policy: {{network: {network}}}}}\nsafety: {{threat_scan: {{enabled: false}}}}\n"));
        let _ = place.run(["ask", "go"]).exits(0);
        let result = result(&server);
        assert_eq!(result.contains("\nreached"), is_reached, "{result}");
    }
}

#[test]
fn where_nothing_confines_a_program_it_runs_only_before_a_persons_eyes() {
    let policy = |extra: &str| format!("permissions: {{exec: allow}}\nsandbox: {{backend: noop{extra}}}\n");
    let server = runs(&["echo", "hi"]);
    let done = Place::with(&server).config(&policy("")).run(["ask", "go"]).exits(4);
    assert!(
        done.stderr
            .contains("no program runs here, since nothing would confine it: `sandbox.backend` is `noop`"),
        "{}",
        done.stderr
    );
    let server = runs(&["echo", "hi"]);
    let _ = Place::with(&server).config(&policy(", on_unsupported: ignore")).run(["ask", "go"]).exits(0);
    assert!(result(&server).contains("backend: noop\n---\nhi"), "{}", result(&server));
}

#[test]
fn the_audit_trail_tells_what_ran() {
    let server = runs(&["sh", "-c", "echo 123; exit 1"]);
    let place = Place::with(&server);
    let _ = place.run(["ask", "go", "--allow", "exec", "--session", "one"]).exits(0);
    let events = place.events();
    let of_programs: Vec<String> = events
        .iter()
        .filter(|event| event["type"].as_str().is_some_and(|kind| kind.starts_with("sandboxed_exec")))
        .map(|event| format!("{} {}", event["type"].as_str().unwrap(), event["data"]))
        .collect();
    assert_eq!(of_programs.len(), 2, "{of_programs:#?}");
    assert!(of_programs[0].contains(r#""argv":["sh","-c","echo 123; exit 1"],"backend":"landlock""#));
    assert!(of_programs[0].contains(r#""timeout_seconds":120,"network":true,"allow_subprocess":true"#));
    assert!(of_programs[1].contains(r#""returncode":1,"stdout_len":4,"stderr_len":0,"truncated":false"#));
}

#[test]
fn the_tests_of_a_project_are_run_after_a_yes_and_the_answer_says_what_fails() {
    let script = "#!/bin/sh\necho 'test adds ... ok'\necho 'test divides ... FAILED: 1 / 0'\nexit 1\n";
    let server = FakeServer::script([
        calls([call("a", "exec", json!({"argv": ["sh", "-e", "run-tests.sh"], "timeout": 60}))]),
        says("`divides` fails: it divides by zero."),
    ]);
    let place = Place::with(&server).file("run-tests.sh", script).env("NO_COLOR", "1").env("TERM", "xterm");
    let mut screen = AtScreen::start_sized(
        &place,
        &["ask", "run the tests and tell me what fails", "--session", "s"],
        110,
        30,
    );
    screen.wait_for("no, because …");
    screen.say("y");
    assert_eq!(screen.finish(), Some(0));
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session s
        · exec sh -e run-tests.sh

        exec wants to run `sh -e run-tests.sh`
          asked because `permissions.exec` is not set
          in a sandbox: it writes in the workspace alone, with the network
          [y] once  [s] this session  [j] always this command  [N] no  [b] no, because …: y
          48 B, returncode 1
        divides fails: it divides by zero.
    "#]]
    .assert_eq(&screen.everything());
}

#[test]
fn a_script_is_shown_line_by_line_and_what_is_given_to_read_too() {
    let args = json!({
        "argv": ["bash", "-c", "echo one\nrm -rf build\n"],
        "stdin": "first\nsecond \u{1b}[2J\n",
        "cwd": "sub",
    });
    let server = uses("exec", args);
    let place = Place::with(&server).file("sub/a", "a").env("NO_COLOR", "1").env("TERM", "xterm");
    let mut screen = AtScreen::start_sized(&place, &["ask", "go", "--session", "s"], 100, 30);
    screen.wait_for("no, because …");
    screen.say("n");
    assert_eq!(screen.finish(), Some(0));
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session s
        · exec bash -c 'echo one rm -rf build '

        exec wants to run `bash -c 'echo one\u{a}rm -rf build\u{a}'`
          asked because `permissions.exec` is not set
          argument 2:
            echo one
            rm -rf build
          in the folder `sub`
          it reads:
            first
            second \u{1b}[2J
          in a sandbox: it writes in the workspace alone, with the network
          [y] once  [N] no  [b] no, because …: n
          permission_denied: the person said no: you may not run `bash -c 'echo one rm -rf build '`
        done
    "#]]
    .assert_eq(&screen.everything());
}

#[test]
fn a_yes_to_how_a_command_begins_is_kept_and_can_be_taken_back() {
    let server = FakeServer::script([
        calls([call("a", "exec", json!({"argv": ["git", "--version"]}))]),
        calls([call("a", "exec", json!({"argv": ["expr", "1", "+", "1"]}))]),
        calls([call("a", "exec", json!({"argv": ["expr", "1", "+", "2"]}))]),
        says("done"),
        calls([call("a", "exec", json!({"argv": ["expr", "1", "+", "3"]}))]),
        says("done"),
    ]);
    let place = Place::with(&server).env("NO_COLOR", "1").env("TERM", "xterm");
    let mut screen = AtScreen::start_sized(&place, &["ask", "go", "--session", "s"], 110, 30);
    screen.wait_for("exec wants to run `git --version`");
    screen.wait_for("no, because …");
    screen.say("y");
    screen.wait_for("always `expr 1 …`");
    screen.say("r");
    assert_eq!(screen.finish(), Some(0));
    assert_eq!(place.read(".reyn/approvals.yaml").as_deref(), Some("chat_router/exec/expr 1 *: true\n"));
    let listed = place.run(["permissions", "list"]).exits(0).stdout;
    assert!(listed.contains("run expr 1 …"), "{listed}");
    // Another run is not asked: nobody is there.
    let _ = place.run(["ask", "again"]).exits(0);
    let _ = place.run(["permissions", "revoke", "chat_router/exec/expr 1 *"]).exits(0);
    assert_eq!(place.read(".reyn/approvals.yaml").as_deref().map(str::trim), Some(""));
}
