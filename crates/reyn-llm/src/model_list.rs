//! Which models a server says it has.

use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use reyn_core::limits::MODEL_LIST_BYTES_MAX;
use serde_json::Value;
use tokio::time::timeout;

use crate::api_key::ApiKey;
use crate::http_client::{client_for, request_cause};
use crate::server_address::ServerAddress;

/// How long a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListTimes {
    /// Until a connection is open.
    pub connect: Duration,
    /// In all.
    pub answer: Duration,
}

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The address is none.
    #[error("its address cannot be used: {0}")]
    Address(String),
    /// Nobody answers there.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// It takes too long.
    #[error("it did not answer in {} s", .0.as_secs())]
    Slow(Duration),
    /// It answers with a failure.
    #[error("it answered {0}")]
    Status(u16),
    /// It answers with something else.
    #[error("its answer is no list of models")]
    NoList,
}

/// Asks a server for its models: `GET {address}/models`, once, following no redirect. The key goes to this
/// address alone.
///
/// # Errors
/// When the address is none, nobody answers in time, or the answer is no list.
pub async fn list_models(
    address: &ServerAddress,
    key: Option<&ApiKey>,
    times: ListTimes,
) -> Result<Vec<String>, ListError> {
    let mut url = address.url().map_err(ListError::Address)?;
    let no_path = || ListError::Address("it has no path".to_owned());
    url.path_segments_mut().map_err(|()| no_path())?.pop_if_empty().push("models");
    let client =
        client_for(&url, times.connect).map_err(|error| ListError::Unreachable(error.to_string()))?;
    let mut request = client.get(url);
    if let Some(key) = key {
        let value = key
            .bearer()
            .ok_or_else(|| ListError::Address("its key holds characters that cannot be sent".to_owned()))?;
        request = request.header(AUTHORIZATION, value);
    }
    let answer = async {
        let unreachable =
            |error: reqwest::Error| ListError::Unreachable(address.redact(&request_cause(error)));
        let mut response = request.send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(ListError::Status(response.status().as_u16()));
        }
        let mut body: Vec<u8> = vec![];
        while let Some(piece) = response.chunk().await.map_err(unreachable)? {
            body.extend_from_slice(&piece);
            if body.len() > MODEL_LIST_BYTES_MAX {
                return Err(ListError::NoList);
            }
        }
        serde_json::from_slice::<Value>(&body).ok().as_ref().and_then(ids).ok_or(ListError::NoList)
    };
    timeout(times.answer, answer).await.map_err(|_| ListError::Slow(times.answer))?
}

/// The names in `{"data": [{"id": …}]}`.
fn ids(list: &Value) -> Option<Vec<String>> {
    let ids = list.get("data")?.as_array()?.iter().filter_map(|model| model.get("id")?.as_str());
    Some(ids.filter(|id| !id.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_names_of_a_list_are_read_and_anything_else_is_no_list() {
        for (list, expected) in [
            (
                json!({"data": [{"id": "a"}, {"id": ""}, {"object": "model"}, {"id": "b"}]}),
                Some(vec!["a", "b"]),
            ),
            (json!({"data": []}), Some(vec![])),
            (json!({"data": null}), None),
            (json!([]), None),
        ] {
            let expected = expected.map(|ids| ids.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(ids(&list), expected, "{list}");
        }
    }
}
