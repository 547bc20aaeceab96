//! The schema of the store, and how an older one becomes current. All is done under one lock of the server, so
//! two programs that start at a time do not do it twice.

use postgres::{Client, GenericClient, Transaction};

use super::codes;
use super::fault::Faults;
use super::set::Set;
use crate::error::IndexError;

/// The version that this program writes.
const VERSION: i64 = 2;

/// The first version of pgvector that makes bits of vectors and tells how many differ.
const EXTENSION_OLDEST: &str = "0.7.0";

/// The number of the lock under which the schema changes.
const LOCK: i64 = 0x7265_796e_0001;

/// Makes the schema current and returns the search path in which its tables and pgvector's types are.
pub(super) fn prepare(client: &mut Client, schema: &str, faults: Faults<'_>) -> Result<String, IndexError> {
    let schema_faults = Faults { name: schema, ..faults };
    if version(client, schema, faults)? != Some(VERSION) || extension(client, faults)?.is_none() {
        let mut transaction = faults.of(client.transaction())?;
        faults.of(transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]))?;
        if extension(&mut transaction, faults)?.is_none() {
            make_extension(&mut transaction, faults)?;
        }
        migrate(&mut transaction, schema, schema_faults)?;
        faults.of(transaction.commit())?;
    }
    let Some(vectors) = extension(client, faults)? else {
        return Err(no_extension(faults, "it went away"));
    };
    Ok(format!("\"{schema}\", {vectors}"))
}

/// The schema of the extension `vector`, quoted. One without bits of vectors is refused.
fn extension(client: &mut impl GenericClient, faults: Faults<'_>) -> Result<Option<String>, IndexError> {
    let sql = "SELECT quote_ident(n.nspname), e.extversion
               FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'";
    let Some(row) = faults.of(client.query_opt(sql, &[]))? else { return Ok(None) };
    let version: String = faults.of(row.try_get(1))?;
    if is_old(&version) {
        return Err(IndexError::OldExtension {
            server: faults.server.to_owned(),
            version,
            oldest: EXTENSION_OLDEST,
        });
    }
    faults.of(row.try_get(0)).map(Some)
}

fn is_old(version: &str) -> bool {
    let parts =
        |version: &str| -> Vec<u32> { version.split('.').map_while(|part| part.parse().ok()).collect() };
    parts(version) < parts(EXTENSION_OLDEST)
}

fn make_extension(transaction: &mut Transaction<'_>, faults: Faults<'_>) -> Result<(), IndexError> {
    transaction.batch_execute("CREATE EXTENSION vector").map_err(|error| match error.as_db_error() {
        Some(told) => no_extension(faults, told.message()),
        None => faults.of::<()>(Err(error)).err().unwrap_or_else(|| no_extension(faults, "no answer")),
    })
}

fn no_extension(faults: Faults<'_>, detail: &str) -> IndexError {
    IndexError::NoExtension { server: faults.server.to_owned(), detail: detail.to_owned() }
}

/// The version of the schema; nothing when it has no tables of this program.
fn version(
    client: &mut impl GenericClient,
    schema: &str,
    faults: Faults<'_>,
) -> Result<Option<i64>, IndexError> {
    let table = format!("\"{schema}\".meta");
    let row = faults.of(client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&table]))?;
    if !faults.of(row.try_get::<_, bool>(0))? {
        return Ok(None);
    }
    let row = faults.of(client.query_one(&format!("SELECT max(version) FROM {table}"), &[]))?;
    faults.of(row.try_get(0))
}

fn migrate(transaction: &mut Transaction<'_>, schema: &str, faults: Faults<'_>) -> Result<(), IndexError> {
    match version(transaction, schema, faults)? {
        Some(VERSION) => Ok(()),
        Some(1) => to_2(transaction, schema, faults),
        Some(newer) => Err(IndexError::Newer { name: schema.to_owned(), version: newer, known: VERSION }),
        None => create(transaction, schema, faults),
    }
}

