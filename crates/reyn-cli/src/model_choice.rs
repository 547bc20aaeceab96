//! Which model answers, and why: a configured class, a provider whose key is in the environment, a server on
//! this machine, or the local model — in this order.

use std::path::Path;
use std::sync::Arc;

use reyn_core::settings::{ModelClassError, ModelOptions, ModelSpec, Price, STANDARD_CLASSES};
use reyn_core::text::{alternatives, nearest};
use reyn_core::tool_use::Framing;
use reyn_llm::{
    ApiKey, ChatModel, Endpoint, LlmTimeouts, NamedBy, OpenAiChat, Provider, Providers, Recording, Retrying,
    ServerAddress, ServerOrigin, ServerTrust, find_local_server, server_trust,
};
use reyn_runtime::config::WrittenAddress;

use crate::exit::Failure;
use crate::local_model;
use crate::untrusted_server::{self, UntrustedServer};
use crate::wiring::Project;

/// A model, and the sentence that says why it is this one.
pub(crate) struct Choice {
    /// Who answers.
    pub model: Arc<dyn ChatModel>,
    /// Why, for the first line.
    pub why: String,
    /// What the person should know before it starts.
    pub note: Option<String>,
    /// Size of its context window, in tokens, where it is known.
    pub context_tokens: Option<u32>,
    /// What its tokens cost, where that is known.
    pub price: Option<Price>,
}

/// Who would answer, before anything is opened or fetched.
pub(crate) enum Plan {
    /// A server.
    Server {
        /// Where it is and how it is asked.
        endpoint: Box<Endpoint>,
        /// The variable that holds its key.
        key_name: Option<String>,
        /// Why it.
        why: String,
        /// What has to be asked before anything is sent there.
        untrusted: Option<Box<UntrustedServer>>,
    },
    /// The model that runs in this process.
    Local {
        /// The one that is named, if one is.
        named: Option<String>,
        /// Why it.
        why: String,
    },
}

/// Chooses. `asked` is `--model`.
pub(crate) async fn choose(project: &Project, asked: Option<&str>, may_ask: bool) -> Result<Choice, Failure> {
    match plan(project, asked).await? {
        Plan::Server { endpoint, why, untrusted, .. } => {
            if let Some(untrusted) = untrusted {
                untrusted.consent(may_ask).await?;
            }
            Ok(open_server(project, *endpoint, why))
        }
        Plan::Local { named, why } => local_model::open(project, named.as_deref(), why, may_ask).await,
    }
}

/// Says who would answer, and why. Opens nothing, but asks whether servers are there on this machine.
pub(crate) async fn plan(project: &Project, asked: Option<&str>) -> Result<Plan, Failure> {
    let llm = &project.config.settings.llm;
    let is_suggested = |name: &str| STANDARD_CLASSES.contains(&name) && !llm.models.contains_key(name);
    let configured = asked.or_else(|| llm.default_class());
    if let Some(name) = configured.filter(|name| !is_suggested(name)) {
        let spec = llm.resolve(name).map_err(|error| unresolved(&error))?;
        let why = match (asked, project.config.origin("llm.model")) {
            (Some(_), _) => "`--model`".to_owned(),
            (None, Some(origin)) => format!("`llm.model` in {origin}"),
            (None, None) => format!("class `{name}` of `llm.models`"),
        };
        if spec.provider == local_model::PROVIDER && spec.options.api_base.is_none() {
            return Ok(Plan::Local { named: Some(spec.model), why });
        }
        return at_server(project, &providers(project.config.home.as_deref())?, spec, why);
    }
    if let (None, Some(class)) = (configured, llm.models.keys().next()) {
        let message = format!("`llm.models` has classes, but none answers; set `llm.model: {class}`");
        return Err(Failure::usage("unknown_model", message));
    }
    let class = configured.unwrap_or("standard");
    let providers = providers(project.config.home.as_deref())?;
    let read =
        |name: &str| project.config.variable(name).filter(|key| !key.trim().is_empty()).map(str::to_owned);
    if let Some((provider, key_name)) = providers.first_with_key(&read)
        && let Some(model) = provider.models.class(class)
    {
        let spec = ModelSpec {
            provider: provider.name.clone(),
            model: model.to_owned(),
            options: ModelOptions {
                api_base: llm.api_base.clone(),
                extra_body: provider.extra_body.clone(),
                ..ModelOptions::default()
            },
        };
        let why = format!("`{key_name}` is set and nothing is configured");
        return at_server(project, &providers, spec, why);
    }
    if let Some(api_base) = &llm.api_base {
        let message = format!(
            "`llm.api_base` is {}, but no model is named; set `llm.model: PROVIDER/MODEL` beside it",
            address(api_base, &project.config.written_address(api_base)).shown()
        );
        return Err(Failure::usage("unknown_model", message));
    }
    if let Some(server) = find_local_server(&providers).await {
        let options = ModelOptions { api_base: Some(server.api_base.clone()), ..ModelOptions::default() };
        let spec = ModelSpec { provider: server.provider, model: server.model, options };
        let why = format!("a server answers at {} and nothing is configured", server.api_base);
        return at_server(project, &providers, spec, why);
    }
    Ok(Plan::Local { named: None, why: "no key, no server, nothing configured".to_owned() })
}

