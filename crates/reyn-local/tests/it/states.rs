//! What a model keeps of what it has read: between rounds in memory, between runs on disk.

use std::fs;
use std::path::{Path, PathBuf};

use reyn_core::limits::LOCAL_STATE_FILES_MAX;
use reyn_core::request::{ChatRequest, Message};
use serde_json::json;
use tempfile::TempDir;

use crate::{OPENING_TOKENS, ask, open, request};

/// The static part alone, written to `folder`; returns how many tokens it has.
async fn write_state(folder: &Path) -> u64 {
    let mut only_static = request(&[], None);
    only_static.output_tokens_max = Some(1);
    ask(&open(Some(folder)), &only_static).await.unwrap().usage.prompt_tokens - OPENING_TOKENS
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_later_run_starts_from_the_static_prompt_and_replies_the_same() {
    let folder = TempDir::new().unwrap();
    let static_tokens = write_state(folder.path()).await;
    let request = request(&["Say hello."], None);
    let (cold, warm) =
        (ask(&open(None), &request).await.unwrap(), ask(&open(Some(folder.path())), &request).await.unwrap());
    assert_eq!((cold.usage.cached_tokens, warm.usage.cached_tokens), (0, static_tokens));
    assert_eq!(cold.text, warm.text);
}

#[tokio::test]
async fn a_damaged_state_is_ignored_and_written_again() {
    let folder = TempDir::new().unwrap();
    write_state(folder.path()).await;
    let [file] = files(folder.path()).try_into().unwrap();
    let sound = fs::read(&file).unwrap();
    let mut flipped = sound.clone();
    flipped[sound.len() / 2] ^= 1;
    for damaged in [flipped, sound[..sound.len() / 2].to_vec(), b"short".to_vec()] {
        fs::write(&file, damaged).unwrap();
        write_state(folder.path()).await;
        assert_eq!(files(folder.path()), std::slice::from_ref(&file));
        assert!(fs::read(&file).unwrap() == sound);
    }
}

#[tokio::test]
async fn only_the_newest_states_are_kept() {
    let folder = TempDir::new().unwrap();
    let chat = open(Some(folder.path()));
    for at in 0..=LOCAL_STATE_FILES_MAX {
        let text = format!("Prompt {at}");
        let request = ChatRequest {
            messages: vec![Message::System(text.into()), Message::User("hi".into())],
            static_messages: 1,
            output_tokens_max: Some(1),
            ..ChatRequest::default()
        };
        ask(&chat, &request).await.unwrap();
    }
    assert_eq!(files(folder.path()).len(), LOCAL_STATE_FILES_MAX);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_costs_no_reply() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let said = request(&["Say done."], Some(json!({"const": "done"})));
    assert_eq!(ask(&open(Some(&file)), &said).await.unwrap().text, "\"done\"");
}

#[tokio::test]
async fn the_next_round_reads_only_what_is_new() {
    let chat = open(None);
    let schema = json!({
        "type": "object",
        "properties": {"tool": {"const": "read_file"}, "args": {"const": {"path": "a.txt"}}},
        "required": ["tool", "args"],
        "additionalProperties": false,
    });
    let mut request = request(&["What is in a.txt?"], Some(schema));
    let first = ask(&chat, &request).await.unwrap();
    request.messages.push(Message::Assistant { text: first.text.clone().into(), calls: (&[]).into() });
    request.messages.push(Message::User("Result of read_file:\nbuy milk".into()));
    let second = ask(&chat, &request).await.unwrap();
    assert_eq!(second.usage.cached_tokens, first.usage.prompt_tokens + first.usage.completion_tokens);
}
