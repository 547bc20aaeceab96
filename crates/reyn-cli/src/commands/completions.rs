//! `reyn completions`: what a shell needs to complete commands and flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::Exit;
use crate::output;

/// How each shell is told. Its own help, since the file's place differs from shell to shell.
pub(crate) const INSTALL: &str = "\
Install, then open a new shell:
  bash        reyn completions bash > ~/.local/share/bash-completion/completions/reyn
  zsh         reyn completions zsh > ~/.zfunc/_reyn
              with `fpath+=(~/.zfunc); autoload -Uz compinit; compinit` in ~/.zshrc
  fish        reyn completions fish > ~/.config/fish/completions/reyn.fish
  elvish      reyn completions elvish > ~/.config/elvish/lib/reyn.elv
              with `use reyn` in ~/.config/elvish/rc.elv
  powershell  reyn completions powershell | Out-String | Invoke-Expression
              in the file that $PROFILE names
The folder must be there: `mkdir -p` makes it.

Example, for this shell alone: source <(reyn completions bash)";

/// `reyn completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell.
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs) -> Exit {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "reyn", &mut script);
    output::result(&String::from_utf8_lossy(&script));
    Exit::Done
}
