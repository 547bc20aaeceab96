//! Who names a model's server, and which servers are trusted.

use std::fs;

use expect_test::expect;

use super::{Override, Place, problems_of};

const OWN: &str = "~/.reyn/config.yaml";

/// Whether the address is the person's, and where it stands.
fn named(place: &Place, address: &str) -> (bool, Option<String>) {
    let written = place.load().written_address(address);
    (written.is_persons, written.origin)
}

fn place(files: &[(&str, &str)]) -> Place {
    Place::with(files)
}

#[test]
fn an_address_is_the_projects_unless_a_layer_of_the_person_gives_the_same() {
    let class = "llm: {models: {a: {model: x/y, api_base: 'https://a/v1'}}}\n";
    let base = "llm.api_base: https://a/v1\n";
    let other = "llm.api_base: https://b/v1\n";
    let vectors = "embedding: {classes: {a: {model: x/y, api_base: 'https://a/v1'}}}\n";
    for (place, expected) in [
        (place(&[("reyn.yaml", class)]), (false, Some("reyn.yaml:1"))),
        (place(&[("reyn.yaml", vectors)]), (false, Some("reyn.yaml:1"))),
        (place(&[(OWN, vectors)]), (true, Some("~/.reyn/config.yaml:1"))),
        (place(&[("reyn.local.yaml", base)]), (false, Some("reyn.local.yaml:1"))),
        (place(&[(".reyn/config.yaml", base)]), (false, Some(".reyn/config.yaml:1"))),
        (place(&[("reyn.yaml", base), (OWN, other)]), (false, Some("reyn.yaml:1"))),
        (place(&[(OWN, base)]), (true, Some("~/.reyn/config.yaml:1"))),
        (place(&[(OWN, class)]), (true, Some("~/.reyn/config.yaml:1"))),
        (place(&[("reyn.yaml", class), (OWN, base)]), (true, Some("reyn.yaml:1"))),
        (place(&[("reyn.yaml", base), (OWN, class)]), (true, Some("~/.reyn/config.yaml:1"))),
        (
            place(&[("reyn.yaml", class)]).variable("REYN_LLM__API_BASE", "https://a/v1"),
            (true, Some("reyn.yaml:1")),
        ),
        (place(&[]).flag("--base", "llm.api_base", "https://a/v1"), (true, Some("--base"))),
        (place(&[("reyn.yaml", other)]), (false, None)),
    ] {
        let (is_persons, origin) = expected;
        assert_eq!(named(&place, "https://a/v1"), (is_persons, origin.map(str::to_owned)));
    }
}

#[test]
fn in_the_home_folder_the_persons_own_file_is_theirs_and_other_files_are_the_projects() {
    let mut place =
        Place::with(&[(OWN, "llm: {api_base: 'https://a/v1', trusted_servers: ['https://b']}\n")]);
    place.inputs.working_dir = place.inputs.home.clone().unwrap();
    assert_eq!(named(&place, "https://a/v1"), (true, Some(".reyn/config.yaml:1".to_owned())));
    assert_eq!(place.load().settings.llm.trusted_servers, ["https://b"]);
    let file = place.path("~/reyn.yaml");
    fs::write(&file, "llm: {models: {a: {model: x/y, api_base: 'https://c/v1'}}}\n").unwrap();
    assert_eq!(named(&place, "https://c/v1"), (false, Some("reyn.yaml:1".to_owned())));
    fs::write(&file, "llm: {trusted_servers: ['https://c']}\n").unwrap();
    assert!(place.problems().starts_with("reyn.yaml:1:24: `llm.trusted_servers` cannot stand"));
}

