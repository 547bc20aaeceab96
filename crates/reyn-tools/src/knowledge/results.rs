//! Passages that were found, as results hold them.

use reyn_core::text::prefix;
use reyn_index::{Hit, Metadata};
use serde_json::{Map, Value, json};

/// A passage and where it was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Passage {
    /// The source; not told where the call names one.
    pub source: Option<String>,
    /// What was found.
    pub hit: Hit,
}

/// What is known of a passage, without what is empty, under one roof: the keys that it was indexed with stand beside
/// its path and place.
#[must_use]
pub fn metadata_in_json(metadata: &Metadata) -> Value {
    let mut all = Map::new();
    all.insert("path".to_owned(), metadata.path().into());
    all.insert("chunk_index".to_owned(), metadata.chunk_index.into());
    if let Some(parent) = &metadata.parent_context {
        all.insert("parent_context".to_owned(), parent.as_str().into());
    }
    all.insert("external".to_owned(), metadata.external.into());
    for (key, value) in &metadata.extra {
        all.entry(key.as_str()).or_insert_with(|| value.clone());
    }
    Value::Object(all)
}

/// Passages as a list, their texts within `bytes_max` together. Says whether one was cut.
pub(crate) fn listed(passages: Vec<Passage>, bytes_max: usize) -> (Vec<Value>, bool) {
    let (mut left, mut is_cut) = (bytes_max, false);
    let mut list = Vec::with_capacity(passages.len());
    for Passage { source, hit } in passages {
        let text = prefix(&hit.text, left);
        is_cut |= text.len() < hit.text.len();
        left -= text.len();
        let mut result = Map::new();
        if let Some(source) = source {
            result.insert("source".to_owned(), source.into());
        }
        result.insert("metadata".to_owned(), metadata_in_json(&hit.metadata));
        result.insert("score".to_owned(), json!(rounded(hit.score)));
        result.insert("text".to_owned(), text.into());
        list.push(Value::Object(result));
    }
    (list, is_cut)
}

/// Four decimals: what is beyond says nothing.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(text: &str) -> Passage {
        let metadata = serde_json::from_value(json!({
            "source_path": "a.md",
            "parent_context": "Keys",
            "external": true,
            "extra": {"lang": "en", "path": "b.md"},
        }));
        let hit = Hit { id: 1, text: text.into(), metadata: metadata.unwrap(), score: 0.123_456 };
        Passage { source: Some("docs".into()), hit }
    }

    #[test]
    fn a_passage_tells_where_it_is_from_and_what_was_kept_with_it() {
        let (list, is_cut) = listed(vec![passage("hello")], 100);
        let expected = json!([{
            "source": "docs",
            "metadata": {"path": "a.md", "chunk_index": 0, "parent_context": "Keys", "external": true, "lang": "en"},
            "score": 0.1235,
            "text": "hello",
        }]);
        assert_eq!((Value::from(list), is_cut), (expected, false));
    }

    #[test]
    fn texts_are_cut_where_there_is_no_more_room() {
        let (list, is_cut) = listed(vec![passage("12345"), passage("日本語"), passage("x")], 10);
        let texts: Vec<&str> = list.iter().map(|one| one["text"].as_str().unwrap()).collect();
        assert_eq!((texts, is_cut), (vec!["12345", "日", "x"], true));
    }
}
