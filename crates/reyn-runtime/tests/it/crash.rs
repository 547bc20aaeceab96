//! A session after its process died at any point.

use reyn_core::conversation::{Ending, Entry};
use reyn_core::tool::Effect;
use reyn_core::tool_use::{Framing, Surface, ToolFormat};
use reyn_runtime::log::ConversationLog;
use reyn_testkit::{Scripted, assert_valid_messages, call, calls, says};
use serde_json::json;

use crate::stage::{Stage, block_on};

/// A session of some 200 records: reads, writes, refusals, failures, blank replies, several turns.
fn long_session(stage: &Stage) -> usize {
    for turn in 0..7 {
        let mut script: Vec<Scripted> = vec![];
        for round in 0..5 {
            script.push(
                calls([
                    call("a", "read_file", json!({"path": "README.md", "limit": round + 1})),
                    call("b", "write_file", json!({"path": ".reyn/x", "content": "日😀"})),
                ])
                .into(),
            );
        }
        script.push(says("").into());
        script.push(says(&format!("done {turn}: 終わり")).into());
        stage.turn(&format!("turn {turn}: やって"), script);
    }
    let (log, _) = ConversationLog::open(&stage.root.join(".reyn/state/sessions"), "s", "now").unwrap();
    log.entries().len()
}

#[test]
fn a_session_cut_at_any_byte_opens_and_its_next_request_is_valid() {
    let stage = Stage::new();
    let records = long_session(&stage);
    assert!((200..220).contains(&records), "{records}");
    let bytes = std::fs::read(stage.log_path()).unwrap();
    let (log, _) = ConversationLog::open(&stage.root.join(".reyn/state/sessions"), "s", "now").unwrap();
    let environment = reyn_core::prompt::Environment::default();
    let surface = Surface::default();
    let (mut whole, mut checked) = (0, None);
    let dir = memory_dir();
    let folder = dir.path().join("s");
    std::fs::create_dir(&folder).unwrap();
    for cut in 0..=bytes.len() {
        std::fs::write(folder.join("log.jsonl"), &bytes[..cut]).unwrap();
        let _ = std::fs::remove_file(folder.join("log.damaged"));
        let (cut_log, _) = ConversationLog::open(dir.path(), "s", "now").unwrap();
        whole += usize::from(cut > 0 && bytes[cut - 1] == b'\n');
        assert!(cut_log.entries() == &log.entries()[..whole], "cut at {cut}");
        // The request depends on the records alone, so it is checked once for each number of them.
        if checked.replace(whole) != Some(whole) {
            let mut entries = cut_log.entries().to_vec();
            entries.push(Entry::User { text: "next".into() });
            for format in [ToolFormat::Native, ToolFormat::Text, ToolFormat::Constrained] {
                assert_valid_messages(&Framing { format }.request(&surface, &entries, &environment, true));
            }
        }
    }
}

/// What a person sees after a crash at any record: the open turn is settled, and the next one is answered.
/// The scripted model refuses a request that a strict server would refuse.
#[test]
fn a_session_that_died_after_any_record_answers_the_next_question() {
    let stage = Stage::new();
    long_session(&stage);
    let bytes = std::fs::read(stage.log_path()).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for kept in 0..=lines.len() {
        std::fs::write(stage.log_path(), lines[..kept].concat()).unwrap();
        let (report, shown) = stage.turn("next", vec![says("done").into()]);
        assert_eq!(report.ending, Ending::Answered, "after {kept} records");
        assert!(shown.ends_with("user    next\nmodel   done\nended   answered\n"), "after {kept}: {shown}");
    }
}

/// A folder in memory where there is one: the test opens a log some 50,000 times.
fn memory_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Cuts the log after the record for which `is_last` holds, as a dying process would leave it.
fn die_after(stage: &Stage, is_last: impl Fn(&Entry) -> bool) {
    let sessions = stage.root.join(".reyn/state/sessions");
    let (log, _) = ConversationLog::open(&sessions, "s", "now").unwrap();
    let at = log.entries().iter().position(is_last).expect("such a record");
    drop(log);
    let bytes = std::fs::read(stage.log_path()).unwrap();
    let kept: Vec<u8> =
        bytes.split_inclusive(|byte| *byte == b'\n').take(at + 1).flatten().copied().collect();
    std::fs::write(stage.log_path(), kept).unwrap();
}

