//! The `reyn` command.

mod activity;
mod approval;
mod args;
mod chat;
mod commands;
mod confirm;
mod defects;
mod drawn_answer;
mod embedding_choice;
mod exit;
mod first_words;
mod index_store;
mod local_model;
mod management;
mod model_choice;
mod new_file;
mod opening;
mod output;
mod person;
#[cfg(test)]
mod reference;
mod signals;
mod transcript;
mod untrusted_server;
mod view;
mod wiring;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use jiff::Timestamp;

use args::{Cli, Command, ConfigCommand, ModelsCommand, ToolsCommand};
use exit::{Exit, Failure, Form};
use wiring::Project;

fn main() -> ExitCode {
    // Before anything else: a thread or an open file of ours would come along into the program that is confined.
    if std::env::args_os().nth(1).is_some_and(|word| word == reyn_sandbox::SUPERVISE) {
        reyn_sandbox::supervise();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(not_parsed(&error).code()),
    };
    let Some(command) = cli.command else {
        output::result(&first_words::first_words());
        return ExitCode::from(Exit::Usage.code());
    };
    let exit = run(&command).unwrap_or_else(|failure| {
        failure.tell(form(&command));
        failure.exit
    });
    let is_lost = exit == Exit::Done && output::is_lost();
    ExitCode::from(if is_lost { Exit::Failed } else { exit }.code())
}

fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Ask(args) => commands::ask::run(args),
        Command::Chat(args) => commands::chat::run(args),
        Command::Init(args) => commands::init::run(args),
        Command::Tools(command) => commands::tools::run(command, &Project::load()?),
        Command::Sessions(command) => commands::sessions::run(command, Timestamp::now()),
        Command::Events(args) => commands::events::run(args, Timestamp::now()),
        Command::Config(command) => commands::config::run(command),
        Command::Models(command) => commands::models::run(command),
        Command::Index(command) => commands::index::run(command),
        Command::Memory(command) => commands::memory::run(command),
        Command::Permissions(command) => commands::permissions::run(command),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Completions(args) => Ok(commands::completions::run(args)),
        Command::Man(args) => commands::man::run(args),
    }
}

/// Help and version are results; everything else is a wrong call, told as JSON to whoever wants JSON.
fn not_parsed(error: &clap::Error) -> Exit {
    let text = error.render().to_string();
    let is_asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_asked_for || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output::result(&text);
        return if is_asked_for { Exit::Done } else { Exit::Usage };
    }
    let has = |flag: &str| std::env::args_os().any(|arg| arg == flag);
    let form = match (has("--json"), has("--stream-json")) {
        (_, true) => Form::Stream,
        (true, false) => Form::Object,
        (false, false) => Form::Words,
    };
    let text = if has_loose_words(error) {
        text.replacen("\n\nUsage:", "\n\n  tip: put a question of several words in quotes\n\nUsage:", 1)
    } else {
        text
    };
    let text = text.trim();
    Failure::usage("usage", text.strip_prefix("error: ").unwrap_or(text)).tell(form);
    Exit::Usage
}

/// Whether a question was typed as several words.
fn has_loose_words(error: &clap::Error) -> bool {
    let is_word = matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(word)) if !word.starts_with('-'));
    let is_ask = std::env::args_os().nth(1).is_some_and(|command| command == "ask");
    error.kind() == ErrorKind::UnknownArgument && is_word && is_ask
}

const fn form(command: &Command) -> Form {
    let wants_object = match command {
        Command::Ask(args) if args.stream_json => return Form::Stream,
        Command::Ask(args) => args.json,
        Command::Init(args) => args.json,
        Command::Tools(ToolsCommand::List(args)) => args.json,
        Command::Config(ConfigCommand::Check(args) | ConfigCommand::Path(args)) => args.json,
        Command::Tools(ToolsCommand::Show { json, .. })
        | Command::Config(ConfigCommand::Show { json, .. }) => *json,
        Command::Config(ConfigCommand::Schema | ConfigCommand::Edit(_))
        | Command::Chat(_)
        | Command::Completions(_)
        | Command::Man(_) => false,
        Command::Index(command) => command.is_json(),
        Command::Memory(command) => command.is_json(),
        Command::Permissions(command) => command.is_json(),
        Command::Doctor(args) => args.json,
        Command::Sessions(command) => command.wants_json(),
        Command::Events(args) => args.json,
        Command::Models(ModelsCommand::List(args)) => args.json,
        Command::Models(
            ModelsCommand::Pull { json, .. }
            | ModelsCommand::Verify { json, .. }
            | ModelsCommand::Rm { json, .. },
        ) => *json,
    };
    if wants_object { Form::Object } else { Form::Words }
}
