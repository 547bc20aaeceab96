//! What may be shown: the tools of the registry that no narrowing hides.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::capability::{Axis, Effective, Verdict};
use crate::tool::{NameKind, ToolSpec, judged_as};

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
    /// [`Callable::declaration`] of each, made once.
    pub declarations: Vec<Value>,
}

impl Surface {
    /// A surface that shows these.
    #[must_use]
    pub fn new(callables: Vec<Callable>) -> Self {
        let declarations = callables.iter().map(Callable::declaration).collect();
        Self { callables, declarations }
    }
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
    pub fn visible(
        tools: impl IntoIterator<Item = (ToolSpec, Value)>,
        names: &SessionNames,
        effective: &Effective,
    ) -> Self {
        let is_visible = |spec: &ToolSpec| {
            let tool = Axis::Tool { name: judged_as(spec.name) };
            effective.shows(spec.category) && matches!(effective.verdict(tool), Verdict::Allow)
        };
        let mut callables: Vec<Callable> = tools
            .into_iter()
            .filter(|(spec, _)| is_visible(spec))
            .map(|(spec, parameters)| Callable {
                name: spec.name.to_owned(),
                description: description(&spec),
                parameters: enriched(parameters, &spec, names),
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

/// The names that exist in a session, for parameters that take one of them.
pub type SessionNames = BTreeMap<NameKind, Vec<String>>;

/// A schema whose [`ToolSpec::enums`] list the session's names. Takes the schema by value: the registry's
/// own is never changed by use.
fn enriched(mut parameters: Value, spec: &ToolSpec, names: &SessionNames) -> Value {
    for parameter in spec.enums {
        let known = names.get(&parameter.names).filter(|known| !known.is_empty());
        if let (Some(known), Some(schema)) =
            (known, parameters["properties"].get_mut(parameter.parameter).and_then(Value::as_object_mut))
        {
            schema.insert("enum".to_owned(), json!(known));
        }
    }
    parameters
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::{
        AgentLayer, Composed, Narrowing, NarrowingOrigin, ProfileLayer, SandboxLayer, compose_resolved,
        effective,
    };
    use crate::tool::{Category, Dispatch, Effect, EnumParameter, Surfaces};

    const TOOL: ToolSpec = ToolSpec {
        name: "b_tool",
        summary: "Do it.",
        details: "",
        example: "{}",
        category: Category::File,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[EnumParameter { parameter: "to", names: NameKind::Agents }],
    };

    fn tools() -> Vec<(ToolSpec, Value)> {
        let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]});
        vec![(TOOL, schema.clone()), (ToolSpec { name: "a_tool", enums: &[], ..TOOL }, schema)]
    }

    fn visible(names: &SessionNames, contextual: Composed) -> Catalog {
        let authority =
            effective(AgentLayer::default(), SandboxLayer::default(), ProfileLayer::default(), contextual);
        Catalog::visible(tools(), names, &authority)
    }

    fn bytes(catalog: &Catalog) -> String {
        catalog.callables().iter().map(|callable| callable.declaration().to_string()).collect()
    }

    #[test]
    fn the_order_of_registration_does_not_reach_the_model() {
        let authority = effective(
            AgentLayer::default(),
            SandboxLayer::default(),
            ProfileLayer::default(),
            Composed::default(),
        );
        let mut reversed = tools();
        reversed.reverse();
        let names = SessionNames::new();
        assert_eq!(
            bytes(&Catalog::visible(tools(), &names, &authority)),
            bytes(&Catalog::visible(reversed, &names, &authority))
        );
    }

    #[test]
    fn names_of_the_session_become_an_enum_and_leave_no_trace() {
        let plain = bytes(&visible(&SessionNames::new(), Composed::default()));
        let names = SessionNames::from([(NameKind::Agents, vec!["ann".to_owned()])]);
        let catalog = visible(&names, Composed::default());
        assert_eq!(catalog.callables()[1].parameters["properties"]["to"]["enum"], json!(["ann"]));
        assert_eq!(catalog.callables()[0].parameters["properties"]["to"].get("enum"), None);
        assert_eq!(bytes(&visible(&SessionNames::new(), Composed::default())), plain);
    }

    #[test]
    fn what_is_denied_or_hidden_is_not_shown() {
        let origin = NarrowingOrigin::exclude_tools;
        let deny = Narrowing { tool_deny: vec!["a_tool".into()], ..Narrowing::inert(origin()) };
        let catalog = visible(&SessionNames::new(), compose_resolved([deny]));
        assert_eq!(catalog.callables().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["b_tool"]);
        let hide = Narrowing { excluded_categories: vec![Category::File], ..Narrowing::inert(origin()) };
        assert!(visible(&SessionNames::new(), compose_resolved([hide])).callables().is_empty());
    }
}
