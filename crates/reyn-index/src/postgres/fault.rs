//! What the server says, in this crate's words. A message holds no password: the server is named without one, and
//! of what it says only the first line is shown, which names no value of a row.

use postgres::error::SqlState;

use crate::error::IndexError;

/// Nothing of a change is there when its connection breaks before the commit.
pub(super) const NOTHING_KEPT: &str = "nothing of the change was kept";
/// What is known when it breaks at the commit, and nobody can be asked.
pub(super) const IN_DOUBT: &str = "it is not known whether the change was kept";

/// Makes errors about one source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faults<'a> {
    pub(super) name: &'a str,
    /// The server without the password.
    pub(super) server: &'a str,
    /// How long a lock is waited for.
    pub(super) wait_ms: u64,
    /// How long the server may work on a statement.
    pub(super) statement_ms: u64,
}

impl Faults<'_> {
    /// The result with its error in this crate's words.
    pub(super) fn of<T>(self, result: Result<T, postgres::Error>) -> Result<T, IndexError> {
        result.map_err(|error| self.error(&error))
    }

    pub(super) fn corrupt(self, detail: &str) -> IndexError {
        IndexError::Corrupt { name: self.name.to_owned(), detail: detail.to_owned() }
    }

    pub(super) fn lost(self, left: &'static str) -> IndexError {
        IndexError::Lost { server: self.server.to_owned(), left }
    }

    fn error(self, error: &postgres::Error) -> IndexError {
        let name = self.name.to_owned();
        let Some(told) = error.as_db_error() else {
            return if is_broken(error) {
                self.lost(NOTHING_KEPT)
            } else {
                // A value that is not of the type that this program stores.
                IndexError::Corrupt { name, detail: error.to_string() }
            };
        };
        let detail = told.message().to_owned();
        match told.code() {
            code if *code == SqlState::LOCK_NOT_AVAILABLE
                || *code == SqlState::T_R_DEADLOCK_DETECTED
                || *code == SqlState::T_R_SERIALIZATION_FAILURE =>
            {
                IndexError::Locked { name, waited_ms: self.wait_ms }
            }
            code if *code == SqlState::QUERY_CANCELED => {
                IndexError::TooSlow { name, worked_ms: self.statement_ms }
            }
            code if *code == SqlState::DISK_FULL => IndexError::DiskFull { name },
            code if *code == SqlState::UNDEFINED_TABLE
                || *code == SqlState::UNDEFINED_COLUMN
                || *code == SqlState::DATA_CORRUPTED
                || *code == SqlState::INDEX_CORRUPTED =>
            {
                IndexError::Corrupt { name, detail }
            }
            code if ends_connection(code) => self.lost(NOTHING_KEPT),
            _ => IndexError::Server { name, detail },
        }
    }

    /// Why there is no connection.
    pub(super) fn unconnected(self, error: &postgres::Error) -> IndexError {
        let server = self.server.to_owned();
        if let Some(told) = error.as_db_error() {
            let detail = told.message().to_owned();
            return if *told.code() == SqlState::INVALID_PASSWORD
                || *told.code() == SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            {
                IndexError::Denied { server, detail }
            } else {
                IndexError::Unreachable { server, detail }
            };
        }
        let mut detail = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(deeper) = cause {
            let deeper_text = deeper.to_string();
            if !detail.contains(&deeper_text) {
                detail = format!("{detail}: {deeper_text}");
            }
            cause = deeper.source();
        }
        IndexError::Unreachable { server, detail }
    }
}

/// Whether the connection is gone.
pub(super) fn is_broken(error: &postgres::Error) -> bool {
    let is_io = std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>());
    error.is_closed() || is_io || error.code().is_some_and(ends_connection)
}

fn ends_connection(code: &SqlState) -> bool {
    [
        &SqlState::ADMIN_SHUTDOWN,
        &SqlState::CRASH_SHUTDOWN,
        &SqlState::CANNOT_CONNECT_NOW,
        &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        &SqlState::CONNECTION_FAILURE,
        &SqlState::CONNECTION_EXCEPTION,
        &SqlState::CONNECTION_DOES_NOT_EXIST,
    ]
    .contains(&code)
}
