//! Every command with its options, defaults and examples.

use clap::{Arg, Command, CommandFactory};

use super::schema_words::cell;
use crate::args::Cli;

/// The page.
pub(super) fn text() -> String {
    let mut root = built();
    let intro = "What can be typed. `reyn COMMAND --help` says the same in a terminal, and `reyn man COMMAND` prints a manual \
                 page. Results go to standard output and everything else to standard error; with `--json` the result is one \
                 JSON object, whatever happens. [Exit codes](exit-codes.md) are the same for every command.\n\n";
    let mut text = intro.to_owned();
    let names: Vec<(String, String)> = leaves(&root).map(|command| (path(command), about(command))).collect();
    text.push_str("| command | what it does |\n|---|---|\n");
    for (name, about) in names {
        text.push_str(&format!("| [`{name}`](#{}) | {} |\n", anchor(&name), cell(&about)));
    }
    let root_examples = examples(&root);
    text.push_str(&format!("\n## reyn\n\n{}\n\n```text\n{root_examples}\n```\n", about(&root)));
    for command in root.get_subcommands_mut() {
        section(command, 2, &mut text);
    }
    text
}

/// The commands as the help knows them, without `help` itself.
fn built() -> Command {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    root
}

/// Commands that do something, in the order of the help.
fn leaves(root: &Command) -> impl Iterator<Item = &Command> {
    root.get_subcommands().flat_map(|command| {
        let is_group = command.has_subcommands();
        let own = (!is_group).then_some(command);
        own.into_iter().chain(command.get_subcommands())
    })
}

fn section(command: &mut Command, depth: usize, text: &mut String) {
    let marks = "#".repeat(depth);
    text.push_str(&format!("\n{marks} {}\n\n{}.\n", path(command), about(command)));
    if !command.has_subcommands() {
        let usage = command.render_usage().to_string();
        text.push_str(&format!("\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim()));
    }
    let shown: Vec<&Arg> = command.get_arguments().filter(|arg| !is_everywhere(arg)).collect();
    if !shown.is_empty() {
        text.push_str("\n| option | what it does |\n|---|---|\n");
        for arg in shown {
            text.push_str(&format!("| `{}` | {} |\n", cell(&spelled(arg)), cell(&explained(arg))));
        }
    }
    text.push_str(&format!("\n```text\n{}\n```\n", examples(command)));
    for sub in command.get_subcommands_mut() {
        section(sub, depth + 1, text);
    }
}

fn is_everywhere(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

/// `reyn config show`.
fn path(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn examples(command: &Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

/// `--kind <KIND>`, or `PATH` for an argument without a name.
fn spelled(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_value_names().into_iter().flatten().map(|name| format!("<{name}>")).collect();
    let values = values.join(" ");
    match (arg.get_long(), arg.get_action().takes_values()) {
        (None, _) => values,
        (Some(long), true) => format!("--{long} {values}"),
        (Some(long), false) => format!("--{long}"),
    }
}

fn explained(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let possible: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !possible.is_empty() {
        text.push_str(&format!(": {}", possible.join(", ")));
    }
    if let Some(aliases) = arg.get_visible_aliases().filter(|aliases| !aliases.is_empty()) {
        let aliases: Vec<String> = aliases.iter().map(|alias| format!("`--{alias}`")).collect();
        text.push_str(&format!("; also {}", aliases.join(", ")));
    }
    let defaults = arg.get_default_values();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        let defaults: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        text.push_str(&format!("; unset, `{}`", defaults.join(" ")));
    }
    if arg.is_required_set() {
        text.push_str(" (required)");
    }
    text
}

fn anchor(name: &str) -> String {
    name.replace(' ', "-")
}

/// The commands without an example of themselves.
fn without_example(command: &Command, lacking: &mut Vec<String>) {
    let name = path(command);
    let is_shown = examples(command).lines().any(|line| line.contains(&name));
    if !is_shown {
        lacking.push(name);
    }
    for sub in command.get_subcommands() {
        without_example(sub, lacking);
    }
}

#[test]
fn every_command_shows_an_example_of_itself() {
    let mut lacking = vec![];
    without_example(&built(), &mut lacking);
    assert_eq!(lacking, Vec::<String>::new());
}

#[test]
fn every_option_is_explained() {
    let mut lacking = vec![];
    let root = built();
    for command in leaves(&root) {
        let args = command.get_arguments().filter(|arg| arg.get_help().is_none());
        lacking.extend(args.map(|arg| format!("{} {}", path(command), arg.get_id())));
    }
    assert_eq!(lacking, Vec::<String>::new());
}

#[test]
fn every_example_can_be_typed() {
    let root = built();
    for command in leaves(&root) {
        let text = examples(command);
        let lines = text.lines().filter_map(|line| line.split_once(&path(command)).map(|(_, rest)| rest));
        for rest in lines {
            // What stands two spaces to the right explains; what stands after `|` or `>` is the shell's.
            let typed = rest.split("  ").next().unwrap_or_default();
            let typed = typed.split([')', '|', '>']).next().unwrap_or_default();
            let words =
                path(command).split(' ').map(str::to_owned).chain(words_of(typed)).collect::<Vec<_>>();
            let parsed = Cli::command().try_get_matches_from(&words);
            assert!(
                parsed.is_ok(),
                "{words:?}: {}",
                parsed.err().map(|error| error.to_string()).unwrap_or_default()
            );
        }
    }
}

/// Words as a shell splits them, as far as examples need it.
fn words_of(text: &str) -> Vec<String> {
    let parts = text.split('"').enumerate();
    parts
        .flat_map(|(at, part)| {
            if at % 2 == 1 {
                vec![part.to_owned()]
            } else {
                part.split_whitespace().map(str::to_owned).collect()
            }
        })
        .collect()
}
