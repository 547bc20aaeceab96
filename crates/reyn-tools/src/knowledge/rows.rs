//! Rows as calls and JSON Lines files hold them: texts with their vectors and what is known about them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use reyn_core::embedding::ModelIdentity;
use reyn_core::limits::INDEX_ROW_BYTES_MAX;
use reyn_index::{Chunk, Filters, Metadata};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::failed;
use crate::tool::ToolError;

/// A row of a call or of a file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Row {
    /// What is found.
    pub text: String,
    /// Its vector; without one it is found by its words.
    #[serde(default)]
    pub vector: Option<Vec<f32>>,
    /// `path`, and what else is known.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// The rows' chunks, all of one model, and that model. `named` goes before what rows say; a row with a vector that
/// names none has `usual`, where that fits.
pub(crate) fn rows_to_chunks(
    rows: Vec<Row>,
    named: Option<&str>,
    usual: Option<&ModelIdentity>,
    is_external: bool,
) -> Result<(Vec<Chunk>, Option<ModelIdentity>), ToolError> {
    let mut model: Option<ModelIdentity> = None;
    let mut chunks = Vec::with_capacity(rows.len());
    for (at, row) in rows.into_iter().enumerate() {
        let (mut metadata, told) = metadata(row.metadata, at)?;
        metadata.external |= is_external;
        let vector = row.vector.unwrap_or_default();
        if !vector.is_empty() {
            let is_usual = |usual: &&ModelIdentity| {
                let name = named.or(told.name.as_deref());
                usual.dimensions == vector.len() && name.is_none_or(|name| name == usual.name)
            };
            let own = match usual.filter(is_usual) {
                Some(usual) => {
                    ModelIdentity { revision: told.revision.or(usual.revision.clone()), ..usual.clone() }
                }
                None => ModelIdentity {
                    name: named.map(str::to_owned).or(told.name).unwrap_or_else(|| UNKNOWN_MODEL.to_owned()),
                    revision: told.revision,
                    dimensions: vector.len(),
                },
            };
            let first = model.get_or_insert_with(|| own.clone());
            if *first != own {
                return Err(ToolError::failed(format!(
                    "row {at} has a vector of {own}, and those before of {first}; one write takes the vectors of one model"
                )));
            }
        }
        chunks.push(Chunk { text: row.text, vector, metadata });
    }
    Ok((chunks, model))
}

/// The name of a model that nobody named.
const UNKNOWN_MODEL: &str = "unknown";

/// Which model a row says that its vector is of.
struct ToldModel {
    name: Option<String>,
    revision: Option<String>,
}

/// The keys that have a place of their own; the others are kept as they are.
fn metadata(mut told: Map<String, Value>, at: usize) -> Result<(Metadata, ToldModel), ToolError> {
    let mut metadata = Metadata::default();
    let wrong =
        |key: &str, wanted: &str| ToolError::failed(format!("row {at}: `metadata.{key}` must be {wanted}"));
    let mut text = |key: &str| match told.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(key, "a text")),
    };
    metadata.source_path = text("source_path")?.unwrap_or_default();
    metadata.source_type = text("source_type")?.unwrap_or(metadata.source_type);
    metadata.content_hash = text("content_hash")?.unwrap_or_default();
    metadata.parent_context = text("parent_context")?;
    let model = ToldModel { name: text("embedding_model")?, revision: text(REVISION_KEY)? };
    let mut number = |key: &str| match told.remove(key) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => value.as_u64().ok_or_else(|| wrong(key, "a whole number")),
    };
    metadata.chunk_index = number("chunk_index")?;
    metadata.size_tokens = number("size_tokens")?;
    metadata.external = match told.remove("external") {
        None | Some(Value::Null) => false,
        Some(value) => value.as_bool().ok_or_else(|| wrong("external", "`true` or `false`"))?,
    };
    if let Some(extra) = told.remove("extra") {
        match extra {
            Value::Object(extra) => told.extend(extra),
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(wrong("extra", "an object"));
            }
        }
    }
    metadata.extra = told;
    Ok((metadata, model))
}

/// Where a row tells the revision of its model.
pub(crate) const REVISION_KEY: &str = "embedding_revision";

/// Conditions of a call.
pub(crate) fn filters(conditions: &BTreeMap<String, String>) -> Result<Filters, ToolError> {
    Filters::new(conditions.clone()).map_err(|error| failed(&error))
}

/// The lines of a JSON Lines file, one at a time, without the blank ones.
pub(crate) struct Lines {
    file: BufReader<File>,
    /// The line that comes next, from 1.
    number: u64,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// An object.
    Object(Map<String, Value>),
    /// Something else, and why it is no row.
    Bad {
        /// Which line, from 1.
        number: u64,
        /// Why.
        why: String,
    },
}

impl Lines {
    pub(crate) fn new(file: File) -> Self {
        Self { file: BufReader::new(file), number: 1 }
    }

    /// Which line was given last, from 1.
    pub(crate) const fn number(&self) -> u64 {
        self.number - 1
    }