#[test]
fn a_read_that_was_under_way_is_repeated_before_anything_new() {
    let stage = Stage::new();
    let read = calls([call("a", "read_file", json!({"path": "README.md"}))]);
    stage.turn("one", vec![read.into(), says("x").into()]);
    die_after(&stage, |entry| matches!(entry, Entry::Started { effect: Effect::Reads, .. }));
    let (_, shown) = stage.turn("two", vec![says("done").into()]);
    expect_test::expect![[r#"
        user    one
        model   read_file {"path":"README.md"}
        ok      hello
        ended   interrupted
        user    two
        model   done
        ended   answered
    "#]]
    .assert_eq(&shown);
    assert!(stage.audit_kinds().contains(&"session_restored".to_owned()));
}

#[test]
fn a_write_that_was_under_way_is_reported_and_never_run_again() {
    let stage = Stage::new();
    let write = calls([
        call("a", "write_file", json!({"path": ".reyn/x", "content": "1"})),
        call("b", "write_file", json!({"path": ".reyn/y", "content": "1"})),
    ]);
    stage.turn("one", vec![write.into(), says("x").into()]);
    die_after(&stage, |entry| matches!(entry, Entry::Started { effect: Effect::Changes, .. }));
    for name in ["x", "y"] {
        std::fs::remove_file(stage.root.join(".reyn").join(name)).unwrap();
    }
    let (_, shown) = stage.turn("two", vec![says("done").into()]);
    expect_test::expect![[r#"
        user    one
        model   write_file {"path":".reyn/x","content":"1"}
        model   write_file {"path":".reyn/y","content":"1"}
        failed  Error (interrupted): the process died while `write_file` ran; it may or may not have taken effect
                Hint: look at the state first; do not simply call it again
        failed  Error (interrupted): the process died before `write_file` ran; it did not run
        ended   interrupted
        user    two
        model   done
        ended   answered
    "#]]
    .assert_eq(&shown);
    assert!(!stage.root.join(".reyn/x").exists() && !stage.root.join(".reyn/y").exists());
}

#[test]
fn a_turn_that_a_dead_process_left_is_settled_in_the_trail() {
    let stage = Stage::new();
    stage.turn("one", vec![says("x").into()]);
    die_after(&stage, |entry| matches!(entry, Entry::User { .. }));
    std::fs::remove_dir_all(stage.root.join(".reyn/events")).unwrap();
    stage.turn("two", vec![says("done").into()]);
    let settled: Vec<_> = stage
        .audit()
        .into_iter()
        .filter(|event| event["type"] == "turn_settled")
        .map(|event| (event["data"]["chain_id"].clone(), event["data"]["ending"].clone()))
        .collect();
    assert_eq!(settled, [(json!("s.1"), json!("interrupted")), (json!("s.2"), json!("answered"))]);
    assert_eq!(stage.audit_kinds()[1], "session_restored");
}

#[test]
fn a_session_of_ten_thousand_records_goes_on() {
    let stage = Stage::new();
    let sessions = stage.root.join(".reyn/state/sessions");
    let (mut log, _) = ConversationLog::open(&sessions, "s", "now").unwrap();
    for at in 0..5_000 {
        log.append(Entry::User { text: format!("message {at}") }, "now").unwrap();
        log.append(Entry::Ended { ending: Ending::Cancelled }, "now").unwrap();
    }
    drop(log);
    let (mut session, _) = stage.session(vec![says("done").into()]);
    let report = block_on(session.turn("next", &mut |_| {}, &stage.cancel)).unwrap();
    assert_eq!(report.ending, Ending::Answered);
}
