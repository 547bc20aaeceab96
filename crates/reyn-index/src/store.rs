//! What a store of text does. Two stores that answer these calls alike are interchangeable.

use std::collections::BTreeMap;

use reyn_core::embedding::ModelIdentity;

use crate::bounds::TOP_MAX;
use crate::chunk::{Chunk, Metadata};
use crate::error::IndexError;
use crate::filter::Filters;
use crate::source_name::SourceName;

/// What happens to the rows that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteMode {
    /// They stay; a row whose content hash is there already is skipped.
    #[default]
    Append,
    /// They go, in the same transaction. The source takes the model of this write.
    Replace,
}

/// How rows are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// What happens to the rows that are there.
    pub mode: WriteMode,
    /// The model behind the vectors. Without one no row has a vector, and the rows are found by words.
    pub model: Option<ModelIdentity>,
    /// What the source is, for people and prompts; `None` keeps what is known.
    pub description: Option<String>,
    /// Where its texts come from; `None` keeps what is known.
    pub path: Option<String>,
    /// Leaves the rows out of the keyword index: half the work, and vectors alone find them.
    pub is_without_words: bool,
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Rows that are new.
    pub written: usize,
    /// Rows whose content hash was there, or came twice.
    pub skipped: usize,
}

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// The words; used by keyword and hybrid search.
    pub text: &'a str,
    /// Its embedding and the model behind it; used by vector and hybrid search.
    pub vector: Option<(&'a ModelIdentity, &'a [f32])>,
    /// How many rows at most, 1 to [`TOP_MAX`].
    pub top: usize,
    /// What the rows have to be, applied before ranking.
    pub filters: &'a Filters,
}

impl Query<'_> {
    /// Refuses one beyond the bounds.
    pub(crate) fn checked(&self) -> Result<(), IndexError> {
        if self.top == 0 || self.top > TOP_MAX {
            return Err(IndexError::TooMuch {
                what: "rows of a result (at least 1)",
                is: self.top,
                max: TOP_MAX,
            });
        }
        Ok(())
    }
}

/// Which halves of a search ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    /// Vectors and words.
    Hybrid,
    /// Words alone: there was no vector to compare, in the query or in the source.
    Keyword,
    /// Vectors alone: there was no word to look up.
    Vector,
}

impl SearchMode {
    /// The name in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Keyword => "keyword",
            Self::Vector => "vector",
        }
    }
}

/// A row that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its number in the source; ties in score are broken by it.
    pub id: i64,
    /// The text.
    pub text: String,
    /// What is known about it.
    pub metadata: Metadata,
    /// How well it fits: the cosine for vectors alone, otherwise 0 to 1.
    pub score: f32,
}

impl Hit {
    /// Its tokens; when they were not counted, one for every four characters.
    pub(crate) fn tokens(&self) -> u64 {
        match self.metadata.size_tokens {
            0 => (self.text.chars().count() as u64).div_ceil(4),
            counted => counted,
        }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The rows, best first.
    pub hits: Vec<Hit>,
    /// Which halves ran.
    pub mode: SearchMode,
}

/// Which rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal<'a> {
    /// Those of this path, and of everything below it when it is a folder. An empty one: those without a path.
    Path(&'a str),
    /// Those with these content hashes.
    Hashes(&'a [String]),
}

/// What is known about a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Its rows.
    pub rows: u64,
    /// Rows that have a vector.
    pub vectors: u64,
    /// Different paths.
    pub paths: u64,
    /// The sum of the rows' tokens, as far as they were counted.
    pub tokens: u64,
    /// The model behind the vectors, once there is one.
    pub model: Option<ModelIdentity>,
    /// When it was written last, in UTC.
    pub last_indexed: Option<String>,
    /// Bytes on disk.
    pub bytes: u64,
    /// Rows of an unfinished rebuild.
    pub rebuilt_rows: Option<u64>,
}

/// A source as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEntry {
    /// Its name.
    pub name: SourceName,
    /// What it is.
    pub description: String,
    /// Where its texts come from.
    pub path: String,
    /// Its rows.
    pub rows: u64,
    /// When it was written last, in UTC.
    pub last_indexed: Option<String>,
    /// The name of the model behind the vectors.
    pub embedding_model: Option<String>,
}

/// Keeps and finds text. Calls block; one value serves many threads.
///
/// Every write is one transaction: when a call returns, its rows outlive the process, and when it fails,
/// nothing of it is there. Only a description or path of the source can fail to be kept after the rows were.
pub trait VectorStore: Send + Sync {
    /// Writes rows; makes the source when it is new.
    ///
    /// # Errors
    /// [`IndexError::Model`] when the source holds another model's vectors, [`IndexError::Vector`] and
    /// [`IndexError::Row`] for rows that cannot be stored, and what the database says.
    fn write(
        &self,
        source: &SourceName,
        rows: &[Chunk],
        options: &WriteOptions,
    ) -> Result<Written, IndexError>;

