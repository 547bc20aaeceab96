//! Every exit code with what it means and what to do.

use crate::exit::Exit;

/// The page.
pub(super) fn text() -> String {
    let mut text = "What a script can go by. They are the same for every command. The JSON of `reyn ask` and of every failure has them as `exit_code`.\n\n\
        | code | meaning | for example | what to do |\n|---|---|---|---|\n"
        .to_owned();
    for exit in [Exit::Done, Exit::Failed, Exit::Usage, Exit::Limited, Exit::WantsPerson, Exit::Interrupted] {
        let (meaning, example, next) = words(exit);
        text.push_str(&format!("| {} | {meaning} | {example} | {next} |\n", exit.code()));
    }
    text.push_str(
        "\nWhen several are true, the first of these counts: interrupted, failed, wants a person, limited. An answer can come \
         with code 4: the model answered, but something it wanted was refused because nobody was there.\n",
    );
    text
}

const fn words(exit: Exit) -> (&'static str, &'static str, &'static str) {
    match exit {
        Exit::Done => {
            ("it was answered or done", "`reyn ask` has an answer; `reyn config check` finds nothing", "–")
        }
        Exit::Failed => (
            "it failed",
            "the model's server does not answer; `reyn doctor` or `reyn events --verify` finds something",
            "read the last line on standard error; `reyn doctor` looks for reasons",
        ),
        Exit::Usage => (
            "it was called wrongly, or the configuration is wrong",
            "an unknown flag; a session, tool, model or key that does not exist; a mistake in `reyn.yaml`; no model is known; a server that only the project names",
            "`reyn COMMAND --help`, `reyn config check`",
        ),
        Exit::Limited => (
            "a limit stopped it",
            "`--max-iterations` was reached before there was an answer",
            "raise the limit, or go on with `--session`",
        ),
        Exit::WantsPerson => (
            "something was refused because nobody was there to allow it",
            "a write while no terminal is there; `reyn permissions clear` in a script",
            "run it in a terminal, or allow it beforehand: `--allow KEY`, `--yes`",
        ),
        Exit::Interrupted => ("the person interrupted it", "ctrl-C, also out of `reyn events --follow`", "–"),
    }
}
