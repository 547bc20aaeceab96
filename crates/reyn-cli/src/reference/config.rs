//! Every key of the configuration with its type, default and meaning.

use reyn_core::settings::{Settings, schema};
use serde_json::Value;

use super::schema_words::{Schema, cell};

/// A file that another test loads.
const EXAMPLE: &str = include_str!("../../../../examples/reyn.yaml");
/// Keys within keys that are followed.
const DEPTH_MAX: usize = 8;

/// The page.
pub(super) fn text() -> String {
    let schema = schema();
    let defaults = serde_json::to_value(Settings::default()).expect("settings are plain values");
    let root = Schema { value: &schema, definitions: &schema["$defs"] };
    let mut text = "Everything is optional. Files, the later one wins: `~/.reyn/config.yaml`, `reyn.yaml`, \
        `reyn.local.yaml`, `.reyn/config.yaml`, then variables such as `REYN_LLM__MODEL` (`__` for each dot), then \
        flags. Keys may be nested or dotted. `${NAME}` in a value is a variable of the environment or of \
        `~/.reyn/secrets.env`. An unknown key is an error.\n\n\
        `reyn config check` says what is wrong, `reyn config show --origin` what holds and why, `reyn config edit` opens \
        the file, and `reyn config schema > reyn.schema.json` is for editors.\n"
        .to_owned();
    for (name, section) in root.members() {
        text.push_str(&format!("\n## `{name}`\n\n{}\n\n", section.description()));
        text.push_str("| key | type | default | what it is |\n|---|---|---|---|\n");
        rows(name, section, Some(&defaults[name]), DEPTH_MAX, &mut text);
    }
    text.push_str(&format!("\n## An example\n\n```yaml\n{}\n```\n", EXAMPLE.trim_end()));
    text
}

fn rows(path: &str, schema: Schema<'_>, defaults: Option<&Value>, depth_max: usize, text: &mut String) {
    for (name, member) in schema.members() {
        let path = format!("{path}.{name}");
        let default = defaults.and_then(|defaults| defaults.get(name));
        if !member.members().is_empty() {
            if depth_max > 0 {
                rows(&path, member, default, depth_max - 1, text);
            }
            continue;
        }
        text.push_str(&format!(
            "| `{path}` | {} | {} | {} |\n",
            cell(&member.type_words()),
            shown(default),
            cell(&explained(member))
        ));
        // A map that may be left out: its keys.
        let own = member.alternatives().into_iter().find(|part| !part.members().is_empty());
        if let Some(own) = own.filter(|_| depth_max > 0) {
            rows(&path, own, None, depth_max - 1, text);
        }
        // A map of names to maps: the keys of each.
        let values = member.part(&member.resolved().value["additionalProperties"]);
        let each = values.alternatives().into_iter().find(|part| !part.members().is_empty());
        if let Some(each) = each.filter(|_| depth_max > 0) {
            rows(&format!("{path}.NAME"), each, None, depth_max - 1, text);
        }
    }
}

/// What it is, and what each word that may stand there means.
fn explained(schema: Schema<'_>) -> String {
    let words: Vec<String> = schema
        .words()
        .into_iter()
        .filter(|(_, meaning)| !meaning.is_empty())
        .map(|(word, meaning)| format!("`{word}`: {meaning}"))
        .collect();
    format!("{} {}", schema.description(), words.join(" ")).trim().to_owned()
}

fn shown(default: Option<&Value>) -> String {
    match default {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::Object(map)) if map.is_empty() => "–".to_owned(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(other) => format!("`{other}`"),
    }
}
