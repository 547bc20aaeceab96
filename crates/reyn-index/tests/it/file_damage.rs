//! Damage to the files of the SQLite store is a typed error, and what was there stays.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use reyn_index::{Chunk, Filters, IndexError, Query, SqliteOptions, SqliteStore, VectorStore as _};

use crate::fixture::{DIMENSIONS, docs, model, near, options, row, vector, worded};
use crate::place::Place;

#[test]
fn a_file_that_is_no_database_is_reported_and_can_be_dropped() {
    let place = Place::folder();
    let store = place.open();
    let place = place.path().join("docs");
    fs::create_dir_all(&place).unwrap();
    for content in [&b"not a database at all, but long enough to look at"[..], &[0xff; 20_000]] {
        fs::write(place.join("index.db"), content).unwrap();
        let error = store.stats(&docs()).unwrap_err();
        assert!(matches!(error, IndexError::Corrupt { .. }), "{error}");
        assert!(error.to_string().ends_with("drop the source and index it again"), "{error}");
        assert_eq!(store.sources().unwrap().len(), 1);
        assert_eq!(store.drop_source(&docs()).unwrap(), 0);
        store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
        assert_eq!(store.drop_source(&docs()).unwrap(), 1);
        fs::create_dir_all(&place).unwrap();
    }
}

#[test]
fn damage_inside_the_file_is_reported_and_never_a_panic() {
    let place = Place::folder();
    let store = place.open();
    let rows: Vec<Chunk> = (0..200).map(|at| row("a", at, &format!("text number{at}"))).collect();
    store.write(&docs(), &rows, &options()).unwrap();
    drop(store);
    let path = place.path().join("docs/index.db");
    let whole = fs::read(&path).unwrap();
    let mut corrupt = 0;
    for page in 1..whole.len() / 8192 {
        fs::write(&path, &whole).unwrap();
        let _ = fs::remove_file(path.with_file_name("index.db-wal"));
        let _ = fs::remove_file(path.with_file_name("index.db-shm"));
        let mut file = fs::File::options().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(page as u64 * 8192)).unwrap();
        file.write_all(&[0xa5; 8192]).unwrap();
        let store = place.open();
        let (model, every, vector) = (model(), Filters::default(), vector(3, DIMENSIONS));
        let query = Query { text: "text number3", vector: Some((&model, &vector)), top: 5, filters: &every };
        match store.find(&docs(), &query) {
            Err(IndexError::Corrupt { .. }) => corrupt += 1,
            Err(error) => panic!("page {page}: {error}"),
            Ok(_) => {}
        }
    }
    assert!(corrupt > 3, "{corrupt}");
}

#[test]
fn a_later_version_is_refused_and_left_alone() {
    let place = Place::folder();
    let store = place.open();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    drop(store);
    let path = place.path().join("docs/index.db");
    let mut file = fs::File::options().write(true).open(&path).unwrap();
    // Where the header keeps the version.
    file.seek(SeekFrom::Start(60)).unwrap();
    file.write_all(&7_u32.to_be_bytes()).unwrap();
    let store = place.open();
    assert!(matches!(store.stats(&docs()), Err(IndexError::Newer { version: 7, known: 1, .. })));
}

#[test]
fn a_full_disk_loses_the_write_and_nothing_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let options_small = SqliteOptions { source_bytes_max: Some(2 << 20), ..SqliteOptions::default() };
    let store = SqliteStore::new(folder.path(), options_small);
    let mut written = 0;
    let error = loop {
        let rows: Vec<Chunk> = (written..written + 100)
            .map(|at| row("a", at, &format!("number{at} {}", "x".repeat(400))))
            .collect();
        match store.write(&docs(), &rows, &options()) {
            Ok(_) => written += 100,
            Err(error) => break error,
        }
        assert!(written < 100_000);
    };
    assert!(matches!(error, IndexError::DiskFull { .. }), "{error}");
    assert!(written > 0);
    assert_eq!(store.stats(&docs()).unwrap().rows, written as u64);
    assert_eq!(near(&store, &vector(5, DIMENSIONS), &Filters::default(), 1)[0].metadata.chunk_index, 5);
    assert_eq!(store.drop_source(&docs()).unwrap(), written as u64);
}

#[test]
fn a_manifest_that_cannot_be_read_is_reported_with_its_place() {
    let place = Place::folder();
    let store = place.open();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    fs::write(place.path().join("sources.yaml"), "docs: [1, 2\n").unwrap();
    assert!(matches!(store.sources(), Err(IndexError::Manifest { .. })));
    let refused = store.write(&docs(), &[row("a", 1, "second")], &options());
    assert!(matches!(refused, Err(IndexError::Manifest { .. })), "{refused:?}");
    assert_eq!(worded(&*store, "second"), Vec::<String>::new());
    assert_eq!(worded(&*store, "first"), ["first"]);
}

#[test]
fn sources_are_listed_from_their_files_when_there_is_no_manifest() {
    let place = Place::folder();
    let store = place.open();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    let said = store.sources().unwrap();
    fs::remove_file(place.path().join("sources.yaml")).unwrap();
    assert_eq!(store.sources().unwrap(), said);
}
