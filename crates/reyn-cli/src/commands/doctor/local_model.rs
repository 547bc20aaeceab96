//! Whether the local model is built in, and which of its files are here.

use reyn_llm::files::{FileState, ModelKind, StoredModel};

use super::{Finding, Surroundings};
use crate::local_model::store;
use crate::output;

pub(super) fn check(_: &Surroundings) -> Vec<Finding> {
    let is_built_in = cfg!(feature = "local");
    let engine = if is_built_in {
        Finding::ok("built in")
    } else {
        Finding::info("not built in; `cargo build --features local` makes a program that has it")
    };
    let store = match store() {
        Ok(store) => store,
        Err(failure) => {
            return vec![
                engine,
                Finding::fail(failure.message, "`reyn config path` says which files there are"),
            ];
        }
    };
    let files: Vec<Finding> = store.list().iter().filter(is_chat).filter_map(file).collect();
    let none = is_built_in && files.is_empty();
    let absent = none.then(|| {
        Finding::info("no model file is here").with_fix("`reyn models list` shows what can be fetched")
    });
    [engine].into_iter().chain(files).chain(absent).collect()
}

/// What makes vectors is told of `embeddings`.
fn is_chat(stored: &&StoredModel<'_>) -> bool {
    stored.model.kind == ModelKind::Chat
}

fn file(stored: &StoredModel<'_>) -> Option<Finding> {
    let id = &stored.model.id;
    match stored.state {
        FileState::Present => Some(Finding::ok(format!(
            "`{id}` is here ({}); `reyn models verify {id}` checks its hash, which takes a while",
            output::size(stored.model.bytes())
        ))),
        FileState::Partial(bytes) => Some(Finding::warn(
            format!("{} of {} of `{id}` are here", output::size(bytes), output::size(stored.model.bytes())),
            format!("`reyn models pull {id}` goes on from there"),
        )),
        FileState::Absent => None,
    }
}
