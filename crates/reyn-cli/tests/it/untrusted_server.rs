//! A server that only a file of the project names is asked about before anything is sent to it.

use expect_test::{Expect, expect};
use reyn_testkit::{FakeServer, says};
use serde_json::json;

use crate::place::Place;
use crate::running::{Finished, Running};
use crate::terminal::AtTerminal;

const KEY: &str = "sk-4f1c0ffee";

/// No machine has this address; the tests reach it through a proxy.
const FAR: &str = "http://192.0.2.1:9/v1";

const CLASS: &str = "llm:\n  model: far\n  models:\n    far:\n      model: mine/test\n      \
                     api_base: http://192.0.2.1:9/v1\n      api_key_env: MY_KEY\n";

fn server() -> FakeServer {
    let server = FakeServer::script([says("hello there")]);
    server.require_key(KEY);
    server.offer_models(&["test"]);
    server
}

/// A place without a model, where whatever is sent to another machine comes to this server.
fn place(server: &FakeServer) -> Place {
    let proxy = format!("http://127.0.0.1:{}", server.port());
    Place::new().env("ALL_PROXY", &proxy).env("MY_KEY", KEY).env("NO_COLOR", "1")
}

/// With this in the person's own file.
fn own(place: Place, text: &str) -> Place {
    std::fs::write(place.home.join(".reyn/config.yaml"), text).unwrap();
    place
}

fn run(place: &Place, args: &[&str]) -> Finished {
    Running::new(place.command(args), place.masks()).finish()
}

/// Nothing was sent, and the key is nowhere.
#[track_caller]
fn nothing_came(server: &FakeServer, place: &Place, said: &str) {
    assert_eq!(server.connections(), 0, "{said}");
    assert!(!said.contains(KEY) && !place.everything_written().contains(KEY), "{said}");
}

