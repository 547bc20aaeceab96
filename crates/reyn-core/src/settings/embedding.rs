//! `embedding`: which model makes vectors of texts, and how it is asked.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::flexible::{plain_bool, yes_or_no};
use super::llm::{End, ModelClass, ModelClassError, ModelOptions, ModelSpec, NameOr, follow};
use crate::embedding::LOCAL_EMBEDDING_MODEL;
use crate::limits;

/// The class names that mean a model without any configuration: for vectors the local one, for chat what a provider
/// suggests.
pub const STANDARD_CLASSES: [&str; 3] = ["light", "standard", "strong"];

/// `embedding`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingSettings {
    /// Whether texts are made into vectors. `auto`: when the model of the class can be had; `true`: a model that cannot be
    /// had is an error; `false`: never.
    #[schemars(with = "SwitchWords")]
    pub enabled: EmbeddingSwitch,
    /// The class that is meant where none is named, or a literal `provider/model`.
    pub default_class: String,
    /// What each class means: `provider/model`, another class' name, or a map. `light`, `standard` and `strong` mean
    /// `local/use-multilingual-v3` where nothing is said.
    pub classes: BTreeMap<String, EmbeddingClass>,
    /// Texts that are sent at once.
    pub batch_size: u32,
    /// Batches that are under way at a time.
    pub max_concurrent_batches: u32,
    /// Further attempts for a batch that failed in a way that may pass.
    pub max_retries: u32,
    /// How the wait between two attempts grows.
    pub retry_backoff: RetryBackoff,
    /// How long one batch may take, in seconds.
    pub timeout: u64,
    /// Texts of one work above which it is said what is sent to a server that may want money for it.
    pub cost_warn_threshold: u64,
    /// What is kept as vectors without being asked for.
    pub index: EmbeddingIndexSettings,
}

impl Default for EmbeddingSettings {
    fn default() -> Self {
        Self {
            enabled: EmbeddingSwitch::Auto,
            default_class: "standard".to_owned(),
            classes: BTreeMap::new(),
            batch_size: limits::EMBEDDING_BATCH_TEXTS,
            max_concurrent_batches: 1,
            max_retries: limits::EMBEDDING_RETRIES,
            retry_backoff: RetryBackoff::Exponential,
            timeout: limits::EMBEDDING_SECONDS,
            cost_warn_threshold: limits::EMBEDDING_TEXTS_WARNED_OF,
            index: EmbeddingIndexSettings::default(),
        }
    }
}

/// `embedding.enabled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmbeddingSwitch {
    /// When the model can be had.
    #[default]
    Auto,
    /// Yes; a model that cannot be had is an error.
    On,
    /// No.
    Off,
}

/// How the switch is written, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is read")]
enum SwitchWords {
    Auto(AutoWord),
    Switch(bool),
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is read")]
enum AutoWord {
    Auto,
}

impl Serialize for EmbeddingSwitch {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => to.serialize_str("auto"),
            Self::On => to.serialize_bool(true),
            Self::Off => to.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for EmbeddingSwitch {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct SwitchVisitor;
        impl Visitor<'_> for SwitchVisitor {
            type Value = EmbeddingSwitch;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`auto`, `true` or `false`")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<EmbeddingSwitch, E> {
                Ok(if value { EmbeddingSwitch::On } else { EmbeddingSwitch::Off })
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<EmbeddingSwitch, E> {
                match (word, yes_or_no(word)) {
                    ("auto", _) => Ok(EmbeddingSwitch::Auto),
                    (_, Some(value)) => self.visit_bool(value),
                    (_, None) => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }
        }
        from.deserialize_any(SwitchVisitor)
    }
}

/// One class: a short form or a map of options.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EmbeddingClass {
    /// `provider/model`, or the name of another class.
    Name(String),
    /// With options.
    Options(EmbeddingClassOptions),
}

impl<'de> Deserialize<'de> for EmbeddingClass {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match NameOr::deserialize(from)? {
            NameOr::Name(name) => Self::Name(name),
            NameOr::Options(options) => Self::Options(options),
        })
    }
}

/// A class as a map.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingClassOptions {
    /// `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Another class whose options hold where this one says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// Address of the server, up to and including `/v1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_base: Option<String>,
    /// Name of the environment variable or secret that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Further fields of the request's body, sent as they are, such as `dimensions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_body: Option<Map<String, Value>>,
}

impl EmbeddingClass {
    fn as_model_class(&self) -> ModelClass {
        match self {
            Self::Name(name) => ModelClass::Name(name.clone()),
            Self::Options(EmbeddingClassOptions { model, extends, api_base, api_key_env, extra_body }) => {
                ModelClass::Options(Box::new(ModelOptions {
                    model: model.clone(),
                    extends: extends.clone(),
                    api_base: api_base.clone(),
                    api_key_env: api_key_env.clone(),
                    extra_body: extra_body.clone(),
                    ..ModelOptions::default()
                }))
            }
        }
    }
}

/// How the wait between two attempts grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryBackoff {
    /// It doubles with each attempt.
    #[default]
    Exponential,
    /// It grows by the same with each attempt.
    Linear,
}

