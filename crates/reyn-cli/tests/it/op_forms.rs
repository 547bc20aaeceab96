//! `sandboxed_exec` and `shell`: what a step of a skill gets of what the operator grants, and that a chat has neither.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use jiff::Timestamp;
use reyn_core::capability::{
    AgentLayer, Narrowing, NarrowingOrigin, ProfileLayer, SandboxLayer, compose_resolved, effective,
};
use reyn_core::permission::{ExecPolicy, ExecRule, Zones};
use reyn_core::prompt::Environment;
use reyn_core::settings::AuditSettings;
use reyn_core::tool::{CallError, Caller, ErrorKind, Outcome, Output};
use reyn_core::turn::TurnLimits;
use reyn_runtime::{Screening, Session, SessionOptions, TurnReport};
use reyn_sandbox::{HelperProgram, SUPERVISE};
use reyn_testkit::{FakeServer, ScriptedModel, call, calls, says};
use reyn_tools::{Context, ProcessSettings, Processes};
use reyn_workspace::Workspace;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::place::Place;

/// A workspace, and what the operator says.
pub(crate) struct Stage {
    _folder: Option<tempfile::TempDir>,
    root: PathBuf,
    settings: ProcessSettings,
    exec: Option<ExecRule>,
    narrowings: Vec<Narrowing>,
}

impl Stage {
    /// With `src/a` and `out`.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["src", "out"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::fs::write(root.join("src/a"), "hello\n").unwrap();
        std::fs::write(root.join("reyn.yaml"), "# mine\n").unwrap();
        Self { _folder: Some(folder), ..Self::at(&root) }
    }

    /// A folder that is there.
    pub(crate) fn at(root: &Path) -> Self {
        let environment = vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("LANG".into(), "C".into()),
            ("API_KEY".into(), "x".into()),
        ];
        // The program itself confines, as it does for people.
        let helper = HelperProgram::new(env!("CARGO_BIN_EXE_reyn"), vec![SUPERVISE.to_owned()]);
        let settings = ProcessSettings::new(environment, None, helper);
        Self {
            _folder: None,
            root: root.to_owned(),
            settings,
            exec: Some(ExecRule::Allow),
            narrowings: vec![],
        }
    }

    /// The run was started with `--allow-shell`.
    pub(crate) fn with_shell(mut self) -> Self {
        self.settings.is_shell_allowed = true;
        self
    }

    /// What the calls of a skill's step come to.
    pub(crate) fn calls(&self, tool: &str, all_args: &[Value]) -> TurnReport {
        let asked = all_args.iter().enumerate().map(|(at, args)| call(&at.to_string(), tool, args));
        let model = Arc::new(ScriptedModel::new([calls(asked.collect::<Vec<_>>()), says("done")]));
        let zones = Zones::new(self.root.clone(), vec![]);
        let agent = AgentLayer {
            zones: zones.clone(),
            exec: ExecPolicy { rule: self.exec.clone(), granted: vec![] },
            ..AgentLayer::default()
        };
        let contextual = compose_resolved(self.narrowings.clone());
        let context = Context::new(Workspace::open(zones, None).unwrap());
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let options = SessionOptions {
            id: "s".into(),
            state: self.root.join(".reyn"),
            model,
            registry: Arc::new(reyn_tools::builtin()),
            caller: Caller::Skill,
            context: Arc::new(context.with_processes(Processes::new(self.settings.clone()))),
            authority: effective(agent, SandboxLayer::default(), ProfileLayer::default(), contextual),
            person: None,
            environment: Environment::default(),
            limits: TurnLimits::default(),
            call_time_max: Duration::from_secs(60),
            screening: Screening::default(),
            audit: AuditSettings::default(),
            clock: Arc::new(move || now),
            emitter: "token".into(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut session, _) = Session::open(options).unwrap();
        runtime.block_on(session.turn("go", &mut |_| {}, &CancellationToken::new())).unwrap()
    }

    fn outcome(&self, tool: &str, args: Value) -> Outcome {
        self.calls(tool, &[args]).calls.remove(0).outcome
    }

    /// The result as a skill reads it, with this machine's paths left out.
    fn result(&self, tool: &str, args: Value) -> Value {
        match self.outcome(tool, args) {
            Outcome::Ok(output) => self.keys(&output),
            Outcome::Error(error) => panic!("{error:?}"),
        }
    }

    fn keys(&self, output: &Output) -> Value {
        let mut keys = output.fields.clone();
        keys.insert(output.body_key.clone(), output.body.clone().into());
        let shown = Value::from(keys).to_string().replace(self.root.to_str().unwrap(), "/work");
        serde_json::from_str(&shown).unwrap()
    }

    fn error(&self, tool: &str, args: Value) -> CallError {
        match self.outcome(tool, args) {
            Outcome::Ok(output) => panic!("{output:?}"),
            Outcome::Error(error) => error,
        }
    }

    /// The events of these kinds, without what every event has.
    fn events(&self, kinds: &[&str]) -> Vec<Value> {
        let mut events = vec![];
        collect(&self.root.join(".reyn/events"), &mut events);
        events.retain(|event| kinds.contains(&event["type"].as_str().unwrap()));
        for event in &mut events {
            let data = event["data"].as_object_mut().unwrap();
            for key in ["chain_id", "agent_id", "run_id", "emitter", "audit_seq"] {
                data.remove(key);
            }
            event.as_object_mut().unwrap().remove("timestamp");
        }
        events
    }
}

