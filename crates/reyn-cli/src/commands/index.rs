//! `reyn index`: files that are found again by what they mean and by their words.

mod add;
mod rebuild;

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use reyn_core::embedding::ModelIdentity;
use reyn_index::{Filters, Found, Hit, IndexError, Query, SourceEntry, SourceName, Stats, VectorStore};
use reyn_tools::metadata_in_json;
use serde_json::{Value, json};

use crate::embedding_choice::{Opened, open};
use crate::exit::{Exit, Failure};
use crate::index_store::open_store;
use crate::wiring::{Project, runtime};
use crate::{confirm, output, person};

/// Most results of a query.
const TOP_MAX: u16 = 100;
/// Characters of a result that people are shown.
const SHOWN_CHARS_MAX: usize = 240;

/// `reyn index`.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Index files, or what is new in them, so that they are found by what they mean.
    #[command(after_help = "\
Examples:
  reyn index add docs docs/
  reyn index add notes ~/notes --glob '**/*.md' --description 'what we decided'")]
    Add(add::AddArgs),
    /// The sources that there are.
    #[command(after_help = "Example: reyn index list --json")]
    List(ListArgs),
    /// Find the passages of a source that fit a text best.
    #[command(after_help = "Example: reyn index query docs \"how do I rotate a key?\" --top 3")]
    Query(QueryArgs),
    /// What is known about a source.
    #[command(after_help = "Example: reyn index stats docs")]
    Stats(SourceArgs),
    /// Make the vectors of a source anew, as after a change of its model; the old ones answer until it is done.
    #[command(after_help = "Example: reyn index rebuild docs")]
    Rebuild(SourceArgs),
    /// Remove a source; the files that it was made of stay.
    #[command(after_help = "\
Examples:
  reyn index drop docs          asks first
  reyn index drop docs --yes    for scripts")]
    Drop(DropArgs),
}

/// `reyn index list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// `reyn index query`.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The source.
    source: String,
    /// What is looked for.
    text: String,
    /// How many passages.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=i64::from(TOP_MAX)))]
    top: u16,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A command about one source.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// The source.
    source: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// `reyn index drop`.
#[derive(Debug, Args)]
pub(crate) struct DropArgs {
    /// The source.
    source: String,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Print JSON; never asks, so it needs `--yes`.
    #[arg(long)]
    json: bool,
}

impl IndexCommand {
    /// Whether JSON is wanted.
    pub(crate) const fn is_json(&self) -> bool {
        match self {
            Self::Add(args) => args.json,
            Self::List(args) => args.json,
            Self::Query(args) => args.json,
            Self::Stats(args) | Self::Rebuild(args) => args.json,
            Self::Drop(args) => args.json,
        }
    }
}

/// Indexes, lists, finds, or removes.
pub(crate) fn run(command: &IndexCommand) -> Result<Exit, Failure> {
    let project = Project::load()?;
    let store = open_store(&project)?;
    match command {
        IndexCommand::Add(args) => add::run(&project, &store, args),
        IndexCommand::List(args) => list(store.get(), args),
        IndexCommand::Query(args) => query(&project, store.get(), args),
        IndexCommand::Stats(args) => stats(store.get(), args),
        IndexCommand::Rebuild(args) => rebuild::run(&project, store.get(), args),
        IndexCommand::Drop(args) => drop_source(store.get(), args),
    }
}

fn source(name: &str) -> Result<SourceName, Failure> {
    SourceName::new(name).map_err(|error| Failure::usage("source", error.to_string()))
}

fn failed(error: &IndexError) -> Failure {
    let IndexError::UnknownSource { name, sources } = error else {
        return Failure::failed("index", error.to_string());
    };
    if sources.is_empty() {
        let message = format!("there is no source `{name}`; `reyn index add {name} PATH` makes it");
        return Failure::usage("unknown_source", message);
    }
    Failure::usage("unknown_source", error.to_string())
}

fn list(store: &dyn VectorStore, args: &ListArgs) -> Result<Exit, Failure> {
    let sources = store.sources().map_err(|error| failed(&error))?;
    if args.json {
        let sources: Vec<Value> = sources.iter().map(source_in_json).collect();
        output::json(&json!({ "sources": sources }));
        return Ok(Exit::Done);
    }
    if sources.is_empty() {
        output::note("there is no source yet; `reyn index add NAME PATH` makes one");
    }
    for entry in &sources {
        let model = entry.embedding_model.as_deref().unwrap_or("words alone");
        let unit = if entry.rows == 1 { "passage" } else { "passages" };
        output::result_line(&format!(
            "{}  {} {unit}  {model}  {}",
            entry.name, entry.rows, entry.description
        ));
    }
    Ok(Exit::Done)
}

fn source_in_json(entry: &SourceEntry) -> Value {
    json!({
        "name": entry.name.as_str(),
        "description": entry.description,
        "path": entry.path,
        "chunk_count": entry.rows,
        "last_indexed": entry.last_indexed,
        "embedding_model": entry.embedding_model,
    })
}

