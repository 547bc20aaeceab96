//! What is written is found, and what is removed is not.

use std::collections::BTreeMap;

use reyn_core::embedding::ModelIdentity;
use reyn_index::{
    Filters, IndexError, Query, Removal, SearchMode, SourceName, VectorStore, WriteMode, WriteOptions,
    Written,
};

use crate::fixture::{DIMENSIONS, docs, filters, model, near, options, row, texts, vector, worded};
use crate::place::{Place, on_both_stores};

on_both_stores!(
    a_row_is_found_by_its_vector_by_its_words_and_by_both,
    a_row_that_is_there_is_skipped_and_replacing_takes_the_others_away,
    an_older_reader_sees_what_another_process_wrote_and_removed,
    filters_choose_rows_before_they_are_ranked,
    rows_are_enumerated_by_path_and_place_up_to_a_number_of_tokens,
    removing_takes_a_file_or_single_rows_and_hashes_say_what_is_there,
    sources_are_listed_with_what_was_said_of_them,
    a_rebuild_answers_from_the_old_rows_until_it_is_finished_and_is_taken_up_again,
);

fn a_row_is_found_by_its_vector_by_its_words_and_by_both(place: &Place) {
    let store = place.open();
    let rows = [row("a.md", 0, "the refund takes five days"), row("b.md", 1, "ERR-4021: 接続が切れました")];
    assert_eq!(store.write(&docs(), &rows, &options()).unwrap(), Written { written: 2, skipped: 0 });

    let hits = near(&*store, &rows[1].vector, &Filters::default(), 1);
    assert_eq!((hits[0].text.as_str(), (hits[0].score * 1e4).round()), ("ERR-4021: 接続が切れました", 1e4));
    for text in ["err-4021", "ERR4021", "４０２１", "接続", "切れた"] {
        assert_eq!(worded(&*store, text), ["ERR-4021: 接続が切れました"], "{text}");
    }
    assert_eq!(worded(&*store, "refuse"), Vec::<String>::new());
    assert_eq!(worded(&*store, "refudn"), ["the refund takes five days"]);

    let (model, every) = (model(), Filters::default());
    let query = Query { text: "ERR-4021", vector: Some((&model, &rows[0].vector)), top: 5, filters: &every };
    let found = store.find(&docs(), &query).unwrap();
    assert_eq!((found.mode, found.hits.len()), (SearchMode::Hybrid, 2));
    let found = store.find(&docs(), &Query { text: "?!", ..query.clone() }).unwrap();
    assert_eq!((found.mode, found.hits[0].id), (SearchMode::Vector, 1));
    let found = store.find(&docs(), &Query { vector: None, ..query }).unwrap();
    assert_eq!((found.mode, found.hits.len()), (SearchMode::Keyword, 1));
    assert!((0.5..=1.0).contains(&found.hits[0].score), "{}", found.hits[0].score);
}

fn a_row_that_is_there_is_skipped_and_replacing_takes_the_others_away(place: &Place) {
    let store = place.open();
    let rows = [row("a.md", 0, "one"), row("a.md", 1, "two"), row("a.md", 2, "two"), row("b.md", 3, "two")];
    assert_eq!(store.write(&docs(), &rows, &options()).unwrap(), Written { written: 3, skipped: 1 });
    assert_eq!(store.write(&docs(), &rows, &options()).unwrap(), Written { written: 0, skipped: 4 });
    let replace = WriteOptions { mode: WriteMode::Replace, ..options() };
    assert_eq!(store.write(&docs(), &rows[..1], &replace).unwrap(), Written { written: 1, skipped: 0 });
    assert_eq!(texts(near(&*store, &rows[1].vector, &Filters::default(), 9)), ["one"]);
    assert_eq!(worded(&*store, "two"), Vec::<String>::new());
    assert_eq!(store.stats(&docs()).unwrap().rows, 1);
}

fn an_older_reader_sees_what_another_process_wrote_and_removed(place: &Place) {
    let store = place.open();
    let other = place.open();
    let rows = [row("a.md", 0, "one"), row("b.md", 1, "two"), row("b/c.md", 2, "three")];
    store.write(&docs(), &rows[..2], &options()).unwrap();
    let all = |store: &dyn VectorStore| texts(near(store, &rows[2].vector, &Filters::default(), 9)).len();
    assert_eq!((all(&*store), all(&*other)), (2, 2));
    store.write(&docs(), &rows[2..], &options()).unwrap();
    assert_eq!((all(&*store), all(&*other)), (3, 3));
    assert_eq!(other.remove(&docs(), Removal::Path("b")).unwrap(), 1);
    assert_eq!((all(&*store), all(&*other)), (2, 2));
    assert_eq!(other.drop_source(&docs()).unwrap(), 2);
    assert!(matches!(store.stats(&docs()), Err(IndexError::UnknownSource { .. })));
    store.write(&docs(), &rows[2..], &options()).unwrap();
    assert_eq!((all(&*store), all(&*other)), (1, 1));
}

