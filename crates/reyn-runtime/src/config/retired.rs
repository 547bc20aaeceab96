//! Keys that people know from elsewhere, and what to write instead.

use super::node::{Node, Step};

/// A key and the advice for it.
const RETIRED: [(&str, &str); 27] = [
    ("tool_use.chat", "`tool_use.chat` is retired; remove it"),
    (
        "action_retrieval",
        "`action_retrieval.universal_wrappers_enabled` and its section are retired; remove them",
    ),
    ("safety.loop.max_tool_calls_per_turn", "it is `safety.loop.max_tool_calls_per_reply`"),
    ("model", "the model that answers is `llm.model`"),
    ("api_base", "the address is `llm.api_base`"),
    ("models.light", "classes of models stand under `llm.models`"),
    ("models.standard", "classes of models stand under `llm.models`"),
    ("models.strong", "classes of models stand under `llm.models`"),
    ("llm.api_key", KEY_ADVICE),
    ("llm.models.*.api_key", KEY_ADVICE),
    ("llm.models.*.stream_options", "usage is asked for by itself; `stream: false` turns streaming off"),
    ("llm.stream_options", "usage is asked for by itself; `stream: false` of a model turns streaming off"),
    ("permissions.shell", "it is `permissions.exec`"),
    ("permissions.sandboxed_exec", "it is `permissions.exec`"),
    ("sandbox.policy.read_paths", "it is `allow_read_paths`"),
    ("sandbox.policy.write_paths", "it is `allow_write_paths`"),
    ("sandbox.policy.read_deny_paths", "it is `deny_read_paths`"),
    ("sandbox.policy.write_deny_paths", "it is `deny_write_paths`"),
    ("sandbox.policy.deny_subprocess", "it is `subprocess`, the other way round: `subprocess: false`"),
    ("sandbox.policy.allow_subprocess", "it is `subprocess`"),
    ("sandbox.policy.env_deny_names", "it is `deny_env_names`"),
    ("sandbox.policy.env_passthrough", "it is `allow_env_names`"),
    ("sandbox.policy.background_timeout_seconds", BACKGROUND_ADVICE),
    ("sandbox.policy.background_max_timeout_seconds", BACKGROUND_ADVICE),
    ("sandbox.network", "it is `sandbox.policy.network`"),
    ("sandbox.subprocess", "it is `sandbox.policy.subprocess`"),
    ("sandbox.timeout_seconds", "it is `sandbox.policy.timeout_seconds`"),
];

const BACKGROUND_ADVICE: &str = "no program runs in the background; remove it";

const KEY_ADVICE: &str = "keys belong in the environment or in `~/.reyn/secrets.env`; \
     `api_key_env` of a model names the variable";

/// The advice for an unknown key with this path, or for a key inside its value.
pub(super) fn advice(path: &[Step], node: &Node) -> Option<String> {
    RETIRED.iter().find(|(key, _)| covers(key, path, node)).map(|(_, advice)| (*advice).to_owned())
}

fn covers(key: &str, path: &[Step], node: &Node) -> bool {
    let key: Vec<&str> = key.split('.').collect();
    let (Some(start), Some(rest)) = (key.get(..path.len()), key.get(path.len()..)) else { return false };
    let is_same = start.iter().zip(path).all(|(part, given)| match given {
        Step::Key(given) => *part == "*" || part == given,
        Step::Index(_) => false,
    });
    is_same && node.get(rest).is_some()
}
