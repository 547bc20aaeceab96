//! The tables of an index file, and how an older file becomes a current one.
//!
//! Each index is a set of tables: the live one, and beside it the one that a rebuild fills. They swap places by
//! being renamed in one transaction, so a file is never moved while somebody has it open.

use rusqlite::Connection;

use super::fault::Faults;
use crate::error::IndexError;

/// The version that this program writes.
pub(super) const VERSION: i64 = 1;

/// The kinds of tables of a set, in the order they are made.
const KINDS: [&str; 4] = ["chunks", "codes", "facets", "words"];

/// The names of one set of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// The one that answers.
    Live,
    /// The one that a rebuild fills.
    Next,
}

impl Set {
    /// What stands before the name of each table, and of each key of the model.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Live => "",
            Self::Next => "next_",
        }
    }

    /// An SQL text for this set: `{}` becomes the prefix.
    pub(super) fn sql(self, text: &str) -> String {
        text.replace("{}", self.prefix())
    }
}

/// Brings a file to the current version; a new one gets its tables.
pub(super) fn migrate(connection: &mut Connection, faults: Faults<'_>) -> Result<(), IndexError> {
    if version(connection, faults)? == VERSION {
        return Ok(());
    }
    let transaction =
        faults.of(connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate))?;
    // Somebody else may have done it while the lock was waited for.
    match version(&transaction, faults)? {
        VERSION => return Ok(()),
        0 => {
            let tables: i64 = faults.of(transaction.query_row(
                "SELECT count(*) FROM sqlite_schema WHERE name IN ('chunks', 'meta')",
                [],
                |row| row.get(0),
            ))?;
            if tables > 0 {
                return Err(faults.corrupt("it was made by another program"));
            }
            faults.of(transaction
                .execute_batch("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"))?;
            create(&transaction, Set::Live, 0, faults)?;
        }
        newer => {
            return Err(IndexError::Newer { name: faults.name().to_owned(), version: newer, known: VERSION });
        }
    }
    faults.of(transaction.pragma_update(None, "user_version", VERSION))?;
    faults.of(transaction.commit())
}

fn version(connection: &Connection, faults: Faults<'_>) -> Result<i64, IndexError> {
    faults.of(connection.query_row("PRAGMA user_version", [], |row| row.get(0)))
}

/// Makes a set of tables. `number` is new in the file: an index keeps its name when its table is renamed.
pub(super) fn create(
    connection: &Connection,
    set: Set,
    number: i64,
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    // The vector comes last, so that reading the rest of a row stops before it.
    let sql = set.sql(
        "CREATE TABLE {}chunks(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            content_hash TEXT UNIQUE NOT NULL,
            text TEXT NOT NULL,
            metadata_json TEXT NOT NULL,
            source_path TEXT NOT NULL,
            source_type TEXT NOT NULL,
            embedding_model TEXT NOT NULL,
            chunk_index INTEGER NOT NULL,
            size_tokens INTEGER NOT NULL,
            parent_context TEXT,
            external INTEGER NOT NULL,
            vector BLOB NOT NULL);
        CREATE INDEX chunks_by_path_NUMBER ON {}chunks(source_path, chunk_index, content_hash);
        CREATE TABLE {}codes(id INTEGER PRIMARY KEY, code BLOB NOT NULL);
        CREATE TABLE {}facets(facet INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(facet, id)) WITHOUT ROWID;
        CREATE VIRTUAL TABLE {}words USING fts5(
            terms, content='', contentless_delete=1, tokenize=\"ascii tokenchars '-_./:@#+'\");
        INSERT INTO {}words({}words, rank) VALUES('hashsize', 8388608);",
    );
    faults.of(connection.execute_batch(&sql.replace("NUMBER", &number.to_string())))
}

/// Removes a set of tables, if it is there.
pub(super) fn remove(connection: &Connection, set: Set, faults: Faults<'_>) -> Result<(), IndexError> {
    for kind in KINDS {
        faults.of(connection.execute_batch(&format!("DROP TABLE IF EXISTS {}{kind}", set.prefix())))?;
    }
    Ok(())
}

/// Puts the next set in the place of the live one.
pub(super) fn swap(connection: &Connection, faults: Faults<'_>) -> Result<(), IndexError> {
    remove(connection, Set::Live, faults)?;
    for kind in KINDS {
        faults.of(connection.execute_batch(&format!("ALTER TABLE next_{kind} RENAME TO {kind}")))?;
    }
    Ok(())
}
