//! The configuration as types: keys, defaults and what a value may be. Loading is the runtime's.

mod embedding;
mod flexible;
mod index;
mod llm;
mod permissions;
mod sandbox;
mod threat_scan;
mod web;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use embedding::{
    EmbeddingClass, EmbeddingClassOptions, EmbeddingIndexSettings, EmbeddingSettings, EmbeddingSwitch,
    RetryBackoff, STANDARD_CLASSES,
};
pub use index::{IndexBackend, IndexSettings};
pub use llm::{LlmSettings, ModelClass, ModelClassError, ModelOptions, ModelSpec, Price};
pub use permissions::{
    Decision, ExecPermission, FilePermissions, MemoryPermissions, PermissionSettings, PermissionValue,
    PlaceScope, PlaceValue, ScopedPlace,
};
pub use sandbox::{
    BackendSetting, OnUnsupported, SandboxMode, SandboxPolicySettings, SandboxSettings, SandboxValues,
};

pub use threat_scan::{CapabilityNarrowing, Severity, ThreatPattern, ThreatScanSettings, ThreatScope};
pub use web::{
    HostPermission, SearchEngine, WebFetchPermissionSettings, WebFetchSettings, WebFetchValue,
    WebPermissions, WebSearchSettings, WebSearchValue, WebSettings,
};

use crate::limits;

/// Everything that configuration files can say.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Models: which one answers, and what each class means.
    pub llm: LlmSettings,
    /// Bounds of a turn.
    pub safety: SafetySettings,
    /// What tools may do without asking.
    pub permissions: PermissionSettings,
    /// What programs that tools run may reach and use up.
    pub sandbox: SandboxSettings,
    /// Whether and how the web is reached.
    pub web: WebSettings,
    /// How pages are reached.
    pub web_fetch: WebFetchSettings,
    /// Vectors of texts: which model makes them, and how it is asked.
    pub embedding: EmbeddingSettings,
    /// Where what is indexed is kept.
    pub index: IndexSettings,
    /// Local model files.
    pub models: ModelFileSettings,
    /// The audit trail under `.reyn/events/`.
    pub audit_events: AuditSettings,
}

/// `safety`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SafetySettings {
    /// Counts.
    #[serde(rename = "loop")]
    pub loops: LoopSettings,
    /// Times.
    pub timeout: TimeoutSettings,
    /// Texts from outside.
    pub threat_scan: ThreatScanSettings,
}

/// `safety.loop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LoopSettings {
    /// Model calls in one turn; unset means 25 in a chat and 80 in `ask`.
    pub max_router_iterations: Option<u32>,
    /// Calls of one reply that are run.
    pub max_tool_calls_per_reply: u32,
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self { max_router_iterations: None, max_tool_calls_per_reply: limits::CALLS_PER_REPLY_MAX }
    }
}

/// `safety.timeout`, in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutSettings {
    /// Until a connection to a model's server is open.
    pub llm_connect_seconds: u64,
    /// Until the first byte of a reply.
    pub llm_first_byte_seconds: u64,
    /// Between two pieces of a reply.
    pub llm_idle_seconds: u64,
    /// One tool call.
    pub tool_call_seconds: u64,
}

impl Default for TimeoutSettings {
    fn default() -> Self {
        Self {
            llm_connect_seconds: limits::LLM_CONNECT_SECONDS,
            llm_first_byte_seconds: limits::LLM_FIRST_BYTE_SECONDS,
            llm_idle_seconds: limits::LLM_IDLE_SECONDS,
            tool_call_seconds: limits::TOOL_CALL_SECONDS_MAX,
        }
    }
}

/// `models`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelFileSettings {
    /// Whether a model file that is needed and absent is fetched.
    pub auto_pull: AutoPull,
    /// Threads of the local model; unset means one for each core, at most 8.
    pub threads: Option<u32>,
}

/// `models.auto_pull`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AutoPull {
    /// A question on a terminal, an error that names the command elsewhere.
    #[default]
    Ask,
    /// Yes.
    Always,
    /// No.
    Never,
}

/// `audit_events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditSettings {
    /// Size at which a new file is begun, in bytes; 0 is never.
    pub max_bytes: u64,
    /// Age at which a new file is begun, in seconds; 0 is never.
    pub max_age_seconds: u64,
    /// Days that are kept for sure: a month's files are removed once the whole month is older; 0 keeps all.
    pub cleanup_period_days: u32,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { max_bytes: limits::AUDIT_FILE_BYTES_MAX, max_age_seconds: 86_400, cleanup_period_days: 30 }
    }
}

/// The JSON Schema of a configuration file.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Settings>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_empty_file_is_the_defaults() {
        assert_eq!(serde_json::from_value::<Settings>(json!({})).unwrap(), Settings::default());
    }

    #[test]
    fn settings_round_trip_through_their_own_text() {
        let settings: Settings = serde_json::from_value(json!({
            "llm": {"model": "light", "models": {"light": "openai/x", "own": {"model": "a/b", "temperature": 0.5}}},
            "permissions": {
                "file": {"write": ["out", {"path": "a", "scope": "just_path"}], "delete": "deny"},
                "exec": ["cargo test"],
            },
            "sandbox": {"mode": "strict", "policy": {"network": true, "allow_write_paths": [], "processes": 9}},
            "safety": {"loop": {"max_router_iterations": 3}},
            "embedding": {"enabled": "on", "classes": {"light": "a/b", "own": {"extends": "light"}}},
        }))
        .unwrap();
        let text = serde_json::to_value(&settings).unwrap();
        assert_eq!(serde_json::from_value::<Settings>(text).unwrap(), settings);
    }

    #[test]
    fn the_schema_names_every_section() {
        let schema = schema();
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            names,
            [
                "llm",
                "safety",
                "permissions",
                "sandbox",
                "web",
                "web_fetch",
                "embedding",
                "index",
                "models",
                "audit_events"
            ]
        );
    }
}
