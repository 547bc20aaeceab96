//! `recall`: the passages of several indexes that fit a question best, by what it means and by its words.

use std::collections::BTreeMap;
use std::sync::Arc;

use reyn_core::audit::AuditEvent;
use reyn_core::embedding::ModelIdentity;
use reyn_core::limits::{
    RECALL_PASSAGES, RECALL_PASSAGES_MAX, RECALL_SOURCES_MAX, RECALL_TEXT_BYTES_MAX,
};
use reyn_core::memory::Layer;
use reyn_core::permission::FileOp;
use reyn_core::redaction::told;
use reyn_core::tool::{Category, Dispatch, Effect, External, Output, Surfaces, ToolSpec};
use reyn_index::{Filters, IndexError, Query, SearchMode, SourceName, VectorStore};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::knowledge::{Knowledge, Passage, failed, filters, listed, source_name};
use crate::tool::{Context, Tool, ToolError, Touched, Wish};

pub(crate) struct Recall;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// A question, or words.
    query: String,
    /// Names of indexes.
    sources: Vec<String>,
    /// Default 5.
    top_k: Option<usize>,
    /// E.g. `path: docs`.
    #[serde(default)]
    filters: BTreeMap<String, String>,
    /// The class that makes the query's vector. Rarely wanted, so the schema does not spend words on it.
    #[schemars(skip)]
    embedding_model: Option<String>,
}

impl Tool for Recall {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "recall",
        summary: "Find passages of indexed sources for a question.",
        details: "",
        example: r#"{"query": "how are keys rotated?", "sources": ["docs"]}"#,
        category: Category::Knowledge,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        let read = |source: &String| Wish::Index { op: FileOp::Read, source: source.clone() };
        args.sources.iter().take(RECALL_SOURCES_MAX).map(read).collect()
    }

    async fn run(&self, args: Args, _touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let knowledge = context.knowledge()?;
        let mut notes: Vec<String> = refreshed(&knowledge, &args.sources, &context).await?.into_iter().collect();
        let sources = known_sources(&knowledge, &args.sources).await?;
        let mut output = Output::default().with("query", args.query.as_str());
        let wants_vector = sources.known.iter().any(|(_, model)| model.is_some());
        let vector = if wants_vector {
            let texts = vec![args.query.clone()];
            match knowledge.embeddings().embed(args.embedding_model.as_deref(), texts, true).await {
                Ok(embedded) => {
                    notes.extend(embedded.notice);
                    embedded.vectors.into_iter().next().map(|vector| (embedded.model, vector))
                }
                Err(why) => {
                    notes.push(format!("searched by words alone: {why}"));
                    output.notes.push(AuditEvent::RecallEmbedFailed {
                        chain_id: context.chain_id.clone(),
                        query: told(&args.query),
                        error: told(&why.to_string()),
                    });
                    None
                }
            }
        } else {
            None
        };
        let looked = Looked { query: args.query, vector, top: top(args.top_k), filters: filters(&args.filters)? };
        let known = sources.known;
        let found = knowledge.with_store(move |store| Ok(looked.passages(store, &known))).await?;
        notes.extend(found.notes);
        if !sources.missing.is_empty() {
            output = output.with("missing_sources", sources.missing);
        }
        if !notes.is_empty() {
            output = output.with("note", notes.join("; "));
        }
        output = output.with("mode", found.mode);
        let is_external = found.passages.iter().any(|passage| passage.hit.metadata.external);
        let (results, is_cut) = listed(found.passages, RECALL_TEXT_BYTES_MAX);
        if is_cut {
            output = output.with("truncated", true);
        }
        output = output.with("results", results);
        output.external = is_external.then(|| External::by(Self::SPEC.name));
        Ok(output)
    }
}

/// Takes in what a memory's files say now, where one is looked through. What stood in the way is told.
async fn refreshed(
    knowledge: &Knowledge,
    sources: &[String],
    context: &Context,
) -> Result<Option<String>, ToolError> {
    let Ok(memory) = context.memory() else { return Ok(None) };
    let is_memory = |name: &String| {
        SourceName::new(name).ok().and_then(|source| Knowledge::memory_layer(&source, memory.agent()))
    };
    let layers: Vec<Layer> = sources.iter().take(RECALL_SOURCES_MAX).filter_map(is_memory).collect();
    if layers.is_empty() {
        return Ok(None);
    }
    let (knowledge, cancel) = (knowledge.clone(), context.cancel.clone());
    let work = move || layers.into_iter().find_map(|layer| knowledge.sync_memory(&memory, layer, &cancel).err());
    match tokio::task::spawn_blocking(work).await {
        Ok(why) => Ok(why.map(|why| format!("the memory is not up to date in search: {why}"))),
        Err(error) => Err(ToolError::Defect(format!("the tool's code failed: {error}"))),
    }
}

