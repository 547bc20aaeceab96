//! The fake server holds its clients to the protocol.

use reyn_core::request::{ChatRequest, Message};
use reyn_core::tool_use::Framing;
use reyn_llm::{ChatModel, ModelErrorKind};
use reyn_testkit::{FakeServer, Scripted, ScriptedModel, assert_valid_messages, call, calls, says};

fn request() -> ChatRequest<'static> {
    ChatRequest {
        messages: vec![Message::System("s".into()), Message::User("hi".into())],
        ..ChatRequest::default()
    }
}

fn post(server: &FakeServer, body: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_request_that_breaks_the_protocol_is_answered_400_and_remembered() {
    let server = FakeServer::script([says("never")]);
    let answer = post(&server, r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#);
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(server.take_violations(), ["the first message is not the system's"]);
    assert!(server.requests().is_empty());
    server.finish();
}

#[test]
fn a_required_key_must_be_sent() {
    let server = FakeServer::script([says("never")]);
    server.require_key("sk-x");
    post(&server, "{}");
    assert_eq!(server.take_violations(), ["the request carries the wrong key or none"]);
}

#[test]
#[should_panic(expected = "requests broke the protocol:\nthe body is not JSON")]
fn dropping_a_server_that_saw_a_fault_fails_the_test() {
    let server = FakeServer::script([says("never")]);
    post(&server, "{nope");
    server.finish();
}

#[tokio::test]
async fn a_scripted_model_gives_its_answers_and_remembers_its_requests() {
    let error = reyn_llm::ModelError::new(ModelErrorKind::Server, "down");
    let replies =
        [Scripted::from(calls([call("a", "read_file", "{}")])), error.clone().into(), Scripted::Hang];
    let model = ScriptedModel::new(replies).framing(Framing::default());
    let request = request();
    let mut ignore = |_: reyn_llm::StreamEvent<'_>| {};
    let reply = model.reply(&request, &mut ignore).await.unwrap();
    assert_eq!((reply.calls[0].name.as_str(), reply.text.as_str()), ("read_file", ""));
    assert_eq!(model.reply(&request, &mut ignore).await, Err(error));
    tokio::select! {
        biased;
        reply = model.reply(&request, &mut ignore) => panic!("a model that hangs answered {reply:?}"),
        () = std::future::ready(()) => {}
    }
    assert_eq!(
        (model.answers_left(), model.requests()),
        (0, vec![request.clone(), request.clone(), request.clone()])
    );
}

#[tokio::test]
#[should_panic(expected = "request 1 is beyond the script; its last message is Some(User(\"hi\"))")]
async fn a_request_beyond_the_script_panics() {
    let model = ScriptedModel::new(Vec::<Scripted>::new());
    let _ = model.reply(&request(), &mut |_| {}).await;
}

#[test]
#[should_panic(expected = "the request breaks the protocol: message 2: two user messages in a row")]
fn a_request_of_ours_is_held_to_the_same_rules() {
    let mut request = request();
    assert_valid_messages(&request);
    request.messages.push(Message::User("again".into()));
    assert_valid_messages(&request);
}
