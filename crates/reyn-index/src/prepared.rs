//! Rows as every store takes them: checked against the bounds, with their hash, their JSON and a vector of length
//! one. What one store refuses, all refuse.

use reyn_core::embedding::ModelIdentity;

use crate::bounds::{
    CONTENT_HASH_BYTES_MAX, METADATA_BYTES_MAX, PATH_BYTES_MAX, ROWS_PER_WRITE_MAX, TEXT_BYTES_MAX,
};
use crate::chunk::{Chunk, Metadata, derived_hash};
use crate::error::IndexError;
use crate::store::WriteOptions;
use crate::unit_vector::unit;

/// A row that can be stored.
pub(crate) struct Prepared<'a> {
    pub(crate) text: &'a str,
    /// The path that filters and removals match.
    pub(crate) path: String,
    /// With the content hash and the model's name.
    pub(crate) metadata: Metadata,
    /// The metadata.
    pub(crate) json: String,
    /// Of length one; empty when the row has none.
    pub(crate) vector: Vec<f32>,
}

/// Refuses more rows than one write may have.
pub(crate) fn bounded(rows: &[Chunk]) -> Result<(), IndexError> {
    if rows.len() > ROWS_PER_WRITE_MAX {
        return Err(IndexError::TooMuch {
            what: "rows of one write",
            is: rows.len(),
            max: ROWS_PER_WRITE_MAX,
        });
    }
    Ok(())
}

/// Refuses what is said of a source, or the name of a model, when it is no text.
pub(crate) fn said(options: &WriteOptions) -> Result<(), IndexError> {
    let model = options.model.as_ref();
    for (what, text) in [
        ("the description of a source", options.description.as_deref()),
        ("the path of a source", options.path.as_deref()),
        ("the name of a model", model.map(|model| model.name.as_str())),
        ("the revision of a model", model.map(ModelIdentity::revision_text)),
    ] {
        if text.is_some_and(|text| text.contains('\0')) {
            return Err(IndexError::NotText { what });
        }
    }
    Ok(())
}

/// Checks row number `at` of a write and makes what is stored of it.
pub(crate) fn prepare<'a>(
    at: usize,
    row: &'a Chunk,
    model: Option<&ModelIdentity>,
) -> Result<Prepared<'a>, IndexError> {
    if let Some(why) = refusal(row, model) {
        return Err(IndexError::Row { row: at, why });
    }
    let vector = match model {
        Some(model) => unit(model, &row.vector, || format!("row {at}"))?,
        None => vec![],
    };
    let mut metadata = row.metadata.clone();
    let path = metadata.path().to_owned();
    if metadata.content_hash.is_empty() {
        metadata.content_hash = derived_hash(&path, &row.text);
    }
    metadata.embedding_model = match model {
        Some(model) if !vector.is_empty() => model.name.clone(),
        Some(_) | None => String::new(),
    };
    let json = serde_json::to_string(&metadata)
        .map_err(|error| IndexError::Row { row: at, why: format!("its metadata is not JSON: {error}") })?;
    if let Some(why) = json_refusal(&json) {
        return Err(IndexError::Row { row: at, why });
    }
    Ok(Prepared { text: &row.text, path, metadata, json, vector })
}

fn refusal(row: &Chunk, model: Option<&ModelIdentity>) -> Option<String> {
    let long =
        |what: &str, is: usize, max: usize| format!("its {what} has {is} bytes and {max} are the limit");
    let path = row.metadata.path();
    let hash = &row.metadata.content_hash;
    if row.text.trim().is_empty() {
        Some("its text is empty".to_owned())
    } else if row.text.len() > TEXT_BYTES_MAX {
        Some(long("text", row.text.len(), TEXT_BYTES_MAX) + "; split it")
    } else if row.text.contains('\0') {
        Some("its text holds a NUL character, so it is no text; leave it out".to_owned())
    } else if path.len() > PATH_BYTES_MAX {
        Some(long("path", path.len(), PATH_BYTES_MAX))
    } else if hash.len() > CONTENT_HASH_BYTES_MAX {
        Some(long("content hash", hash.len(), CONTENT_HASH_BYTES_MAX) + "; hash it again")
    } else if model.is_none() && !row.vector.is_empty() {
        Some("it has a vector and the write names no model".to_owned())
    } else {
        None
    }
}

fn json_refusal(json: &str) -> Option<String> {
    if json.len() > METADATA_BYTES_MAX {
        return Some(format!("its metadata has {} bytes and {METADATA_BYTES_MAX} are the limit", json.len()));
    }
    // As JSON writes it; a backslash before it is one that is itself written out.
    let has_nul = json
        .match_indices("\\u0000")
        .any(|(at, _)| json[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0);
    has_nul.then(|| "its metadata holds a NUL character; leave it out".to_owned())
}
