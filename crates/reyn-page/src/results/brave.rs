//! The results of Brave's web search API.

use serde_json::Value;

use super::{Results, ResultsError, SearchResult, by_status, json, text_of, words_of_html};

const ENGINE: &str = "Brave";

/// Reads what `/res/v1/web/search` answers with, with the status of the answer.
///
/// An answer about the query without a section `web` is the engine's way to say that nothing was found.
pub fn brave(
    body: &[u8],
    _content_type: Option<&str>,
    status: u16,
) -> Result<Vec<SearchResult>, ResultsError> {
    let key = "the key is missing, wrong or out of its plan; check `BRAVE_API_KEY`";
    if matches!(status, 401..=403) {
        return Err(ResultsError::Refused { engine: ENGINE, status, what: key.to_owned() });
    }
    let refusal = if status == 422 {
        "it does not take this query (longer than 400 characters or 50 words?) or key"
    } else {
        "it does not take this request"
    };
    if let Some(error) = by_status(ENGINE, status, refusal) {
        return Err(error);
    }
    let answer = json(ENGINE, body, status)?;
    let Some(web) = answer.get("web") else {
        let is_search = text_of(&answer, "type") == "search" || answer.get("query").is_some();
        if is_search {
            return Ok(vec![]);
        }
        let what = "neither `web` nor `query`".to_owned();
        return Err(ResultsError::LayoutChanged { engine: ENGINE, what });
    };
    let Some(list) = web.get("results").and_then(Value::as_array) else {
        let what = "no list `web.results`".to_owned();
        return Err(ResultsError::LayoutChanged { engine: ENGINE, what });
    };
    let mut results = Results::default();
    for result in list {
        let words = |name: &str| words_of_html(text_of(result, name));
        results.add(&words("title"), text_of(result, "url"), &words("description"));
    }
    if results.list.is_empty() && !list.is_empty() {
        let what = "no result has a `url` of the web".to_owned();
        return Err(ResultsError::LayoutChanged { engine: ENGINE, what });
    }
    Ok(results.list)
}
