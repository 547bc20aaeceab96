//! Several stores write, drop and read one source at a time, as processes do.

use std::thread;

use reyn_index::{Filters, IndexError, SqliteOptions, SqliteStore, VectorStore as _};

use crate::fixture::{DIMENSIONS, docs, near, options, row, store, vector};

#[test]
fn rows_of_two_writers_are_all_there() {
    const ROWS: usize = 200;
    let (folder, reader) = store();
    reader.write(&docs(), &[row("first", 0, "first")], &options()).unwrap();
    thread::scope(|scope| {
        for writer in 0..2 {
            let root = folder.path().join("index");
            scope.spawn(move || {
                let store = SqliteStore::new(&root, SqliteOptions::default());
                for from in (0..ROWS).step_by(10) {
                    let rows: Vec<_> = (from..from + 10)
                        .map(|at| row(&format!("{writer}.md"), at, &format!("writer{writer} number{at}")))
                        .collect();
                    store.write(&docs(), &rows, &options()).unwrap();
                }
            });
        }
        let mut before = 0;
        for _ in 0..50 {
            let found = near(&reader, &vector(1, DIMENSIONS), &Filters::default(), 1000).len();
            assert!(found >= before, "{found} after {before}");
            before = found;
        }
    });
    assert_eq!(reader.stats(&docs()).unwrap().rows, 2 * ROWS as u64 + 1);
    assert_eq!(reader.sources().unwrap()[0].rows, 2 * ROWS as u64 + 1);
}

#[test]
fn a_write_that_returns_after_a_drop_is_in_the_new_source() {
    let (folder, dropper) = store();
    let root = folder.path().join("index");
    let (sent, written) = std::sync::mpsc::sync_channel(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            let store = SqliteStore::new(&root, SqliteOptions::default());
            for at in 0..60 {
                store.write(&docs(), &[row("a", at, &format!("number{at}"))], &options()).unwrap();
                if sent.send(at).is_err() {
                    return;
                }
            }
        });
        let mut kept = 0;
        while written.recv().is_ok() {
            kept += 1;
            if kept % 4 == 0 {
                // The writer writes on meanwhile.
                dropper.drop_source(&docs()).unwrap();
            }
        }
    });
    // The last drop came before the last write returned, or after it.
    match dropper.stats(&docs()) {
        Ok(stats) => assert!(stats.rows >= 1),
        Err(IndexError::UnknownSource { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    dropper.write(&docs(), &[row("a", 99, "last")], &options()).unwrap();
    assert!(dropper.stats(&docs()).unwrap().rows >= 1);
    let left: Vec<_> = std::fs::read_dir(folder.path().join("index"))
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.file_name().into_string().unwrap()))
        .filter(|name| name.starts_with(".dropped"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}