fn collect(folder: &Path, events: &mut Vec<Value>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, events);
        } else {
            let text = std::fs::read_to_string(path).unwrap();
            events.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }
    }
}

#[test]
fn a_result_has_the_keys_of_the_op() {
    let stage = Stage::new();
    let done = stage.result("sandboxed_exec", json!({"argv": ["echo", "hello"]}));
    let whole = json!({
        "status": "ok", "returncode": 0, "backend": "landlock", "truncated": false, "stdout": "hello\n", "stderr": "",
    });
    assert_eq!(done, whole);
    assert_eq!(
        stage.events(&["sandboxed_exec_started", "sandboxed_exec_completed"]),
        [
            json!({"type": "sandboxed_exec_started", "data": {
                "argv": ["echo", "hello"], "backend": "landlock", "timeout_seconds": 60, "network": false,
                "allow_subprocess": false,
            }}),
            json!({"type": "sandboxed_exec_completed", "data": {
                "argv": ["echo", "hello"], "backend": "landlock", "returncode": 0, "stdout_len": 6, "stderr_len": 0,
                "truncated": false,
            }}),
        ]
    );
}

#[test]
fn a_step_reads_and_writes_what_it_asks_for_and_nothing_else() {
    let stage = Stage::new();
    let cat = |paths: Value| {
        let done = stage.result("sandboxed_exec", json!({"argv": ["cat", "src/a"], "read_paths": paths}));
        done["stdout"].as_str().unwrap().to_owned()
    };
    assert_eq!(cat(json!([])), "");
    assert_eq!(cat(json!(["out"])), "");
    for paths in [json!(["{{workspace}}"]), json!(["src"]), json!(["{{workspace}}/src/*"]), json!(["**/a"])] {
        assert_eq!(cat(paths.clone()), "hello\n", "{paths}");
    }
    let copy = |to: &str, writes: Value| {
        let args = json!({"argv": ["cp", "src/a", to], "read_paths": ["src"], "write_paths": writes});
        let done = stage.result("sandboxed_exec", args);
        (done["status"].as_str().unwrap().to_owned(), std::fs::read_to_string(stage.root.join(to)).is_ok())
    };
    assert_eq!(copy("out/b", json!([])), ("error".into(), false));
    assert_eq!(copy("out/b", json!(["src"])), ("error".into(), false));
    assert_eq!(copy("out/b", json!(["{{workspace}}/out"])), ("ok".into(), true));
}

