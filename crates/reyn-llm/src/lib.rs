//! Talks to language models. Only this crate knows a provider's JSON.

mod chat;

pub use chat::{ChatModel, ModelError, ModelErrorKind, StreamEvent};
