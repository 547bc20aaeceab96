//! What the command says about itself.

use expect_test::expect;

use crate::place::Place;

#[test]
fn reyn_alone_says_where_to_start() {
    let done = Place::new().run([]).exits(2);
    let (start, hint) = done.stdout.rsplit_once("\n\n").unwrap();
    expect![[r#"
        reyn: a language model decides, the runtime enforces.

        Start here:
          reyn chat                              talk about the files in this folder
          reyn ask "what does README.md say?"    one question, answered from your files
          reyn init                              a commented configuration for this folder
          reyn doctor                            what is wrong, and what to do about it
          reyn --help                            every command"#]]
    .assert_eq(start);
    let expected = if cfg!(feature = "local") {
        expect![[r#"
            No model is named yet, and none needs to be: a server on this machine or a local model answers.
            A provider's key does too, e.g. `export OPENAI_API_KEY=…`.
        "#]]
    } else {
        expect![[r#"
            First: no model is named yet. Start a server on this machine (Ollama, LM Studio, llama.cpp), which is
            found by itself, or set a provider's key, e.g. `export OPENAI_API_KEY=…`.
        "#]]
    };
    expected.assert_eq(hint);
    assert_eq!(done.stderr, "");
}

#[test]
fn the_version_is_one_line() {
    assert_eq!(Place::new().run(["--version"]).exits(0).stdout, "reyn 0.0.0\n");
}

#[test]
fn the_help_fits_a_screen() {
    expect![[r#"
        A self-hosted agent runtime: a language model decides, the runtime enforces

        Usage: reyn [COMMAND]

        Commands:
          chat         Talk with the model; it works in this folder and asks before it changes anything
          ask          Ask one thing; the model may read files to answer
          init         Write a commented configuration into this folder; changes nothing that is there
          tools        Show what a chat's model and a skill's steps are offered
          sessions     Look at, check, export and remove conversations
          events       Print the audit trail
          index        Index files, and find passages in them by what they mean
          memory       Look at and change what is remembered from one session to the next
          permissions  List and take back what was answered with "always"
          config       Check, show and edit the configuration
          models       Fetch and check local model files
          doctor       Look for what is wrong with this machine, this project and its model
          completions  Print what a shell needs to complete commands and flags
          man          Print a manual page, or write them all
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version

        Start here:
          reyn chat                              talk about the files in this folder
          reyn ask "what does README.md say?"    one question, answered from your files
          reyn init                              a commented configuration for this folder

        Exit codes: 0 answered, 1 failed, 2 usage or configuration, 3 a limit stopped it,
        4 something was refused because nobody was there to allow it, 130 interrupted.
    "#]]
    .assert_eq(&Place::new().run(["--help"]).exits(0).stdout);
}

#[test]
fn the_help_of_ask_names_every_flag() {
    expect![[r#"
        Ask one thing; the model may read files to answer

        Usage: reyn ask [OPTIONS] [PROMPT]

        Arguments:
          [PROMPT]  What to ask; text piped into standard input is added to it

        Options:
              --json                        Print one JSON object, whatever happens
              --stream-json                 Print one JSON object a line while it happens
              --allow <KEY>                 Allow without asking: `file.read` or `file.write` (the
                                            workspace), or `file.write:PATH`
              --allow-shell                 Let skills use `shell`, as far as `permissions.exec` allows it;
                                            `sandboxed_exec` replaces it
              --session <ID>                Go on with this session, or begin it
              --continue                    Go on with the newest session of this project
              --model <CLASS>               Use this model class, or this `provider/model`
              --max-iterations <N>          Model calls at most in this turn; one more, without tools, may
                                            sum up
              --profile <NAME>              Apply this capability profile to the run
              --exclude-tools <NAMES>       Take these tools away for this run
              --exclude-categories <NAMES>  Hide these categories for this run
          -h, --help                        Print help

        Examples:
          reyn ask "what does README.md say?"
          git diff | reyn ask "write a commit message"
          reyn ask "summarise docs/ into notes.md" --allow file.write
          reyn ask "go on" --continue
          reyn ask "go on" --session SESSION --json
    "#]]
    .assert_eq(&Place::new().run(["ask", "--help"]).exits(0).stdout);
}

#[test]
fn a_flag_that_is_misspelt_is_told_with_the_right_one() {
    let done = Place::new().run(["ask", "what?", "--sesion", "s"]).exits(2);
    assert_eq!(done.stdout, "");
    expect![[r#"
        reyn: unexpected argument '--sesion' found

          tip: a similar argument exists: '--session'

        Usage: reyn ask --session <ID> <PROMPT>

        For more information, try '--help'.
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn a_question_without_quotes_is_told_to_have_some() {
    let done = Place::new().run(["ask", "what", "is", "this?"]).exits(2);
    expect![[r#"
        reyn: unexpected argument 'is' found

          tip: put a question of several words in quotes

        Usage: reyn ask [OPTIONS] [PROMPT]

        For more information, try '--help'.
    "#]]
    .assert_eq(&done.stderr);
}

#[test]
fn a_command_that_is_misspelt_is_told_with_the_right_one() {
    let done = Place::new().run(["evnts"]).exits(2);
    expect![[r#"
        reyn: unrecognized subcommand 'evnts'

          tip: a similar subcommand exists: 'events'

        Usage: reyn [COMMAND]

        For more information, try '--help'.
    "#]]
    .assert_eq(&done.stderr);
}
