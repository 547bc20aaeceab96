//! `reyn doctor`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use reyn_testkit::FakeServer;
use serde_json::{Value, json};

use crate::place::Place;
use crate::running::Finished;
use crate::terminal::AtTerminal;

const KEY: &str = "sk-4f1c0ffee4f1c0ffee4f1c0ffee";

fn server() -> FakeServer {
    let server = FakeServer::answering(|_| unreachable!("a doctor asks no model"));
    server.offer_models(&["test"]);
    server
}

/// What a check says, one `status: message` each.
fn said(done: &Finished, name: &str) -> Vec<String> {
    let value = done.json();
    let checks = value["checks"].as_array().unwrap().clone();
    let of_name = checks.iter().filter(|check| check["name"] == name);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    of_name.map(|check| format!("{}: {}", text(&check["status"]), text(&check["message"]))).collect()
}

#[track_caller]
fn has(done: &Finished, name: &str, what: &str) {
    let said = said(done, name);
    assert!(said.iter().any(|one| one.contains(what)), "`{what}` is not in {said:#?}");
}

#[test]
fn a_place_where_everything_works_is_exit_code_0() {
    let server = server();
    let place = Place::with(&server);
    let done = place.run(["doctor", "--json"]).exits(0);
    assert_eq!(done.json()["status"], json!("ok"));
    has(&done, "config", "ok: right: ~/.reyn/config.yaml, reyn.yaml");
    has(&done, "model", "ok: `fake/test` at http://SERVER/v1 (`llm.model` in ~/.reyn/config.yaml:2)");
    has(&done, "model", "ok: its server answers and lists `test`");
    has(&done, "keys", "info: `fake/test` is asked without a key");
    for name in ["local model", "embeddings", "python", "sandbox", "disk", "terminal", "clock"] {
        assert!(!said(&done, name).is_empty(), "{name}");
    }
    let checks = done.json()["checks"].clone();
    let needs_fix = |check: &&Value| matches!(check["status"].as_str(), Some("warn" | "fail"));
    assert!(checks.as_array().unwrap().iter().filter(needs_fix).all(|check| check["fix"].is_string()));
}

#[test]
fn what_makes_vectors_is_one_line() {
    let server = server();
    let place = Place::with(&server).file("reyn.yaml", "");
    let done = place.run(["doctor", "--json"]).exits(0);
    let fetched = "info: `local/use-multilingual-v3`, in this process; its files (32.9 MB) will be fetched on first use, \
                   `reyn models pull use-multilingual-v3` does so now";
    assert_eq!(said(&done, "embeddings"), [fetched]);
    for (text, exit, expected) in [
        ("embedding.enabled: false\n", 0, "info: off: `embedding.enabled` is `false`"),
        (
            "models.auto_pull: never\n",
            0,
            "info: off: `local/use-multilingual-v3` is not here and `models.auto_pull` is `never`; \
             `reyn models pull use-multilingual-v3` fetches it",
        ),
        (
            "models.auto_pull: never\nembedding.enabled: on\n",
            1,
            "fail: `local/use-multilingual-v3` is not here and `models.auto_pull` is `never`; \
             `reyn models pull use-multilingual-v3` fetches it",
        ),
        (
            "embedding.classes.standard: {model: x/y, api_base: 'http://127.0.0.1:1/v1'}\n",
            0,
            "ok: `x/y` at http://127.0.0.1:1/v1",
        ),
        (
            "embedding.classes.standard: local/qwen2.5-coder-0.5b\n",
            1,
            "fail: `qwen2.5-coder-0.5b` is a chat model and no embedding model; there are `use-multilingual-v3`",
        ),
    ] {
        let done = Place::with(&server).file("reyn.yaml", text).run(["doctor", "--json"]).exits(exit);
        assert_eq!(said(&done, "embeddings"), [expected], "{text}");
    }
    let text = "embedding.classes.standard: {model: x/y, api_base: 'https://llm.example/v1'}\n";
    let done = Place::with(&server).file("reyn.yaml", text).run(["doctor", "--json"]).exits(1);
    has(
        &done,
        "embeddings",
        "fail: `x/y` is at `https://llm.example/v1`, a server that only reyn.yaml:1 names",
    );
}

