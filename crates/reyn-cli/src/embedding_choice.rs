//! Which model makes vectors of texts, and why there may be none: a literal, a configured class, or the local model,
//! which is fetched when it is first used.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex as StdMutex};

use futures::FutureExt as _;
use futures::future::BoxFuture;

use reyn_core::embedding::{
    EmbeddingChoice, EmbeddingSurroundings, LOCAL_PROVIDER, LocalFiles, NoEmbeddings, choose_embedding,
};
use reyn_core::settings::ModelSpec;
use reyn_llm::files::{FileState, ModelKind, ModelStore};
use reyn_llm::{
    CostWarning, Embedder, EmbedderOptions, EmbeddingEvent, EmbeddingModel, LocalEmbedding, Providers,
    embedding_at,
};
use reyn_tools::{Embeddings, NoVectors, Vectors};
use tokio::sync::Mutex;

use crate::exit::Failure;
use crate::local_model::{pull, store};
use crate::model_choice::{Server, key, providers, server, unresolved};
use crate::output;
use crate::wiring::Project;

/// Who would make vectors, before anything is opened or fetched.
pub(crate) enum Plan {
    /// A server.
    Server(Server),
    /// The model that runs in this process.
    Local {
        /// Its name without the provider.
        model: String,
        /// The size of what is fetched first; `None` when it is here.
        fetched_bytes: Option<u64>,
    },
    /// Nobody, and nothing has to be mended: a search goes by words alone.
    Off {
        /// Why.
        why: String,
    },
}

/// What there is to work with.
pub(crate) enum Opened {
    /// A model.
    Ready(Embedder),
    /// Nobody makes vectors, and nothing has to be mended.
    Off {
        /// Why.
        why: String,
    },
}

/// Says who would make the vectors of a class, of `embedding.default_class` where none is named. Asks nobody.
///
/// # Errors
/// When a person has to mend something: the class means no model, or its model cannot be had although
/// `embedding.enabled` is `true`.
pub(crate) fn plan(project: &Project, class: Option<&str>) -> Result<Plan, Failure> {
    let settings = &project.config.settings;
    let providers = providers(project.config.home.as_deref())?;
    // Only a local model needs the store.
    let known: OnceCell<Result<ModelStore, Failure>> = OnceCell::new();
    let chosen = choose_embedding(
        &settings.embedding,
        class,
        &EmbeddingSurroundings {
            has_key: &|spec| key_of(project, &providers, spec).is_ok(),
            local_files: &|model| match known.get_or_init(store) {
                Ok(store) => local_files(store, model),
                Err(_) => LocalFiles::Unknown,
            },
            auto_pull: settings.models.auto_pull,
        },
    );
    let store = known.into_inner().transpose()?;
    match chosen {
        Ok(EmbeddingChoice::Server(spec)) => server(project, &providers, *spec).map(Plan::Server),
        Ok(EmbeddingChoice::Local { model, is_fetched }) => {
            let known = store.as_ref().and_then(|store| store.catalogue().model(&model).ok());
            let bytes = known.map_or(0, reyn_llm::files::ModelFile::bytes);
            Ok(Plan::Local { model, fetched_bytes: is_fetched.then_some(bytes) })
        }
        Err(none) => {
            let failure = failure(project, &providers, &none, store.as_ref());
            let is_failure = none.is_failure(settings.embedding.enabled);
            if is_failure { Err(failure) } else { Ok(Plan::Off { why: failure.message }) }
        }
    }
}

/// Opens the model of a class. A local model that is absent is fetched, which is said; a server that only the project
/// names is asked about first.
///
/// # Errors
/// As [`plan`], and when fetching or loading fails, or the person says no.
pub(crate) async fn open(project: &Project, class: Option<&str>, may_ask: bool) -> Result<Opened, Failure> {
    let model: Arc<dyn EmbeddingModel> = match plan(project, class)? {
        Plan::Off { why } => return Ok(Opened::Off { why }),
        Plan::Server(Server { endpoint, untrusted, .. }) => {
            if let Some(untrusted) = untrusted {
                untrusted.consent(may_ask).await?;
            }
            embedding_at(*endpoint)
        }
        Plan::Local { model, fetched_bytes } => {
            let store = store()?;
            if let Some(bytes) = fetched_bytes {
                output::note(&format!(
                    "reyn: fetching `{model}` ({}), which makes vectors of texts; `models.auto_pull: never` forbids it",
                    output::size(bytes)
                ));
                pull(&store, &model).await?;
            }
            Arc::new(load(project, &store, &model).await?)
        }
    };
    let options = EmbedderOptions::from(&project.config.settings.embedding);
    Ok(Opened::Ready(Embedder::new(model, options)))
}

