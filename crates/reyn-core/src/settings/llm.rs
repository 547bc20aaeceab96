//! `llm`: which model answers, and what each class means.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::flexible::optional_bool;
use crate::conversation::{Usage, UsageSource};
use crate::text::nearest;
use crate::tool_use::ToolFormat;

/// `llm`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LlmSettings {
    /// The class that answers, or a literal `provider/model`. Unset, the first class that is configured
    /// of `standard`, `light`, `strong`, else what the machine offers.
    pub model: Option<String>,
    /// What each class means: `provider/model`, another class' name, or a map.
    pub models: BTreeMap<String, ModelClass>,
    /// Address of the server for models that name none.
    pub api_base: Option<String>,
    /// Servers that a project may name as addresses of models: scheme, host and port of each, as in
    /// `https://llm.example`. Only in `~/.reyn/config.yaml`, `REYN_LLM__TRUSTED_SERVERS` or a flag, never in a file
    /// of a project.
    pub trusted_servers: Vec<String>,
}

/// One class: a short form or a map of options.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ModelClass {
    /// `provider/model`, or the name of another class.
    Name(String),
    /// With options.
    Options(Box<ModelOptions>),
}

impl<'de> Deserialize<'de> for ModelClass {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match NameOr::deserialize(from)? {
            NameOr::Name(name) => Self::Name(name),
            NameOr::Options(options) => Self::Options(Box::new(options)),
        })
    }
}

/// A class of any kind as it is written: a name, or a map of these options.
pub(super) enum NameOr<O> {
    Name(String),
    Options(O),
}

impl<'de, O: Deserialize<'de>> Deserialize<'de> for NameOr<O> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ClassVisitor<O>(PhantomData<O>);
        impl<'de, O: Deserialize<'de>> Visitor<'de> for ClassVisitor<O> {
            type Value = NameOr<O>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`provider/model`, a class name, or a map with `model` or `extends`")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<NameOr<O>, E> {
                Ok(NameOr::Name(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NameOr<O>, A::Error> {
                O::deserialize(MapAccessDeserializer::new(map)).map(NameOr::Options)
            }
        }
        from.deserialize_any(ClassVisitor(PhantomData))
    }
}

/// A class as a map.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelOptions {
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
    /// How the model writes calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_format: Option<ToolFormat>,
    /// Size of the context window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_input_tokens: Option<u32>,
    /// Upper bound of one reply, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<u32>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Whether replies are streamed; they are unless this is `false`.
    #[serde(default, deserialize_with = "optional_bool", skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// What the model's tokens cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Further fields of the request's body, sent as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_body: Option<Map<String, Value>>,
}

/// What tokens cost, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read that the server had cached; as `input` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
}

impl Price {
    /// What a use of tokens cost, in US dollars; `None` where nobody counted them.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a count of tokens is far below 2^52")]
    pub fn of(&self, usage: Usage) -> Option<f64> {
        if usage.source == UsageSource::Unknown {
            return None;
        }
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let fresh = usage.prompt_tokens - cached;
        let dollars = fresh as f64 * self.input
            + cached as f64 * self.cached_input.unwrap_or(self.input)
            + usage.completion_tokens as f64 * self.output;
        Some(dollars / 1e6)
    }
}

/// A class with everything it extends.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelSpec {
    /// The part of `provider/model` before the first slash.
    pub provider: String,
    /// The part after it.
    pub model: String,
    /// The merged options.
    pub options: ModelOptions,
}

impl ModelSpec {
    /// Splits `provider/model`; `None` without a slash or with an empty part.
    #[must_use]
    pub fn literal(text: &str) -> Option<Self> {
        let (provider, model) = text.split_once('/')?;
        let is_whole = !provider.is_empty() && !model.is_empty();
        is_whole.then(|| Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            options: ModelOptions::default(),
        })
    }

    /// `provider/model`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

/// Why a class has no model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelClassError {
    /// No class has this name and it is no `provider/model`.
    Unknown {
        /// The name.
        name: String,
        /// Near names, best first.
        suggestions: Vec<String>,
        /// Every configured class.
        known: Vec<String>,
    },
    /// Classes refer to each other in a circle.
    Cycle {
        /// The names, in order.
        path: Vec<String>,
    },
    /// A map has neither `model` nor `extends`.
    NoModel {
        /// The class.
        class: String,
    },
}

impl LlmSettings {
    /// The class or literal that answers when none is asked for; `None` when nothing is configured.
    #[must_use]
    pub fn default_class(&self) -> Option<&str> {
        self.model.as_deref().or_else(|| {
            ["standard", "light", "strong"].into_iter().find(|class| self.models.contains_key(*class))
        })
    }

    /// Resolves a class name or a literal `provider/model`.
    ///
    /// # Errors
    /// When a name is unknown, a chain of names is circular, or a class names no model.
    pub fn resolve(&self, name: &str) -> Result<ModelSpec, ModelClassError> {
        let End { name: model, mut options } = follow(&self.models, name)?;
        let Some(literal) = ModelSpec::literal(&model) else {
            return Err(ModelClassError::unknown(model, self.models.keys().map(String::as_str)));
        };
        if options.api_base.is_none() {
            options.api_base.clone_from(&self.api_base);
        }
        Ok(ModelSpec { options, ..literal })
    }
}

