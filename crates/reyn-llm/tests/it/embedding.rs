//! Vectors of texts: from servers, from the local model, in batches.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use reyn_core::settings::{EmbeddingSettings, ModelOptions, RetryBackoff};
use reyn_llm::files::Catalogue;
use reyn_llm::{
    Embedded, Embedder, EmbedderOptions, EmbeddingEvent, EmbeddingModel, Endpoint, LocalEmbedding,
    ModelError, ModelErrorKind, OllamaEmbedding, OpenAiEmbedding, RetryPolicy, ServerAddress,
};
use reyn_testkit::{FakeServer, Gate, Response, ScriptedEmbedding};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{KEY, endpoint};

fn openai(server: &FakeServer) -> OpenAiEmbedding {
    OpenAiEmbedding::loopback_only(endpoint(&server.api_base()))
}

fn with_extra(server: &FakeServer, extra_body: &Value) -> OpenAiEmbedding {
    let options = ModelOptions { extra_body: extra_body.as_object().cloned(), ..ModelOptions::default() };
    OpenAiEmbedding::loopback_only(Endpoint { options, ..endpoint(&server.api_base()) })
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn ok(body: &Value) -> Response {
    Response::json(200, body)
}

fn data(vectors: &[Value]) -> Value {
    let item = |(at, vector)| json!({"object": "embedding", "index": at, "embedding": vector});
    let items: Vec<Value> = vectors.iter().enumerate().map(item).collect();
    json!({"object": "list", "data": items, "model": "m", "usage": {"prompt_tokens": 7, "total_tokens": 7}})
}

fn options() -> EmbedderOptions {
    EmbedderOptions::from(&EmbeddingSettings::default())
}

fn embedded(vectors: &[[f32; 2]], tokens: Option<u64>) -> Embedded {
    let vectors: Vec<Vec<f32>> = vectors.iter().map(|vector| vector.to_vec()).collect();
    Embedded { is_cut: vec![false; vectors.len()], vectors, tokens }
}

async fn fault(response: Response) -> (ModelErrorKind, String) {
    let server = FakeServer::script([response]);
    let error = openai(&server).embed(&texts(&["a", "b"])).await.unwrap_err();
    server.finish();
    (error.kind, error.message.replace(&server_port(&error.message), "PORT"))
}

/// The port in a message, so that messages can be compared.
fn server_port(message: &str) -> String {
    let after = message.split("127.0.0.1:").nth(1).unwrap_or("none");
    after.chars().take_while(char::is_ascii_digit).collect::<String>()
        + if after == "none" { "none" } else { "" }
}

#[tokio::test]
async fn vectors_come_in_the_order_of_the_texts_and_of_length_1() {
    let bytes: Vec<u8> = [0.0_f32, 2.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
    let reversed = json!({"data": [
        {"index": 1, "embedding": base64},
        {"index": 0, "embedding": [3, 4]},
    ]});
    let unnumbered =
        json!({"data": [{"embedding": [3, 4]}, {"embedding": [0, 2]}], "usage": {"total_tokens": 5}});
    let server =
        FakeServer::script([ok(&data(&[json!([3, 4]), json!([0, 2])])), ok(&reversed), ok(&unnumbered)]);
    server.require_key(KEY);
    let model = openai(&server);
    assert_eq!((model.name(), model.identity(), model.may_cost()), ("openai/m", None, false));
    let expected = |tokens| Ok(embedded(&[[0.6, 0.8], [0.0, 1.0]], tokens));
    for tokens in [Some(7), None, Some(5)] {
        assert_eq!(model.embed(&texts(&["a", "b"])).await, expected(tokens));
    }
    assert_eq!(
        model.identity().map(|identity| identity.to_string()).as_deref(),
        Some("openai/m (2 numbers)")
    );
    assert_eq!(server.requests()[0], json!({"model": "m", "input": ["a", "b"]}));
    server.finish();
}

#[tokio::test]
async fn further_fields_are_sent_and_the_dimensions_that_were_asked_for_are_held_to() {
    let server = FakeServer::script([ok(&data(&[json!([1, 0])])), ok(&data(&[json!([1, 0, 0])]))]);
    let model = with_extra(&server, &json!({"dimensions": 2, "model": "other", "encoding_format": "float"}));
    assert_eq!(model.identity().map(|identity| identity.dimensions), Some(2));
    assert_eq!(model.embed(&texts(&["a"])).await, Ok(embedded(&[[1.0, 0.0]], Some(7))));
    assert_eq!(
        server.requests()[0],
        json!({"dimensions": 2, "model": "m", "encoding_format": "float", "input": ["a"]})
    );
    let error = model.embed(&texts(&["a"])).await.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            ModelErrorKind::Protocol,
            "the answer of `openai/m` cannot be used: a vector has 3 numbers and should have 2"
        )
    );
    server.finish();
}

