//! A model behind an OpenAI-compatible `/embeddings` address.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_core::embedding::ModelIdentity;
use serde::Deserialize;

use super::server::{Answer, EmbeddingServer, estimated_tokens, sendable};
use super::vector::WireVector;
use super::{Embedded, EmbeddingModel};
use crate::chat::ModelError;
use crate::openai::Endpoint;
use crate::openai::wire_error::ReadError;

/// A model behind an OpenAI-compatible server.
#[derive(Debug)]
pub struct OpenAiEmbedding {
    server: EmbeddingServer,
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Item>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    index: Option<usize>,
    embedding: WireVector,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
}

impl OpenAiEmbedding {
    /// A model at an endpoint. Nothing is opened or loaded before the first request.
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
        let mut url = self.server.url()?;
        url.path_segments_mut()
            .expect("an address with http or https has a path")
            .pop_if_empty()
            .push("embeddings");
        let answer = self.server.post(url, &self.server.body(&sent), in_order).await?;
        self.server.checked(answer, is_cut)
    }
}

/// The vectors in the order of the texts. Servers that number none of them send them in that order.
fn in_order(reply: Reply) -> Result<Answer, ReadError> {
    let tokens = reply.usage.and_then(|usage| usage.prompt_tokens.or(usage.total_tokens));
    let count = reply.data.len();
    if reply.data.iter().all(|item| item.index.is_none()) {
        let vectors = reply.data.into_iter().map(|item| item.embedding).collect();
        return Ok(Answer { vectors, tokens });
    }
    let mut places: Vec<Option<WireVector>> = vec![None; count];
    for Item { index, embedding } in reply.data {
        let place = index.and_then(|index| places.get_mut(index)).filter(|place| place.is_none());
        let Some(place) = place else {
            let why = format!("the vectors are not numbered from 0 to {}", count - 1);
            return Err(ReadError::Malformed(why));
        };
        *place = Some(embedding);
    }
    Ok(Answer { vectors: places.into_iter().flatten().collect(), tokens })
}

impl EmbeddingModel for OpenAiEmbedding {
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
