//! Which model would answer, why, and whether its server is there.

use std::time::Duration;

use reyn_core::text::{alternatives, nearest};
use reyn_llm::files::FileState;
use reyn_llm::{Endpoint, ListError, ListTimes, list_models, local_servers};

use super::{Finding, Surroundings};
use crate::local_model::{best, store};
use crate::model_choice::{Plan, providers};
use crate::wiring;
use reyn_llm::files::free_memory_bytes;

/// How long a server may take; the choice of a model and this are done in the doctor's time.
const TIMES: ListTimes =
    ListTimes { connect: Duration::from_millis(1_500), answer: Duration::from_millis(3_000) };

/// The usual port of Ollama, which other names than `ollama` may stand for.
const OLLAMA_PORT: &str = ":11434";

pub(super) fn check(surroundings: &Surroundings) -> Vec<Finding> {
    let runtime = match wiring::runtime() {
        Ok(runtime) => runtime,
        Err(failure) => return vec![Finding::warn(failure.message, "close other programs")],
    };
    let mut findings = match surroundings.plan() {
        None => vec![Finding::warn("not looked at: the configuration is wrong", "mend what `config` says")],
        Some(Err(failure)) => vec![Finding::fail(
            failure.message.clone(),
            "`reyn config show --origin` says what is set and where; `reyn config edit` opens it",
        )],
        Some(Ok(Plan::Local { named, why })) => vec![in_this_process(named.as_deref(), why)],
        Some(Ok(Plan::Server { untrusted: Some(untrusted), .. })) => {
            vec![Finding::fail(format!("{}; nothing was sent", untrusted.sentence()), untrusted.remedy())]
        }
        Some(Ok(Plan::Server { endpoint, why, untrusted: None, .. })) => {
            let chosen =
                format!("`{}/{}` at {} ({why})", endpoint.provider, endpoint.model, endpoint.address.shown());
            let answer = runtime.block_on(list_models(&endpoint.address, endpoint.key.as_ref(), TIMES));
            let mut findings = vec![Finding::ok(chosen), answered(endpoint, answer)];
            findings.extend(window(endpoint));
            findings
        }
    };
    findings.push(servers_here(surroundings, &runtime));
    findings
}

fn in_this_process(named: Option<&str>, why: &str) -> Finding {
    if !cfg!(feature = "local") {
        return Finding::fail(
            format!("none answers ({why}), and this program was built without the local model"),
            "set a provider's key, e.g. `export OPENAI_API_KEY=…`; or start Ollama, LM Studio or llama.cpp here; \
             or name a model with `reyn config edit`",
        );
    }
    let store = match store() {
        Ok(store) => store,
        Err(failure) => return Finding::fail(failure.message, "mend the list of models"),
    };
    let id = named.map_or_else(|| best(&store, free_memory_bytes()).id.clone(), str::to_owned);
    match store.status(&id) {
        Ok(stored) if stored.state == FileState::Present => {
            Finding::ok(format!("`local/{id}`, in this process ({why})"))
        }
        Ok(_) => Finding::warn(
            format!("`local/{id}` would answer ({why}), and its file is not here"),
            format!("`reyn models pull {id}` fetches it"),
        ),
        Err(error) => Finding::fail(error.to_string(), "`reyn models list` shows the names"),
    }
}

/// What the server says of itself.
fn answered(endpoint: &Endpoint, answer: Result<Vec<String>, ListError>) -> Finding {
    let model = &endpoint.model;
    match answer {
        Ok(models) if models.is_empty() => Finding::info("its server answers, and lists no models"),
        Ok(models) if has(&models, model) => Finding::ok(format!("its server answers and lists `{model}`")),
        Ok(models) => {
            let near = nearest(model, models.iter().map(String::as_str));
            let fix = if near.is_empty() {
                format!("it lists {}", alternatives(&models[..models.len().min(5)]))
            } else {
                format!("did you mean {}?", alternatives(&near))
            };
            Finding::warn(format!("its server answers, but does not list `{model}`"), fix)
        }
        Err(ListError::Status(status @ (401 | 403))) if endpoint.key.is_some() => Finding::fail(
            format!("its server refuses the key ({status})"),
            "set the right one; `keys` says which is used",
        ),
        Err(ListError::Status(status @ (401 | 403))) => Finding::fail(
            format!("its server wants a key ({status})"),
            "name the variable that holds it: `api_key_env` beside the model",
        ),
        Err(ListError::Status(status @ (404 | 405))) => {
            Finding::info(format!("its server answers, and has no list of models ({status})"))
        }
        Err(error @ (ListError::Status(_) | ListError::NoList)) => Finding::warn(
            format!("its server is there, but {error}"),
            "is `api_base` the address up to `/v1`? Else try again later",
        ),
        Err(error @ (ListError::Address(_) | ListError::Unreachable(_) | ListError::Slow(_))) => {
            Finding::fail(
                format!("no answer from its server: {error}"),
                "is it running, is `api_base` right, and does the network or its proxy let it through?",
            )
        }
    }
}

/// Whether a list has a model; some servers put a folder before its name.
fn has(models: &[String], model: &str) -> bool {
    models.iter().any(|id| id == model || id.strip_suffix(model).is_some_and(|before| before.ends_with('/')))
}

/// What is known of servers that cut a conversation without a word.
fn window(endpoint: &Endpoint) -> Option<Finding> {
    let is_ollama = endpoint.provider == "ollama" || endpoint.address.shown().contains(OLLAMA_PORT);
    let message = "Ollama cuts what is longer than its context window and says nothing; its default can be as short as \
                   4096 tokens, and Reyn cannot set it";
    let fix =
        "`ollama ps` shows it; `OLLAMA_CONTEXT_LENGTH=32768 ollama serve` makes it longer, if memory allows";
    is_ollama.then(|| Finding::info(message).with_fix(fix))
}

fn servers_here(surroundings: &Surroundings, runtime: &tokio::runtime::Runtime) -> Finding {
    let Ok(providers) = providers(surroundings.home()) else {
        return Finding::info("servers on this machine were not looked for: the list of providers is wrong");
    };
    let found: Vec<String> = runtime
        .block_on(local_servers(&providers))
        .into_iter()
        .map(|server| format!("{} at {} with `{}`", server.provider, server.api_base, server.model))
        .collect();
    if found.is_empty() {
        return Finding::info("no model server on this machine answers at a usual port");
    }
    Finding::info(format!("on this machine: {}", found.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_folder_before_it_is_the_model() {
        let models = ["models/gemini".to_owned(), "gpt-large".to_owned()];
        assert_eq!(["gemini", "gpt-large", "large"].map(|model| has(&models, model)), [true, true, false]);
    }
}
