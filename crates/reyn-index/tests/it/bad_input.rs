//! What cannot be stored or read is a typed error, and what was there stays.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use reyn_index::{
    Chunk, Filters, IndexError, Metadata, ModelIdentity, Query, SourceName, SqliteOptions, SqliteStore,
    VectorStore as _, WriteOptions,
};

use crate::fixture::{DIMENSIONS, docs, model, near, options, row, store, vector, worded};

#[test]
fn a_write_with_one_bad_row_leaves_nothing_of_it() {
    let (_folder, store) = store();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    let good = row("a", 1, "good");
    let with = |vector: Vec<f32>| Chunk { vector, ..row("a", 2, "bad") };
    let bad = [
        with(vec![]),
        with(vector(1, DIMENSIONS - 1)),
        with(vec![f32::NAN; DIMENSIONS]),
        with(vec![f32::NEG_INFINITY; DIMENSIONS]),
        Chunk { text: "  \n".into(), ..good.clone() },
        Chunk { text: "x".repeat(2 << 20), ..good.clone() },
        Chunk {
            metadata: Metadata { parent_context: Some("x".repeat(100_000)), ..Metadata::default() },
            ..row("a", 3, "long metadata")
        },
    ];
    for row in bad {
        let result = store.write(&docs(), &[good.clone(), row], &options());
        assert!(
            matches!(result, Err(IndexError::Vector { .. } | IndexError::Row { row: 1, .. })),
            "{result:?}"
        );
        assert_eq!(worded(&store, "good bad first"), ["first"]);
    }
    let without_model = store.write(&docs(), &[good], &WriteOptions::default());
    assert!(matches!(without_model, Err(IndexError::Row { row: 0, .. })), "{without_model:?}");
}

#[test]
fn another_model_is_refused_and_both_are_named() {
    let (_folder, store) = store();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    let other = ModelIdentity { revision: "2".into(), ..model() };
    let result = store.write(
        &docs(),
        &[row("a", 1, "second")],
        &WriteOptions { model: Some(other.clone()), ..WriteOptions::default() },
    );
    assert_eq!(
        result.unwrap_err().to_string(),
        "source `docs` holds vectors of `test/model` revision `1` with 32 dimensions, and these are of \
         `test/model` revision `2` with 32 dimensions; rebuild the source to change its model"
    );
    let asked = vector(0, DIMENSIONS);
    let query = Query { text: "first", vector: Some((&other, &asked)), top: 1, filters: &Filters::default() };
    assert!(matches!(store.find_by_vector(&docs(), &query), Err(IndexError::Model { .. })));
    assert!(matches!(store.find(&docs(), &query), Err(IndexError::Model { .. })));
    let query = Query { vector: Some((&model(), &[f32::NAN; DIMENSIONS])), ..query };
    assert!(matches!(store.find(&docs(), &query), Err(IndexError::Vector { .. })));
    let query = Query { vector: None, top: 0, ..query };
    assert!(matches!(store.find(&docs(), &query), Err(IndexError::TooMuch { .. })));
}

#[test]
fn an_unknown_source_is_named_with_those_that_there_are() {
    let (_folder, store) = store();
    let none = SourceName::new("doc").unwrap();
    assert_eq!(
        store.stats(&none).unwrap_err().to_string(),
        "there is no source `doc`; none is indexed yet: index some text first"
    );
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    assert_eq!(store.stats(&none).unwrap_err().to_string(), "there is no source `doc`; there is `docs`");
}

#[test]
fn a_file_that_is_no_database_is_reported_and_can_be_dropped() {
    let (folder, store) = store();
    let place = folder.path().join("index/docs");
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
    let (folder, store) = store();
    let rows: Vec<Chunk> = (0..200).map(|at| row("a", at, &format!("text number{at}"))).collect();
    store.write(&docs(), &rows, &options()).unwrap();
    drop(store);
    let path = folder.path().join("index/docs/index.db");
    let whole = fs::read(&path).unwrap();
    let mut corrupt = 0;
    for page in 1..whole.len() / 8192 {
        fs::write(&path, &whole).unwrap();
        let _ = fs::remove_file(path.with_file_name("index.db-wal"));
        let _ = fs::remove_file(path.with_file_name("index.db-shm"));
        let mut file = fs::File::options().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(page as u64 * 8192)).unwrap();
        file.write_all(&[0xa5; 8192]).unwrap();
        let store = SqliteStore::new(&folder.path().join("index"), SqliteOptions::default());
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
    let (folder, store) = store();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    drop(store);
    let path = folder.path().join("index/docs/index.db");
    let mut file = fs::File::options().write(true).open(&path).unwrap();
    // Where the header keeps the version.
    file.seek(SeekFrom::Start(60)).unwrap();
    file.write_all(&7_u32.to_be_bytes()).unwrap();
    let store = SqliteStore::new(&folder.path().join("index"), SqliteOptions::default());
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
    let (folder, store) = store();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    fs::write(folder.path().join("index/sources.yaml"), "docs: [1, 2\n").unwrap();
    assert!(matches!(store.sources(), Err(IndexError::Manifest { .. })));
    let refused = store.write(&docs(), &[row("a", 1, "second")], &options());
    assert!(matches!(refused, Err(IndexError::Manifest { .. })), "{refused:?}");
    assert_eq!(worded(&store, "second"), Vec::<String>::new());
    assert_eq!(worded(&store, "first"), ["first"]);
}