    /// The rows nearest to the query's vector, by cosine.
    ///
    /// # Errors
    /// [`IndexError::UnknownSource`], [`IndexError::Model`], [`IndexError::Vector`].
    fn find_by_vector(&self, source: &SourceName, query: &Query<'_>) -> Result<Vec<Hit>, IndexError>;

    /// The rows that share the query's words, by how telling those are.
    ///
    /// # Errors
    /// [`IndexError::UnknownSource`].
    fn find_by_words(&self, source: &SourceName, query: &Query<'_>) -> Result<Vec<Hit>, IndexError>;

    /// The rows that fit the query best, by its vector and its words, as far as there are any.
    ///
    /// # Errors
    /// [`IndexError::UnknownSource`], [`IndexError::Model`], [`IndexError::Vector`].
    fn find(&self, source: &SourceName, query: &Query<'_>) -> Result<Found, IndexError>;

    /// Rows in the order of path, place and number, until their tokens reach `tokens_max`; score 0.
    ///
    /// Rows whose tokens were not counted count a token for every four characters.
    ///
    /// # Errors
    /// [`IndexError::UnknownSource`].
    fn enumerate(
        &self,
        source: &SourceName,
        filters: &Filters,
        tokens_max: u64,
    ) -> Result<Vec<Hit>, IndexError>;

    /// Removes rows and returns how many; none is no error.
    ///
    /// # Errors
    /// [`IndexError::UnknownSource`].
    fn remove(&self, source: &SourceName, removal: Removal<'_>) -> Result<u64, IndexError>;

    /// The content hashes of every path, for indexing only what changed. A source that is not there has none.
    ///
    /// # Errors
    /// What the database says.
    fn content_hashes(&self, source: &SourceName) -> Result<BTreeMap<String, Vec<String>>, IndexError>;

    /// Removes the source with everything in it and returns how many rows it had; none when it is not there.
    ///
    /// # Errors
    /// What the file system or the database says.
    fn drop_source(&self, source: &SourceName) -> Result<u64, IndexError>;

    /// What is known about a source.
    ///
    /// # Errors
    /// [`IndexError::UnknownSource`].
    fn stats(&self, source: &SourceName) -> Result<Stats, IndexError>;

    /// All sources by name. One that cannot be opened is listed with what was last known about it.
    ///
    /// # Errors
    /// [`IndexError::Manifest`], [`IndexError::Io`].
    fn sources(&self) -> Result<Vec<SourceEntry>, IndexError>;

    /// Begins to fill a new index beside the old one, which answers until [`Rebuild::finish`]. An unfinished
    /// rebuild for the same model is taken up where it stopped; one for another model is thrown away.
    ///
    /// # Errors
    /// [`IndexError::Busy`] when somebody else indexes this source, [`IndexError::UnknownSource`].
    fn rebuild<'a>(
        &'a self,
        source: &SourceName,
        model: Option<&ModelIdentity>,
    ) -> Result<Box<dyn Rebuild + 'a>, IndexError>;
}

/// A new index that is being filled beside the old one. Left unfinished it keeps what it has for the next.
pub trait Rebuild: Send {
    /// Rows of the old index that this rebuild has not seen, at most `rows_max`, without their vectors: what
    /// is to be embedded again. Empty when all were seen.
    ///
    /// # Errors
    /// What the database says.
    fn pending(&mut self, rows_max: usize) -> Result<Vec<Chunk>, IndexError>;

    /// Takes all rows of the old index as seen, for a rebuild that reads its texts elsewhere.
    ///
    /// # Errors
    /// What the database says.
    fn skip_pending(&mut self) -> Result<(), IndexError>;

    /// Writes rows to the new index, one transaction.
    ///
    /// # Errors
    /// As [`VectorStore::write`].
    fn write(&mut self, rows: &[Chunk]) -> Result<Written, IndexError>;

    /// Puts the new index in the place of the old one, in one step, and returns how many rows it has.
    ///
    /// # Errors
    /// [`IndexError::ChangedMeanwhile`] when rows were written to the old one that this rebuild has not seen;
    /// nothing is changed then, and [`Rebuild::pending`] returns them.
    fn finish(&mut self) -> Result<u64, IndexError>;

    /// Throws the new index away; the old one stays.
    ///
    /// # Errors
    /// What the database says.
    fn abandon(&mut self) -> Result<(), IndexError>;
}
