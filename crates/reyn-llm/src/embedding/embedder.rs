//! Texts of any number as vectors: in batches, again when a batch failed, without secrets.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use reyn_core::embedding::ModelIdentity;
use reyn_core::limits::EMBEDDING_BATCH_BYTES_MAX;
use reyn_core::redaction::redact_secrets;
use reyn_core::settings::EmbeddingSettings;
use tokio::time::timeout;

use super::{Embedded, EmbeddingModel};
use crate::chat::{ModelError, ModelErrorKind};
use crate::retry::{RetryPolicy, system_random};

/// How a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbedderOptions {
    /// Texts of one batch; their bytes are bounded by [`EMBEDDING_BATCH_BYTES_MAX`] beside.
    pub batch_texts_max: usize,
    /// Batches under way at a time.
    pub batches_at_once: usize,
    /// How often a batch is tried.
    pub retries: RetryPolicy,
    /// How long one attempt of a batch may take.
    pub batch_time_max: Duration,
    /// Texts of one work above which a model that may cost money is warned of.
    pub texts_warned_of: u64,
}

impl From<&EmbeddingSettings> for EmbedderOptions {
    fn from(settings: &EmbeddingSettings) -> Self {
        Self {
            batch_texts_max: settings.batch_size as usize,
            batches_at_once: settings.max_concurrent_batches as usize,
            retries: RetryPolicy {
                attempts_max: settings.max_retries.saturating_add(1),
                backoff: settings.retry_backoff,
            },
            batch_time_max: Duration::from_secs(settings.timeout),
            texts_warned_of: settings.cost_warn_threshold,
        }
    }
}

/// What happens while vectors are made.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbeddingEvent<'a> {
    /// Before the first batch: so many texts go to a model that may cost money.
    Cost(CostWarning<'a>),
    /// An attempt of a batch failed; the next one begins after `wait`.
    Retry {
        /// Which attempt failed, from 1.
        attempt: u32,
        /// Why.
        error: &'a ModelError,
        /// How long until the next one.
        wait: Duration,
    },
    /// A batch of so many texts is done. Batches end in any order.
    BatchDone {
        /// Its texts.
        texts: usize,
    },
}

/// Many texts for a model that may cost money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostWarning<'a> {
    /// `provider/model`.
    pub model: &'a str,
    /// How many there are.
    pub texts: u64,
    /// `embedding.cost_warn_threshold`.
    pub texts_warned_of: u64,
}

/// Hears what happens.
pub type OnEmbeddingEvent<'a> = dyn Fn(EmbeddingEvent<'_>) + Sync + 'a;

/// The one way from texts to vectors.
///
/// Secrets are taken out of every text first, also for the model in this process: vectors are kept, and what a text
/// means can be guessed from its vector. So the same text has the same vector whichever model is asked.
pub struct Embedder {
    model: Arc<dyn EmbeddingModel>,
    options: EmbedderOptions,
    random: fn() -> f64,
}

impl Embedder {
    /// Asks this model.
    #[must_use]
    pub fn new(model: Arc<dyn EmbeddingModel>, options: EmbedderOptions) -> Self {
        Self::with_random(model, options, system_random)
    }

    /// The same; `random` gives numbers from 0 to 1.
    #[must_use]
    pub fn with_random(
        model: Arc<dyn EmbeddingModel>,
        options: EmbedderOptions,
        random: fn() -> f64,
    ) -> Self {
        Self { model, options, random }
    }