fn filters_choose_rows_before_they_are_ranked(place: &Place) {
    let store = place.open();
    let mut rows: Vec<_> = (0..300)
        .map(|at| {
            row(if at % 3 == 0 { "docs/a/x.md" } else { "docs/ab.md" }, at, &format!("text number{at}"))
        })
        .collect();
    for (at, row) in rows.iter_mut().enumerate() {
        row.metadata.extra.insert("page".into(), (at % 100).into());
        row.metadata.external = at == 7;
    }
    store.write(&docs(), &rows, &options()).unwrap();
    for (pairs, count) in [
        (&[("path", "docs/a")][..], 100),
        (&[("path", "docs/")], 300),
        (&[("path", "docs/ab.md")], 200),
        (&[("page", "3")], 3),
        (&[("page", "3"), ("path", "docs/a")], 1),
        (&[("external", "true")], 1),
        (&[("chunk_index", "5")], 1),
        (&[("embedding_model", "test/model")], 300),
        (&[("source_type", "code")], 0),
    ] {
        let filters = filters(pairs);
        let hits = near(&*store, &vector(1, DIMENSIONS), &filters, 1000);
        assert_eq!(hits.len(), count, "{pairs:?}");
        assert!(hits.iter().all(|hit| filters.admits(&hit.metadata)), "{pairs:?}");
        let query = Query { text: "text", vector: None, top: 1000, filters: &filters };
        assert_eq!(store.find_by_words(&docs(), &query).unwrap().len(), count, "{pairs:?}");
        assert_eq!(store.enumerate(&docs(), &filters, 1_000_000).unwrap().len(), count, "{pairs:?}");
    }
}

fn rows_are_enumerated_by_path_and_place_up_to_a_number_of_tokens(place: &Place) {
    let store = place.open();
    let mut rows =
        [row("b", 1, "4"), row("a", 1, "2"), row("b", 0, "3"), row("a", 0, "1"), row("c", 0, "long text")];
    rows[4].metadata.size_tokens = 0;
    store.write(&docs(), &rows, &options()).unwrap();
    for (tokens_max, expected) in
        [(0, ""), (10, "1"), (35, "1 2 3"), (42, "1 2 3 4"), (43, "1 2 3 4 long text")]
    {
        let hits = store.enumerate(&docs(), &Filters::default(), tokens_max).unwrap();
        assert!(hits.iter().all(|hit| hit.score == 0.0));
        assert_eq!(texts(hits).join(" "), expected, "{tokens_max}");
    }
}

fn removing_takes_a_file_or_single_rows_and_hashes_say_what_is_there(place: &Place) {
    let store = place.open();
    let mut rows = [row("a.md", 0, "one"), row("a.md", 1, "two"), row("b.md", 0, "three")];
    for (row, hash) in rows.iter_mut().zip(["h1", "h2", "h3"]) {
        row.metadata.content_hash = hash.into();
    }
    store.write(&docs(), &rows, &options()).unwrap();
    let hashes = |pairs: &[(&str, &[&str])]| -> BTreeMap<String, Vec<String>> {
        pairs.iter().map(|(path, all)| ((*path).into(), all.iter().map(|h| (*h).into()).collect())).collect()
    };
    assert_eq!(store.content_hashes(&docs()).unwrap(), hashes(&[("a.md", &["h1", "h2"]), ("b.md", &["h3"])]));
    assert_eq!(store.remove(&docs(), Removal::Hashes(&["h1".into(), "h9".into()])).unwrap(), 1);
    assert_eq!(store.remove(&docs(), Removal::Path("")).unwrap(), 0);
    assert_eq!(store.remove(&docs(), Removal::Path("b.md/")).unwrap(), 1);
    assert_eq!(store.content_hashes(&docs()).unwrap(), hashes(&[("a.md", &["h2"])]));
    assert_eq!(store.content_hashes(&SourceName::new("none").unwrap()).unwrap(), BTreeMap::new());
    assert_eq!(worded(&*store, "one two three"), ["two"]);
    assert_eq!(store.write(&docs(), &rows, &options()).unwrap(), Written { written: 2, skipped: 1 });
}

