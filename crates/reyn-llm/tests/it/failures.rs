//! What a server that fails, hangs or breaks off becomes.

use std::time::Duration;

use reyn_core::limits::ERROR_BODY_BYTES_MAX;
use reyn_llm::ModelErrorKind as Kind;
use reyn_llm::{ApiKey, ChatModel as _, Endpoint, ModelError, OpenAiChat, Retrying, ServerAddress};
use reyn_testkit::{FakeServer, Gate, Response, says, sse};
use serde_json::json;

use crate::{KEY, ask, endpoint, model, request};

/// The error of one answer, with the server's address written as `ADDRESS`.
async fn error(response: Response) -> (Kind, String, Option<Duration>) {
    let server = FakeServer::script([response]);
    let (reply, _) = ask(&model(&server.api_base())).await;
    let ModelError { kind, message, retry_after } = reply.unwrap_err();
    let message = message.replace(&server.api_base(), "ADDRESS");
    server.finish();
    (kind, message, retry_after)
}

fn says_error(status: u16, message: &str) -> Response {
    Response::json(status, &json!({"error": {"message": message}}))
}

#[tokio::test]
async fn each_status_has_its_kind_and_says_what_to_do() {
    for (response, kind, message) in [
        (
            says_error(401, "Incorrect API key"),
            Kind::Unauthorized,
            "openai refuses the key (401): Incorrect API key; set `OPENAI_API_KEY` to a valid key",
        ),
        (
            Response::status(403),
            Kind::Unauthorized,
            "openai refuses the key (403); set `OPENAI_API_KEY` to a valid key",
        ),
        (
            says_error(404, "no such model"),
            Kind::NotFound,
            "openai has no model `m` at ADDRESS (404): no such model; check the model's name, and that \
             `api_base` ends in `/v1`",
        ),
        (says_error(400, "too long"), Kind::BadRequest, "openai refuses the request (400): too long"),
        (says_error(408, "slow"), Kind::Server, "openai could not answer (408): slow"),
        (says_error(409, "busy"), Kind::Server, "openai could not answer (409): busy"),
        (says_error(500, "boom"), Kind::Server, "openai could not answer (500): boom"),
        (
            Response::html(502, "<html>Bad Gateway</html>"),
            Kind::Server,
            "openai could not answer (502): it sent a web page",
        ),
        (
            says_error(429, "slow down"),
            Kind::RateLimited,
            "openai limits the rate of requests (429): slow down",
        ),
        (
            Response::status(307).header("location", "http://127.0.0.1:1/x"),
            Kind::Protocol,
            "ADDRESS redirects (307) to http://127.0.0.1:1/x; set `api_base` to the address that answers",
        ),
    ] {
        assert_eq!(error(response).await, (kind, message.to_owned(), None));
    }
}

#[tokio::test]
async fn an_answer_that_is_no_reply_says_what_it_is_instead() {
    for (response, kind, message) in [
        (
            Response::html(404, "<html>nothing here</html>"),
            Kind::Protocol,
            "ADDRESS answered 404 with text/html; charset=utf-8 instead of a chat completion; `api_base` must \
             be the address of an OpenAI-compatible server and end in `/v1`",
        ),
        (
            Response::html(200, "<!DOCTYPE html>"),
            Kind::Protocol,
            "ADDRESS answered 200 with text/html; charset=utf-8 instead of a chat completion; `api_base` must \
             be the address of an OpenAI-compatible server and end in `/v1`",
        ),
        (
            Response::status(200).bytes("ollama is running"),
            Kind::Protocol,
            "ADDRESS answered 200 with no content type instead of a chat completion; `api_base` must be the \
             address of an OpenAI-compatible server and end in `/v1`",
        ),
        (
            Response::stream().bytes("data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n"),
            Kind::Server,
            "openai could not answer (503): overloaded",
        ),
        (
            Response::stream().bytes("data: [DONE]\n\n"),
            Kind::Empty,
            "the reply of ADDRESS holds neither text nor a call",
        ),
        (
            Response::stream().bytes("data: {\"choices\":[]}\n\n"),
            Kind::BrokenStream,
            "the reply of ADDRESS broke off: the server closed it before its end",
        ),
    ] {
        assert_eq!(error(response).await, (kind, message.to_owned(), None));
    }
}

#[tokio::test]
async fn the_wait_is_read_from_headers_or_from_the_message() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (response, expected) in [
        (says_error(429, "x").header("retry-after", "2"), seconds(2)),
        (
            says_error(429, "x").header("retry-after", "Sun, 06 Nov 1994 08:49:44 GMT").header("date", date),
            seconds(7),
        ),
        (says_error(429, "Please try again in 17s."), seconds(17)),
        (says_error(503, "x").header("retry-after", "3"), seconds(3)),
    ] {
        assert_eq!(error(response).await.2, expected);
    }
}

