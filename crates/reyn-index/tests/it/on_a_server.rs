//! What can go wrong with a server: each is a typed error that says the next step and holds no password.

use std::thread;

use postgres::{Client, NoTls};
use reyn_core::embedding::ModelIdentity;
use reyn_index::{
    Chunk, Filters, IndexError, PostgresOptions, PostgresStore, Query, VectorStore as _, WriteMode,
    WriteOptions, Written,
};

use crate::fixture::{docs, mixed, model, options, row, vector, worded};
use crate::place::Place;
use crate::server;

const PASSWORD: &str = "correct-horse";

/// The server, and a schema of this test's own on it.
fn server(test: &str) -> Option<(Client, &'static str, PostgresOptions)> {
    let connection = server::connection()?;
    let schema = format!("{test}_{}", std::process::id());
    let options = PostgresOptions { schema, wait_ms_max: 2_000, ..PostgresOptions::default() };
    Some((Client::connect(connection, NoTls).unwrap(), connection, options))
}

/// Makes a user whose password is asked for.
fn locked_user(client: &mut Client) {
    let sql = format!(
        "DO $$ BEGIN CREATE ROLE locked LOGIN PASSWORD '{PASSWORD}'; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    );
    client.batch_execute(&sql).unwrap();
}

#[test]
fn a_wrong_password_is_said_and_not_shown() {
    let Some((mut client, connection, options)) = server("password") else { return };
    locked_user(&mut client);
    let of = |password: &str| {
        let connection = connection.replace("user=postgres", &format!("user=locked password={password}"));
        PostgresStore::new(&connection, options.clone()).unwrap().sources()
    };
    let error = of("battery-staple").unwrap_err();
    assert!(matches!(error, IndexError::Denied { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("`locked@") && text.contains("the password in the connection string"), "{text}");
    assert!(!format!("{text}{error:?}").contains("battery"), "{text}");
    // With the right one the user is let in, and may make no schema.
    let error = of(PASSWORD).unwrap_err();
    assert!(matches!(error, IndexError::Server { .. } | IndexError::NoExtension { .. }), "{error}");
}

#[test]
fn a_store_is_closed_where_nothing_may_block() {
    let Some((_, connection, options)) = server("closed") else { return };
    let store = PostgresStore::new(connection, options).unwrap();
    store.sources().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { drop(store) });
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let store =
        PostgresStore::new("postgresql://me:secret@127.0.0.1:1/team", PostgresOptions::default()).unwrap();
    let error = store.stats(&docs()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, IndexError::Unreachable { .. }), "{text}");
    assert!(text.contains("`me@127.0.0.1:1/team`") && text.contains("refused"), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn a_database_without_the_extension_says_who_has_to_make_it() {
    let Some((mut client, connection, options)) = server("bare") else { return };
    locked_user(&mut client);
    let database = format!("bare_{}", std::process::id());
    client.batch_execute(&format!("CREATE DATABASE {database}")).unwrap();
    let connection = connection
        .replace("user=postgres", &format!("user=locked password={PASSWORD}"))
        .replace("dbname=postgres", &format!("dbname={database}"));
    let error = PostgresStore::new(&connection, options).unwrap().sources().unwrap_err();
    assert!(matches!(error, IndexError::NoExtension { .. }), "{error}");
    assert!(error.to_string().contains("`CREATE EXTENSION vector`"), "{error}");
}

#[test]
fn an_extension_without_bits_of_vectors_is_refused_with_what_to_do() {
    let Some((mut client, connection, options)) = server("old") else { return };
    let database = format!("old_{}", std::process::id());
    client.batch_execute(&format!("CREATE DATABASE {database}")).unwrap();
    let connection = connection.replace("dbname=postgres", &format!("dbname={database}"));
    let mut client = Client::connect(&connection, NoTls).unwrap();
    let sql =
        "CREATE EXTENSION vector; UPDATE pg_extension SET extversion = '0.6.2' WHERE extname = 'vector'";
    client.batch_execute(sql).unwrap();
    let error = PostgresStore::new(&connection, options).unwrap().sources().unwrap_err();
    assert!(matches!(&error, IndexError::OldExtension { version, .. } if version == "0.6.2"), "{error}");
    assert!(error.to_string().contains("`ALTER EXTENSION vector UPDATE`"), "{error}");
}

#[test]
fn a_later_schema_is_refused_and_left_alone() {
    let Some((mut client, connection, options)) = server("later") else { return };
    let schema = options.schema.clone();
    PostgresStore::new(connection, options.clone()).unwrap().sources().unwrap();
    client.batch_execute(&format!("UPDATE {schema}.meta SET version = 7")).unwrap();
    let error = PostgresStore::new(connection, options).unwrap().sources().unwrap_err();
    assert!(matches!(error, IndexError::Newer { version: 7, known: 2, .. }), "{error}");
}

/// What version 1 had: metadata as `jsonb`, and no codes.
const TO_1: &str = "ALTER TABLE rows_1 RENAME json TO metadata;
    ALTER TABLE rows_1 ALTER metadata TYPE jsonb USING metadata::jsonb;
    DROP TABLE codes_1;
    ALTER TABLE sets DROP COLUMN centre;
    UPDATE meta SET version = 1";

#[test]
fn a_schema_of_version_1_becomes_a_current_one_and_answers_as_before() {
    let Some((mut client, connection, options)) = server("older") else { return };
    let model = ModelIdentity { name: "m".into(), revision: None, dimensions: 256 };
    let write =
        WriteOptions { model: Some(model.clone()), is_without_words: true, ..WriteOptions::default() };
    let chunk = |at: usize| Chunk { vector: vector(at as u64, 256), ..row("a", at, &format!("number{at}")) };
    let asked = vector(mixed(3), 256);
    let found = |store: &PostgresStore| {
        let filters = Filters::default();
        let query = Query { text: "", vector: Some((&model, &asked)), top: 20, filters: &filters };
        store.find_by_vector(&docs(), &query).unwrap()
    };
    let store = PostgresStore::new(connection, options.clone()).unwrap();
    store.write(&docs(), &(0..6_000).map(chunk).collect::<Vec<_>>(), &write).unwrap();
    let before = found(&store);
    assert_eq!(before.len(), 20);
    client.batch_execute(&format!("SET search_path = {}; {TO_1}", options.schema)).unwrap();
    // A program of the version before would write what has no code, and so does this one: it is refused.
    let refused = store.write(&docs(), &[chunk(7_000)], &write);
    assert!(matches!(refused, Err(IndexError::Corrupt { .. })), "{refused:?}");
    let store = PostgresStore::new(connection, options).unwrap();
    assert_eq!(found(&store), before);
    store.write(&docs(), &[chunk(7_000)], &write).unwrap();
    assert_eq!(store.stats(&docs()).unwrap().vectors, 6_001);
    let row = client.query_one("SELECT count(*) FROM codes_1", &[]).unwrap();
    assert_eq!(row.get::<_, i64>(0), 6_001);
}

#[test]
fn a_lost_connection_loses_the_change_and_the_next_one_has_another() {
    let Some((mut client, connection, mut options)) = server("lost") else { return };
    options.wait_ms_max = 20_000;
    let schema = options.schema.clone();
    // A database of its own, so that no other test's connection is ended.
    let database = format!("lost_{}", std::process::id());
    client.batch_execute(&format!("CREATE DATABASE {database}")).unwrap();
    let connection = connection.replace("dbname=postgres", &format!("dbname={database}"));
    let store = PostgresStore::new(&connection, options).unwrap();
    store.write(&docs(), &[row("a", 0, "first")], &self::options()).unwrap();
    let mut holder = Client::connect(&connection, NoTls).unwrap();
    let mut held = holder.transaction().unwrap();
    held.execute(&format!("SELECT * FROM {schema}.sources FOR UPDATE"), &[]).unwrap();
    thread::scope(|scope| {
        // It waits for the holder in the middle of its transaction.
        let writer = scope.spawn(|| store.write(&docs(), &[row("a", 1, "second")], &self::options()));
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE wait_event_type = 'Lock' AND datname = $1";
        while client.query(sql, &[&database]).unwrap().is_empty() {
            thread::yield_now();
        }
        let lost = writer.join().unwrap();
        assert!(
            matches!(lost, Err(IndexError::Lost { left: "nothing of the change was kept", .. })),
            "{lost:?}"
        );
    });
    held.rollback().unwrap();
    assert_eq!(worded(&store, "first second"), ["first"]);
    // One that broke while it was idle is no error at all.
    client
        .query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", &[&database])
        .unwrap();
    let written = store.write(&docs(), &[row("a", 1, "second")], &self::options());
    assert_eq!(written.unwrap(), Written { written: 1, skipped: 0 });
}

#[test]
fn a_statement_that_takes_too_long_is_ended_and_says_so() {
    let Some((mut client, connection, options)) = server("slow") else { return };
    let schema = options.schema.clone();
    let options = PostgresOptions { statement_ms_max: 200, wait_ms_max: 20_000, ..options };
    let store = PostgresStore::new(connection, options).unwrap();
    store.sources().unwrap();
    let mut held = client.transaction().unwrap();
    held.batch_execute(&format!("LOCK TABLE {schema}.sources")).unwrap();
    let error = store.sources().unwrap_err();
    assert!(matches!(error, IndexError::TooSlow { worked_ms: 200, .. }), "{error}");
}

#[test]
fn threads_share_few_connections_and_one_too_many_is_told_so() {
    let Some((mut client, connection, mut options)) = server("shared") else { return };
    options.connections_max = 2;
    options.wait_ms_max = 20_000;
    let schema = options.schema.clone();
    let store = PostgresStore::new(connection, options.clone()).unwrap();
    thread::scope(|scope| {
        for at in 0..6 {
            let store = &store;
            scope.spawn(move || {
                store.write(&docs(), &[row("a", at, &format!("number{at}"))], &self::options()).unwrap();
            });
        }
    });
    assert_eq!(store.stats(&docs()).unwrap().rows, 6);
    let options = PostgresOptions { connections_max: 1, wait_ms_max: 100, ..options };
    let store = PostgresStore::new(connection, options).unwrap();
    store.sources().unwrap();
    let mut held = client.transaction().unwrap();
    held.batch_execute(&format!("LOCK TABLE {schema}.sources")).unwrap();
    let mut told: Vec<String> = thread::scope(|scope| {
        // One waits for the table with the only connection, and the other one for the connection.
        let both = [0, 1].map(|_| scope.spawn(|| store.sources().unwrap_err()));
        both.map(|one| one.join().unwrap().to_string()).to_vec()
    });
    told.sort();
    assert!(
        told[1].starts_with("source `` was in use") || told[0].starts_with("all 1 connections"),
        "{told:?}"
    );
}

#[test]
fn replacing_and_dropping_leave_no_table_behind() {
    let Some((mut client, connection, options)) = server("tables") else { return };
    let schema = options.schema.clone();
    let store = PostgresStore::new(connection, options).unwrap();
    let tables = |client: &mut Client| -> i64 {
        let sql = "SELECT count(*) FROM pg_tables WHERE schemaname = $1";
        client.query_one(sql, &[&schema]).unwrap().get(0)
    };
    let words_alone = Chunk { vector: vec![], ..row("a", 0, "first") };
    store.write(&docs(), &[words_alone], &WriteOptions::default()).unwrap();
    assert_eq!(tables(&mut client), 3 + 5);
    let replace = WriteOptions { mode: WriteMode::Replace, ..self::options() };
    store.write(&docs(), &[row("a", 0, "first")], &replace).unwrap();
    let mut rebuild = store.rebuild(&docs(), Some(&model())).unwrap();
    assert_eq!(tables(&mut client), 3 + 10);
    rebuild.abandon().unwrap();
    drop(rebuild);
    assert_eq!(tables(&mut client), 3 + 5);
    store.drop_source(&docs()).unwrap();
    assert_eq!(tables(&mut client), 3);
}

#[test]
fn two_schemas_of_a_server_know_nothing_of_each_other() {
    let (Some(one), Some(other)) = (Place::schema(), Place::schema()) else { return };
    one.open().write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    assert_eq!(other.open().sources().unwrap(), []);
}
