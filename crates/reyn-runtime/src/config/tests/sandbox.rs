//! `sandbox` and `permissions.exec` from files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use expect_test::{Expect, expect};
use reyn_core::permission::{ExecPolicy, ExecRule};
use reyn_core::settings::{BackendSetting, OnUnsupported};

use super::super::SandboxConfig;
use super::{Place, loaded, problems_of};

#[expect(clippy::needless_pass_by_value, reason = "as `expect!` is written")]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&problems_of(text));
}

fn default_config() -> SandboxConfig {
    SandboxConfig {
        backend: BackendSetting::Auto,
        on_unsupported: OnUnsupported::Warn,
        network: true,
        subprocess: true,
        is_workspace_writable: true,
        allow_read_paths: vec![],
        allow_write_paths: vec![],
        deny_read_paths: vec![],
        deny_write_paths: vec![],
        deny_env_names: vec![],
        allow_env_names: None,
        timeout_seconds: 120,
        max_timeout_seconds: 600,
        max_output_bytes: 10 << 20,
        memory_bytes: 4 << 30,
        processes: 512,
        open_files: 4096,
        file_bytes: 4 << 30,
    }
}

#[test]
fn an_empty_project_has_the_defaults() {
    let config = loaded("");
    assert_eq!(config.sandbox, default_config());
    assert_eq!(config.exec_policy, ExecPolicy::default());
}

#[test]
fn the_layers_are_one_and_a_written_key_beats_the_mode() {
    let place = Place::with(&[
        ("~/.reyn/config.yaml", "sandbox: {mode: strict, backend: landlock, policy.subprocess: yes}\n"),
        ("reyn.yaml", "sandbox.policy: {allow_env_names: [LANG, TERM], deny_env_names: [TERM]}\n"),
    ])
    .variable("REYN_SANDBOX__ON_UNSUPPORTED", "error")
    .variable("REYN_SANDBOX__POLICY__TIMEOUT_SECONDS", "30");
    let expected = SandboxConfig {
        backend: BackendSetting::Landlock,
        on_unsupported: OnUnsupported::Error,
        network: false,
        allow_env_names: Some(vec!["LANG".to_owned(), "TERM".to_owned()]),
        deny_env_names: vec!["TERM".to_owned()],
        timeout_seconds: 30,
        ..default_config()
    };
    assert_eq!(place.load().sandbox, expected);
}

#[test]
fn paths_are_absolute_real_and_what_patterns_stand_for() {
    let place = Place::with(&[
        (
            "reyn.yaml",
            "sandbox.policy:\n  allow_read_paths: [~/data, /usr/../etc, \"{{workspace}}/in\", \"[x].txt\"]\n\
             \x20 allow_write_paths: [\"../out\", \"{{workspace}}\"]\n\
             \x20 deny_read_paths: [\"**/*.pem\", \"~/keys/*\"]\n\
             \x20 deny_write_paths: [escape, \"{{workspace}}/l*\", missing]\n",
        ),
        ("a/b/one.pem", ""),
        (".hidden/two.pem", ""),
        ("[x].txt", ""),
        ("locked", ""),
        ("~/keys/.env", ""),
    ]);
    symlink("/usr", place.path("escape")).unwrap();
    symlink("escape", place.path("link")).unwrap();
    let config = place.load();
    let root = config.root.clone();
    let home = config.home.clone().unwrap();
    let real = |path: &str| fs::canonicalize(path).unwrap();
    let sorted = |mut paths: Vec<PathBuf>| {
        paths.sort();
        paths
    };
    let expected = SandboxConfig {
        allow_read_paths: sorted(vec![
            home.join("data"),
            real("/etc"),
            root.join("in"),
            root.join("[x].txt"),
        ]),
        allow_write_paths: sorted(vec![root.parent().unwrap().join("out"), root.clone()]),
        deny_read_paths: sorted(vec![
            root.join("a/b/one.pem"),
            root.join(".hidden/two.pem"),
            home.join("keys/.env"),
        ]),
        deny_write_paths: sorted(vec![
            root.join("escape"),
            root.join("link"),
            real("/usr"),
            root.join("locked"),
            root.join("missing"),
        ]),
        ..default_config()
    };
    assert_eq!(config.sandbox, expected);
    assert_eq!(config.notices, Vec::<String>::new());
}

#[test]
fn a_pattern_that_matches_nothing_is_told_and_no_error() {
    let config =
        loaded("sandbox:\n  policy:\n    deny_read_paths: [\"*.pem\"]\n    allow_read_paths: [absent]\n");
    assert_eq!(config.sandbox.deny_read_paths, Vec::<PathBuf>::new());
    assert_eq!(config.notices, ["reyn.yaml:3: `sandbox.policy.deny_read_paths`: nothing matches `*.pem`"]);
}

