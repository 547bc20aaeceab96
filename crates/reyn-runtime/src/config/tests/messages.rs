//! What a wrong configuration says, word for word.

use expect_test::{Expect, expect};

use super::{Place, loaded, problems_of};

#[expect(clippy::needless_pass_by_value, reason = "as `expect!` is written")]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&problems_of(text));
}

#[test]
fn an_unknown_key_names_the_nearest_key_of_its_place() {
    check(
        "llm:\n  modle: light\n",
        expect![[r#"
        reyn.yaml:2:3: unknown key `modle` in `llm`
          |   modle: light
          |   ^
          hint: did you mean `model`?
    "#]],
    );
    check(
        "llm:\n  models:\n    light:\n      model: a/b\n      temprature: 1\n",
        expect![[r#"
        reyn.yaml:5:7: unknown key `temprature` in `llm.models.light`
          |       temprature: 1
          |       ^
          hint: did you mean `temperature`?
    "#]],
    );
    check(
        "zzz: 1\n",
        expect![[r#"
            reyn.yaml:1:1: unknown key `zzz`
              | zzz: 1
              | ^
              hint: the keys here are `llm`, `safety`, `permissions`, `sandbox`, `web`, `web_fetch`, `embedding`, `index`, `models`, `audit_events`
        "#]],
    );
    check(
        "permissions:\n  file.wirte: allow\n",
        expect![[r#"
        reyn.yaml:2:8: unknown key `wirte` in `permissions.file`
          |   file.wirte: allow
          |        ^
          hint: did you mean `write`?
    "#]],
    );
    check(
        "permissions: {file: {write: [{path: a, scop: just_path}]}}\n",
        expect![[r#"
        reyn.yaml:1:40: unknown key `scop` in `permissions.file.write`
          | permissions: {file: {write: [{path: a, scop: just_path}]}}
          |                                        ^
          hint: did you mean `scope`?
    "#]],
    );
}

#[test]
fn a_wrong_type_says_what_is_needed_and_what_is_there() {
    check(
        "safety:\n  timeout:\n    tool_call_seconds: soon\n",
        expect![[r#"
        reyn.yaml:3:24: `safety.timeout.tool_call_seconds` must be a whole number from 0 up, not `soon`
          |     tool_call_seconds: soon
          |                        ^
    "#]],
    );
    check(
        "safety:\n  timeout:\n    tool_call_seconds: \"60\"\n",
        expect![[r#"
        reyn.yaml:3:24: `safety.timeout.tool_call_seconds` must be a whole number from 0 up, not `60`
          |     tool_call_seconds: "60"
          |                        ^
          hint: write it without quotes
    "#]],
    );
    check(
        "safety: 5\n",
        expect![[r#"
        reyn.yaml:1:9: `safety` must be a map of keys, not `5`
          | safety: 5
          |         ^
    "#]],
    );
    check(
        "llm: {api_base: 8080}\n",
        expect![[r#"
        reyn.yaml:1:17: `llm.api_base` must be text, not `8080`
          | llm: {api_base: 8080}
          |                 ^
          hint: write it in quotes: `"8080"`
    "#]],
    );
    check(
        "permissions: {file.write: ./out}\n",
        expect![[r#"
        reyn.yaml:1:27: `permissions.file.write` must be `allow`, `ask`, `deny` or a list of paths, not `./out`
          | permissions: {file.write: ./out}
          |                           ^
          hint: write a path as a list: `["./out"]`
    "#]],
    );
}

#[test]
fn numbers_words_and_lists_of_the_wrong_kind_are_told_apart() {
    check(
        "models: {threads: 5000000000}\nsafety: {timeout: {llm_idle_seconds: -1}}\n",
        expect![[r#"
        reyn.yaml:1:19: `models.threads` must be a whole number from 0 up, not `5000000000`
          | models: {threads: 5000000000}
          |                   ^
          hint: the number is too large

        reyn.yaml:2:38: `safety.timeout.llm_idle_seconds` must be a whole number from 0 up, not `-1`
          | safety: {timeout: {llm_idle_seconds: -1}}
          |                                      ^
    "#]],
    );
    check(
        "llm:\n  models: {gpt-4.1: {model: a/b, api_key: sk-1}}\n  model: ${A} ${B}\n",
        expect![[r#"
        reyn.yaml:2:34: unknown key `api_key` in `llm.models.gpt-4.1`
          |   models: {gpt-4.1: {model: a/b, api_key: …
          |                                  ^
          hint: keys belong in the environment or in `~/.reyn/secrets.env`; `api_key_env` of a model names the variable

        reyn.yaml:3:10: the variable `A` is not set
          |   model: ${A} ${B}
          |          ^
          hint: set it in the environment or in `~/.reyn/secrets.env`; `$$` stands for a plain `$`
    "#]],
    );
    check(
        "llm: {models: {light: [a, b]}}\n",
        expect![[r#"
        reyn.yaml:1:23: `llm.models.light` must be `provider/model`, a class name, or a map with `model` or `extends`, not a list
          | llm: {models: {light: [a, b]}}
          |                       ^
    "#]],
    );
    check(
        "models: {auto_pull: true}\n",
        expect![[r#"
        reyn.yaml:1:21: `models.auto_pull` must be `ask`, `always` or `never`, not `true`
          | models: {auto_pull: true}
          |                     ^
    "#]],
    );
}

#[test]
fn a_word_that_is_none_of_the_choices_lists_them() {
    check(
        "models:\n  auto_pull: alwys\n",
        expect![[r#"
        reyn.yaml:2:14: `models.auto_pull` must be `ask`, `always` or `never`, not `alwys`
          |   auto_pull: alwys
          |              ^
          hint: did you mean `always`?
    "#]],
    );
    check(
        "permissions.file.write: alow\n",
        expect![[r#"
        reyn.yaml:1:25: `permissions.file.write` must be `allow`, `ask`, `deny` or a list of paths, not `alow`
          | permissions.file.write: alow
          |                         ^
          hint: did you mean `allow`?
    "#]],
    );
}

#[test]
fn a_key_given_twice_names_the_first_line() {
    check(
        "llm:\n  model: a/b\n  # again\n  model: c/d\n",
        expect![[r#"
        reyn.yaml:4:3: `model` is given twice
          |   model: c/d
          |   ^
          hint: the first is on line 2; keep one
    "#]],
    );
}

#[test]
fn a_value_given_nested_and_with_dots_is_refused() {
    check(
        "permissions:\n  file:\n    write: allow\n  file.write: deny\n",
        expect![[r#"
        reyn.yaml:4:8: `permissions.file.write` is given twice, nested and with dots
          |   file.write: deny
          |        ^
          hint: the other is on line 3; keep one
    "#]],
    );
    check(
        "permissions.file.write: allow\npermissions: {file: {write: deny}}\n",
        expect![[r#"
        reyn.yaml:2:22: `permissions.file.write` is given twice, nested and with dots
          | permissions: {file: {write: deny}}
          |                      ^
          hint: the other is on line 1; keep one
    "#]],
    );
    check(
        "permissions.file: deny\npermissions.file.write: deny\n",
        expect![[r#"
        reyn.yaml:2:13: `permissions.file` is given twice, nested and with dots
          | permissions.file.write: deny
          |             ^
          hint: the other is on line 1; keep one
    "#]],
    );
}

#[test]
fn broken_yaml_shows_the_line() {
    check(
        "llm:\n  model: \"light\n",
        expect![[r#"
        reyn.yaml:2:10: not valid YAML: unclosed quote
          |   model: "light
          |          ^
          hint: check the indentation and the quotes here and on the line before
    "#]],
    );
    check(
        "llm:\n\tmodel: light\n",
        expect![[r#"
        reyn.yaml:2:2: not valid YAML: tabs disallowed within this context (block indentation)
          |  model: light
          |  ^
          hint: indent with spaces; YAML does not take tabs
    "#]],
    );
    check(
        "llm: [1, 2\nsafety: {}\n",
        expect![[r#"
        reyn.yaml:2:7: not valid YAML: illegal placement of ':' indicator
          | safety: {}
          |       ^
          hint: check the indentation and the quotes here and on the line before
    "#]],
    );
}

#[test]
fn yaml_that_is_more_than_keys_and_values_is_refused() {
    check(
        "llm: {}\n---\nllm: {}\n",
        expect![[r#"
        reyn.yaml:2:1: a second document begins here
          | ---
          | ^
          hint: keep one document in a file
    "#]],
    );
    check(
        "- a\n- b\n",
        expect![[r#"
        reyn.yaml:1:1: the file must hold a map of keys
          | - a
          | ^
          hint: write `key: value`, one on each line
    "#]],
    );
    check(
        "llm: !include other.yaml\n",
        expect![[r#"
        reyn.yaml:1:15: the tag `!include` has no meaning here
          | llm: !include other.yaml
          |               ^
          hint: remove it
    "#]],
    );
    check(
        "a: &a {x: 1}\nllm:\n  <<: *a\n",
        expect![[r#"
        reyn.yaml:3:3: `<<` is not a key of YAML 1.2
          |   <<: *a
          |   ^
          hint: write the keys out
    "#]],
    );
    check(
        "llm: &a [*a]\n",
        expect![[r#"
        reyn.yaml:1:10: this alias repeats what it stands in
          | llm: &a [*a]
          |          ^
          hint: write the value out
    "#]],
    );
}

#[test]
fn aliases_that_multiply_are_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let before = format!("*a{}", level - 1);
        let line = [before.as_str(); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{line}]\n"));
    }
    check(
        &text,
        expect![[r#"
        reyn.yaml:5:35: too many values
          | a4: &a4 [*a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3]
          |                                   ^
          hint: remove aliases that repeat each other
    "#]],
    );
    check(
        &format!("a: {}{}\n", "[".repeat(100), "]".repeat(100)),
        expect![[r#"
            reyn.yaml:1:36: nested deeper than 32 levels
              | a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]…
              |                                    ^
              hint: no setting needs that
        "#]],
    );
}

#[test]
fn a_variable_that_is_not_set_is_named_with_its_place() {
    check(
        "llm:\n  api_base: http://${REYN_HOST_NAME}/v1\n",
        expect![[r#"
        reyn.yaml:2:20: the variable `REYN_HOST_NAME` is not set
          |   api_base: http://${REYN_HOST_NAME}/v1
          |                    ^
          hint: set it in the environment or in `~/.reyn/secrets.env`; `$$` stands for a plain `$`
    "#]],
    );
    check(
        "llm:\n  api_base: ${not a name}\n",
        expect![[r#"
        reyn.yaml:2:13: `${` begins the name of a variable, and none follows
          |   api_base: ${not a name}
          |             ^
          hint: write `${NAME}`, or `$${` for the characters themselves
    "#]],
    );
    check(
        "safety:\n  loop:\n    max_router_iterations: ${ROUNDS}\n",
        expect![[r#"
        reyn.yaml:3:28: the variable `ROUNDS` is not set
          |     max_router_iterations: ${ROUNDS}
          |                            ^
          hint: set it in the environment or in `~/.reyn/secrets.env`; `$$` stands for a plain `$`
    "#]],
    );
}

#[test]
fn problems_of_variables_and_flags_show_what_was_given() {
    let place = Place::with(&[])
        .variable("REYN_LLM__MODLE", "light")
        .variable("REYN_SAFETY__TIMEOUT__TOOL_CALL_SECONDS", "soon")
        .variable("REYN_MODELS", "{auto_pull: [}")
        .variable("REYN_", "1")
        .flag("--model", "llm.model", "lite");
    expect![[r#"
        REYN_: `REYN_` names no key
          | REYN_=1
          | ^
          hint: write `REYN_` and the key in capitals, `__` for each dot: `REYN_LLM__MODEL`

        REYN_MODELS: not valid YAML: mismatched bracket '[' closed by '}'
          | REYN_MODELS={auto_pull: [}
          |                         ^
          hint: check the indentation and the quotes here and on the line before
    "#]]
    .assert_eq(&place.problems());
    let place = Place::with(&[])
        .variable("REYN_LLM__MODLE", "light")
        .variable("REYN_SAFETY__TIMEOUT__TOOL_CALL_SECONDS", "soon")
        .flag("--model", "llm.model", "lite");
    expect![[r#"
        REYN_LLM__MODLE: unknown key `modle` in `llm`
          | REYN_LLM__MODLE=light
          |           ^
          hint: did you mean `model`?

        REYN_SAFETY__TIMEOUT__TOOL_CALL_SECONDS: `safety.timeout.tool_call_seconds` must be a whole number from 0 up, not `soon`
          | REYN_SAFETY__TIMEOUT__TOOL_CALL_SECONDS=soon
          |                                         ^

        --model: `llm.model` must be `provider/model` or a class, not `lite`
          | --model lite
          |         ^
          hint: no class is set under `llm.models`; write `provider/model`
    "#]].assert_eq(&place.problems());
}

#[test]
fn several_problems_are_all_reported_in_the_order_of_the_files() {
    let place = Place::with(&[
        (
            "reyn.yaml",
            "llm:\n  modle: light\n  models:\n    light: {temperature: hot, model: a/b}\n    a: b\n    b: a\n    \
             c: nowhere\n    d: {temperature: 5}\nsafety:\n  loop: {max_router_iterations: 0}\n  timeout: {tool_call_seconds: 90000}\n\
             permissions:\n  file.write: [{scope: just_path}, 5, ~x/y]\n",
        ),
        ("~/.reyn/config.yaml", "safty: 1\n"),
    ]);
    expect![[r#"
        ~/.reyn/config.yaml:1:1: unknown key `safty`
          | safty: 1
          | ^
          hint: did you mean `safety`?

        reyn.yaml:2:3: unknown key `modle` in `llm`
          |   modle: light
          |   ^
          hint: did you mean `model`?

        reyn.yaml:4:26: `llm.models.light.temperature` must be a number, not `hot`
          |     light: {temperature: hot, model: a/b}
          |                          ^

        reyn.yaml:5:8: `llm.models.a` leads back to itself: `a` → `b` → `a`
          |     a: b
          |        ^
          hint: one of them must be `provider/model`

        reyn.yaml:7:8: `llm.models.c` must be `provider/model` or a class, not `nowhere`
          |     c: nowhere
          |        ^
          hint: the classes are `a`, `b`, `c`, `d`, `light`

        reyn.yaml:8:8: `llm.models.d` names no model
          |     d: {temperature: 5}
          |        ^
          hint: add `model: provider/model`, or `extends: class`

        reyn.yaml:8:22: `llm.models.d.temperature` must be from 0 to 2, not `5`
          |     d: {temperature: 5}
          |                      ^
          hint: 0 is the most predictable, 1 is usual

        reyn.yaml:10:33: `safety.loop.max_router_iterations` must be from 1 to 10000, not `0`
          |   loop: {max_router_iterations: 0}
          |                                 ^
          hint: a turn without a bound is not offered; choose a large number

        reyn.yaml:11:32: `safety.timeout.tool_call_seconds` must be from 1 to 86400, not `90000`
          |   timeout: {tool_call_seconds: 90000}
          |                                ^
          hint: no wait is endless; a day is the most

        reyn.yaml:13:16: `permissions.file.write` lacks `path`
          |   file.write: [{scope: just_path}, 5, ~x/y]
          |                ^
          hint: add `path: …`

        reyn.yaml:13:36: `permissions.file.write` must be a path, or a map with `path` and `scope`, not `5`
          |   file.write: [{scope: just_path}, 5, ~x/y]
          |                                    ^

        reyn.yaml:13:39: `permissions.file.write`: `~` stands only for your own home folder; write the whole path
          |   file.write: [{scope: just_path}, 5, ~x/y]
          |                                       ^
    "#]].assert_eq(&place.problems());
}

#[test]
fn no_more_problems_than_the_bound_are_reported() {
    let text: String = (0..50).map(|at| format!("key{at}: 1\n")).collect();
    let problems = super::load(&Place::with(&[("reyn.yaml", &text)]).inputs).unwrap_err();
    assert_eq!(problems.len(), reyn_core::limits::CONFIG_PROBLEMS_MAX);
}

#[test]
fn the_caret_stands_below_the_value_on_a_line_of_wide_characters() {
    check(
        "llm: {\"日本語のキー\": 1, modle: x}\n",
        expect![[r#"
        reyn.yaml:1:7: unknown key `日本語のキー` in `llm`
          | llm: {"日本語のキー": 1, modle: x}
          |       ^
          hint: the keys here are `model`, `models`, `api_base`, `trusted_servers`

        reyn.yaml:1:20: unknown key `modle` in `llm`
          | llm: {"日本語のキー": 1, modle: x}
          |                          ^
          hint: did you mean `model`?
    "#]],
    );
    check(
        "llm:\n  models: {軽い: 存在しないモデル}\n",
        expect![[r#"
        reyn.yaml:2:16: `llm.models.軽い` must be `provider/model` or a class, not `存在しないモデル`
          |   models: {軽い: 存在しないモデル}
          |                  ^
          hint: the classes are `軽い`
    "#]],
    );
}

#[test]
fn classes_that_lead_nowhere_are_reported_once_each() {
    check(
        "llm:\n  model: strnog\n  models:\n    strong: {extends: standart}\n    standard: openai/x\n    also: strong\n",
        expect![[r#"
            reyn.yaml:2:10: `llm.model` must be `provider/model` or a class, not `strnog`
              |   model: strnog
              |          ^
              hint: did you mean `strong`?

            reyn.yaml:4:23: `llm.models.strong` must be `provider/model` or a class, not `standart`
              |     strong: {extends: standart}
              |                       ^
              hint: did you mean `standard`?
        "#]],
    );
    check(
        "llm:\n  model: standard\n",
        expect![[r#"
        reyn.yaml:2:10: `llm.model` must be `provider/model` or a class, not `standard`
          |   model: standard
          |          ^
          hint: no class is set under `llm.models`; write `provider/model`
    "#]],
    );
}

#[test]
fn what_is_wrong_below_embedding_is_told_at_its_line() {
    check(
        "embedding:\n  enabled: sometimes\n  batch_size: 5000\n  timeout: 0\n  retry_backoff: quadratic\n",
        expect![[r#"
            reyn.yaml:2:12: `embedding.enabled` must be `auto`, `true` or `false`, not `sometimes`
              |   enabled: sometimes
              |            ^

            reyn.yaml:3:15: `embedding.batch_size` must be from 1 to 2048, not `5000`
              |   batch_size: 5000
              |               ^
              hint: servers refuse longer lists

            reyn.yaml:4:12: `embedding.timeout` must be from 1 to 86400, not `0`
              |   timeout: 0
              |            ^
              hint: no wait is endless; a day is the most

            reyn.yaml:5:18: `embedding.retry_backoff` must be `exponential` or `linear`, not `quadratic`
              |   retry_backoff: quadratic
              |                  ^
        "#]],
    );
    check(
        "embedding:\n  classes:\n    light: {extends: standard}\n    standard: strong\n    strong: {extends: light}\n",
        expect![[r#"
            reyn.yaml:3:22: `embedding.classes.light` leads back to itself: `light` → `standard` → `strong` → `light`
              |     light: {extends: standard}
              |                      ^
              hint: one of them must be `provider/model`
        "#]],
    );
    check(
        "embedding:\n  default_class: standart\n  classes:\n    own: {api_base: 'http://127.0.0.1:1/v1'}\n    a/b: openai/x\n    \
         more: {model: ligth}\n    last: {model: openai/x, dimensions: 3}\n",
        expect![[r#"
            reyn.yaml:2:18: `embedding.default_class` must be `provider/model` or a class, not `standart`
              |   default_class: standart
              |                  ^
              hint: did you mean `standard`?

            reyn.yaml:4:10: `embedding.classes.own` names no model
              |     own: {api_base: 'http://127.0.0.1:1/v1'}
              |          ^
              hint: add `model: provider/model`, or `extends: class`

            reyn.yaml:5:5: `embedding.classes` has `a/b`, and a name with `/` is a model
              |     a/b: openai/x
              |     ^
              hint: name the class without `/`

            reyn.yaml:6:19: `embedding.classes.more` must be `provider/model` or a class, not `ligth`
              |     more: {model: ligth}
              |                   ^
              hint: did you mean `light`?

            reyn.yaml:7:29: unknown key `dimensions` in `embedding.classes.last`
              |     last: {model: openai/x, dimensions: 3}
              |                             ^
              hint: the keys here are `model`, `extends`, `api_base`, `api_key_env`, `extra_body`
        "#]],
    );
}

#[test]
fn retired_and_misplaced_keys_come_with_advice() {
    check(
        "tool_use: {chat: x}\naction_retrieval: {universal_wrappers_enabled: false}\nmodel: a/b\n\
         safety.loop.max_tool_calls_per_turn: 5\nmodels: {light: a/b}\nllm:\n  models:\n    light: {model: a/b, \
         api_key: sk-secret, stream_options: {}}\n",
        expect![[r#"
            reyn.yaml:1:1: unknown key `tool_use`
              | tool_use: {chat: x}
              | ^
              hint: `tool_use.chat` is retired; remove it

            reyn.yaml:2:1: unknown key `action_retrieval`
              | action_retrieval: {universal_wrappers_enabled: false}
              | ^
              hint: `action_retrieval.universal_wrappers_enabled` and its section are retired; remove them

            reyn.yaml:3:1: unknown key `model`
              | model: a/b
              | ^
              hint: the model that answers is `llm.model`

            reyn.yaml:4:13: unknown key `max_tool_calls_per_turn` in `safety.loop`
              | safety.loop.max_tool_calls_per_turn: 5
              |             ^
              hint: it is `safety.loop.max_tool_calls_per_reply`

            reyn.yaml:5:10: unknown key `light` in `models`
              | models: {light: a/b}
              |          ^
              hint: classes of models stand under `llm.models`

            reyn.yaml:8:25: unknown key `api_key` in `llm.models.light`
              |     light: {model: a/b, api_key: …
              |                         ^
              hint: keys belong in the environment or in `~/.reyn/secrets.env`; `api_key_env` of a model names the variable

            reyn.yaml:8:45: unknown key `stream_options` in `llm.models.light`
              |     light: {model: a/b, api_key: …
              |                                   ^
              hint: usage is asked for by itself; `stream: false` turns streaming off
        "#]],
    );
}

#[test]
fn the_value_of_a_secret_is_in_no_message() {
    let place = Place::with(&[
        (
            "reyn.yaml",
            "models: {auto_pull: \"${MY_WORD}\"}\nllm: {model: \"${MY_WORD}\"}\npermissions.file.write: [\"~${MY_WORD}\"]\n",
        ),
        ("~/.reyn/secrets.env", "MY_WORD=hush-hush\n"),
    ]);
    let problems = place.problems();
    assert!(!problems.contains("hush"), "{problems}");
    expect![[r#"
        reyn.yaml:1:21: `models.auto_pull` must be `ask`, `always` or `never`, not the value of a secret
          | models: {auto_pull: "${MY_WORD}"}
          |                     ^

        reyn.yaml:2:14: `llm.model` must be `provider/model` or a class, not the value of a secret
          | llm: {model: "${MY_WORD}"}
          |              ^
          hint: no class is set under `llm.models`; write `provider/model`

        reyn.yaml:3:26: `permissions.file.write`: a path cannot be resolved
          | permissions.file.write: ["~${MY_WORD}"]
          |                          ^
    "#]]
    .assert_eq(&problems);
}

#[test]
fn problems_are_serialised_with_their_place() {
    let place = Place::with(&[("reyn.yaml", "llm:\n  modle: light\n")]);
    let problems = super::load(&place.inputs).unwrap_err();
    expect![[r#"
        [
          {
            "file": "reyn.yaml",
            "line": 2,
            "column": 3,
            "message": "unknown key `modle` in `llm`",
            "hint": "did you mean `model`?",
            "source_line": "  modle: light"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&problems).unwrap());
}

#[test]
fn words_for_off_and_on_stand_for_truth_values() {
    let config =
        loaded("llm:\n  models:\n    a: {model: x/y, stream: off}\n    b: {model: x/y, stream: yes}\n");
    let stream = |class: &str| config.settings.llm.resolve(class).unwrap().options.stream;
    assert_eq!((stream("a"), stream("b")), (Some(false), Some(true)));
}
