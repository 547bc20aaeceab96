//! `safety.threat_scan`: texts from outside are fenced and looked through.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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

/// The map that a pattern may be written as.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternMap {
    regex: String,
    id: String,
    #[serde(default)]
    scope: ThreatScope,
    #[serde(default)]
    severity: Severity,
}

impl<'de> Deserialize<'de> for ThreatPattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct PatternVisitor;
        impl<'de> Visitor<'de> for PatternVisitor {
            type Value = ThreatPattern;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list `[regex, id, scope, severity]` or a map with these keys")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ThreatPattern, A::Error> {
                let short = |length| A::Error::invalid_length(length, &PatternVisitor);
                let pattern = ThreatPattern {
                    regex: list.next_element()?.ok_or_else(|| short(0))?,
                    id: list.next_element()?.ok_or_else(|| short(1))?,
                    scope: list.next_element()?.unwrap_or_default(),
                    severity: list.next_element()?.unwrap_or_default(),
                };
                match list.next_element::<IgnoredAny>()? {
                    Some(_) => Err(A::Error::invalid_length(5, &self)),
                    None => Ok(pattern),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ThreatPattern, A::Error> {
                let PatternMap { regex, id, scope, severity } =
                    PatternMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ThreatPattern { regex, id, scope, severity })
            }
        }
        from.deserialize_any(PatternVisitor)
    }
}

/// `safety.threat_scan.capability_narrowing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityNarrowing {
    /// It may do what it could before.
    #[default]
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_pattern_is_a_list_or_a_map_and_what_is_neither_is_an_error() {
        let read =
            |value: Value| serde_json::from_value::<ThreatPattern>(value).map_err(|error| error.to_string());
        let pattern =
            |scope, severity| ThreatPattern { regex: "a+".into(), id: "mine".into(), scope, severity };
        let table = [
            (json!(["a+", "mine"]), pattern(ThreatScope::All, Severity::Block)),
            (json!(["a+", "mine", "exec"]), pattern(ThreatScope::Exec, Severity::Block)),
            (json!(["a+", "mine", "strict", "warn"]), pattern(ThreatScope::Strict, Severity::Warn)),
            (json!({"regex": "a+", "id": "mine"}), pattern(ThreatScope::All, Severity::Block)),
            (
                json!({"id": "mine", "regex": "a+", "severity": "warn"}),
                pattern(ThreatScope::All, Severity::Warn),
            ),
        ];
        for (written, expected) in table {
            assert_eq!(read(written.clone()), Ok(expected), "{written}");
        }
        for wrong in [
            json!([]),
            json!(["a+"]),
            json!(["a+", 1]),
            json!(["a+", "mine", "everywhere"]),
            json!(["a+", "mine", "all", "warn", "more"]),
            json!({"regex": "a+"}),
            json!({"regex": "a+", "id": "mine", "name": "x"}),
            json!("a+"),
            json!(null),
        ] {
            read(wrong).unwrap_err();
        }
    }
}
