//! Who may write what, and how it is asked.

use expect_test::expect;
use reyn_core::permission::{FileAxis, FilePolicy, Grant, Grants, Rule};
use reyn_runtime::gate::{Answer, Change, TextChange};
use reyn_testkit::{Scripted, call, calls, says};
use serde_json::json;

use crate::stage::{Stage, block_on};

fn writes(paths: &[&str]) -> Vec<Scripted> {
    let all: Vec<_> = paths
        .iter()
        .enumerate()
        .map(|(at, path)| call(&at.to_string(), "write_file", json!({"path": path, "content": "new"})))
        .collect();
    vec![calls(all).into(), says("done").into()]
}

/// What became of each path: `ok`, or the kind of the error.
fn verdicts(stage: &Stage, paths: &[&str]) -> Vec<String> {
    let (report, _) = stage.turn("go", writes(paths));
    report
        .calls
        .iter()
        .map(|call| match &call.outcome {
            reyn_core::tool::Outcome::Ok(_) => "ok".to_owned(),
            reyn_core::tool::Outcome::Error(error) => error.kind.name().to_owned(),
        })
        .collect()
}

#[test]
fn a_headless_run_refuses_at_once_and_names_the_key() {
    let stage = Stage::new();
    let (report, shown) = stage.turn("go", writes(&["out.md"]));
    assert!(report.wanted_person());
    expect![[r#"
        user    go
        model   write_file {"path":"out.md","content":"new"}
        refused Error (permission_denied): nobody is there to allow it: write `out.md` takes a person's yes, because `permissions.file.write` is not set, and only `.reyn/` is written without asking
                Hint: the person can run it again with `--allow file.write`, or set `permissions.file.write: [".reyn", "out.md"]` in `reyn.yaml`
        model   done
        ended   answered
    "#]]
    .assert_eq(&shown);
    assert!(!stage.root.join("out.md").exists());
}

#[test]
fn a_yes_runs_the_call_and_covers_what_it_says() {
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::Session, Answer::Recursive, Answer::NO]);
    let verdicts = verdicts(&stage, &["a.md", "a.md", "src/x.rs", "src/deep/y.rs", "b.md"]);
    assert_eq!(verdicts, ["ok", "ok", "ok", "ok", "permission_denied"]);
    let places: Vec<String> =
        stage.questions.lock().unwrap().iter().map(|question| question.place.clone()).collect();
    assert_eq!(places, ["a.md", "src/x.rs", "b.md"]);
    let kept = std::fs::read_to_string(stage.root.join(".reyn/approvals.yaml")).unwrap();
    assert_eq!(kept.trim(), "chat_router/file.write/src/: true");
}

#[test]
fn a_no_holds_for_the_turn_and_is_not_asked_about_again() {
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::NO, Answer::NO]);
    let verdicts = verdicts(&stage, &["a.md", "./a.md", "reyn.yaml", "reyn.yaml"]);
    assert_eq!(verdicts, ["permission_denied"; 4]);
    let places: Vec<String> =
        stage.questions.lock().unwrap().iter().map(|question| question.place.clone()).collect();
    assert_eq!(places, ["a.md", "reyn.yaml"]);
    assert!(!stage.root.join(".reyn/approvals.yaml").exists());
}

#[test]
fn a_no_is_forgotten_when_the_person_says_something_new() {
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::NO, Answer::Once]);
    let script = [writes(&["a.md"]), writes(&["a.md"])].concat();
    let (mut session, _) = stage.session(script);
    let fates: Vec<bool> = ["go", "please do"]
        .iter()
        .map(|text| block_on(session.turn(text, &mut |_| {}, &stage.cancel)).unwrap())
        .map(|report| report.calls[0].outcome.is_ok())
        .collect();
    assert_eq!(fates, [false, true]);
}

#[test]
fn a_yes_for_once_is_for_one_call() {
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::Once, Answer::NO]);
    assert_eq!(verdicts(&stage, &["a.md", "a.md"]), ["ok", "permission_denied"]);
}

#[test]
fn a_no_with_a_reason_tells_the_model_why_and_the_next_attempt_is_asked_about() {
    let mut stage = Stage::new();
    let reason = Some("write it into notes/ instead ".to_owned());
    stage.answers = Some(vec![Answer::No { reason }, Answer::Once]);
    let (report, shown) = stage.turn("go", writes(&["a.md", "a.md"]));
    assert_eq!([report.calls[0].outcome.is_ok(), report.calls[1].outcome.is_ok()], [false, true]);
    expect![[r#"
        user    go
        model   write_file {"path":"a.md","content":"new"}
        model   write_file {"path":"a.md","content":"new"}
        refused Error (permission_denied): the person said no to this (write `a.md`), and why: write it into notes/ instead
                Hint: do as they say; another attempt is asked about again
        ok      done: created
                bytes: 3
        model   done
        ended   answered
    "#]]
    .assert_eq(&shown);
}

#[test]
fn one_yes_can_cover_every_call_of_a_reply_as_it_was_shown() {
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::All, Answer::Once, Answer::Once]);
    let paths = ["a.md", "b.md", "reyn.yaml", "README.md", "a.md"];
    let fates = verdicts(&stage, &paths);
    let questions = stage.questions.lock().unwrap();
    let waiting: Vec<&str> = questions[0].waiting.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(waiting, ["b.md", "README.md", "a.md"], "the runtime's own files are asked about alone");
    assert_eq!(
        questions[0].waiting[1].change,
        Some(Change::Diff(TextChange {
            excerpt:
                "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-hello\n+new\n\\ No newline at end of file\n"
                    .into(),
            whole: None,
            added: 1,
            removed: 1,
            is_cut: false,
        }))
    );
    let asked: Vec<&str> = questions.iter().map(|question| question.place.as_str()).collect();
    // The second write of `a.md` changes nothing any more, which is not what was shown.
    assert_eq!((asked, fates), (vec!["a.md", "reyn.yaml", "a.md"], vec!["ok".to_owned(); 5]));
}

