//! What rows have to be before they are ranked: equality on any key of their metadata, folders for paths.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::bounds::{FACETS_PER_ROW_MAX, FILTERS_MAX};
use crate::chunk::Metadata;
use crate::error::IndexError;

/// Conditions that a row has to meet, all of them.
///
/// A key is a field of [`Metadata`] or a key of its `extra`, with or without `extra.` before it. A value is
/// compared with the text of a string, number or truth value. `path` and `source_path` match the file itself
/// and, for a folder, everything below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters(BTreeMap<String, String>);

impl Filters {
    /// Checks and takes conditions.
    ///
    /// # Errors
    /// [`IndexError::TooMuch`] for more than [`FILTERS_MAX`].
    pub fn new(conditions: BTreeMap<String, String>) -> Result<Self, IndexError> {
        if conditions.len() > FILTERS_MAX {
            return Err(IndexError::TooMuch { what: "filters", is: conditions.len(), max: FILTERS_MAX });
        }
        Ok(Self(conditions))
    }

    /// Whether every row meets them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The conditions, by key.
    pub fn iter(&self) -> impl Iterator<Item = Condition<'_>> {
        self.0.iter().map(|(key, value)| match key.as_str() {
            "path" | "source_path" => Condition::Below(value.trim_end_matches('/')),
            key => Condition::Equal(key.strip_prefix("extra.").unwrap_or(key), value),
        })
    }

    /// Whether a row meets them.
    #[must_use]
    pub fn admits(&self, metadata: &Metadata) -> bool {
        self.iter().all(|condition| match condition {
            Condition::Below(path) => is_below(metadata.path(), path),
            Condition::Equal(key, value) => {
                facets(metadata).any(|(name, found)| name == key && found == *value)
            }
        })
    }
}

/// One condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition<'a> {
    /// The row's path is this one or below it.
    Below(&'a str),
    /// The metadata has this value under this key.
    Equal(&'a str, &'a str),
}

/// Whether `path` is `folder` or below it; everything is below an empty one.
#[must_use]
pub fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The keys and values of a row that conditions can name.
pub(crate) fn facets(metadata: &Metadata) -> impl Iterator<Item = (&str, String)> {
    let fields = [("source_type", metadata.source_type.clone()), ("external", metadata.external.to_string())];
    let parent = metadata.parent_context.clone().map(|parent| ("parent_context", parent));
    let mut own: Vec<(&String, &Value)> = metadata.extra.iter().collect();
    if own.len() > FACETS_PER_ROW_MAX {
        // A store may give the keys back in another order.
        own.sort_by_key(|(key, _)| *key);
    }
    let own = own.into_iter().filter_map(|(key, value)| Some((key.as_str(), text(value)?)));
    let rest = [
        ("embedding_model", metadata.embedding_model.clone()),
        ("content_hash", metadata.content_hash.clone()),
        ("chunk_index", metadata.chunk_index.to_string()),
        ("size_tokens", metadata.size_tokens.to_string()),
    ];
    fields.into_iter().chain(parent).chain(own.take(FACETS_PER_ROW_MAX)).chain(rest)
}

/// The fields that are columns of their own and not kept as facets.
pub(crate) const COLUMNS: [&str; 4] = ["embedding_model", "content_hash", "chunk_index", "size_tokens"];

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The number under which rows with this key and value are kept. Two pairs could share one, so a row is
/// checked with [`Filters::admits`] before it is returned.
pub(crate) fn facet_number(key: &str, value: &str) -> i64 {
    let digest = Sha256::new().chain_update(key).chain_update([0]).chain_update(value).finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_le_bytes(first)
}

/// Remembers the numbers of a write: its rows mostly have the same few values.
#[derive(Debug, Default)]
pub(crate) struct FacetNumbers(HashMap<String, HashMap<String, i64>>);

impl FacetNumbers {
    /// Values of a key that are remembered.
    const VALUES_MAX: usize = 1_000;

    /// The number of a key with a value.
    pub(crate) fn of(&mut self, key: &str, value: String) -> i64 {
        if let Some(number) = self.0.get(key).and_then(|values| values.get(&value)) {
            return *number;
        }
        let number = facet_number(key, &value);
        if self.0.len() > FACETS_PER_ROW_MAX {
            self.0.clear();
        }
        let values = self.0.entry(key.to_owned()).or_default();
        if values.len() >= Self::VALUES_MAX {
            values.clear();
        }
        values.insert(value, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(pairs: &[(&str, &str)]) -> Filters {
        Filters::new(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
            .unwrap()
    }

    #[test]
    fn conditions_match_fields_own_keys_and_folders() {
        let row: Metadata = serde_json::from_str(
            r#"{"source_path":"docs/a/b.md","external":true,"chunk_index":3,"extra":{"page":7,"lang":"ja","tags":["x"]}}"#,
        )
        .unwrap();
        for (pairs, admits) in [
            (&[][..], true),
            (&[("source_path", "docs/a/b.md")], true),
            (&[("path", "docs/a")], true),
            (&[("path", "docs/a/")], true),
            (&[("path", "docs/a/b")], false),
            (&[("path", "")], true),
            (&[("source_type", "generic")], true),
            (&[("external", "true")], true),
            (&[("external", "false")], false),
            (&[("chunk_index", "3")], true),
            (&[("page", "7"), ("lang", "ja")], true),
            (&[("extra.page", "7")], true),
            (&[("page", "7"), ("lang", "en")], false),
            (&[("tags", "x")], false),
            (&[("none", "")], false),
        ] {
            assert_eq!(filters(pairs).admits(&row), admits, "{pairs:?}");
        }
    }
}
