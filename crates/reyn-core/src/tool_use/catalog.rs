//! What may be shown: the tools of the registry that no narrowing hides.

use serde_json::{Value, json};

use crate::capability::{Axis, Effective, Verdict};
use crate::tool::ToolSpec;

/// One tool as the model is shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct Callable {
    /// The name the model writes.
    pub name: String,
    /// What it does; the same words on every surface.
    pub description: String,
    /// JSON Schema of the arguments: an object.
    pub parameters: Value,
}

impl Callable {
    /// The declaration in the OpenAI form.
    #[must_use]
    pub fn declaration(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            }
        })
    }

    /// `read_file(path, offset?)`: the name with its parameters, optional ones marked.
    #[must_use]
    pub fn signature(&self) -> String {
        let required: Vec<&str> =
            self.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let names = self.parameters["properties"].as_object().into_iter().flatten().map(|(name, _)| {
            if required.contains(&name.as_str()) { name.clone() } else { format!("{name}?") }
        });
        format!("{}({})", self.name, names.collect::<Vec<_>>().join(", "))
    }
}

/// What a presentation shows in one round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surface {
    /// In the order shown; the same order for the same catalog.
    pub callables: Vec<Callable>,
}

/// Every tool that may be shown, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    callables: Vec<Callable>,
}

impl Catalog {
    /// The tools that `effective` leaves visible, sorted by name so that the order of registration does
    /// not reach the model.
    #[must_use]
    pub fn visible(tools: impl IntoIterator<Item = (ToolSpec, Value)>, effective: &Effective) -> Self {
        let is_visible = |spec: &ToolSpec| {
            let tool = Axis::Tool { name: spec.name };
            effective.shows(spec.category) && matches!(effective.verdict(tool), Verdict::Allow)
        };
        let mut callables: Vec<Callable> = tools
            .into_iter()
            .filter(|(spec, _)| is_visible(spec))
            .map(|(spec, parameters)| Callable {
                name: spec.name.to_owned(),
                description: description(&spec),
                parameters,
            })
            .collect();
        callables.sort_by(|left, right| left.name.cmp(&right.name));
        Self { callables }
    }

    /// In name order.
    #[must_use]
    pub fn callables(&self) -> &[Callable] {
        &self.callables
    }
}

/// The one text about a tool that every surface shows.
#[must_use]
pub fn description(spec: &ToolSpec) -> String {
    if spec.details.is_empty() {
        spec.summary.to_owned()
    } else {
        format!("{} {}", spec.summary, spec.details)
    }
}
