//! `--json` and `--stream-json`: what programs read.

use expect_test::{Expect, expect};
use reyn_testkit::{FakeServer, Response, call, calls, says};
use serde_json::{Value, json};

use crate::place::Place;

/// Compares the one object on standard output, whose exit code must be that of the process.
#[track_caller]
fn check<const N: usize>(place: &Place, args: [&str; N], expected: &Expect) {
    let done = place.run(args);
    let value = done.json();
    assert_eq!(value["exit_code"], json!(done.code), "{value}");
    expected.assert_eq(&format!("{}\n", serde_json::to_string_pretty(&value).unwrap()));
}

/// A place whose server answers everything so.
fn answering(response: Response) -> (FakeServer, Place) {
    let server = FakeServer::answering(move |_| response.clone());
    let place = Place::with(&server);
    (server, place)
}

#[test]
fn an_answer_is_one_object() {
    let server = FakeServer::script([
        calls([
            call("a", "read_file", json!({"path": "README.md"})),
            call("b", "read_file", json!({"path": "gone.md"})),
        ]),
        says("It says hello."),
    ]);
    check(
        &Place::with(&server),
        ["ask", "what?", "--json", "--session", "s"],
        &expect![[r#"
            {
              "status": "ok",
              "exit_code": 0,
              "ending": "answered",
              "limit": null,
              "answer": "It says hello.",
              "finish": "stop",
              "session": "s",
              "model": "fake/test",
              "rounds": 2,
              "usage": {
                "prompt_tokens": 20,
                "completion_tokens": 10,
                "cached_tokens": 0,
                "source": "provider"
              },
              "calls": [
                {
                  "tool": "read_file",
                  "status": "ok"
                },
                {
                  "tool": "read_file",
                  "status": "error",
                  "error": {
                    "kind": "handler_error",
                    "message": "cannot read `gone.md`: there is no such file or folder",
                    "hint": "`list_directory` shows what is there",
                    "wants_person": false
                  }
                }
              ],
              "error": null
            }
        "#]],
    );
}

#[test]
fn a_web_page_instead_of_an_answer_is_one_object() {
    let (_server, place) = answering(Response::html(200, "<html>log in</html>"));
    check(
        &place,
        ["ask", "what?", "--json", "--session", "s"],
        &expect![[r#"
            {
              "status": "error",
              "exit_code": 1,
              "ending": "failed",
              "limit": null,
              "answer": "",
              "finish": "stop",
              "session": "s",
              "model": "fake/test",
              "rounds": 0,
              "usage": {
                "prompt_tokens": 0,
                "completion_tokens": 0,
                "cached_tokens": 0,
                "source": "unknown"
              },
              "calls": [],
              "error": {
                "kind": "protocol",
                "message": "`fake/test` gave no answer: http://SERVER/v1 answered 200 with text/html; charset=utf-8 instead of a chat completion; `api_base` must be the address of an OpenAI-compatible server and end in `/v1`"
              }
            }
        "#]],
    );
}

#[test]
fn a_refused_key_is_one_object() {
    let (_server, place) = answering(Response::json(401, &json!({"error": {"message": "bad key"}})));
    check(
        &place,
        ["ask", "what?", "--json", "--session", "s"],
        &expect![[r#"
            {
              "status": "error",
              "exit_code": 1,
              "ending": "failed",
              "limit": null,
              "answer": "",
              "finish": "stop",
              "session": "s",
              "model": "fake/test",
              "rounds": 0,
              "usage": {
                "prompt_tokens": 0,
                "completion_tokens": 0,
                "cached_tokens": 0,
                "source": "unknown"
              },
              "calls": [],
              "error": {
                "kind": "unauthorized",
                "message": "`fake/test` gave no answer: fake wants a key (401): bad key; name the environment variable that holds the key in `api_key_env`"
              }
            }
        "#]],
    );
}

#[test]
fn a_server_that_is_not_there_is_one_object() {
    let place = Place::new().config("llm: {api_base: 'http://127.0.0.1:1/v1', model: fake/test}");
    let value = place.run(["ask", "what?", "--json"]).exits(1).json();
    let message = value["error"]["message"].as_str().unwrap();
    assert!(message.contains("cannot connect to http://127.0.0.1:1/v1: "), "{message}");
}

#[test]
fn a_server_that_never_answers_is_one_object() {
    let (_server, place) = answering(Response::hang());
    let place = place.config("safety: {timeout: {llm_first_byte_seconds: 1}}");
    let value = place.run(["ask", "what?", "--json"]).exits(1).json();
    let message = value["error"]["message"].as_str().unwrap();
    assert!(message.contains("sent nothing within 1 s"), "{message}");
}

#[test]
fn a_wrong_flag_is_one_object() {
    check(
        &Place::new(),
        ["ask", "what?", "--json", "--jason"],
        &expect![[r#"
        {
          "status": "error",
          "exit_code": 2,
          "error": {
            "kind": "usage",
            "message": "unexpected argument '--jason' found\n\n  tip: a similar argument exists: '--json'\n\nUsage: reyn ask --json <PROMPT>\n\nFor more information, try '--help'."
          }
        }
    "#]],
    );
}

#[test]
fn a_wrong_configuration_is_one_object() {
    check(
        &Place::new().config("lmm: {}\n"),
        ["ask", "what?", "--json"],
        &expect![[r#"
        {
          "status": "error",
          "exit_code": 2,
          "error": {
            "kind": "config",
            "message": "the configuration is wrong\nreyn.yaml:1:1: unknown key `lmm`\n  | lmm: {}\n  | ^\n  hint: did you mean `llm`?",
            "details": {
              "problems": [
                {
                  "file": "reyn.yaml",
                  "line": 1,
                  "column": 1,
                  "message": "unknown key `lmm`",
                  "hint": "did you mean `llm`?",
                  "source_line": "lmm: {}"
                }
              ]
            }
          }
        }
    "#]],
    );
}

#[test]
fn an_unknown_model_class_is_one_object() {
    let (_server, place) = answering(says("never").into());
    check(
        &place,
        ["ask", "what?", "--json", "--model", "fke"],
        &expect![[r#"
        {
          "status": "error",
          "exit_code": 2,
          "error": {
            "kind": "unknown_model",
            "message": "`fke` is neither a model class nor `provider/model`; did you mean `fake`?"
          }
        }
    "#]],
    );
}

#[test]
fn nothing_to_ask_is_one_object() {
    check(
        &Place::new(),
        ["ask", "--json"],
        &expect![[r#"
        {
          "status": "error",
          "exit_code": 2,
          "error": {
            "kind": "usage",
            "message": "nothing to ask; try `reyn ask \"what does README.md say?\"`, or pipe text in"
          }
        }
    "#]],
    );
}

#[test]
fn a_refusal_for_want_of_a_person_is_one_object() {
    let server = FakeServer::script([
        calls([call("a", "write_file", json!({"path": "notes.md", "content": "x"}))]),
        says("I could not."),
    ]);
    check(
        &Place::with(&server),
        ["ask", "what?", "--json", "--session", "s"],
        &expect![[r#"
            {
              "status": "ok",
              "exit_code": 4,
              "ending": "answered",
              "limit": null,
              "answer": "I could not.",
              "finish": "stop",
              "session": "s",
              "model": "fake/test",
              "rounds": 2,
              "usage": {
                "prompt_tokens": 20,
                "completion_tokens": 10,
                "cached_tokens": 0,
                "source": "provider"
              },
              "calls": [
                {
                  "tool": "write_file",
                  "status": "error",
                  "error": {
                    "kind": "permission_denied",
                    "message": "nobody is there to allow it: write `notes.md` takes a person's yes, because `permissions.file.write` is not set, and only `.reyn/` is written without asking",
                    "hint": "the person can run it again with `--allow file.write`, or set `permissions.file.write: [\".reyn\", \"notes.md\"]` in `reyn.yaml`",
                    "wants_person": true
                  }
                }
              ],
              "error": null
            }
        "#]],
    );
}

#[test]
fn a_limit_is_one_object() {
    let server = FakeServer::script([
        calls([call("a", "read_file", json!({"path": "README.md"}))]),
        says("So far: hello."),
    ]);
    let args = ["ask", "what?", "--json", "--session", "s", "--max-iterations", "1"];
    check(
        &Place::with(&server),
        args,
        &expect![[r#"
            {
              "status": "ok",
              "exit_code": 3,
              "ending": "limited",
              "limit": "max_iterations",
              "answer": "So far: hello.",
              "finish": "stop",
              "session": "s",
              "model": "fake/test",
              "rounds": 2,
              "usage": {
                "prompt_tokens": 20,
                "completion_tokens": 10,
                "cached_tokens": 0,
                "source": "provider"
              },
              "calls": [
                {
                  "tool": "read_file",
                  "status": "ok"
                }
              ],
              "error": null
            }
        "#]],
    );
}

#[test]
fn empty_replies_are_one_object() {
    let server = FakeServer::script([says(" "), says(" ")]);
    check(
        &Place::with(&server),
        ["ask", "what?", "--json", "--session", "s"],
        &expect![[r#"
            {
              "status": "error",
              "exit_code": 1,
              "ending": "empty",
              "limit": null,
              "answer": "",
              "finish": "stop",
              "session": "s",
              "model": "fake/test",
              "rounds": 2,
              "usage": {
                "prompt_tokens": 20,
                "completion_tokens": 10,
                "cached_tokens": 0,
                "source": "provider"
              },
              "calls": [],
              "error": {
                "kind": "empty",
                "message": "the model gave an empty reply twice"
              }
            }
        "#]],
    );
}

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap_or("none")).collect()
}

#[test]
fn a_stream_begins_with_the_session_and_ends_with_the_result() {
    let server = FakeServer::script([
        calls([call("a", "read_file", json!({"path": "README.md"}))]),
        says("It says hello."),
    ]);
    let done = Place::with(&server).run(["ask", "what?", "--stream-json"]).exits(0);
    let lines = done.lines_of_json();
    assert_eq!(types(&lines), ["session", "tool_started", "tool_finished", "delta", "delta", "result"]);
    assert_eq!(lines.last().unwrap()["answer"], "It says hello.");
}

#[test]
fn a_stream_that_fails_before_it_begins_is_a_result_alone() {
    for args in [["ask", "--stream-json", "--nope"], ["ask", "--stream-json", "--session=.."]] {
        let done = Place::new().run(args).exits(2);
        assert_eq!(types(&done.lines_of_json()), ["result"], "{args:?}");
    }
}

#[test]
fn a_stream_tells_of_each_attempt() {
    let server = FakeServer::script([Response::status(503).header("retry-after", "0"), says("here").into()]);
    let done = Place::with(&server).run(["ask", "what?", "--stream-json"]).exits(0);
    assert_eq!(types(&done.lines_of_json()), ["session", "retry", "delta", "result"]);
}
