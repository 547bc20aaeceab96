//! `reyn completions`.

use std::path::Path;

use crate::place::Place;
use crate::running::Running;

#[test]
fn every_shell_is_told_of_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(["completions", shell]).exits(0).stdout;
        for word in ["permissions", "revoke", "completions", "stream-json"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn bash_completes_with_it() {
    let place = Place::new();
    let script = place.run(["completions", "bash"]).exits(0).stdout;
    std::fs::write(place.root.join("reyn.bash"), script).unwrap();
    let complete = "source ./reyn.bash; COMP_WORDS=(reyn permissions re); COMP_CWORD=2; \
                    _reyn reyn re permissions; echo \"${COMPREPLY[@]}\"";
    let mut bash = place.command_of(Path::new("/bin/bash"));
    bash.args(["-c", complete]);
    assert_eq!(Running::new(bash, place.masks()).finish().exits(0).stdout, "revoke\n");
}

#[test]
fn the_help_says_how_each_is_installed() {
    let help = Place::new().run(["completions", "--help"]).exits(0).stdout;
    for file in [
        "bash-completion/completions/reyn",
        ".zfunc/_reyn",
        "fish/completions/reyn.fish",
        "reyn.elv",
        "$PROFILE",
    ] {
        assert!(help.contains(file), "{file}:\n{help}");
    }
}

#[test]
fn an_unknown_shell_is_told_with_the_known_ones() {
    let done = Place::new().run(["completions", "tcsh"]).exits(2);
    assert!(done.stderr.contains("bash, elvish, fish, powershell, zsh"), "{}", done.stderr);
}
