//! A JSON Schema in words.

use serde_json::Value;

/// A schema and the definitions it refers to.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    pub(super) value: &'a Value,
    pub(super) definitions: &'a Value,
}

impl<'a> Schema<'a> {
    /// The same definitions, another part.
    pub(super) const fn part(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    /// What a reference stands for.
    pub(super) fn resolved(self) -> Self {
        match self.value["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
            Some(name) => self.part(&self.definitions[name]),
            None => self,
        }
    }

    /// Its members, each with its schema.
    pub(super) fn members(self) -> Vec<(&'a str, Self)> {
        let properties = self.resolved().value["properties"].as_object();
        properties.into_iter().flatten().map(|(name, value)| (name.as_str(), self.part(value))).collect()
    }

    /// What it says of itself, else what the type says.
    pub(super) fn description(self) -> String {
        let own = self.value["description"].as_str();
        let text = own.or_else(|| self.resolved().value["description"].as_str()).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Alternatives, without the absent value.
    pub(super) fn alternatives(self) -> Vec<Self> {
        let resolved = self.resolved();
        let list = ["anyOf", "oneOf"].into_iter().find_map(|key| resolved.value[key].as_array());
        let parts = list.into_iter().flatten().map(|value| self.part(value));
        parts.filter(|part| part.value["type"] != "null").collect()
    }

    /// The words that may stand here, each with what it means; empty when it is no closed list.
    pub(super) fn words(self) -> Vec<(String, String)> {
        let one = |part: Self| Some((part.value["const"].as_str()?.to_owned(), part.description()));
        let alternatives = self.alternatives();
        let words: Vec<_> = alternatives.iter().filter_map(|part| one(*part)).collect();
        if words.len() == alternatives.len() && !words.is_empty() {
            return words;
        }
        match alternatives.as_slice() {
            [one] => one.words(),
            _ => vec![],
        }
    }

    /// Its type, for people.
    pub(super) fn type_words(self) -> String {
        let resolved = self.resolved();
        let words = self.words();
        if !words.is_empty() {
            let words: Vec<String> = words.into_iter().map(|(word, _)| format!("`{word}`")).collect();
            return words.join(", ");
        }
        if let Some(word) = resolved.value["const"].as_str() {
            return format!("`{word}`");
        }
        if let Some(listed) = resolved.value["enum"].as_array() {
            let listed: Vec<String> =
                listed.iter().filter_map(|one| Some(format!("`{}`", one.as_str()?))).collect();
            return listed.join(", ");
        }
        let alternatives = self.alternatives();
        if !alternatives.is_empty() {
            let words: Vec<String> = alternatives.into_iter().map(Self::type_words).collect();
            return words.join(", or ");
        }
        self.plain_type(resolved.value)
    }

    fn plain_type(self, value: &'a Value) -> String {
        let names =
            value["type"].as_array().map_or_else(|| vec![&value["type"]], |names| names.iter().collect());
        let name = names.into_iter().filter_map(Value::as_str).find(|name| *name != "null");
        match name {
            Some("string") => "text".to_owned(),
            Some("integer") => "whole number".to_owned(),
            Some("number") => "number".to_owned(),
            Some("boolean") => "`true` or `false`".to_owned(),
            Some("array") => {
                let items = self.part(&value["items"]);
                let is_one = items.alternatives().len() < 2;
                let words = items.type_words();
                if is_one { format!("list of {words}") } else { format!("list (each {words})") }
            }
            Some("object") if value["additionalProperties"].is_object() => {
                format!("map of names to {}", self.part(&value["additionalProperties"]).type_words())
            }
            Some("object") => "map".to_owned(),
            Some(_) | None => "anything".to_owned(),
        }
    }
}

/// Text for one cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
