//! `web_fetch`: the text of a page.

use std::sync::Arc;
use std::time::Duration;

use reyn_core::audit::AuditEvent;
use reyn_core::limits::{RESULT_BYTES_MAX, WEB_FETCH_CHARS, WEB_FETCH_CHARS_MAX, WEB_FETCH_SECONDS};
use reyn_core::permission::WebOp;
use reyn_core::redaction::told;
use reyn_core::tool::{Category, Dispatch, Effect, External, Output, Surfaces, ToolSpec};
use reyn_page::reading::{Extractor, ReadOptions, Reading, read};
use reyn_web::limits::SHOWN_URL_CHARS_MAX;
use reyn_web::{Answer, GetError, GetRequest, shown_url};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use crate::tool::{Context, Tool, ToolError, Touched, Wish};
use crate::web::Web;

/// Time for reading a page beyond the time for getting it.
const READING_SECONDS: u64 = 20;
/// Longest time that a call can ask for, in seconds.
const SECONDS_MAX: u64 = 120;

pub(crate) struct WebFetch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Address of the page.
    url: String,
    /// What to look for; carried along, nothing is done with it.
    #[schemars(skip)]
    prompt: Option<String>,
    /// Seconds; default 30.
    #[schemars(skip)]
    timeout: Option<u64>,
    /// Characters at most.
    max_length: Option<u64>,
}

impl Args {
    fn seconds(&self) -> u64 {
        self.timeout.unwrap_or(WEB_FETCH_SECONDS).clamp(1, SECONDS_MAX)
    }

    fn chars_max(&self) -> usize {
        let asked = self.max_length.unwrap_or(WEB_FETCH_CHARS).clamp(1, WEB_FETCH_CHARS_MAX);
        usize::try_from(asked).unwrap_or(usize::MAX)
    }

    /// The address without what could be a secret.
    fn shown(&self) -> String {
        Web::page(&self.url).map_or_else(|_| told(&self.url), |url| shown_url(&url))
    }
}

impl Tool for WebFetch {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "web_fetch",
        summary: "Get a web page as text.",
        details: "",
        example: r#"{"url": "https://example.org/news"}"#,
        category: Category::Web,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: true,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Page { url: args.url.clone() }]
    }

    fn details(args: &Args, _context: &Context) -> Vec<String> {
        let mut details = vec![format!("the whole address: {}", args.shown())];
        // What is cut off may be what it is all about: data on its way out.
        let chars = args.url.chars().count();
        if chars > SHOWN_URL_CHARS_MAX {
            details.push(format!("it has {chars} characters, of which the first {SHOWN_URL_CHARS_MAX} are shown"));
        }
        details
    }

    fn time_max(args: &Args, _context: &Context) -> Option<Duration> {
        Some(Duration::from_secs(args.seconds() + READING_SECONDS))
    }

    fn begins(args: &Args, context: &Context) -> Vec<AuditEvent> {
        vec![AuditEvent::WebFetchStarted { chain_id: context.chain_id.clone(), url: args.shown() }]
    }

    fn result_bytes_max(args: &Args) -> usize {
        // Four bytes a character are the most there are.
        RESULT_BYTES_MAX.max(args.chars_max().saturating_mul(4))
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let web = context.web()?;
        let asked = touched.page().clone();
        let url = asked.to_string();
        let admits = Arc::new(move |host: &str| touched.admits_host(WebOp::Fetch, host));
        let request = GetRequest { timeout_ms: args.seconds() * 1000, admits: Some(admits), ..GetRequest::new(url) };
        let failed = |error: &GetError| failure(error, &asked, &args, &context);
        let answer = web.client()?.get(&request, &context.cancel).await.map_err(|error| failed(&error))?;
        let (chars_max, shown, chain_id) = (args.chars_max(), args.shown(), context.chain_id.clone());
        let Answer { final_url, status, content_type, body, .. } = answer;
        let page_url = final_url.to_string();
        let reading = tokio::task::spawn_blocking(move || {
            read(&body, content_type.as_deref(), &page_url, &ReadOptions { chars_max })
        });
        let reading = reading.await.map_err(|error| ToolError::Defect(format!("the page could not be read: {error}")))?;
        let reading = reading.map_err(|error| {
            let (url, error) = (shown.clone(), error.to_string());
            let event = AuditEvent::WebFetchFailed {
                chain_id: chain_id.clone(),
                url,
                status: "not_text".to_owned(),
                error: told(&error),
            };
            // The type is what the server calls it.
            ToolError::failed(error).cause("not_text").note(event).quoting()
        })?;
        let completed = AuditEvent::WebFetchCompleted {
            chain_id,
            url: shown,
            status_code: status,
            content_length: reading.chars_total as u64,
            truncated: reading.is_truncated,
            extractor: extractor(reading.extractor).to_owned(),
        };
        Ok(output(args, final_url.as_str(), status, reading, completed))
    }
}

fn output(args: Args, final_url: &str, status: u16, reading: Reading, completed: AuditEvent) -> Output {
    let mut output = Output::text("content", reading.text)
        .with("url", final_url)
        .with("status_code", status)
        .with("content_type", reading.content_type)
        .with("encoding", reading.encoding);
    if let Some(title) = reading.title {
        output = output.with("title", title);
    }
    output = output.with("truncated", reading.is_truncated);
    if reading.is_truncated {
        output = output.with("total_chars", reading.chars_total);
    }
    if let Some(note) = reading.note {
        output = output.with("note", note);
    }
    if let Some(prompt) = args.prompt.filter(|prompt| !prompt.is_empty()) {
        output = output.with("prompt", prompt);
    }
    output.external = Some(External::by("web_fetch"));
    output.notes.push(completed);
    output
}

const fn extractor(extractor: Extractor) -> &'static str {
    match extractor {
        Extractor::Readability => "readability",
        Extractor::Body => "body",
        Extractor::Verbatim => "verbatim",
    }
}

/// The failure, and what the audit trail is told of it.
fn failure(error: &GetError, asked: &Url, args: &Args, context: &Context) -> ToolError {
    let (chain_id, url, message) = (context.chain_id.clone(), args.shown(), error.to_string());
    let failed = AuditEvent::WebFetchFailed {
        chain_id: chain_id.clone(),
        url: url.clone(),
        status: error.kind().to_owned(),
        error: told(&message),
    };
    let reason = told(&message);
    let more = match error.kind() {
        "blocked_address" => Some(AuditEvent::WebFetchSsrfBlocked { chain_id, url, reason }),
        "too_large" => Some(AuditEvent::WebFetchTooLarge { chain_id, url }),
        "too_many_redirects" => Some(AuditEvent::WebFetchTooManyRedirects { chain_id, url }),
        _ => None,
    };
    let failure = match error.kind() {
        "cancelled" => return ToolError::Cancelled,
        "timeout" => ToolError::TimedOut {
            message: format!("{message}; {}", error.advice()),
            notes: vec![],
            is_quoting: false,
        },
        kind => ToolError::failed(message).cause(kind).hint(error.advice()),
    };
    let failure = if error.quotes_beside(asked) { failure.quoting() } else { failure };
    more.into_iter().fold(failure, ToolError::note).note(failed)
}