/// Who makes vectors in a session: opened when they are first wanted, class by class, without a word on the screen.
pub(crate) struct SessionEmbeddings {
    project: Project,
    opened: Mutex<BTreeMap<String, Arc<Embedder>>>,
}

impl SessionEmbeddings {
    /// What this project is configured with.
    pub(crate) fn of(project: &Project) -> Self {
        Self { project: project.clone(), opened: Mutex::default() }
    }

    /// The model of a class, and what is to be told of opening it. One at a time, so that nothing is fetched twice.
    async fn embedder(
        &self,
        class: Option<&str>,
        may_fetch: bool,
    ) -> Result<(Arc<Embedder>, Option<String>), Failure> {
        let mut opened = self.opened.lock().await;
        let name = class.unwrap_or(&self.project.config.settings.embedding.default_class).to_owned();
        if let Some(embedder) = opened.get(&name) {
            return Ok((Arc::clone(embedder), None));
        }
        let mut notice = None;
        let model: Arc<dyn EmbeddingModel> = match plan(&self.project, class)? {
            Plan::Off { why } => return Err(Failure::usage("no_embeddings", why)),
            Plan::Server(Server { endpoint, untrusted, .. }) => {
                if let Some(untrusted) = untrusted {
                    untrusted.consent(false).await?;
                }
                embedding_at(*endpoint)
            }
            Plan::Local { model, fetched_bytes } => {
                let store = store()?;
                if let Some(bytes) = fetched_bytes {
                    if !may_fetch {
                        let message = format!("`{model}` is not here; `reyn models pull {model}` fetches it");
                        return Err(Failure::usage("no_model", message));
                    }
                    let fetched = store.pull(&model, &mut |_| {}).await;
                    fetched.map_err(|error| Failure::failed("model_file", error.to_string()))?;
                    notice = Some(format!(
                        "`{model}` ({}) was fetched, which makes vectors of texts; `models.auto_pull: never` forbids it",
                        output::size(bytes)
                    ));
                }
                Arc::new(load(&self.project, &store, &model).await?)
            }
        };
        let options = EmbedderOptions::from(&self.project.config.settings.embedding);
        let embedder = Arc::new(Embedder::new(model, options));
        opened.insert(name, Arc::clone(&embedder));
        Ok((embedder, notice))
    }
}

impl std::fmt::Debug for SessionEmbeddings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionEmbeddings").finish_non_exhaustive()
    }
}

impl Embeddings for SessionEmbeddings {
    fn embed<'a>(
        &'a self,
        class: Option<&'a str>,
        texts: Vec<String>,
        may_fetch: bool,
    ) -> BoxFuture<'a, Result<Vectors, NoVectors>> {
        async move {
            let opened = self.embedder(class, may_fetch).await;
            let (embedder, notice) = opened.map_err(|failure| NoVectors(failure.message))?;
            let notices = StdMutex::new(Vec::from_iter(notice));
            let on_event = |event: EmbeddingEvent<'_>| {
                if let EmbeddingEvent::Cost(CostWarning { model, texts, .. }) = event
                    && let Ok(mut notices) = notices.lock()
                {
                    notices.push(format!("{texts} texts went to `{model}`, which may cost money"));
                }
            };
            let embedded = embedder.embed(&texts, &on_event).await;
            let embedded = embedded.map_err(|error| NoVectors(error.message))?;
            let model = embedder.identity().ok_or_else(|| {
                NoVectors(format!("`{}` does not say how long its vectors are", embedder.name()))
            })?;
            let notices = notices.into_inner().unwrap_or_default();
            let notice = (!notices.is_empty()).then(|| notices.join("; "));
            Ok(Vectors { model, vectors: embedded.vectors, tokens: embedded.tokens, notice })
        }
        .boxed()
    }
}

async fn load(project: &Project, store: &ModelStore, model: &str) -> Result<LocalEmbedding, Failure> {
    let known = store
        .catalogue()
        .model_of_kind(model, ModelKind::Embedding)
        .map_err(|error| Failure::usage("unknown_model", error.to_string()))?;
    let [weights, vocabulary] = <[_; 2]>::try_from(store.paths(known)).map_err(|_| {
        let message =
            format!("`{model}` must have two files in the list of models: the weights, then the vocabulary");
        Failure::usage("config", message)
    })?;
    let configured = project.config.settings.models.threads.map(|threads| threads as usize);
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    LocalEmbedding::load(weights, vocabulary, configured.unwrap_or_else(cores)).await.map_err(|error| {
        let message = format!("{error}; `reyn models verify {model}` says whether its files are right");
        Failure::failed(error.kind.name(), message)
    })
}

fn key_of(
    project: &Project,
    providers: &Providers,
    spec: &ModelSpec,
) -> Result<Option<(String, reyn_llm::ApiKey)>, Failure> {
    key(project, spec, providers.provider(&spec.provider))
}