#[tokio::test]
async fn an_answer_that_is_no_list_of_vectors_is_an_error() {
    let of = |vectors: &[Value]| ok(&data(vectors));
    let numbered = |first: i64, second: i64| {
        ok(&json!({"data": [{"index": first, "embedding": [1]}, {"index": second, "embedding": [1]}]}))
    };
    let one = json!([1, 0]);
    for (response, said) in [
        (of(std::slice::from_ref(&one)), "it has 1 vectors for 2 texts"),
        (of(&[one.clone(), one.clone(), one.clone()]), "it has 3 vectors for 2 texts"),
        (of(&[one.clone(), json!([1])]), "a vector has 1 numbers and should have 2"),
        (of(&[one.clone(), json!([0, 0])]), "a vector is zero"),
        (of(&[one.clone(), json!([1e300, 0])]), "a vector holds what is no finite number"),
        (of(&[json!([]), json!([])]), "a vector is empty"),
        (of(&[one.clone(), json!([1, null])]), "invalid type: null, expected f32"),
        (of(&[one.clone(), json!("not base64")]), "a vector is no base64"),
        (ok(&json!({"data": []})), "it has 0 vectors for 2 texts"),
        (numbered(0, 0), "the vectors are not numbered from 0 to 1"),
        (numbered(1, 2), "the vectors are not numbered from 0 to 1"),
        (ok(&json!({"other": 1})), "missing field `data`"),
        (ok(&json!([1])), "instead of vectors"),
        (Response::html(200, "<p>hello"), "instead of vectors"),
        (Response::status(200).bytes("{\"data\": [{\"index\": 0, \"embedding\": [NaN]}]}"), "expected value"),
    ] {
        let (kind, message) = fault(response).await;
        assert!(kind == ModelErrorKind::Protocol && message.contains(said), "{said}: {kind:?} {message}");
    }
}

#[tokio::test]
async fn failures_of_a_server_have_the_kinds_of_chat_and_show_no_key() {
    for (response, kind) in [
        (
            Response::json(401, &json!({"error": {"message": format!("bad key {KEY}")}})),
            ModelErrorKind::Unauthorized,
        ),
        (Response::json(404, &json!({"error": "no model"})), ModelErrorKind::NotFound),
        (Response::json(429, &json!({"error": "slow down"})), ModelErrorKind::RateLimited),
        (Response::json(503, &json!({"error": "later"})), ModelErrorKind::Server),
        (Response::json(400, &json!({"error": "too long"})), ModelErrorKind::BadRequest),
        (ok(&json!({"error": {"message": "busy", "code": 503}})), ModelErrorKind::Server),
        (Response::json(302, &json!({})).header("location", "http://example.com"), ModelErrorKind::Protocol),
        (Response::reset(), ModelErrorKind::Connect),
    ] {
        let (found, message) = fault(response).await;
        assert!(!message.contains(KEY), "{message}");
        let is_broken = kind == ModelErrorKind::Connect && message.contains("broke before a reply began");
        assert!(found == kind || is_broken, "{found:?} {message}");
    }
}

#[tokio::test]
async fn no_address_but_this_machines_is_asked_in_tests() {
    let model = OpenAiEmbedding::loopback_only(Endpoint {
        address: ServerAddress::new("http://192.0.2.1/v1"),
        ..endpoint("http://127.0.0.1:1/v1")
    });
    assert!(model.may_cost());
    assert_eq!(model.embed(&texts(&["a"])).await.unwrap_err().kind, ModelErrorKind::BadRequest);
}

#[tokio::test]
async fn ollama_is_asked_at_its_own_address() {
    let reply = json!({"model": "m", "embeddings": [[0.6, 0.8], [1, 0]], "prompt_eval_count": 9});
    let server = FakeServer::script([ok(&reply), Response::json(404, &json!({"error": "model not found"}))]);
    let model = OllamaEmbedding::loopback_only(endpoint(&server.api_base()));
    assert_eq!(model.embed(&texts(&["a", ""])).await, Ok(embedded(&[[0.6, 0.8], [1.0, 0.0]], Some(9))));
    assert_eq!(server.requests(), [json!({"model": "m", "input": ["a", "."]})]);
    assert_eq!(model.embed(&texts(&["a"])).await.unwrap_err().kind, ModelErrorKind::NotFound);
    assert_eq!(model.embed(&[]).await, Ok(Embedded::default()));
    server.finish();
}

