//! `reyn index`, by words alone and with the model that runs in the process.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use reyn_llm::files::Catalogue;
use reyn_testkit::{FakeServer, Response};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::Place;

const HINGES: &str = "# Doors\n\nOil the hinges twice a year, best with `WD-4021`.\n";
const WINDOWS: &str = "# 窓\n\n窓枠は春に塗り直す。\n";

/// A place without vectors.
fn of_words() -> Place {
    Place::new()
        .config("embedding.enabled: false\n")
        .file("docs/doors.md", HINGES)
        .file("docs/windows.md", WINDOWS)
        .file("docs/.hidden.md", "hidden hinges")
        .file("docs/picture.bin", "\u{0}\u{1}\u{0}hinges")
}

/// A place with the embedding model, or none where its files are not here.
#[expect(clippy::print_stdout, reason = "a test that cannot run here says so")]
fn with_model() -> Option<Place> {
    let folder = std::env::var_os("REYN_TEST_MODEL_DIR").map_or_else(
        || std::env::home_dir().expect("a home folder").join(".cache/reyn/models"),
        PathBuf::from,
    );
    let model = Catalogue::bundled().model("use-multilingual-v3").unwrap();
    let files: Vec<PathBuf> = model.files.iter().map(|file| folder.join(&file.sha256)).collect();
    if !files.iter().all(|file| file.is_file()) {
        assert!(
            std::env::var_os("REYN_TEST_NO_SKIP").is_none(),
            "this test needs `reyn models pull use-multilingual-v3`"
        );
        println!("skipped: `reyn models pull use-multilingual-v3` fetches what it needs");
        return None;
    }
    let place = Place::new().file("docs/doors.md", HINGES).file("docs/windows.md", WINDOWS);
    let models = place.cache().join("models");
    std::fs::create_dir_all(&models).unwrap();
    for file in files {
        std::os::unix::fs::symlink(&file, models.join(file.file_name().unwrap())).unwrap();
    }
    Some(place)
}

fn add(place: &Place) -> Value {
    place.run(["index", "add", "docs", "docs", "--json"]).exits(0).json()
}

fn paths(found: &Value) -> Vec<&str> {
    let results = found["results"].as_array().unwrap();
    results.iter().map(|hit| hit["metadata"]["path"].as_str().unwrap()).collect()
}

#[test]
fn files_are_found_by_their_words_and_what_changed_is_indexed_again() {
    let place = of_words();
    let first = add(&place);
    assert_eq!(
        (&first["files"], &first["files_passed_over"], &first["chunks_removed"]),
        (&json!(2), &json!(1), &json!(0)),
        "{first}"
    );
    let again = add(&place);
    assert_eq!((&again["chunks_written"], &again["chunks_unchanged"]), (&json!(0), &first["chunks_written"]));
    for (text, path) in [("wd-4021", "docs/doors.md"), ("窓枠", "docs/windows.md")] {
        let found = place.run(["index", "query", "docs", text, "--json"]).exits(0).json();
        assert_eq!((found["mode"].as_str(), paths(&found)[0]), (Some("keyword"), path), "{found}");
    }
    let place = place.file("docs/doors.md", &HINGES.replace("twice", "three times"));
    let changed = add(&place);
    assert_eq!((&changed["chunks_written"], &changed["chunks_removed"]), (&json!(1), &json!(1)), "{changed}");
    std::fs::remove_file(place.root.join("docs/windows.md")).unwrap();
    assert_ne!(add(&place)["chunks_removed"], json!(0));
    let gone = place.run(["index", "query", "docs", "窓枠", "--json"]).exits(0).json();
    assert_eq!(gone["results"], json!([]));
}

#[test]
fn a_source_that_is_none_and_a_path_that_is_none_are_told() {
    let place = of_words().file(".reyn/approvals.yaml", "");
    let table = [
        (
            vec!["index", "query", "docs", "x"],
            2,
            "there is no source `docs`; `reyn index add docs PATH` makes it",
        ),
        (vec!["index", "add", "../up", "docs"], 2, "`../up` cannot name a source"),
        (vec!["index", "add", "docs", "gone"], 2, "cannot index `gone`"),
        (vec!["index", "drop", "docs"], 2, "there is no source `docs`"),
        (vec!["index", "query", "docs", "x", "--top", "0"], 2, "--top"),
    ];
    for (args, code, says) in table {
        let output = place.command(&args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?} {said}");
        assert!(said.contains(says), "{args:?} {said}");
    }
    add(&place);
    let asked = place.run(["index", "drop", "docs"]).exits(4);
    assert!(asked.stderr.contains("give `--yes`"), "{}", asked.stderr);
    let dropped = place.run(["index", "drop", "docs", "--yes", "--json"]).exits(0).json();
    assert_eq!(dropped["source"], "docs");
    assert_eq!(place.run(["index", "list", "--json"]).exits(0).json(), json!({"sources": []}));
}

#[test]
fn with_nothing_configured_a_question_in_another_language_finds_the_passage() {
    let Some(place) = with_model() else { return };
    add(&place);
    for (text, path) in
        [("ドアの蝶番の手入れ", "docs/doors.md"), ("when are window frames painted?", "docs/windows.md")]
    {
        let found = place.run(["index", "query", "docs", text, "--top", "1", "--json"]).exits(0).json();
        assert_eq!(paths(&found), [path], "{found}");
        assert_ne!(found["mode"], "keyword", "{found}");
    }
    let before = place.run(["index", "stats", "docs", "--json"]).exits(0).json();
    let rebuilt = place.run(["index", "rebuild", "docs", "--json"]).exits(0).json();
    assert_eq!(rebuilt["chunk_count"], before["chunk_count"]);
    let after = place.run(["index", "stats", "docs", "--json"]).exits(0).json();
    assert_eq!(
        (&after["vectors"], &after["embedding_model"]),
        (&before["vectors"], &before["embedding_model"])
    );
}

#[test]
fn ctrl_c_keeps_what_is_done_and_the_next_run_goes_on_from_there() {
    let (told, asked) = mpsc::channel();
    let mut texts_of = vec![];
    let server = FakeServer::answering(move |request| {
        let inputs = request["input"].as_array().unwrap().len();
        texts_of.push(inputs);
        told.send(inputs).unwrap();
        // The second batch never comes, in the first run.
        if texts_of.len() == 2 {
            return Response::hang();
        }
        let row = |at| json!({"index": at, "embedding": [1, at]});
        Response::json(200, &json!({"data": (0..inputs).map(row).collect::<Vec<_>>()}))
    });
    let class = format!("embedding.classes.standard: {{model: x/y, api_base: '{}'}}\n", server.api_base());
    let mut place = Place::new().config(&class);
    for at in 0..70 {
        place = place.file(&format!("docs/{at:02}.md"), &format!("Door {at} has hinges.\n"));
    }
    let run = place.start(["index", "add", "docs", "docs"]);
    let wait = Duration::from_secs(60);
    assert_eq!([asked.recv_timeout(wait), asked.recv_timeout(wait)], [Ok(64), Ok(6)]);
    run.signal(Signal::INT);
    let stopped = run.finish();
    assert_eq!(stopped.code, Some(130), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("what is done is kept"), "{}", stopped.stderr);
    let again = add(&place);
    assert_eq!((&again["chunks_unchanged"], &again["chunks_written"]), (&json!(64), &json!(6)), "{again}");
    assert_eq!(asked.try_iter().collect::<Vec<_>>(), [6]);
    server.finish();
}
