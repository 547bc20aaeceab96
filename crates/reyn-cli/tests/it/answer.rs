//! What `reyn ask` answers when its output is piped.

use expect_test::expect;
use reyn_testkit::{FakeServer, call, calls, says};
use serde_json::json;

use crate::place::Place;

#[test]
fn the_answer_alone_is_on_standard_output() {
    let server = FakeServer::script([says("It says hello.")]);
    let place = Place::with(&server);
    let done = place.run(["ask", "what does README.md say?"]).exits(0);
    expect![[r#"
        It says hello.
    "#]]
    .assert_eq(&done.stdout);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn a_file_is_read_through_the_gate_and_its_text_goes_back_to_the_model() {
    let server = FakeServer::script([
        calls([call("a", "read_file", json!({"path": "README.md"}))]),
        says("It says hello."),
    ]);
    let place = Place::with(&server);
    let done = place.run(["ask", "what does README.md say?"]).exits(0);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        · read_file README.md
          6 B
    "#]]
    .assert_eq(&done.stderr);
    let requests = server.requests();
    let last = requests[1]["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!({"role": "tool", "tool_call_id": "a", "content": "hello\n"}));
}

#[test]
fn text_that_is_piped_in_follows_the_prompt() {
    let server = FakeServer::answering(|_| says("ok").into());
    let place = Place::with(&server);
    for (args, input, expected) in [
        (vec!["ask", "sum up"], "one\ntwo\n", "sum up\n\none\ntwo\n"),
        (vec!["ask"], "one\n", "one\n"),
        (vec!["ask", "sum up"], " \n", "sum up"),
    ] {
        let done = match args.as_slice() {
            [one] => place.run_with_input([one], input),
            [one, two] => place.run_with_input([one, two], input),
            _ => unreachable!("the table has no more"),
        };
        let _ = done.exits(0);
        let request = server.requests().pop().unwrap();
        assert_eq!(request["messages"][1], json!({"role": "user", "content": expected}));
    }
}

#[test]
fn a_session_that_is_named_goes_on_where_it_ended() {
    let server = FakeServer::script([says("one"), says("two")]);
    let place = Place::with(&server);
    for prompt in ["first", "second"] {
        let _ = place.run(["ask", prompt, "--session", "s"]).exits(0);
    }
    let said: Vec<_> = server.requests()[1]["messages"].as_array().unwrap()[1..].to_vec();
    assert_eq!(
        json!(said),
        json!([
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "one"},
            {"role": "user", "content": "second"},
        ])
    );
}

#[test]
fn piped_output_holds_no_escape_sequences_but_those_of_the_answer() {
    let path = "\x1b[2Jx\u{202e}.md";
    let server =
        FakeServer::script([calls([call("a", "read_file", json!({ "path": path }))]), says("a\x1b[31mred")]);
    let place = Place::with(&server);
    let done = place.run(["ask", "go"]).exits(0);
    assert_eq!(done.stdout, "a\x1b[31mred\n");
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        · read_file [2Jx.md
          handler_error: cannot read `[2Jx.md`: there is no such file or folder
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn the_words_of_a_server_reach_standard_error_without_control_characters() {
    let body = json!({"error": {"message": "no\x1b[2J\u{202e}!"}});
    let server = FakeServer::answering(move |_| reyn_testkit::Response::json(400, &body));
    let done = Place::with(&server).run(["ask", "go"]).exits(1);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        reyn: `fake/test` gave no answer: fake refuses the request (400): no [2J!
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn a_call_that_a_model_writes_as_text_is_run_when_its_class_says_so() {
    let fenced = "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"README.md\"}}\n```";
    let server = FakeServer::script([says(fenced), says("It says hello.")]);
    let place = Place::with_options(&server, "tool_format: text");
    let done = place.run(["ask", "what does README.md say?"]).exits(0);
    assert_eq!(done.stdout, "It says hello.\n");
    let requests = server.requests();
    assert_eq!(requests[0].get("tools"), None);
    let last = requests[1]["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert!(last.as_str().unwrap().contains("hello"), "{last}");
}

#[test]
fn a_constrained_model_is_sent_a_schema_and_its_json_is_read() {
    let server = FakeServer::script([
        says(r#"{"tool": "read_file", "args": {"path": "README.md"}}"#),
        says(r#"{"answer": "It says hello."}"#),
    ]);
    let place = Place::with_options(&server, "tool_format: constrained");
    let done = place.run(["ask", "what does README.md say?"]).exits(0);
    assert_eq!(done.stdout, "It says hello.\n");
    for request in server.requests() {
        assert_eq!(request["response_format"]["type"], "json_schema", "{request}");
        assert_eq!(request.get("tools"), None);
    }
}

#[test]
fn the_first_request_is_small() {
    let server = FakeServer::script([says("ok")]);
    let _ = Place::with(&server).run(["ask", "go"]).exits(0);
    let request = server.requests().remove(0);
    let system_bytes = request["messages"][0]["content"].as_str().unwrap().len();
    let tools = request["tools"].as_array().unwrap();
    let tools_bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
    assert!(system_bytes <= 3072, "the system prompt has {system_bytes} bytes");
    assert!(tools_bytes <= 420 * tools.len(), "{} tools have {tools_bytes} bytes", tools.len());
}

#[test]
fn a_stream_without_a_content_type_is_read() {
    let event = r#"{"choices":[{"index":0,"delta":{"content":"It says hello."},"finish_reason":null}]}"#;
    let body = format!("data: {event}\r\n\r\ndata: [DONE]\r\n\r\n");
    let server = FakeServer::answering(move |_| reyn_testkit::Response::status(200).bytes(body.clone()));
    let done = Place::with(&server).run(["ask", "go"]).exits(0);
    assert_eq!(done.stdout, "It says hello.\n");
}

#[test]
fn two_runs_send_the_same_bytes_before_the_question() {
    let server = FakeServer::script([says("one"), says("two")]);
    let place = Place::with(&server);
    for question in ["first", "second"] {
        let _ = place.run(["ask", question]).exits(0);
    }
    let prefixes: Vec<String> = server
        .requests()
        .iter()
        .map(|request| format!("{}\n{}", request["messages"][0], request["tools"]))
        .collect();
    assert_eq!(prefixes[0], prefixes[1]);
}

#[test]
fn names_and_answers_in_any_script_come_through() {
    let server = FakeServer::script([
        calls([call("a", "read_file", json!({"path": "資料/議事 録😀.md"}))]),
        says("会議は「五時」です😀"),
    ]);
    let place = Place::with(&server).file("資料/議事 録😀.md", "会議は五時\n");
    let done = place.run(["ask", "会議は何時？", "--session", "s"]).exits(0);
    assert_eq!(done.stdout, "会議は「五時」です😀\n");
    assert!(done.stderr.contains("· read_file 資料/議事 録😀.md\n"), "{}", done.stderr);
    let last = server.requests()[1]["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"], "会議は五時\n");
}

#[test]
fn what_is_recorded_can_be_replayed() {
    use futures::FutureExt as _;
    use reyn_core::request::{ChatRequest, Message};
    let server = FakeServer::script([says("It says hello.")]);
    let place = Place::with(&server).env("REYN_RECORD", "1");
    let _ = place.run(["ask", "what does README.md say?"]).exits(0);
    let request = server.requests().remove(0);
    let system = request["messages"][0]["content"].as_str().unwrap().to_owned();
    let replaying =
        reyn_llm::Replaying::open("fake/test", Default::default(), place.root.join(".reyn/replay.jsonl"))
            .unwrap();
    let request = ChatRequest {
        messages: vec![Message::System(system.into()), Message::User("what does README.md say?".into())],
        static_messages: 1,
        tools: request["tools"].as_array().unwrap().clone().into(),
        ..ChatRequest::default()
    };
    let reply = reyn_llm::ChatModel::reply(&replaying, &request, &mut |_| {}).now_or_never();
    assert_eq!(reply.unwrap().unwrap().text, "It says hello.");
}