    /// The next line; none at the end.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let mut bytes = vec![];
            let bytes_max = INDEX_ROW_BYTES_MAX as u64;
            (&mut self.file).take(bytes_max + 1).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let number = self.number;
            self.number += 1;
            if bytes.len() > INDEX_ROW_BYTES_MAX {
                self.pass_over()?;
                let why = format!("it is longer than {INDEX_ROW_BYTES_MAX} bytes");
                return Ok(Some(Line::Bad { number, why }));
            }
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            let line = serde_json::from_slice(&bytes);
            return Ok(Some(match line {
                Ok(object) => Line::Object(object),
                Err(error) => Line::Bad { number, why: error.to_string() },
            }));
        }
    }

    /// Passes over the rest of a line that is too long.
    fn pass_over(&mut self) -> std::io::Result<()> {
        loop {
            let buffer = self.file.fill_buf()?;
            if buffer.is_empty() {
                return Ok(());
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let passed = end.map_or(buffer.len(), |end| end + 1);
            self.file.consume(passed);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    fn row(value: Value) -> Row {
        serde_json::from_value(value).unwrap()
    }

    fn model(name: &str, revision: Option<&str>, dimensions: usize) -> ModelIdentity {
        ModelIdentity { name: name.into(), revision: revision.map(str::to_owned), dimensions }
    }

    #[test]
    fn a_row_keeps_what_it_says_of_itself() {
        let told = row(json!({"text": "a", "metadata": {
            "path": "README.md", "source_type": "note", "chunk_index": 2, "lang": "ja", "extra": {"page": 7},
        }}));
        let (chunks, model) = rows_to_chunks(vec![told], None, None, true).unwrap();
        let expected: Metadata = serde_json::from_value(json!({
            "source_type": "note", "chunk_index": 2, "external": true,
            "extra": {"path": "README.md", "lang": "ja", "page": 7},
        }))
        .unwrap();
        assert_eq!((&chunks[0].metadata, chunks[0].metadata.path(), model), (&expected, "README.md", None));
    }

    #[test]
    fn the_model_of_vectors_is_the_one_named_or_told_or_the_usual_one_where_it_fits() {
        let usual = model("local/m", Some("1"), 2);
        for (named, told, vector, expected) in [
            (None, json!({}), json!([1, 0]), usual.clone()),
            (Some("local/m"), json!({}), json!([1, 0]), usual.clone()),
            (Some("x/y"), json!({"embedding_model": "local/m"}), json!([1, 0]), model("x/y", None, 2)),
            (
                None,
                json!({"embedding_model": "x/y", "embedding_revision": "3"}),
                json!([1, 0]),
                model("x/y", Some("3"), 2),
            ),
            (
                None,
                json!({"embedding_model": "local/m", "embedding_revision": "0"}),
                json!([1, 0]),
                model("local/m", Some("0"), 2),
            ),
            (None, json!({}), json!([1, 0, 0]), model("unknown", None, 3)),
        ] {
            let rows = vec![row(json!({"text": "a", "vector": vector, "metadata": told}))];
            let (_, found) = rows_to_chunks(rows, named, Some(&usual), false).unwrap();
            assert_eq!(found, Some(expected), "{named:?} {told}");
        }
    }

    #[test]
    fn rows_that_cannot_be_are_told_by_their_number() {
        let good = json!({"text": "a", "vector": [1]});
        for (bad, says) in [
            (json!({"text": "b", "vector": [1, 2]}), "row 1 has a vector of unknown (2 numbers)"),
            (
                json!({"text": "b", "metadata": {"chunk_index": "x"}}),
                "row 1: `metadata.chunk_index` must be a whole number",
            ),
            (
                json!({"text": "b", "metadata": {"source_path": 1}}),
                "row 1: `metadata.source_path` must be a text",
            ),
            (json!({"text": "b", "metadata": {"extra": 1}}), "row 1: `metadata.extra` must be an object"),
        ] {
            let error = rows_to_chunks(vec![row(good.clone()), row(bad)], None, None, false).unwrap_err();
            assert!(error.to_string().starts_with(says), "{error}");
        }
    }

    #[test]
    fn lines_that_are_no_rows_are_told_and_passed_over() {
        let mut file = tempfile::tempfile().unwrap();
        let long = "x".repeat(INDEX_ROW_BYTES_MAX * 2);
        write!(file, "{{\"text\": \"a\"}}\n\n  \n[1]\n{long}\n{{\"text\": \"b\"}}\n{{\"text\": \"cut")
            .unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let mut lines = Lines::new(file);
        let mut found = vec![];
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                Line::Object(object) => (lines.number(), object["text"].as_str().unwrap().to_owned()),
                Line::Bad { number, why } => (number, why.chars().take(7).collect()),
            });
        }
        let expected = [(1, "a"), (4, "invalid"), (5, "it is l"), (6, "b"), (7, "EOF whi")];
        assert_eq!(found, expected.map(|(number, text)| (number, text.to_owned())));
    }
}
