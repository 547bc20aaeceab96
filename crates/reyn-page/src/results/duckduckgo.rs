//! The results of DuckDuckGo's page without scripts.

use dom_query::{Document, NodeRef};
use url::Url;

use super::{Results, ResultsError, SearchResult, by_status};
use crate::charset::decode;
use crate::reduced::reduced;

const ENGINE: &str = "DuckDuckGo";

/// What the links of the page are relative to.
const ADDRESS: &str = "https://html.duckduckgo.com/html/";

/// What stands in the page that asks to prove that a person searches.
const CHALLENGE_MARKS: [&str; 5] =
    ["anomaly-modal", "anomaly.js", "bots use duckduckgo too", "challenge-form", "challenge-submit"];

/// Reads the page that `https://html.duckduckgo.com/html/` answers with, with the status of the answer. Ads are
/// left out.
///
/// An empty list is what the engine itself calls no results. A page to prove that one is a person is
/// [`ResultsError::RateLimited`], whatever its status.
pub fn duckduckgo(
    body: &[u8],
    content_type: Option<&str>,
    status: u16,
) -> Result<Vec<SearchResult>, ResultsError> {
    if let Some(error) = by_status(ENGINE, status, "it does not take this request") {
        return Err(error);
    }
    if body.trim_ascii().is_empty() {
        return Err(match status {
            202 => limited("status 202 and an empty page"),
            _ => ResultsError::Empty { engine: ENGINE, status },
        });
    }
    let page = decode(body, content_type).text;
    let document = Document::from(reduced(&page, Url::parse(ADDRESS).ok().as_ref()).html);
    let mut results = Results::default();
    for link in document.select("a.result__a").nodes() {
        add(&mut results, link);
    }
    if !results.list.is_empty() {
        return Ok(results.list);
    }
    let lower = page.to_ascii_lowercase();
    if let Some(mark) = CHALLENGE_MARKS.iter().find(|mark| lower.contains(**mark)) {
        return Err(limited(&format!("a page that asks whether a person searches (`{mark}`)")));
    }
    if status == 202 {
        return Err(limited("status 202 and a page without results"));
    }
    if document.select(".no-results, .result--no-result").exists() {
        return Ok(vec![]);
    }
    let what = if document.select(".result--ad, a.result__a").exists() {
        "only advertisements, and no word that nothing was found"
    } else {
        "neither a link `result__a` nor a note `no-results`"
    };
    Err(ResultsError::LayoutChanged { engine: ENGINE, what: what.to_owned() })
}

fn limited(what: &str) -> ResultsError {
    ResultsError::RateLimited { engine: ENGINE, what: what.to_owned() }
}

fn add(results: &mut Results, link: &NodeRef<'_>) {
    let href = link.attr_or("href", "");
    let is_result = |node: &NodeRef<'_>| node.has_class("result");
    let around = link.ancestors_it(None).find(is_result);
    let is_ad = around.is_some_and(|node| node.has_class("result--ad")) || is_ad_link(&href);
    if is_ad {
        return;
    }
    let snippet = around.and_then(|node| {
        node.descendants_it().find(|inner| inner.has_class("result__snippet")).map(|inner| inner.text())
    });
    results.add(&link.text(), &href, snippet.as_deref().unwrap_or_default());
}

/// Whether a link counts a click on an advertisement.
fn is_ad_link(href: &str) -> bool {
    let path = href.split(['?', '#']).next().unwrap_or_default();
    path.ends_with("duckduckgo.com/y.js") || href.contains("duckduckgo.com%2Fy.js")
}