/// Whether the configuration or a key names who answers; no server is asked.
pub(crate) fn is_named(project: &Project, providers: &Providers) -> bool {
    let read = |name: &str| project.config.variable(name).map(str::to_owned);
    project.config.settings.llm.default_class().is_some() || providers.first_with_key(&read).is_some()
}

/// The bundled providers, or the operator's own list in `~/.reyn/providers.toml`.
pub(crate) fn providers(home: Option<&Path>) -> Result<Providers, Failure> {
    let own = home.map(|home| home.join(".reyn/providers.toml"));
    match own.map(|path| (std::fs::read_to_string(&path), path)) {
        Some((Ok(text), path)) => Providers::parse(&text)
            .map_err(|error| Failure::usage("config", format!("`{}`: {error}", path.display()))),
        Some((Err(error), path)) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::usage(
            "config",
            format!("cannot read `{}`: {error}; look at its owner and mode", path.display()),
        )),
        Some((Err(_), _)) | None => Ok(Providers::bundled()),
    }
}

fn at_server(
    project: &Project,
    providers: &Providers,
    spec: ModelSpec,
    why: String,
) -> Result<Plan, Failure> {
    let Server { endpoint, key_name, untrusted } = server(project, providers, spec)?;
    Ok(Plan::Server { endpoint, key_name, why, untrusted })
}

/// A server as a model names it.
pub(crate) struct Server {
    /// Where it is and how it is asked.
    pub endpoint: Box<Endpoint>,
    /// The variable that holds its key.
    pub key_name: Option<String>,
    /// What has to be asked before anything is sent there.
    pub untrusted: Option<Box<UntrustedServer>>,
}

/// The server of a model, for chat or for vectors. Opens nothing.
pub(crate) fn server(project: &Project, providers: &Providers, spec: ModelSpec) -> Result<Server, Failure> {
    let provider = providers.provider(&spec.provider);
    let own = provider.map(|provider| provider.api_base.as_str());
    let Some(api_base) = spec.options.api_base.clone().or_else(|| own.map(str::to_owned)) else {
        return Err(unknown_provider(&spec.provider, providers));
    };
    let is_named = spec.options.api_base.is_some();
    let (key_name, key) = key(project, &spec, provider)?.unzip();
    let written = project.config.written_address(&api_base);
    let address = address(&api_base, &written);
    let named_by = match (is_named, written.is_persons) {
        (false, _) => NamedBy::Providers,
        (true, true) => NamedBy::Person,
        (true, false) => NamedBy::Project,
    };
    let trusted = trusted_servers(project);
    let untrusted = match server_trust(&api_base, named_by, own, &trusted) {
        ServerTrust::Trusted | ServerTrust::NoAddress => None,
        ServerTrust::Asks(server) => {
            let values = untrusted_server::values(project, key_name.as_deref(), &spec);
            Some(Box::new(UntrustedServer::new(spec.name(), &server, &address, &written, values)))
        }
    };
    // The address stands in the endpoint, where it is not shown.
    let options = ModelOptions { api_base: None, ..spec.options };
    let endpoint = Endpoint {
        provider: spec.provider,
        model: spec.model,
        address,
        key,
        framing: Framing { format: options.tool_format.unwrap_or_default() },
        options,
        timeouts: LlmTimeouts::from(&project.config.settings.safety.timeout),
    };
    Ok(Server { endpoint: Box::new(endpoint), key_name, untrusted })
}

