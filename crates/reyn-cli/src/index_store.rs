//! Where what is indexed is kept, as configured.

use std::sync::Arc;

use reyn_core::settings::{IndexBackend, IndexSettings};
use reyn_index::{
    IndexError, PostgresLock, PostgresOptions, PostgresStore, SourceLock, SourceName, SqliteOptions,
    SqliteStore, VectorStore,
};

use crate::exit::Failure;
use crate::wiring::Project;

/// The store of a project.
pub(crate) enum IndexStore {
    /// Files below `.reyn/index/`.
    Sqlite(Arc<SqliteStore>),
    /// A server.
    Postgres(Arc<PostgresStore>),
}

/// The right to index a source, until it is dropped.
#[expect(dead_code, reason = "it is held, not looked at")]
pub(crate) enum IndexLock {
    Sqlite(SourceLock),
    Postgres(Box<PostgresLock>),
}

/// The store that is configured. Nothing is opened or asked before the first call.
///
/// # Errors
/// When a server is configured and its connection string is missing or none.
pub(crate) fn open_store(project: &Project) -> Result<IndexStore, Failure> {
    let IndexSettings { backend, url_env, schema } = &project.config.settings.index;
    match backend {
        IndexBackend::Sqlite => {
            let folder = project.root().join(".reyn/index");
            Ok(IndexStore::Sqlite(Arc::new(SqliteStore::new(&folder, SqliteOptions::default()))))
        }
        IndexBackend::Postgres => {
            let url = project.config.variable(url_env).ok_or_else(|| {
                Failure::usage(
                    "config",
                    format!(
                        "`index.backend` is `postgres` and `{url_env}` is not set; put \
                         `{url_env}=postgresql://user:password@host/database` into `~/.reyn/secrets.env`"
                    ),
                )
            })?;
            let options = PostgresOptions { schema: schema.clone(), ..PostgresOptions::default() };
            let store = PostgresStore::new(url, options)
                .map_err(|error| Failure::usage("config", format!("`{url_env}`: {error}")))?;
            Ok(IndexStore::Postgres(Arc::new(store)))
        }
    }
}

impl IndexStore {
    /// The store for one command.
    pub(crate) fn get(&self) -> &dyn VectorStore {
        match self {
            Self::Sqlite(store) => store.as_ref(),
            Self::Postgres(store) => store.as_ref(),
        }
    }

    /// The store for a session.
    pub(crate) fn shared(&self) -> Arc<dyn VectorStore> {
        match self {
            Self::Sqlite(store) => Arc::<SqliteStore>::clone(store),
            Self::Postgres(store) => Arc::<PostgresStore>::clone(store),
        }
    }

    /// Takes the right to index a source.
    ///
    /// # Errors
    /// [`IndexError::Busy`] when somebody else has it.
    pub(crate) fn lock(&self, source: &SourceName) -> Result<IndexLock, IndexError> {
        match self {
            Self::Sqlite(store) => store.lock(source).map(IndexLock::Sqlite),
            Self::Postgres(store) => store.lock(source).map(|lock| IndexLock::Postgres(Box::new(lock))),
        }
    }
}