fn query(project: &Project, store: &dyn VectorStore, args: &QueryArgs) -> Result<Exit, Failure> {
    let name = source(&args.source)?;
    let stats = store.stats(&name).map_err(|error| failed(&error))?;
    let vector = match stats.model {
        Some(_) => vector_of(project, &args.text)?,
        None => None,
    };
    let filters = Filters::default();
    let query = Query {
        text: &args.text,
        vector: vector.as_ref().map(|(model, vector)| (model, vector.as_slice())),
        top: usize::from(args.top),
        filters: &filters,
    };
    let found = store.find(&name, &query).map_err(|error| failed(&error))?;
    if args.json {
        let results: Vec<Value> = found.hits.iter().map(hit_in_json).collect();
        output::json(&json!({ "results": results, "mode": found.mode.as_str() }));
    } else {
        output::result(&passages(&found));
    }
    Ok(Exit::Done)
}

/// The vector of a query and the model that made it; none where nobody makes vectors, which is said.
fn vector_of(project: &Project, text: &str) -> Result<Option<(ModelIdentity, Vec<f32>)>, Failure> {
    runtime()?.block_on(async {
        let embedder = match open(project, None, person::is_there()).await? {
            Opened::Ready(embedder) => embedder,
            Opened::Off { why } => {
                output::note(&format!("reyn: searching by words alone: {why}"));
                return Ok(None);
            }
        };
        let embedded = embedder.embed(&[text.to_owned()], &|_| {}).await;
        let embedded = embedded.map_err(|error| Failure::failed(error.kind.name(), error.message))?;
        let vector = embedded.vectors.into_iter().next();
        Ok(embedder.identity().zip(vector))
    })
}

fn hit_in_json(hit: &Hit) -> Value {
    json!({ "text": hit.text, "score": hit.score, "metadata": metadata_in_json(&hit.metadata) })
}

/// What was found, for people: where, under which headings, and how it begins.
fn passages(found: &Found) -> String {
    if found.hits.is_empty() {
        return "nothing fits\n".to_owned();
    }
    let mut text = String::new();
    for hit in &found.hits {
        let context = hit.metadata.parent_context.as_deref();
        let context = context.map(|context| format!(" · {context}")).unwrap_or_default();
        let _ = writeln!(text, "{}{context}  {:.2}", hit.metadata.path(), hit.score);
        let mut shown: String = hit.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((at, _)) = shown.char_indices().nth(SHOWN_CHARS_MAX) {
            shown.truncate(at);
            shown.push('…');
        }
        let _ = writeln!(text, "  {shown}\n");
    }
    let _ = writeln!(text, "found by {}", found.mode.as_str());
    text
}

fn stats(store: &dyn VectorStore, args: &SourceArgs) -> Result<Exit, Failure> {
    let name = source(&args.source)?;
    let stats = store.stats(&name).map_err(|error| failed(&error))?;
    if args.json {
        output::json(&stats_in_json(&name, &stats));
        return Ok(Exit::Done);
    }
    let model = stats.model.as_ref().map_or_else(|| "none; words alone".to_owned(), ToString::to_string);
    output::result(&format!(
        "source    {name}\nfiles     {}\npassages  {}, {} with a vector\ntokens    {}\nmodel     {model}\nindexed   {}\non disk   {}\n",
        stats.paths,
        stats.rows,
        stats.vectors,
        stats.tokens,
        stats.last_indexed.as_deref().unwrap_or("never"),
        output::size(stats.bytes),
    ));
    Ok(Exit::Done)
}

fn stats_in_json(name: &SourceName, stats: &Stats) -> Value {
    let model = stats.model.as_ref().map(
        |model| json!({ "name": model.name, "revision": model.revision, "dimensions": model.dimensions }),
    );
    json!({
        "source": name.as_str(),
        "files": stats.paths,
        "chunk_count": stats.rows,
        "vectors": stats.vectors,
        "tokens": stats.tokens,
        "embedding_model": model,
        "last_indexed": stats.last_indexed,
        "bytes": stats.bytes,
    })
}

fn drop_source(store: &dyn VectorStore, args: &DropArgs) -> Result<Exit, Failure> {
    let name = source(&args.source)?;
    let rows = store.stats(&name).map_err(|error| failed(&error))?.rows;
    if !args.yes {
        if args.json || !person::is_there() {
            return Err(Failure::wants_person(format!(
                "`reyn index drop {name}` removes {rows} passages and asks first; give `--yes` to do it without asking"
            )));
        }
        if !confirm::is_yes(&format!("Remove `{name}` with {rows} passages?"), confirm::Default::No) {
            return Ok(Exit::Done);
        }
    }
    let dropped = store.drop_source(&name).map_err(|error| failed(&error))?;
    if args.json {
        output::json(&json!({ "source": name.as_str(), "chunks_dropped": dropped }));
    } else {
        output::result_line(&format!("`{name}` with {dropped} passages is removed"));
    }
    Ok(Exit::Done)
}
