//! The model that runs in this process, and the files it needs.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use reyn_core::settings::AutoPull;
use reyn_llm::files::{
    Catalogue, FileState, ModelFile, ModelKind, ModelStore, PullProgress, free_memory_bytes,
};

use crate::exit::Failure;
use crate::model_choice::Choice;
use crate::output;
use crate::wiring::{Project, cache_folder, home};

pub(crate) use reyn_core::embedding::LOCAL_PROVIDER as PROVIDER;

/// The store of model files, with the operator's own `~/.reyn/models.toml` in place of the bundled list.
pub(crate) fn store() -> Result<ModelStore, Failure> {
    let own = home().map(|home| home.join(".reyn/models.toml"));
    let catalogue = match own.map(|path| (std::fs::read_to_string(&path), path)) {
        Some((Ok(text), path)) => Catalogue::parse(&text)
            .map_err(|error| Failure::usage("config", format!("`{}`: {error}", path.display())))?,
        Some((Err(error), path)) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::usage(
                "config",
                format!("cannot read `{}`: {error}; look at its owner and mode", path.display()),
            ));
        }
        Some((Err(_), _)) | None => Catalogue::bundled().clone(),
    };
    Ok(ModelStore::new(cache_folder()?.join("models"), catalogue))
}

/// Opens the local model: the one named, else the best that is here and fits, else the best that fits,
/// which is fetched as `models.auto_pull` says.
pub(crate) async fn open(
    project: &Project,
    named: Option<&str>,
    why: String,
    may_ask: bool,
) -> Result<Choice, Failure> {
    if !cfg!(feature = "local") {
        return Err(no_engine(&why));
    }
    let store = store()?;
    let free = free_memory_bytes();
    let model = match named {
        Some(id) => store
            .catalogue()
            .model_of_kind(id, ModelKind::Chat)
            .map_err(|error| Failure::usage("unknown_model", error.to_string()))?,
        None => best(&store, free),
    };
    let state =
        store.status(&model.id).map_err(|error| Failure::failed("model_file", error.to_string()))?.state;
    if state != FileState::Present {
        fetch(project, &store, model, may_ask).await?;
    }
    let path = store.path(model.first());
    let choice = engine(project, model, &path, why)?;
    Ok(Choice { note: Some(model.memory_note(free)), ..choice })
}

/// The best model that is here and fits, else the best that fits.
pub(crate) fn best(store: &ModelStore, free: Option<u64>) -> &ModelFile {
    let fitting = store.catalogue().fitting(free);
    let is_here =
        |model: &ModelFile| store.status(&model.id).is_ok_and(|stored| stored.state == FileState::Present);
    let fits = |model: &ModelFile| model.free_memory_bytes_min <= fitting.free_memory_bytes_min;
    let here = store.catalogue().of_kind(ModelKind::Chat).find(|model| fits(model) && is_here(model));
    here.unwrap_or(fitting)
}

async fn fetch(
    project: &Project,
    store: &ModelStore,
    model: &ModelFile,
    may_ask: bool,
) -> Result<(), Failure> {
    let size = output::size(model.bytes());
    let by_hand = format!("`reyn models pull {}` fetches it", model.id);
    match project.config.settings.models.auto_pull {
        AutoPull::Never => {
            return Err(Failure::usage(
                "no_model",
                format!(
                    "the local model `{}` ({size}) is not here and `models.auto_pull` is `never`; {by_hand}",
                    model.id
                ),
            ));
        }
        AutoPull::Ask if !may_ask => {
            return Err(Failure::usage(
                "no_model",
                format!(
                    "no model is configured and the local model `{}` ({size}) is not here; {by_hand}, \
                     `models.auto_pull: always` does so by itself, or set a provider's key",
                    model.id
                ),
            ));
        }
        AutoPull::Ask => {
            output::note_part(&format!(
                "No model is configured. Fetch `{}` ({size}) to run here? [Y/n] ",
                model.id
            ));
            if !is_yes().await {
                return Err(Failure::usage("no_model", format!("not fetched; {by_hand}")));
            }
        }
        AutoPull::Always => {}
    }
    pull(store, &model.id).await
}

async fn is_yes() -> bool {
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).ok().filter(|taken| *taken > 0).map(|_| line)
    })
    .await;
    matches!(line.ok().flatten().as_deref().map(str::trim), Some("" | "y" | "Y" | "yes"))
}

/// Fetches a model and shows how far it is.
pub(crate) async fn pull(store: &ModelStore, id: &str) -> Result<(), Failure> {
    let is_watched = std::io::stderr().is_terminal();
    let mut last = String::new();
    let mut show = |progress: PullProgress<'_>| {
        if progress.is_failure && is_watched {
            output::note_part("\r\x1b[K");
            output::note(progress.what);
        } else if is_watched {
            output::note_part(&format!("\r\x1b[K{}", bar(&progress)));
        } else if last != progress.what {
            output::note(progress.what);
        }
        last = progress.what.to_owned();
    };
    let result = store.pull(id, &mut show).await;
    if is_watched {
        output::note("");
    }
    result.map(drop).map_err(|error| Failure::failed("model_file", error.to_string()))
}

/// `what  ███░░  45 %  220.1 MB of 491.4 MB`.
fn bar(progress: &PullProgress<'_>) -> String {
    const CELLS: u64 = 20;
    let total = progress.bytes_total.max(1);
    let done = progress.bytes_done.min(total);
    let full = usize::try_from(done * CELLS / total).unwrap_or(0);
    let rest = usize::try_from(CELLS).unwrap_or(0) - full;
    format!(
        "{}  {}{}  {} %  {} of {}",
        progress.what,
        "█".repeat(full),
        "░".repeat(rest),
        done * 100 / total,
        output::size(done),
        output::size(total)
    )
}

#[cfg(feature = "local")]
fn engine(project: &Project, model: &ModelFile, path: &Path, why: String) -> Result<Choice, Failure> {
    use std::sync::Arc;
    let cores =
        std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
    let options = reyn_local::LocalOptions {
        model_path: path.to_owned(),
        model_id: model.id.clone(),
        sha256: model.first().sha256.clone(),
        threads: project.config.settings.models.threads.unwrap_or_else(|| cores.min(8)).max(1),
        context_tokens: model.context_tokens.min(CONTEXT_TOKENS_MAX),
        state_dir: Some(cache_folder()?.join("prompt-states")),
    };
    let context_tokens = Some(options.context_tokens);
    let model = reyn_local::LocalChat::open(options)
        .map_err(|error| Failure::failed(error.kind.name(), error.to_string()))?;
    Ok(Choice { model: Arc::new(model), why, note: None, context_tokens, price: None })
}

/// Context that is held in memory, in tokens: more costs memory from the start.
#[cfg(feature = "local")]
const CONTEXT_TOKENS_MAX: u32 = 8_192;

#[cfg(not(feature = "local"))]
fn engine(_project: &Project, _model: &ModelFile, _path: &Path, why: String) -> Result<Choice, Failure> {
    Err(no_engine(&why))
}

fn no_engine(why: &str) -> Failure {
    Failure::usage(
        "no_model",
        format!(
            "the local model would answer ({why}), but this program was built without it. Do one of these:\n  \
             - set a provider's key, e.g. `export OPENAI_API_KEY=…`\n  \
             - start a server on this machine, e.g. Ollama, LM Studio or llama.cpp\n  \
             - name a model in `reyn.yaml` under `llm` (`reyn init` writes one)\n  \
             - build with `--features local`"
        ),
    )
}