#[test]
fn a_step_gets_the_variables_it_asks_for_and_the_operator_passes() {
    let stage = Stage::new();
    let names = |asked: Value| {
        let done = stage.result("sandboxed_exec", json!({"argv": ["env"], "env_passthrough": asked}));
        let stdout = done["stdout"].as_str().unwrap().to_owned();
        let names: Vec<String> =
            stdout.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
        (names.join(" "), done["note"].clone())
    };
    assert_eq!(names(json!([])), ("PATH TMPDIR".into(), Value::Null));
    assert_eq!(names(json!(["PATH", "LANG", "NOT_SET"])), ("PATH LANG TMPDIR".into(), Value::Null));
    assert_eq!(
        names(json!(["API_KEY"])),
        (
            "PATH TMPDIR".into(),
            "`env_passthrough`: the operator does not pass `API_KEY` (`sandbox.policy.allow_env_names`)"
                .into()
        )
    );
}

#[test]
fn the_network_takes_both_the_step_and_the_operator() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let line = format!("echo > /dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    for (operator, asked) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut stage = Stage::new();
        stage.settings.network = operator;
        let done = stage.result("sandboxed_exec", json!({"argv": ["bash", "-c", line], "network": asked}));
        let is_open = done["returncode"] == 0;
        assert_eq!(is_open, operator && asked, "{operator} {asked}: {done}");
        let is_told =
            done["note"].as_str().is_some_and(|note| note.contains("`sandbox.policy.network` is off"));
        assert_eq!(is_told, asked && !operator, "{done}");
    }
}

#[test]
fn further_processes_take_both_the_step_and_the_operator() {
    for (operator, asked) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut stage = Stage::new();
        stage.settings.subprocess = operator;
        let args = json!({"argv": ["sh", "-c", "ls /usr; true"], "allow_subprocess": asked});
        let done = stage.result("sandboxed_exec", args);
        let has_run = !done["stdout"].as_str().unwrap().is_empty();
        assert_eq!(has_run, operator && asked, "{operator} {asked}: {done}");
    }
}

