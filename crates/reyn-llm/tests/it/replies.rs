//! Replies over real connections, whole and split anywhere.

use std::borrow::Cow;

use reyn_core::conversation::{Finish, Usage, UsageSource};
use reyn_core::request::{ChatReply, ChatRequest, Message};
use reyn_core::tool::{Args, ToolCall};
use reyn_llm::{ChatModel as _, OpenAiChat};
use reyn_testkit::{FakeServer, Gate, Response, call, calls, says, sse};
use serde_json::json;

use crate::{KEY, ask, endpoint, model, request};

#[tokio::test]
async fn text_and_calls_come_back_as_the_server_sent_them() {
    let mut mixed = calls([call("a", "read_file", r#"{"path":"日本"}"#), call("b", "glob", "{}")]);
    mixed.text = "「日本語😀」 and more".into();
    let server = FakeServer::script([says("hello there"), mixed.clone()]);
    server.require_key(KEY);
    let model = model(&server.api_base());
    let (reply, heard) = ask(&model).await;
    assert_eq!((reply, heard.concat()), (Ok(says("hello there")), "hello there".to_owned()));
    let (reply, heard) = ask(&model).await;
    assert_eq!((heard.concat(), reply), (mixed.text.clone(), Ok(mixed)));
    assert_eq!(server.connections(), 1);
    server.finish();
}

#[tokio::test]
async fn a_whole_conversation_with_calls_and_tools_is_a_valid_request() {
    let server = FakeServer::script([says("done")]);
    let args = Args::parse(r#"{"path":"a"}"#, false);
    let call = ToolCall { id: "x".into(), name: "read_file".into(), args };
    let tool = json!({"type": "function", "function":
        {"name": "read_file", "description": "Reads.", "parameters": {"type": "object"}}});
    let request = ChatRequest {
        messages: vec![
            Message::System("s".into()),
            Message::User("hi".into()),
            Message::Assistant { text: "".into(), calls: Cow::Owned(vec![call]) },
            Message::ToolResult { call_id: "x".into(), name: "read_file".into(), text: "one".into() },
        ],
        tools: Cow::Owned(vec![tool.clone()]),
        ..ChatRequest::default()
    };
    let reply = model(&server.api_base()).reply(&request, &mut |_| {}).await;
    assert_eq!(reply, Ok(says("done")));
    assert_eq!(server.requests()[0]["tools"], json!([tool]));
    server.finish();
}

#[tokio::test]
async fn streaming_can_be_switched_off_and_the_text_is_still_heard() {
    let server = FakeServer::script([says("hello there")]);
    let mut endpoint = endpoint(&server.api_base());
    endpoint.options.stream = Some(false);
    let (reply, heard) = ask(&OpenAiChat::loopback_only(endpoint)).await;
    assert_eq!((reply, heard), (Ok(says("hello there")), vec!["hello there".to_owned()]));
    assert_eq!(server.requests()[0]["stream"], json!(false));
    server.finish();
}

#[tokio::test]
async fn text_split_inside_its_characters_arrives_whole() {
    let stream = sse(&says("「日本語😀」"));
    let responses = (0..=stream.len()).map(|at| {
        let (first, second) = stream.as_bytes().split_at(at);
        Response::status(200).bytes(first).bytes(second)
    });
    // An empty piece would end a chunked body, so the two ends are sent whole.
    let responses = responses.skip(1).take(stream.len() - 1);
    let server = FakeServer::script(responses);
    let model = model(&server.api_base());
    for at in 1..stream.len() {
        let (reply, _) = ask(&model).await;
        assert_eq!(reply, Ok(says("「日本語😀」")), "cut at {at}");
    }
    server.finish();
}

#[tokio::test]
async fn text_is_heard_while_the_rest_is_not_yet_written() {
    let gate = Gate::new();
    let stream = sse(&says("12345678and the rest"));
    let at = stream.find("and the").unwrap();
    let at = stream[..at].rfind("data:").unwrap();
    let response =
        Response::stream().bytes(&stream.as_bytes()[..at]).wait(&gate).bytes(&stream.as_bytes()[at..]);
    let server = FakeServer::script([response]);
    let mut heard = String::new();
    let reply = model(&server.api_base())
        .reply(&request(), &mut |event| {
            if let reyn_llm::StreamEvent::Text(text) = event {
                heard.push_str(text);
                gate.open();
            }
        })
        .await;
    assert_eq!(reply, Ok(says(&heard)));
    server.finish();
}

#[tokio::test]
async fn a_server_that_does_not_count_gets_an_estimate() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"12345\"}}]}\n\ndata: [DONE]\n\n";
    let server = FakeServer::script([Response::stream().bytes(body)]);
    let (reply, _) = ask(&model(&server.api_base())).await;
    let usage =
        Usage { prompt_tokens: 1, completion_tokens: 2, cached_tokens: 0, source: UsageSource::Estimated };
    let expected = ChatReply { text: "12345".into(), calls: vec![], finish: Finish::Stop, usage };
    assert_eq!(reply, Ok(expected));
    server.finish();
}

#[tokio::test]
async fn a_connection_that_stays_open_after_the_end_mark_does_not_hold_the_reply_back() {
    let server = FakeServer::script([Response::stream().bytes(sse(&says("done"))).then_hang()]);
    let (reply, _) = ask(&model(&server.api_base())).await;
    assert_eq!(reply, Ok(says("done")));
    server.finish();
}

#[tokio::test]
async fn a_reset_after_the_reason_to_stop_loses_nothing() {
    let stream = sse(&says("done"));
    let before_end_mark = stream.strip_suffix("data: [DONE]\n\n").unwrap();
    let gate = Gate::new();
    let response = Response::stream().bytes(before_end_mark).wait(&gate).then_reset();
    let server = FakeServer::script([response]);
    let reply = model(&server.api_base()).reply(&request(), &mut |_| gate.open()).await;
    assert_eq!(reply, Ok(says("done")));
    server.finish();
}

#[tokio::test]
async fn dropping_a_reply_ends_it() {
    let server = FakeServer::script([Response::hang()]);
    let model = model(&server.api_base());
    let server_has_request = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        reply = ask(&model) => panic!("a server that hangs answered {reply:?}"),
        () = server_has_request => {}
    }
    server.finish();
}
