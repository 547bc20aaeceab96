//! Talks to language models. Only this crate knows a provider's JSON.

mod api_key;
mod chat;
mod embedding;
pub mod files;
mod http_client;
mod local_server;
mod model_list;
mod off_thread;
mod openai;
mod providers;
mod replay;
mod retry;
mod server_address;
mod server_trust;
mod sse;

pub use api_key::ApiKey;
pub use chat::{ChatModel, ModelError, ModelErrorKind, StreamEvent};
pub use embedding::{
    CostWarning, Embedded, Embedder, EmbedderOptions, EmbeddingEvent, EmbeddingModel, LocalEmbedding,
    OllamaEmbedding, OnEmbeddingEvent, OpenAiEmbedding, embedding_at,
};
pub use local_server::{LocalServer, find_local_server, local_servers};
pub use model_list::{ListError, ListTimes, list_models};
pub use openai::{Endpoint, LlmTimeouts, OpenAiChat};
pub use providers::{Provider, Providers, ProvidersError, SuggestedModels};
pub use replay::{Recording, ReplayError, Replaying};
pub use retry::{RetryPolicy, Retrying, wait_before};
pub use server_address::ServerAddress;
pub use server_trust::{NamedBy, OriginError, ServerOrigin, ServerTrust, server_trust};
pub use sse::{SseDecoder, SseError, SseEvent};