    /// `provider/model`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.model.name()
    }

    /// Which model it is; `None` before the first answer of a server that does not say how long its vectors are.
    #[must_use]
    pub fn identity(&self) -> Option<ModelIdentity> {
        self.model.identity()
    }

    /// How many tokens a text has, rather too many than too few.
    #[must_use]
    pub fn tokens(&self, text: &str) -> usize {
        self.model.tokens(text)
    }

    /// What is to be said before so many texts are embedded. [`Self::embed`] says it of its own texts; whoever calls
    /// that piece by piece asks for the whole.
    #[must_use]
    pub fn cost_warning(&self, texts: u64) -> Option<CostWarning<'_>> {
        let texts_warned_of = self.options.texts_warned_of;
        let is_said = self.model.may_cost() && texts > texts_warned_of;
        is_said.then(|| CostWarning { model: self.model.name(), texts, texts_warned_of })
    }

    /// The vectors of texts, in their order; none for an empty list, which asks nobody.
    ///
    /// Dropping the future cancels every batch. The first batch that fails for good ends the others.
    ///
    /// # Errors
    /// When a batch failed for good: every text has a vector, or none is given.
    pub async fn embed(
        &self,
        texts: &[String],
        on_event: &OnEmbeddingEvent<'_>,
    ) -> Result<Embedded, ModelError> {
        if let Some(warning) = self.cost_warning(texts.len() as u64) {
            on_event(EmbeddingEvent::Cost(warning));
        }
        let batches = batches(texts, self.options.batch_texts_max.max(1));
        let work = stream::iter(batches).map(|batch| self.batch(&texts[batch], on_event));
        let done: Vec<Embedded> = work.buffered(self.options.batches_at_once.max(1)).try_collect().await?;
        let tokens = done.iter().map(|one| one.tokens).sum();
        let mut all = Embedded { tokens, ..Embedded::default() };
        for one in done {
            all.vectors.extend(one.vectors);
            all.is_cut.extend(one.is_cut);
        }
        Ok(all)
    }

    fn batch<'a>(
        &'a self,
        texts: &'a [String],
        on_event: &'a OnEmbeddingEvent<'_>,
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        async move {
            let redacted: Arc<[String]> =
                texts.iter().map(|text| redact_secrets(text).into_owned()).collect();
            let attempt = || self.attempt(Arc::clone(&redacted));
            let on_retry = |attempt, error: &ModelError, wait| {
                on_event(EmbeddingEvent::Retry { attempt, error, wait });
            };
            let embedded = self.options.retries.run(self.random, &attempt, &on_retry).await?;
            on_event(EmbeddingEvent::BatchDone { texts: texts.len() });
            Ok(embedded)
        }
        .boxed()
    }

    fn attempt(&self, texts: Arc<[String]>) -> BoxFuture<'_, Result<Embedded, ModelError>> {
        async move {
            let embedded = timeout(self.options.batch_time_max, self.model.embed(&texts))
                .await
                .map_err(|_| self.too_slow())??;
            let (vectors, expected) = (embedded.vectors.len(), texts.len());
            if vectors != expected || embedded.is_cut.len() != expected {
                let message = format!("`{}` gave {vectors} vectors for {expected} texts", self.model.name());
                return Err(ModelError::new(ModelErrorKind::Protocol, message));
            }
            Ok(embedded)
        }
        .boxed()
    }

    fn too_slow(&self) -> ModelError {
        let message = format!(
            "`{}` did not finish a batch within {} s; `embedding.timeout` raises the limit, and a smaller \
             `embedding.batch_size` makes a batch quicker",
            self.model.name(),
            self.options.batch_time_max.as_secs_f64()
        );
        ModelError::new(ModelErrorKind::FirstByteTimeout, message)
    }
}

/// Texts in batches, within both bounds; a text that is too long for one makes a batch alone.
fn batches(texts: &[String], texts_max: usize) -> Vec<Range<usize>> {
    let mut batches = vec![];
    let (mut start, mut bytes) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        let is_full = at - start == texts_max || bytes + text.len() > EMBEDDING_BATCH_BYTES_MAX;
        if at > start && is_full {
            batches.push(start..at);
            (start, bytes) = (at, 0);
        }
        bytes += text.len();
    }
    if start < texts.len() {
        batches.push(start..texts.len());
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_to_both_bounds() {
        let long = EMBEDDING_BATCH_BYTES_MAX;
        for (lengths, texts_max, expected) in [
            (vec![], 2, vec![]),
            (vec![1; 5], 2, vec![0..2, 2..4, 4..5]),
            (vec![1; 4], 2, vec![0..2, 2..4]),
            (vec![0, 0, 1], 2, vec![0..2, 2..3]),
            (vec![1, long, 1], 100, vec![0..1, 1..2, 2..3]),
            (vec![long + 1, long + 1], 100, vec![0..1, 1..2]),
            (vec![long / 2, long / 2, 1], 100, vec![0..2, 2..3]),
        ] {
            let texts: Vec<String> = lengths.iter().map(|length| "a".repeat(*length)).collect();
            assert_eq!(batches(&texts, texts_max), expected, "{lengths:?}");
        }
    }
}
