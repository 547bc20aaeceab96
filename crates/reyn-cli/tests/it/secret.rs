//! A key never leaves the process but for its server.

use reyn_testkit::{FakeServer, Response};
use serde_json::json;

use crate::place::Place;

const KEY: &str = "sk-4f1c0ffee";

#[test]
fn a_key_that_the_server_echoes_in_an_error_is_nowhere() {
    for output in ["--json", "--stream-json", "--session=s"] {
        let body = json!({"error": {"message": format!("incorrect API key provided: {KEY}")}});
        let server = FakeServer::answering(move |_| Response::json(401, &body));
        server.require_key(KEY);
        let place = Place::with_options(&server, "api_key_env: MY_KEY").env("MY_KEY", KEY);
        let done = place.run(["ask", "go", output]).exits(1);
        let said = done.stdout + &done.stderr;
        assert!(said.contains("incorrect API key provided: [redacted]"), "{said}");
        assert!(!said.contains(KEY), "{said}");
        assert!(!place.everything_written().contains(KEY), "{output}");
    }
}

#[test]
fn a_key_of_the_secrets_file_is_used_and_not_shown() {
    let server = FakeServer::script([reyn_testkit::says("ok")]);
    server.require_key(KEY);
    let place = Place::with_options(&server, "api_key_env: MY_KEY");
    let secrets = place.home.join(".reyn/secrets.env");
    std::fs::write(&secrets, format!("MY_KEY={KEY}\n")).unwrap();
    let _ = place.run(["ask", "go"]).exits(0);
    std::fs::remove_file(secrets).unwrap();
    assert!(!place.everything_written().contains(KEY));
}

#[test]
fn a_key_in_a_value_is_not_shown_by_config() {
    let text = "llm: {models: {a: {model: x/y, extra_body: {token: '${MY_KEY}'}}}}\n";
    let place = Place::new().config(text).env("MY_KEY", KEY);
    for args in [["config", "show", "--origin"], ["config", "show", "--json"], ["config", "check", "--json"]]
    {
        let done = place.run(args).exits(0);
        assert!(!(done.stdout + &done.stderr).contains(KEY), "{args:?}");
    }
}
