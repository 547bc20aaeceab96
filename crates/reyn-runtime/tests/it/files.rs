//! The same path is the same file for every file tool, and what a search finds is judged like what is named.

use std::os::unix::fs::symlink;

use expect_test::expect;
use reyn_core::permission::{FileAxis, FilePolicy, Grant, Grants, PathRule, Rule, Scope};
use reyn_core::tool::{ErrorKind, Outcome};
use reyn_runtime::gate::{Answer, Change, TextChange};
use reyn_testkit::{call, calls, says};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::Stage;

/// A workspace that may be written, with links of every kind that lead out of it or to guarded files.
struct Traps {
    stage: Stage,
    outside: TempDir,
}

impl Traps {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let far = outside.path().canonicalize().unwrap();
        let mut stage = Stage::new();
        stage.sealed = vec![far.join("secrets.env")];
        stage.grants = Grants(vec![Grant { axis: FileAxis::Write, path: None }]);
        let near = stage.root.clone();
        std::fs::write(far.join("file"), "outside\n").unwrap();
        std::fs::write(far.join("secrets.env"), "KEY=1\n").unwrap();
        std::fs::write(near.join("reyn.yaml"), "# none\n").unwrap();
        std::fs::create_dir(near.join("sub")).unwrap();
        symlink(far.join("file"), near.join("leak")).unwrap();
        symlink("/", near.join("d")).unwrap();
        symlink("reyn.yaml", near.join("link-to-config")).unwrap();
        symlink("README.md", near.join("link-inside")).unwrap();
        symlink("loop", near.join("loop")).unwrap();
        std::fs::hard_link(far.join("secrets.env"), near.join("hard-secrets")).unwrap();
        std::fs::hard_link(near.join("reyn.yaml"), near.join("hard-config")).unwrap();
        std::fs::hard_link(near.join("README.md"), near.join("hard-inside")).unwrap();
        Self { stage, outside }
    }

    /// Whether the call was let through to the tool; what the tool then says does not matter.
    fn is_let_through(&self, tool: &str, args: &Value) -> bool {
        let script = vec![calls([call("1", tool, args)]).into(), says("done").into()];
        let (report, _) = self.stage.turn("go", script);
        match &report.calls[0].outcome {
            Outcome::Ok(_) => true,
            Outcome::Error(error) => match error.kind {
                ErrorKind::PermissionDenied | ErrorKind::InvalidArgs => false,
                ErrorKind::HandlerError => true,
                ErrorKind::ToolExcluded
                | ErrorKind::UnknownTool
                | ErrorKind::Timeout
                | ErrorKind::Cancelled
                | ErrorKind::Interrupted
                | ErrorKind::BudgetExhausted
                | ErrorKind::Exception => panic!("{tool} {args}: {}", error.message),
            },
        }
    }
}

