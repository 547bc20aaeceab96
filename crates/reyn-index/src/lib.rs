//! Keeps text and finds it again, by what it means and by its words.
//!
//! Rows are texts with a vector and metadata, in named sources. A [`VectorStore`] writes them in transactions and
//! finds them by cosine, by keywords, and by both. [`SqliteStore`] keeps each source in a file, [`PostgresStore`]
//! keeps them on a server. Calls block, and nothing here knows tools, configuration or sessions.

mod atomic_file;
pub mod bounds;
mod chunk;
mod error;
mod filter;
pub mod hybrid;
mod indexing;
pub mod keyword;
mod postgres;
mod prepared;
mod query_words;
pub mod scan;
mod search;
mod source_name;
pub mod split;
mod sqlite;
mod store;
mod typo;
mod unit_vector;

pub use chunk::{Chunk, Metadata, derived_hash};
pub use error::{IndexError, VectorFault};
pub use filter::{Condition, Filters, is_below};
pub use indexing::{Embed, FileText, Indexed, Indexing, IndexingError};
pub use postgres::{PostgresLock, PostgresOptions, PostgresStore};
pub use source_name::SourceName;
pub use sqlite::{SourceLock, SqliteOptions, SqliteStore};
pub use store::{
    Found, Hit, Query, Rebuild, Removal, SearchMode, SourceEntry, Stats, VectorStore, WriteMode,
    WriteOptions, Written,
};
