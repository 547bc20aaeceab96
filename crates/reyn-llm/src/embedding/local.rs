//! The model that runs in this process.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_core::embedding::ModelIdentity;
use reyn_embedding::{Encoded, SentenceEncoder};

use super::{Embedded, EmbeddingModel};
use crate::chat::{ModelError, ModelErrorKind};
use crate::off_thread::off_thread;

/// Texts for each thread between two looks at whether somebody still waits.
const TEXTS_PER_LOOK: usize = 32;

/// The local model: about 90 MB, on as many threads as it is given.
#[derive(Debug)]
pub struct LocalEmbedding {
    encoder: Arc<SentenceEncoder>,
    threads: usize,
}

impl LocalEmbedding {
    /// Loads the weights and the vocabulary, whose hashes are the caller's to have checked. `threads` make the vectors
    /// of one call.
    ///
    /// # Errors
    /// When a file cannot be read or is not the model's.
    pub async fn load(weights: PathBuf, vocabulary: PathBuf, threads: usize) -> Result<Self, ModelError> {
        let loaded = off_thread(move |_| {
            SentenceEncoder::load(&weights, &vocabulary).map_err(|error| io::Error::other(error.to_string()))
        });
        let encoder = loaded.await.map_err(|error| failed(&error))?;
        Ok(Self { encoder: Arc::new(encoder), threads: threads.max(1) })
    }

    async fn encoded(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let (encoder, threads, texts) = (Arc::clone(&self.encoder), self.threads, texts.to_vec());
        let encoded = off_thread(move |wanted| {
            let mut encoded = Vec::with_capacity(texts.len());
            for few in texts.chunks(threads * TEXTS_PER_LOOK) {
                wanted.check()?;
                let few: Vec<&str> = few.iter().map(String::as_str).collect();
                encoded.extend(encoder.encode_batch_counted(&few, threads));
            }
            Ok(encoded)
        });
        let mut done = Embedded { tokens: Some(0), ..Embedded::default() };
        for Encoded { vector, tokens, is_cut } in encoded.await.map_err(|error| failed(&error))? {
            done.vectors.push(vector);
            done.is_cut.push(is_cut);
            done.tokens = done.tokens.map(|sum| sum + tokens as u64);
        }
        Ok(done)
    }
}

fn failed(error: &io::Error) -> ModelError {
    ModelError::new(ModelErrorKind::Local, format!("the local embedding model failed: {error}"))
}

impl EmbeddingModel for LocalEmbedding {
    fn name(&self) -> &str {
        &self.encoder.identity().name
    }

    fn identity(&self) -> Option<ModelIdentity> {
        Some(self.encoder.identity().clone())
    }

    fn tokens(&self, text: &str) -> usize {
        self.encoder.tokens(text)
    }

    fn may_cost(&self) -> bool {
        false
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        self.encoded(texts).boxed()
    }
}