fn local_files(store: &ModelStore, model: &str) -> LocalFiles {
    if store.catalogue().model_of_kind(model, ModelKind::Embedding).is_err() {
        return LocalFiles::Unknown;
    }
    match store.status(model).map(|stored| stored.state) {
        Ok(FileState::Present) => LocalFiles::Present,
        Ok(FileState::Partial(_) | FileState::Absent) | Err(_) => LocalFiles::Absent,
    }
}

/// Why there are no vectors, and what to do.
fn failure(
    project: &Project,
    providers: &Providers,
    none: &NoEmbeddings,
    store: Option<&ModelStore>,
) -> Failure {
    match none {
        NoEmbeddings::Disabled => Failure::usage("no_embeddings", "`embedding.enabled` is `false`"),
        NoEmbeddings::NoKey { spec } => key_of(project, providers, spec)
            .err()
            .unwrap_or_else(|| Failure::usage("no_key", format!("`{}` needs a key", spec.name()))),
        NoEmbeddings::NotFetched { model } => Failure::usage(
            "no_model",
            format!(
                "`{LOCAL_PROVIDER}/{model}` is not here and `models.auto_pull` is `never`; `reyn models pull {model}` \
                 fetches it"
            ),
        ),
        NoEmbeddings::UnknownLocal { model } => {
            let error =
                store.and_then(|store| store.catalogue().model_of_kind(model, ModelKind::Embedding).err());
            let message =
                error.map_or_else(|| format!("no local model is named `{model}`"), |error| error.to_string());
            Failure::usage("unknown_model", message)
        }
        NoEmbeddings::Class(error) => unresolved(error),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use reyn_runtime::config::ConfigInputs;
    use reyn_testkit::{FakeServer, Response};
    use serde_json::json;

    use super::*;

    fn project(folder: &Path, own: &str, of_project: &str) -> Project {
        let [home, work] = ["home", "work"].map(|name| folder.join(name));
        std::fs::create_dir_all(home.join(".reyn")).unwrap();
        std::fs::create_dir_all(&work).unwrap();
        std::fs::write(home.join(".reyn/config.yaml"), own).unwrap();
        std::fs::write(work.join("reyn.yaml"), of_project).unwrap();
        Project::at(&ConfigInputs { working_dir: work, home: Some(home), ..ConfigInputs::default() })
    }

    #[tokio::test]
    async fn a_class_with_a_server_gives_an_embedder_that_asks_it() {
        let answer = json!({"data": [{"index": 0, "embedding": [3, 4]}], "usage": {"prompt_tokens": 1}});
        let server = FakeServer::script([Response::json(200, &answer)]);
        let folder = tempfile::tempdir().unwrap();
        let class =
            format!("embedding.classes: {{own: {{model: x/y, api_base: '{}'}}}}\n", server.api_base());
        let project = project(folder.path(), "", &class);
        let Opened::Ready(embedder) = open(&project, Some("own"), false).await.unwrap() else {
            panic!("off");
        };
        let embedded = embedder.embed(&["hi".to_owned()], &|_| {}).await.unwrap();
        assert_eq!((embedder.name(), embedded.vectors), ("x/y", vec![vec![0.6, 0.8]]));
        assert_eq!(server.requests(), [json!({"model": "y", "input": ["hi"]})]);
        server.finish();
    }

    #[tokio::test]
    async fn what_cannot_be_had_is_off_or_a_failure_and_nothing_is_sent() {
        let away = "embedding.classes.standard: {model: x/y, api_base: 'https://llm.example/v1'}\n";
        for (own, of_project, class, said) in [
            ("embedding.enabled: false\n", "", None, "off: `embedding.enabled` is `false`"),
            (
                "embedding.classes.standard: openai/a\n",
                "",
                None,
                "off: `openai/a` needs a key: set `OPENAI_API_KEY`",
            ),
            (
                "embedding: {enabled: yes, classes: {standard: openai/a}}\n",
                "",
                None,
                "no_key: `openai/a` needs a key",
            ),
            (
                "",
                "",
                Some("standart"),
                "unknown_model: `standart` is neither a model class nor `provider/model`; did you mean `standard`?",
            ),
            ("", "", Some("nobody/a"), "unknown_provider: `nobody` is no provider"),
            ("", away, None, "untrusted_server: `x/y` is at `https://llm.example/v1`"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let found = match open(&project(folder.path(), own, of_project), class, false).await {
                Ok(Opened::Ready(embedder)) => panic!("{}", embedder.name()),
                Ok(Opened::Off { why }) => format!("off: {why}"),
                Err(failure) => format!("{}: {}", failure.kind, failure.message),
            };
            assert!(found.starts_with(said), "{found}");
        }
    }
}
