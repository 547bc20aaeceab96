//! A row of an index: a text, its vector, and what is known about it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// A piece of text as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The text, not empty.
    pub text: String,
    /// Its embedding of any length but zero's; it is stored with length one. Empty: found by words only.
    pub vector: Vec<f32>,
    /// What is known about it.
    pub metadata: Metadata,
}

/// What is known about a piece of text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// The file or address that it comes from. When empty, a `path` in [`Metadata::extra`] stands in.
    pub source_path: String,
    /// What kind of thing that is.
    pub source_type: String,
    /// Identity of the content; when empty it is derived, see [`derived_hash`].
    pub content_hash: String,
    /// Name of the model behind the vector. Set by the store from the model that wrote the row.
    pub embedding_model: String,
    /// Place within its file, from 0.
    pub chunk_index: u64,
    /// Length in the embedding model's tokens, 0 when not counted.
    pub size_tokens: u64,
    /// Where it stands, like the headings above it.
    pub parent_context: Option<String>,
    /// Whether the text came from outside and has to be fenced when shown to a model.
    pub external: bool,
    /// Everything else.
    pub extra: Map<String, Value>,
}

impl Default for Metadata {
    fn default() -> Self {
        Self {
            source_path: String::new(),
            source_type: "generic".to_owned(),
            content_hash: String::new(),
            embedding_model: String::new(),
            chunk_index: 0,
            size_tokens: 0,
            parent_context: None,
            external: false,
            extra: Map::new(),
        }
    }
}

impl Metadata {
    /// The path that filters and removals match: [`Metadata::source_path`], else `extra.path`, else nothing.
    #[must_use]
    pub fn path(&self) -> &str {
        if self.source_path.is_empty() {
            self.extra.get("path").and_then(Value::as_str).unwrap_or_default()
        } else {
            &self.source_path
        }
    }
}

/// The content hash of a row that brings none: SHA-256 in hex of the text, with its path before it where there
/// is one.
///
/// The path is part of it so that the same text in two files is two rows: removing one file leaves the
/// other's row. The same text twice in one file is one row.
#[must_use]
pub fn derived_hash(path: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    if !path.is_empty() {
        hash.update(path.as_bytes());
        hash.update([0]);
    }
    hash.update(text.as_bytes());
    let digest = hash.finalize();
    let mut hex = String::with_capacity(64);
    for byte in digest.as_slice() {
        for half in [byte >> 4, byte & 15] {
            hex.push(char::from(b"0123456789abcdef"[usize::from(half)]));
        }
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_in_two_files_has_two_hashes() {
        assert_eq!(
            derived_hash("", "abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_ne!(derived_hash("a.md", "abc"), derived_hash("b.md", "abc"));
        assert_ne!(derived_hash("a", "b"), derived_hash("", "a\0b").replace('0', "x"));
    }

    #[test]
    fn missing_keys_of_metadata_have_their_defaults() {
        let read: Metadata = serde_json::from_str(r#"{"extra":{"path":"docs/a.md"}}"#).unwrap();
        assert_eq!(read.path(), "docs/a.md");
        assert_eq!(read.source_type, "generic");
        assert!(!read.external);
    }
}
