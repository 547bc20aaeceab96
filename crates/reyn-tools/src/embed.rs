//! `embed`: texts as vectors, of a call or of a JSON Lines file.

use std::collections::HashSet;
use std::sync::Arc;

use reyn_core::audit::AuditEvent;
use reyn_core::embedding::ModelIdentity;
use reyn_core::limits::{EMBED_ROWS_MAX, EMBED_TEXTS_MAX, EMBEDDING_BATCH_TEXTS};
use reyn_core::permission::{FileOp, Target};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_index::derived_hash;
use reyn_workspace::{FileError, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::knowledge::{Knowledge, Line, Lines, REVISION_KEY, Vectors};
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct Embed;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// A few texts.
    texts: Option<Vec<String>>,
    /// JSON Lines file with texts.
    input_artifact: Option<String>,
    /// Key of the text; rarely wanted, so the schema does not spend words on it.
    #[schemars(skip)]
    text_field: Option<String>,
    /// Gets rows with vectors.
    output_artifact: Option<String>,
    /// Class or `provider/model`; as rarely wanted.
    #[schemars(skip)]
    model: Option<String>,
}

/// What a call asks for.
enum Form<'a> {
    Texts(&'a [String]),
    Files { input: &'a str, output: &'a str },
}

impl Args {
    fn form(&self) -> Result<Form<'_>, ToolError> {
        match (&self.texts, &self.input_artifact, &self.output_artifact) {
            (Some(texts), None, None) => Ok(Form::Texts(texts)),
            (None, Some(input), Some(output)) => Ok(Form::Files { input, output }),
            _ => Err(ToolError::failed("give either `texts`, or `input_artifact` and `output_artifact`")),
        }
    }
}

impl Tool for Embed {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "embed",
        summary: "Make vectors of texts.",
        details: "Give `texts`, or the two files.",
        example: r#"{"input_artifact": "chunks.jsonl", "output_artifact": "embedded_chunks.jsonl"}"#,
        category: Category::Embedding,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        match args.form() {
            Ok(Form::Files { input, output }) => vec![
                Wish::File { op: FileOp::Read, path: input.to_owned() },
                Wish::File { op: FileOp::Write, path: output.to_owned() },
            ],
            Ok(Form::Texts(_)) | Err(_) => vec![],
        }
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let knowledge = context.knowledge()?;
        match args.form()? {
            Form::Texts(texts) => of_texts(&knowledge, &args, texts).await,
            Form::Files { .. } => of_files(&knowledge, &args, &touched, &context).await,
        }
    }
}

async fn of_texts(knowledge: &Knowledge, args: &Args, texts: &[String]) -> Result<Output, ToolError> {
    if texts.len() > EMBED_TEXTS_MAX {
        let message = format!("there are {} texts, and one call takes {EMBED_TEXTS_MAX}", texts.len());
        return Err(ToolError::failed(message).hint("write them to a JSON Lines file and give it as `input_artifact`"));
    }
    let output = Output::default();
    if texts.is_empty() {
        return Ok(output.with("vectors", json!([])));
    }
    let embedded = knowledge.embeddings().embed(args.model.as_deref(), texts.to_vec(), true).await;
    let Vectors { model, vectors, tokens, notice } = embedded.map_err(|why| ToolError::failed(why.to_string()))?;
    let mut output = output.with("model", model.name);
    if let Some(revision) = model.revision {
        output = output.with(REVISION_KEY, revision);
    }
    if let Some(tokens) = tokens {
        output = output.with("total_tokens", tokens);
    }
    if let Some(notice) = notice {
        output = output.with("note", notice);
    }
    Ok(output.with("vectors", json!(vectors)))
}

/// A row that has no vector yet.
struct Waiting {
    row: Map<String, Value>,
    text: String,
    hash: String,
}

/// A run over a file.
struct Run {
    lines: Lines,
    text_field: String,
    seen: HashSet<String>,
    embedded: u64,
    skipped: u64,
    /// Lines that are no rows, and the first of them.
    bad: u64,
    first_bad: Option<String>,
}

impl Run {
    /// Looks at both files: how many rows there are, and which have vectors already.
    fn begin(
        workspace: &Workspace,
        input: &Target,
        output: &Target,
        text_field: String,
    ) -> Result<(Self, u64), FileError> {
        let read = |error: std::io::Error| FileError::failed(format!("cannot read `{}`: {error}", input.asked));
        let mut counted = Lines::new(workspace.open_file(input)?);
        let mut total = 0;
        while counted.next().map_err(read)?.is_some() {
            total += 1;
        }
        if total > EMBED_ROWS_MAX {
            let message = format!("`{}` has {total} rows, and one call takes {EMBED_ROWS_MAX}", input.asked);
            return Err(FileError::failed(message).hint("split it"));
        }
        let mut seen = HashSet::new();
        if let Ok(file) = workspace.open_file(output) {
            let mut done = Lines::new(file);
            while let Some(line) = done.next().map_err(read)? {
                if let Line::Object(row) = line {
                    seen.extend(content_hash(&row).map(str::to_owned));
                }
            }
        }
        let lines = Lines::new(workspace.open_file(input)?);
        let run = Self { lines, text_field, seen, embedded: 0, skipped: 0, bad: 0, first_bad: None };
        Ok((run, total))
    }

