//! Recorded replies, and what is missing from them.

use reyn_core::request::{ChatRequest, Message};
use reyn_core::tool_use::Framing;
use reyn_llm::{ChatModel, ModelErrorKind, Recording, Replaying};
use reyn_testkit::{ScriptedModel, call, calls, says};
use serde_json::{Value, json};

use crate::{ask, request};

fn replaying(path: &std::path::Path) -> Replaying {
    Replaying::open("scripted/model", Framing::default(), path).unwrap()
}

async fn message(model: &dyn ChatModel, request: &ChatRequest<'_>, path: &std::path::Path) -> String {
    let error = model.reply(request, &mut |_| {}).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NotFound);
    error.message.replace(&path.display().to_string(), "FILE")
}

#[tokio::test]
async fn what_was_recorded_is_replayed_and_recording_again_replaces_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.jsonl");
    let reply = calls([call("a", "read_file", r#"{"path":"日本"}"#)]);
    for reply in [says("old"), reply] {
        let recording = Recording::new(ScriptedModel::new([reply.clone()]), &path);
        assert_eq!(ask(&recording).await.0, Ok(reply.clone()));
        assert_eq!(ask(&replaying(&path)).await.0, Ok(reply));
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 1);
    let entry: Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["key", "reply", "request", "v"]);
    assert_eq!(entry["v"], json!(1));
}

#[tokio::test]
async fn the_same_request_has_the_same_key_whatever_the_order_of_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.jsonl");
    let schema =
        |text: &str| ChatRequest { response_schema: serde_json::from_str(text).unwrap(), ..request() };
    let recording = Recording::new(ScriptedModel::new([says("ok")]), &path);
    recording.reply(&schema(r#"{"a":1,"b":{"c":2,"d":3}}"#), &mut |_| {}).await.unwrap();
    let other = schema(r#"{"b":{"d":3,"c":2},"a":1}"#);
    assert_eq!(replaying(&path).reply(&other, &mut |_| {}).await, Ok(says("ok")));
}

#[tokio::test]
async fn a_request_that_was_not_recorded_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.jsonl");
    let begins = |message: &str, words: &str| {
        let begin = "no reply is recorded in `FILE` for request ";
        assert!(message.starts_with(begin) && message.contains(words), "{message}");
        assert!(
            message.ends_with("; run once with `REYN_RECORD=1` and a real model to record it"),
            "{message}"
        );
    };
    begins(&message(&replaying(&path), &request(), &path).await, "; the file holds no replies; ");

    ask(&Recording::new(ScriptedModel::new([says("ok")]), &path)).await.0.unwrap();
    let mut other = request();
    other.messages[1] = Message::User("bye".into());
    begins(&message(&replaying(&path), &other, &path).await, " differs in message 1 (role `user`); ");
    other = request();
    other
        .messages
        .extend([Message::Assistant { text: "a".into(), calls: vec![].into() }, Message::User("b".into())]);
    begins(
        &message(&replaying(&path), &other, &path).await,
        " differs in the number of messages (4, recorded 2); ",
    );
    other = request();
    other.tools = vec![json!({"type": "function"})].into();
    other.response_schema = Some(json!({}));
    begins(
        &message(&replaying(&path), &other, &path).await,
        " differs in the tools and the response schema; ",
    );
    let renamed = Replaying::open("other/model", Framing::default(), &path).unwrap();
    begins(
        &message(&renamed, &request(), &path).await,
        " differs in the model (`other/model`, recorded `scripted/model`); ",
    );
}

#[test]
fn a_file_of_another_kind_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.jsonl");
    std::fs::write(&path, "\n{\"v\":2}\n").unwrap();
    let error = Replaying::open("a/b", Framing::default(), &path).unwrap_err().to_string();
    assert!(error.contains("replies.jsonl:2: not a recorded reply of version 1"), "{error}");
}
