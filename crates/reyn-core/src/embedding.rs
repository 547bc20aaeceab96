//! Vectors of texts: which model made them, and which model a class means. Pure.
//!
//! Invariant: without configuration the local model is meant, whatever keys there are; a provider that may want money
//! is asked only where a class or a literal names it.

use std::fmt;

use crate::settings::{AutoPull, EmbeddingSettings, EmbeddingSwitch, ModelClassError, ModelSpec};

/// The provider part of the name of a model that runs in this process.
pub const LOCAL_PROVIDER: &str = "local";
/// The model that the standard classes mean where nothing is configured.
pub const LOCAL_EMBEDDING_MODEL: &str = "local/use-multilingual-v3";

/// Which model made a vector. Vectors of different models must not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelIdentity {
    /// `provider/model`.
    pub name: String,
    /// Which weights: a version, or the beginning of the hash of their file; `None` where the provider names none.
    pub revision: Option<String>,
    /// Numbers of a vector.
    pub dimensions: usize,
}

impl ModelIdentity {
    /// The revision as a text, as it is kept where there is none for "nothing": empty when the provider names none.
    #[must_use]
    pub fn revision_text(&self) -> &str {
        self.revision.as_deref().unwrap_or_default()
    }

    /// The revision that a kept text says; an empty one says none.
    #[must_use]
    pub fn revision_of(kept: String) -> Option<String> {
        (!kept.is_empty()).then_some(kept)
    }

    /// Whether vectors of both may be compared. A revision without letters is none.
    #[must_use]
    pub fn is_comparable_with(&self, other: &Self) -> bool {
        self.name == other.name
            && self.dimensions == other.dimensions
            && self.revision_text() == other.revision_text()
    }
}

/// As in `local/use-multilingual-v3 (0db566fd0af82cbf, 512 numbers)`.
impl fmt::Display for ModelIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, revision, dimensions } = self;
        match revision {
            Some(revision) => write!(f, "{name} ({revision}, {dimensions} numbers)"),
            None => write!(f, "{name} ({dimensions} numbers)"),
        }
    }
}

/// What of a local model is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalFiles {
    /// All of it.
    Present,
    /// Not all of it, and it can be fetched.
    Absent,
    /// No embedding model of this name is known.
    Unknown,
}

/// What a decision about embeddings depends on beside the settings.
pub struct EmbeddingSurroundings<'a> {
    /// Whether the key that a model's server needs is there, or none is needed.
    pub has_key: &'a dyn Fn(&ModelSpec) -> bool,
    /// What of a local model is there, by the name without the provider.
    pub local_files: &'a dyn Fn(&str) -> LocalFiles,
    /// `models.auto_pull`.
    pub auto_pull: AutoPull,
}

/// Who makes the vectors.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbeddingChoice {
    /// A server.
    Server(Box<ModelSpec>),
    /// A model in this process.
    Local {
        /// Its name without the provider.
        model: String,
        /// Whether it has to be fetched first.
        is_fetched: bool,
    },
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq)]
pub enum NoEmbeddings {
    /// `embedding.enabled` is `false`.
    Disabled,
    /// The model's server needs a key and there is none.
    NoKey {
        /// The model.
        spec: Box<ModelSpec>,
    },
    /// The local model is not there and `models.auto_pull` is `never`.
    NotFetched {
        /// Its name without the provider.
        model: String,
    },
    /// No local model that makes vectors has this name.
    UnknownLocal {
        /// Its name without the provider.
        model: String,
    },
    /// The class means no model.
    Class(ModelClassError),
}

impl NoEmbeddings {
    /// Whether a person has to mend something: a switch that is off is as it should be, and so is `auto` where the
    /// model cannot be had.
    #[must_use]
    pub const fn is_failure(&self, switch: EmbeddingSwitch) -> bool {
        match self {
            Self::Disabled => false,
            Self::NoKey { .. } | Self::NotFetched { .. } => matches!(switch, EmbeddingSwitch::On),
            Self::UnknownLocal { .. } | Self::Class(_) => true,
        }
    }
}

/// Decides which model a class means, or `embedding.default_class` where none is named.
///
/// A local model that is absent is fetched on first use unless `models.auto_pull` is `never`: it is small, and fetching
/// it asks nothing and is said.
///
/// # Errors
/// When embeddings are off, the class means no model, or the model cannot be had.
pub fn choose_embedding(
    settings: &EmbeddingSettings,
    class: Option<&str>,
    surroundings: &EmbeddingSurroundings<'_>,
) -> Result<EmbeddingChoice, NoEmbeddings> {
    if settings.enabled == EmbeddingSwitch::Off {
        return Err(NoEmbeddings::Disabled);
    }
    let name = class.unwrap_or(&settings.default_class);
    let spec = settings.resolve(name).map_err(NoEmbeddings::Class)?;
    if spec.provider == LOCAL_PROVIDER && spec.options.api_base.is_none() {
        return local(spec.model, surroundings);
    }
    if !(surroundings.has_key)(&spec) {
        return Err(NoEmbeddings::NoKey { spec: Box::new(spec) });
    }
    Ok(EmbeddingChoice::Server(Box::new(spec)))
}

