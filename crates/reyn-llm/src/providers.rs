//! The known providers: a data file, so that nothing is wired to one of them.

use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::http_client::is_loopback;

const BUNDLED: &str = include_str!("providers.toml");

/// Providers, best first. Reading the file costs time, so it is read only where it is needed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Providers {
    #[serde(rename = "provider")]
    list: Vec<Provider>,
}

/// What is known about a provider.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The part of `provider/model` before the slash.
    pub name: String,
    /// Address of its server.
    pub api_base: String,
    /// Environment variables that may hold its key, the usual one first.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// The model that each class means when nothing is configured.
    #[serde(default)]
    pub models: SuggestedModels,
    /// Fields that requests for these models need; they do not hold for the provider's other models.
    #[serde(default)]
    pub extra_body: Option<Map<String, Value>>,
    /// Whether its server runs on this machine.
    #[serde(default, rename = "local")]
    pub is_local: bool,
    /// The port it usually listens on; only for a server on this machine.
    #[serde(default)]
    pub port: Option<u16>,
}

/// The model that each class means.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SuggestedModels {
    /// Small and quick.
    pub light: Option<String>,
    /// The everyday one.
    pub standard: Option<String>,
    /// The most able one.
    pub strong: Option<String>,
}

/// Why a file of providers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProvidersError {
    /// It is not of the right form; the text says where.
    #[error("the list of providers cannot be read: {0}")]
    Malformed(String),
    /// Two providers have the same name.
    #[error("the list of providers names `{0}` twice")]
    Twice(String),
    /// An address is none, or is not on this machine although the provider is said to be.
    #[error("provider `{name}` has an `api_base` that cannot be used: {why}")]
    Address {
        /// The provider.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl SuggestedModels {
    /// The model of a class, `light`, `standard` or `strong`.
    #[must_use]
    pub fn class(&self, name: &str) -> Option<&str> {
        match name {
            "light" => self.light.as_deref(),
            "standard" => self.standard.as_deref(),
            "strong" => self.strong.as_deref(),
            _ => None,
        }
    }
}

impl Providers {
    /// The providers that come with the program.
    #[must_use]
    pub fn bundled() -> Self {
        Self::parse(BUNDLED).expect("a test reads the bundled file")
    }

    /// Reads a file of the same form.
    ///
    /// # Errors
    /// When the text is not of this form, a name stands twice, or an address cannot be used.
    pub fn parse(text: &str) -> Result<Self, ProvidersError> {
        let providers: Self = toml::from_str(text)
            .map_err(|error| ProvidersError::Malformed(error.to_string().trim().to_owned()))?;
        for (at, provider) in providers.list.iter().enumerate() {
            if providers.list[..at].iter().any(|earlier| earlier.name == provider.name) {
                return Err(ProvidersError::Twice(provider.name.clone()));
            }
            let wrong = |why: String| ProvidersError::Address { name: provider.name.clone(), why };
            let url = Url::parse(&provider.api_base).map_err(|error| wrong(error.to_string()))?;
            if !matches!(url.scheme(), "http" | "https") {
                return Err(wrong("it must begin with `http://` or `https://`".to_owned()));
            }
            if provider.is_local && !is_loopback(&url) {
                return Err(wrong("a local provider must be on this machine".to_owned()));
            }
        }
        Ok(providers)
    }

    /// All of them, best first.
    #[must_use]
    pub fn all(&self) -> &[Provider] {
        &self.list
    }

    /// The provider of this name.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.list.iter().find(|provider| provider.name == name)
    }

    /// The first provider that is not on this machine and whose key `read_env` finds, with the name of the
    /// variable that holds it. A blank value is no key.
    #[must_use]
    pub fn first_with_key(&self, read_env: &dyn Fn(&str) -> Option<String>) -> Option<(&Provider, &str)> {
        let has_key = |name: &&String| read_env(name).is_some_and(|value| !value.trim().is_empty());
        self.list.iter().filter(|provider| !provider.is_local).find_map(|provider| {
            let name = provider.key_env.iter().find(has_key)?;
            Some((provider, name.as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_bundled_file_has_every_provider_and_each_is_whole() {
        let providers = Providers::bundled();
        let names: Vec<&str> = providers.all().iter().map(|provider| provider.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "openai",
                "anthropic",
                "gemini",
                "openrouter",
                "mistral",
                "groq",
                "deepseek",
                "xai",
                "together",
                "ollama",
                "lmstudio",
                "llamacpp",
                "vllm"
            ]
        );
        for provider in providers.all() {
            let has = |class: &&str| provider.models.class(class).is_some();
            let has_models = ["light", "standard", "strong"].iter().all(has);
            let is_whole = if provider.is_local {
                Url::parse(&provider.api_base).unwrap().port() == provider.port
            } else {
                has_models && !provider.key_env.is_empty() && provider.api_base.starts_with("https://")
            };
            assert!(is_whole, "{provider:?}");
        }
    }

    #[test]
    fn fields_that_the_suggested_models_need_come_with_the_provider() {
        let providers = Providers::bundled();
        let extra = |name: &str| serde_json::to_value(&providers.provider(name).unwrap().extra_body).unwrap();
        assert_eq!(extra("openai"), json!({"reasoning_effort": "none"}));
        assert_eq!(extra("deepseek"), json!({"thinking": {"type": "disabled"}}));
        assert_eq!(extra("mistral"), Value::Null);
        assert_eq!(providers.provider("nobody"), None);
        assert_eq!(providers.provider("mistral").unwrap().models.class("weak"), None);
    }

    #[test]
    fn the_first_provider_with_a_key_is_found_with_the_name_of_its_variable() {
        let providers = Providers::bundled();
        let found = |set: &[(&str, &str)]| {
            let read =
                |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            providers.first_with_key(&read).map(|(provider, name)| (provider.name.clone(), name.to_owned()))
        };
        let some = |provider: &str, name: &str| Some((provider.to_owned(), name.to_owned()));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("OPENAI_API_KEY", " "), ("VLLM_API_KEY", "k")]), None);
        assert_eq!(found(&[("GOOGLE_API_KEY", "k")]), some("gemini", "GOOGLE_API_KEY"));
        assert_eq!(
            found(&[("GROQ_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]),
            some("anthropic", "ANTHROPIC_API_KEY")
        );
    }

    #[test]
    fn a_file_that_cannot_be_used_says_why() {
        let says = |text: &str| Providers::parse(text).unwrap_err().to_string();
        let one = |name: &str, rest: &str| format!("[[provider]]\nname = \"{name}\"\n{rest}\n");
        assert!(says("[[provider]]\nname = 1").contains("line 2"), "{}", says("[[provider]]\nname = 1"));
        assert!(says(&one("a", "api_bas = \"http://x\"")).contains("api_bas"));
        let good = one("a", "api_base = \"http://x/v1\"");
        assert_eq!(says(&format!("{good}{good}")), "the list of providers names `a` twice");
        assert_eq!(
            says(&one("a", "api_base = \"ftp://x\"")),
            "provider `a` has an `api_base` that cannot be used: it must begin with `http://` or `https://`"
        );
        assert_eq!(
            says(&one("a", "api_base = \"http://x\"\nlocal = true")),
            "provider `a` has an `api_base` that cannot be used: a local provider must be on this machine"
        );
    }
}
