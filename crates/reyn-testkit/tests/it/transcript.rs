//! A conversation as a person would read it.

use expect_test::expect;
use reyn_core::conversation::{Ending, Entry, Limit, Reply};
use reyn_core::tool::{Args, CallError, Effect, ErrorKind, Outcome, Output};
use reyn_testkit::{tool_call, transcript};
use serde_json::json;

#[test]
fn a_transcript_reads_like_the_conversation() {
    let finished = |id: &str, outcome| Entry::Finished { call_id: id.into(), outcome };
    let error = |kind, message: &str| Outcome::Error(CallError::new(kind, message));
    let mut broken = tool_call("c", "write_file", &json!({}));
    broken.args = Args::parse("{oops", false);
    let log = [
        Entry::User { text: "what does it say?\nplease".into() },
        Entry::Reply(Reply {
            text: "let me look".into(),
            calls: vec![
                tool_call("a", "read_file", &json!({"path": "README.md"})),
                tool_call("b", "read_file", &json!({"path": "../secret"})),
                broken,
            ],
            ..Reply::default()
        }),
        Entry::Started { call_id: "a".into(), effect: Effect::Reads },
        finished("a", Outcome::Ok(Output::text("content", "one\ntwo\n").with("path", "README.md"))),
        finished("b", error(ErrorKind::PermissionDenied, "outside the workspace")),
        finished("c", error(ErrorKind::InvalidArgs, "not JSON")),
        Entry::Nudged,
        Entry::LimitReached { limit: Limit::MaxIterations },
        Entry::Reply(Reply { text: "done".into(), ..Reply::default() }),
        Entry::Ended { ending: Ending::Answered },
    ];
    expect![[r#"
        user    what does it say?
                please
        model   let me look
        model   read_file {"path":"README.md"}
        model   read_file {"path":"../secret"}
        model   write_file malformed: {oops
        ok      one
                two
        refused Error (permission_denied): outside the workspace
        failed  Error (invalid_args): not JSON
        nudged
        limit   max_iterations
        model   done
        ended   answered
    "#]]
    .assert_eq(&transcript(&log));
}
