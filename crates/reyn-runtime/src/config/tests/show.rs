//! What `reyn config show` and `check` print.

use expect_test::expect;

use super::super::{check, render_problems, schema};
use super::Place;

fn place() -> Place {
    Place::with(&[
        (
            "reyn.yaml",
            "llm:\n  model: light\n  models:\n    light:\n      model: openai/x\n      stream: off\n      extra_body: {a: [1, {b: yes}]}\n\
             permissions:\n  file.write: [src, {path: \"日本語 x\", scope: just_path}]\n",
        ),
        ("~/.reyn/config.yaml", "llm:\n  api_base: \"https://${TOKEN_X}@host/v1\"\nmodels.threads: 2\n"),
        ("~/.reyn/secrets.env", "TOKEN_X=hush\n"),
    ])
    .variable("REYN_MODELS__AUTO_PULL", "never")
    .flag("--rounds", "safety.loop.max_router_iterations", 9)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one snapshot")]
fn the_effective_values_are_shown_with_where_they_come_from() {
    let config = place().load();
    let shown = config.show(true);
    assert!(!shown.contains("hush"));
    expect![[r#"
        llm:
          model: light  # reyn.yaml:2
          models:
            light:
              model: openai/x  # reyn.yaml:5
              stream: false  # reyn.yaml:6
              extra_body:
                a:
                  - 1  # reyn.yaml:7
                  -
                    b: "yes"  # reyn.yaml:7
          api_base: "https://${TOKEN_X}@host/v1"  # ~/.reyn/config.yaml:2
          trusted_servers: []  # default
        safety:
          loop:
            max_router_iterations: 9  # --rounds
            max_tool_calls_per_reply: 50  # default
          timeout:
            llm_connect_seconds: 10  # default
            llm_first_byte_seconds: 120  # default
            llm_idle_seconds: 60  # default
            tool_call_seconds: 120  # default
          threat_scan:
            enabled: true  # default
            fail_open: true  # default
            fence_enabled: true  # default
            block_severity: block  # default
            custom_patterns: []  # default
            capability_narrowing: "off"  # default
        permissions:
          file:
            write:
              - src  # reyn.yaml:9
              -
                path: "日本語 x"  # reyn.yaml:9
                scope: just_path  # reyn.yaml:9
          memory: {}  # default
          web: {}  # default
        sandbox:
          backend: auto  # default
          on_unsupported: warn  # default
          mode: compat  # default
          policy: {}  # default
        web: {}  # default
        web_fetch:
          verify_ssl: null  # default
          ca_bundle: null  # default
          max_download_bytes: 10485760  # default
          allow_private_ips: false  # default
          allow_hosts: []  # default
        embedding:
          enabled: auto  # default
          default_class: standard  # default
          classes: {}  # default
          batch_size: 100  # default
          max_concurrent_batches: 1  # default
          max_retries: 3  # default
          retry_backoff: exponential  # default
          timeout: 60  # default
          cost_warn_threshold: 10000  # default
          index:
            actions: true  # default
            repo_knowledge: false  # default
        index:
          backend: sqlite  # default
          url_env: REYN_INDEX_URL  # default
          schema: reyn  # default
        models:
          auto_pull: never  # REYN_MODELS__AUTO_PULL
          threads: 2  # ~/.reyn/config.yaml:3
        audit_events:
          max_bytes: 10485760  # default
          max_age_seconds: 86400  # default
          cleanup_period_days: 30  # default
    "#]]
    .assert_eq(&shown);
}

#[test]
fn what_is_shown_can_be_loaded_again() {
    let config = place().load();
    // Into the person's own file, which alone takes every key.
    let own = "~/.reyn/config.yaml";
    let again = Place::with(&[(own, &config.show(false)), ("~/.reyn/secrets.env", "TOKEN_X=hush\n")]);
    assert_eq!(again.load().settings, config.settings);
    let again = Place::with(&[(own, &config.show(true))]).variable("TOKEN_X", "hush");
    assert_eq!(again.load().settings, config.settings);
}

#[test]
fn a_variable_whose_name_says_that_it_is_a_secret_is_not_shown() {
    let place = Place::with(&[("reyn.yaml", "llm: {api_base: \"http://${MY_API_KEY}/${HOST_X}\"}\n")])
        .variable("MY_API_KEY", "hush")
        .variable("HOST_X", "host");
    assert!(place.load().show(false).contains("api_base: \"http://${MY_API_KEY}/${HOST_X}\"\n"));
}

#[test]
fn a_dollar_sign_is_shown_so_that_it_loads_again() {
    let text = "llm: {api_base: \"http://$${HOST}/$x\"}\n";
    let config = Place::with(&[("reyn.yaml", text)]).load();
    assert_eq!(config.settings.llm.api_base.as_deref(), Some("http://${HOST}/$x"));
    let again = Place::with(&[("~/.reyn/config.yaml", &config.show(false))]).load();
    assert_eq!(again.settings, config.settings);
}

#[test]
fn the_check_reads_the_other_files_when_one_is_broken() {
    let place = Place::with(&[
        ("reyn.yaml", "llm: [\n"),
        ("reyn.local.yaml", "models: {auto_pull: maybe}\nllm.api_base: ${NOT_SET}\n"),
        (".reyn/config.yaml", "llm.api_base: ${FROM_FILE}\n"),
        ("~/.reyn/secrets.env", "FROM_FILE=x\n"),
    ]);
    let report = check(&place.inputs, &[]);
    expect![[r#"
        reyn.yaml:1:6: not valid YAML: unclosed bracket '['
          | llm: [
          |      ^
          hint: check the indentation and the quotes here and on the line before

        reyn.local.yaml:1:21: `models.auto_pull` must be `ask`, `always` or `never`, not `maybe`
          | models: {auto_pull: maybe}
          |                     ^

        reyn.local.yaml:2:15: the variable `NOT_SET` is not set
          | llm.api_base: ${NOT_SET}
          |               ^
          hint: set it in the environment or in `~/.reyn/secrets.env`; `$$` stands for a plain `$`"#]]
    .assert_eq(&render_problems(&report.problems));
}

#[test]
fn the_check_reports_every_layer_and_every_profile() {
    let place = Place::with(&[
        ("reyn.yaml", "models: {auto_pull: sometimes}\nllm: {modle: x}\n"),
        ("reyn.local.yaml", "models: {auto_pull: ask}\n"),
        (".reyn/capability_profiles/a.yaml", "nmae: a\n"),
        (".reyn/capability_profiles/b.yaml", "name: b\ntool_deny: [excc]\n"),
    ]);
    let report = check(&place.inputs, &["exec"]);
    expect![[r#"
        reyn.yaml:1:21: `models.auto_pull` must be `ask`, `always` or `never`, not `sometimes`
          | models: {auto_pull: sometimes}
          |                     ^

        reyn.yaml:2:7: unknown key `modle` in `llm`
          | llm: {modle: x}
          |       ^
          hint: did you mean `model`?

        .reyn/capability_profiles/a.yaml:1:1: the profile lacks `name`
          | nmae: a
          | ^
          hint: add `name: a`, as the file is called"#]]
    .assert_eq(&render_problems(&report.problems));
    expect![[r#"
        .reyn/capability_profiles/b.yaml:2:13: no tool is called `excc`
          | tool_deny: [excc]
          |             ^
          hint: did you mean `exec`?"#]]
    .assert_eq(&render_problems(&report.warnings));
}

#[test]
fn the_schema_is_printed_without_any_configuration() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    assert!(schema["properties"]["llm"].is_object());
}