/// `llm.trusted_servers`.
fn trusted_servers(project: &Project) -> Vec<ServerOrigin> {
    let entries = &project.config.settings.llm.trusted_servers;
    // Loading the configuration told of those that are no servers.
    entries.iter().filter_map(|entry| ServerOrigin::parse(entry).ok()).collect()
}

/// An address with what may be shown of it.
fn address(api_base: &str, written: &WrittenAddress) -> ServerAddress {
    match &written.template {
        Some(template) if !written.secrets.is_empty() => {
            ServerAddress::with_secrets(api_base, template, &written.secrets)
        }
        Some(_) | None => ServerAddress::new(api_base),
    }
}

fn open_server(project: &Project, endpoint: Endpoint, why: String) -> Choice {
    let (context_tokens, price) = (endpoint.options.max_input_tokens, endpoint.options.price);
    let model = Retrying::new(OpenAiChat::new(endpoint));
    let record = project.config.variable("REYN_RECORD").filter(|value| !matches!(*value, "" | "0"));
    let model: Arc<dyn ChatModel> = match record {
        Some(_) => Arc::new(Recording::new(model, project.state().join("replay.jsonl"))),
        None => Arc::new(model),
    };
    Choice { model, why, note: None, context_tokens, price }
}

/// The key of a model's server, after the name of its variable. A provider that needs one and has none is an
/// error before anything is sent.
pub(crate) fn key(
    project: &Project,
    spec: &ModelSpec,
    provider: Option<&Provider>,
) -> Result<Option<(String, ApiKey)>, Failure> {
    let names: Vec<&str> = match (&spec.options.api_key_env, provider) {
        (Some(name), _) => vec![name.as_str()],
        (None, Some(provider)) => provider.key_env.iter().map(String::as_str).collect(),
        (None, None) => vec![],
    };
    let found = names
        .iter()
        .find_map(|name| Some(((*name).to_owned(), ApiKey::new(project.config.variable(name)?)?)));
    let needs_key =
        spec.options.api_key_env.is_some() || (spec.options.api_base.is_none() && !names.is_empty());
    if found.is_none() && needs_key {
        let message = format!(
            "`{}` needs a key: set {} in the environment or in `~/.reyn/secrets.env`",
            spec.name(),
            alternatives(&names)
        );
        return Err(Failure::usage("no_key", message));
    }
    Ok(found)
}

fn unknown_provider(provider: &str, providers: &Providers) -> Failure {
    let names: Vec<&str> = providers.all().iter().map(|provider| provider.name.as_str()).collect();
    let near = nearest(provider, names.iter().copied());
    let hint = if near.is_empty() {
        "give the model an `api_base`".to_owned()
    } else {
        format!("did you mean {}? Otherwise give the model an `api_base`", alternatives(&near))
    };
    Failure::usage("unknown_provider", format!("`{provider}` is no provider; {hint}"))
}

pub(crate) fn unresolved(error: &ModelClassError) -> Failure {
    let message = match error {
        ModelClassError::Unknown { name, known, .. } => {
            // The standard classes are there without any configuration.
            let standard =
                STANDARD_CLASSES.into_iter().filter(|class| !known.iter().any(|name| name == class));
            let near = nearest(name, known.iter().map(String::as_str).chain(standard));
            let hint = match (near.is_empty(), known.is_empty()) {
                (false, _) => format!("did you mean {}?", alternatives(&near)),
                (true, false) => format!("the classes are {}", alternatives(known)),
                (true, true) => "write `provider/model`, or define the class under `llm.models`".to_owned(),
            };
            format!("`{name}` is neither a model class nor `provider/model`; {hint}")
        }
        ModelClassError::Cycle { path } => format!("model classes go in a circle: {}", path.join(" -> ")),
        ModelClassError::NoModel { class } => {
            format!("the model class `{class}` has neither `model` nor `extends`")
        }
    };
    Failure::usage("unknown_model", message)
}
