//! `index`: where what is indexed is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `index`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IndexSettings {
    /// Files below `.reyn/index/`, or a PostgreSQL server with `pgvector`.
    pub backend: IndexBackend,
    /// The variable of the environment or of `~/.reyn/secrets.env` with the server's connection string, as in
    /// `postgresql://user:password@host/database`.
    pub url_env: String,
    /// The schema of its tables: lower case letters, digits and `_`. A project's own keeps its sources apart.
    pub schema: String,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            backend: IndexBackend::default(),
            url_env: "REYN_INDEX_URL".to_owned(),
            schema: "reyn".to_owned(),
        }
    }
}

/// `index.backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexBackend {
    /// Files of SQLite.
    #[default]
    Sqlite,
    /// A server.
    Postgres,
}
