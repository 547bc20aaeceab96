//! The `reyn` command.

mod args;
mod commands;
mod exit;
mod local_model;
mod model_choice;
mod output;
mod person;
mod view;
mod wiring;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use jiff::Timestamp;

use args::{Cli, Command, ConfigCommand, ModelsCommand, ToolsCommand};
use exit::{Exit, Failure};
use wiring::Project;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(not_parsed(&error).code()),
    };
    let Some(command) = cli.command else {
        output::result(&first_words());
        return ExitCode::from(Exit::Usage.code());
    };
    let as_json = wants_json(&command);
    let exit = run(&command).unwrap_or_else(|failure| {
        failure.tell(as_json);
        failure.exit
    });
    ExitCode::from(exit.code())
}

fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Ask(args) => commands::ask::run(args),
        Command::Init(args) => commands::init::run(args),
        Command::Tools(command) => commands::tools::run(command, &Project::load()?),
        Command::Events(args) => commands::events::run(args, Project::load()?.root(), Timestamp::now()),
        Command::Config(command) => commands::config::run(command),
        Command::Models(command) => commands::models::run(command),
    }
}

/// Help and version are results; everything else is a wrong call, told as JSON to whoever wants JSON.
fn not_parsed(error: &clap::Error) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::result(&error.render().to_string());
            Exit::Done
        }
        _ => {
            let wants_json = std::env::args_os().any(|arg| arg == "--json" || arg == "--stream-json");
            if wants_json {
                Failure::usage("usage", error.render().to_string().trim()).tell(true);
            } else {
                output::note(error.render().to_string().trim_end());
            }
            Exit::Usage
        }
    }
}

const fn wants_json(command: &Command) -> bool {
    match command {
        Command::Ask(args) => args.json || args.stream_json,
        Command::Init(args) => args.json,
        Command::Tools(ToolsCommand::List(args)) | Command::Config(ConfigCommand::Check(args)) => args.json,
        Command::Tools(ToolsCommand::Show { json, .. }) | Command::Config(ConfigCommand::Show { json, .. }) => *json,
        Command::Config(ConfigCommand::Schema) => false,
        Command::Events(args) => args.json,
        Command::Models(ModelsCommand::List(args)) => args.json,
        Command::Models(
            ModelsCommand::Pull { json, .. } | ModelsCommand::Verify { json, .. } | ModelsCommand::Rm { json, .. },
        ) => *json,
    }
}

fn first_words() -> String {
    "reyn: a language model decides, the runtime enforces.\n\n\
     Start here:\n  \
     reyn ask \"what does README.md say?\"    one question, answered from your files\n  \
     reyn init                              a commented configuration for this folder\n  \
     reyn --help                            every command\n"
        .to_owned()
}
