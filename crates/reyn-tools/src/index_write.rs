//! `index_write`: texts with their vectors into an index.

use std::sync::Arc;

use reyn_core::embedding::ModelIdentity;
use reyn_core::limits::INDEX_WRITE_ROWS;
use reyn_core::permission::{FileOp, Target};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_index::bounds::ROWS_PER_WRITE_MAX;
use reyn_index::{SourceName, VectorStore, WriteMode, WriteOptions, Written};
use reyn_workspace::Workspace;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::knowledge::{Line, Lines, Row, failed, rows_to_chunks, source_name};
use crate::tool::{Context, Tool, ToolError, Touched, Wish};

pub(crate) struct IndexWrite;

/// What happens to the rows that are there.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// They stay.
    #[default]
    Append,
    /// They go.
    Replace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Name of the index.
    source: String,
    /// `{text, vector, metadata: {path}}` each.
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    chunks: Option<Vec<Row>>,
    /// JSON Lines file of them.
    input_artifact: Option<String>,
    /// `append` or `replace`.
    #[serde(default)]
    #[schemars(with = "String")]
    mode: Mode,
    /// The vectors' model, where rows do not say. Rarely wanted, so the schema does not spend words on it.
    #[schemars(skip)]
    embedding_model: Option<String>,
    /// What it holds.
    description: Option<String>,
    /// What it was made of. As rarely wanted.
    #[schemars(skip)]
    path: Option<String>,
}

impl Tool for IndexWrite {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "index_write",
        summary: "Keep texts and vectors in an index.",
        details: "",
        example: r#"{"source": "docs", "input_artifact": "embedded_chunks.jsonl", "mode": "append"}"#,
        category: Category::Embedding,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        let index = Wish::Index { op: FileOp::WriteIndex, source: args.source.clone() };
        let input = args.input_artifact.iter().map(|path| Wish::File { op: FileOp::Read, path: path.clone() });
        std::iter::once(index).chain(input).collect()
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let (knowledge, workspace) = (context.knowledge()?, context.workspace()?);
        let source = source_name(&args.source)?;
        let told = source.to_string();
        if args.chunks.is_some() == args.input_artifact.is_some() {
            return Err(ToolError::failed("give either `chunks` or `input_artifact`"));
        }
        let is_external = context.brought_by().is_some();
        let has_unnamed = args.chunks.iter().flatten().any(|row| row.vector.is_some());
        let usual = if has_unnamed { knowledge.usual_model().await } else { None };
        let (written, skipped, notes) = knowledge
            .with_store(move |store| {
                let input = args.input_artifact.as_ref().map(|_| touched.file(1).clone());
                // Vectors that say nothing of their model are of the one whose vectors are there.
                let there = store.stats(&source).ok().and_then(|stats| stats.model);
                let usual = there.or(usual);
                let mut writing = Writing::of(store, source, &args, usual, is_external);
                match (args.chunks, input) {
                    (Some(rows), _) => writing.write(rows)?,
                    (None, Some(input)) => writing.write_file(&workspace, &input, &context)?,
                    (None, None) => {}
                }
                Ok((writing.done.written, writing.done.skipped, writing.notes()))
            })
            .await?;
        let mut output = Output::default().with("source", told);
        if let Some(notes) = notes {
            output = output.with("note", notes);
        }
        Ok(output.with("chunks_written", written).with("chunks_skipped", skipped))
    }
}

/// A call's rows on their way into a store.
struct Writing<'a> {
    store: &'a dyn VectorStore,
    source: SourceName,
    options: WriteOptions,
    named: Option<String>,
    usual: Option<ModelIdentity>,
    is_external: bool,
    done: Written,
    bad: u64,
    first_bad: Option<String>,
}

impl<'a> Writing<'a> {
    fn of(
        store: &'a dyn VectorStore,
        source: SourceName,
        args: &Args,
        usual: Option<ModelIdentity>,
        is_external: bool,
    ) -> Self {
        let mode = match args.mode {
            Mode::Append => WriteMode::Append,
            Mode::Replace => WriteMode::Replace,
        };
        let options = WriteOptions {
            mode,
            description: args.description.clone(),
            path: args.path.clone(),
            ..WriteOptions::default()
        };
        let named = args.embedding_model.clone();
        let (done, bad, first_bad) = (Written::default(), 0, None);
        Self { store, source, options, named, usual, is_external, done, bad, first_bad }
    }

    fn write(&mut self, rows: Vec<Row>) -> Result<(), ToolError> {
        let (chunks, model) =
            rows_to_chunks(rows, self.named.as_deref(), self.usual.as_ref(), self.is_external)?;
        let options = WriteOptions { model, ..self.options.clone() };
        let written = self.store.write(&self.source, &chunks, &options).map_err(|error| failed(&error))?;
        self.done.written += written.written;
        self.done.skipped += written.skipped;
        Ok(())
    }

    /// What is added goes in piece by piece, each as a whole; what takes the place of other rows, all at once.
    fn write_file(&mut self, workspace: &Workspace, input: &Target, context: &Context) -> Result<(), ToolError> {
        let rows_max = match self.options.mode {
            WriteMode::Append => INDEX_WRITE_ROWS,
            WriteMode::Replace => ROWS_PER_WRITE_MAX,
        };
        let mut lines = Lines::new(workspace.open_file(input)?);
        loop {
            let mut rows = vec![];
            let mut is_end = false;
            while rows.len() < rows_max && !is_end {
                let line = lines.next();
                let line =
                    line.map_err(|error| ToolError::failed(format!("cannot read `{}`: {error}", input.asked)))?;
                let (number, why) = match line {
                    None => {
                        is_end = true;
                        continue;
                    }
                    Some(Line::Bad { number, why }) => (number, why),
                    Some(Line::Object(row)) => match serde_json::from_value::<Row>(Value::Object(row)) {
                        Ok(row) => {
                            rows.push(row);
                            continue;
                        }
                        Err(error) => (lines.number(), error.to_string()),
                    },
                };
                self.bad += 1;
                self.first_bad.get_or_insert_with(|| format!("line {number}: {why}"));
            }
            if context.cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            let is_whole = is_end || self.options.mode == WriteMode::Append;
            if !is_whole {
                let message =
                    format!("`{}` has more than {ROWS_PER_WRITE_MAX} rows, which one `replace` takes", input.asked);
                return Err(ToolError::failed(message).hint("drop the source, then append"));
            }
            self.write(rows)?;
            if is_end {
                return Ok(());
            }
        }
    }

    fn notes(&self) -> Option<String> {
        let first = self.first_bad.as_ref()?;
        Some(format!("{} lines are no rows and were passed over, {first}", self.bad))
    }
}
