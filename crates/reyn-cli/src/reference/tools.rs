//! Every tool with its parameters.

use reyn_core::tool::Effect;
use reyn_core::tool_use::catalog::description;

use super::schema_words::{Schema, cell};

/// The page.
pub(super) fn text() -> String {
    let registry = reyn_tools::builtin();
    let mut text = "What a model can be offered. A tool never decides whether it may run: the gate does, by what the call \
        touches (see `permissions` in [the configuration](config.md)). `reyn tools list` shows what the configuration \
        leaves of them, `--exclude-tools` and `--profile` take some away for a run.\n\n\
        The model of a chat is offered the tools for `chat`, the steps of a skill those for `skills`.\n\n\
        | tool | category | for | what it does | changes something |\n|---|---|---|---|---|\n"
        .to_owned();
    for spec in registry.specs() {
        let changes = if spec.effect == Effect::Changes { "yes" } else { "no" };
        let name = spec.name;
        text.push_str(&format!(
            "| [`{name}`](#{name}) | {} | {} | {} | {changes} |\n",
            spec.category.name(),
            spec.surfaces.words(),
            cell(spec.summary)
        ));
    }
    for (spec, schema) in registry.specs_with_schemas() {
        text.push_str(&format!("\n## {}\n\n{}\n\n", spec.name, cell(&description(&spec))));
        text.push_str("| parameter | type | required | what it is |\n|---|---|---|---|\n");
        let root = Schema { value: &schema, definitions: &schema["$defs"] };
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, parameter) in root.members() {
            let need = if required.iter().any(|one| one == name) { "yes" } else { "no" };
            text.push_str(&format!(
                "| `{name}` | {} | {need} | {} |\n",
                cell(&parameter.type_words()),
                cell(&parameter.description())
            ));
        }
        text.push_str(&format!("\n```json\n{}\n```\n", spec.example));
    }
    text
}
