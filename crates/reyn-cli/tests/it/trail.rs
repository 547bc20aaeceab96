//! `reyn events`.

use expect_test::expect;
use reyn_testkit::{FakeServer, call, calls, says};
use serde_json::{Value, json};

use crate::place::Place;
use crate::running::Running;

/// A place where the sessions `one` and `two` have had a turn each.
fn place() -> Place {
    let server = FakeServer::answering(|request| {
        let has_result =
            request["messages"].as_array().unwrap().iter().any(|message| message["role"] == "tool");
        if has_result {
            says("It says hello.").into()
        } else {
            calls([call("a", "read_file", json!({"path": "README.md"}))]).into()
        }
    });
    let place = Place::with(&server);
    for session in ["one", "two"] {
        let _ = place.run(["ask", "what?", "--session", session]).exits(0);
    }
    place
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn a_turn_can_be_read_afterwards() {
    expect![[r#"
        TIME  session_started             session_id=one
        TIME  turn_started                chain_id=one.1
        TIME  user_message_received       chain_id=one.1  chars=5
        TIME  llm_called                  model=fake/test  chain_id=one.1  tools_count=20
        TIME  llm_response_received       model=fake/test  chain_id=one.1  prompt_tokens=10  completion_tokens=5  cached_tokens=0  usage_source=provider  finish_reason=tool_calls
        TIME  tool_called                 chain_id=one.1  call_id=a  tool=read_file  args={"path":"README.md"}  salvaged=false
        TIME  tool_returned               chain_id=one.1  call_id=a  tool=read_file  result_bytes=6
        TIME  llm_called                  model=fake/test  chain_id=one.1  tools_count=20
        TIME  llm_response_received       model=fake/test  chain_id=one.1  prompt_tokens=10  completion_tokens=5  cached_tokens=0  usage_source=provider  finish_reason=stop
        TIME  turn_completed              chain_id=one.1
        TIME  turn_settled                chain_id=one.1  ending=answered
    "#]].assert_eq(&place().run(["events", "--session", "one"]).exits(0).stdout);
}

#[test]
fn kinds_are_chosen_and_left_out() {
    let place = place();
    let chosen = place.run(["events", "--json", "--kind", "tool_called", "--kind", "turn_started"]).exits(0);
    assert_eq!(
        kinds(&chosen.lines_of_json()),
        ["turn_started", "tool_called", "turn_started", "tool_called"]
    );
    let all = place.events().len();
    let left = place.run(["events", "--json", "--skip", "tool_called"]).exits(0).lines_of_json().len();
    assert_eq!(left, all - 2);
}

#[test]
fn one_session_is_chosen() {
    let place = place();
    let events = place.run(["events", "--json", "--session", "two"]).exits(0).lines_of_json();
    assert!(!events.is_empty() && events.iter().all(|event| event["data"]["run_id"] == "two"), "{events:?}");
}

#[test]
fn a_time_is_a_bound() {
    let place = place();
    let count = |args| place.run(args).exits(0).lines_of_json().len();
    assert_eq!(count(["events", "--json", "--since", "1h"]), place.events().len());
    assert_eq!(count(["events", "--json", "--until", "1h"]), 0);
}

/// What is typed, and which events it leaves.
type Narrowing = (&'static [&'static str], fn(&Value) -> bool);

#[test]
fn filters_narrow_each_other_in_every_combination() {
    let place = place();
    let all = place.events();
    let filters: [Narrowing; 5] = [
        (&["--session", "two"], |event| event["data"]["run_id"] == "two"),
        (&["--kind", "turn_started", "--kind", "llm_called"], |event| {
            event["type"] == "turn_started" || event["type"] == "llm_called"
        }),
        (&["--skip", "turn_started"], |event| event["type"] != "turn_started"),
        (&["--since", "1h"], |_| true),
        (&["--until", "2099-01-01"], |_| true),
    ];
    for chosen in 0..1_u32 << filters.len() {
        let chosen: Vec<_> = filters.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).collect();
        let mut command = place.command(&["events", "--json"]);
        command.args(chosen.iter().flat_map(|(_, (args, _))| args.iter()));
        let shown = Running::new(command, place.masks()).finish().exits(0).lines_of_json();
        let fits = |event: &&Value| chosen.iter().all(|(_, (_, fits))| fits(event));
        assert_eq!(shown, all.iter().filter(fits).cloned().collect::<Vec<_>>(), "{chosen:?}");
    }
}

#[test]
fn a_filter_that_nothing_fits_says_so() {
    let place = place();
    let count = place.events().len();
    let done = place.run(["events", "--session", "three"]).exits(0);
    assert_eq!((done.stdout.as_str(), done.stderr), ("", format!("reyn: none of {count} events fits\n")));
}

#[test]
fn the_trail_can_be_read_while_the_configuration_is_wrong() {
    let place = place().config("nonsense: 1\n");
    let _ = place.run(["ask", "what?"]).exits(2);
    assert!(!place.events().is_empty());
}

#[test]
fn an_unknown_kind_is_told_with_a_near_one() {
    let done = Place::new().run(["events", "--kind", "tool_call"]).exits(2);
    expect![[r#"
        reyn: no event is of the kind `tool_call`; did you mean `tool_called`?
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn no_trail_yet_is_an_error_that_says_so() {
    let done = Place::new().run(["events"]).exits(1);
    expect![[r#"
        reyn: there are no events at `/work/.reyn/events`; `reyn chat` and `reyn ask` write some
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn escape_sequences_in_a_trail_are_not_shown() {
    let line = json!({"type": "x\u{1b}[2J", "timestamp": "2026-01-02T03:04:05Z", "data": {"\u{1b}[1ma": "\u{1b}]0;b"}});
    let place = Place::new().file("foreign.jsonl", &format!("{line}\n"));
    let done = place.run(["events", "foreign.jsonl"]).exits(0);
    assert!(!done.stdout.contains('\x1b'), "{:?}", done.stdout);
}

#[test]
fn the_events_of_a_session_are_found_by_a_part_of_its_name_and_by_latest() {
    let server = FakeServer::script([says("one"), says("two")]);
    let place = Place::with(&server);
    for id in ["first-talk", "second-talk"] {
        assert!(!place.run(["ask", "hi", "--session", id]).exits(0).stdout.is_empty());
    }
    let of = |name: &str| {
        let events =
            place.run(["events", "--session", name, "--kind", "turn_started", "--json"]).lines_of_json();
        events.iter().map(|event| event["data"]["run_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("first"), ["first-talk"]);
    assert_eq!(of("latest"), ["second-talk"]);
    assert_eq!(of("gone"), Vec::<String>::new());
}
