//! `web` and `web_fetch`: whether and how the web is reached.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::flexible::{optional_bool, plain_bool};
use super::permissions::Decision;
use crate::limits::DOWNLOAD_BYTES_MAX;

/// `web`: a decision for each tool, or a map with more. `permissions.web` is read as well.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebSettings {
    /// `web_search`; unset, allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<WebSearchValue>,
    /// `web_fetch`; unset, allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetch: Option<WebFetchValue>,
}

impl WebSettings {
    /// The values of `web.search`, the map's own or the usual ones.
    #[must_use]
    pub fn search_values(&self) -> WebSearchSettings {
        match &self.search {
            Some(WebSearchValue::Settings(settings)) => settings.clone(),
            Some(WebSearchValue::Decision(_)) | None => WebSearchSettings::default(),
        }
    }

    /// What `web.search` says of permission.
    #[must_use]
    pub fn search_permission(&self) -> Option<Decision> {
        match &self.search {
            Some(WebSearchValue::Decision(decision)) => Some(*decision),
            Some(WebSearchValue::Settings(settings)) => settings.permission,
            None => None,
        }
    }

    /// What `web.fetch` says of permission.
    #[must_use]
    pub fn fetch_permission(&self) -> Option<&HostPermission> {
        match &self.fetch {
            Some(WebFetchValue::Permission(permission)) => Some(permission),
            Some(WebFetchValue::Settings(settings)) => settings.permission.as_ref(),
            None => None,
        }
    }
}

/// `web.search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WebSearchValue {
    /// Whether it may be used.
    Decision(Decision),
    /// That, and how.
    Settings(WebSearchSettings),
}

impl<'de> Deserialize<'de> for WebSearchValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct SearchVisitor;
        impl<'de> Visitor<'de> for SearchVisitor {
            type Value = WebSearchValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`allow`, `ask`, `deny` or a map with `permission`, `backend`, `fallback`")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<WebSearchValue, E> {
                let decision =
                    Decision::of(word).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))?;
                Ok(WebSearchValue::Decision(decision))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WebSearchValue, A::Error> {
                WebSearchSettings::deserialize(MapAccessDeserializer::new(map)).map(WebSearchValue::Settings)
            }
        }
        from.deserialize_any(SearchVisitor)
    }
}

/// `web.search` as a map.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebSearchSettings {
    /// Whether it may be used; unset, allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<Decision>,
    /// The engine that is asked first.
    pub backend: SearchEngine,
    /// Those that are asked, in this order, when an engine does not answer.
    pub fallback: Vec<SearchEngine>,
    /// Address of your SearXNG instance; its `format=json` must be on.
    pub searxng_url: Option<String>,
    /// Key of the Brave search API, as `${BRAVE_API_KEY}`; unset, that variable.
    pub brave_api_key: Option<String>,
    /// Address asked instead of DuckDuckGo's own, for a mirror.
    pub duckduckgo_url: Option<String>,
    /// Address asked instead of Brave's own, for a proxy of yours.
    pub brave_url: Option<String>,
}

/// A search engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchEngine {
    /// DuckDuckGo's page for browsers without scripts; takes no key.
    #[default]
    Duckduckgo,
    /// An instance of your own.
    Searxng,
    /// Brave's search API; takes a key.
    Brave,
}

impl SearchEngine {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 3] = [Self::Duckduckgo, Self::Searxng, Self::Brave];

    /// The name in configuration, calls and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duckduckgo => "duckduckgo",
            Self::Searxng => "searxng",
            Self::Brave => "brave",
        }
    }
}

/// `web.fetch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WebFetchValue {
    /// Whether it may be used.
    Permission(HostPermission),
    /// That, as a map.
    Settings(WebFetchPermissionSettings),
}