fn top(asked: Option<usize>) -> usize {
    asked.unwrap_or(RECALL_PASSAGES).clamp(1, RECALL_PASSAGES_MAX)
}

/// The sources of a call.
struct Sources {
    /// Those that are there, and whose vectors they hold.
    known: Vec<(SourceName, Option<ModelIdentity>)>,
    /// Names of those that are not.
    missing: Vec<String>,
}

/// Which sources of a call are there. None at all is an error, with the names that there are.
async fn known_sources(knowledge: &Knowledge, names: &[String]) -> Result<Sources, ToolError> {
    if names.len() > RECALL_SOURCES_MAX {
        let message = format!("there are {} sources, and one call takes {RECALL_SOURCES_MAX}", names.len());
        return Err(ToolError::failed(message));
    }
    let mut asked: Vec<SourceName> = vec![];
    for name in names {
        let name = source_name(name)?;
        if !asked.contains(&name) {
            asked.push(name);
        }
    }
    knowledge
        .with_store(move |store| {
            let mut sources = Sources { known: vec![], missing: vec![] };
            if asked.is_empty() {
                let there = store.sources().map_err(|error| failed(&error))?;
                let names: Vec<String> = there.iter().map(|entry| format!("`{}`", entry.name)).collect();
                let hint = if names.is_empty() {
                    "nothing is indexed yet; the person can run `reyn index add NAME PATH`".to_owned()
                } else {
                    format!("there are {}", names.join(", "))
                };
                return Err(ToolError::failed("`sources` must name at least one source").hint(hint));
            }
            let mut unknown = None;
            for name in asked {
                match store.stats(&name) {
                    Ok(stats) => sources.known.push((name, stats.model)),
                    Err(error @ IndexError::UnknownSource { .. }) => {
                        sources.missing.push(name.to_string());
                        unknown.get_or_insert(error);
                    }
                    Err(error) => return Err(failed(&error)),
                }
            }
            match unknown {
                Some(error) if sources.known.is_empty() => Err(failed(&error)),
                Some(_) | None => Ok(sources),
            }
        })
        .await
}

/// What is looked for.
struct Looked {
    query: String,
    vector: Option<(ModelIdentity, Vec<f32>)>,
    top: usize,
    filters: Filters,
}

/// What was found.
struct FoundPassages {
    passages: Vec<Passage>,
    mode: &'static str,
    notes: Vec<String>,
}

impl Looked {
    /// The best passages of all sources together. A source that fails contributes nothing, and is told.
    fn passages(&self, store: &dyn VectorStore, sources: &[(SourceName, Option<ModelIdentity>)]) -> FoundPassages {
        let (mut passages, mut modes, mut notes) = (vec![], vec![], vec![]);
        for (source, _) in sources {
            let vector = self.vector.as_ref().map(|(model, vector)| (model, vector.as_slice()));
            let query = |vector| Query { text: &self.query, vector, top: self.top, filters: &self.filters };
            let found = match store.find(source, &query(vector)) {
                // Vectors of two models are never compared; its words answer all the same.
                Err(error @ IndexError::Model { .. }) => {
                    notes.push(format!("`{source}` was searched by words alone: {error}; `reyn index rebuild {source}` makes its vectors anew"));
                    store.find(source, &query(None))
                }
                found => found,
            };
            match found {
                Ok(found) => {
                    modes.push(found.mode);
                    let source = source.to_string();
                    passages.extend(found.hits.into_iter().map(|hit| Passage { source: Some(source.clone()), hit }));
                }
                Err(error) => notes.push(format!("`{source}` was not searched: {error}")),
            }
        }
        passages.sort_by(|one, other| other.hit.score.total_cmp(&one.hit.score));
        passages.truncate(self.top);
        FoundPassages { passages, mode: together(&modes), notes }
    }
}

/// Which halves of the search ran, over all sources.
fn together(modes: &[SearchMode]) -> &'static str {
    match modes.split_first() {
        Some((first, rest)) if rest.iter().all(|mode| mode == first) => first.as_str(),
        Some(_) => "mixed",
        None => "none",
    }
}
