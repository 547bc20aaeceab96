//! The results of a SearXNG server, in its JSON form.

use serde_json::Value;

use super::{Results, ResultsError, SearchResult, by_status, json, text_of};
use crate::line::one_line;

const ENGINE: &str = "SearXNG";

/// Reads what `/search?format=json` answers with, with the status of the answer.
///
/// A list that is empty because the engines behind the server did not answer is [`ResultsError::RateLimited`].
pub fn searxng(
    body: &[u8],
    content_type: Option<&str>,
    status: u16,
) -> Result<Vec<SearchResult>, ResultsError> {
    if status == 403 {
        return Err(ResultsError::Refused {
            engine: ENGINE,
            status,
            what: "the server does not give JSON; its operator adds `json` to `search.formats` in `settings.yml`"
                .to_owned(),
        });
    }
    if let Some(error) = by_status(ENGINE, status, "it does not take this request; check its address") {
        return Err(error);
    }
    let is_page =
        content_type.is_some_and(|it| it.trim_start().to_ascii_lowercase().starts_with("text/html"));
    if is_page && !body.trim_ascii().is_empty() {
        let what = "a page instead of JSON; its operator adds `json` to `search.formats` in `settings.yml`";
        return Err(ResultsError::LayoutChanged { engine: ENGINE, what: what.to_owned() });
    }
    let answer = json(ENGINE, body, status)?;
    let Some(list) = answer.get("results").and_then(Value::as_array) else {
        let what = "no list `results`".to_owned();
        return Err(ResultsError::LayoutChanged { engine: ENGINE, what });
    };
    let mut results = Results::default();
    for result in list {
        // Plain text already: the server takes markup out of its JSON, and a `<div>` left in it is a word.
        results.add(text_of(result, "title"), text_of(result, "url"), text_of(result, "content"));
    }
    if !results.list.is_empty() {
        return Ok(results.list);
    }
    if !list.is_empty() {
        let what = "no result has a `url` of the web".to_owned();
        return Err(ResultsError::LayoutChanged { engine: ENGINE, what });
    }
    let silent = silent_engines(&answer);
    if silent.is_empty() {
        return Ok(vec![]);
    }
    let what = format!("an empty list, because engines behind it did not answer: {}", silent.join(", "));
    Err(ResultsError::RateLimited { engine: ENGINE, what })
}

/// The engines that did not answer the server, with the reason: `["google", "CAPTCHA"]`.
fn silent_engines(answer: &Value) -> Vec<String> {
    let list = answer.get("unresponsive_engines").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .take(ENGINES_SHOWN_MAX)
        .map(|engine| {
            let parts = engine.as_array().map_or_else(|| std::slice::from_ref(engine), Vec::as_slice);
            let words: Vec<&str> = parts.iter().take(2).filter_map(Value::as_str).collect();
            one_line(&words.join(" "), 60)
        })
        .collect()
}

const ENGINES_SHOWN_MAX: usize = 5;
