//! What a run may do when nobody is there to ask.

use expect_test::expect;
use reyn_testkit::{FakeServer, call, calls, says};
use serde_json::json;

use crate::place::Place;
use crate::running::Running;

/// A server whose model writes `new` into this path.
fn writes(path: impl ToString) -> FakeServer {
    let args = json!({"path": path.to_string(), "content": "new\n"});
    FakeServer::script([calls([call("a", "write_file", args)]), says("done")])
}

#[test]
fn a_write_is_refused_without_a_person_and_the_person_is_told_what_allows_it() {
    let server = writes("notes.md");
    let place = Place::with(&server);
    let done = place.run(["ask", "go"]).exits(4);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        · write_file notes.md
          permission_denied: nobody is there to allow it: write `notes.md` takes a person's yes, because `permissions.file.write` is not set, and only `.reyn/` is written without asking
        reyn: refused: nobody is there to allow it: write `notes.md` takes a person's yes, because `permissions.file.write` is not set, and only `.reyn/` is written without asking; the person can run it again with `--allow file.write`, or set `permissions.file.write: [".reyn", "notes.md"]` in `reyn.yaml`
    "#]].assert_eq(&done.stderr);
    assert_eq!((done.stdout.as_str(), place.read("notes.md")), ("done\n", None));
}

#[test]
fn allow_file_write_lets_a_file_of_the_workspace_be_written() {
    let server = writes("docs/notes.md");
    let place = Place::with(&server);
    let _ = place.run(["ask", "go", "--allow", "file.write"]).exits(0);
    assert_eq!(place.read("docs/notes.md").as_deref(), Some("new\n"));
}

#[test]
fn allow_file_write_does_not_reach_the_configuration() {
    let server = writes("reyn.yaml");
    let place = Place::with(&server);
    let done = place.run(["ask", "go", "--allow", "file.write"]).exits(4);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        · write_file reyn.yaml
          permission_denied: nobody is there to allow it: write `reyn.yaml` takes a person's yes, because it is one of the runtime's own files, which no grant opens
        reyn: refused: nobody is there to allow it: write `reyn.yaml` takes a person's yes, because it is one of the runtime's own files, which no grant opens; no key opens this; a person does it by hand, or answers the question in a terminal
    "#]].assert_eq(&done.stderr);
    assert_eq!(place.read("reyn.yaml").as_deref(), Some("# nothing\n"));
}

#[test]
fn allow_file_write_does_not_reach_outside_the_workspace() {
    let server = writes("../outside/notes.md");
    let place = Place::with(&server);
    let done = place.run(["ask", "go", "--allow", "file.write"]).exits(4);
    expect![[r#"
        fake/test (`llm.model` in ~/.reyn/config.yaml:2) · session SESSION
        · write_file ../outside/notes.md
          permission_denied: nobody is there to allow it: write `../outside/notes.md` takes a person's yes, because it lies outside the workspace
        reyn: refused: nobody is there to allow it: write `../outside/notes.md` takes a person's yes, because it lies outside the workspace; the person can run it again with `--allow file.write:/outside/notes.md`, or set `permissions.file.write: [".reyn", "/outside/notes.md"]` in `reyn.yaml`
    "#]].assert_eq(&done.stderr);
    assert!(!place.outside.join("notes.md").exists());
}

#[test]
fn allow_file_write_with_a_path_reaches_that_path_outside() {
    let server = writes("../outside/notes.md");
    let place = Place::with(&server);
    let _ = place.run(["ask", "go", "--allow", "file.write:../outside"]).exits(0);
    assert_eq!(std::fs::read_to_string(place.outside.join("notes.md")).unwrap(), "new\n");
}

#[test]
fn an_unknown_permission_is_told_with_those_that_exist() {
    let done = Place::new().run(["ask", "go", "--allow", "file.wirte"]).exits(2);
    expect![[r#"
        reyn: `--allow file.wirte`: no permission is called `file.wirte`; did you mean `file.write`?
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn an_excluded_tool_is_not_offered() {
    let server = FakeServer::script([says("ok")]);
    let _ = Place::with(&server).run(["ask", "go", "--exclude-tools", "read_file"]).exits(0);
    let names = offered(&server);
    assert!(
        !names.contains(&"read_file".to_owned()) && names.contains(&"write_file".to_owned()),
        "{names:?}"
    );
}

#[test]
fn a_tool_that_does_not_exist_cannot_be_excluded() {
    let done = Place::new().run(["ask", "go", "--exclude-tools", "write_file,read"]).exits(2);
    expect![[r#"
        reyn: `--exclude-tools`: no tool is named `read`; did you mean `read_file` or `recall`?
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn a_category_that_does_not_exist_cannot_be_excluded() {
    let done = Place::new().run(["ask", "go", "--exclude-categories", "fiel"]).exits(2);
    expect![[r#"
        reyn: `--exclude-categories`: no category is named `fiel`; there is `file`, `web`, `exec`, `memory_operation`, `knowledge` or `embedding`
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn a_profile_narrows_what_is_offered() {
    let server = FakeServer::script([says("ok")]);
    let place = Place::with(&server)
        .file(".reyn/capability_profiles/reader.yaml", "name: reader\ntool_allow: [read_file]\n");
    let _ = place.run(["ask", "go", "--profile", "reader"]).exits(0);
    assert_eq!(offered(&server), ["read_file"]);
    // What is listed is what is offered, to a chat or to skills, by the same words.
    let listed = |words: &[&str]| {
        let args = [&["tools", "list", "--json"], words].concat();
        let value = Running::new(place.command(&args), place.masks()).finish().exits(0).json();
        value["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let all: Vec<String> = listed(&[]);
    assert_eq!(listed(&["--profile", "reader"]), ["read_file"]);
    assert_eq!(listed(&["--exclude-tools", "read_file"]).len(), all.len() - 1);
    assert_eq!(
        listed(&["--exclude-categories", "file"]),
        [
            "embed",
            "exec",
            "forget_memory",
            "index_drop",
            "index_query",
            "index_write",
            "list_memory",
            "read_memory_body",
            "recall",
            "remember_agent",
            "remember_shared",
            "sandboxed_exec",
            "shell",
            "web_fetch",
            "web_search"
        ]
    );
    let all = "file,exec,web,memory_operation,knowledge,embedding";
    assert_eq!(listed(&["--exclude-categories", all]), [] as [&str; 0]);
}

#[test]
fn a_profile_that_does_not_exist_is_told_with_its_file() {
    let done = Place::new().run(["ask", "go", "--profile", "reader"]).exits(2);
    expect![[r#"
        reyn: the capability profile `reader` does not exist: there is no `.reyn/capability_profiles/reader.yaml`; write it, or leave `--profile` out
    "#]].assert_eq(&done.stderr);
}

fn offered(server: &FakeServer) -> Vec<String> {
    let request = server.requests().remove(0);
    let tools = request["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}
