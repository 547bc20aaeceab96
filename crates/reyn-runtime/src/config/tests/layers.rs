//! Which layer a value comes from.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;
use reyn_core::settings::{Decision, PermissionValue, Settings};

use super::super::merge::{merge, nest, takes_any_key};
use super::super::node::{Node, NodeValue, Source, SourceKind};
use super::super::yaml;
use super::{Place, loaded};

#[test]
fn with_no_files_the_defaults_hold() {
    assert_eq!(Place::with(&[]).load().settings, Settings::default());
}

#[test]
fn an_empty_file_and_empty_sections_say_nothing() {
    for text in ["", "# nothing\n", "---\n", "llm:\nsafety:\n  loop:\nmodels: ~\n", "\u{feff}llm:\n"] {
        assert_eq!(loaded(text).settings, Settings::default(), "{text:?}");
    }
}

#[test]
fn each_layer_wins_over_the_ones_below_it() {
    let file = |threads: u32| format!("models: {{threads: {threads}}}\n");
    let names = ["~/.reyn/config.yaml", "reyn.yaml", "reyn.local.yaml", ".reyn/config.yaml"];
    let mut origins = vec![];
    for count in 1..=4 {
        let texts: Vec<String> = (1..=4).map(file).collect();
        let files: Vec<(&str, &str)> =
            names.iter().zip(&texts).take(count).map(|(name, text)| (*name, text.as_str())).collect();
        let config = Place::with(&files).load();
        assert_eq!(config.settings.models.threads, u32::try_from(count).ok());
        origins.push(config.origin("models.threads").unwrap());
    }
    let place = Place::with(&[("reyn.yaml", "models: {threads: 2}\n")]).variable("REYN_MODELS__THREADS", "5");
    origins.push(place.load().origin("models.threads").unwrap());
    let place = place.flag("--threads", "models.threads", 6);
    assert_eq!(place.load().settings.models.threads, Some(6));
    origins.push(place.load().origin("models.threads").unwrap());
    assert_eq!(
        origins,
        [
            "~/.reyn/config.yaml:1",
            "reyn.yaml:1",
            "reyn.local.yaml:1",
            ".reyn/config.yaml:1",
            "REYN_MODELS__THREADS",
            "--threads",
        ]
    );
}

#[test]
fn maps_merge_and_everything_else_is_replaced() {
    let place = Place::with(&[
        (
            "~/.reyn/config.yaml",
            "llm: {models: {light: a/user, mine: a/mine}}\npermissions.file.write: [a, b]\n",
        ),
        (
            "reyn.yaml",
            "llm: {models: {light: {model: a/project, temperature: 0.5}}}\npermissions: {file: {write: [c], read: deny}}\n",
        ),
        ("reyn.local.yaml", "llm:\npermissions.file.read:\n"),
    ]);
    let settings = place.load().settings;
    assert_eq!(settings.llm.resolve("light").unwrap().name(), "a/project");
    assert_eq!(settings.llm.resolve("mine").unwrap().name(), "a/mine");
    let Some(PermissionValue::Places(places)) = settings.permissions.file.write else { panic!() };
    assert_eq!(places.len(), 1);
    assert_eq!(settings.permissions.file.read, None);
}

