//! Who is indexing a source: a lock of the server that ends with the connection, and so with the process.

use postgres::Client;

use super::fault::Faults;
use crate::error::IndexError;

/// The right to index a source, until it is dropped or the process ends. Writes of single rows do not need it.
pub struct PostgresLock {
    pub(super) client: Client,
}

impl std::fmt::Debug for PostgresLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresLock").field("is_held", &!self.client.is_closed()).finish()
    }
}

impl PostgresLock {
    /// Takes the lock with a connection of its own, or says at once who has it.
    pub(super) fn take(mut client: Client, schema: &str, faults: Faults<'_>) -> Result<Self, IndexError> {
        let key = format!("reyn {schema} {}", faults.name);
        let row =
            faults.of(client.query_one("SELECT pg_try_advisory_lock(hashtextextended($1, 0))", &[&key]))?;
        if faults.of(row.try_get::<_, bool>(0))? {
            return Ok(Self { client });
        }
        let sql = "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid,
                   hashtextextended($1, 0) AS key
                   WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
                   AND (l.classid::bigint << 32 | l.objid::bigint) = key LIMIT 1";
        let row = faults.of(client.query_opt(sql, &[&key]))?;
        let name: Option<String> = row.and_then(|row| row.try_get(0).ok());
        let pid = name.and_then(|name| name.strip_prefix("reyn ")?.parse().ok()).unwrap_or(0);
        Err(IndexError::Busy { name: faults.name.to_owned(), pid })
    }
}
