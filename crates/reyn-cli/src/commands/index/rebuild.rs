//! `reyn index rebuild`: the vectors of a source, made anew.

use reyn_index::{Chunk, IndexError, Rebuild, SqliteStore, VectorStore};
use reyn_llm::Embedder;
use serde_json::json;
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

pub(super) fn run(project: &Project, store: &SqliteStore, args: &SourceArgs) -> Result<Exit, Failure> {
    let name = source(&args.source)?;
    store.stats(&name).map_err(|error| failed(&error))?;
    let rows = runtime()?.block_on(async {
        let cancel = CancellationToken::new();
        let signals = tokio::spawn(cancel_on_signal(cancel.clone()));
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Failure::interrupted(
                "interrupted; the old index answers, and the next `reyn index rebuild` goes on from here",
            )),
            result = rebuilt(project, store, args) => result,
        };
        signals.abort();
        result
    })?;
    if args.json {
        output::json(&json!({ "source": name.as_str(), "chunk_count": rows }));
    } else {
        output::result_line(&format!("`{name}` is rebuilt with {rows} passages"));
    }
    Ok(Exit::Done)
}

async fn rebuilt(project: &Project, store: &SqliteStore, args: &SourceArgs) -> Result<u64, Failure> {
    let name = source(&args.source)?;
    let embedder = match open(project, None, person::is_there()).await? {
        Opened::Ready(embedder) => embedder,
        Opened::Off { why } => {
            let message = format!("there is nothing to make vectors with: {why}");
            return Err(Failure::usage("no_embeddings", message));
        }
    };
    // A server does not say how long its vectors are before it has made one.
    if embedder.identity().is_none() {
        vectors(&embedder, &["dimensions".to_owned()]).await?;
    }
    let model = embedder.identity();
    let mut rebuild = store.rebuild(&name, model.as_ref()).map_err(|error| failed(&error))?;
    for _ in 0..ROUNDS_MAX {
        fill(rebuild.as_mut(), &embedder).await?;
        match rebuild.finish() {
            Ok(rows) => return Ok(rows),
            Err(IndexError::ChangedMeanwhile { .. }) => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    Err(Failure::failed("index", format!("`{name}` is written all the time; rebuild it when it is not")))
}

/// Takes in what the rebuild has not seen.
async fn fill(rebuild: &mut dyn Rebuild, embedder: &Embedder) -> Result<(), Failure> {
    loop {
        let mut rows = rebuild.pending(BATCH_ROWS).map_err(|error| failed(&error))?;
        if rows.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = rows.iter().map(embedded_text).collect();
        for (row, vector) in rows.iter_mut().zip(vectors(embedder, &texts).await?) {
            row.vector = vector;
        }
        rebuild.write(&rows).map_err(|error| failed(&error))?;
        // Signals are heard in between.
        tokio::task::yield_now().await;
    }
}

/// The text behind a vector: a passage and the headings above it.
fn embedded_text(row: &Chunk) -> String {
    match row.metadata.parent_context.as_deref() {
        Some(context) => format!("{context}\n{}", row.text),
        None => row.text.clone(),
    }
}

async fn vectors(embedder: &Embedder, texts: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
    let embedded = embedder.embed(texts, &|_| {}).await;
    Ok(embedded.map_err(|error| Failure::failed(error.kind.name(), error.message))?.vectors)
}
