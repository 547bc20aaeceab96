//! `web_search`: what a search engine finds.

use std::sync::Arc;
use std::time::Duration;

use reyn_core::audit::AuditEvent;
use reyn_core::limits::{WEB_FETCH_SECONDS, WEB_SEARCH_RESULTS, WEB_SEARCH_RESULTS_MAX};
use reyn_core::permission::WebOp;
use reyn_core::redaction::told;
use reyn_core::tool::{Category, Dispatch, Effect, External, Output, Surfaces, ToolSpec};
use reyn_page::results::SearchResult;
use reyn_web::search::{SearchAnswer, SearchError, SearchErrorKind, SearchQuery};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Context, Tool, ToolError, Touched, Wish};

/// Time for what comes after the engines' answers, in seconds.
const REST_SECONDS: u64 = 5;

pub(crate) struct WebSearch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Words; site:, "phrase" and -word work.
    query: String,
    /// Results at most.
    max_results: Option<u64>,
    /// The engine; the operator sets the usual one, so the schema does not name it.
    #[schemars(skip)]
    backend: Option<String>,
}

impl Tool for WebSearch {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "web_search",
        summary: "Search the web.",
        details: "",
        example: r#"{"query": "rust landlock site:docs.rs"}"#,
        category: Category::Web,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: true,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Search { engine: args.backend.clone() }]
    }

    fn details(args: &Args, _context: &Context) -> Vec<String> {
        vec![format!("the query: {}", args.query)]
    }

    fn time_max(_args: &Args, _context: &Context) -> Option<Duration> {
        Some(Duration::from_secs(WEB_FETCH_SECONDS + REST_SECONDS))
    }

    fn begins(args: &Args, context: &Context) -> Vec<AuditEvent> {
        let engine = context.web().and_then(|web| web.engine(args.backend.as_deref()));
        let Ok(engine) = engine else { return vec![] };
        let (chain_id, query) = (context.chain_id.clone(), told(&args.query));
        vec![AuditEvent::WebSearchStarted { chain_id, query, backend: engine.name().to_owned() }]
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let web = context.web()?;
        let engine = touched.engine();
        let chain = web.chain(engine, |other| touched.admits_host(WebOp::Search, other.name()))?;
        let asked = args.max_results.unwrap_or(WEB_SEARCH_RESULTS).clamp(1, WEB_SEARCH_RESULTS_MAX);
        let query = SearchQuery {
            query: args.query.clone(),
            max_results: usize::try_from(asked).unwrap_or(1),
            timeout_ms: WEB_FETCH_SECONDS * 1000,
        };
        let (chain_id, words) = (context.chain_id.clone(), told(&args.query));
        match chain.run(web.client()?, &query, &context.cancel).await {
            Ok(answer) => {
                let completed = AuditEvent::WebSearchCompleted {
                    chain_id,
                    query: words,
                    backend: answer.backend.to_owned(),
                    result_count: answer.results.len() as u64,
                };
                let mut output = output(&args.query, answer);
                output.notes.push(completed);
                Ok(output)
            }
            Err(SearchError::Cancelled) => Err(ToolError::Cancelled),
            Err(error) => {
                let failed = AuditEvent::WebSearchFailed {
                    chain_id,
                    query: words,
                    backend: engine.name().to_owned(),
                    error: told(&error.to_string()),
                };
                let failure = ToolError::failed(error.to_string()).cause(error.kind().word());
                let failure = failure.hint(advice(error.kind())).note(failed);
                Err(if error.quotes_the_engine() { failure.quoting() } else { failure })
            }
        }
    }
}

const fn advice(kind: SearchErrorKind) -> &'static str {
    match kind {
        SearchErrorKind::BadQuery => "search with other words",
        SearchErrorKind::RateLimited => {
            "wait before the next search, or fetch a page whose address you know; the operator can name further \
             engines in `web.search.fallback`"
        }
        SearchErrorKind::LayoutChanged | SearchErrorKind::Refused | SearchErrorKind::Unreachable => {
            "do not take this for an empty result; fetch a page whose address you know, or tell the person: \
             `web.search.backend` and `web.search.fallback` name other engines"
        }
        SearchErrorKind::Cancelled => "",
    }
}

fn output(query: &str, answer: SearchAnswer) -> Output {
    let SearchAnswer { results, backend, passed_over } = answer;
    let note = if results.is_empty() { vec!["nothing was found; search with fewer or other words".to_owned()] } else { vec![] };
    let notes: Vec<String> = passed_over.iter().map(ToString::to_string).chain(note).collect();
    let list: Vec<Value> = results
        .into_iter()
        .map(|SearchResult { title, url, snippet }| json!({"title": title, "url": url, "snippet": snippet}))
        .collect();
    let mut output = Output::default().with("query", query).with("backend", backend);
    if !notes.is_empty() {
        output = output.with("note", notes.join("; "));
    }
    output = output.with("results", list);
    output.external = Some(External::by("web_search"));
    output
}
