//! `index_query`: the passages of one index that are nearest to a vector.

use std::collections::BTreeMap;
use std::sync::Arc;

use reyn_core::embedding::ModelIdentity;
use reyn_core::limits::{INDEX_QUERY_TOKENS, RECALL_PASSAGES, RECALL_PASSAGES_MAX, RECALL_TEXT_BYTES_MAX};
use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, External, Output, Surfaces, ToolSpec};
use reyn_index::Query;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::knowledge::{Passage, failed, filters, listed, source_name};
use crate::tool::{Context, Tool, ToolError, Touched, Wish};

pub(crate) struct IndexQuery;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The index.
    source: String,
    /// From `embed`; else passages in order.
    query_vector: Option<Vec<f32>>,
    /// Default 5.
    top_k: Option<usize>,
    /// E.g. `path: docs`.
    #[serde(default)]
    filters: BTreeMap<String, String>,
    /// Tokens of passages without a vector. Rarely wanted, so the schema does not spend words on it.
    #[schemars(skip)]
    fallback_size_cap: Option<u64>,
}

impl Tool for IndexQuery {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "index_query",
        summary: "Find passages of an index near a vector.",
        details: "",
        example: r#"{"source": "docs", "filters": {"path": "docs/guide"}}"#,
        category: Category::Knowledge,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Index { op: FileOp::Read, source: args.source.clone() }]
    }

    async fn run(&self, args: Args, _touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let (source, conditions) = (source_name(&args.source)?, filters(&args.filters)?);
        let top = args.top_k.unwrap_or(RECALL_PASSAGES).min(RECALL_PASSAGES_MAX);
        let hits = context
            .knowledge()?
            .with_store(move |store| {
                let said = |error| failed(&error);
                let Some(vector) = args.query_vector.filter(|vector| !vector.is_empty()) else {
                    let tokens_max = args.fallback_size_cap.unwrap_or(INDEX_QUERY_TOKENS);
                    return store.enumerate(&source, &conditions, tokens_max).map_err(said);
                };
                let stats = store.stats(&source).map_err(said)?;
                // A call names no model: a vector of this length is taken for one of the source's.
                let model = stats.model.unwrap_or(ModelIdentity {
                    name: "unknown".to_owned(),
                    revision: None,
                    dimensions: vector.len(),
                });
                let vector = Some((&model, vector.as_slice()));
                let query = Query { text: "", vector, top, filters: &conditions };
                store.find_by_vector(&source, &query).map_err(said)
            })
            .await?;
        let is_external = hits.iter().any(|hit| hit.metadata.external);
        let passages = hits.into_iter().map(|hit| Passage { source: None, hit }).collect();
        let (results, is_cut) = listed(passages, RECALL_TEXT_BYTES_MAX);
        let mut output = Output::default().with("source", args.source);
        if is_cut {
            output = output.with("truncated", true);
        }
        output = output.with("results", results);
        output.external = is_external.then(|| External::by(Self::SPEC.name));
        Ok(output)
    }
}
