//! What types cannot say: ranges, and servers that are trusted.

use reyn_core::limits::{
    EMBEDDING_BATCH_TEXTS_MAX, EMBEDDING_BATCHES_AT_ONCE_MAX, EMBEDDING_RETRIES_MAX, TIMEOUT_SECONDS_MAX,
};
use reyn_core::text::excerpt;
use reyn_llm::{OriginError, ServerOrigin};

use super::layers::Layer;
use super::node::{Node, NodeValue};
use super::problem::ConfigProblem;

/// A number's bounds, both included.
struct Range {
    key: &'static str,
    least: f64,
    most: f64,
    why: &'static str,
}

const fn range(key: &'static str, least: f64, most: f64, why: &'static str) -> Range {
    Range { key, least, most, why }
}

#[expect(clippy::cast_precision_loss, reason = "a day has few seconds")]
const DAY: f64 = TIMEOUT_SECONDS_MAX as f64;
const NO_ENDLESS_WAIT: &str = "no wait is endless; a day is the most";
const NO_ENDLESS_TURN: &str = "a turn without a bound is not offered; choose a large number";
const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_024.0 * MIB;
/// A pebibyte: beyond what a machine has, and exact as a number.
const LARGE: f64 = GIB * MIB;
const ANY: f64 = u32::MAX as f64;

/// `*` stands for any key.
const RANGES: [Range; 27] = [
    range("safety.timeout.llm_connect_seconds", 1.0, DAY, NO_ENDLESS_WAIT),
    range("safety.timeout.llm_first_byte_seconds", 1.0, DAY, NO_ENDLESS_WAIT),
    range("safety.timeout.llm_idle_seconds", 1.0, DAY, NO_ENDLESS_WAIT),
    range("safety.timeout.tool_call_seconds", 1.0, DAY, NO_ENDLESS_WAIT),
    range("safety.loop.max_router_iterations", 1.0, 10_000.0, NO_ENDLESS_TURN),
    range("safety.loop.max_tool_calls_per_reply", 1.0, 1_000.0, NO_ENDLESS_TURN),
    range("sandbox.policy.timeout_seconds", 1.0, DAY, NO_ENDLESS_WAIT),
    range("sandbox.policy.max_timeout_seconds", 1.0, DAY, NO_ENDLESS_WAIT),
    range("sandbox.policy.max_output_bytes", 1_024.0, GIB, "it is kept in memory"),
    range("sandbox.policy.memory_bytes", 16.0 * MIB, LARGE, "programs need some to start at all"),
    range("sandbox.policy.processes", 1.0, 1_000_000.0, "`subprocess: false` is for no further process"),
    range("sandbox.policy.open_files", 16.0, 1_048_576.0, "programs need some to start at all"),
    range("sandbox.policy.file_bytes", 1.0, LARGE, "`allow_write_paths: []` is for no writing"),
    range("web_fetch.max_download_bytes", 1_024.0, GIB, "a page is kept in memory"),
    range("embedding.batch_size", 1.0, EMBEDDING_BATCH_TEXTS_MAX as f64, "servers refuse longer lists"),
    range(
        "embedding.max_concurrent_batches",
        1.0,
        EMBEDDING_BATCHES_AT_ONCE_MAX as f64,
        "servers limit the rate",
    ),
    range("embedding.max_retries", 0.0, EMBEDDING_RETRIES_MAX as f64, "0 makes one attempt"),
    range("embedding.timeout", 1.0, DAY, NO_ENDLESS_WAIT),
    range("models.threads", 1.0, 1_024.0, "leave it out for one thread for each core"),
    range("llm.models.*.max_input_tokens", 1.0, ANY, "leave it out when the size is not known"),
    range("llm.models.*.max_completion_tokens", 1.0, ANY, "leave it out for the model's own bound"),
    range("llm.models.*.temperature", 0.0, 2.0, "0 is the most predictable, 1 is usual"),
    range("llm.models.*.top_p", 0.0, 1.0, "1 is no restriction"),
    range("llm.models.*.price.input", 0.0, ANY, "US dollars for a million tokens"),
    range("llm.models.*.price.output", 0.0, ANY, "US dollars for a million tokens"),
    range("llm.models.*.price.cached_input", 0.0, ANY, "US dollars for a million tokens"),
    range("audit_events.cleanup_period_days", 0.0, 36_500.0, "0 keeps every file"),
];

