//! Where the stores of a test are. Each test of what any store does runs once on each kind.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use reyn_index::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, VectorStore};
use tempfile::TempDir;

use crate::server;

/// A place of its own for the sources of one test, at which any number of stores is opened.
pub(crate) enum Place {
    /// In files.
    Folder {
        path: PathBuf,
        /// Removes it.
        _owner: Option<TempDir>,
    },
    /// On the server.
    Schema { connection: String, name: String },
}

impl Place {
    pub(crate) fn folder() -> Self {
        let owner = tempfile::tempdir().unwrap();
        Self::Folder { path: owner.path().join("index"), _owner: Some(owner) }
    }

    /// `None` where there is no server, which is said.
    pub(crate) fn schema() -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        Some(Self::Schema { connection: server::connection()?.to_owned(), name })
    }

    pub(crate) fn open(&self) -> Box<dyn VectorStore> {
        self.open_patient(SqliteOptions::default().wait_ms_max)
    }

    /// A store that waits for others no longer than this.
    pub(crate) fn open_patient(&self, wait_ms_max: u64) -> Box<dyn VectorStore> {
        match self {
            Self::Folder { path, .. } => {
                Box::new(SqliteStore::new(path, SqliteOptions { wait_ms_max, ..SqliteOptions::default() }))
            }
            Self::Schema { connection, name } => {
                let options =
                    PostgresOptions { schema: name.clone(), wait_ms_max, ..PostgresOptions::default() };
                Box::new(PostgresStore::new(connection, options).unwrap())
            }
        }
    }

    /// As a text from which another process knows it.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Folder { path, .. } => format!("folder\n{}", path.display()),
            Self::Schema { connection, name } => format!("schema\n{connection}\n{name}"),
        }
    }

    pub(crate) fn from_told(told: &str) -> Self {
        let mut lines = told.lines().map(str::to_owned);
        match (lines.next().as_deref(), lines.next(), lines.next()) {
            (Some("folder"), Some(path), None) => Self::Folder { path: path.into(), _owner: None },
            (Some("schema"), Some(connection), Some(name)) => Self::Schema { connection, name },
            _ => panic!("{told:?} tells no place"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Folder { path, .. } => path,
            Self::Schema { .. } => panic!("it is on a server"),
        }
    }
}

/// Makes two tests of each function: one on SQLite and one on PostgreSQL.
macro_rules! on_both_stores {
    ($($test:ident),+ $(,)?) => {
        mod in_sqlite {
            $(#[test]
            fn $test() {
                super::$test(&$crate::place::Place::folder());
            })+
        }
        mod in_postgresql {
            $(#[test]
            fn $test() {
                if let Some(place) = $crate::place::Place::schema() {
                    super::$test(&place);
                }
            })+
        }
    };
}
pub(crate) use on_both_stores;
