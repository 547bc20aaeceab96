//! `permissions`: what tools may do without asking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `permissions`. Keys may be nested (`file: {write: …}`) or dotted (`file.write: …`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionSettings {
    /// Files and folders.
    pub file: FilePermissions,
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

/// A decision, or the places where it is `allow`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`allow`, `ask`, `deny` or a list of paths")]
pub enum PermissionValue {
    /// The same everywhere.
    Decision(Decision),
    /// `allow` here, `ask` elsewhere.
    Places(Vec<PlaceValue>),
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

/// A path, relative to the project or absolute, `~` for the home folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a path, or a map with `path` and `scope`")]
pub enum PlaceValue {
    /// The path and everything below it.
    Path(String),
    /// With its reach.
    Scoped(ScopedPlace),
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
