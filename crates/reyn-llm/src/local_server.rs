//! Finds a model server that already runs on this machine.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Url;
use reyn_core::limits::{ERROR_BODY_BYTES_MAX, LOCAL_SERVER_ANSWER_MS_MAX, LOCAL_SERVER_CONNECT_MS_MAX};
use serde_json::Value;
use tokio::time::timeout;

use crate::http_client::{client_for, is_loopback};
use crate::providers::{Provider, Providers};

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The provider's name.
    pub provider: String,
    /// Its address.
    pub api_base: String,
    /// A model it offers that chats.
    pub model: String,
}

/// The first local provider whose server answers and offers a chat model; all are asked at the same time.
///
/// Only addresses on this machine are asked. Takes [`LOCAL_SERVER_CONNECT_MS_MAX`] to connect and
/// [`LOCAL_SERVER_ANSWER_MS_MAX`] in all, at most.
pub async fn find_local_server(providers: &Providers) -> Option<LocalServer> {
    let local = providers.all().iter().filter(|provider| provider.is_local);
    join_all(local.map(ask)).await.into_iter().flatten().next()
}

async fn ask(provider: &Provider) -> Option<LocalServer> {
    let mut url = Url::parse(&provider.api_base).ok().filter(is_loopback)?;
    url.path_segments_mut().ok()?.pop_if_empty().push("models");
    let client = client_for(&url, Duration::from_millis(LOCAL_SERVER_CONNECT_MS_MAX)).ok()?;
    let answer = async {
        let mut response = client.get(url).send().await.ok()?.error_for_status().ok()?;
        let mut body: Vec<u8> = vec![];
        while let Some(piece) = response.chunk().await.ok()? {
            body.extend_from_slice(&piece);
            if body.len() > ERROR_BODY_BYTES_MAX {
                return None;
            }
        }
        serde_json::from_slice::<Value>(&body).ok()
    };
    let list = timeout(Duration::from_millis(LOCAL_SERVER_ANSWER_MS_MAX), answer).await.ok()??;
    Some(LocalServer {
        provider: provider.name.clone(),
        api_base: provider.api_base.clone(),
        model: chat_model(&list)?,
    })
}

/// The first listed model that is not for embeddings.
fn chat_model(list: &Value) -> Option<String> {
    let ids = list.get("data")?.as_array()?.iter().filter_map(|model| model.get("id")?.as_str());
    let mut chats = ids.filter(|id| !id.is_empty() && !id.to_lowercase().contains("embed"));
    chats.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_model_that_is_not_for_embeddings_is_chosen() {
        for (list, expected) in [
            (
                json!({"data": [{"id": "nomic-embed-text"}, {"id": "qwen3:8b"}, {"id": "b"}]}),
                Some("qwen3:8b"),
            ),
            (json!({"data": [{"id": "Text-Embedding-3"}]}), None),
            (json!({"data": [{"id": ""}, {"object": "model"}]}), None),
            (json!({"data": null}), None),
            (json!([]), None),
        ] {
            assert_eq!(chat_model(&list).as_deref(), expected, "{list}");
        }
    }
}
