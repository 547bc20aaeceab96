//! `safety.threat_scan`: texts from outside are fenced and looked through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flexible::plain_bool;

/// `safety.threat_scan`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreatScanSettings {
    /// Whether texts are looked through for what tries to instruct the model, and commands for what harms.
    #[serde(deserialize_with = "plain_bool")]
    pub enabled: bool,
    /// Whether a failure of the search counts as nothing found; `false`, as something to block.
    #[serde(deserialize_with = "plain_bool")]
    pub fail_open: bool,
    /// Whether the model reads texts from outside between marks.
    #[serde(deserialize_with = "plain_bool")]
    pub fence_enabled: bool,
    /// From which severity something that is found is blocked, where anything is.
    pub block_severity: Severity,
    /// Patterns of your own.
    pub custom_patterns: Vec<ThreatPattern>,
    /// Whether a turn that read something from outside may do less; only `off` exists yet.
    pub capability_narrowing: CapabilityNarrowing,
}

impl Default for ThreatScanSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            fail_open: true,
            fence_enabled: true,
            block_severity: Severity::Block,
            custom_patterns: vec![],
            capability_narrowing: CapabilityNarrowing::Off,
        }
    }
}

/// How bad something is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Warn,
    /// Not let through, where it can be stopped.
    #[default]
    Block,
}

impl Severity {
    /// The name in configuration and events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

/// Where a pattern is looked for; each place has those before it too, and `exec` those of `all`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ThreatScope {
    /// Everywhere.
    #[default]
    All,
    /// In texts that the model reads.
    Context,
    /// In what is kept or installed.
    Strict,
    /// In commands.
    Exec,
}

impl ThreatScope {
    /// The name in configuration and events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Context => "context",
            Self::Strict => "strict",
            Self::Exec => "exec",
        }
    }

    /// Whether a pattern of this scope is looked for in a scan of that one.
    #[must_use]
    pub fn includes(self, pattern: Self) -> bool {
        match self {
            Self::All => pattern == Self::All,
            Self::Context => matches!(pattern, Self::All | Self::Context),
            Self::Strict => matches!(pattern, Self::All | Self::Context | Self::Strict),
            Self::Exec => matches!(pattern, Self::All | Self::Exec),
        }
    }
}

/// A pattern: a list `[regex, id, scope, severity]` or a map with these keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreatPattern {
    /// The regular expression, whatever the case.
    pub regex: String,
    /// What it is called in events.
    pub id: String,
    /// Where it is looked for.
    #[serde(default)]
    pub scope: ThreatScope,
    /// How bad it is.
    #[serde(default)]
    pub severity: Severity,
}

/// `safety.threat_scan.capability_narrowing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityNarrowing {
    /// It may do what it could before.
    #[default]
    Off,
}
