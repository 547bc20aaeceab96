//! Every kind of audit event with its fields.

use reyn_core::audit::{AuditEvent, KINDS};
use serde_json::Value;

use super::schema_words::{Schema, cell};

/// The page.
pub(super) fn text() -> String {
    let schema: Value = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<AuditEvent>()
        .into();
    let root = Schema { value: &schema, definitions: &schema["$defs"] };
    let kinds = root.alternatives();
    assert_eq!(kinds.len(), KINDS.len());
    let mut text = "The audit trail says what happened, for people: below `.reyn/events/agents/<agent>/chat/<YYYY-MM>/`, \
        one JSON object a line. `reyn events` prints it, `--follow` goes on as it is written, and `--verify` checks that \
        nothing is missing. An event that cannot be written stops the turn.\n\n\
        ```json\n{\"type\": \"turn_started\", \"timestamp\": \"2026-01-02T03:04:05Z\", \"data\": {\"chain_id\": \"s.1\", \
        \"agent_id\": \"default\", \"run_id\": \"s\", \"emitter\": \"9f86d081884c7d65\", \"audit_seq\": 2}}\n```\n\n\
        Every `data` also has `agent_id`, `run_id` (the session, or `management` for what a person did outside one), \
        `emitter` (a random name of the process) and `audit_seq`, which counts from 1 in each process. No event holds a \
        result or a question; values of arguments are cut, and what looks like a secret is replaced.\n"
        .to_owned();
    for (kind, part) in KINDS.into_iter().zip(kinds) {
        assert_eq!(part.value["properties"]["type"]["const"], kind);
        text.push_str(&format!("\n## {kind}\n\n{}\n\n", part.description()));
        text.push_str("| field | type | what it is |\n|---|---|---|\n");
        for (name, field) in part.part(&part.value["properties"]["data"]).members() {
            text.push_str(&format!(
                "| `{name}` | {} | {} |\n",
                cell(&field.type_words()),
                cell(&field.description())
            ));
        }
    }
    text
}
