//! Finds a model server that already runs on this machine.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Url;
use reyn_core::limits::{LOCAL_SERVER_ANSWER_MS_MAX, LOCAL_SERVER_CONNECT_MS_MAX};

use crate::http_client::is_loopback;
use crate::model_list::{ListTimes, list_models};
use crate::providers::{Provider, Providers};
use crate::server_address::ServerAddress;

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

/// The first local provider whose server answers and offers a chat model, of [`local_servers`].
pub async fn find_local_server(providers: &Providers) -> Option<LocalServer> {
    local_servers(providers).await.into_iter().next()
}

/// The local providers whose server answers and offers a chat model, in their order; all are asked at the
/// same time.
///
/// Only addresses on this machine are asked. Takes [`LOCAL_SERVER_CONNECT_MS_MAX`] to connect and
/// [`LOCAL_SERVER_ANSWER_MS_MAX`] in all, at most.
pub async fn local_servers(providers: &Providers) -> Vec<LocalServer> {
    let local = providers.all().iter().filter(|provider| provider.is_local);
    join_all(local.map(ask)).await.into_iter().flatten().collect()
}

async fn ask(provider: &Provider) -> Option<LocalServer> {
    Url::parse(&provider.api_base).ok().filter(is_loopback)?;
    let times = ListTimes {
        connect: Duration::from_millis(LOCAL_SERVER_CONNECT_MS_MAX),
        answer: Duration::from_millis(LOCAL_SERVER_ANSWER_MS_MAX),
    };
    let models = list_models(&ServerAddress::new(&provider.api_base), None, times).await.ok()?;
    Some(LocalServer {
        provider: provider.name.clone(),
        api_base: provider.api_base.clone(),
        model: chat_model(models)?,
    })
}

/// The first listed model that is not for embeddings.
fn chat_model(models: Vec<String>) -> Option<String> {
    models.into_iter().find(|id| !id.to_lowercase().contains("embed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_model_that_is_not_for_embeddings_is_chosen() {
        for (models, expected) in [
            (vec!["nomic-embed-text", "qwen3:8b", "b"], Some("qwen3:8b")),
            (vec!["Text-Embedding-3"], None),
            (vec![], None),
        ] {
            let models = models.into_iter().map(str::to_owned).collect();
            assert_eq!(chat_model(models).as_deref(), expected);
        }
    }
}
