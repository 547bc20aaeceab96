//! The whole thing with a real model in the process and nothing else configured. Needs the file of the
//! 0.5 B model: `reyn models pull qwen2.5-coder-0.5b`.

use std::path::PathBuf;

use reyn_llm::files::Catalogue;
use serde_json::{Value, json};

use crate::place::Place;

/// A place whose cache holds the test model and nothing else.
fn place() -> Place {
    let folder = std::env::var_os("REYN_TEST_MODEL_DIR").map_or_else(
        || std::env::home_dir().expect("a home folder").join(".cache/reyn/models"),
        PathBuf::from,
    );
    let model = Catalogue::bundled().model("qwen2.5-coder-0.5b").unwrap();
    let file = folder.join(&model.first().sha256);
    assert!(
        file.is_file(),
        "this test needs `{}`; fetch it with `reyn models pull {}`, or name its folder in REYN_TEST_MODEL_DIR",
        file.display(),
        model.id
    );
    let place = Place::new();
    let models = place.cache().join("models");
    std::fs::create_dir_all(&models).unwrap();
    std::os::unix::fs::symlink(file, models.join(&model.first().sha256)).unwrap();
    place
}

/// Asks and gives the one object of `--json`. Without the bound of the other tests: a busy machine may take
/// minutes for what takes seconds.
fn ask(place: &Place, question: &str) -> Value {
    let output = place.command(&["ask", question, "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_real_model_answers_from_a_file_that_it_has_to_read() {
    let place = place().file("office.txt", "The code of the office door is 4711.\n");
    let first = ask(&place, "What is the door code in office.txt?");
    assert_eq!(first["model"], "local/qwen2.5-coder-0.5b");
    assert_eq!(first["calls"], json!([{"tool": "read_file", "status": "ok"}]), "{first}");
    let answer = first["answer"].as_str().unwrap();
    assert!(answer.contains("4711"), "{answer}");

    // The next process goes on from the kept state of the prompt that never changes.
    let second = ask(&place, "hello");
    let (read, cached) = (&second["usage"]["prompt_tokens"], &second["usage"]["cached_tokens"]);
    assert!(
        cached.as_u64().unwrap() * 10 > read.as_u64().unwrap() * 8,
        "{cached} of {read} tokens were kept"
    );
}