#[test]
fn a_project_that_names_a_far_server_is_refused_where_nobody_can_be_asked() {
    let server = server();
    let place = place(&server).config(CLASS);
    for args in [vec!["ask", "go"], vec!["ask", "go", "--model", "far"], vec!["chat"]] {
        let done = run(&place, &args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
        expect![[r#"
            reyn: `mine/test` is at `http://192.0.2.1:9/v1`, a server that only reyn.yaml:6 names and nobody has trusted; the value of `MY_KEY` would go there; everything said goes there, and what is read from your files. Nothing was sent; if you trust it, put `llm.trusted_servers: [http://192.0.2.1:9]` into `~/.reyn/config.yaml`, or set `REYN_LLM__TRUSTED_SERVERS="[http://192.0.2.1:9]"`; else name another model with `--model`
        "#]]
        .assert_eq(&done.stderr);
        nothing_came(&server, &place, &done.stderr);
    }
}

#[test]
fn programs_are_told_by_its_kind_and_what_would_have_gone_there() {
    let server = server();
    let place = place(&server).config(CLASS);
    for output in ["--json", "--stream-json"] {
        let done = place.run(["ask", "go", output]).exits(2);
        let error = &done.json()["error"];
        assert_eq!(error["kind"], "untrusted_server");
        let details = json!({
            "model": "mine/test",
            "address": FAR,
            "named_in": "reyn.yaml:6",
            "server": "http://192.0.2.1:9",
            "variables": ["MY_KEY"],
        });
        assert_eq!(error["details"], details);
        nothing_came(&server, &place, &done.stdout);
    }
}

#[test]
fn every_file_of_a_project_counts_and_so_does_an_address_for_all_models() {
    let server = server();
    for file in ["reyn.yaml", "reyn.local.yaml", ".reyn/config.yaml"] {
        let far = format!("llm: {{model: mine/test, api_base: '{FAR}'}}\n");
        let place = own(place(&server).file(file, &far), "llm.api_base: https://other.example/v1\n");
        let done = place.run(["ask", "go"]).exits(2);
        assert!(done.stderr.contains(&format!("a server that only {file}:1 names")), "{}", done.stderr);
        nothing_came(&server, &place, &done.stderr);
    }
}

#[test]
fn what_is_not_the_server_of_a_provider_is_refused_under_its_name_too() {
    let server = server();
    let providers = "[[provider]]\nname = \"openai\"\napi_base = \"https://api.openai.com/v1\"\n";
    for address in ["http://api.openai.com/v1", "http://api.openai.com@192.0.2.1:9/v1"] {
        let text = format!("llm: {{model: openai/test, api_base: '{address}'}}\n");
        let place = place(&server).providers(providers).config(&text);
        let done = place.run(["ask", "go"]).exits(2);
        nothing_came(&server, &place, &done.stderr);
    }
}

#[test]
fn a_server_that_the_person_names_or_trusts_is_asked_with_the_key() {
    const TRUSTS: &str = "llm.trusted_servers: ['http://192.0.2.1:9']\n";
    const NAMES: &str = "llm: {models: {other: {model: mine/test, api_base: 'http://192.0.2.1:9/v1'}}}\n";
    const PROVIDERS: &str = "[[provider]]\nname = \"mine\"\napi_base = \"http://192.0.2.1:9/other\"\n";
    let cases: [fn(Place) -> Place; 6] = [
        |place| place.config(CLASS).env("REYN_LLM__TRUSTED_SERVERS", "[http://192.0.2.1:9]"),
        |place| place.config(CLASS).env("REYN_LLM__API_BASE", FAR),
        |place| own(place.config(CLASS), TRUSTS),
        |place| own(place.config(CLASS), NAMES),
        |place| own(place, CLASS),
        |place| place.config(CLASS).providers(PROVIDERS),
    ];
    for make in cases {
        let server = server();
        let done = make(place(&server)).run(["ask", "go"]).exits(0);
        assert_eq!((done.stdout.as_str(), server.requests().len()), ("hello there\n", 1));
    }
}

#[test]
fn a_server_on_this_machine_is_asked_unasked() {
    let server = server();
    let text = CLASS.replace(FAR, &server.api_base());
    let done = place(&server).config(&text).run(["ask", "go"]).exits(0);
    assert_eq!(done.stdout, "hello there\n");
}

#[test]
fn the_home_folder_as_project_trusts_by_its_own_file_and_not_by_another() {
    let server = server();
    let place = place(&server);
    let reyn = |place: &Place| {
        let mut command = place.command(&["ask", "go"]);
        command.current_dir(&place.home);
        Running::new(command, place.masks()).finish()
    };
    std::fs::write(place.home.join("reyn.yaml"), CLASS).unwrap();
    let done = reyn(&place).exits(2);
    nothing_came(&server, &place, &done.stderr);
    let place = own(place, "llm: {trusted_servers: ['http://192.0.2.1:9']}\n");
    assert_eq!(reyn(&place).exits(0).stdout, "hello there\n");
}

#[test]
fn a_project_cannot_trust_its_own_server() {
    let server = server();
    let place = place(&server).config(&format!("{CLASS}  trusted_servers: ['http://192.0.2.1:9']\n"));
    let done = place.run(["ask", "go"]).exits(2);
    assert!(
        done.stderr.contains("reyn.yaml:8:20: `llm.trusted_servers` cannot stand in a file of a project"),
        "{}",
        done.stderr
    );
    nothing_came(&server, &place, &done.stderr);
}

#[test]
fn the_doctor_tells_of_it_and_sends_nothing() {
    let server = server();
    let place = place(&server).config(CLASS);
    let done = place.run(["doctor", "--json"]).exits(1);
    let value = done.json();
    let model = value["checks"].as_array().unwrap().iter().find(|check| check["name"] == "model").unwrap();
    assert_eq!(
        model,
        &json!({
            "name": "model",
            "status": "fail",
            "message": "`mine/test` is at `http://192.0.2.1:9/v1`, a server that only reyn.yaml:6 names and nobody \
                        has trusted; nothing was sent",
            "fix": "if you trust it, put `llm.trusted_servers: [http://192.0.2.1:9]` into `~/.reyn/config.yaml`, or \
                    set `REYN_LLM__TRUSTED_SERVERS=\"[http://192.0.2.1:9]\"`; else name another model with `--model`",
        })
    );
    nothing_came(&server, &place, &done.stdout);
    let place = place.env("REYN_LLM__TRUSTED_SERVERS", "[http://192.0.2.1:9]");
    let done = place.run(["doctor", "--json"]).exits(0);
    assert!(done.stdout.contains("its server answers and lists `test`"), "{}", done.stdout);
}

#[test]
fn a_chat_refuses_to_change_to_it() {
    let far = server();
    let here = FakeServer::script([says("still here")]);
    let default = format!("llm: {{model: here/test, api_base: '{}'}}\n", here.api_base());
    let class =
        "llm: {models: {far: {model: mine/test, api_base: 'http://192.0.2.1:9/v1', api_key_env: MY_KEY}}}\n";
    let place = own(place(&far).config(class), &default);
    let done = place.run_with_input(["chat"], "/model far\nwho is there?\n/quit\n");
    let said = done.stdout + &done.stderr;
    assert!(said.contains("a server that only reyn.yaml:1 names and nobody has trusted"), "{said}");
    assert!(said.contains("still here"), "{said}");
    nothing_came(&far, &place, &said);
}

#[test]
fn a_secret_in_an_address_is_nowhere_but_on_its_way_to_the_server() {
    // In a path the server does not know it, and repeats it in its error.
    for (address, code) in [("http://192.0.2.1:9/${MY_KEY}/v1", 1), ("http://${MY_KEY}.example/v1", 0)] {
        let text = format!("llm: {{model: mine/test, api_base: '{address}'}}\n");
        for args in [
            vec!["ask", "go"],
            vec!["ask", "go", "--json"],
            vec!["ask", "go", "--stream-json"],
            vec!["doctor", "--json"],
        ] {
            let server = FakeServer::script([says("hello there")]);
            server.offer_models(&["test"]);
            let stranger = place(&server).config(&text);
            let refused = run(&stranger, &args);
            let said = refused.stdout + &refused.stderr;
            assert!(said.contains(address), "{said}");
            nothing_came(&server, &stranger, &said);

            let trusting = own(place(&server), &text).env("REYN_RECORD", "1");
            let done = run(&trusting, &args);
            let said = done.stdout + &done.stderr;
            assert!(server.connections() > 0, "{said}");
            assert!(!said.contains(KEY), "{said}");
            assert!(!trusting.everything_written().contains(KEY), "{args:?}");
            match args[0] {
                "ask" => assert_eq!(done.code, Some(code), "{said}"),
                _ => assert!(said.contains(address), "{said}"),
            }
        }
    }
}

/// Answers the question of `reyn ask` at a terminal, and compares what the screen shows.
#[track_caller]
fn answered(line: &str, code: i32, requests: usize, expected: &Expect) {
    let server = server();
    let place = place(&server).config(CLASS);
    let mut terminal = AtTerminal::start(&place, &["ask", "go", "--session", "s"]);
    terminal.type_after("[y/N] ", line);
    let (ended, screen) = terminal.finish(&place);
    expected.assert_eq(&screen);
    assert_eq!((ended, server.requests().len()), (Some(code), requests));
}

#[test]
fn a_person_who_says_yes_is_believed_for_this_run() {
    answered(
        "y",
        0,
        1,
        &expect![[r#"
        reyn.yaml:6 names a server for `mine/test` that you have not trusted: http://192.0.2.1:9/v1
          the server is http://192.0.2.1:9
          the value of `MY_KEY` would go there; everything said goes there, and what is read from your files
          to keep a yes: `llm.trusted_servers: [http://192.0.2.1:9]` in `~/.reyn/config.yaml`
        Send it there in this run? [y/N] y
        mine/test (`llm.model` in reyn.yaml:2) · session s
        hello there
    "#]],
    );
}

#[test]
fn anything_else_is_a_no() {
    answered(
        "",
        2,
        0,
        &expect![[r#"
        reyn.yaml:6 names a server for `mine/test` that you have not trusted: http://192.0.2.1:9/v1
          the server is http://192.0.2.1:9
          the value of `MY_KEY` would go there; everything said goes there, and what is read from your files
          to keep a yes: `llm.trusted_servers: [http://192.0.2.1:9]` in `~/.reyn/config.yaml`
        Send it there in this run? [y/N] 
        reyn: nothing was sent to http://192.0.2.1:9; if you trust it, put `llm.trusted_servers: [http://192.0.2.1:9]` into `~/.reyn/config.yaml`, or set `REYN_LLM__TRUSTED_SERVERS="[http://192.0.2.1:9]"`; else name another model with `--model`
    "#]],
    );
    for line in ["n", "yep", "ye", "ok", "1"] {
        let server = server();
        let place = place(&server).config(CLASS);
        let mut terminal = AtTerminal::start(&place, &["chat"]);
        terminal.type_after("[y/N] ", line);
        let (code, screen) = terminal.finish(&place);
        assert_eq!(code, Some(2), "{screen}");
        nothing_came(&server, &place, &screen);
    }
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let server = server();
    let place = place(&server).config(CLASS);
    let mut terminal = AtTerminal::start_typed(&place, &["ask", "go"], "y\nyes\n");
    terminal.type_after("[y/N] ", "n");
    let (code, screen) = terminal.finish(&place);
    assert_eq!(code, Some(2), "{screen}");
    nothing_came(&server, &place, &screen);
}
