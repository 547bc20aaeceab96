//! `reyn index rebuild`: the vectors of a source, made anew.

use reyn_index::{Chunk, IndexError, Rebuild, VectorStore};
use reyn_llm::Embedder;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::{SourceArgs, failed, source};
use crate::embedding_choice::{Opened, open};
use crate::exit::{Exit, Failure};
use crate::signals::cancel_on_signal;
use crate::wiring::{Project, runtime};
use crate::{output, person};

/// Passages that are embedded and written at once.
const BATCH_ROWS: usize = 64;
/// How often rows that were written meanwhile are taken in before it is left to another run.
const ROUNDS_MAX: usize = 10;

pub(super) fn run(project: &Project, store: &dyn VectorStore, args: &SourceArgs) -> Result<Exit, Failure> {
    let name = source(&args.source)?;
    store.stats(&name).map_err(|error| failed(&error))?;
    let runtime = runtime()?;
    let cancel = CancellationToken::new();
    let signals = {
        let _entered = runtime.enter();
        runtime.spawn(cancel_on_signal(cancel.clone()))
    };
    let rebuilt = rebuilt(project, store, args, &Vectors { runtime: &runtime, cancel: &cancel });
    signals.abort();
    let rows = rebuilt?;
    if args.json {
        output::json(&json!({ "source": name.as_str(), "chunk_count": rows }));
    } else {
        output::result_line(&format!("`{name}` is rebuilt with {rows} passages"));
    }
    Ok(Exit::Done)
}

/// The store blocks, some with a runtime of their own, so only vectors are made asynchronously.
fn rebuilt(
    project: &Project,
    store: &dyn VectorStore,
    args: &SourceArgs,
    vectors: &Vectors<'_>,
) -> Result<u64, Failure> {
    let name = source(&args.source)?;
    let embedder = match vectors.runtime.block_on(open(project, None, person::is_there()))? {
        Opened::Ready(embedder) => embedder,
        Opened::Off { why } => {
            let message = format!("there is nothing to make vectors with: {why}");
            return Err(Failure::usage("no_embeddings", message));
        }
    };
    // A server does not say how long its vectors are before it has made one.
    if embedder.identity().is_none() {
        vectors.of(&embedder, &["dimensions".to_owned()])?;
    }
    let model = embedder.identity();
    let mut rebuild = store.rebuild(&name, model.as_ref()).map_err(|error| failed(&error))?;
    for _ in 0..ROUNDS_MAX {
        fill(rebuild.as_mut(), &embedder, vectors)?;
        match rebuild.finish() {
            Ok(rows) => return Ok(rows),
            Err(IndexError::ChangedMeanwhile { .. }) => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    Err(Failure::failed("index", format!("`{name}` is written all the time; rebuild it when it is not")))
}

/// Takes in what the rebuild has not seen.
fn fill(rebuild: &mut dyn Rebuild, embedder: &Embedder, vectors: &Vectors<'_>) -> Result<(), Failure> {
    loop {
        let mut rows = rebuild.pending(BATCH_ROWS).map_err(|error| failed(&error))?;
        if rows.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = rows.iter().map(embedded_text).collect();
        for (row, vector) in rows.iter_mut().zip(vectors.of(embedder, &texts)?) {
            row.vector = vector;
        }
        rebuild.write(&rows).map_err(|error| failed(&error))?;
    }
}

/// The text behind a vector: a passage and the headings above it.
fn embedded_text(row: &Chunk) -> String {
    match row.metadata.parent_context.as_deref() {
        Some(context) => format!("{context}\n{}", row.text),
        None => row.text.clone(),
    }
}

/// Makes vectors until it is interrupted.
struct Vectors<'a> {
    runtime: &'a Runtime,
    cancel: &'a CancellationToken,
}

impl Vectors<'_> {
    fn of(&self, embedder: &Embedder, texts: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        self.runtime.block_on(async {
            // Signals are heard while the runtime runs.
            tokio::task::yield_now().await;
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => Err(Failure::interrupted(
                    "interrupted; the old index answers, and the next `reyn index rebuild` goes on from here",
                )),
                embedded = embedder.embed(texts, &|_| {}) => {
                    let failed = |error: reyn_llm::ModelError| Failure::failed(error.kind.name(), error.message);
                    Ok(embedded.map_err(failed)?.vectors)
                }
            }
        })
    }
}
