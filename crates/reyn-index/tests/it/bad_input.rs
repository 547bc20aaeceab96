//! What cannot be stored or read is a typed error, and what was there stays.

use reyn_core::embedding::ModelIdentity;
use reyn_index::{Chunk, Filters, IndexError, Metadata, Query, Removal, SourceName, WriteOptions};

use crate::fixture::{DIMENSIONS, docs, filters, model, near, options, row, texts, vector, worded};
use crate::place::{Place, on_both_stores};

on_both_stores!(
    a_write_with_one_bad_row_leaves_nothing_of_it,
    another_model_is_refused_and_both_are_named,
    an_unknown_source_is_named_with_those_that_there_are,
    what_is_no_text_is_refused_when_written_and_found_by_nobody_when_asked_for,
    the_longest_text_path_and_hash_are_stored,
    metadata_comes_back_as_it_was_given,
);

fn a_write_with_one_bad_row_leaves_nothing_of_it(place: &Place) {
    let store = place.open();
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
        assert_eq!(worded(&*store, "good bad first"), ["first"]);
    }
    let without_model = store.write(&docs(), &[good], &WriteOptions::default());
    assert!(matches!(without_model, Err(IndexError::Row { row: 0, .. })), "{without_model:?}");
}

fn another_model_is_refused_and_both_are_named(place: &Place) {
    let store = place.open();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    let other = ModelIdentity { revision: Some("2".into()), ..model() };
    let result = store.write(
        &docs(),
        &[row("a", 1, "second")],
        &WriteOptions { model: Some(other.clone()), ..WriteOptions::default() },
    );
    assert_eq!(
        result.unwrap_err().to_string(),
        "source `docs` holds vectors of test/model (1, 32 numbers), and these are of \
         test/model (2, 32 numbers); rebuild the source to change its model"
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

fn an_unknown_source_is_named_with_those_that_there_are(place: &Place) {
    let store = place.open();
    let none = SourceName::new("doc").unwrap();
    assert_eq!(
        store.stats(&none).unwrap_err().to_string(),
        "there is no source `doc`; none is indexed yet: index some text first"
    );
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    assert_eq!(store.stats(&none).unwrap_err().to_string(), "there is no source `doc`; there is `docs`");
}

fn what_is_no_text_is_refused_when_written_and_found_by_nobody_when_asked_for(place: &Place) {
    let store = place.open();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    let mut of_metadata = row("a", 1, "second");
    of_metadata.metadata.extra.insert("key".into(), "a\0b".into());
    let mut of_key = row("a", 1, "second");
    of_key.metadata.extra.insert("k\0".into(), 1.into());
    for bad in [row("a", 1, "a\0b"), row("a\0b", 1, "second"), of_metadata, of_key] {
        let error = store.write(&docs(), &[bad], &options()).unwrap_err();
        assert!(matches!(error, IndexError::Row { row: 0, .. }), "{error}");
        assert!(error.to_string().contains("NUL"), "{error}");
    }
    let said = WriteOptions { description: Some("\0".into()), ..options() };
    assert!(matches!(store.write(&docs(), &[row("a", 1, "x")], &said), Err(IndexError::NotText { .. })));
    assert_eq!(store.stats(&docs()).unwrap().rows, 1);
    // A backslash that is written out is a text like any other.
    let mut written_out = row("b", 2, "third");
    written_out.metadata.extra.insert("key".into(), "\\u0000".into());
    store.write(&docs(), &[written_out], &options()).unwrap();

    for key in ["path", "source_type", "content_hash", "embedding_model", "chunk_index", "own"] {
        let none = filters(&[(key, "a\0")]);
        assert_eq!(texts(near(&*store, &vector(0, DIMENSIONS), &none, 5)), Vec::<String>::new(), "{key}");
    }
    assert_eq!(worded(&*store, "first\0"), ["first"]);
    assert_eq!(store.remove(&docs(), Removal::Path("a\0")).unwrap(), 0);
    assert_eq!(store.remove(&docs(), Removal::Hashes(&["\0".into()])).unwrap(), 0);
}

fn the_longest_text_path_and_hash_are_stored(place: &Place) {
    let store = place.open();
    // Different words, which no compression makes short.
    let mut text: String =
        (0..).map(|at| format!("w{:x} ", crate::fixture::mixed(at))).take(60_000).collect();
    text.truncate(1 << 20);
    let digits = |count: usize| -> String {
        (0..)
            .map(|at| format!("{:x}", crate::fixture::mixed(at)))
            .flat_map(|text| text.chars().collect::<Vec<_>>())
            .take(count)
            .collect()
    };
    let mut longest = row(&digits(2_048), 0, &text);
    longest.metadata.content_hash = digits(256);
    store.write(&docs(), std::slice::from_ref(&longest), &options()).unwrap();
    let hits = near(&*store, &longest.vector, &Filters::default(), 1);
    assert!(hits[0].text == text);
    assert_eq!(worded(&*store, text.split(' ').nth(40_000).unwrap()).len(), 1);
    for (path, hash) in [(2_049, 1), (1, 257)] {
        let mut longer = row(&digits(path), 0, "text");
        longer.metadata.content_hash = digits(hash);
        let refused = store.write(&docs(), &[longer], &options());
        assert!(matches!(refused, Err(IndexError::Row { row: 0, .. })), "{refused:?}");
    }
    assert_eq!(store.remove(&docs(), Removal::Path(&longest.metadata.source_path)).unwrap(), 1);
    assert_eq!(worded(&*store, text.split(' ').nth(40_000).unwrap()).len(), 0);
}

fn metadata_comes_back_as_it_was_given(place: &Place) {
    let store = place.open();
    let mut given = row("a/b.md", 3, "text");
    given.metadata.parent_context = Some("Guide > 導入".into());
    given.metadata.content_hash = "h".into();
    given.metadata.extra = serde_json::from_str(
        r#"{"z":1,"a":{"deep":[1,2.5,-0.125,1e300,null,true,"\ud83d\ude00 \" \\ \n"]},"big":18446744073709551615,"one":1.0}"#,
    )
    .unwrap();
    store.write(&docs(), std::slice::from_ref(&given), &options()).unwrap();
    let hits = near(&*store, &given.vector, &filters(&[("z", "1"), ("one", "1.0")]), 1);
    let expected = Metadata { embedding_model: "test/model".into(), ..given.metadata };
    assert_eq!(hits.into_iter().map(|hit| hit.metadata).collect::<Vec<_>>(), [expected]);
}
