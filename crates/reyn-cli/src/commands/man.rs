//! `reyn man`: manual pages, made from the same definitions as the help.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use reyn_core::text::nearest;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::output;

/// Commands within commands that are followed.
const DEPTH_MAX: usize = 8;

/// `reyn man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, e.g. `config show`; `reyn` itself when left out.
    command: Vec<String>,
    /// Write every page into this folder, which is made when it is not there.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Prints one page, or writes all of them.
pub(crate) fn run(args: &ManArgs) -> Result<Exit, Failure> {
    let root = built();
    match &args.out {
        Some(folder) => write_all(&root, folder),
        None => {
            let page = page(find(&root, &args.command)?)?;
            output::result(&String::from_utf8_lossy(&page));
            Ok(Exit::Done)
        }
    }
}

/// The commands with their full names. `help` is no command of its own in a manual.
fn built() -> Command {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    root
}

fn find<'a>(root: &'a Command, words: &[String]) -> Result<&'a Command, Failure> {
    let mut found = root;
    for word in words {
        let Some(next) = found.find_subcommand(word) else {
            let near = nearest(word, found.get_subcommands().map(Command::get_name));
            let hint = near.first().map_or_else(
                || format!("`{} --help` lists its commands", spoken(found)),
                |name| format!("did you mean `{name}`?"),
            );
            let message = format!("`{}` has no command `{word}`; {hint}", spoken(found));
            return Err(Failure::usage("unknown_command", message));
        };
        found = next;
    }
    Ok(found)
}

/// `reyn config show`.
fn spoken(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

/// `reyn-config-show`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut text = vec![];
    Man::new(command.clone())
        .source(concat!("reyn ", env!("CARGO_PKG_VERSION")))
        .manual("Reyn")
        .render(&mut text)
        .map_err(|error| Failure::failed("io", format!("cannot make the page: {error}; please report it")))?;
    // What follows the options are examples.
    Ok(String::from_utf8_lossy(&text).replace(".SH EXTRA", ".SH EXAMPLES").into_bytes())
}

fn write_all(root: &Command, folder: &Path) -> Result<Exit, Failure> {
    let cannot = |path: &Path, error: &std::io::Error| {
        let message = format!("cannot write `{}`: {error}; name another folder with `--out`", path.display());
        Failure::failed("io", message)
    };
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    let mut pages = 0;
    let mut commands = vec![(root, 0)];
    while let Some((command, depth)) = commands.pop() {
        let path = folder.join(format!("{}.1", page_name(command)));
        std::fs::write(&path, page(command)?).map_err(|error| cannot(&path, &error))?;
        pages += 1;
        if depth < DEPTH_MAX {
            commands.extend(command.get_subcommands().map(|next| (next, depth + 1)));
        }
    }
    let shown = folder.display();
    output::result_line(&format!(
        "{pages} pages written into {shown}; `man -l {shown}/reyn.1` shows the first"
    ));
    Ok(Exit::Done)
}
