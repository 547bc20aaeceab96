//! The one door to models that make vectors of texts.
//!
//! Invariant: a list of vectors is whole or an error, in the order of the texts, and every vector is finite, of length 1
//! and as long as all others of its model.

mod embedder;
mod local;
mod ollama;
mod openai;
mod server;
mod vector;

use std::sync::Arc;

use futures::future::BoxFuture;
use reyn_core::embedding::ModelIdentity;

use crate::chat::ModelError;
use crate::openai::Endpoint;

pub use embedder::{CostWarning, Embedder, EmbedderOptions, EmbeddingEvent, OnEmbeddingEvent};
pub use local::LocalEmbedding;
pub use ollama::OllamaEmbedding;
pub use openai::OpenAiEmbedding;

/// Something that makes vectors of texts. Makes one attempt; [`Embedder`] makes more, and takes secrets out before.
pub trait EmbeddingModel: Send + Sync {
    /// `provider/model`, for people and the audit trail.
    fn name(&self) -> &str;

    /// Which model this is; `None` before the first answer of a server that does not say how long its vectors are.
    fn identity(&self) -> Option<ModelIdentity>;

    /// How many tokens a text has: the model's own count, or an estimate that is rather too high.
    fn tokens(&self, text: &str) -> usize;

    /// Whether somebody may want money for its work.
    fn may_cost(&self) -> bool;

    /// The vectors of texts, in their order. An empty list is an empty list. A text without a visible character has a
    /// vector too. Dropping the future cancels the work.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, ModelError>>;
}

impl<M: EmbeddingModel + ?Sized> EmbeddingModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn identity(&self) -> Option<ModelIdentity> {
        (**self).identity()
    }

    fn tokens(&self, text: &str) -> usize {
        (**self).tokens(text)
    }

    fn may_cost(&self) -> bool {
        (**self).may_cost()
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        (**self).embed(texts)
    }
}

/// The model of a server, asked the way that its provider takes. Nothing is opened before the first request.
#[must_use]
pub fn embedding_at(endpoint: Endpoint) -> Arc<dyn EmbeddingModel> {
    if endpoint.provider == OLLAMA {
        Arc::new(OllamaEmbedding::new(endpoint))
    } else {
        Arc::new(OpenAiEmbedding::new(endpoint))
    }
}

/// The provider that has an address of its own.
const OLLAMA: &str = "ollama";

/// Texts as vectors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embedded {
    /// One for each text, in their order, each of length 1.
    pub vectors: Vec<Vec<f32>>,
    /// For each text, whether it was longer than what the model takes and only its beginning is in the vector.
    pub is_cut: Vec<bool>,
    /// Tokens of all texts, where they were counted.
    pub tokens: Option<u64>,
}
