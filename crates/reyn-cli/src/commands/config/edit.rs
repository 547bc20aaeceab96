//! `reyn config edit`: opens a configuration file in the person's editor, and checks what was written.
//!
//! Invariant: no shell reads the name of the editor or of the file.

use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

use clap::Args;
use reyn_runtime::config::{OwnLayer, prepare, render_problems};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::checked;
use crate::exit::{Exit, Failure};
use crate::wiring::place;
use crate::{confirm, output, person, wiring};

/// Times one command opens the editor.
const ROUNDS_MAX: usize = 100;
/// Variables that name an editor, the first that is set counts.
const EDITOR_VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// `reyn config edit`.
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// Yours, in every project: `~/.reyn/config.yaml`.
    #[arg(long, conflicts_with_all = ["local", "project"])]
    user: bool,
    /// Yours, in this project: `reyn.local.yaml`.
    #[arg(long, conflicts_with = "project")]
    local: bool,
    /// The project's, for everybody: `reyn.yaml`. This is what is opened when nothing is said.
    #[arg(long)]
    project: bool,
}

impl EditArgs {
    const fn layer(&self) -> OwnLayer {
        match (self.user, self.local) {
            (true, _) => OwnLayer::User,
            (false, true) => OwnLayer::Local,
            (false, false) => OwnLayer::Project,
        }
    }
}

/// Opens the file until it is right or the person leaves it. A wrong one is exit code 2.
pub(crate) fn run(args: &EditArgs) -> Result<Exit, Failure> {
    let project = place()?;
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        let message = "an editor needs a terminal, and this is none; `reyn config path` says where the files are, \
                       and `reyn config check` says what is wrong in them";
        return Err(Failure::usage("no_terminal", message));
    }
    let words = editor()?;
    let (path, made) =
        prepare(&project, args.layer()).map_err(|error| Failure::failed("io", error.to_string()))?;
    for line in &made {
        if !matches!(line, reyn_runtime::config::InitLine::Exists(_)) {
            output::note(&line.to_string());
        }
    }
    let runtime = wiring::runtime()?;
    let result = rounds(&runtime, &words, &path);
    // A thread may still wait for a line of the terminal; the process does not.
    runtime.shutdown_background();
    result
}

fn rounds(runtime: &Runtime, words: &[String], path: &Path) -> Result<Exit, Failure> {
    for _ in 0..ROUNDS_MAX {
        open(runtime, words, path)?;
        let report = checked()?;
        for warning in &report.warnings {
            output::note(&warning.to_string());
        }
        if report.problems.is_empty() {
            output::result_line("the configuration is right");
            return Ok(Exit::Done);
        }
        output::note(&render_problems(&report.problems));
        if !person::is_there() || !wants_again(runtime)? {
            break;
        }
    }
    output::note(
        "reyn: the configuration stays wrong, and other commands will say so; `reyn config edit` opens it again",
    );
    Ok(Exit::Usage)
}

/// The editor and its arguments.
fn editor() -> Result<Vec<String>, Failure> {
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let Some(name) = EDITOR_VARIABLES.into_iter().find(|name| set(name)) else {
        let message = "no editor is known; name one, e.g. `export EDITOR=nano`, and try again";
        return Err(Failure::usage("no_editor", message));
    };
    let value = std::env::var(name).unwrap_or_default();
    words_of(&value).ok_or_else(|| {
        let message = format!("`{name}` is `{value}`, where a quote is not closed; mend it and try again");
        Failure::usage("no_editor", message)
    })
}

/// Splits at spaces outside quotes. A backslash is only special before a quote, a space or a backslash.
/// `None` when a quote is not closed.
fn words_of(text: &str) -> Option<Vec<String>> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None | Some('"'))
                if characters.peek().is_some_and(|c| matches!(c, '\'' | '"' | '\\' | ' ')) =>
            {
                word.get_or_insert_default().extend(characters.next());
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (quote.is_none() && !words.is_empty()).then_some(words)
}

/// Runs the editor to its end. Ctrl-C is meant for the editor meanwhile.
fn open(runtime: &Runtime, words: &[String], path: &Path) -> Result<(), Failure> {
    let (program, arguments) = words.split_first().expect("an editor has a name");
    let _inside = runtime.enter();
    // Whoever catches a signal is not ended by it; the child begins with the signal's own effect.
    let caught = signal(SignalKind::interrupt());
    let status = Command::new(program).args(arguments).arg(path).status();
    drop(caught);
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let how =
                status.code().map_or_else(|| "was stopped".to_owned(), |code| format!("ended with {code}"));
            let message = format!(
                "the editor `{program}` {how}; the file is as it left it, and `reyn config check` says whether it is right"
            );
            Err(Failure::failed("editor", message))
        }
        Err(error) => {
            let message =
                format!("cannot run the editor `{program}`: {error}; set `EDITOR` to one that is here");
            Err(Failure::failed("editor", message))
        }
    }
}

/// Whether the person wants to go on. Interrupts are caught by now, so they are waited for.
fn wants_again(runtime: &Runtime) -> Result<bool, Failure> {
    let asked = runtime.block_on(async {
        let mut interrupts = signal(SignalKind::interrupt())?;
        let answer =
            tokio::task::spawn_blocking(|| confirm::is_yes("\nOpen it again?", confirm::Default::Yes));
        tokio::select! {
            biased;
            _ = interrupts.recv() => Ok::<_, std::io::Error>(None),
            answer = answer => Ok(Some(answer.unwrap_or(false))),
        }
    });
    match asked {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => {
            output::note("");
            Err(Failure::interrupted("interrupted; the file is as you saved it"))
        }
        Err(error) => Err(Failure::failed("io", format!("cannot wait for an answer: {error}; try again"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_an_editor_are_split_as_they_are_meant() {
        for (text, words) in [
            ("vi", Some(vec!["vi"])),
            ("  code --wait ", Some(vec!["code", "--wait"])),
            ("'/opt/my editor/bin' -n", Some(vec!["/opt/my editor/bin", "-n"])),
            (r#""a b"c'd' """#, Some(vec!["a bcd", ""])),
            (r"/opt/my\ editor -n", Some(vec!["/opt/my editor", "-n"])),
            (r#""a\"b" 'c\'"#, Some(vec![r#"a"b"#, r"c\"])),
            ("$(rm -rf x); `y` | z", Some(vec!["$(rm", "-rf", "x);", "`y`", "|", "z"])),
            ("vi 'a", None),
            ("", None),
        ] {
            let expected = words.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(words_of(text), expected, "{text}");
        }
    }
}
