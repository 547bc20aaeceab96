//! The local model, end to end. Needs the file of the 0.5 B model: `reyn models pull qwen2.5-coder-0.5b`.

#![allow(clippy::unwrap_used, reason = "helpers of tests stand outside of test functions here")]

mod profile;
mod replies;
mod states;

use std::path::{Path, PathBuf};

use reyn_core::request::{ChatReply, ChatRequest, Message};
use reyn_llm::files::{Catalogue, ModelFile};
use reyn_llm::{ChatModel as _, ModelError, StreamEvent};
use reyn_local::{LocalChat, LocalOptions};
use serde_json::Value;

/// Tokens of `<|im_start|>assistant` and the line end, where the model begins to speak.
const OPENING_TOKENS: u64 = 3;

/// The model of the tests.
fn model() -> &'static ModelFile {
    Catalogue::bundled().model("qwen2.5-coder-0.5b").unwrap()
}

/// The model in `$REYN_TEST_MODEL_DIR` or in the usual cache, with one thread and a small context.
fn options(state_dir: Option<&Path>) -> LocalOptions {
    let folder = std::env::var_os("REYN_TEST_MODEL_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| std::env::home_dir().expect("a home folder").join(".cache/reyn/models"));
    let model = model();
    let model_path = folder.join(&model.first().sha256);
    assert!(
        model_path.is_file(),
        "these tests need `{}`; fetch it with `reyn models pull {}`, or name its folder in REYN_TEST_MODEL_DIR",
        model_path.display(),
        model.id
    );
    LocalOptions {
        model_path,
        model_id: model.id.clone(),
        sha256: model.first().sha256.clone(),
        threads: 1,
        context_tokens: 512,
        state_dir: state_dir.map(Path::to_owned),
    }
}

fn open(state_dir: Option<&Path>) -> LocalChat {
    LocalChat::open(options(state_dir)).unwrap()
}

/// A short static prompt and what the person says.
fn request<'a>(said: &[&'a str], schema: Option<Value>) -> ChatRequest<'a> {
    let system = Message::System("Reply with one word.".into());
    let said = said.iter().map(|text| Message::User((*text).into()));
    ChatRequest {
        messages: std::iter::once(system).chain(said).collect(),
        static_messages: 1,
        response_schema: schema,
        output_tokens_max: Some(16),
        ..ChatRequest::default()
    }
}

async fn ask(chat: &LocalChat, request: &ChatRequest<'_>) -> Result<ChatReply, ModelError> {
    chat.reply(request, &mut |_| {}).await
}

/// The reply with the pieces it came in.
async fn ask_in_pieces(chat: &LocalChat, request: &ChatRequest<'_>) -> (ChatReply, Vec<String>) {
    let mut pieces = vec![];
    let mut on_event = |event: StreamEvent<'_>| {
        if let StreamEvent::Text(piece) = event {
            pieces.push(piece.to_owned());
        }
    };
    let reply = chat.reply(request, &mut on_event).await.unwrap();
    (reply, pieces)
}