fn sources_are_listed_with_what_was_said_of_them(place: &Place) {
    let store = place.open();
    let notes = SourceName::new("メモ").unwrap();
    let said = WriteOptions { description: Some("Our docs".into()), path: Some("docs/".into()), ..options() };
    store.write(&docs(), &[row("a", 0, "one")], &said).unwrap();
    store.write(&docs(), &[row("a", 1, "two")], &options()).unwrap();
    let words = reyn_index::Chunk { vector: vec![], ..row("n", 0, "覚え書き") };
    store.write(&notes, &[words], &WriteOptions::default()).unwrap();
    let listed = |store: &dyn VectorStore| -> Vec<(String, String, String, u64, Option<String>)> {
        let entries = store.sources().unwrap();
        assert!(entries.iter().all(|entry| entry.last_indexed.is_some()));
        entries
            .into_iter()
            .map(|entry| {
                (entry.name.to_string(), entry.description, entry.path, entry.rows, entry.embedding_model)
            })
            .collect()
    };
    let of_notes = ("メモ".to_owned(), "Index of source 'メモ'".to_owned(), "(unknown)".to_owned(), 1, None);
    let model = Some("test/model".to_owned());
    assert_eq!(
        listed(&*store),
        [("docs".to_owned(), "Our docs".to_owned(), "docs/".to_owned(), 2, model), of_notes]
    );
    assert_eq!(store.drop_source(&notes).unwrap(), 1);
    assert_eq!(store.drop_source(&notes).unwrap(), 0);
    assert_eq!(listed(&*store).len(), 1);
}

fn a_rebuild_answers_from_the_old_rows_until_it_is_finished_and_is_taken_up_again(place: &Place) {
    let store = place.open();
    let rows: Vec<_> = (0..50).map(|at| row(&format!("{at}.md"), at, &format!("text number{at}"))).collect();
    store.write(&docs(), &rows, &options()).unwrap();
    let new = ModelIdentity { name: "test/new".into(), revision: None, dimensions: 8 };
    let embedded = |rows: Vec<reyn_index::Chunk>| -> Vec<reyn_index::Chunk> {
        rows.into_iter()
            .map(|row| reyn_index::Chunk { vector: vector(row.metadata.chunk_index, 8), ..row })
            .collect()
    };
    {
        let mut rebuild = store.rebuild(&docs(), Some(&new)).unwrap();
        assert!(
            matches!(store.rebuild(&docs(), Some(&new)), Err(IndexError::Busy { pid, .. }) if pid == std::process::id())
        );
        for _ in 0..2 {
            let pending = embedded(rebuild.pending(20).unwrap());
            rebuild.write(&pending).unwrap();
        }
        assert!(matches!(rebuild.finish(), Err(IndexError::ChangedMeanwhile { rows: 10, .. })));
    }
    assert_eq!(store.stats(&docs()).unwrap().rebuilt_rows, Some(40));
    assert_eq!(near(&*store, &rows[3].vector, &Filters::default(), 1)[0].text, "text number3");

    let other = place.open();
    let mut rebuild = other.rebuild(&docs(), Some(&new)).unwrap();
    store.remove(&docs(), Removal::Path("0.md")).unwrap();
    store.write(&docs(), &[row("late.md", 99, "written meanwhile")], &options()).unwrap();
    let mut rounds = 0;
    loop {
        let pending = embedded(rebuild.pending(20).unwrap());
        if pending.is_empty() {
            break;
        }
        rebuild.write(&pending).unwrap();
        rounds += 1;
    }
    // The last rows that the first one handed out are handed out again.
    assert_eq!(rounds, 2);
    assert_eq!(rebuild.finish().unwrap(), 50);
    drop(rebuild);
    let query_vector = vector(99, 8);
    let query = Query { text: "", vector: Some((&new, &query_vector)), top: 1, filters: &Filters::default() };
    assert_eq!(texts(store.find_by_vector(&docs(), &query).unwrap()), ["written meanwhile"]);
    assert_eq!(worded(&*store, "number0"), Vec::<String>::new());
    let stats = store.stats(&docs()).unwrap();
    assert_eq!((stats.rows, stats.vectors, stats.model, stats.rebuilt_rows), (50, 50, Some(new), None));
    assert_eq!(stats.paths, 50);
}
