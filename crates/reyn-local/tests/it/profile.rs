//! The small-model profile on a real model. `cargo run -p reyn-local --example profile` measures it in full.

use reyn_core::conversation::Entry;
use reyn_core::tool_use::{Callable, Framing, Surface, ToolFormat, small_model};
use reyn_local::{LocalChat, LocalOptions};
use serde_json::json;

use crate::{OPENING_TOKENS, ask, open, options};

/// Prompt tokens of a person without patience: about 10 s of reading on two busy cores.
const STATIC_TOKENS_MAX: u64 = 400;

fn callable(name: &str, description: &str, required: &[&str], optional: &[&str]) -> Callable {
    let names = required.iter().chain(optional);
    let properties: serde_json::Map<_, _> =
        names.map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    Callable {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({"type": "object", "properties": properties, "required": required}),
    }
}

/// Five tools, those of the examples among them.
fn surface() -> Surface {
    Surface::new(vec![
        callable("list_directory", "List a folder.", &["path"], &[]),
        callable("read_file", "Read a text file.", &["path"], &["offset", "limit", "char_offset"]),
        callable("remember", "Keep a fact about the user for later.", &["text"], &[]),
        callable("web_search", "Search the web for current facts.", &["query"], &[]),
        callable("write_file", "Create a file or replace its content.", &["path", "content"], &[]),
    ])
}

#[tokio::test]
async fn the_static_prompt_with_five_tools_is_short() {
    let request = small_model::request(ToolFormat::Constrained, &surface(), &[], true);
    // A context that is too small tells the length without the prompt being read.
    let chat = LocalChat::open(LocalOptions { context_tokens: 256, ..options(None) }).unwrap();
    let message = ask(&chat, &request).await.unwrap_err().message;
    let tokens: u64 =
        message.split(' ').find_map(|word| word.parse().ok()).expect("the refusal says the length");
    assert!(tokens - OPENING_TOKENS < STATIC_TOKENS_MAX, "{message}");
}

#[tokio::test]
async fn a_request_to_read_a_file_becomes_a_call() {
    let log = [Entry::User { text: "Read the file notes.txt".into() }];
    let request = small_model::request(ToolFormat::Constrained, &surface(), &log, true);
    let reply = ask(&open(None), &request).await.unwrap();
    let reply = Framing { format: ToolFormat::Constrained }.read(reply, &|_| true);
    let calls: Vec<_> = reply.calls.iter().map(|call| (call.name.as_str(), call.args.to_json())).collect();
    assert_eq!(calls, [("read_file", r#"{"path":"notes.txt"}"#.to_owned())]);
}
