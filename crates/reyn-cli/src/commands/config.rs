//! `reyn config`: checks, shows and opens the configuration.

pub(crate) mod edit;
mod path;

use reyn_runtime::config::{CheckReport, check, render_problems, schema};
use serde_json::json;

use crate::args::ConfigCommand;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::{self, Project};

/// Checks, shows, opens, or prints the schema. All but showing works while a file is wrong.
pub(crate) fn run(command: &ConfigCommand) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Schema => {
            output::result_line(&schema());
            Ok(Exit::Done)
        }
        ConfigCommand::Show { origin, json } => {
            let project = Project::load()?;
            if *json {
                output::json(&json!({
                    "settings": project.config.show_json(),
                    "root": project.root(),
                    "notices": project.config.notices,
                }));
            } else {
                project.tell_notices();
                output::result(&project.config.show(*origin));
            }
            Ok(Exit::Done)
        }
        ConfigCommand::Check(args) => check_all(args.json),
        ConfigCommand::Path(args) => path::run(args.json),
        ConfigCommand::Edit(args) => edit::run(args),
    }
}

/// What is wrong in every file.
fn checked() -> Result<CheckReport, Failure> {
    let registry = reyn_tools::builtin();
    let known: Vec<&str> = registry.specs().map(|spec| spec.name).collect();
    Ok(check(&wiring::inputs()?, &known))
}

fn check_all(as_json: bool) -> Result<Exit, Failure> {
    let report = checked()?;
    let exit = if report.problems.is_empty() { Exit::Done } else { Exit::Usage };
    if as_json {
        output::json(&json!({
            "status": if exit == Exit::Done { "ok" } else { "error" },
            "exit_code": exit.code(),
            "problems": report.problems,
            "warnings": report.warnings,
            "notices": report.notices,
        }));
        return Ok(exit);
    }
    for notice in &report.notices {
        output::note(&format!("reyn: {notice}"));
    }
    if !report.warnings.is_empty() {
        output::note(render_problems(&report.warnings).trim_end());
    }
    if report.problems.is_empty() {
        output::result_line("the configuration is right");
    } else {
        output::result_line(output::for_terminal(&render_problems(&report.problems)).trim_end());
    }
    Ok(exit)
}
