//! What `reyn config show`, `check` and `schema` print.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::node::{Node, NodeValue};
use super::profiles::{ProfileError, Profiles};
use super::{Config, ConfigInputs, ConfigProblem, attempt};

impl Config {
    /// The effective values as YAML. With `with_origin`, each ends with a comment that says where it was
    /// given. A value that holds a secret is shown as it was written, with its `${NAME}`.
    #[must_use]
    pub fn show(&self, with_origin: bool) -> String {
        let settings = serde_json::to_value(&self.settings).expect("settings are plain values");
        let mut printer = Printer { text: String::new(), with_origin };
        printer.members(&settings, Some(&self.tree), 0);
        printer.text
    }
}

impl Config {
    /// The effective values as JSON; what holds a secret is shown as it was written, with its `${NAME}`.
    #[must_use]
    pub fn show_json(&self) -> Value {
        let mut settings = serde_json::to_value(&self.settings).expect("settings are plain values");
        mask(&mut settings, &self.tree);
        settings
    }
}

fn mask(value: &mut Value, node: &Node) {
    if let Node { is_secret: true, template: Some(template), .. } = node {
        *value = Value::String(template.clone());
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if let Some(member) = node.members().and_then(|given| given.get(key)) {
                    mask(value, &member.node);
                }
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter_mut().enumerate() {
                if let Some(item) = item_of(node, at) {
                    mask(value, item);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What `reyn config check` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// What stops Reyn from starting, or a profile from being used.
    pub problems: Vec<ConfigProblem>,
    /// What is odd and ignored in profiles.
    pub warnings: Vec<ConfigProblem>,
    /// What the person should know.
    pub notices: Vec<String>,
}

/// Checks every layer, also values that a higher layer replaces, and every profile.
#[must_use]
pub fn check(inputs: &ConfigInputs, known_tools: &[&str]) -> CheckReport {
    let mut report = CheckReport { problems: vec![], warnings: vec![], notices: vec![] };
    match attempt(inputs) {
        Err(problem) => report.problems.push(problem),
        Ok(attempt) => {
            report.problems = attempt.problems_of_all_layers(inputs);
            check_profiles(&attempt.project.root, known_tools, &mut report);
            report.notices = attempt.notices;
        }
    }
    report
}

fn check_profiles(root: &Path, known_tools: &[&str], report: &mut CheckReport) {
    let profiles = match Profiles::new(root).load_all(known_tools) {
        Ok(profiles) => profiles,
        Err(problem) => {
            report.problems.push(problem);
            return;
        }
    };
    for (_, loaded) in profiles {
        match loaded {
            Ok(loaded) => report.warnings.extend(loaded.warnings),
            Err(ProfileError::Malformed(problems)) => report.problems.extend(problems),
            Err(error @ ProfileError::Missing { .. }) => {
                report.problems.push(ConfigProblem::in_file(".reyn/capability_profiles", error.to_string()));
            }
        }
    }
}

/// The JSON Schema of a configuration file, for editors. Needs no configuration.
#[must_use]
pub fn schema() -> String {
    let schema = reyn_core::settings::schema();
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON")
}

struct Printer {
    text: String,
    with_origin: bool,
}

impl Printer {
    fn members(&mut self, value: &Value, node: Option<&Node>, depth: usize) {
        for (key, value) in value.as_object().into_iter().flatten() {
            let given = node.and_then(|node| node.members()?.get(key)).map(|member| &member.node);
            self.entry(&format!("{}:", scalar(&Value::String(key.clone()))), value, given, depth);
        }
    }

    /// One member or item: on its own line when it is a scalar, else below its key.
    fn entry(&mut self, lead: &str, value: &Value, node: Option<&Node>, depth: usize) {
        let indent = "  ".repeat(depth);
        match value {
            Value::Object(members) if !members.is_empty() => {
                self.text.push_str(&format!("{indent}{lead}\n"));
                self.members(value, node, depth + 1);
            }
            Value::Array(items) if !items.is_empty() => {
                self.text.push_str(&format!("{indent}{lead}\n"));
                for (at, item) in items.iter().enumerate() {
                    self.entry("-", item, node.and_then(|node| item_of(node, at)), depth + 1);
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => {
                let shown = match node {
                    Some(Node { is_secret: true, template: Some(template), .. }) => {
                        scalar(&Value::String(template.clone()))
                    }
                    Some(_) | None => scalar(&escaped(value)),
                };
                let origin = if self.with_origin { origin(node) } else { String::new() };
                self.text.push_str(&format!("{indent}{lead} {shown}{origin}\n"));
            }
        }
    }
}

fn origin(node: Option<&Node>) -> String {
    let is_given = |node: &&Node| !matches!(node.value, NodeValue::Null);
    let origin = node.filter(is_given).map_or_else(|| "default".to_owned(), |node| node.mark.origin());
    format!("  # {origin}")
}

fn item_of(node: &Node, at: usize) -> Option<&Node> {
    match &node.value {
        NodeValue::List(items) => items.get(at),
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Unsigned(_)
        | NodeValue::Signed(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_)
        | NodeValue::Map(_) => None,
    }
}

/// With `$` doubled where loading the value again would read more into it.
fn escaped(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains("${") || text.contains("$$") => {
            Value::String(text.replace('$', "$$"))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => value.clone(),
    }
}

/// A scalar, or an empty list or map; text in quotes unless it is plainly text.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => value.to_string(),
    }
}

fn is_plain(text: &str) -> bool {
    let is_plain_character = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
    let is_word = text.starts_with(|c: char| c.is_alphabetic() || c == '/' || c == '_');
    // `yes` and its like mean something else to older readers of YAML.
    let is_ambiguous = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    is_word && text.chars().all(is_plain_character) && !is_ambiguous
}
