//! `permissions`: what tools may do without asking.

use std::fmt;

use super::web::WebPermissions;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// `permissions`. Keys may be nested (`file: {write: …}`) or dotted (`file.write: …`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionSettings {
    /// Files and folders.
    pub file: FilePermissions,
    /// Running programs; unset, a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecPermission>,
    /// What is remembered.
    pub memory: MemoryPermissions,
    /// Removing an index with all that is in it; unset, a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_drop: Option<Decision>,
    /// The web; `web.search` and `web.fetch` say the same.
    pub web: WebPermissions,
}

/// `permissions.exec`: a decision, or the commands for which it is `allow`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ExecPermission {
    /// The same for every command.
    Decision(Decision),
    /// `allow` for what begins with one of these, as in `cargo test`; `ask` for anything else.
    Commands(Vec<String>),
}

impl<'de> Deserialize<'de> for ExecPermission {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ExecVisitor;
        impl<'de> Visitor<'de> for ExecVisitor {
            type Value = ExecPermission;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`allow`, `ask`, `deny` or a list of commands")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<ExecPermission, E> {
                let decision =
                    Decision::of(word).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))?;
                Ok(ExecPermission::Decision(decision))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ExecPermission, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ExecPermission::Commands)
            }
        }
        from.deserialize_any(ExecVisitor)
    }
}

/// `permissions.file`. An operation without a value of its own follows `read` or `write`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FilePermissions {
    /// Reading and listing; unset, the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<PermissionValue>,
    /// Finding paths by pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glob: Option<PermissionValue>,
    /// Searching in contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grep: Option<PermissionValue>,
    /// Creating and replacing; unset, `.reyn/` without the runtime's own files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<PermissionValue>,
    /// Changing a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<PermissionValue>,
    /// Deleting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<PermissionValue>,
    /// Rebuilding an index file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regenerate_index: Option<PermissionValue>,
}

/// `permissions.memory`. What has no value of its own follows `file.write` and `file.delete`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryPermissions {
    /// Remembering, by whatever tool; unset, without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Decision>,
    /// Forgetting; unset, without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<Decision>,
}

/// A decision, or the places where it is `allow`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PermissionValue {
    /// The same everywhere.
    Decision(Decision),
    /// `allow` here, `ask` elsewhere.
    Places(Vec<PlaceValue>),
}

impl<'de> Deserialize<'de> for PermissionValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct PermissionVisitor;
        impl<'de> Visitor<'de> for PermissionVisitor {
            type Value = PermissionValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`allow`, `ask`, `deny` or a list of paths")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<PermissionValue, E> {
                let decision =
                    Decision::of(word).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))?;
                Ok(PermissionValue::Decision(decision))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<PermissionValue, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(PermissionValue::Places)
            }
        }
        from.deserialize_any(PermissionVisitor)
    }
}

/// The same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Without asking.
    Allow,
    /// After a person's yes.
    Ask,
    /// Never.
    Deny,
}

impl Decision {
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "ask" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

/// A path, relative to the project or absolute, `~` for the home folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PlaceValue {
    /// The path and everything below it.
    Path(String),
    /// With its reach.
    Scoped(ScopedPlace),
}

impl<'de> Deserialize<'de> for PlaceValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct PlaceVisitor;
        impl<'de> Visitor<'de> for PlaceVisitor {
            type Value = PlaceValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path, or a map with `path` and `scope`")
            }
            fn visit_str<E: Error>(self, path: &str) -> Result<PlaceValue, E> {
                Ok(PlaceValue::Path(path.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PlaceValue, A::Error> {
                ScopedPlace::deserialize(MapAccessDeserializer::new(map)).map(PlaceValue::Scoped)
            }
        }
        from.deserialize_any(PlaceVisitor)
    }
}

/// A path with its reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopedPlace {
    /// The path.
    pub path: String,
    /// How far.
    #[serde(default)]
    pub scope: PlaceScope,
}

/// How far a path reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlaceScope {
    /// It and everything below it.
    #[default]
    Recursive,
    /// Only it.
    JustPath,
}