fn local(model: String, surroundings: &EmbeddingSurroundings<'_>) -> Result<EmbeddingChoice, NoEmbeddings> {
    match ((surroundings.local_files)(&model), surroundings.auto_pull) {
        (LocalFiles::Unknown, _) => Err(NoEmbeddings::UnknownLocal { model }),
        (LocalFiles::Present, _) => Ok(EmbeddingChoice::Local { model, is_fetched: false }),
        (LocalFiles::Absent, AutoPull::Never) => Err(NoEmbeddings::NotFetched { model }),
        (LocalFiles::Absent, AutoPull::Ask | AutoPull::Always) => {
            Ok(EmbeddingChoice::Local { model, is_fetched: true })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What is decided, in words; `keys` are providers that have theirs.
    fn decided(
        settings: &serde_json::Value,
        class: Option<&str>,
        keys: &[&str],
        files: LocalFiles,
        auto_pull: AutoPull,
    ) -> String {
        let settings: EmbeddingSettings = serde_json::from_value(settings.clone()).unwrap();
        let known = |model: &str| if model == "use-multilingual-v3" { files } else { LocalFiles::Unknown };
        let surroundings = EmbeddingSurroundings {
            has_key: &|spec| spec.options.api_base.is_some() || keys.contains(&spec.provider.as_str()),
            local_files: &known,
            auto_pull,
        };
        match choose_embedding(&settings, class, &surroundings) {
            Ok(EmbeddingChoice::Server(spec)) => format!("server {}", spec.name()),
            Ok(EmbeddingChoice::Local { model, is_fetched: false }) => format!("local {model}"),
            Ok(EmbeddingChoice::Local { model, is_fetched: true }) => format!("fetch {model}"),
            Err(why) => {
                let mark = if why.is_failure(settings.enabled) { "failure" } else { "off" };
                let why = match why {
                    NoEmbeddings::Disabled => "disabled".to_owned(),
                    NoEmbeddings::NoKey { spec } => format!("no key for {}", spec.name()),
                    NoEmbeddings::NotFetched { model } => format!("not fetched {model}"),
                    NoEmbeddings::UnknownLocal { model } => format!("no local {model}"),
                    NoEmbeddings::Class(_) => "class".to_owned(),
                };
                format!("{mark}: {why}")
            }
        }
    }

    #[test]
    fn a_literal_comes_before_a_class_and_the_local_model_after_both() {
        use AutoPull::{Always, Ask, Never};
        use LocalFiles::{Absent, Present};
        let nothing = json!({});
        let paid =
            json!({"classes": {"standard": "openai/large", "a/b": "openai/no"}, "default_class": "standard"});
        let on = json!({"enabled": true, "classes": {"standard": "openai/large"}});
        let own =
            json!({"default_class": "own", "classes": {"own": {"model": "x/y", "api_base": "http://h/v1"}}});
        for (settings, class, keys, files, auto_pull, expected) in [
            // A key alone chooses nobody.
            (&nothing, None, &["openai"][..], Present, Ask, "local use-multilingual-v3"),
            (&nothing, None, &[], Absent, Ask, "fetch use-multilingual-v3"),
            (&nothing, None, &[], Absent, Always, "fetch use-multilingual-v3"),
            (&nothing, Some("strong"), &["openai"], Absent, Never, "off: not fetched use-multilingual-v3"),
            (&nothing, None, &[], Present, Never, "local use-multilingual-v3"),
            (&nothing, Some("openai/small"), &["openai"], Present, Ask, "server openai/small"),
            (&nothing, Some("standart"), &["openai"], Present, Ask, "failure: class"),
            (&nothing, Some("local/qwen"), &[], Present, Ask, "failure: no local qwen"),
            (&paid, None, &["openai"], Present, Ask, "server openai/large"),
            (&paid, None, &[], Present, Ask, "off: no key for openai/large"),
            (&paid, Some("light"), &["openai"], Present, Ask, "local use-multilingual-v3"),
            (&paid, Some("a/b"), &["a"], Present, Ask, "server a/b"),
            (&on, None, &[], Present, Ask, "failure: no key for openai/large"),
            (&on, Some("light"), &[], Absent, Never, "failure: not fetched use-multilingual-v3"),
            (&own, None, &[], Present, Ask, "server x/y"),
            (&json!({"enabled": false}), Some("openai/x"), &["openai"], Present, Ask, "off: disabled"),
        ] {
            assert_eq!(
                decided(settings, class, keys, files, auto_pull),
                expected,
                "{settings} {class:?} {keys:?}"
            );
        }
    }

    #[test]
    fn an_identity_is_shown_with_what_tells_it_from_others() {
        let identity = |revision: Option<&str>| ModelIdentity {
            name: "a/b".to_owned(),
            revision: revision.map(str::to_owned),
            dimensions: 3,
        };
        assert_eq!(identity(None).to_string(), "a/b (3 numbers)");
        assert_eq!(identity(Some("r1")).to_string(), "a/b (r1, 3 numbers)");
    }

    #[test]
    fn vectors_are_comparable_when_name_revision_and_length_are_the_same() {
        let identity = |name: &str, revision: Option<&str>, dimensions: usize| ModelIdentity {
            name: name.to_owned(),
            revision: revision.map(str::to_owned),
            dimensions,
        };
        let model = identity("a/b", Some("r1"), 3);
        assert!(model.is_comparable_with(&model.clone()));
        for other in [
            identity("a/c", Some("r1"), 3),
            identity("a/b", Some("r2"), 3),
            identity("a/b", None, 3),
            identity("a/b", Some("r1"), 4),
        ] {
            assert!(!model.is_comparable_with(&other), "{other}");
        }
        let unnamed = identity("a/b", None, 3);
        assert!(unnamed.is_comparable_with(&identity("a/b", Some(""), 3)));
        assert_eq!(ModelIdentity::revision_of(unnamed.revision_text().to_owned()), None);
        assert_eq!(ModelIdentity::revision_of(model.revision_text().to_owned()), model.revision);
    }
}
