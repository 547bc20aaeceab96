//! Local model files: which exist, where they come from, how they reach the cache.
//!
//! Invariant: a file stands under its final name only when its hash was right; the hash decides, never the
//! source. A cache folder holds `<sha256>` for a file, `<sha256>.part-…` while it comes, `<sha256>.lock`.

mod catalogue;
mod content;
mod memory;
mod pip_source;
mod pull;
mod store;
mod url_source;
mod wheel;

pub use catalogue::{Catalogue, CatalogueError, FileEntry, ModelFile, ModelKind, Source};
pub use memory::free_memory_bytes;
pub use pull::PullProgress;
pub use store::{FileState, ModelFileError, ModelStore, StoredModel};

#[cfg(test)]
mod pull_tests;