#[tokio::test]
async fn the_servers_words_are_cut_cleaned_and_never_hold_the_key() {
    let long = "x".repeat(400);
    let (_, message, _) = error(says_error(400, &long)).await;
    assert_eq!(message, format!("openai refuses the request (400): {}…", "x".repeat(300)));
    let (_, message, _) = error(says_error(400, "a\n\u{1b}[31mb")).await;
    assert_eq!(message, "openai refuses the request (400): a [31mb");
    let (_, message, _) = error(says_error(401, &format!("no such key: {KEY}."))).await;
    assert!(message.contains("no such key: [redacted]."), "{message}");
    let across_the_cut = format!("{}{KEY}", "x".repeat(295));
    let (_, message, _) = error(says_error(400, &across_the_cut)).await;
    assert_eq!(message, format!("openai refuses the request (400): {}[reda…", "x".repeat(295)));
    for response in [
        Response::status(500).bytes(format!("plain {KEY}")),
        Response::status(302).header("location", &format!("/{KEY}")),
        Response::status(200).header("content-type", KEY).bytes("plain"),
        Response::stream().bytes(format!("data: {{\"error\":\"{KEY}\"}}\n\n")),
    ] {
        let (_, message, _) = error(response).await;
        assert!(message.contains("[redacted]") && !message.contains("secret"), "{message}");
    }
}

#[tokio::test]
async fn a_key_hint_names_the_configured_variable_and_says_when_none_was_sent() {
    let ask_with = async |change: &dyn Fn(&mut Endpoint)| {
        let server = FakeServer::script([says_error(401, "no")]);
        let mut endpoint = endpoint(&server.api_base());
        change(&mut endpoint);
        let (reply, _) = ask(&OpenAiChat::loopback_only(endpoint)).await;
        reply.unwrap_err().message
    };
    assert_eq!(
        ask_with(&|endpoint| endpoint.options.api_key_env = Some("MY_KEY".into())).await,
        "openai refuses the key (401): no; set `MY_KEY` to a valid key"
    );
    let unknown = |endpoint: &mut Endpoint| {
        endpoint.key = None;
        endpoint.provider = "own".into();
    };
    assert_eq!(
        ask_with(&unknown).await,
        "own wants a key (401): no; name the environment variable that holds the key in `api_key_env`"
    );
}

#[tokio::test]
async fn an_endless_error_body_is_read_up_to_its_limit() {
    let body = format!("{}end", "x ".repeat(ERROR_BODY_BYTES_MAX));
    let (kind, message, _) = error(Response::status(500).bytes(body).then_hang()).await;
    assert_eq!(
        (kind, message.chars().count()),
        (Kind::Server, "openai could not answer (500): ".len() + 301)
    );
}

#[tokio::test]
async fn silence_before_and_within_a_reply_are_told_apart() {
    let short = Duration::from_millis(60);
    let ask_with = async |response: Response, change: &dyn Fn(&mut Endpoint)| {
        let server = FakeServer::script([response]);
        let mut endpoint = endpoint(&server.api_base());
        change(&mut endpoint);
        let (reply, _) = ask(&OpenAiChat::loopback_only(endpoint)).await;
        let error = reply.unwrap_err();
        (error.kind, error.message.replace(&server.api_base(), "ADDRESS"))
    };
    let first = |endpoint: &mut Endpoint| endpoint.timeouts.first_byte = short;
    let idle = |endpoint: &mut Endpoint| endpoint.timeouts.idle = short;
    let expected = (
        Kind::FirstByteTimeout,
        "ADDRESS sent nothing within 0.06 s; `safety.timeout.llm_first_byte_seconds` raises the limit"
            .to_owned(),
    );
    assert_eq!(ask_with(Response::hang(), &first).await, expected);
    assert_eq!(ask_with(Response::stream().then_hang(), &first).await, expected);
    assert_eq!(
        ask_with(Response::stream().bytes(": ping\n\n").then_hang(), &idle).await,
        (
            Kind::IdleTimeout,
            "the reply of ADDRESS stopped for 0.06 s; `safety.timeout.llm_idle_seconds` raises the limit"
                .to_owned()
        )
    );
}