#[tokio::test]
async fn an_empty_list_asks_nobody() {
    let model = Arc::new(ScriptedEmbedding::new(4).paid());
    let embedder = Embedder::new(Arc::clone(&model) as Arc<dyn EmbeddingModel>, options());
    let done = embedder.embed(&[], &|event| panic!("{event:?}")).await.unwrap();
    assert_eq!(done, Embedded { tokens: Some(0), ..Embedded::default() });
    assert!(model.batches().is_empty());
}

#[tokio::test]
async fn many_texts_go_in_batches_without_secrets_and_come_back_in_order() {
    let model = Arc::new(ScriptedEmbedding::new(64));
    let options = EmbedderOptions { batch_texts_max: 2, batches_at_once: 3, ..options() };
    let embedder = Embedder::new(Arc::clone(&model) as Arc<dyn EmbeddingModel>, options);
    let asked = texts(&["one", "api_key=sk-4f1c0ffee4f1c0ffee4f1c0ffee", "", "four", "five"]);
    let done = Mutex::new(vec![]);
    let vectors = embedder
        .embed(&asked, &|event| match event {
            EmbeddingEvent::BatchDone { texts } => done.lock().unwrap().push(texts),
            EmbeddingEvent::Cost(_) | EmbeddingEvent::Retry { .. } => panic!("{event:?}"),
        })
        .await
        .unwrap();
    let sent: Vec<String> = model.batches().concat();
    assert_eq!(sent, texts(&["one", "api_key=[REDACTED:credential]", "", "four", "five"]));
    assert_eq!((done.into_inner().unwrap().iter().sum::<usize>(), model.batches().len()), (5, 3));
    let alone = model.embed(&sent).await.unwrap();
    assert_eq!(vectors, alone);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_failed_is_tried_again_and_the_others_are_not() {
    let error = |kind| ModelError::new(kind, "x");
    let failures = [error(ModelErrorKind::RateLimited), error(ModelErrorKind::Server)];
    let model = Arc::new(ScriptedEmbedding::new(8).failing(failures));
    let retries = RetryPolicy { attempts_max: 4, backoff: RetryBackoff::Linear };
    let options = EmbedderOptions { batch_texts_max: 1, retries, ..options() };
    let embedder = Embedder::with_random(Arc::clone(&model) as Arc<dyn EmbeddingModel>, options, || 1.0);
    let begin = Instant::now();
    let heard = Mutex::new(vec![]);
    let done = embedder
        .embed(&texts(&["a", "b"]), &|event| {
            heard.lock().unwrap().push(match event {
                EmbeddingEvent::Cost(_) => "cost".to_owned(),
                EmbeddingEvent::Retry { attempt, wait, .. } => {
                    format!("retry {attempt} in {}", wait.as_secs())
                }
                EmbeddingEvent::BatchDone { texts } => format!("done {texts}"),
            });
        })
        .await;
    assert_eq!(done.unwrap().vectors.len(), 2);
    assert_eq!(heard.into_inner().unwrap(), ["retry 1 in 2", "retry 2 in 4", "done 1", "done 1"]);
    assert_eq!(
        (begin.elapsed().as_secs(), model.batches()),
        (6, vec![texts(&["a"]); 3].into_iter().chain([texts(&["b"])]).collect())
    );
}

#[tokio::test(start_paused = true)]
async fn retries_end_and_what_will_not_pass_is_not_tried_again() {
    for (kind, max_retries, attempts) in [
        (ModelErrorKind::Server, 0, 1),
        (ModelErrorKind::Server, 2, 3),
        (ModelErrorKind::Unauthorized, 2, 1),
        (ModelErrorKind::Protocol, 2, 1),
    ] {
        let failures = std::iter::repeat_n(ModelError::new(kind, "x"), 9);
        let model = Arc::new(ScriptedEmbedding::new(8).failing(failures));
        let settings = EmbeddingSettings { max_retries, ..EmbeddingSettings::default() };
        let embedder =
            Embedder::new(Arc::clone(&model) as Arc<dyn EmbeddingModel>, EmbedderOptions::from(&settings));
        let error = embedder.embed(&texts(&["a"]), &|_| {}).await.unwrap_err();
        assert_eq!((error.kind, model.batches().len()), (kind, attempts));
    }
}

#[tokio::test]
async fn a_batch_that_takes_too_long_names_the_key_that_raises_the_limit() {
    let server = FakeServer::script([Response::hang()]);
    let retries = RetryPolicy { attempts_max: 1, backoff: RetryBackoff::Exponential };
    let options = EmbedderOptions { batch_time_max: Duration::from_millis(30), retries, ..options() };
    let embedder = Embedder::new(Arc::new(openai(&server)), options);
    let error = embedder.embed(&texts(&["a"]), &|_| {}).await.unwrap_err();
    assert_eq!(
        error.message,
        "`openai/m` did not finish a batch within 0.03 s; `embedding.timeout` raises the limit, and a smaller \
         `embedding.batch_size` makes a batch quicker"
    );
    server.finish();
}

#[tokio::test]
async fn so_many_batches_are_under_way_as_may_be_and_dropping_ends_them() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = FakeServer::answering(move |body| {
        assert_eq!(body["input"].as_array().unwrap().len(), 1);
        Response::status(200).wait(&held).bytes(data(&[json!([1, 0])]).to_string())
    });
    let options = EmbedderOptions { batch_texts_max: 1, batches_at_once: 2, ..options() };
    let embedder = Embedder::new(Arc::new(openai(&server)), options);
    let asked = texts(&["a", "b", "c", "d", "e"]);
    let two_are_here = async {
        while server.requests().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        done = embedder.embed(&asked, &|_| {}) => panic!("{done:?}"),
        () = two_are_here => {}
    }
    assert_eq!(server.requests().len(), 2);
    gate.open();
    assert_eq!(embedder.embed(&asked, &|_| {}).await.unwrap().vectors.len(), 5);
    assert_eq!(server.requests().len(), 2 + 5);
    server.finish();
}