/// From version 1: metadata is no longer taken apart by the server, and vectors have codes. The column has another name,
/// so a program of the older version that still runs is refused instead of writing rows without codes.
fn to_2(transaction: &mut Transaction<'_>, schema: &str, faults: Faults<'_>) -> Result<(), IndexError> {
    let Some(vectors) = extension(transaction, faults)? else {
        return Err(no_extension(faults, "it went away"));
    };
    faults.of(transaction.batch_execute(&format!("SET LOCAL search_path = \"{schema}\", {vectors}")))?;
    faults.of(transaction.batch_execute("ALTER TABLE sets ADD COLUMN centre vector"))?;
    for row in faults.of(transaction.query("SELECT id, dimensions FROM sets", &[]))? {
        let id: i64 = faults.of(row.try_get(0))?;
        let dimensions: Option<i64> = faults.of(row.try_get(1))?;
        let mut sql = format!(
            "ALTER TABLE rows_{id} RENAME metadata TO json;
             ALTER TABLE rows_{id} ALTER json TYPE text USING json::text;
             ALTER TABLE rows_{id} ALTER text SET STATISTICS 0, ALTER json SET STATISTICS 0;
             CREATE TABLE codes_{id}(id bigint PRIMARY KEY);"
        );
        if let Some(dimensions) = dimensions {
            sql += &format!(
                "ALTER TABLE codes_{id} ADD COLUMN code bit({dimensions}) NOT NULL;
                 ALTER TABLE codes_{id} ALTER code SET STORAGE PLAIN, ALTER code SET STATISTICS 0,
                    ALTER id SET STATISTICS 10;
                 ALTER TABLE vectors_{id} ALTER vector SET STATISTICS 0, ALTER id SET STATISTICS 10;"
            );
        }
        faults.of(transaction.batch_execute(&sql))?;
        let mut set = Set::read(transaction, id, faults)?;
        codes::begin(transaction, &mut set, faults)?;
        faults.of(transaction.batch_execute(&format!("ANALYZE rows_{id}, codes_{id}(id)")))?;
    }
    faults.of(transaction.batch_execute("UPDATE meta SET version = 2"))?;
    faults.of(transaction.batch_execute("SET LOCAL search_path = DEFAULT"))
}

/// Makes the tables that list the sources. Those of a source are made with it.
fn create(transaction: &mut Transaction<'_>, schema: &str, faults: Faults<'_>) -> Result<(), IndexError> {
    let Some(vectors) = extension(transaction, faults)? else {
        return Err(no_extension(faults, "it went away"));
    };
    let row = faults.of(transaction.query_one("SHOW server_encoding", &[]))?;
    let encoding: String = faults.of(row.try_get(0))?;
    if encoding != "UTF8" {
        let detail = format!("its database has the encoding {encoding}; make one with `ENCODING 'UTF8'`");
        return Err(IndexError::Server { name: schema.to_owned(), detail });
    }
    let row = faults.of(transaction.query_one("SELECT to_regnamespace($1) IS NOT NULL", &[&schema]))?;
    if !faults.of(row.try_get::<_, bool>(0))? {
        faults.of(transaction.batch_execute(&format!("CREATE SCHEMA \"{schema}\"")))?;
    }
    faults.of(transaction.batch_execute(&format!(
        "CREATE TABLE \"{schema}\".meta(version bigint NOT NULL);
         INSERT INTO \"{schema}\".meta VALUES({VERSION});
         CREATE TABLE \"{schema}\".sets(
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            model text,
            revision text,
            dimensions bigint,
            rows bigint NOT NULL DEFAULT 0,
            worded bigint NOT NULL DEFAULT 0,
            lengths bigint NOT NULL DEFAULT 0,
            last_row bigint NOT NULL DEFAULT 0,
            last_term integer NOT NULL DEFAULT 0,
            centre {vectors}.vector);
         CREATE TABLE \"{schema}\".sources(
            name text COLLATE \"C\" PRIMARY KEY,
            description text,
            path text,
            live bigint,
            next bigint,
            seen bigint NOT NULL DEFAULT 0,
            last_indexed text);"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, expected) in
            [("0.4.4", true), ("0.6.2", true), ("0.7.0", false), ("0.10.1", false), ("1.0", false)]
        {
            assert_eq!(is_old(version), expected, "{version}");
        }
    }
}
