//! What a turn does with whatever a model writes.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};
use reyn_core::capability::{Narrowing, NarrowingOrigin};
use reyn_core::conversation::{Ending, Finish, Limit};
use reyn_core::permission::FileOp;
use reyn_core::tool::{Caller, Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_core::tool_use::{Framing, ToolFormat};
use reyn_core::turn::TurnLimits;
use reyn_llm::{ModelError, ModelErrorKind};
use reyn_runtime::SessionEvent;
use reyn_testkit::{Scripted, call, calls, says};
use reyn_tools::{Context, Tool, ToolError, Touched, Wish};
use serde_json::json;

use crate::stage::{Stage, block_on};

/// Runs a turn and compares the conversation.
#[track_caller]
fn check(stage: &Stage, script: Vec<Scripted>, expected: &Expect) -> reyn_runtime::TurnReport {
    let (report, shown) = stage.turn("what does README say?", script);
    expected.assert_eq(&shown);
    report
}

fn asks(id: &str, name: &str, args: impl ToString) -> Scripted {
    calls([call(id, name, args)]).into()
}

#[test]
fn a_permitted_call_feeds_its_text_back() {
    let report = check(
        &Stage::new(),
        vec![asks("a", "read_file", json!({"path": "README.md"})), says("It says hello.").into()],
        &expect![[r#"
            user    what does README say?
            model   read_file {"path":"README.md"}
            ok      hello
            model   It says hello.
            ended   answered
        "#]],
    );
    assert_eq!(
        (report.answer.as_str(), report.rounds, report.usage.prompt_tokens),
        ("It says hello.", 2, 20)
    );
}

#[test]
fn calls_of_one_reply_run_in_the_order_written() {
    check(
        &Stage::new(),
        vec![
            calls([
                call("a", "list_directory", json!({"path": "."})),
                call("b", "read_file", json!({"path": "README.md"})),
            ])
            .into(),
            says("done").into(),
        ],
        &expect![[r#"
            user    what does README say?
            model   list_directory {"path":"."}
            model   read_file {"path":"README.md"}
            ok      ---
                    count: 2
                    ---
                    .reyn/
                    README.md
            ok      hello
            model   done
            ended   answered
        "#]],
    );
}

#[test]
fn unreadable_arguments_and_made_up_names_are_errors_the_model_can_mend() {
    check(
        &Stage::new(),
        vec![
            calls([
                call("a", "read_file", "[1]"),
                call("b", "read_file", r#"{"path": "README.md""#),
                call("c", "read_files", json!({"path": "README.md"})),
                call("d", "read_file", ""),
                call("e", "read_file", json!({"path": "REDAME.md"})),
            ])
            .into(),
            says("done").into(),
        ],
        &expect![[r#"
            user    what does README say?
            model   read_file malformed: [1]
            model   read_file malformed: {"path": "README.md"
            model   read_files {"path":"README.md"}
            model   read_file {}
            model   read_file {"path":"REDAME.md"}
            failed  Error (invalid_args): the arguments must be a JSON object, not an array
                    Hint: the text began with `[1]`; call it again as `read_file(path, offset?, limit?)` with a JSON object
            failed  Error (invalid_args): the arguments are not valid JSON: EOF while parsing an object at line 1 column 20
                    Hint: the text began with `{"path": "README.md"`; call it again as `read_file(path, offset?, limit?)` with a JSON object
            failed  Error (unknown_tool): no tool is named `read_files`
                    Did you mean `read_file`, `grep_files`, `glob_files`, `edit_file` or `write_file`?
                    Hint: use a name that exists, exactly as written
            failed  Error (invalid_args): the arguments do not fit: missing field `path`
                    Hint: call it as `read_file(path, offset?, limit?)`
            failed  Error (handler_error): cannot read `REDAME.md`: there is no such file or folder
                    Did you mean `README.md`?
                    Hint: `list_directory` shows what is there
            model   done
            ended   answered
        "#]],
    );
}

#[test]
fn a_reply_cut_at_its_limit_inside_a_call_is_told_to_the_model() {
    let mut cut = calls([
        call("a", "read_file", json!({"path": "README.md"})),
        call("b", "write_file", r#"{"path": ".reyn/x", "content": "half"#),
    ]);
    cut.finish = Finish::Length;
    let stage = Stage::new();
    check(
        &stage,
        vec![cut.into(), says("done").into()],
        &expect![[r#"
            user    what does README say?
            model   read_file {"path":"README.md"}
            model   write_file malformed: {"path": ".reyn/x", "content": "half
            ok      hello
            failed  Error (invalid_args): the reply was cut at its token limit inside the arguments (EOF while parsing a string at line 1 column 36); send less in one call
                    Hint: the text began with `{"path": ".reyn/x", "content": "half`; call it again as `write_file(path, content)` with a JSON object
            model   done
            ended   answered
        "#]],
    );
    assert!(!stage.root.join(".reyn/x").exists());
}

#[test]
fn two_megabytes_of_arguments_are_refused_and_not_kept() {
    let stage = Stage::new();
    let huge = json!({"path": "x", "content": "x".repeat(2 << 20)});
    let (report, _) = stage.turn("go", vec![asks("a", "write_file", huge), says("done").into()]);
    assert_eq!(report.ending, Ending::Answered);
    assert!(std::fs::metadata(stage.log_path()).unwrap().len() < 4096);
}

#[test]
fn a_blank_reply_is_asked_for_once_more_and_then_the_turn_ends_empty() {
    let report = check(
        &Stage::new(),
        vec![says("").into(), says(" ").into()],
        &expect![[r"
            user    what does README say?
            model
            nudged
            model
            ended   empty
        "]],
    );
    assert_eq!(report.answer, "");
    let stage = Stage::new();
    let (report, _) = stage.turn("go", vec![says("").into(), says("now").into()]);
    assert_eq!((report.ending, report.answer.as_str()), (Ending::Answered, "now"));
}

#[test]
fn a_model_that_fails_ends_the_turn_and_the_next_turn_goes_through() {
    let stage = Stage::new();
    let error = ModelError::new(ModelErrorKind::Protocol, "the server answered with a web page");
    let (report, _) = stage.turn("one", vec![error.into()]);
    assert!(
        matches!(report.ending, Ending::Failed { kind, message } if kind == "protocol" && message.contains("web page"))
    );
    let (report, shown) = stage.turn("two", vec![says("done").into()]);
    assert_eq!(report.ending, Ending::Answered);
    expect![[r"
        user    one
        ended   failed: `scripted/model` gave no answer: the server answered with a web page
        user    two
        model   done
        ended   answered
    "]]
    .assert_eq(&shown);
}

#[test]
fn the_limit_of_rounds_lets_the_model_sum_up_without_tools() {
    let mut stage = Stage::new();
    stage.limits = TurnLimits { rounds_max: 2, ..TurnLimits::default() };
    let read = |id| asks(id, "read_file", json!({"path": "README.md"}));
    let (mut session, model) = stage.session(vec![read("a"), read("b"), says("so far: hello").into()]);
    let report = block_on(session.turn("go", &mut |_| {}, &stage.cancel)).unwrap();
    assert_eq!(report.limit(), Some(Limit::MaxIterations));
    assert_eq!(report.answer, "so far: hello");
    let offered: Vec<usize> = model.requests().iter().map(|request| request.tools.len()).collect();
    let all = stage.registry.serving(Caller::Chat).specs().count();
    assert_eq!(offered, [all, all, 0]);
}

#[test]
fn the_same_failing_call_three_times_stops_the_turn() {
    let stage = Stage::new();
    let wrong = || asks("a", "list_files", json!({}));
    let (report, _) = stage.turn("go", vec![wrong(), wrong(), wrong(), says("I cannot").into()]);
    assert_eq!(report.ending, Ending::Limited { limit: Limit::IdenticalFailures });
}

#[test]
fn an_excluded_tool_is_neither_shown_nor_run() {
    let mut stage = Stage::new();
    stage.narrowings = vec![Narrowing {
        tool_deny: vec!["read_file".into()],
        ..Narrowing::inert(NarrowingOrigin::exclude_tools())
    }];
    let script = vec![asks("a", "read_file", json!({"path": "README.md"})), says("done").into()];
    let (mut session, model) = stage.session(script);
    block_on(session.turn("go", &mut |_| {}, &stage.cancel)).unwrap();
    let names: Vec<_> =
        model.requests()[0].tools.iter().map(|tool| tool["function"]["name"].clone()).collect();
    let served = stage.registry.serving(Caller::Chat);
    let others: Vec<&str> =
        served.specs().map(|spec| spec.name).filter(|name| *name != "read_file").collect();
    assert_eq!(names, others);
    let shown = stage.shown(session.log());
    assert!(
        shown.contains("refused Error (tool_excluded): the tool `read_file` is taken away by"),
        "{shown}"
    );
    assert!(shown.contains("it comes back when the run is started without it"), "{shown}");
}

#[test]
fn a_call_in_the_text_of_a_weak_model_runs_and_is_marked_in_the_audit() {
    let mut stage = Stage::new();
    stage.framing = Framing { format: ToolFormat::Text };
    let script = vec![
        says("```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"README.md\"}}\n```").into(),
        says("It says hello.").into(),
    ];
    let (report, _) = stage.turn("what does README say?", script);
    assert_eq!(report.answer, "It says hello.");
    let called = stage.audit().into_iter().find(|event| event["type"] == "tool_called").unwrap();
    assert_eq!(called["data"]["salvaged"], true);
}

#[test]
fn a_constrained_answer_is_streamed_as_its_text() {
    let mut stage = Stage::new();
    stage.framing = Framing { format: ToolFormat::Constrained };
    let (mut session, model) = stage.session(vec![says(r#"{"answer": "hi\nthere"}"#).into()]);
    let mut heard = String::new();
    let mut listener = |event: SessionEvent<'_>| {
        if let SessionEvent::Delta(text) = event {
            heard.push_str(text);
        }
    };
    let report = block_on(session.turn("hello", &mut listener, &stage.cancel)).unwrap();
    assert_eq!((report.answer.as_str(), heard.as_str()), ("hi\nthere", "hi\nthere"));
    assert!(model.requests()[0].response_schema.is_some() && model.requests()[0].tools.is_empty());
}

#[test]
fn a_call_that_a_small_model_writes_is_named_while_it_is_written() {
    let mut stage = Stage::new();
    stage.framing = Framing { format: ToolFormat::Constrained };
    let call = r#"{"tool": "read_file", "args": {"path": "README.md"}}"#;
    let (mut session, _) = stage.session(vec![says(call).into(), says(r#"{"answer": "done"}"#).into()]);
    let mut heard = vec![];
    let mut listener = |event: SessionEvent<'_>| {
        if let SessionEvent::Progress(text) = event {
            heard.push(text.to_owned());
        }
    };
    block_on(session.turn("hello", &mut listener, &stage.cancel)).unwrap();
    assert_eq!(heard, ["writing `read_file`, 52 bytes"]);
}

#[test]
fn everything_that_happens_is_in_the_audit_trail() {
    let stage = Stage::new();
    stage.turn(
        "go",
        vec![
            asks("a", "read_file", json!({"path": "README.md"})),
            asks("b", "write_file", json!({"path": "x", "content": "y"})),
            says("done").into(),
        ],
    );
    expect![[r#"
        [
            "session_started",
            "turn_started",
            "user_message_received",
            "llm_called",
            "llm_response_received",
            "tool_called",
            "tool_returned",
            "llm_called",
            "llm_response_received",
            "tool_called",
            "permission_denied",
            "tool_failed",
            "llm_called",
            "llm_response_received",
            "turn_completed",
            "turn_settled",
        ]
    "#]]
    .assert_debug_eq(&stage.audit_kinds());
}

/// A tool that waits until it is cancelled, or fails in its code.
#[derive(Default)]
struct Stuck {
    panics: bool,
    /// Cancelled as soon as it runs.
    cancels: tokio_util::sync::CancellationToken,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct NoArgs {}

impl Tool for Stuck {
    type Args = NoArgs;
    const SPEC: ToolSpec = ToolSpec {
        name: "stuck",
        summary: "Wait.",
        details: "",
        example: "{}",
        category: Category::File,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };
    fn wishes(_args: &NoArgs) -> Vec<Wish> {
        vec![Wish::File { op: FileOp::Write, path: ".reyn/x".into() }]
    }
    async fn run(&self, _: NoArgs, _: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        assert!(!self.panics, "a defect of the tool");
        self.cancels.cancel();
        context.cancel.cancelled().await;
        Err(ToolError::Cancelled)
    }
}

#[test]
fn a_call_that_takes_too_long_is_stopped_and_said_to_be_in_doubt() {
    let mut stage = Stage::new();
    stage.registry = Arc::new(reyn_tools::Registry::default().with(Stuck::default()));
    stage.call_time_max = Duration::from_millis(30);
    let (_, shown) = stage.turn("go", vec![asks("a", "stuck", "{}"), says("done").into()]);
    assert!(shown.contains("Error (timeout): stopped after 0 s"), "{shown}");
    assert!(shown.contains("it may or may not have taken effect"), "{shown}");
}

#[test]
fn a_tool_whose_code_fails_is_an_exception_and_the_turn_goes_on() {
    let mut stage = Stage::new();
    stage.registry =
        Arc::new(reyn_tools::Registry::default().with(Stuck { panics: true, ..Stuck::default() }));
    let (report, shown) = stage.turn("go", vec![asks("a", "stuck", "{}"), says("done").into()]);
    assert!(shown.contains("Error (exception): the tool's code failed"), "{shown}");
    assert_eq!(report.ending, Ending::Answered);
}

#[test]
fn cancelling_while_the_model_thinks_leaves_a_usable_session() {
    let stage = Stage::new();
    let (mut session, _model) = stage.session(vec![Scripted::Hang]);
    let cancel = stage.cancel.clone();
    let report = block_on(async {
        let mut deaf = |_: SessionEvent<'_>| {};
        let turn = session.turn("one", &mut deaf, &cancel);
        let (report, ()) = futures::join!(turn, async { cancel.cancel() });
        report.unwrap()
    });
    assert_eq!(report.ending, Ending::Cancelled);
    drop(session);
    let (report, shown) = again(&stage, "two", vec![says("done").into()]);
    assert_eq!(report.ending, Ending::Answered);
    expect![[r"
        user    one
        ended   cancelled
        user    two
        model   done
        ended   answered
    "]]
    .assert_eq(&shown);
}

#[test]
fn cancelling_while_a_tool_runs_stops_it_and_closes_every_call() {
    let mut stage = Stage::new();
    let stuck = Stuck { cancels: stage.cancel.clone(), ..Stuck::default() };
    stage.registry = Arc::new(reyn_tools::Registry::default().with(stuck));
    let (_, shown) =
        stage.turn("one", vec![calls([call("a", "stuck", "{}"), call("b", "stuck", "{}")]).into()]);
    expect![[r"
        user    one
        model   stuck {}
        model   stuck {}
        failed  Error (cancelled): cancelled by the person; it may or may not have taken effect
        failed  Error (cancelled): cancelled by the person before `stuck` gave a result
        ended   cancelled
    "]]
    .assert_eq(&shown);
}

/// Which calls of [`Unprepared`] may go on, and whoever waits for it.
static RELEASED: (Mutex<Vec<String>>, Condvar) = (Mutex::new(vec![]), Condvar::new());

fn release(name: &str) {
    RELEASED.0.lock().unwrap().push(name.to_owned());
    RELEASED.1.notify_all();
}

/// A tool that cannot be prepared, as when a file system does not answer.
struct Unprepared;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Waiting {
    name: String,
}

impl Tool for Unprepared {
    type Args = Waiting;
    const SPEC: ToolSpec = ToolSpec { name: "unprepared", effect: Effect::Reads, ..Stuck::SPEC };
    fn wishes(args: &Waiting) -> Vec<Wish> {
        let waits = |released: &mut Vec<String>| !released.contains(&args.name);
        drop(RELEASED.1.wait_while(RELEASED.0.lock().unwrap(), waits).unwrap());
        vec![]
    }
    async fn run(&self, _: Waiting, _: Touched, _: Arc<Context>) -> Result<Output, ToolError> {
        Ok(Output::default())
    }
}

/// Runs a turn that makes one call of [`Unprepared`]; `listener` hears of it.
fn unprepared(stage: &mut Stage, name: &str, listener: &mut reyn_runtime::Listener<'_>) -> String {
    stage.registry = Arc::new(reyn_tools::Registry::default().with(Unprepared));
    let (mut session, _model) =
        stage.session(vec![asks("a", "unprepared", json!({ "name": name })), says("done").into()]);
    block_on(async {
        session.turn("go", listener, &stage.cancel).await.unwrap();
        release(name);
    });
    stage.shown(session.log())
}

#[test]
fn a_file_system_that_does_not_answer_takes_no_longer_than_a_call_may() {
    let mut stage = Stage::new();
    stage.call_time_max = Duration::from_millis(30);
    let shown = unprepared(&mut stage, "slow", &mut |_| {});
    assert!(shown.contains("Error (timeout): stopped after 0 s"), "{shown}");
    assert!(shown.contains("it did not run"), "{shown}");
}

#[test]
fn cancelling_is_heard_while_a_file_system_does_not_answer() {
    let mut stage = Stage::new();
    let cancel = stage.cancel.clone();
    let mut listener = |event: SessionEvent<'_>| {
        if matches!(event, SessionEvent::ToolStarted(_)) {
            let cancel = cancel.clone();
            tokio::task::spawn(async move { cancel.cancel() });
        }
    };
    let shown = unprepared(&mut stage, "cancelled", &mut listener);
    assert!(shown.contains("Error (cancelled): cancelled by the person before it ran"), "{shown}");
}

#[test]
fn what_a_model_writes_without_end_is_bounded_in_the_trail_and_in_errors() {
    let stage = Stage::new();
    let long = "x".repeat(1 << 19);
    let all = [
        call(&long, &long, "{}"),
        call("b", "read_file", json!({ long.as_str(): 1 })),
        call("c", "read_file", json!({"path": 1, "content": long})),
    ];
    let (report, _) = stage.turn("go", vec![calls(all).into(), says("done").into()]);
    for call in &report.calls {
        let reyn_core::tool::Outcome::Error(error) = &call.outcome else { panic!("{call:?}") };
        assert!(error.message.len() <= 13 * 1024, "{} bytes", error.message.len());
    }
    let bytes: usize = stage.audit().iter().map(|event| event.to_string().len()).sum();
    assert!(bytes < 20 * 1024, "{bytes} bytes");
}

#[test]
fn a_secret_in_arguments_that_cannot_be_read_is_not_in_the_trail() {
    let stage = Stage::new();
    stage.turn(
        "go",
        vec![
            asks("a", "read_file", r#"{"password": "hunter2""#),
            asks("b", "read_file", json!({"path": "a", "limit": "sk-abcdefghijklmnopqrstuvwx"})),
            says("done").into(),
        ],
    );
    let trail = serde_json::to_string(&stage.audit()).unwrap();
    assert!(!trail.contains("hunter2") && !trail.contains("sk-abc"), "{trail}");
}

#[test]
fn a_call_beyond_the_cap_is_in_the_trail() {
    let mut stage = Stage::new();
    stage.limits = TurnLimits { calls_per_reply_max: 1, ..TurnLimits::default() };
    let read = |id: &str| call(id, "read_file", json!({"path": "README.md"}));
    stage.turn("go", vec![calls([read("a"), read("b")]).into(), says("done").into()]);
    let failed: Vec<_> = stage
        .audit()
        .into_iter()
        .filter(|event| event["type"] == "tool_failed")
        .map(|event| (event["data"]["call_id"].clone(), event["data"]["error_kind"].clone()))
        .collect();
    assert_eq!(failed, [(json!("b"), json!("budget_exhausted"))]);
}

/// Another turn of the same session, not cancelled.
fn again(stage: &Stage, text: &str, script: Vec<Scripted>) -> (reyn_runtime::TurnReport, String) {
    let (mut session, _model) = stage.session(script);
    let fresh = tokio_util::sync::CancellationToken::new();
    let report = block_on(session.turn(text, &mut |_| {}, &fresh)).unwrap();
    (report, stage.shown(session.log()))
}

#[test]
fn what_the_person_says_during_a_turn_joins_its_next_round() {
    let stage = Stage::new();
    let script = vec![
        asks("a", "read_file", r#"{"path":"README.md"}"#),
        says("It says hello.").into(),
        says("In Japanese: こんにちは").into(),
    ];
    let (mut session, _) = stage.session(script);
    let inbox = session.inbox();
    let mut heard = vec![];
    let mut rounds = 0;
    let mut listener = |event: SessionEvent<'_>| match event {
        SessionEvent::ToolStarted(_) => assert!(inbox.put("be brief")),
        SessionEvent::Replied(_) => {
            rounds += 1;
            if rounds == 2 {
                assert!(inbox.put("and in Japanese?"));
            }
        }
        SessionEvent::Said(text) => heard.push(text.to_owned()),
        SessionEvent::Delta(_)
        | SessionEvent::Retry { .. }
        | SessionEvent::Progress(_)
        | SessionEvent::ToolFinished(..) => {}
    };
    let report = block_on(session.turn("what does README say?", &mut listener, &stage.cancel)).unwrap();
    assert_eq!((report.answer.as_str(), report.rounds), ("In Japanese: こんにちは", 3));
    assert_eq!(heard, ["be brief", "and in Japanese?"]);
    expect![[r#"
        user    what does README say?
        model   read_file {"path":"README.md"}
        ok      hello
        said    be brief
        model   It says hello.
        said    and in Japanese?
        model   In Japanese: こんにちは
        ended   answered
    "#]]
    .assert_eq(&stage.shown(session.log()));
}

#[test]
fn what_is_said_too_late_for_a_turn_is_still_in_the_inbox() {
    let stage = Stage::new();
    let (mut session, _) = stage.session(vec![asks("a", "read_file", r#"{"path":"README.md"}"#)]);
    let (inbox, cancel) = (session.inbox(), stage.cancel.clone());
    let mut listener = |event: SessionEvent<'_>| {
        if let SessionEvent::ToolStarted(_) = event {
            assert!(inbox.put("later"));
            cancel.cancel();
        }
    };
    block_on(session.turn("go", &mut listener, &stage.cancel)).unwrap();
    assert_eq!(inbox.take(), ["later"]);
}
