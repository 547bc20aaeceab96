//! What was indexed, and who makes vectors: the service behind the tools of knowledge.
//!
//! Calls to the store block, so they run on threads of their own.

mod remembered;
mod results;
mod rows;

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use reyn_core::embedding::ModelIdentity;
use reyn_core::knowledge::SourceLine;
use reyn_core::text::nearest;
use reyn_index::{IndexError, SourceName, VectorStore};

use crate::tool::ToolError;

pub use results::metadata_in_json;
pub(crate) use results::{Passage, listed};
pub(crate) use rows::{Line, Lines, REVISION_KEY, Row, filters, rows_to_chunks};

/// Who makes vectors of texts.
pub trait Embeddings: fmt::Debug + Send + Sync {
    /// The vectors of texts, in their order, and which model made them. `class` is a model class or `provider/model`; the
    /// configured one when unset. A local model that is not here may be fetched first, where `may_fetch` says so.
    fn embed<'a>(
        &'a self,
        class: Option<&'a str>,
        texts: Vec<String>,
        may_fetch: bool,
    ) -> BoxFuture<'a, Result<Vectors, NoVectors>>;
}

/// Vectors of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    /// Which model made them.
    pub model: ModelIdentity,
    /// One for each text.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens of all texts, where they were counted.
    pub tokens: Option<u64>,
    /// What is to be told of it, such as that the model was fetched.
    pub notice: Option<String>,
}

/// Why there are no vectors, in words, with what would help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoVectors(pub String);

/// What was indexed, and who makes vectors.
#[derive(Clone)]
pub struct Knowledge {
    store: Arc<dyn VectorStore>,
    embeddings: Arc<dyn Embeddings>,
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Knowledge").field("embeddings", &self.embeddings).finish_non_exhaustive()
    }
}

impl Knowledge {
    /// A store, and who makes the vectors that are kept in it.
    #[must_use]
    pub fn new(store: Arc<dyn VectorStore>, embeddings: Arc<dyn Embeddings>) -> Self {
        Self { store, embeddings }
    }

    /// Where passages are kept.
    #[must_use]
    pub fn store(&self) -> Arc<dyn VectorStore> {
        Arc::clone(&self.store)
    }

    /// Who makes vectors.
    #[must_use]
    pub fn embeddings(&self) -> Arc<dyn Embeddings> {
        Arc::clone(&self.embeddings)
    }

    /// The model that makes vectors where nobody names one; none where it cannot be had without fetching it.
    pub(crate) async fn usual_model(&self) -> Option<ModelIdentity> {
        let embedded = self.embeddings.embed(None, vec![String::new()], false).await;
        embedded.ok().map(|embedded| embedded.model)
    }

    /// The sources as a prompt names them; none where they cannot be listed. Blocks.
    #[must_use]
    pub fn sources(&self) -> Vec<SourceLine> {
        let sources = self.store.sources().unwrap_or_default().into_iter();
        let line = |entry: reyn_index::SourceEntry| SourceLine {
            name: entry.name.to_string(),
            description: crate::memory::readable(&entry.description).into_owned(),
            passages: entry.rows,
        };
        sources.filter(|entry| entry.rows > 0).map(line).collect()
    }

    /// Runs work on the store on a thread of its own.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn VectorStore) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let store = self.store();
        match tokio::task::spawn_blocking(move || work(store.as_ref())).await {
            Ok(result) => result,
            Err(error) => Err(ToolError::Defect(format!("the tool's code failed: {error}"))),
        }
    }
}

/// A source's name, checked.
pub(crate) fn source_name(name: &str) -> Result<SourceName, ToolError> {
    SourceName::new(name).map_err(|error| failed(&error))
}

/// What the store says, for the model: near names where a name is wrong, what to do where there is something.
pub(crate) fn failed(error: &IndexError) -> ToolError {
    let failed = ToolError::failed(error.to_string());
    if let IndexError::UnknownSource { name, sources } = error {
        let near = nearest(name, sources.iter().map(String::as_str));
        let hint = if sources.is_empty() {
            format!("the person can run `reyn index add {name} PATH`")
        } else {
            "use a source that exists".to_owned()
        };
        return failed.suggest(near).hint(hint);
    }
    if matches!(error, IndexError::Model { .. }) {
        return failed.hint("`reyn index rebuild` makes the vectors of a source anew");
    }
    failed
}