#[tokio::test]
async fn many_texts_for_a_model_that_may_cost_are_said_before_they_are_sent() {
    let settings = EmbeddingSettings { cost_warn_threshold: 2, ..EmbeddingSettings::default() };
    for (is_paid, count, is_said) in [(true, 3, true), (true, 2, false), (false, 3, false)] {
        let model = ScriptedEmbedding::new(8);
        let model = Arc::new(if is_paid { model.paid() } else { model });
        let embedder =
            Embedder::new(Arc::clone(&model) as Arc<dyn EmbeddingModel>, EmbedderOptions::from(&settings));
        let said = Mutex::new(vec![]);
        let asked = vec!["a".to_owned(); count];
        embedder
            .embed(&asked, &|event| {
                if let EmbeddingEvent::Cost(warning) = event {
                    let fact = (
                        warning.model.to_owned(),
                        warning.texts,
                        warning.texts_warned_of,
                        model.batches().len(),
                    );
                    said.lock().unwrap().push(fact);
                }
            })
            .await
            .unwrap();
        let expected = is_said.then(|| ("scripted/words".to_owned(), 3, 2, 0));
        assert_eq!(said.into_inner().unwrap(), expected.into_iter().collect::<Vec<_>>());
    }
}

/// The two files of the local model in `$REYN_TEST_MODEL_DIR` or in the usual cache.
async fn local(threads: usize) -> LocalEmbedding {
    let folder = std::env::var_os("REYN_TEST_MODEL_DIR").map_or_else(
        || std::env::home_dir().expect("a home folder").join(".cache/reyn/models"),
        PathBuf::from,
    );
    let model = Catalogue::bundled().model("use-multilingual-v3").unwrap();
    let [weights, vocabulary] = [0, 1].map(|at| folder.join(&model.files[at].sha256));
    assert!(
        weights.is_file() && vocabulary.is_file(),
        "these tests need the two files of `{0}` in `{1}`; fetch them with `reyn models pull {0}`, or name their folder \
         in REYN_TEST_MODEL_DIR",
        model.id,
        folder.display()
    );
    LocalEmbedding::load(weights, vocabulary, threads).await.unwrap()
}

#[tokio::test]
async fn the_local_model_gives_the_same_on_any_number_of_threads_and_says_what_it_cut() {
    let (one, two) = (local(1).await, local(2).await);
    let long = "word ".repeat(600);
    let asked: Vec<String> = texts(&["a cat", "", "猫", &long])
        .into_iter()
        .chain((0..200).map(|at| format!("text {at}")))
        .collect();
    let done = one.embed(&asked).await.unwrap();
    assert_eq!(two.embed(&asked).await.unwrap(), done);
    let cut: Vec<usize> = (0..asked.len()).filter(|at| done.is_cut[*at]).collect();
    assert_eq!((cut, done.vectors.len()), (vec![3], asked.len()));
    assert_eq!(done.tokens, Some(asked.iter().map(|text| one.tokens(text) as u64).sum()));
    let identity = one.identity().unwrap();
    assert_eq!(identity.to_string(), "local/use-multilingual-v3 (0db566fd0af82cbf, 512 numbers)");
    assert!(done.vectors.iter().all(|vector| vector.len() == identity.dimensions));
    assert!(!one.may_cost());
}

#[tokio::test]
async fn files_that_are_not_the_model_are_an_error() {
    let missing = PathBuf::from("/nowhere/weights");
    let error = LocalEmbedding::load(missing.clone(), missing, 1).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Local);
    assert!(error.message.contains("cannot read `/nowhere/weights`"), "{error}");
}
