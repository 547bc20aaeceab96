//! A model of Ollama, by its own address: it says how many tokens it read, and older versions have no other.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::Url;
use reyn_core::embedding::ModelIdentity;
use serde::Deserialize;

use super::server::{Answer, EmbeddingServer, estimated_tokens, sendable};
use super::vector::WireVector;
use super::{Embedded, EmbeddingModel};
use crate::chat::ModelError;
use crate::openai::Endpoint;

/// A model of Ollama. Ollama itself cuts what is longer than the model takes and does not say so.
#[derive(Debug)]
pub struct OllamaEmbedding {
    server: EmbeddingServer,
}

#[derive(Deserialize)]
struct Reply {
    embeddings: Vec<WireVector>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
}

impl OllamaEmbedding {
    /// A model at an endpoint, whose address may end in `/v1` as it does for chat. Nothing is opened before the first
    /// request.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self { server: EmbeddingServer::new(endpoint, false) }
    }

    /// Like [`Self::new`], but refuses every address that is not on this machine, for tests.
    #[must_use]
    pub fn loopback_only(endpoint: Endpoint) -> Self {
        Self { server: EmbeddingServer::new(endpoint, true) }
    }

    async fn attempt(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        if texts.is_empty() {
            return Ok(Embedded::default());
        }
        let (sent, is_cut) = sendable(texts);
        let url = embed_address(self.server.url()?);
        let read = |reply: Reply| Ok(Answer { vectors: reply.embeddings, tokens: reply.prompt_eval_count });
        let answer = self.server.post(url, &self.server.body(&sent), read).await?;
        self.server.checked(answer, is_cut)
    }
}

/// `…/api/embed` beside the `/v1` of an address.
fn embed_address(mut url: Url) -> Url {
    let is_compatible = url.path().trim_end_matches('/').ends_with("/v1");
    let mut path = url.path_segments_mut().expect("an address with http or https has a path");
    path.pop_if_empty();
    if is_compatible {
        path.pop();
    }
    path.extend(["api", "embed"]);
    drop(path);
    url
}

impl EmbeddingModel for OllamaEmbedding {
    fn name(&self) -> &str {
        self.server.name()
    }

    fn identity(&self) -> Option<ModelIdentity> {
        self.server.identity()
    }

    fn tokens(&self, text: &str) -> usize {
        estimated_tokens(text)
    }

    fn may_cost(&self) -> bool {
        self.server.may_cost()
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        self.attempt(texts).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_stands_beside_the_one_for_chat() {
        for (address, expected) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/api/embed"),
            ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/api/embed"),
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434/api/embed"),
            ("http://h/ollama/v1", "http://h/ollama/api/embed"),
            ("http://h/ollama", "http://h/ollama/api/embed"),
        ] {
            assert_eq!(embed_address(Url::parse(address).unwrap()).as_str(), expected);
        }
    }
}
