//! `reyn config path` and `reyn config edit`.

use expect_test::expect;
use serde_json::json;

use crate::place::Place;
use crate::terminal::AtTerminal;

/// A place whose editor is this shell script; `$1` is the file.
fn editing(script: &str) -> Place {
    let place = Place::new().env("NO_COLOR", "1");
    let path = place.outside.join("my editor.sh");
    std::fs::write(&path, script).unwrap();
    place.env("EDITOR", &format!("sh '{}'", path.display()))
}

#[test]
fn every_file_is_listed_with_its_place() {
    let place = Place::new().env("REYN_MODELS__THREADS", "2");
    expect![[r#"
        Settings; the later wins:
          -     ~/.reyn/config.yaml         yours, in every project                           /home/.reyn/config.yaml
          here  reyn.yaml                   the project's                                     /work/reyn.yaml
          -     reyn.local.yaml             yours, in this project                            /work/reyn.local.yaml
          -     .reyn/config.yaml           written by Reyn                                   /work/.reyn/config.yaml
          then `REYN_…` variables (REYN_MODELS__THREADS), then flags of the command

        Beside them:
          -     ~/.reyn/secrets.env         keys, one NAME=value a line                       /home/.reyn/secrets.env
          -     .reyn/approvals.yaml        what you answered with "always"                   /work/.reyn/approvals.yaml
          -     .reyn/capability_profiles/  profiles that narrow a run                        /work/.reyn/capability_profiles
          here  ~/.reyn/providers.toml      providers, in place of the built-in list          /home/.reyn/providers.toml
          -     ~/.reyn/models.toml         local model files, in place of the built-in list  /home/.reyn/models.toml

        `reyn config edit` opens the project's; `--user` and `--local` open yours.
    "#]]
    .assert_eq(&place.run(["config", "path"]).exits(0).stdout);
}

#[test]
fn the_files_are_one_object_for_programs_while_one_is_wrong() {
    let place = Place::new().config(": [");
    let value = place.run(["config", "path", "--json"]).exits(0).json();
    let layers = value["layers"].as_array().unwrap();
    let names: Vec<_> = layers.iter().map(|layer| (&layer["name"], &layer["exists"])).collect();
    assert_eq!(
        names,
        [
            (&json!("~/.reyn/config.yaml"), &json!(false)),
            (&json!("reyn.yaml"), &json!(true)),
            (&json!("reyn.local.yaml"), &json!(false)),
            (&json!(".reyn/config.yaml"), &json!(false)),
        ]
    );
    assert_eq!(value["variables"], json!([]));
}

#[test]
fn without_a_terminal_nothing_is_opened_or_made() {
    let place = editing("echo edited > \"$1\"");
    let done = place.run(["config", "edit", "--local"]).exits(2);
    assert!(
        done.stderr.contains("needs a terminal") && done.stderr.contains("reyn config path"),
        "{}",
        done.stderr
    );
    assert_eq!(place.read("reyn.local.yaml"), None);
}

#[test]
fn a_file_that_is_not_there_is_written_with_every_key_as_a_comment_first() {
    for (flag, path) in [
        ("--user", "home/.reyn/config.yaml"),
        ("--local", "work/reyn.local.yaml"),
        ("--project", "work/reyn.yaml"),
    ] {
        let place = editing("grep -q '^# *model\\|^# *llm' \"$1\" && echo \"seen $1\"");
        std::fs::remove_file(place.root.join("reyn.yaml")).unwrap();
        let terminal = AtTerminal::start(&place, &["config", "edit", flag]);
        let (code, screen) = terminal.finish(&place);
        assert_eq!(code, Some(0), "{flag}\n{screen}");
        assert!(screen.contains("Created") && screen.contains(&format!("seen /{path}")), "{screen}");
        assert!(screen.ends_with("the configuration is right\n"), "{screen}");
    }
}

#[test]
fn what_is_one_persons_own_is_kept_out_of_git() {
    let place = editing("true");
    let (code, _) = AtTerminal::start(&place, &["config", "edit", "--local"]).finish(&place);
    assert_eq!(code, Some(0));
    assert!(place.read(".gitignore").unwrap().contains("reyn.local.yaml"));
}

#[test]
fn a_mistake_is_shown_and_the_file_is_opened_again() {
    let place =
        editing("if grep -q lmm \"$1\"; then echo 'llm: {}' > \"$1\"; else echo 'lmm: {}' > \"$1\"; fi");
    let mut terminal = AtTerminal::start(&place, &["config", "edit"]);
    terminal.type_after("Open it again? [Y/n] ", "");
    let (code, screen) = terminal.finish(&place);
    assert!(screen.contains("reyn.yaml:1:1: unknown key `lmm`"), "{screen}");
    assert_eq!((code, place.read("reyn.yaml").as_deref()), (Some(0), Some("llm: {}\n")), "{screen}");
}

#[test]
fn a_file_that_stays_wrong_is_exit_code_2() {
    let place = editing("echo 'lmm: {}' > \"$1\"");
    let mut terminal = AtTerminal::start(&place, &["config", "edit"]);
    terminal.type_after("Open it again? [Y/n] ", "n");
    let (code, screen) = terminal.finish(&place);
    assert_eq!(code, Some(2));
    assert!(screen.contains("the configuration stays wrong"), "{screen}");
}

#[test]
fn an_editor_that_is_missing_or_fails_is_told() {
    for (editor, says) in [
        ("/no/such-editor -w", "cannot run the editor `/no/such-editor`"),
        ("sh -c 'exit 3'", "the editor `sh` ended with 3"),
        ("vi 'x", "a quote is not closed"),
        (" ", "export EDITOR="),
    ] {
        let place = Place::new().env("EDITOR", editor);
        let (code, screen) = AtTerminal::start(&place, &["config", "edit"]).finish(&place);
        assert!(code.is_some_and(|code| code != 0) && screen.contains(says), "{editor}: {code:?}\n{screen}");
    }
}

#[test]
fn the_file_is_no_words_of_a_shell() {
    let place = editing("exit 9").env("VISUAL", "cp README.md $(touch made)");
    let (code, _) = AtTerminal::start(&place, &["config", "edit"]).finish(&place);
    assert_eq!((code, place.read("made")), (Some(1), None));
}
