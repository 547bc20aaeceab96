//! Which keys are there, by name alone.

use std::collections::BTreeSet;

use reyn_core::settings::{EmbeddingClass, ModelClass};
use reyn_runtime::config::Secrets;

use super::{Finding, Surroundings};
use crate::model_choice::{Plan, providers};

pub(super) fn check(surroundings: &Surroundings) -> Vec<Finding> {
    let mut findings = present(surroundings);
    findings.extend(of_the_model(surroundings));
    findings.extend(mode(surroundings));
    findings
}

/// Whether the model that would answer has its key.
fn of_the_model(surroundings: &Surroundings) -> Option<Finding> {
    match surroundings.plan()? {
        // What would go to a server that nobody trusts is told of the model.
        Ok(Plan::Server { untrusted: Some(_), .. }) => None,
        Ok(Plan::Server { endpoint, key_name: Some(name), .. }) => {
            Some(Finding::ok(format!("`{}/{}` is asked with `{name}`", endpoint.provider, endpoint.model)))
        }
        Ok(Plan::Server { endpoint, key_name: None, .. }) => {
            Some(Finding::info(format!("`{}/{}` is asked without a key", endpoint.provider, endpoint.model)))
        }
        Ok(Plan::Local { .. }) => None,
        Err(failure) if failure.kind == "no_key" => {
            Some(Finding::fail(failure.message.clone(), "`reyn config path` says where the file is"))
        }
        Err(_) => None,
    }
}

/// The keys of known providers, and of the models that are configured.
fn present(surroundings: &Surroundings) -> Vec<Finding> {
    let home = surroundings.home();
    let known = match providers(home) {
        Ok(providers) => providers,
        Err(failure) => {
            return vec![Finding::fail(
                failure.message,
                "an error in this list stops every model from answering",
            )];
        }
    };
    let mut names: BTreeSet<String> =
        known.all().iter().flat_map(|provider| provider.key_env.iter().cloned()).collect();
    if let Ok(project) = surroundings.project() {
        names.extend(project.config.settings.llm.models.values().filter_map(key_of));
        names.extend(project.config.settings.embedding.classes.values().filter_map(key_of_embedding));
    }
    let secrets =
        home.and_then(|home| Secrets::load(home).ok()).map(|(secrets, _)| secrets).unwrap_or_default();
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let kept = |name: &str| secrets.get(name).is_some_and(|value| !value.trim().is_empty());
    let found: Vec<String> = names
        .iter()
        .filter_map(|name| match (is_set(name), kept(name)) {
            (true, _) => Some(format!("`{name}` in the environment")),
            (false, true) => Some(format!("`{name}` in ~/.reyn/secrets.env")),
            (false, false) => None,
        })
        .collect();
    if found.is_empty() {
        let message = "no key of a provider is set";
        let fix = "none is needed for a server on this machine; else `export OPENAI_API_KEY=…`, or a line of ~/.reyn/secrets.env";
        return vec![Finding::info(message).with_fix(fix)];
    }
    vec![Finding::ok(found.join(", "))]
}

fn key_of(class: &ModelClass) -> Option<String> {
    match class {
        ModelClass::Name(_) => None,
        ModelClass::Options(options) => options.api_key_env.clone(),
    }
}

fn key_of_embedding(class: &EmbeddingClass) -> Option<String> {
    match class {
        EmbeddingClass::Name(_) => None,
        EmbeddingClass::Options(options) => options.api_key_env.clone(),
    }
}

/// Whether others can read the secrets file.
fn mode(surroundings: &Surroundings) -> Option<Finding> {
    let mode = surroundings.secrets_mode?;
    if mode & 0o077 == 0 {
        return Some(Finding::ok(format!("~/.reyn/secrets.env is yours alone (mode {mode:o})")));
    }
    let message = format!("~/.reyn/secrets.env could be read by others (mode {mode:o})");
    Some(Finding::warn(
        message,
        "Reyn sets its mode to 600 when it reads it; if others use this machine, change the keys",
    ))
}