#[test]
fn protected_files_take_a_person_whatever_is_granted() {
    let mut stage = Stage::new();
    stage.policy = FilePolicy { write: Some(Rule::Allow), ..FilePolicy::default() };
    stage.grants = Grants(vec![Grant { axis: FileAxis::Write, path: Some("/".into()) }]);
    std::os::unix::fs::symlink(".reyn/approvals.yaml", stage.root.join("innocent")).unwrap();
    std::os::unix::fs::symlink(".reyn", stage.root.join("folder")).unwrap();
    let paths = [
        "ok.md",
        ".reyn/notes.md",
        ".reyn/approvals.yaml",
        "reyn.yaml",
        ".reyn/state/sessions/s/log.jsonl",
        "sub/../.reyn/approvals.yaml",
        "./.reyn//config.yaml",
        "innocent",
        "folder/config.yaml",
        ".reyn/capability_profiles/_untrusted.yaml",
    ];
    std::fs::create_dir(stage.root.join("sub")).unwrap();
    let mut expected = vec!["permission_denied"; paths.len()];
    expected[0] = "ok";
    expected[1] = "ok";
    assert_eq!(verdicts(&stage, &paths), expected);
    assert!(!stage.root.join(".reyn/approvals.yaml").exists());
}

#[test]
fn a_yes_to_one_change_of_a_protected_file_is_no_yes_to_the_next() {
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::Session, Answer::NO, Answer::JustPath, Answer::NO]);
    let verdicts = verdicts(&stage, &["reyn.yaml", "reyn.yaml"]);
    assert_eq!(verdicts, ["ok", "permission_denied"]);
    assert!(!stage.root.join(".reyn/approvals.yaml").exists());
}

#[test]
fn a_yes_to_a_change_is_no_yes_to_another_that_it_became_meanwhile() {
    let run = |answers: Vec<Answer>| {
        let mut stage = Stage::new();
        std::fs::write(stage.root.join("doc.txt"), "one\n").unwrap();
        stage.answers = Some(answers);
        stage.meanwhile = Some("one\nby hand\n".to_owned());
        let verdicts = verdicts(&stage, &["doc.txt"]);
        let changes: Vec<_> =
            stage.questions.lock().unwrap().iter().map(|question| question.change.clone()).collect();
        (verdicts, changes, std::fs::read_to_string(stage.root.join("doc.txt")).unwrap())
    };
    let (verdicts, changes, text) = run(vec![Answer::Session, Answer::NO]);
    assert_eq!((verdicts, text.as_str()), (vec!["permission_denied".to_owned()], "one\nby hand\n"));
    assert_eq!(changes.len(), 2);
    assert_ne!(changes[0], changes[1]);
    let (verdicts, _, text) = run(vec![Answer::Session, Answer::Session]);
    assert_eq!((verdicts, text.as_str()), (vec!["ok".to_owned()], "new"));
}

#[test]
fn a_yes_is_about_what_was_asked_and_what_is_less() {
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::Session, Answer::NO, Answer::NO]);
    let script = vec![
        calls([
            call("1", "edit_file", json!({"path": "README.md", "old_string": "hello", "new_string": "bye"})),
            call("2", "edit_file", json!({"path": "README.md", "old_string": "bye", "new_string": "hello"})),
            call("3", "write_file", json!({"path": "README.md", "content": "x"})),
            call("4", "delete_file", json!({"path": "README.md"})),
        ])
        .into(),
        says("done").into(),
    ];
    let (report, _) = stage.turn("go", script);
    let done: Vec<bool> = report.calls.iter().map(|call| call.outcome.is_ok()).collect();
    assert_eq!(done, [true, true, false, false]);
    assert_eq!(std::fs::read_to_string(stage.root.join("README.md")).unwrap(), "hello\n");
}

#[test]
fn a_path_that_leads_out_of_the_workspace_is_refused_in_every_spelling() {
    let stage = Stage::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    let secret = outside.path().join("secret").canonicalize().unwrap();
    std::os::unix::fs::symlink(&secret, stage.root.join("leak")).unwrap();
    std::os::unix::fs::symlink("/", stage.root.join("d")).unwrap();
    let absolute = secret.display().to_string();
    let through = format!("d{absolute}");
    let up = format!("{}{absolute}", "../".repeat(12));
    let reads: Vec<_> = [absolute.as_str(), "leak", &through, &up, "README.md"]
        .iter()
        .enumerate()
        .map(|(at, path)| call(&at.to_string(), "read_file", json!({"path": path})))
        .collect();
    let (report, _) = stage.turn("go", vec![calls(reads).into(), says("done").into()]);
    let refused: Vec<bool> =
        report.calls.iter().map(|call| reyn_runtime::is_refusal(&call.outcome)).collect();
    assert_eq!(refused, [true, true, true, true, false]);
}

#[test]
fn an_approvals_file_that_cannot_be_read_refuses_everything_that_it_could_decide() {
    let stage = Stage::new();
    std::fs::create_dir(stage.root.join(".reyn")).unwrap();
    std::fs::write(stage.root.join(".reyn/approvals.yaml"), "[not a map").unwrap();
    let (_, shown) = stage.turn("go", writes(&[".reyn/notes.md"]));
    assert!(shown.contains("refused, because permission cannot be decided"), "{shown}");
    assert!(!stage.root.join(".reyn/notes.md").exists());
}