#[tokio::test]
async fn a_reset_within_a_reply_breaks_it_and_its_text_was_heard() {
    let gate = Gate::new();
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    let server = FakeServer::script([Response::stream().bytes(text).wait(&gate).then_reset()]);
    let mut heard = vec![];
    let reply = model(&server.api_base())
        .reply(&request(), &mut |event| {
            heard.push(format!("{event:?}"));
            gate.open();
        })
        .await;
    assert_eq!((reply.unwrap_err().kind, heard), (Kind::BrokenStream, vec!["Text(\"half\")".to_owned()]));
    server.finish();
}

#[tokio::test]
async fn a_refused_connection_says_where_and_why() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (reply, _) = ask(&model(&format!("http://127.0.0.1:{port}/v1"))).await;
    let error = reply.unwrap_err();
    let begin = format!("cannot connect to http://127.0.0.1:{port}/v1: Connection refused (os error ");
    assert_eq!(error.kind, Kind::Connect);
    assert!(error.message.starts_with(&begin), "{error}");
    assert!(error.message.ends_with("; check `api_base` and that the server runs"), "{error}");
}

#[tokio::test]
async fn an_address_that_cannot_be_used_is_refused_before_anything_is_sent() {
    for (api_base, says) in [
        ("127.0.0.1:8080/v1", "`api_base` of openai/m cannot be used: relative URL without a base"),
        ("ftp://127.0.0.1/v1", "must begin with `http://` or `https://`"),
        ("http://example.com/v1", "only addresses on this machine are allowed here"),
        ("https://api.openai.com/v1", "only addresses on this machine are allowed here"),
        ("http://127.0.0.1.example.com/v1", "only addresses on this machine are allowed here"),
    ] {
        let (reply, _) = ask(&model(api_base)).await;
        let error = reply.unwrap_err();
        assert!(error.kind == Kind::BadRequest && error.message.contains(says), "{api_base}: {error}");
    }
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_refused_without_being_shown() {
    let server = FakeServer::script([says("never")]);
    let mut endpoint = endpoint(&server.api_base());
    endpoint.key = ApiKey::new("sk-\nsecret");
    let (reply, _) = ask(&OpenAiChat::loopback_only(endpoint)).await;
    let error = reply.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (Kind::Unauthorized, "the key has characters that no HTTP header can carry")
    );
    server.finish();
}

#[tokio::test]
async fn a_password_in_the_address_is_not_shown() {
    let server = FakeServer::script([Response::html(200, "<p>")]);
    let address = server.api_base().replace("http://", "http://user:hunter2@") + "?token=hunter2";
    let (reply, _) = ask(&model(&address)).await;
    let error = reply.unwrap_err();
    assert!(error.message.starts_with(&server.api_base()) && !error.message.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn a_secret_in_the_address_is_not_shown_whatever_the_server_says_of_it() {
    let moved = |location: &str| Response::json(307, &json!({})).header("location", location);
    for response in [
        Response::html(200, "<p>"),
        moved("https://other/hunter2/v1/chat/completions"),
        Response::json(400, &json!({"error": {"message": "no route /hunter2/v1"}})),
        Response::json(404, &json!({"error": {"message": "no route /hunter2/v1"}})),
    ] {
        let server = FakeServer::script([response]);
        let address = server.api_base().replace("/v1", "/hunter2/v1");
        let written = server.api_base().replace("/v1", "/${TOKEN}/v1");
        let mut endpoint = endpoint(&address);
        endpoint.address = ServerAddress::with_secrets(address, &written, &["hunter2".to_owned()]);
        assert!(!format!("{endpoint:?}").contains("hunter2"));
        let (reply, _) = ask(&OpenAiChat::loopback_only(endpoint)).await;
        let error = reply.unwrap_err().message;
        let names_it = error.contains("/${TOKEN}/v1") || error.contains("/[redacted]/v1");
        assert!(names_it && !error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn an_old_connection_that_is_dead_asks_for_another_attempt_at_once() {
    let server = FakeServer::script([says("one").into(), Response::reset(), Response::reset()]);
    let model = model(&server.api_base());
    assert_eq!(ask(&model).await.0, Ok(says("one")));
    let wishes = [ask(&model).await.0, ask(&model).await.0].map(|reply| {
        let error = reply.unwrap_err();
        (error.kind, error.retry_after)
    });
    assert_eq!(wishes, [(Kind::Connect, Some(Duration::ZERO)), (Kind::Connect, None)]);
    server.finish();
}

#[tokio::test]
async fn a_connection_that_was_closed_in_silence_is_replaced() {
    let close = || Response::stream().bytes(sse(&says("a"))).bytes(": end\n\n").then_close();
    let server = FakeServer::script([close(), close()]);
    let model = Retrying::new(model(&server.api_base()));
    for _ in 0..2 {
        assert_eq!(ask(&model).await.0, Ok(says("a")));
    }
    server.finish();
}
