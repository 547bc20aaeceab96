//! A model that makes vectors by a rule that a test can follow, and fails as its script says.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reyn_core::embedding::ModelIdentity;
use reyn_llm::{Embedded, EmbeddingModel, ModelError};

/// Counts words: texts that share words have near vectors. A blank text has a vector of its own.
#[derive(Debug)]
pub struct ScriptedEmbedding {
    identity: ModelIdentity,
    may_cost: bool,
    failures: Mutex<VecDeque<ModelError>>,
    batches: Mutex<Vec<Vec<String>>>,
}

impl ScriptedEmbedding {
    /// A model whose vectors have so many numbers, at least 2.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        let identity =
            ModelIdentity { name: "scripted/words".to_owned(), revision: Some("1".to_owned()), dimensions };
        Self { identity, may_cost: false, failures: Mutex::default(), batches: Mutex::default() }
    }

    /// The same model under the name of another revision.
    #[must_use]
    pub fn revision(mut self, revision: &str) -> Self {
        self.identity.revision = Some(revision.to_owned());
        self
    }

    /// The same model, for which somebody wants money.
    #[must_use]
    pub fn paid(self) -> Self {
        Self { may_cost: true, ..self }
    }

    /// Fails its first attempts so, in order.
    #[must_use]
    pub fn failing(self, failures: impl IntoIterator<Item = ModelError>) -> Self {
        Self { failures: Mutex::new(failures.into_iter().collect()), ..self }
    }

    /// The lists of texts that it was asked for, failed attempts included, in order.
    #[must_use]
    pub fn batches(&self) -> Vec<Vec<String>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).push(texts.to_vec());
        if let Some(error) = self.failures.lock().unwrap_or_else(PoisonError::into_inner).pop_front() {
            return Err(error);
        }
        let tokens = texts.iter().map(|text| self.tokens(text) as u64).sum();
        Ok(Embedded {
            vectors: texts.iter().map(|text| vector(text, self.identity.dimensions)).collect(),
            is_cut: vec![false; texts.len()],
            tokens: Some(tokens),
        })
    }
}

/// How often each word stands in a text, the place of a word given by its bytes; of length 1.
fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut counts = vec![0.0_f32; dimensions];
    for word in text.split_whitespace() {
        let place = word.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        counts[1 + place % (dimensions - 1)] += 1.0;
    }
    if counts.iter().all(|count| *count == 0.0) {
        counts[0] = 1.0;
    }
    let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
    counts.iter().map(|count| count / length).collect()
}

impl EmbeddingModel for ScriptedEmbedding {
    fn name(&self) -> &str {
        &self.identity.name
    }

    fn identity(&self) -> Option<ModelIdentity> {
        Some(self.identity.clone())
    }

    fn tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn may_cost(&self) -> bool {
        self.may_cost
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        futures::future::ready(self.answer(texts)).boxed()
    }
}
