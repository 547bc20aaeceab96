//! Which failures are tried again, and how often.

use std::time::Duration;

use reyn_llm::{ModelError, ModelErrorKind, Retrying};
use reyn_testkit::{FakeServer, Response, Scripted, ScriptedModel, says};
use serde_json::json;
use tokio::time::Instant;

use crate::{ask, model};

fn error(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, kind.name())
}

fn script(kinds: &[ModelErrorKind]) -> Vec<Scripted> {
    kinds.iter().map(|kind| error(*kind).into()).chain([says("ok").into()]).collect()
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_may_pass_is_tried_again_after_a_growing_wait() {
    let model = Retrying::with_random(
        ScriptedModel::new(script(&[ModelErrorKind::RateLimited, ModelErrorKind::BrokenStream])),
        || 0.0,
    );
    let begin = Instant::now();
    let (reply, heard) = ask(&model).await;
    assert_eq!((reply, heard.join(" ")), (Ok(says("ok")), "[retry 1] [retry 2] ok".to_owned()));
    assert_eq!(begin.elapsed().as_secs(), 1 + 2);
}

#[tokio::test(start_paused = true)]
async fn the_third_failure_is_the_last() {
    let kinds = [ModelErrorKind::Server, ModelErrorKind::Empty, ModelErrorKind::Connect];
    let (reply, heard) = ask(&Retrying::new(ScriptedModel::new(script(&kinds)))).await;
    assert_eq!(
        (reply, heard.join(" ")),
        (Err(error(ModelErrorKind::Connect)), "[retry 1] [retry 2]".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_will_not_pass_is_not_tried_again() {
    for kind in [
        ModelErrorKind::Unauthorized,
        ModelErrorKind::NotFound,
        ModelErrorKind::BadRequest,
        ModelErrorKind::Protocol,
        ModelErrorKind::TooLarge,
        ModelErrorKind::Local,
    ] {
        let (reply, heard) = ask(&Retrying::new(ScriptedModel::new(script(&[kind])))).await;
        assert_eq!((reply, heard), (Err(error(kind)), vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn the_servers_wish_is_honoured_up_to_the_limit() {
    let wish = |seconds| ModelError {
        retry_after: Some(Duration::from_secs(seconds)),
        ..error(ModelErrorKind::RateLimited)
    };
    let script: Vec<Scripted> = vec![wish(5).into(), wish(3600).into(), says("ok").into()];
    let model = Retrying::with_random(ScriptedModel::new(script), || 0.0);
    let begin = Instant::now();
    assert_eq!(ask(&model).await.0, Ok(says("ok")));
    assert_eq!(begin.elapsed().as_secs(), 5 + 16);
}

#[tokio::test]
async fn a_server_that_limits_twice_is_asked_a_third_time() {
    let limited = || Response::json(429, &json!({"error": "slow down"})).header("retry-after", "0");
    let server = FakeServer::script([limited(), limited(), says("ok").into()]);
    let (reply, heard) = ask(&Retrying::new(model(&server.api_base()))).await;
    assert_eq!((reply, heard.join(" ")), (Ok(says("ok")), "[retry 1] [retry 2] ok".to_owned()));
    assert_eq!(server.requests().len(), 3);
    server.finish();
}

#[tokio::test]
async fn a_dead_connection_is_replaced_at_once() {
    let server = FakeServer::script([says("one").into(), Response::reset(), says("two").into()]);
    let model = Retrying::new(model(&server.api_base()));
    assert_eq!(ask(&model).await.0, Ok(says("one")));
    let mut waits = vec![];
    let request = crate::request();
    let reply = reyn_llm::ChatModel::reply(&model, &request, &mut |event| {
        if let reyn_llm::StreamEvent::Retry { wait, .. } = event {
            waits.push(wait);
        }
    })
    .await;
    assert_eq!((reply, waits, server.connections()), (Ok(says("two")), vec![Duration::ZERO], 2));
    server.finish();
}