#[test]
fn what_the_operator_does_not_grant_is_no_grant_and_is_said() {
    let stage = Stage::new();
    let beside = tempfile::tempdir().unwrap();
    let secret = beside.path().canonicalize().unwrap().join("secret");
    std::fs::write(&secret, "no").unwrap();
    std::os::unix::fs::symlink(&secret, stage.root.join("src/link")).unwrap();
    let done = stage
        .result("sandboxed_exec", json!({"argv": ["cat", "src/link"], "read_paths": ["src/link", "no/*"]}));
    assert_eq!((&done["status"], &done["stdout"]), (&json!("error"), &json!("")));
    let note = done["note"].as_str().unwrap().replace(secret.to_str().unwrap(), "SECRET");
    expect![[r#"
        `read_paths`: nothing is there for `no/*`; `read_paths`: the operator does not grant `SECRET`; the sandbox may have refused a file: the workspace, system folders and toolchains are readable, and `sandbox.policy.allow_read_paths`"#]]
    .assert_eq(&note);
}

#[test]
fn the_runtimes_own_files_are_written_by_no_step() {
    let stage = Stage::new();
    let before = std::fs::read_to_string(stage.root.join("reyn.yaml")).unwrap();
    for asked in ["reyn.yaml", "{{workspace}}", "/", "*"] {
        let args =
            json!({"argv": ["cp", "src/a", "reyn.yaml"], "read_paths": ["src"], "write_paths": [asked]});
        let done = stage.result("sandboxed_exec", args);
        assert_eq!(done["status"], "error", "{asked}: {done}");
        assert_eq!(std::fs::read_to_string(stage.root.join("reyn.yaml")).unwrap(), before, "{asked}");
    }
}

#[test]
fn too_many_paths_are_an_error_that_names_the_field() {
    let stage = Stage::new();
    let many = vec!["x"; 100_000];
    let error = stage.error("sandboxed_exec", json!({"argv": ["ls"], "write_paths": many}));
    assert_eq!(error.message, "`write_paths` has 100000 entries and the limit is 1000");
    let error = stage.error("sandboxed_exec", json!({"argv": ["ls"], "read_paths": ["/usr/**/*"]}));
    assert_eq!(error.message, "`read_paths`: `/usr/**/*`: it stands for more than 1000 paths");
    assert!(error.hint.unwrap().contains("name the folder that holds them"));
}

#[test]
fn a_program_is_stopped_at_the_end_of_its_time() {
    let stage = Stage::new();
    let done = stage.result("sandboxed_exec", json!({"argv": ["sleep", "60"], "timeout_seconds": 1}));
    assert_eq!((&done["status"], &done["returncode"]), (&json!("timeout"), &json!(-1)));
    assert_eq!(done["stderr"], "Command timed out after 1s");
    let error = stage.error("sandboxed_exec", json!({"argv": ["ls"], "timeout_seconds": 601}));
    assert_eq!(error.message, "`timeout_seconds` is 601 and must be from 1 to 600 seconds");
}

#[test]
fn an_op_is_refused_where_exec_is() {
    let args = || json!({"argv": ["ls"]});
    let unset = Stage { exec: None, ..Stage::new() };
    let error = unset.error("sandboxed_exec", args());
    assert_eq!((error.kind, error.wants_person), (ErrorKind::PermissionDenied, true));
    let denied = Stage { exec: Some(ExecRule::Deny), ..Stage::new() };
    assert_eq!(denied.error("sandboxed_exec", args()).kind, ErrorKind::PermissionDenied);
    let other = Stage { exec: Some(ExecRule::Only(vec![vec!["true".into()]])), ..Stage::new() };
    assert_eq!(other.error("sandboxed_exec", args()).kind, ErrorKind::PermissionDenied);
    let excluded = Stage { narrowings: vec![no_exec()], ..Stage::new() };
    assert_eq!(excluded.error("sandboxed_exec", args()).kind, ErrorKind::ToolExcluded);
}

fn no_exec() -> Narrowing {
    Narrowing { tool_deny: vec!["exec".into()], ..Narrowing::inert(NarrowingOrigin::exclude_tools()) }
}

const SHELL_EVENTS: [&str; 6] = [
    "shell_started",
    "shell_completed",
    "shell_timeout",
    "shell_not_allowed",
    "sandboxed_exec_started",
    "sandboxed_exec_completed",
];

#[test]
fn a_line_runs_with_the_flag_and_the_first_result_says_what_replaces_it() {
    let stage = Stage::new().with_shell();
    let lines = ["cat src/a | wc -l; echo no >&2; exit 3", "true"];
    let report = stage.calls("shell", &lines.map(|line| json!({ "cmd": line })));
    let results: Vec<Value> = report
        .calls
        .iter()
        .map(|call| match &call.outcome {
            Outcome::Ok(output) => stage.keys(output),
            Outcome::Error(error) => panic!("{error:?}"),
        })
        .collect();
    assert_eq!(
        results,
        [
            json!({
                "status": "error", "returncode": 3, "backend": "landlock", "stdout": "1\n", "stderr": "no\n",
                "note": "`shell` is deprecated and goes away in 1.0; use `sandboxed_exec`",
            }),
            json!({"status": "ok", "returncode": 0, "backend": "landlock", "stdout": "", "stderr": ""}),
        ]
    );
    assert_eq!(
        stage.events(&SHELL_EVENTS),
        [
            json!({"type": "shell_started", "data": {"cmd": lines[0], "timeout": 120}}),
            json!({"type": "shell_completed", "data": {
                "cmd": lines[0], "returncode": 3, "stdout_len": 2, "stderr_len": 3,
            }}),
            json!({"type": "shell_started", "data": {"cmd": lines[1], "timeout": 120}}),
            json!({"type": "shell_completed", "data": {
                "cmd": lines[1], "returncode": 0, "stdout_len": 0, "stderr_len": 0,
            }}),
        ]
    );
}

#[test]
fn a_line_is_stopped_at_the_end_of_its_time() {
    let stage = Stage::new().with_shell();
    let done = stage.result("shell", json!({"cmd": "echo begun; exec sleep 60", "timeout": 1}));
    let note = "`shell` is deprecated and goes away in 1.0; use `sandboxed_exec`";
    assert_eq!(
        done,
        json!({
            "status": "timeout", "returncode": -1, "backend": "landlock", "stdout": "",
            "stderr": "Command timed out after 1s", "note": note,
        })
    );
    assert_eq!(
        stage.events(&SHELL_EVENTS)[1..],
        [json!({"type": "shell_timeout", "data": {"cmd": "echo begun; exec sleep 60", "timeout": 1}})]
    );
}

#[test]
fn without_the_flag_a_line_is_not_run_and_nobody_is_asked() {
    let stage = Stage { exec: None, ..Stage::new() };
    let report = stage.calls("shell", &[json!({"cmd": "touch out/made"})]);
    let reason = "the run was not started with `--allow-shell`; `sandboxed_exec` runs programs without it";
    let Outcome::Ok(output) = &report.calls[0].outcome else { panic!("{report:?}") };
    assert_eq!(
        stage.keys(output),
        json!({"status": "shell_not_allowed", "returncode": -1, "stdout": "", "stderr": reason})
    );
    assert!(!report.wanted_person() && !stage.root.join("out/made").exists());
    assert_eq!(
        stage.events(&SHELL_EVENTS),
        [json!({"type": "shell_not_allowed", "data": {"cmd": "touch out/made", "reason": reason}})]
    );
    assert_eq!(stage.events(&["permission_denied", "user_intervention_requested"]), [] as [Value; 0]);
}

#[test]
fn a_line_that_permissions_refuse_is_a_result_too() {
    let wants_person = |exec: Option<ExecRule>, narrowings: Vec<Narrowing>| {
        let stage = Stage { exec, narrowings, ..Stage::new().with_shell() };
        let report = stage.calls("shell", &[json!({"cmd": "touch out/made"})]);
        let Outcome::Ok(output) = &report.calls[0].outcome else { panic!("{report:?}") };
        assert_eq!(output.fields["status"], "shell_not_allowed");
        let events = stage.events(&SHELL_EVENTS);
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0]["data"]["reason"], output.fields["stderr"]);
        assert_eq!(stage.events(&["permission_denied"]).len(), 1);
        assert!(!stage.root.join("out/made").exists());
        report.wanted_person()
    };
    assert!(wants_person(None, vec![]));
    assert!(!wants_person(Some(ExecRule::Deny), vec![]));
    assert!(!wants_person(Some(ExecRule::Allow), vec![no_exec()]));
}

