//! Which model answers, and what the first line says about it.

use expect_test::{Expect, expect};
use reyn_testkit::{FakeServer, says};
use serde_json::json;

use crate::place::Place;

/// Asks, and compares everything that is said beside the answer.
#[track_caller]
fn check<const N: usize>(place: &Place, args: [&str; N], expected: &Expect) {
    expected.assert_eq(&place.run(args).exits(0).stderr);
}

fn ok() -> FakeServer {
    FakeServer::script([says("ok")])
}

/// A provider with a key, and the model for each class.
fn with_key(server: &FakeServer) -> Place {
    let text = "[[provider]]\nname = \"openai\"\napi_base = \"SERVER\"\nkey_env = [\"OPENAI_API_KEY\"]\n\
                models = { light = \"small\", standard = \"middle\", strong = \"large\" }\n\
                extra_body = { reasoning_effort = \"none\" }\n";
    Place::new().providers(&text.replace("SERVER", &server.api_base())).env("OPENAI_API_KEY", "sk-secret")
}

#[test]
fn the_model_of_the_project_answers() {
    let server = ok();
    let text = format!("llm:\n  api_base: {}\n  model: mine/test\n", server.api_base());
    check(
        &Place::new().config(&text),
        ["ask", "go"],
        &expect![[r#"
        mine/test (`llm.model` in reyn.yaml:3) · session SESSION
    "#]],
    );
    assert_eq!(server.requests()[0]["model"], "test");
}

#[test]
fn a_class_of_the_command_line_answers() {
    let server = ok();
    check(
        &Place::with(&server),
        ["ask", "go", "--model", "fake"],
        &expect![[r#"
        fake/test (`--model`) · session SESSION
    "#]],
    );
}

#[test]
fn a_key_in_the_environment_chooses_its_provider() {
    let server = ok();
    server.require_key("sk-secret");
    check(
        &with_key(&server),
        ["ask", "go"],
        &expect![[r#"
        openai/middle (`OPENAI_API_KEY` is set and nothing is configured) · session SESSION
    "#]],
    );
    let request = server.requests().remove(0);
    assert_eq!((&request["model"], &request["reasoning_effort"]), (&json!("middle"), &json!("none")));
}

#[test]
fn a_class_without_configuration_is_what_the_provider_suggests() {
    let server = ok();
    let _ = with_key(&server).run(["ask", "go", "--model", "light"]).exits(0);
    assert_eq!(server.requests()[0]["model"], "small");
}

#[test]
fn a_configured_address_holds_for_a_provider_that_a_key_chooses() {
    let (server, elsewhere) = (ok(), FakeServer::script([says("wrong")]));
    let place = with_key(&elsewhere).config(&format!("llm: {{api_base: '{}'}}", server.api_base()));
    let _ = place.run(["ask", "go"]).exits(0);
    assert_eq!((server.requests().len(), elsewhere.requests().len()), (1, 0));
}

#[test]
fn a_server_on_this_machine_is_found() {
    let server = ok();
    server.offer_models(&["text-embed", "qwen"]);
    let place = Place::new().providers(&format!(
        "[[provider]]\nname = \"ollama\"\napi_base = \"{}\"\nlocal = true\nport = {}\n",
        server.api_base(),
        server.port()
    ));
    check(
        &place,
        ["ask", "go"],
        &expect![[r#"
        ollama/qwen (a server answers at http://SERVER/v1 and nothing is configured) · session SESSION
    "#]],
    );
    assert_eq!(server.requests()[0]["model"], "qwen");
}

#[test]
fn a_model_without_its_key_is_refused_before_anything_is_sent() {
    let server = FakeServer::script([says("never")]);
    let place = with_key(&server).env("OPENAI_API_KEY", "");
    let done = place.run(["ask", "go", "--model", "openai/large"]).exits(2);
    expect![[r#"
        reyn: `openai/large` needs a key: set `OPENAI_API_KEY` in the environment or in `~/.reyn/secrets.env`
    "#]]
    .assert_eq(&done.stderr);
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_provider_that_is_misspelt_is_told_with_the_right_one() {
    let done = with_key(&ok()).run(["ask", "go", "--model", "opnai/large"]).exits(2);
    expect![[r#"
        reyn: `opnai` is no provider; did you mean `openai`? Otherwise give the model an `api_base`
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn a_class_that_is_misspelt_is_told_with_the_right_one() {
    let done = Place::new().run(["ask", "go", "--model", "stong"]).exits(2);
    expect![[r#"
        reyn: `stong` is neither a model class nor `provider/model`; did you mean `strong`?
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn no_test_can_reach_a_paid_model() {
    let text = "llm: {model: openai/a, api_base: 'https://api.openai.com/v1'}";
    let place = Place::new().env("OPENAI_API_KEY", "sk-secret");
    std::fs::write(place.home.join(".reyn/config.yaml"), text).unwrap();
    let done = place.run(["ask", "go"]).exits(1);
    assert!(done.stderr.contains("cannot connect to https://api.openai.com/v1"), "{}", done.stderr);
    assert!(done.stderr.contains("Connection refused"), "{}", done.stderr);
}

#[test]
#[cfg(not(feature = "local"))]
fn without_any_model_the_person_is_told_what_to_do() {
    let done = Place::new().run(["ask", "go"]).exits(2);
    assert_eq!(done.stdout, "");
    expect![[r#"
        reyn: the local model would answer (no key, no server, nothing configured), but this program was built without it. Do one of these:
          - set a provider's key, e.g. `export OPENAI_API_KEY=…`
          - start a server on this machine, e.g. Ollama, LM Studio or llama.cpp
          - name a model in `reyn.yaml` under `llm` (`reyn init` writes one)
          - build with `--features local`
    "#]].assert_eq(&done.stderr);
}

#[test]
fn a_list_of_providers_that_cannot_be_read_is_an_error_with_its_place() {
    let done = Place::new().providers("[[provider]]\nnmae = 1\n").run(["ask", "go"]).exits(2);
    expect![[r#"
        reyn: `/home/.reyn/providers.toml`: the list of providers cannot be read: TOML parse error at line 2, column 1
          |
        2 | nmae = 1
          | ^^^^
        unknown field `nmae`, expected one of `name`, `api_base`, `key_env`, `models`, `extra_body`, `local`, `port`
    "#]].assert_eq(&done.stderr);
}
