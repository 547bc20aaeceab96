//! `reyn tools`: what a chat's model and a skill's steps are offered.

use std::fmt::Write as _;

use reyn_core::text::nearest;
use reyn_core::tool::{Caller, ToolSpec};
use reyn_core::tool_use::{Callable, Catalog, SessionNames};
use reyn_tools::Registry;
use serde_json::{Value, json};

use crate::args::ToolsCommand;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::Project;

/// Lists the tools, or shows one.
pub(crate) fn run(command: &ToolsCommand, project: &Project) -> Result<Exit, Failure> {
    let registry = reyn_tools::builtin();
    let narrowing = match command {
        ToolsCommand::List(args) => Some(&args.narrowing),
        ToolsCommand::Show { .. } => None,
    };
    let authority = project.authority(&[], narrowing)?;
    let catalog = Catalog::visible(registry.specs_with_schemas(), &SessionNames::new(), &authority);
    match command {
        ToolsCommand::List(args) => {
            if args.json {
                output::json(&listed(&registry, &catalog));
            } else {
                output::result(&table(&registry, &catalog));
            }
            Ok(Exit::Done)
        }
        ToolsCommand::Show { name, json } => {
            let callable =
                catalog.callables().iter().find(|callable| callable.name == *name).ok_or_else(|| {
                    let near =
                        nearest(name, catalog.callables().iter().map(|callable| callable.name.as_str()));
                    let hint = near.first().map_or_else(
                        || "`reyn tools list` shows them all".to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    );
                    Failure::usage("unknown_tool", format!("no tool is named `{name}`; {hint}"))
                })?;
            if *json {
                output::json(&one(&registry, callable));
            } else {
                output::result(&in_words(&registry, callable));
            }
            Ok(Exit::Done)
        }
    }
}

fn spec(registry: &Registry, callable: &Callable) -> Option<ToolSpec> {
    registry.specs().find(|spec| spec.name == callable.name)
}

/// Every tool, and how many bytes of a chat's request they are together.
fn listed(registry: &Registry, catalog: &Catalog) -> Value {
    let tools: Vec<Value> = catalog.callables().iter().map(|callable| one(registry, callable)).collect();
    let is_of_chat =
        |callable: &&Callable| spec(registry, callable).is_some_and(|spec| spec.surfaces.serve(Caller::Chat));
    let of_chat = catalog.callables().iter().filter(is_of_chat);
    let bytes: usize = of_chat.map(|callable| callable.declaration().to_string().len()).sum();
    json!({ "tools": tools, "bytes": bytes })
}

fn one(registry: &Registry, callable: &Callable) -> Value {
    let spec = spec(registry, callable);
    json!({
        "name": callable.name,
        "description": callable.description,
        "parameters": callable.parameters,
        "category": spec.map(|spec| spec.category),
        "effect": spec.map(|spec| spec.effect),
        "surfaces": spec.map(|spec| spec.surfaces),
        "dispatch": spec.map(|spec| spec.dispatch),
        "bytes": callable.declaration().to_string().len(),
    })
}

fn table(registry: &Registry, catalog: &Catalog) -> String {
    let rows = || {
        let callables = catalog.callables().iter();
        callables.map(|one| (one, spec(registry, one).map_or("", |spec| spec.surfaces.words())))
    };
    let width = rows().map(|(callable, _)| callable.name.len()).max().unwrap_or(0);
    let words_width = rows().map(|(_, words)| words.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (callable, words) in rows() {
        let _ = writeln!(text, "{:<width$}  {words:<words_width$}  {}", callable.name, callable.description);
    }
    text
}

fn in_words(registry: &Registry, callable: &Callable) -> String {
    let mut text = format!("{}\n  {}\n", callable.signature(), callable.description);
    let required = callable.parameters["required"].as_array().cloned().unwrap_or_default();
    let properties = callable.parameters["properties"].as_object().into_iter().flatten();
    for (name, schema) in properties {
        let need = if required.contains(&json!(name)) { "required" } else { "optional" };
        let kind = schema["type"].as_str().unwrap_or("any");
        let _ = writeln!(
            text,
            "\n  {name} ({kind}, {need})\n    {}",
            schema["description"].as_str().unwrap_or("")
        );
    }
    if let Some(spec) = spec(registry, callable) {
        let _ = writeln!(text, "\n  for: {}\n  example: {}", spec.surfaces.words(), spec.example);
    }
    text
}
