//! A conversation as tokens, in the ChatML form that the model was trained on.

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use reyn_core::request::Message;
use reyn_llm::{ModelError, ModelErrorKind};

/// The tokens of a conversation that ends where the model speaks.
pub(crate) struct Prompt {
    /// All of them.
    pub(crate) tokens: Vec<LlamaToken>,
    /// How many of the first stay the same for the whole session.
    pub(crate) static_tokens: usize,
}

/// One message, owned, for the model's thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    role: &'static str,
    text: String,
}

impl Turn {
    /// A result stands as the person's message; calls travel in the text.
    pub(crate) fn of(message: &Message<'_>) -> Self {
        let (role, text) = match message {
            Message::System(text) => ("system", text),
            Message::User(text) | Message::ToolResult { text, .. } => ("user", text),
            Message::Assistant { text, .. } => ("assistant", text),
        };
        Self { role, text: text.clone().into_owned() }
    }
}

/// Writes the prompt. Only the markers between messages become control tokens, whatever a text says.
pub(crate) fn prompt(model: &LlamaModel, turns: &[Turn], static_turns: usize) -> Result<Prompt, ModelError> {
    let (start, end) = (marker(model, "<|im_start|>")?, marker(model, "<|im_end|>")?);
    let line_end = plain(model, "\n");
    let mut tokens = vec![];
    let mut static_tokens = 0;
    for (at, turn) in turns.iter().enumerate() {
        tokens.push(start);
        tokens.extend(plain(model, &format!("{}\n{}", turn.role, turn.text)));
        tokens.push(end);
        tokens.extend(&line_end);
        if at + 1 == static_turns {
            static_tokens = tokens.len();
        }
    }
    tokens.push(start);
    tokens.extend(plain(model, "assistant\n"));
    Ok(Prompt { tokens, static_tokens })
}

/// Tokens of a text in which nothing is a control token.
fn plain(model: &LlamaModel, text: &str) -> Vec<LlamaToken> {
    model.vocab().tokenize(text.as_bytes(), false, false)
}

fn marker(model: &LlamaModel, text: &str) -> Result<LlamaToken, ModelError> {
    match model.vocab().tokenize(text.as_bytes(), false, true).as_slice() {
        [token] if model.vocab().is_control(*token) => Ok(*token),
        _ => Err(ModelError::new(
            ModelErrorKind::Local,
            format!("this model does not know the ChatML marker `{text}`; use one of `reyn models list`"),
        )),
    }
}