impl ModelClassError {
    /// That no class has this name, with those that there are.
    pub(super) fn unknown<'a>(name: String, known: impl Iterator<Item = &'a str> + Clone) -> Self {
        let suggestions = nearest(&name, known.clone());
        Self::Unknown { name, suggestions, known: known.map(str::to_owned).collect() }
    }
}

/// Where a chain of classes ends.
pub(super) struct End {
    /// A name that is none of the classes.
    pub(super) name: String,
    /// What the classes on the way say.
    pub(super) options: ModelOptions,
}

/// Follows classes from a name until one is no class.
pub(super) fn follow(models: &BTreeMap<String, ModelClass>, name: &str) -> Result<End, ModelClassError> {
    let mut options = ModelOptions::default();
    let mut path: Vec<String> = vec![];
    let mut next = name.to_owned();
    loop {
        if path.contains(&next) {
            path.push(next);
            return Err(ModelClassError::Cycle { path });
        }
        let Some(class) = models.get(&next) else {
            return Ok(End { name: next, options });
        };
        path.push(next.clone());
        match class {
            ModelClass::Name(target) => next.clone_from(target),
            ModelClass::Options(own) => {
                fill(&mut options, own);
                let own_target = own.model.clone().or_else(|| own.extends.clone());
                next = own_target.ok_or_else(|| ModelClassError::NoModel { class: next.clone() })?;
            }
        }
    }
}

/// Takes from `base` what `options` does not say yet.
fn fill(options: &mut ModelOptions, base: &ModelOptions) {
    let ModelOptions {
        model: _,
        extends: _,
        api_base,
        api_key_env,
        tool_format,
        max_input_tokens,
        max_completion_tokens,
        temperature,
        top_p,
        stream,
        price,
        extra_body,
    } = base;
    options.api_base = options.api_base.take().or_else(|| api_base.clone());
    options.api_key_env = options.api_key_env.take().or_else(|| api_key_env.clone());
    options.tool_format = options.tool_format.or(*tool_format);
    options.max_input_tokens = options.max_input_tokens.or(*max_input_tokens);
    options.max_completion_tokens = options.max_completion_tokens.or(*max_completion_tokens);
    options.temperature = options.temperature.or(*temperature);
    options.top_p = options.top_p.or(*top_p);
    options.stream = options.stream.or(*stream);
    options.price = options.price.or(*price);
    let mut merged = extra_body.clone().unwrap_or_default();
    merged.extend(options.extra_body.take().unwrap_or_default());
    options.extra_body = (!merged.is_empty()).then_some(merged);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(value: Value) -> LlmSettings {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_class_is_a_literal_another_class_or_a_map_that_extends() {
        let llm = settings(json!({
            "api_base": "http://base/v1",
            "models": {
                "light": "openai/small",
                "standard": {"extends": "light", "temperature": 0.2, "extra_body": {"a": 1}},
                "strong": {"extends": "standard", "temperature": 0.9, "api_base": "http://own/v1"},
                "alias": "strong",
            },
        }));
        let spec = llm.resolve("alias").unwrap();
        assert_eq!(spec.name(), "openai/small");
        assert_eq!(spec.options.temperature, Some(0.9));
        assert_eq!(spec.options.api_base.as_deref(), Some("http://own/v1"));
        assert_eq!(spec.options.extra_body.unwrap()["a"], 1);
        assert_eq!(llm.resolve("openai/other/x").unwrap().model, "other/x");
        assert_eq!(llm.resolve("light").unwrap().options.api_base.as_deref(), Some("http://base/v1"));
    }

    #[test]
    fn what_cannot_be_resolved_says_why() {
        let llm = settings(json!({"models": {
            "a": "b", "b": "a", "standard": "openai/x", "empty": {"temperature": 1.0},
        }}));
        assert_eq!(
            llm.resolve("a"),
            Err(ModelClassError::Cycle { path: vec!["a".into(), "b".into(), "a".into()] })
        );
        assert_eq!(llm.resolve("empty"), Err(ModelClassError::NoModel { class: "empty".into() }));
        let Err(ModelClassError::Unknown { suggestions, .. }) = llm.resolve("standart") else {
            panic!("known")
        };
        assert_eq!(suggestions, ["standard"]);
    }

    #[test]
    fn a_price_counts_cached_tokens_apart_and_says_nothing_about_what_nobody_counted() {
        let price = Price { input: 3.0, output: 15.0, cached_input: Some(0.5) };
        let usage = Usage {
            prompt_tokens: 1_000_000,
            completion_tokens: 100_000,
            cached_tokens: 400_000,
            source: UsageSource::Provider,
        };
        assert_eq!(price.of(usage), Some(1.8 + 0.2 + 1.5));
        assert_eq!(Price { cached_input: None, ..price }.of(usage), Some(3.0 + 1.5));
        assert_eq!(price.of(Usage { source: UsageSource::Unknown, ..usage }), None);
    }

    #[test]
    fn words_for_yes_and_no_are_accepted() {
        for (word, value) in
            [(json!("off"), Some(false)), (json!("yes"), Some(true)), (json!(true), Some(true))]
        {
            let options: ModelOptions =
                serde_json::from_value(json!({"model": "a/b", "stream": word})).unwrap();
            assert_eq!(options.stream, value);
        }
        assert!(serde_json::from_value::<ModelOptions>(json!({"stream": "maybe"})).is_err());
    }
}
