//! `reyn models`: local model files.

use std::fmt::Write as _;

use reyn_llm::files::{FileState, ModelFileError, ModelStore, StoredModel};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::ModelsCommand;
use crate::exit::{Exit, Failure};
use crate::local_model::{pull, store};
use crate::output;
use crate::signals::cancel_on_signal;

/// Lists, fetches, checks or removes.
pub(crate) fn run(command: &ModelsCommand) -> Result<Exit, Failure> {
    let store = store()?;
    match command {
        ModelsCommand::List(args) => {
            let stored = store.list();
            if args.json {
                output::json(&json!({ "models": stored.iter().map(in_json).collect::<Vec<_>>() }));
            } else {
                output::result(&table(&stored));
            }
            Ok(Exit::Done)
        }
        ModelsCommand::Pull { name, from, json } => {
            known(&store, name)?;
            let work = async {
                match from {
                    None => pull(&store, name).await,
                    Some(path) => store.pull_from(name, path).await.map(drop).map_err(failed),
                }
            };
            until_cancelled(work, "interrupted; the next `reyn models pull` goes on from here")?;
            told(&store, name, *json, "is here")
        }
        ModelsCommand::Verify { name, json } => {
            known(&store, name)?;
            until_cancelled(async { store.verify(name).await.map(drop).map_err(failed) }, "interrupted")?;
            told(&store, name, *json, "is what it should be")
        }
        ModelsCommand::Rm { name, json } => {
            known(&store, name)?;
            let was_there = store.rm(name).map_err(failed)?;
            told(&store, name, *json, if was_there { "is removed" } else { "was not here" })
        }
    }
}

fn known(store: &ModelStore, name: &str) -> Result<(), Failure> {
    store
        .catalogue()
        .model(name)
        .map(drop)
        .map_err(|error| Failure::usage("unknown_model", error.to_string()))
}

fn failed(error: ModelFileError) -> Failure {
    let hint = if matches!(error, ModelFileError::Folder { .. }) {
        "; look at its owner and mode, or name another folder with `REYN_CACHE_DIR`"
    } else {
        ""
    };
    Failure::failed("model_file", format!("{error}{hint}"))
}

/// Does the work unless a signal comes first; that is a failure with these words.
fn until_cancelled(work: impl Future<Output = Result<(), Failure>>, words: &str) -> Result<(), Failure> {
    let runtime = crate::wiring::runtime()?;
    let result = runtime.block_on(async {
        let cancel = CancellationToken::new();
        let signals = tokio::spawn(cancel_on_signal(cancel.clone()));
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Failure::interrupted(words)),
            result = work => result,
        };
        signals.abort();
        result
    });
    runtime.shutdown_background();
    result
}

fn told(store: &ModelStore, name: &str, as_json: bool, what: &str) -> Result<Exit, Failure> {
    let stored = store.status(name).map_err(failed)?;
    if as_json {
        let mut value = in_json(&stored);
        value["status"] = json!("ok");
        output::json(&value);
    } else {
        let paths: Vec<String> = stored.paths.iter().map(|path| path.display().to_string()).collect();
        output::result_line(&format!("`{name}` {what}: {}", paths.join(", ")));
    }
    Ok(Exit::Done)
}

fn in_json(stored: &StoredModel<'_>) -> Value {
    let (state, bytes_here) = match stored.state {
        FileState::Present => ("present", stored.model.bytes()),
        FileState::Partial(bytes) => ("partial", bytes),
        FileState::Absent => ("absent", 0),
    };
    let files: Vec<Value> = stored
        .model
        .files
        .iter()
        .zip(&stored.paths)
        .map(|(file, path)| json!({"sha256": file.sha256, "bytes": file.bytes, "path": path}))
        .collect();
    json!({
        "name": stored.model.id,
        "description": stored.model.description,
        "licence": stored.model.licence,
        "kind": stored.model.kind.name(),
        "sha256": stored.model.first().sha256,
        "bytes": stored.model.bytes(),
        "memory_bytes": stored.model.memory_bytes,
        "state": state,
        "bytes_here": bytes_here,
        "path": stored.paths.first(),
        "files": files,
    })
}

fn table(stored: &[StoredModel<'_>]) -> String {
    let width = stored.iter().map(|one| one.model.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for one in stored {
        let state = match one.state {
            FileState::Present => "here".to_owned(),
            FileState::Partial(bytes) => format!("{} % here", bytes * 100 / one.model.bytes().max(1)),
            FileState::Absent => "not here".to_owned(),
        };
        let size = output::size(one.model.bytes());
        let _ = writeln!(text, "{:<width$}  {size:>8}  {state:<10}  {}", one.model.id, one.model.description);
    }
    text
}
