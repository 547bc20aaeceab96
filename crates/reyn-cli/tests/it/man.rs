//! `reyn man`.

use crate::place::Place;

#[test]
fn a_page_is_printed_with_its_options_and_examples() {
    let page = Place::new().run(["man", "config", "show"]).exits(0).stdout;
    for part in [
        ".TH reyn-config-show 1",
        "reyn\\-config\\-show \\-",
        "\\-\\-origin",
        ".SH EXAMPLES",
        "reyn config show",
    ] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
}

#[test]
fn every_command_has_a_page_in_the_folder() {
    let place = Place::new();
    let done = place.run(["man", "--out", "share/man1"]).exits(0);
    let mut names: Vec<String> = std::fs::read_dir(place.root.join("share/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in ["reyn.1", "reyn-ask.1", "reyn-config.1", "reyn-config-show.1", "reyn-permissions-revoke.1"] {
        assert!(names.iter().any(|found| found == name), "{name} of {names:?}");
    }
    assert!(names.iter().all(|name| !name.contains("help")), "{names:?}");
    assert_eq!(
        done.stdout,
        format!(
            "{} pages written into share/man1; `man -l share/man1/reyn.1` shows the first\n",
            names.len()
        )
    );
    assert!(place.read("share/man1/reyn-ask.1").unwrap().contains("git diff | reyn ask"));
}

#[test]
fn a_page_that_is_not_there_is_told_with_a_near_one() {
    let done = Place::new().run(["man", "config", "shw"]).exits(2);
    assert_eq!(done.stderr, "reyn: `reyn config` has no command `shw`; did you mean `show`?\n");
}

#[test]
fn a_folder_that_cannot_be_made_is_exit_code_1() {
    let done = Place::new().run(["man", "--out", "README.md/man"]).exits(1);
    assert!(done.stderr.contains("cannot write `README.md/man`"), "{}", done.stderr);
}