#[test]
fn a_wrong_value_that_a_higher_layer_replaces_only_fails_the_check() {
    let place = Place::with(&[
        ("reyn.yaml", "models: {threads: many}\n"),
        ("reyn.local.yaml", "models: {threads: 2}\n"),
    ]);
    assert_eq!(place.load().settings.models.threads, Some(2));
    let report = super::super::check(&place.inputs, &[]);
    expect![[r#"
        reyn.yaml:1:19: `models.threads` must be a whole number from 0 up, not `many`
          | models: {threads: many}
          |                   ^"#]]
    .assert_eq(&super::render_problems(&report.problems));
}

#[test]
fn dotted_and_nested_keys_are_the_same() {
    let nested = loaded("permissions:\n  file:\n    write: allow\n    read: ask\n").settings;
    for text in [
        "permissions.file.write: allow\npermissions.file.read: ask\n",
        "permissions: {file.write: allow, file.read: ask}\n",
        "permissions: {file: {write: allow}, file.read: ask}\n",
        "permissions.file: {write: allow}\npermissions: {file: {read: ask}}\n",
    ] {
        assert_eq!(loaded(text).settings, nested, "{text}");
    }
    assert_eq!(nested.permissions.file.write, Some(PermissionValue::Decision(Decision::Allow)));
}

#[test]
fn a_dot_in_the_name_of_a_class_is_part_of_it() {
    let config = loaded(
        "llm.models:\n  gpt-4.1: openai/gpt-4.1\n  x: {model: a/b, extra_body: {a.b: 1}}\nllm.model: gpt-4.1\n",
    );
    assert_eq!(config.settings.llm.resolve("gpt-4.1").unwrap().model, "gpt-4.1");
    let body = config.settings.llm.resolve("x").unwrap().options.extra_body.unwrap();
    assert_eq!(serde_json::Value::Object(body), serde_json::json!({"a.b": 1}));
}

#[test]
fn the_maps_that_take_any_key_are_those_of_the_schema() {
    fn walk(schema: &serde_json::Value, root: &serde_json::Value, path: &[String], open: &mut Vec<String>) {
        if let Some(name) = schema["$ref"].as_str() {
            return walk(root.pointer(&name[1..]).unwrap(), root, path, open);
        }
        for group in ["anyOf", "oneOf"] {
            for choice in schema[group].as_array().into_iter().flatten() {
                walk(choice, root, path, open);
            }
        }
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            walk(value, root, &[path, std::slice::from_ref(key)].concat(), open);
        }
        let takes_more = &schema["additionalProperties"];
        let is_map = schema["type"] == "object"
            || schema["type"].as_array().is_some_and(|all| all.contains(&"object".into()));
        if is_map && *takes_more != serde_json::json!(false) {
            open.push(path.join("."));
            if takes_more.is_object() {
                walk(takes_more, root, &[path, &["*".to_owned()]].concat(), open);
            }
        }
    }
    let schema = reyn_core::settings::schema();
    let mut open = vec![];
    walk(&schema, &schema, &[], &mut open);
    open.dedup();
    assert_eq!(
        open,
        ["llm.models", "llm.models.*.extra_body", "embedding.classes", "embedding.classes.*.extra_body"]
    );
    assert!(open.iter().all(|path| takes_any_key(&path.split('.').collect::<Vec<_>>())));
    assert!(!takes_any_key(&["llm"]) && !takes_any_key::<&str>(&[]));
}

#[test]
fn variables_of_other_programs_are_left_alone() {
    let mut place = Place::with(&[]).variable("REYN_TEST_MARK", "1").variable("OTHER", "1");
    assert!(super::load(&place.inputs).is_err());
    place.inputs.ignored_variables = vec!["REYN_TEST_MARK"];
    assert_eq!(place.load().settings, Settings::default());
}

#[test]
fn variables_in_values_come_from_the_environment_then_from_the_secrets_file() {
    let place = Place::with(&[
        ("reyn.yaml", "llm:\n  api_base: http://${HOST_A}:${PORT_A}/$$x/$y/${KEEP}\n  models: {\"${HOST_A}\": a/b}\nsafety.loop.max_router_iterations: ${ROUNDS}\n"),
        ("~/.reyn/secrets.env", "HOST_A=file\nPORT_A=1\n"),
    ])
    .variable("HOST_A", "env")
    .variable("KEEP", "${HOST_A}")
    .variable("ROUNDS", "7");
    let config = place.load();
    assert_eq!(config.settings.llm.api_base.as_deref(), Some("http://env:1/$x/$y/${HOST_A}"));
    assert!(config.settings.llm.models.contains_key("${HOST_A}"));
    assert_eq!(config.settings.safety.loops.max_router_iterations, Some(7));
    assert_eq!(
        (config.variable("HOST_A"), config.variable("PORT_A"), config.variable("X")),
        (Some("env"), Some("1"), None)
    );
}

#[test]
fn numbers_and_words_are_those_of_yaml_1_2() {
    let resolved = |text: &str| format!("{:?}", yaml::resolve(text));
    for (text, value) in [
        ("012", "Unsigned(12)"),
        ("0x1F", "Unsigned(31)"),
        ("0o17", "Unsigned(15)"),
        ("-3", "Signed(-3)"),
        ("-0", "Unsigned(0)"),
        ("+3", "Unsigned(3)"),
        ("1e3", "Float(1000.0)"),
        (".5", "Float(0.5)"),
        ("18446744073709551616", "Float(1.8446744073709552e19)"),
        ("1e999", "Text(\"1e999\")"),
        (".inf", "Text(\".inf\")"),
        ("1_000", "Text(\"1_000\")"),
        ("0x+1", "Text(\"0x+1\")"),
        ("-", "Text(\"-\")"),
        ("1.2.3", "Text(\"1.2.3\")"),
        ("2026-01-01", "Text(\"2026-01-01\")"),
        ("off", "Text(\"off\")"),
        ("True", "Bool(true)"),
        ("~", "Null"),
    ] {
        assert_eq!(resolved(text), value, "{text}");
    }
}

#[test]
fn the_home_folder_as_project_reads_its_files_once_and_says_so() {
    let mut place = Place::with(&[("~/.reyn/config.yaml", "models: {threads: 3}\n")]);
    place.inputs.working_dir = place.inputs.home.clone().unwrap();
    let config = place.load();
    assert_eq!(config.origin("models.threads").as_deref(), Some(".reyn/config.yaml:1"));
    expect!["the project is your home folder: `.reyn/` holds both your own and the project's settings"]
        .assert_eq(&config.notices.join("\n"));
}

#[test]
fn the_project_is_the_nearest_ancestor_with_its_file() {
    let mut place = Place::with(&[("reyn.yaml", ""), ("a/b/c.txt", "")]);
    let root = place.path("").canonicalize().unwrap();
    place.inputs.working_dir = root.join("a/b");
    assert_eq!(place.load().root, root);
    fs::write(root.join("a/reyn.yaml"), "").unwrap();
    assert_eq!(place.load().root, root.join("a"));
    let bare = Place::with(&[]);
    assert_eq!(bare.load().root, bare.path("").canonicalize().unwrap());
}

/// The keys as a file; where one is below another, the file is wrong and the tree holds what came first.
fn tree(keys: &[(Vec<String>, u64)]) -> Node {
    let line = |(path, value): &(Vec<String>, u64)| format!("{}: {value}\n", path.join("."));
    let text = keys.iter().map(line).collect();
    let source = Arc::new(Source { name: "a.yaml".to_owned(), kind: SourceKind::File, text });
    nest(yaml::parse_file(&source).unwrap()).0
}

/// Every path of keys in a tree, to a leaf or not.
fn paths(node: &Node, path: &[String], into: &mut BTreeSet<Vec<String>>) {
    for (key, member) in node.members().into_iter().flatten() {
        let path = [path, std::slice::from_ref(key)].concat();
        into.insert(path.clone());
        paths(&member.node, &path, into);
    }
}

fn all_paths(node: &Node) -> BTreeSet<Vec<String>> {
    let mut into = BTreeSet::new();
    paths(node, &[], &mut into);
    into
}

fn any_tree() -> impl Strategy<Value = Node> {
    let key = prop::collection::vec(
        prop::sample::select(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]),
        1..4,
    );
    prop::collection::btree_map(key, any::<u64>(), 0..6)
        .prop_map(|keys| tree(&keys.into_iter().collect::<Vec<_>>()))
}

proptest! {
    #[test]
    fn merging_never_invents_a_key_and_the_higher_layer_holds(low in any_tree(), high in any_tree()) {
        let given: BTreeSet<_> = all_paths(&low).union(&all_paths(&high)).cloned().collect();
        let mut merged = low;
        merge(&mut merged, high.clone());
        prop_assert!(all_paths(&merged).is_subset(&given));
        for path in all_paths(&high) {
            let (above, result) = (high.get(&path).unwrap(), merged.get(&path).unwrap());
            if !matches!(above.value, NodeValue::Map(_)) {
                prop_assert_eq!(format!("{:?}", above.value), format!("{:?}", result.value));
            }
        }
    }
}
