//! What SQLite says, in this crate's words.

use rusqlite::ErrorCode;

use crate::bounds::WAIT_MS_MAX;
use crate::error::IndexError;

/// Makes errors of one source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faults<'a>(&'a str);

impl<'a> Faults<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Self(name)
    }

    pub(super) fn name(self) -> &'a str {
        self.0
    }

    /// The result with its error in this crate's words.
    pub(super) fn of<T>(self, result: rusqlite::Result<T>) -> Result<T, IndexError> {
        result.map_err(|error| self.error(&error))
    }

    pub(super) fn corrupt(self, detail: &str) -> IndexError {
        IndexError::Corrupt { name: self.0.to_owned(), detail: detail.to_owned() }
    }

    fn error(self, error: &rusqlite::Error) -> IndexError {
        let name = self.0.to_owned();
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
                IndexError::Locked { name, waited_ms: WAIT_MS_MAX }
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