#[test]
fn what_contradicts_itself_is_an_error_at_its_line() {
    check(
        "sandbox.policy:\n  deny_read_paths: [keys, .]\n",
        expect![[r#"
            reyn.yaml:2:27: `sandbox.policy.deny_read_paths`: this shuts the workspace, which programs write
              |   deny_read_paths: [keys, .]
              |                           ^
              hint: deny what lies in it, or write elsewhere
        "#]],
    );
    check(
        "sandbox.policy:\n  allow_write_paths: [/usr/local/a]\n  deny_write_paths: [/usr/local]\n",
        expect![[r#"
            reyn.yaml:2:23: `sandbox.policy.allow_write_paths`: `sandbox.policy.deny_write_paths` shuts it: `/usr/local`
              |   allow_write_paths: [/usr/local/a]
              |                       ^
              hint: take it out of one of the two
        "#]],
    );
    let config = loaded("sandbox.policy: {deny_read_paths: [.], allow_write_paths: []}\n");
    assert_eq!(config.sandbox.deny_read_paths.len(), 1);
}

#[test]
fn what_cannot_be_kept_is_an_error_at_its_line() {
    check(
        "sandbox.policy.network: [a.example]\n",
        expect![[r#"
        reyn.yaml:1:25: `sandbox.policy.network`: a list of domains is not enforced yet and is therefore refused; write `true` for the whole network or `false` for none
          | sandbox.policy.network: [a.example]
          |                         ^
    "#]],
    );
    check(
        "sandbox.policy.timeout_seconds: 900\n",
        expect![[r#"
        reyn.yaml:1:33: `sandbox.policy.timeout_seconds` is 900, longer than `sandbox.policy.max_timeout_seconds`, which is 600
          | sandbox.policy.timeout_seconds: 900
          |                                 ^
          hint: lower the first or raise the second
    "#]],
    );
    check(
        "sandbox.policy:\n  max_timeout_seconds: 60\n",
        expect![[r#"
        reyn.yaml:2:24: `sandbox.policy.timeout_seconds` is 120, longer than `sandbox.policy.max_timeout_seconds`, which is 60
          |   max_timeout_seconds: 60
          |                        ^
          hint: lower the first or raise the second
    "#]],
    );
    check(
        "sandbox.policy: {memory_bytes: 10, processes: 0, max_output_bytes: 0, open_files: 1, file_bytes: 0}\n",
        expect![[r#"
            reyn.yaml:1:32: `sandbox.policy.memory_bytes` must be from 16777216 to 1125899906842624, not `10`
              | sandbox.policy: {memory_bytes: 10, processes: 0, max_output_bytes: 0, open_files: 1, file_bytes: 0}
              |                                ^
              hint: programs need some to start at all

            reyn.yaml:1:47: `sandbox.policy.processes` must be from 1 to 1000000, not `0`
              | sandbox.policy: {memory_bytes: 10, processes: 0, max_output_bytes: 0, open_files: 1, file_bytes: 0}
              |                                               ^
              hint: `subprocess: false` is for no further process

            reyn.yaml:1:68: `sandbox.policy.max_output_bytes` must be from 1024 to 1073741824, not `0`
              | sandbox.policy: {memory_bytes: 10, processes: 0, max_output_bytes: 0, open_files: 1, file_bytes: 0}
              |                                                                    ^
              hint: it is kept in memory

            reyn.yaml:1:83: `sandbox.policy.open_files` must be from 16 to 1048576, not `1`
              | sandbox.policy: {memory_bytes: 10, processes: 0, max_output_bytes: 0, open_files: 1, file_bytes: 0}
              |                                                                                   ^
              hint: programs need some to start at all

            reyn.yaml:1:98: `sandbox.policy.file_bytes` must be from 1 to 1125899906842624, not `0`
              | sandbox.policy: {memory_bytes: 10, processes: 0, max_output_bytes: 0, open_files: 1, file_bytes: 0}
              |                                                                                                  ^
              hint: `allow_write_paths: []` is for no writing
        "#]],
    );
}

#[test]
fn a_path_a_name_or_a_word_that_is_none_is_an_error_at_its_line() {
    check(
        "sandbox.policy.allow_read_paths: [\"x/{{workspace}}\", \"{{workspace}}x\", \"\", \"[a\"]\n",
        expect![[r#"
            reyn.yaml:1:35: `sandbox.policy.allow_read_paths`: `{{workspace}}` stands only at the beginning of a path
              | sandbox.policy.allow_read_paths: ["x/{{workspace}}", "{{workspace}}x", "", "[a"]
              |                                   ^

            reyn.yaml:1:54: `sandbox.policy.allow_read_paths`: `{{workspace}}` is a folder; a `/` follows it, as in `{{workspace}}/out`
              | sandbox.policy.allow_read_paths: ["x/{{workspace}}", "{{workspace}}x", "", "[a"]
              |                                                      ^

            reyn.yaml:1:72: `sandbox.policy.allow_read_paths`: the path is empty
              | sandbox.policy.allow_read_paths: ["x/{{workspace}}", "{{workspace}}x", "", "[a"]
              |                                                                        ^

            reyn.yaml:1:76: `sandbox.policy.allow_read_paths`: `[a`: the pattern is malformed: unclosed character class; missing ']'
              | sandbox.policy.allow_read_paths: ["x/{{workspace}}", "{{workspace}}x", "", "[a"]
              |                                                                            ^
        "#]],
    );
    check(
        "sandbox.policy.allow_env_names: [\"A=b\"]\n",
        expect![[r#"
        reyn.yaml:1:34: `sandbox.policy.allow_env_names`: this cannot name an environment variable
          | sandbox.policy.allow_env_names: ["A=b"]
          |                                  ^
          hint: write the name alone, as in `LANG`
    "#]],
    );
    check(
        "sandbox: {backend: landlok, mode: strict}\n",
        expect![[r#"
        reyn.yaml:1:20: `sandbox.backend` must be `auto`, `landlock`, `seatbelt` or `noop`, not `landlok`
          | sandbox: {backend: landlok, mode: strict}
          |                    ^
          hint: did you mean `landlock`?
    "#]],
    );
}

#[test]
fn a_key_from_elsewhere_names_the_one_here() {
    check(
        "sandbox.policy: {write_paths: [a], deny_subprocess: true, read_deny_paths: []}\n",
        expect![[r#"
        reyn.yaml:1:18: unknown key `write_paths` in `sandbox.policy`
          | sandbox.policy: {write_paths: [a], deny_subprocess: true, read_deny_paths: []}
          |                  ^
          hint: it is `allow_write_paths`

        reyn.yaml:1:36: unknown key `deny_subprocess` in `sandbox.policy`
          | sandbox.policy: {write_paths: [a], deny_subprocess: true, read_deny_paths: []}
          |                                    ^
          hint: it is `subprocess`, the other way round: `subprocess: false`

        reyn.yaml:1:59: unknown key `read_deny_paths` in `sandbox.policy`
          | sandbox.policy: {write_paths: [a], deny_subprocess: true, read_deny_paths: []}
          |                                                           ^
          hint: it is `deny_read_paths`
    "#]],
    );
    check(
        "sandbox.policy.allow_write_path: [a]\n",
        expect![[r#"
        reyn.yaml:1:16: unknown key `allow_write_path` in `sandbox.policy`
          | sandbox.policy.allow_write_path: [a]
          |                ^
          hint: did you mean `allow_write_paths`?
    "#]],
    );
    check(
        "sandbox.network: false\n",
        expect![[r#"
        reyn.yaml:1:9: unknown key `network` in `sandbox`
          | sandbox.network: false
          |         ^
          hint: it is `sandbox.policy.network`
    "#]],
    );
}

#[test]
fn a_rule_about_commands_is_a_decision_or_a_list_nested_or_dotted() {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let table = [
        ("permissions: {exec: allow}\n", ExecRule::Allow),
        ("permissions.exec: deny\n", ExecRule::Deny),
        ("permissions.exec: ask\n", ExecRule::Ask),
        ("permissions.exec: []\n", ExecRule::Only(vec![])),
        (
            "permissions:\n  exec: [cargo test, \"git 'log' -1\"]\n",
            ExecRule::Only(vec![words("cargo test"), words("git log -1")]),
        ),
    ];
    for (text, rule) in table {
        let expected = ExecPolicy { rule: Some(rule), granted: vec![] };
        assert_eq!(loaded(text).exec_policy, expected, "{text}");
    }
}

#[test]
fn a_command_that_is_none_is_an_error_at_its_line() {
    check(
        "permissions:\n  exec:\n    - cargo test\n    - \"git 'log\"\n    - \"\"\n",
        expect![[r#"
        reyn.yaml:4:7: `permissions.exec`: a quote in `git 'log` does not end
          |     - "git 'log"
          |       ^

        reyn.yaml:5:7: `permissions.exec`: the command is empty; write it as in `cargo test`
          |     - ""
          |       ^
    "#]],
    );
    check(
        "permissions.exec: cargo test\n",
        expect![[r#"
        reyn.yaml:1:19: `permissions.exec` must be `allow`, `ask`, `deny` or a list of commands, not `cargo test`
          | permissions.exec: cargo test
          |                   ^
          hint: write a command as a list: `["cargo test"]`
    "#]],
    );
    check(
        "permissions.exec: alow\n",
        expect![[r#"
        reyn.yaml:1:19: `permissions.exec` must be `allow`, `ask`, `deny` or a list of commands, not `alow`
          | permissions.exec: alow
          |                   ^
          hint: did you mean `allow`?
    "#]],
    );
}
