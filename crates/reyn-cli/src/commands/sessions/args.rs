//! What can be typed after `reyn sessions`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `reyn sessions`. An ID may be cut to where no other begins so; `latest` and `@` are the newest.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// The sessions of this project, newest first.
    #[command(after_help = "Example: reyn sessions list --all")]
    List(ListArgs),
    /// What was said and done in a session.
    #[command(after_help = "Example: reyn sessions show latest")]
    Show(OneArgs),
    /// Check every record of a session, or of all of them; exit code 1 when one is damaged.
    #[command(after_help = "Example: reyn sessions verify --all")]
    Verify(VerifyArgs),
    /// Move what is damaged in a session aside and keep everything else.
    #[command(after_help = "Example: reyn sessions repair 20260102-030405-a1b2")]
    Repair(OneArgs),
    /// Remove sessions, with all that was said in them.
    #[command(after_help = "Example: reyn sessions rm 20260102-030405-a1b2 --yes")]
    Rm(RmArgs),
    /// Write a session out: as text for people, or as data.
    #[command(after_help = "Example: reyn sessions export latest --output talk.md")]
    Export(ExportArgs),
}

/// `reyn sessions list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List every session.
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,
    /// List at most so many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// One session.
#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// Its name, the beginning of it, or `latest`.
    pub id: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `reyn sessions verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Its name, the beginning of it, or `latest`; every session when left out.
    pub id: Option<String>,
    /// Check every session.
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `reyn sessions rm`.
#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Their names, the beginnings of them, or `latest`.
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Do not ask.
    #[arg(long, short)]
    pub yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `reyn sessions export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Its name, the beginning of it, or `latest`.
    pub id: String,
    /// `md` is a transcript, `json` one object, `jsonl` the records as they are stored.
    #[arg(long, value_enum, default_value_t = ExportFormat::Md)]
    pub format: ExportFormat,
    /// Write into this file; to standard output when left out.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file when it is there.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// In which form a session is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A transcript in Markdown, with the results of calls folded.
    Md,
    /// One JSON object.
    Json,
    /// The good records, one a line, as they are stored: as `log.jsonl` they are a session again.
    Jsonl,
}

impl SessionsCommand {
    /// Whether the caller wants JSON.
    pub(crate) const fn wants_json(&self) -> bool {
        match self {
            Self::List(args) => args.json,
            Self::Show(args) | Self::Repair(args) => args.json,
            Self::Verify(args) => args.json,
            Self::Rm(args) => args.json,
            Self::Export(_) => false,
        }
    }
}
