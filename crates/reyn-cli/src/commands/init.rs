//! `reyn init`: writes a commented configuration.

use reyn_runtime::config::{InitLine, init};
use serde_json::json;

use crate::args::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring;

/// Creates what is missing and leaves what is there.
pub(crate) fn run(args: &JsonArgs) -> Result<Exit, Failure> {
    let inputs = wiring::inputs()?;
    let lines = init(&inputs.working_dir).map_err(|error| Failure::failed("io", error.to_string()))?;
    if args.json {
        let names =
            |wanted: fn(&InitLine) -> Option<&String>| lines.iter().filter_map(wanted).collect::<Vec<_>>();
        output::json(&json!({
            "status": "ok",
            "created": names(|line| match line { InitLine::Created(name) => Some(name), InitLine::Extended(_) | InitLine::Exists(_) => None }),
            "extended": names(|line| match line { InitLine::Extended(name) => Some(name), InitLine::Created(_) | InitLine::Exists(_) => None }),
            "exists": names(|line| match line { InitLine::Exists(name) => Some(name), InitLine::Created(_) | InitLine::Extended(_) => None }),
        }));
        return Ok(Exit::Done);
    }
    for line in &lines {
        output::result_line(&line.to_string());
    }
    output::result_line(
        "\nNext:\n  reyn chat                            talk about the files in this folder\n  reyn ask \"what is in this folder?\"   works at once, with what the machine offers\n  \
         reyn.yaml                            name a model, or what may be written without asking\n  \
         ~/.reyn/secrets.env                  keys, one NAME=value a line\n  \
         reyn config check                    says what is wrong, with file and line",
    );
    Ok(Exit::Done)
}