const TEMPLATE: &str = "- [{name}]({slug}.md) — {description}";

#[test]
fn an_index_is_made_of_every_markdown_file_below_a_folder() {
    let stage = Stage::new();
    for (name, text) in [
        ("alpha.md", "---\nname: Alpha\ndescription: first\nslug: forged\n---\nbody"),
        ("plain.md", "no frontmatter"),
        ("broken.md", "---\nno key\n---\n"),
        ("deep/zeta.md", "---\nname: Zeta\n---\n"),
        ("deep/beta.md", "\u{feff}---\r\nname: 'Beta'\r\n---\r\n"),
        ("MEMORY.md", "---\nname: the index itself\n---\n"),
        ("other.txt", "---\nname: text\n---\n"),
    ] {
        let path = stage.root.join(".reyn/notes").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let args = json!({
        "path": ".reyn/notes", "output_path": ".reyn/notes/MEMORY.md", "entry_template": TEMPLATE,
        "header": "# Memory Index\n\n",
    });
    for _ in 0..2 {
        let done = stage.result("regenerate_index", args.clone());
        assert_eq!(
            (&done["status"], &done["entries"], &done["path"]),
            (&json!("ok"), &json!(3), &json!(".reyn/notes"))
        );
        expect![[r#"
            # Memory Index

            - [Alpha](alpha.md) — first
            - [Beta](beta.md) — 
            - [Zeta](zeta.md) — 
        "#]]
        .assert_eq(&std::fs::read_to_string(stage.root.join(".reyn/notes/MEMORY.md")).unwrap());
    }
    std::fs::create_dir(stage.root.join("empty")).unwrap();
    let args =
        json!({"path": "empty", "output_path": ".reyn/E.md", "entry_template": "{slug}", "header": "H"});
    assert_eq!(stage.result("regenerate_index", args)["entries"], 0);
    assert_eq!(std::fs::read_to_string(stage.root.join(".reyn/E.md")).unwrap(), "H");
}

#[test]
fn an_index_that_cannot_be_made_says_why() {
    let stage = Stage::new();
    for (args, says) in [
        (
            json!({"path": "src", "output_path": ".reyn/E.md", "entry_template": "{slug"}),
            "without its other one",
        ),
        (
            json!({"path": "gone", "output_path": ".reyn/E.md", "entry_template": "{slug}"}),
            "cannot search `gone`",
        ),
        (json!({"path": "src", "entry_template": "{slug}"}), "missing field `output_path`"),
        (json!({"path": "src", "output_path": ".reyn/E.md"}), "missing field `entry_template`"),
    ] {
        let error = stage.error("regenerate_index", args);
        assert!(error.message.contains(says), "{}", error.message);
    }
    let args = json!({"path": "src", "output_path": "out/E.md", "entry_template": "{slug}"});
    assert_eq!(stage.error("regenerate_index", args).kind, ErrorKind::PermissionDenied);
}

#[test]
fn an_index_of_a_memory_takes_what_remembering_takes() {
    let deny = Narrowing {
        tool_deny: vec!["remember_shared".into()],
        ..Narrowing::inert(NarrowingOrigin::exclude_tools())
    };
    let args = json!({"path": ".", "output_path": ".reyn/memory/MEMORY.md", "entry_template": "{slug}"});
    let stage = Stage { narrowings: vec![deny], ..Stage::new() };
    let error = stage.error("regenerate_index", args.clone());
    assert!(error.message.contains("`remember_shared` is taken away"), "{}", error.message);
    assert_eq!(Stage::new().result("regenerate_index", args)["status"], "ok");
}

#[test]
fn a_chat_has_no_op_of_a_skill_whatever_is_allowed() {
    let index = json!({"path": ".", "output_path": ".reyn/E.md", "entry_template": "{slug}"});
    for (tool, args) in [
        ("shell", json!({"cmd": "ls"})),
        ("sandboxed_exec", json!({"argv": ["ls"]})),
        ("regenerate_index", index),
    ] {
        let server = FakeServer::script([calls([call("a", tool, args)]), says("done")]);
        let place = Place::with(&server);
        let done = place.run(["ask", "go", "--allow-shell", "--allow", "exec"]).exits(0);
        assert!(done.stderr.contains(&format!("unknown_tool: no tool is named `{tool}`")), "{}", done.stderr);
        let tools = server.requests()[0]["tools"].as_array().unwrap().clone();
        let is_offered = |name: &str| tools.iter().any(|one| one["function"]["name"] == name);
        assert!(is_offered("exec") && !is_offered("shell") && !is_offered("sandboxed_exec"));
    }
}

#[test]
fn a_narrowing_names_the_tool_that_an_op_is_judged_as() {
    let done = Place::new().run(["ask", "go", "--exclude-tools", "shell"]).exits(2);
    assert_eq!(done.stderr, "reyn: `--exclude-tools`: `shell` is judged as `exec`; exclude `exec`\n");
    let place =
        Place::new().file(".reyn/capability_profiles/p.yaml", "name: p\ntool_deny: [sandboxed_exec]\n");
    let done = place.run(["config", "check"]).exits(0);
    assert!(done.stderr.contains("`sandboxed_exec` is judged as `exec`"), "{}", done.stderr);
    let listed = place.run(["tools", "list", "--exclude-tools", "exec"]).exits(0).stdout;
    assert!(!listed.contains("exec") && !listed.contains("shell"), "{listed}");
}