/// The numbers that lie outside their ranges.
pub(super) fn ranges(tree: &Node) -> Vec<ConfigProblem> {
    let mut problems = vec![];
    for range in &RANGES {
        let key: Vec<&str> = range.key.split('.').collect();
        check_range(tree, &key, &mut vec![], range, &mut problems);
    }
    problems
}

fn check_range<'t>(
    node: &'t Node,
    key: &[&str],
    path: &mut Vec<&'t str>,
    range: &Range,
    problems: &mut Vec<ConfigProblem>,
) {
    let Some((first, rest)) = key.split_first() else {
        problems.extend(out_of_range(node, path, range));
        return;
    };
    for (name, member) in node.members().into_iter().flatten() {
        if *first == "*" || first == name {
            path.push(name);
            check_range(&member.node, rest, path, range, problems);
            path.pop();
        }
    }
}

fn out_of_range(node: &Node, path: &[&str], range: &Range) -> Option<ConfigProblem> {
    let value = number(node)?;
    if value >= range.least && value <= range.most {
        return None;
    }
    let bounds = format!("from {} to {}", range.least, range.most);
    let message = format!("`{}` must be {bounds}, not `{value}`", path.join("."));
    Some(ConfigProblem::at(&node.mark, message).hint(range.why))
}

#[expect(clippy::cast_precision_loss, reason = "only compared with small bounds")]
fn number(node: &Node) -> Option<f64> {
    match &node.value {
        NodeValue::Unsigned(value) => Some(*value as f64),
        NodeValue::Signed(value) => Some(*value as f64),
        NodeValue::Float(value) => Some(*value),
        NodeValue::Text(text) if node.template.is_some() => text.parse().ok(),
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Text(_)
        | NodeValue::List(_)
        | NodeValue::Map(_) => None,
    }
}

const TRUSTED_SERVERS: [&str; 2] = ["llm", "trusted_servers"];

const BRAVE_URL: [&str; 3] = ["web", "search", "brave_url"];

/// Keys in a file of a project that say where secrets of the person are sent: what came with a project trusts nothing.
pub(super) fn misplaced(layers: &[Layer]) -> Vec<ConfigProblem> {
    let of_projects = || layers.iter().filter(|layer| !layer.is_persons);
    let keys_server = of_projects().filter_map(|layer| layer.tree.get(&BRAVE_URL)).map(|node| {
        let message = "`web.search.brave_url` cannot stand in a file of a project";
        ConfigProblem::at(&node.mark, message).hint(
            "the key for Brave is sent there, so it is yours to say: put it into `~/.reyn/config.yaml`, or into \
             `REYN_WEB__SEARCH__BRAVE_URL`",
        )
    });
    let given = of_projects().filter_map(|layer| layer.tree.get(&TRUSTED_SERVERS));
    given
        .map(|node| {
            let message = "`llm.trusted_servers` cannot stand in a file of a project";
            ConfigProblem::at(&node.mark, message).hint(
                "which servers are trusted is yours to say: put it into `~/.reyn/config.yaml`, or into \
                 `REYN_LLM__TRUSTED_SERVERS`",
            )
        })
        .chain(keys_server)
        .collect()
}

/// The entries of `llm.trusted_servers` that are no servers.
pub(super) fn trusted_servers(tree: &Node) -> Vec<ConfigProblem> {
    let Some(Node { value: NodeValue::List(items), .. }) = tree.get(&TRUSTED_SERVERS) else { return vec![] };
    items.iter().filter_map(no_server).collect()
}

fn no_server(node: &Node) -> Option<ConfigProblem> {
    let NodeValue::Text(text) = &node.value else { return None };
    let error = ServerOrigin::parse(text).err()?;
    let why = match error {
        OriginError::Address(why) => why,
        OriginError::More(_) if node.is_secret => "it must end after the host and port".to_owned(),
        error @ OriginError::More(_) => error.to_string(),
    };
    let written = excerpt(node.template.as_deref().unwrap_or(text), 60);
    let message = format!("`llm.trusted_servers` has `{written}`, which is no server: {why}");
    Some(
        ConfigProblem::at(&node.mark, message)
            .hint("write scheme, host and port, as in `https://llm.example`"),
    )
}
