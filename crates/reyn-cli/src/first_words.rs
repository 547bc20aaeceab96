//! What `reyn` alone says: where to start, and what is missing for it.

use crate::exit::Failure;
use crate::model_choice::{is_named, providers};
use crate::wiring::Project;

const START: &str = "\
reyn: a language model decides, the runtime enforces.

Start here:
  reyn chat                              talk about the files in this folder
  reyn ask \"what does README.md say?\"    one question, answered from your files
  reyn init                              a commented configuration for this folder
  reyn doctor                            what is wrong, and what to do about it
  reyn --help                            every command
";

/// The first words, with the first thing to do when nothing can answer yet. Asks no server: it answers at once.
pub(crate) fn first_words() -> String {
    match missing(Project::load()) {
        Some(hint) => format!("{START}\n{hint}\n"),
        None => START.to_owned(),
    }
}

fn missing(project: Result<Project, Failure>) -> Option<&'static str> {
    let Ok(project) = project else {
        return Some(
            "First: the configuration is wrong; `reyn config check` says where, `reyn config edit` opens it.",
        );
    };
    let providers = providers(project.config.home.as_deref()).ok()?;
    if is_named(&project, &providers) {
        return None;
    }
    Some(if cfg!(feature = "local") {
        "No model is named yet, and none needs to be: a server on this machine or a local model answers.\n\
         A provider's key does too, e.g. `export OPENAI_API_KEY=…`."
    } else {
        "First: no model is named yet. Start a server on this machine (Ollama, LM Studio, llama.cpp), which is\n\
         found by itself, or set a provider's key, e.g. `export OPENAI_API_KEY=…`."
    })
}
