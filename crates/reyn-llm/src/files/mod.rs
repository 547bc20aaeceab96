//! Local model files: which exist, where they come from, how they reach the cache.
//!
//! Invariant: a file stands under its final name only when its hash was right; the hash decides, never the
//! source.

mod catalogue;

pub use catalogue::{Catalogue, CatalogueError, ModelFile, Source};