/// `embedding.index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingIndexSettings {
    /// The descriptions of tools, so that they are found by what they do.
    #[serde(deserialize_with = "plain_bool")]
    pub actions: bool,
    /// The texts of the project.
    #[serde(deserialize_with = "plain_bool")]
    pub repo_knowledge: bool,
}

impl Default for EmbeddingIndexSettings {
    fn default() -> Self {
        Self { actions: true, repo_knowledge: false }
    }
}

impl EmbeddingSettings {
    /// The model that a class, or a literal `provider/model`, means. A name that holds `/` is a literal.
    ///
    /// A standard class of which nothing is said means [`LOCAL_EMBEDDING_MODEL`]: a paid provider is asked only where
    /// a class names it, whatever keys there are.
    ///
    /// # Errors
    /// When a name is unknown, a chain of names is circular, or a class names no model.
    pub fn resolve(&self, name: &str) -> Result<ModelSpec, ModelClassError> {
        let classes =
            self.classes.iter().map(|(name, class)| (name.clone(), class.as_model_class())).collect();
        let End { name: end, options } = if name.contains('/') {
            End { name: name.to_owned(), options: ModelOptions::default() }
        } else {
            follow(&classes, name)?
        };
        let literal = if STANDARD_CLASSES.contains(&end.as_str()) { LOCAL_EMBEDDING_MODEL } else { &end };
        match ModelSpec::literal(literal) {
            Some(spec) => Ok(ModelSpec { options, ..spec }),
            None => Err(ModelClassError::unknown(end, self.known_classes().into_iter())),
        }
    }

    /// The classes that have a model: those of the configuration, then the standard ones beside them.
    #[must_use]
    pub fn known_classes(&self) -> Vec<&str> {
        let own = self.classes.keys().map(String::as_str);
        own.chain(STANDARD_CLASSES.into_iter().filter(|name| !self.classes.contains_key(*name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(value: Value) -> EmbeddingSettings {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_class_is_a_literal_another_class_or_a_map_that_extends() {
        let embedding = settings(json!({"classes": {
            "light": "openai/small",
            "own": {"extends": "light", "extra_body": {"dimensions": 256}},
            "at home": {"model": "mine/m", "api_base": "http://h/v1", "api_key_env": "K"},
            "as usual": {"extends": "standard"},
        }}));
        let resolved = |name: &str| embedding.resolve(name).map(|spec| (spec.name(), spec.options));
        let plain = ModelOptions::default;
        let extra_body = json!({"dimensions": 256}).as_object().cloned();
        for (name, expected) in [
            ("light", ("openai/small", plain())),
            ("own", ("openai/small", ModelOptions { extra_body, ..plain() })),
            (
                "at home",
                (
                    "mine/m",
                    ModelOptions {
                        api_base: Some("http://h/v1".into()),
                        api_key_env: Some("K".into()),
                        ..plain()
                    },
                ),
            ),
            ("standard", (LOCAL_EMBEDDING_MODEL, plain())),
            ("strong", (LOCAL_EMBEDDING_MODEL, plain())),
            ("as usual", (LOCAL_EMBEDDING_MODEL, plain())),
            ("ollama/nomic-embed-text", ("ollama/nomic-embed-text", plain())),
        ] {
            assert_eq!(resolved(name), Ok((expected.0.to_owned(), expected.1)), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_resolved_says_why() {
        let embedding = settings(json!({"classes": {
            "a": "b", "b": {"extends": "a"}, "empty": {"api_base": "http://h"}, "typo": "standart", "half": "openai/",
        }}));
        let path = ["a", "b", "a"].map(str::to_owned).to_vec();
        assert_eq!(embedding.resolve("a"), Err(ModelClassError::Cycle { path }));
        assert_eq!(embedding.resolve("empty"), Err(ModelClassError::NoModel { class: "empty".into() }));
        for (name, unknown, suggestions) in [
            ("typo", "standart", vec!["standard"]),
            ("stron", "stron", vec!["strong"]),
            ("half", "openai/", vec![]),
        ] {
            let known = ["a", "b", "empty", "half", "typo", "light", "standard", "strong"];
            assert_eq!(
                embedding.resolve(name),
                Err(ModelClassError::Unknown {
                    name: unknown.to_owned(),
                    suggestions: suggestions.into_iter().map(str::to_owned).collect(),
                    known: known.map(str::to_owned).to_vec(),
                })
            );
        }
    }

    #[test]
    fn the_switch_is_a_word_or_a_truth_value() {
        for (written, switch) in [
            (json!("auto"), Some(EmbeddingSwitch::Auto)),
            (json!(true), Some(EmbeddingSwitch::On)),
            (json!("on"), Some(EmbeddingSwitch::On)),
            (json!("no"), Some(EmbeddingSwitch::Off)),
            (json!("maybe"), None),
            (json!(1), None),
        ] {
            let read = serde_json::from_value::<EmbeddingSwitch>(written.clone()).ok();
            assert_eq!(read, switch, "{written}");
        }
    }
}