#[test]
fn the_same_path_has_the_same_verdict_from_every_file_tool() {
    let reading = |path: &str| {
        [
            ("read_file", json!({"path": path})),
            ("list_directory", json!({"path": path})),
            ("glob_files", json!({"path": path, "pattern": "*"})),
            ("grep_files", json!({"path": path, "pattern": "x"})),
        ]
    };
    let writing = |path: &str| {
        [
            ("write_file", json!({"path": path, "content": "new"})),
            ("edit_file", json!({"path": path, "old_string": "zzz", "new_string": "y"})),
            ("delete_file", json!({"path": path})),
        ]
    };
    for (path, may_read, may_write) in [
        ("README.md", true, true),
        ("./sub/..//README.md", true, true),
        ("ROOT/README.md", true, true),
        ("link-inside", true, true),
        ("hard-inside", true, true),
        ("sub/new/file", true, true),
        ("/proc/self/rootROOT/README.md", true, true),
        ("FAR/file", false, false),
        ("leak", false, false),
        ("dFAR/file", false, false),
        ("../../../../../../../../../..FAR/file", false, false),
        ("sub/../../../../../../../../..FAR/file", false, false),
        ("/etc/passwd", false, false),
        ("/proc/self/rootFAR/file", false, false),
        ("/proc/self/environ", false, false),
        ("FAR/secrets.env", false, false),
        ("hard-secrets", false, false),
        ("missing/../README.md", true, true),
        ("missing/../../../../../../../../../..FAR/file", false, false),
        ("reyn.yaml", true, false),
        ("REYN.yaml", true, false),
        ("link-to-config", true, false),
        ("hard-config", true, false),
        (".reyn/approvals.yaml", true, false),
        (".reyn/state/sessions/s/log.jsonl", true, false),
        ("sub/.reyn-tmp-0", true, false),
    ] {
        let tools = reading(path).into_iter().map(|call| (call, may_read));
        for ((tool, mut args), is_expected) in tools.chain(writing(path).map(|call| (call, may_write))) {
            let traps = Traps::new();
            let (root, far) = (traps.stage.root.clone(), traps.outside.path().canonicalize().unwrap());
            let path = path.replace("ROOT", &root.display().to_string());
            args["path"] = path.replace("FAR", &far.display().to_string()).into();
            assert_eq!(traps.is_let_through(tool, &args), is_expected, "{tool} {args}");
            assert_eq!(std::fs::read_to_string(far.join("file")).unwrap(), "outside\n", "{tool} {args}");
            assert_eq!(std::fs::read_to_string(far.join("secrets.env")).unwrap(), "KEY=1\n");
        }
    }
}

#[test]
fn a_link_that_leads_nowhere_can_be_deleted_and_nothing_else() {
    for (tool, args, is_let_through) in [
        ("delete_file", json!({"path": "loop"}), true),
        ("read_file", json!({"path": "loop"}), false),
        ("write_file", json!({"path": "loop", "content": "x"}), false),
    ] {
        let traps = Traps::new();
        assert_eq!(traps.is_let_through(tool, &args), is_let_through, "{tool}");
        let is_there = traps.stage.root.join("loop").symlink_metadata().is_ok();
        assert_eq!(is_there, tool != "delete_file");
    }
}

#[test]
fn no_pattern_leads_out_of_the_folder_that_is_searched() {
    for pattern in [
        r"\.\./FAR/file",
        r"\.\./\.\./\.\./etc/passwd",
        r"\../FAR/*",
        r".\./FAR/*",
        r"{\.\.,sub}/FAR/*",
        r"[.]./FAR/*",
        r"[.][.]/FAR/*",
        r"?./FAR/*",
        r"*/../FAR/*",
        r"sub/\.\./\.\./FAR/*",
        r"**/\.\./FAR/*",
        r"d/etc/passwd",
        r"leak",
    ] {
        let traps = Traps::new();
        let far = traps.outside.path().canonicalize().unwrap();
        let pattern = pattern.replace("FAR", &far.file_name().unwrap().to_string_lossy());
        for args in [
            ("glob_files", json!({"pattern": pattern, "include_ignored": true})),
            ("grep_files", json!({"pattern": "outside|root:", "glob": pattern, "include_ignored": true})),
        ] {
            let script = vec![calls([call("1", args.0, &args.1)]).into(), says("done").into()];
            let (report, shown) = traps.stage.turn("go", script);
            if let Outcome::Ok(output) = &report.calls[0].outcome {
                assert!(!output.body.contains("file") && !output.body.contains("passwd"), "{shown}");
                assert!(!output.body.contains("outside") && !output.body.contains("root:"), "{shown}");
            }
        }
    }
    let traps = Traps::new();
    let args = json!({"pattern": r"\R\EADME.md"});
    let script = vec![calls([call("1", "glob_files", args)]).into(), says("done").into()];
    assert!(traps.stage.turn("go", script).1.contains("README.md\n"));
}

