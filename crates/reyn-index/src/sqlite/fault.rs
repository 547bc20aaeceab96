//! What SQLite says, in this crate's words.

use rusqlite::ErrorCode;

use crate::error::IndexError;

/// Makes errors of one source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faults<'a> {
    name: &'a str,
    /// How long the database is waited for.
    wait_ms: u64,
}

impl<'a> Faults<'a> {
    pub(super) fn new(name: &'a str, wait_ms: u64) -> Self {
        Self { name, wait_ms }
    }

    pub(super) fn name(self) -> &'a str {
        self.name
    }

    pub(super) fn wait_ms(self) -> u64 {
        self.wait_ms
    }

    /// The result with its error in this crate's words.
    pub(super) fn of<T>(self, result: rusqlite::Result<T>) -> Result<T, IndexError> {
        result.map_err(|error| self.error(&error))
    }

    pub(super) fn corrupt(self, detail: &str) -> IndexError {
        IndexError::Corrupt { name: self.name.to_owned(), detail: detail.to_owned() }
    }

    fn error(self, error: &rusqlite::Error) -> IndexError {
        let name = self.name.to_owned();
        let detail = error.to_string();
        // A table or column that is not there, or holds another type, was not written by this program.
        let is_shape = detail.contains("no such table")
            || detail.contains("no such column")
            || matches!(
                error,
                rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)
            );
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                IndexError::Locked { name, waited_ms: self.wait_ms }
            }
            Some(ErrorCode::DiskFull) => IndexError::DiskFull { name },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                IndexError::Corrupt { name, detail }
            }
            _ if is_shape => IndexError::Corrupt { name, detail },
            _ => IndexError::Database { name, detail },
        }
    }
}
