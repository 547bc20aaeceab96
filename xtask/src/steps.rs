//! Runs one command after the other and says which one failed.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The workspace's folder, as cargo says when it runs this program: two clones that share a target folder
/// may share the program too.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(package).parent().expect("xtask lies in the workspace").to_owned()
}

/// `cargo` with these words, in the workspace.
pub(crate) fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(root());
    command
}

/// Says what is done, does it, and fails when it fails.
pub(crate) fn step(what: &str, command: &mut Command) -> Result<()> {
    println!("── {what}");
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !status.success() {
        bail!("{what} failed: `{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// Whether a command runs and succeeds; says nothing.
pub(crate) fn works(program: &str, words: &[&str]) -> bool {
    Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
