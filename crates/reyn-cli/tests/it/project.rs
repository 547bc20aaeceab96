//! `reyn init`, `reyn config` and `reyn tools`.

use expect_test::expect;
use serde_json::{Value, json};

use crate::place::Place;

fn bare() -> Place {
    let place = Place::new();
    std::fs::remove_file(place.root.join("reyn.yaml")).unwrap();
    place
}

#[test]
fn init_says_what_it_made_and_what_is_next() {
    expect![[r#"
        Created reyn.yaml
        Created reyn.local.yaml.example
        Created .reyn/
        Created .reyn/.gitignore
        Created .gitignore

        Next:
          reyn chat                            talk about the files in this folder
          reyn ask "what is in this folder?"   works at once, with what the machine offers
          reyn.yaml                            name a model, or what may be written without asking
          ~/.reyn/secrets.env                  keys, one NAME=value a line
          reyn config check                    says what is wrong, with file and line
    "#]]
    .assert_eq(&bare().run(["init"]).exits(0).stdout);
}

#[test]
fn init_again_changes_nothing() {
    let place = bare();
    let _ = place.run(["init"]).exits(0);
    let made = place.read("reyn.yaml");
    let again = place.run(["init", "--json"]).exits(0).json();
    assert_eq!((&again["created"], &again["extended"]), (&json!([]), &json!([])), "{again}");
    assert_eq!(place.read("reyn.yaml"), made);
}

#[test]
fn what_init_writes_is_right() {
    let place = bare();
    let _ = place.run(["init"]).exits(0);
    let done = place.run(["config", "check"]).exits(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("the configuration is right\n", ""));
}

#[test]
fn a_configuration_with_mistakes_is_told_whole() {
    let place = Place::new().config("lmm: {}\nsafety:\n  timeout:\n    llm_idle_seconds: soon\n");
    let done = place.run(["config", "check"]).exits(2);
    expect![[r#"
        reyn.yaml:1:1: unknown key `lmm`
          | lmm: {}
          | ^
          hint: did you mean `llm`?

        reyn.yaml:4:23: `safety.timeout.llm_idle_seconds` must be a whole number from 0 up, not `soon`
          |     llm_idle_seconds: soon
          |                       ^
    "#]]
    .assert_eq(&done.stdout);
}

#[test]
fn escape_sequences_in_a_configuration_are_not_shown() {
    let place = Place::new().config("llm: {model: \"a\\e[2Jb\"}\n");
    for args in [["config", "check"], ["config", "show"], ["ask", "go"]] {
        let done = place.run(args).exits(2);
        assert!(!(done.stdout + &done.stderr).contains('\x1b'), "{args:?}");
    }
}

#[test]
fn mistakes_are_one_object_for_programs() {
    let value = Place::new().config("lmm: {}\n").run(["config", "check", "--json"]).exits(2).json();
    expect![[r#"
        {
          "status": "error",
          "exit_code": 2,
          "problems": [
            {
              "file": "reyn.yaml",
              "line": 1,
              "column": 1,
              "message": "unknown key `lmm`",
              "hint": "did you mean `llm`?",
              "source_line": "lmm: {}"
            }
          ],
          "warnings": [],
          "notices": []
        }
    "#]]
    .assert_eq(&format!("{}\n", serde_json::to_string_pretty(&value).unwrap()));
}

#[test]
fn the_schema_is_printed_while_a_file_is_wrong() {
    let schema = Place::new().config(": [").run(["config", "schema"]).exits(0).stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["llm"].is_object(), "{schema}");
}

#[test]
fn every_value_is_shown_with_where_it_comes_from() {
    let place =
        Place::new().config("llm:\n  model: openai/gpt\n").env("REYN_SAFETY__TIMEOUT__LLM_IDLE_SECONDS", "7");
    expect![[r#"
        llm:
          model: openai/gpt  # reyn.yaml:2
          models: {}  # default
          api_base: null  # default
          trusted_servers: []  # default
        safety:
          loop:
            max_router_iterations: null  # default
            max_tool_calls_per_reply: 50  # default
          timeout:
            llm_connect_seconds: 10  # default
            llm_first_byte_seconds: 120  # default
            llm_idle_seconds: 7  # REYN_SAFETY__TIMEOUT__LLM_IDLE_SECONDS
            tool_call_seconds: 120  # default
          threat_scan:
            enabled: true  # default
            fail_open: true  # default
            fence_enabled: true  # default
            block_severity: block  # default
            custom_patterns: []  # default
            capability_narrowing: "off"  # default
        permissions:
          file: {}  # default
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
          auto_pull: ask  # default
          threads: null  # default
        audit_events:
          max_bytes: 10485760  # default
          max_age_seconds: 86400  # default
          cleanup_period_days: 30  # default
    "#]]
    .assert_eq(&place.run(["config", "show", "--origin"]).exits(0).stdout);
}

#[test]
fn tools_are_listed_with_a_line_each() {
    expect![[r#"
        delete_file       chat, skills  Delete a file.
        edit_file         chat, skills  Replace a part of a file.
        embed             chat, skills  Make vectors of texts. Give `texts`, or the two files.
        exec              chat          Run a program in a sandbox.
        forget_memory     chat, skills  Forget something that was remembered.
        glob_files        chat, skills  Find files by a pattern of their paths.
        grep_files        chat, skills  Search the contents of files.
        index_drop        chat, skills  Remove an index for good.
        index_query       chat, skills  Find passages of an index near a vector.
        index_write       chat, skills  Keep texts and vectors in an index.
        list_directory    chat, skills  List the names in a folder. Folders end with `/`.
        list_memory       chat, skills  List what is remembered from earlier sessions.
        read_file         chat, skills  Read a text file.
        read_memory_body  chat, skills  Read what is remembered under a slug.
        recall            chat, skills  Find passages of indexed sources for a question.
        regenerate_index  skills        Make the index of a folder of Markdown files again.
        remember_agent    chat, skills  Remember something for later sessions, for yourself alone.
        remember_shared   chat, skills  Remember something for later sessions, for everybody in this project.
        sandboxed_exec    skills        Run a program that gets nothing but what is asked for here.
        shell             skills        Deprecated: use sandboxed_exec. Run a line of sh; needs --allow-shell.
        web_fetch         chat, skills  Get a web page as text.
        web_search        chat, skills  Search the web.
        write_file        chat, skills  Create a file, or replace it whole.
    "#]]
    .assert_eq(&Place::new().run(["tools", "list"]).exits(0).stdout);
}

#[test]
fn tools_for_programs_come_with_their_size_and_are_small() {
    let value = Place::new().run(["tools", "list", "--json"]).exits(0).json();
    let mut tools = value["tools"].as_array().unwrap().clone();
    tools.retain(|tool| tool["surfaces"] != "skill");
    let bytes = usize::try_from(value["bytes"].as_u64().unwrap()).unwrap();
    assert!(!tools.is_empty() && bytes <= 420 * tools.len(), "{} tools have {bytes} bytes", tools.len());
}

#[test]
fn one_tool_is_shown_with_its_parameters() {
    expect![[r#"
        write_file(path, content)
          Create a file, or replace it whole.

          path (string, required)
            File to create or replace.

          content (string, required)
            The whole new text.

          for: chat, skills
          example: {"path": "notes.md", "content": "hello\n"}
    "#]]
    .assert_eq(&Place::new().run(["tools", "show", "write_file"]).exits(0).stdout);
}

#[test]
fn an_unknown_tool_is_told_with_a_near_one() {
    let done = Place::new().run(["tools", "show", "read_files"]).exits(2);
    assert_eq!(done.stderr, "reyn: no tool is named `read_files`; did you mean `read_file`?\n");
}
