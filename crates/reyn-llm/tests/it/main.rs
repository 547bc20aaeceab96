//! The model clients against real servers on this machine.

#![allow(clippy::unwrap_used, reason = "helpers of tests stand outside of test functions here")]

mod embedding;
mod failures;
mod local_server;
mod replay;
mod replies;
mod retry;

use std::time::Duration;

use reyn_core::request::{ChatReply, ChatRequest, Message};
use reyn_core::settings::ModelOptions;
use reyn_core::tool_use::Framing;
use reyn_llm::{
    ApiKey, ChatModel, Endpoint, LlmTimeouts, ModelError, OpenAiChat, ServerAddress, StreamEvent,
};

const KEY: &str = "sk-very-secret/0123";

fn endpoint(api_base: &str) -> Endpoint {
    Endpoint {
        provider: "openai".into(),
        model: "m".into(),
        address: ServerAddress::new(api_base),
        key: ApiKey::new(KEY),
        options: ModelOptions::default(),
        framing: Framing::default(),
        timeouts: LlmTimeouts {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(20),
            idle: Duration::from_secs(20),
        },
    }
}

fn model(api_base: &str) -> OpenAiChat {
    OpenAiChat::loopback_only(endpoint(api_base))
}

fn request() -> ChatRequest<'static> {
    ChatRequest {
        messages: vec![Message::System("s".into()), Message::User("hi".into())],
        ..ChatRequest::default()
    }
}

/// Asks once and returns the reply with what was heard while it came: text as it is, `[retry N]` for retries.
async fn ask(model: &dyn ChatModel) -> (Result<ChatReply, ModelError>, Vec<String>) {
    let mut heard = vec![];
    let request = request();
    let reply = model
        .reply(&request, &mut |event| {
            heard.push(match event {
                StreamEvent::Text(text) => text.to_owned(),
                StreamEvent::Retry { attempt, .. } => format!("[retry {attempt}]"),
                StreamEvent::Progress(words) => format!("[{words}]"),
            });
        })
        .await;
    (reply, heard)
}