    /// The next rows that have no vector, at most a batch; none at the end.
    fn batch(&mut self, input: &str) -> Result<Vec<Waiting>, FileError> {
        let mut batch = vec![];
        while batch.len() < EMBEDDING_BATCH_TEXTS as usize {
            let line = self.lines.next();
            let line = line.map_err(|error| FileError::failed(format!("cannot read `{input}`: {error}")))?;
            let (number, why) = match line {
                None => break,
                Some(Line::Bad { number, why }) => (number, why),
                Some(Line::Object(row)) => match row.get(&self.text_field).and_then(Value::as_str) {
                    Some(text) => {
                        let hash = content_hash(&row)
                            .map_or_else(|| derived_hash(path(&row), text), str::to_owned);
                        if self.seen.insert(hash.clone()) {
                            let text = text.to_owned();
                            batch.push(Waiting { row, text, hash });
                        } else {
                            self.skipped += 1;
                        }
                        continue;
                    }
                    None => (self.lines.number(), format!("it has no text under `{}`", self.text_field)),
                },
            };
            self.bad += 1;
            self.first_bad.get_or_insert_with(|| format!("line {number}: {why}"));
        }
        Ok(batch)
    }
}

fn metadata(row: &Map<String, Value>) -> Option<&Map<String, Value>> {
    row.get("metadata").and_then(Value::as_object)
}

fn content_hash(row: &Map<String, Value>) -> Option<&str> {
    metadata(row)?.get("content_hash")?.as_str().filter(|hash| !hash.is_empty())
}

fn path(row: &Map<String, Value>) -> &str {
    let text = |key: &str| metadata(row).and_then(|all| all.get(key)).and_then(Value::as_str);
    text("source_path").or_else(|| text("path")).unwrap_or_default()
}

/// Rows with their vectors, as lines.
fn with_vectors(batch: Vec<Waiting>, vectors: Vec<Vec<f32>>, model: &ModelIdentity) -> String {
    let mut lines = String::new();
    for (Waiting { mut row, hash, .. }, vector) in batch.into_iter().zip(vectors) {
        row.insert("vector".to_owned(), json!(vector));
        let mut metadata = match row.remove("metadata") {
            Some(Value::Object(metadata)) => metadata,
            Some(_) | None => Map::new(),
        };
        metadata.insert("content_hash".to_owned(), hash.into());
        metadata.insert("embedding_model".to_owned(), model.name.clone().into());
        if let Some(revision) = &model.revision {
            metadata.insert(REVISION_KEY.to_owned(), revision.clone().into());
        }
        row.insert("metadata".to_owned(), metadata.into());
        lines.push_str(&Value::Object(row).to_string());
        lines.push('\n');
    }
    lines
}

async fn of_files(
    knowledge: &Knowledge,
    args: &Args,
    touched: &Touched,
    context: &Context,
) -> Result<Output, ToolError> {
    let workspace = context.workspace()?;
    let (input, target) = (touched.file(0).clone(), touched.file(1).clone());
    let text_field = args.text_field.clone().unwrap_or_else(|| "text".to_owned());
    let (place, from, to) = (Arc::clone(&workspace), input.clone(), target.clone());
    let (mut run, total) = blocking(move || Run::begin(&place, &from, &to, text_field)).await?;
    let mut output = Output::default().with("status", "ok");
    let mut notices: Vec<String> = vec![];
    loop {
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let asked = input.asked.clone();
        let (back, batch) = blocking(move || {
            let batch = run.batch(&asked)?;
            Ok((run, batch))
        })
        .await?;
        run = back;
        if batch.is_empty() {
            break;
        }
        let texts = batch.iter().map(|one| one.text.clone()).collect();
        let embedded = knowledge.embeddings().embed(args.model.as_deref(), texts, true).await;
        let embedded = embedded.map_err(|why| stopped(&why.to_string(), run.embedded))?;
        notices.extend(embedded.notice);
        let count = batch.len() as u64;
        let lines = with_vectors(batch, embedded.vectors, &embedded.model);
        let (place, to) = (Arc::clone(&workspace), target.clone());
        blocking(move || place.append(&to, &lines)).await?;
        run.embedded += count;
        let done = run.embedded + run.skipped + run.bad;
        output.notes.push(AuditEvent::EmbedProgress {
            chain_id: context.chain_id.clone(),
            embedded: run.embedded,
            skipped: run.skipped,
            total,
            pct: (done * 100).checked_div(total).unwrap_or(100),
        });
    }
    if let Some(first) = &run.first_bad {
        notices.push(format!("{} lines are no rows and were passed over, {first}", run.bad));
    }
    if !notices.is_empty() {
        output = output.with("note", notices.join("; "));
    }
    Ok(output.with("embedded", run.embedded).with("skipped", run.skipped))
}

/// What was done before stays, and a call again goes on behind it.
fn stopped(why: &str, embedded: u64) -> ToolError {
    let error = ToolError::failed(why);
    if embedded == 0 {
        return error;
    }
    error.hint(format!("{embedded} rows are done and stay; the same call again goes on behind them"))
}
