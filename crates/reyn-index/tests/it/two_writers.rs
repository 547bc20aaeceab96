//! Several stores write, drop and read one source at a time, as processes do.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use reyn_index::{Filters, IndexError, Query, SearchMode, WriteMode, WriteOptions};

use crate::fixture::{DIMENSIONS, docs, model, near, options, row, vector};
use crate::place::{Place, on_both_stores};

on_both_stores!(
    rows_of_two_writers_are_all_there,
    a_write_that_returns_after_a_drop_is_in_the_new_source,
    readers_see_the_rows_before_a_replacement_or_after_it,
    a_writer_gives_up_when_another_one_does_not_end,
);

fn rows_of_two_writers_are_all_there(place: &Place) {
    const ROWS: usize = 200;
    let reader = place.open();
    reader.write(&docs(), &[row("first", 0, "first")], &options()).unwrap();
    thread::scope(|scope| {
        for writer in 0..2 {
            scope.spawn(move || {
                let store = place.open();
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
            let found = near(&*reader, &vector(1, DIMENSIONS), &Filters::default(), 1000).len();
            assert!(found >= before, "{found} after {before}");
            before = found;
        }
    });
    assert_eq!(reader.stats(&docs()).unwrap().rows, 2 * ROWS as u64 + 1);
    assert_eq!(reader.sources().unwrap()[0].rows, 2 * ROWS as u64 + 1);
}

fn a_write_that_returns_after_a_drop_is_in_the_new_source(place: &Place) {
    let dropper = place.open();
    let (sent, written) = std::sync::mpsc::sync_channel(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            let store = place.open();
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
    if let Place::Folder { path, .. } = place {
        let left: Vec<_> = std::fs::read_dir(path)
            .unwrap()
            .filter_map(|entry| Some(entry.ok()?.file_name().into_string().unwrap()))
            .filter(|name| name.starts_with(".dropped"))
            .collect();
        assert_eq!(left, Vec::<String>::new());
    }
}

fn readers_see_the_rows_before_a_replacement_or_after_it(place: &Place) {
    const ROWS: usize = 20;
    let writer = place.open();
    let rows = |round: usize| -> Vec<_> {
        (0..ROWS).map(|at| row("a", at, &format!("round{round} number{at} 見出し"))).collect()
    };
    writer.write(&docs(), &rows(0), &options()).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let reader = place.open();
                let (model, asked, every) = (model(), vector(3, DIMENSIONS), Filters::default());
                let query =
                    Query { text: "見出し", vector: Some((&model, &asked)), top: 100, filters: &every };
                while !is_done.load(Ordering::SeqCst) {
                    let found = reader.find(&docs(), &query).unwrap();
                    let rounds: BTreeSet<&str> =
                        found.hits.iter().filter_map(|hit| hit.text.split(' ').next()).collect();
                    assert_eq!((found.hits.len(), rounds.len(), found.mode), (ROWS, 1, SearchMode::Hybrid));
                }
            });
        }
        for round in 1..30 {
            let replace = WriteOptions { mode: WriteMode::Replace, ..options() };
            writer.write(&docs(), &rows(round), &replace).unwrap();
        }
        is_done.store(true, Ordering::SeqCst);
    });
}

fn a_writer_gives_up_when_another_one_does_not_end(place: &Place) {
    const WAIT_MS: u64 = 50;
    let store = place.open_patient(WAIT_MS);
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    let refused = || {
        let rows = [row("a", 1, "second")];
        let refused = store.write(&docs(), &rows, &options());
        assert!(
            matches!(&refused, Err(IndexError::Locked { name, waited_ms: WAIT_MS }) if name == "docs"),
            "{refused:?}"
        );
        // Readers wait for nobody.
        assert_eq!(near(&*store, &vector(0, DIMENSIONS), &Filters::default(), 9).len(), 1);
    };
    match place {
        Place::Folder { path, .. } => {
            let other = rusqlite::Connection::open(path.join("docs/index.db")).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            refused();
        }
        Place::Schema { connection, name } => {
            let mut other = postgres::Client::connect(connection, postgres::NoTls).unwrap();
            let mut transaction = other.transaction().unwrap();
            transaction.execute(&format!("SELECT * FROM {name}.sources FOR UPDATE"), &[]).unwrap();
            refused();
        }
    }
    store.write(&docs(), &[row("a", 1, "second")], &options()).unwrap();
    assert_eq!(store.stats(&docs()).unwrap().rows, 2);
}