#[test]
fn deleting_a_link_is_asked_as_that_and_opens_nothing_else() {
    let mut traps = Traps::new();
    traps.stage.answers = Some(vec![Answer::Session, Answer::NO]);
    let far = traps.outside.path().canonicalize().unwrap();
    let script = vec![
        calls([
            call("1", "delete_file", json!({"path": "leak"})),
            call("2", "write_file", json!({"path": far.join("file"), "content": "x"})),
        ])
        .into(),
        says("done").into(),
    ];
    let (report, _) = traps.stage.turn("go", script);
    let done: Vec<bool> = report.calls.iter().map(|call| call.outcome.is_ok()).collect();
    assert_eq!(done, [true, false]);
    assert!(traps.stage.root.join("leak").symlink_metadata().is_err());
    assert_eq!(std::fs::read_to_string(far.join("file")).unwrap(), "outside\n");
    let places: Vec<String> =
        traps.stage.questions.lock().unwrap().iter().map(|question| question.place.clone()).collect();
    let real = far.join("file").display().to_string();
    assert_eq!(places, [format!("leak (a link to {real})"), real]);
}

#[test]
fn a_search_neither_names_nor_reads_what_is_not_permitted() {
    let traps = Traps::new();
    let root = &traps.stage.root;
    std::fs::write(root.join("sub/plain"), "KEY=2\n").unwrap();
    let script = vec![
        calls([
            call("1", "grep_files", json!({"pattern": "KEY|outside|root:"})),
            call("2", "grep_files", json!({"pattern": "KEY", "path": "hard-secrets"})),
        ])
        .into(),
        says("done").into(),
    ];
    let (_, shown) = traps.stage.turn("go", script);
    expect![[r#"
        user    go
        model   grep_files {"pattern":"KEY|outside|root:"}
        model   grep_files {"pattern":"KEY","path":"hard-secrets"}
        ok      ---
                count: 1
                files_with_matches: 1
                skipped: 1 hidden, 1 not permitted; `include_ignored` searches hidden and ignored ones too
                ---
                sub/plain
                1:KEY=2
        refused Error (permission_denied): cannot search in `hard-secrets`: it holds secrets of the person
                Hint: nothing opens it to a tool
        model   done
        ended   answered
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_search_that_finds_nothing_says_what_else_may_be_meant() {
    let stage = Stage::new();
    std::fs::write(stage.root.join("a.rs"), "#[test]\n").unwrap();
    let script = vec![
        calls([
            call("1", "grep_files", json!({"pattern": "hello", "glob": "lib/*.py"})),
            call("2", "grep_files", json!({"pattern": "hullo", "glob": "*.md"})),
            call("3", "grep_files", json!({"pattern": "hello", "glob": "*.md"})),
            call("4", "grep_files", json!({"pattern": "#[test]"})),
            call("5", "grep_files", json!({"pattern": "HELLO"})),
            call("6", "grep_files", json!({"pattern": "HELLO", "case_sensitive": true})),
        ])
        .into(),
        says("done").into(),
    ];
    let (_, shown) = stage.turn("go", script);
    expect![[r##"
        user    go
        model   grep_files {"pattern":"hello","glob":"lib/*.py"}
        model   grep_files {"pattern":"hullo","glob":"*.md"}
        model   grep_files {"pattern":"hello","glob":"*.md"}
        model   grep_files {"pattern":"#[test]"}
        model   grep_files {"pattern":"HELLO"}
        model   grep_files {"pattern":"HELLO","case_sensitive":true}
        ok      count: 0
                files_with_matches: 0
                note: no file was searched, since none matches `lib/*.py`; leave `glob` out to search all
        ok      count: 0
                files_with_matches: 0
                files_searched: 1
                skipped: 1 hidden; `include_ignored` searches hidden and ignored ones too
        ok      ---
                count: 1
                files_with_matches: 1
                skipped: 1 hidden; `include_ignored` searches hidden and ignored ones too
                ---
                README.md
                1:hello
        ok      ---
                count: 1
                files_with_matches: 1
                note: no line matches the pattern as an expression; these have it as plain text
                skipped: 1 hidden; `include_ignored` searches hidden and ignored ones too
                ---
                a.rs
                1:#[test]
        ok      ---
                count: 1
                files_with_matches: 1
                note: no line matches in these capitals and small letters; these do in others
                skipped: 1 hidden; `include_ignored` searches hidden and ignored ones too
                ---
                README.md
                1:hello
        ok      count: 0
                files_with_matches: 0
                files_searched: 2
                skipped: 1 hidden; `include_ignored` searches hidden and ignored ones too
        model   done
        ended   answered
    "##]]
    .assert_eq(&shown);
}

#[test]
fn a_list_of_places_holds_for_what_a_search_finds() {
    let mut stage = Stage::new();
    for folder in ["open", "closed"] {
        std::fs::create_dir(stage.root.join(folder)).unwrap();
        std::fs::write(stage.root.join(folder).join("a.txt"), "x\n").unwrap();
    }
    let only = |path: &str, scope| Rule::Only(vec![PathRule { path: stage.root.join(path), scope }]);
    let both = match (only("", Scope::JustPath), only("open", Scope::Recursive)) {
        (Rule::Only(root), Rule::Only(open)) => Rule::Only([root, open].concat()),
        _ => unreachable!("lists"),
    };
    stage.policy = FilePolicy { read: Some(both), ..FilePolicy::default() };
    let script = vec![
        calls([
            call("1", "glob_files", json!({"pattern": "*.txt"})),
            call("2", "grep_files", json!({"pattern": "x", "output_mode": "files_with_matches"})),
            call("3", "read_file", json!({"path": "closed/a.txt"})),
            call("4", "read_file", json!({"path": "open/a.txt"})),
        ])
        .into(),
        says("done").into(),
    ];
    let (report, shown) = stage.turn("go", script);
    assert_eq!(shown.matches("open/a.txt").count(), 3, "{shown}");
    assert!(!shown.contains("closed/a.txt\n"), "{shown}");
    let refused: Vec<bool> =
        report.calls.iter().map(|call| reyn_runtime::is_refusal(&call.outcome)).collect();
    assert_eq!(refused, [false, false, true, false]);
}

#[test]
fn a_yes_to_a_search_covers_what_is_below() {
    let outside = tempfile::tempdir().unwrap();
    let far = outside.path().canonicalize().unwrap();
    std::fs::create_dir(far.join("deep")).unwrap();
    std::fs::write(far.join("deep/a.txt"), "needle\n").unwrap();
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::Session]);
    let args = json!({"pattern": "needle", "path": far.display().to_string()});
    let (report, shown) =
        stage.turn("go", vec![calls([call("1", "grep_files", args)]).into(), says("done").into()]);
    assert!(report.calls[0].outcome.is_ok(), "{shown}");
    assert!(shown.contains(&format!("{}/deep/a.txt", far.display())), "{shown}");
}

#[test]
fn nobody_is_asked_about_an_edit_that_cannot_be_made() {
    let edit = |old: &str| json!({"path": "README.md", "old_string": old, "new_string": "bye"});
    let run = |read: Option<Rule>, old: &str, answers: Vec<Answer>| {
        let mut stage = Stage::new();
        stage.policy = FilePolicy { read, ..FilePolicy::default() };
        stage.answers = Some(answers);
        let script = vec![calls([call("1", "edit_file", edit(old))]).into(), says("done").into()];
        let (_, shown) = stage.turn("go", script);
        let changes: Vec<_> =
            stage.questions.lock().unwrap().iter().map(|question| question.change.clone()).collect();
        (shown, changes)
    };
    let (shown, changes) = run(None, "hallo", vec![]);
    assert!(shown.contains("the nearest lines are:\n") && shown.contains("1: hello"), "{shown}");
    assert_eq!(changes, []);
    let (_, changes) = run(None, "hello", vec![Answer::Session]);
    let diff = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-hello\n+bye\n";
    let change = TextChange { excerpt: diff.to_owned(), whole: None, added: 1, removed: 1, is_cut: false };
    assert_eq!(changes, [Some(Change::Diff(change))]);
    let (shown, changes) = run(Some(Rule::Deny), "hallo", vec![Answer::Session]);
    assert!(!shown.contains("hello"), "{shown}");
    assert_eq!(changes, [Some(Change::NotShown("as it stands it cannot be made"))]);
}

#[test]
fn who_may_write_a_file_and_not_read_it_is_not_shown_it() {
    let mut stage = Stage::new();
    std::fs::write(stage.root.join("a.py"), "password = 'hunter2'\n").unwrap();
    stage.grants = Grants(vec![Grant { axis: FileAxis::Write, path: None }]);
    let edit = |stage: &Stage| {
        let args = json!({"path": "a.py", "old_string": "password = 'hunter'", "new_string": "x"});
        let script = vec![calls([call("1", "edit_file", args)]).into(), says("done").into()];
        stage.turn("go", script).1
    };
    assert!(edit(&stage).contains("hunter2"));
    let mut narrow = Stage::new();
    std::fs::write(narrow.root.join("a.py"), "password = 'hunter2'\n").unwrap();
    narrow.grants = stage.grants.clone();
    narrow.policy = FilePolicy { read: Some(Rule::Deny), ..FilePolicy::default() };
    let shown = edit(&narrow);
    assert!(shown.contains("cannot edit `a.py`") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_change_is_told_to_people_as_a_diff_and_to_the_model_in_a_word() {
    let mut stage = Stage::new();
    stage.grants = Grants(vec![Grant { axis: FileAxis::Write, path: None }]);
    let script = vec![
        calls([
            call("1", "edit_file", json!({"path": "README.md", "old_string": "hello", "new_string": "bye"})),
            call("2", "write_file", json!({"path": "new.md", "content": "one\n"})),
            call("3", "delete_file", json!({"path": "new.md"})),
        ])
        .into(),
        says("done").into(),
    ];
    let (report, shown) = stage.turn("go", script);
    expect![[r#"
        user    go
        model   edit_file {"path":"README.md","old_string":"hello","new_string":"bye"}
        model   write_file {"path":"new.md","content":"one\n"}
        model   delete_file {"path":"new.md"}
        ok      replacements: 1
                lines: 1
        ok      done: created
                bytes: 4
        ok      deleted: true
        model   done
        ended   answered
    "#]]
    .assert_eq(&shown);
    let diffs: Vec<&str> = report
        .calls
        .iter()
        .map(|call| match &call.outcome {
            Outcome::Ok(output) => output.diff.as_str(),
            Outcome::Error(error) => panic!("{}", error.message),
        })
        .collect();
    expect![[r#"
        --- a/README.md
        +++ b/README.md
        @@ -1 +1 @@
        -hello
        +bye

        --- /dev/null
        +++ b/new.md
        @@ -0,0 +1 @@
        +one

        --- a/new.md
        +++ /dev/null
        @@ -1 +0,0 @@
        -one
    "#]]
    .assert_eq(&diffs.join("\n"));
}

#[test]
fn an_approval_of_one_path_does_not_cover_another_spelling_of_another_file() {
    let mut stage = Stage::new();
    stage.answers = Some(vec![Answer::JustPath, Answer::NO]);
    let write = |id: &str, path: &str| call(id, "write_file", json!({"path": path, "content": "x"}));
    let (report, _) =
        stage.turn("go", vec![calls([write("1", "a.txt"), write("2", "A.txt")]).into(), says("done").into()]);
    let refused: Vec<bool> =
        report.calls.iter().map(|call| reyn_runtime::is_refusal(&call.outcome)).collect();
    assert_eq!(refused, [false, true]);
}