#[test]
fn it_leaves_nothing_behind() {
    let server = server();
    let place = Place::with(&server);
    let before = place.everything_written();
    let _ = place.run(["doctor"]).exits(0);
    assert_eq!((place.everything_written(), place.root.join(".reyn").exists()), (before, false));
}

#[test]
fn a_configuration_that_is_wrong_is_told_whole_and_the_rest_is_looked_at() {
    let place = Place::new()
        .config("lmm: {}\nsafety: {loop: 3}\n")
        .file(".reyn/capability_profiles/a.yaml", "name: b\n");
    let done = place.run(["doctor", "--json"]).exits(1);
    has(&done, "config", "fail: reyn.yaml:1:1: unknown key `lmm`");
    has(&done, "config", "fail: reyn.yaml:2:");
    has(&done, "config", "fail: .reyn/capability_profiles/a.yaml:1:");
    has(&done, "model", "warn: not looked at: the configuration is wrong");
    has(&done, "disk", "free at /work/.reyn");
    has(&done, "clock", "ok: ");
}

#[test]
fn kept_answers_that_cannot_be_read_are_a_failure() {
    let server = server();
    let place = Place::with(&server).file(".reyn/approvals.yaml", "chat_router/file.write/a: maybe\n");
    let done = place.run(["doctor", "--json"]).exits(1);
    has(&done, "config", "fail: `/work/.reyn/approvals.yaml` is not a list of");
}

#[test]
fn without_any_model_it_says_what_to_do_first() {
    // With a local model that can be fetched, something can still answer.
    let done = Place::new().run(["doctor"]).exits(i32::from(!cfg!(feature = "local")));
    if cfg!(feature = "local") {
        assert!(done.stdout.contains("reyn models pull"), "{}", done.stdout);
    } else {
        assert!(done.stdout.contains("✗ model        none answers"), "{}", done.stdout);
        assert!(done.stdout.contains("-> set a provider's key"), "{}", done.stdout);
    }
}

#[test]
fn a_key_is_named_used_and_never_shown() {
    let server = server();
    server.require_key(KEY);
    for place in [
        Place::with_options(&server, "api_key_env: MY_KEY").env("MY_KEY", KEY),
        Place::with_options(&server, "api_key_env: MY_KEY"),
    ] {
        std::fs::write(place.home.join(".reyn/secrets.env"), format!("MY_KEY={KEY}\n")).unwrap();
        let done = place.run(["doctor", "--json"]).exits(0);
        has(&done, "keys", "`MY_KEY` in ");
        has(&done, "keys", "ok: `fake/test` is asked with `MY_KEY`");
        has(&done, "model", "ok: its server answers and lists `test`");
        assert!(!(done.stdout + &done.stderr).contains(KEY));
    }
}

#[test]
fn a_key_that_is_refused_or_missing_is_a_failure() {
    let server = server();
    server.require_key(KEY);
    let wrong = Place::with_options(&server, "api_key_env: MY_KEY").env("MY_KEY", "other");
    has(&wrong.run(["doctor", "--json"]).exits(1), "model", "fail: its server refuses the key (401)");
    let without = Place::with(&server);
    has(&without.run(["doctor", "--json"]).exits(1), "model", "fail: its server wants a key (401)");
    let unset = Place::with_options(&server, "api_key_env: MY_KEY");
    has(&unset.run(["doctor", "--json"]).exits(1), "keys", "fail: `fake/test` needs a key: set `MY_KEY`");
}

#[test]
fn a_key_goes_to_its_own_server_alone() {
    let server = server();
    server.require_key(KEY);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        let mut heard = vec![];
        while !heard.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            heard.extend(byte);
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n{\"data\":[{\"id\":\"a\"}]}")
            .unwrap();
        String::from_utf8(heard).unwrap()
    });
    let providers = format!(
        "[[provider]]\nname = \"other\"\napi_base = \"http://{address}/v1\"\nkey_env = [\"MY_KEY\"]\nlocal = true\n"
    );
    let place = Place::with_options(&server, "api_key_env: MY_KEY").env("MY_KEY", KEY).providers(&providers);
    let done = place.run(["doctor", "--json"]).exits(0);
    has(&done, "model", "info: on this machine: other at ");
    let heard = heard.join().unwrap().to_lowercase();
    assert!(heard.starts_with("get /v1/models") && !heard.contains("authorization"), "{heard}");
}