#[test]
fn the_values_of_variables_in_an_address_are_known_and_who_sets_them_is_not_asked() {
    let text = "llm:\n  api_base: https://${HOST_X}/${MY_TOKEN}/$${x}/${FILED}\n  models: {a: {model: x/y, \
                extra_body: {t: '${MY_TOKEN}', u: '${OTHER_KEY}'}}}\n";
    let place = Place::with(&[("reyn.yaml", text), ("~/.reyn/secrets.env", "FILED=filed\n")])
        .variable("HOST_X", "host")
        .variable("MY_TOKEN", "token")
        .variable("OTHER_KEY", "other");
    let config = place.load();
    let address = config.settings.llm.api_base.clone().unwrap();
    assert_eq!(address, "https://host/token/${x}/filed");
    let written = config.written_address(&address);
    assert_eq!(written.template.as_deref(), Some("https://${HOST_X}/${MY_TOKEN}/$${x}/${FILED}"));
    assert_eq!((written.is_persons, written.secrets), (false, vec!["token".to_owned(), "filed".to_owned()]));
    assert_eq!(config.variables_of(&address), ["FILED", "HOST_X", "MY_TOKEN"]);
    assert_eq!(config.variables_of("other"), ["OTHER_KEY"]);
    assert_eq!(config.variables_of("x/y"), [""; 0]);
}

#[test]
fn which_servers_are_trusted_is_the_persons_to_say() {
    let own = "llm.trusted_servers: [https://llm.example, 'http://[::1]:8080/']\n";
    let from_file = Place::with(&[(OWN, own)]);
    assert_eq!(from_file.load().settings.llm.trusted_servers, ["https://llm.example", "http://[::1]:8080/"]);
    let name = "REYN_LLM__TRUSTED_SERVERS";
    let from_variable = Place::with(&[(OWN, own)]).variable(name, "[https://other.example]");
    assert_eq!(from_variable.load().settings.llm.trusted_servers, ["https://other.example"]);
    let mut from_flag = Place::with(&[]);
    let (flag, key) = ("--trust".to_owned(), "llm.trusted_servers".to_owned());
    from_flag.inputs.overrides.push(Override { flag, key, value: serde_json::json!(["https://a"]) });
    assert_eq!(from_flag.load().settings.llm.trusted_servers, ["https://a"]);
}

#[test]
fn a_project_that_trusts_a_server_is_told_where_that_belongs() {
    expect![[r#"
        reyn.yaml:2:20: `llm.trusted_servers` cannot stand in a file of a project
          |   trusted_servers: [https://llm.example]
          |                    ^
          hint: which servers are trusted is yours to say: put it into `~/.reyn/config.yaml`, or into `REYN_LLM__TRUSTED_SERVERS`
    "#]]
    .assert_eq(&problems_of("llm:\n  trusted_servers: [https://llm.example]\n"));
    for (file, text) in [
        ("reyn.local.yaml", "llm.trusted_servers: []\n"),
        (".reyn/config.yaml", "llm: {trusted_servers: }\n"),
    ] {
        let said = Place::with(&[(file, text)]).problems();
        assert!(said.contains("`llm.trusted_servers` cannot stand in a file of a project"), "{said}");
    }
}

#[test]
fn an_entry_that_is_no_server_is_a_problem_at_its_place() {
    let text = "llm:\n  trusted_servers:\n    - https://llm.example/v1\n    - llm.example\n    - 'https://me@${MY_TOKEN}'\n";
    let place = Place::with(&[(OWN, text)]).variable("MY_TOKEN", "hunter2");
    expect![[r#"
        ~/.reyn/config.yaml:3:7: `llm.trusted_servers` has `https://llm.example/v1`, which is no server: it must end after the host and port, as `https://llm.example` does
          |     - https://llm.example/v1
          |       ^
          hint: write scheme, host and port, as in `https://llm.example`

        ~/.reyn/config.yaml:4:7: `llm.trusted_servers` has `llm.example`, which is no server: relative URL without a base; it must look like `http://127.0.0.1:8080/v1`
          |     - llm.example
          |       ^
          hint: write scheme, host and port, as in `https://llm.example`

        ~/.reyn/config.yaml:5:7: `llm.trusted_servers` has `https://me@${MY_TOKEN}`, which is no server: it must end after the host and port
          |     - 'https://me@${MY_TOKEN}'
          |       ^
          hint: write scheme, host and port, as in `https://llm.example`
    "#]]
    .assert_eq(&place.problems());
}