impl<'de> Deserialize<'de> for WebFetchValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct FetchVisitor;
        impl<'de> Visitor<'de> for FetchVisitor {
            type Value = WebFetchValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`allow`, `ask`, `deny`, a list of hosts or a map with `permission`")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<WebFetchValue, E> {
                let decision =
                    Decision::of(word).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))?;
                Ok(WebFetchValue::Permission(HostPermission::Decision(decision)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<WebFetchValue, A::Error> {
                let hosts = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(WebFetchValue::Permission(HostPermission::Hosts(hosts)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WebFetchValue, A::Error> {
                WebFetchPermissionSettings::deserialize(MapAccessDeserializer::new(map))
                    .map(WebFetchValue::Settings)
            }
        }
        from.deserialize_any(FetchVisitor)
    }
}

/// `web.fetch` as a map.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebFetchPermissionSettings {
    /// Whether it may be used; unset, allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<HostPermission>,
}

/// A decision, or the hosts for which it is `allow`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HostPermission {
    /// The same for every host.
    Decision(Decision),
    /// `allow` for these, `*.example.org` for all below a name; `ask` for others.
    Hosts(Vec<String>),
}

impl<'de> Deserialize<'de> for HostPermission {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct HostVisitor;
        impl<'de> Visitor<'de> for HostVisitor {
            type Value = HostPermission;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`allow`, `ask`, `deny` or a list of hosts")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<HostPermission, E> {
                let decision =
                    Decision::of(word).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))?;
                Ok(HostPermission::Decision(decision))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<HostPermission, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(HostPermission::Hosts)
            }
        }
        from.deserialize_any(HostVisitor)
    }
}

/// `permissions.web`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebPermissions {
    /// As `web.search`; say it in one of the two places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Decision>,
    /// As `web.fetch`; say it in one of the two places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetch: Option<HostPermission>,
}

/// `web_fetch`: how pages are reached, by `web_fetch` and `web_search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebFetchSettings {
    /// Whether certificates are checked; unset, as the variable `SSL_VERIFY` says, else yes.
    #[serde(deserialize_with = "optional_bool")]
    pub verify_ssl: Option<bool>,
    /// A file of certificates that are trusted as well, PEM; unset, `SSL_CERT_FILE` or `REQUESTS_CA_BUNDLE`.
    pub ca_bundle: Option<String>,
    /// Longest body that is taken, in bytes, after decompression.
    pub max_download_bytes: u64,
    /// Whether addresses of private networks are reached. Loopback and metadata are not.
    #[serde(deserialize_with = "plain_bool")]
    pub allow_private_ips: bool,
    /// `host:port` pairs that are reached although they are loopback or private.
    pub allow_hosts: Vec<String>,
}

impl Default for WebFetchSettings {
    fn default() -> Self {
        Self {
            verify_ssl: None,
            ca_bundle: None,
            max_download_bytes: DOWNLOAD_BYTES_MAX,
            allow_private_ips: false,
            allow_hosts: vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_decision_a_list_and_a_map_are_read() {
        let read = |value| serde_json::from_value::<WebSettings>(value).unwrap();
        let plain = read(json!({"search": "deny", "fetch": "ask"}));
        assert_eq!(plain.search_permission(), Some(Decision::Deny));
        assert_eq!(plain.fetch_permission(), Some(&HostPermission::Decision(Decision::Ask)));
        assert_eq!(plain.search_values(), WebSearchSettings::default());
        let more = read(json!({
            "search": {"backend": "searxng", "fallback": ["brave"]},
            "fetch": {"permission": ["a.org", "*.b.org"]},
        }));
        assert_eq!(more.search_permission(), None);
        assert_eq!(more.search_values().backend, SearchEngine::Searxng);
        let hosts = HostPermission::Hosts(vec!["a.org".into(), "*.b.org".into()]);
        assert_eq!(more.fetch_permission(), Some(&hosts));
        for wrong in
            [json!({"search": "maybe"}), json!({"search": ["a"]}), json!({"fetch": {"backend": "x"}})]
        {
            serde_json::from_value::<WebSettings>(wrong).unwrap_err();
        }
    }
}
