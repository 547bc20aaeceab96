//! Capability profiles on disk.

use std::fs;
use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};

use super::super::{ProfileError, Profiles, render_problems};
use super::Place;

const TOOLS: [&str; 3] = ["read_file", "write_file", "exec"];

fn profiles(files: &[(&str, &str)]) -> (Place, Profiles) {
    let files: Vec<(String, &str)> =
        files.iter().map(|(name, text)| (format!(".reyn/capability_profiles/{name}"), *text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let place = Place::with(&files);
    let profiles = place.load().profiles();
    (place, profiles)
}

#[expect(clippy::needless_pass_by_value, reason = "as `expect!` is written")]
fn check_error(text: &str, expected: Expect) {
    let (_place, profiles) = profiles(&[("reader.yaml", text)]);
    expected.assert_eq(&profiles.load("reader", &TOOLS).unwrap_err().to_string());
}

#[test]
fn a_profile_is_read_with_lists_single_names_and_null() {
    let text = "name: reader\ndescription: ~\ntool_allow: [read_file, exec]\ntool_deny: exec\nmcp_allow: []\n\
                categories: [file, future]\n";
    let (_place, profiles) = profiles(&[("reader.yaml", text)]);
    let loaded = profiles.load("reader", &TOOLS).unwrap();
    assert_eq!(loaded.warnings, vec![]);
    let profile = loaded.profile;
    assert_eq!(profile.tool_allow, Some(vec!["read_file".into(), "exec".into()]));
    assert_eq!(profile.tool_deny, Some(vec!["exec".into()]));
    assert_eq!((profile.mcp_allow, profile.mcp_deny), (Some(vec![]), None));
    assert_eq!(profile.categories, Some(vec!["file".into(), "future".into()]));
}

#[test]
fn a_name_that_is_missing_or_differs_is_malformed() {
    check_error(
        "tool_deny: [exec]\n",
        expect![[r#"
        .reyn/capability_profiles/reader.yaml:1:1: the profile lacks `name`
          | tool_deny: [exec]
          | ^
          hint: add `name: reader`, as the file is called"#]],
    );
    check_error(
        "name: writer\n",
        expect![[r#"
        .reyn/capability_profiles/reader.yaml:1:7: `name` differs from the file's name
          | name: writer
          |       ^
          hint: write `name: reader`, or rename the file"#]],
    );
    check_error(
        "",
        expect![[r#"
            .reyn/capability_profiles/reader.yaml:1:1: the profile lacks `name`
              hint: add `name: reader`, as the file is called"#]],
    );
}

#[test]
fn a_renamed_tool_is_an_error_that_names_the_new_one() {
    check_error(
        "name: reader\ntool_deny:\n  - agent_spawn\n  - session_spawn\n  - topology_create\n",
        expect![[r#"
            .reyn/capability_profiles/reader.yaml:3:5: the tool `agent_spawn` is called `spawn_agent`
              |   - agent_spawn
              |     ^
              hint: write `spawn_agent`; the old name would narrow nothing

            .reyn/capability_profiles/reader.yaml:4:5: the tool `session_spawn` is called `spawn_session`
              |   - session_spawn
              |     ^
              hint: write `spawn_session`; the old name would narrow nothing

            .reyn/capability_profiles/reader.yaml:5:5: the tool `topology_create` is called `create_topology`
              |   - topology_create
              |     ^
              hint: write `create_topology`; the old name would narrow nothing"#]],
    );
}

#[test]
fn wrong_shapes_are_errors() {
    check_error(
        "name: reader\ntool_deny: {exec: true}\ndescription: [a]\n",
        expect![[r#"
        .reyn/capability_profiles/reader.yaml:3:14: `description` must be text
          | description: [a]
          |              ^

        .reyn/capability_profiles/reader.yaml:2:12: `tool_deny` must be a name or a list of names
          | tool_deny: {exec: true}
          |            ^"#]],
    );
    check_error(
        "- a\n",
        expect![[r#"
        .reyn/capability_profiles/reader.yaml:1:1: the file must hold a map of keys
          | - a
          | ^
          hint: write `key: value`, one on each line"#]],
    );
}

#[test]
fn unknown_keys_and_tools_are_warnings_with_their_place() {
    let (_place, profiles) =
        profiles(&[("reader.yaml", "name: reader\ntool_denny: [exec]\ntool_deny: [exce, read_file]\n")]);
    let loaded = profiles.load("reader", &TOOLS).unwrap();
    expect![[r#"
        .reyn/capability_profiles/reader.yaml:2:1: unknown key `tool_denny` is not used
          | tool_denny: [exec]
          | ^
          hint: did you mean `tool_deny`?

        .reyn/capability_profiles/reader.yaml:3:13: no tool is called `exce`
          | tool_deny: [exce, read_file]
          |             ^
          hint: did you mean `exec`?"#]]
    .assert_eq(&render_problems(&loaded.warnings));
}

#[test]
fn a_profile_that_does_not_exist_is_told_from_one_that_is_malformed() {
    let (_place, profiles) = profiles(&[]);
    let error = profiles.load("reader", &TOOLS).unwrap_err();
    assert!(matches!(error, ProfileError::Missing { .. }));
    expect![
        "the capability profile `reader` does not exist: there is no `.reyn/capability_profiles/reader.yaml`"
    ]
    .assert_eq(&error.to_string());
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let (place, profiles) = profiles(&[("reader.yaml", "name: reader\n")]);
    for name in ["../x", "a/b", "", ".", "..", "a.b", "/etc/passwd", "a\0b"] {
        let error = profiles.load(name, &TOOLS).unwrap_err();
        assert!(matches!(error, ProfileError::Malformed(_)), "{name:?}");
    }
    fs::write(place.path("outside.yaml"), "name: outside\n").unwrap();
    symlink(place.path("outside.yaml"), place.path(".reyn/capability_profiles/outside.yaml")).unwrap();
    expect![[r#"
        .reyn/capability_profiles/outside.yaml: it leads out of the folder of profiles
          hint: put the file itself there instead of a link"#]]
    .assert_eq(&profiles.load("outside", &TOOLS).unwrap_err().to_string());
    symlink("reader.yaml", place.path(".reyn/capability_profiles/alias.yaml")).unwrap();
    expect![[r#"
        .reyn/capability_profiles/alias.yaml:1:7: `name` differs from the file's name
          | name: reader
          |       ^
          hint: write `name: alias`, or rename the file"#]]
    .assert_eq(&profiles.load("alias", &TOOLS).unwrap_err().to_string());
}

#[test]
fn a_folder_of_profiles_that_is_a_link_is_refused() {
    let place = Place::with(&[(".reyn/x", ""), ("~/evil/reader.yaml", "name: reader\n")]);
    symlink(place.path("~/evil"), place.path(".reyn/capability_profiles")).unwrap();
    let profiles = place.load().profiles();
    assert!(matches!(profiles.load("reader", &TOOLS), Err(ProfileError::Malformed(_))));
}

#[test]
fn all_profiles_are_loaded_in_order_of_their_names() {
    let (_place, profiles) = profiles(&[
        ("b.yaml", "name: b\n"),
        ("a.yaml", "name: a\n"),
        ("c.yaml", "name: other\n"),
        ("notes.txt", ""),
    ]);
    let loaded = profiles.load_all(&TOOLS).unwrap();
    let found: Vec<(&str, bool)> =
        loaded.iter().map(|(name, loaded)| (name.as_str(), loaded.is_ok())).collect();
    assert_eq!(found, [("a", true), ("b", true), ("c", false)]);
}