#[test]
fn a_model_that_its_server_does_not_list_is_a_warning_with_near_names() {
    let server = server();
    server.offer_models(&["test-large"]);
    let done = Place::with(&server).run(["doctor", "--json"]).exits(0);
    has(&done, "model", "warn: its server answers, but does not list `test`");
    assert!(done.stdout.contains("did you mean `test-large`?"), "{}", done.stdout);
}

#[test]
fn a_server_that_is_not_there_or_says_nothing_is_a_failure_in_bounded_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    for (api_base, says) in [
        ("http://127.0.0.1:1/v1".to_owned(), "no answer from its server: it cannot be reached"),
        (format!("http://{address}/v1"), "no answer from its server: it did not answer in 3 s"),
    ] {
        let config = format!("llm: {{model: x, models: {{x: {{model: a/b, api_base: '{api_base}'}}}}}}\n");
        let done = Place::new().config(&config).run(["doctor", "--json"]).exits(1);
        has(&done, "model", says);
    }
}

#[test]
fn servers_on_this_machine_are_found_and_ollamas_window_is_explained() {
    let server = server();
    let providers =
        format!("[[provider]]\nname = \"ollama\"\napi_base = \"{}\"\nlocal = true\n", server.api_base());
    let done = Place::new().providers(&providers).run(["doctor", "--json"]).exits(0);
    has(&done, "model", "ok: `ollama/test` at http://SERVER/v1");
    has(&done, "model", "info: Ollama cuts what is longer than its context window and says nothing");
    has(&done, "model", "info: on this machine: ollama at http://SERVER/v1 with `test`");
}

#[test]
fn secrets_that_others_could_read_are_a_warning() {
    let server = server();
    let place = Place::with(&server);
    let path = place.home.join(".reyn/secrets.env");
    std::fs::write(&path, "A=b\n").unwrap();
    for (mode, says) in [
        (0o644, "warn: ~/.reyn/secrets.env could be read by others (mode 644)"),
        (0o600, "ok: ~/.reyn/secrets.env is yours alone"),
    ] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        has(&place.run(["doctor", "--json"]).exits(0), "keys", says);
    }
}

#[test]
fn a_clock_behind_the_audit_trail_is_a_warning() {
    let server = server();
    let line = json!({"type": "turn_started", "timestamp": "2098-01-02T03:04:05Z", "data": {}});
    let place = Place::with(&server)
        .file(".reyn/events/agents/default/chat/2098-01/2098-01-02T030405.jsonl", &format!("{line}\n"));
    let done = place.run(["doctor", "--json"]).exits(0);
    has(&done, "clock", "and the last entry of the audit trail is later by ");
    has(&done, "disk", "info: kept: audit trail ");
}

#[test]
fn it_works_where_no_project_can_be() {
    let place = Place::new().file(".reyn", "no folder");
    let done = place.run(["doctor", "--json"]).exits(1);
    has(&done, "config", "fail: .reyn: `.reyn` is not a folder");
    has(&done, "terminal", "info: ");
}

#[test]
fn at_a_terminal_it_is_coloured_and_says_how_a_chat_is_typed() {
    let server = server();
    let place = Place::with(&server).env("TERM", "xterm-256color").env("LANG", "ja_JP.UTF-8");
    let (code, screen) = AtTerminal::start(&place, &["doctor"]).finish(&place);
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("\x1b[32m✓\x1b[0m config"), "{screen}");
    for says in
        ["xterm-256color", "`reyn chat` can edit lines in place", "UTF-8 (LANG=ja_JP.UTF-8)", "count as one"]
    {
        assert!(screen.contains(says), "{says}:\n{screen}");
    }
    let place = Place::with(&server).env("TERM", "dumb");
    let (_, screen) = AtTerminal::start(&place, &["doctor"]).finish(&place);
    assert!(screen.contains("since TERM is `dumb`") && !screen.contains('\x1b'), "{screen}");
}
