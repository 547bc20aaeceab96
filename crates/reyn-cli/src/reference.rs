//! `docs/reference/*.md`, rendered from the types. `UPDATE_EXPECT=1 cargo test -p reyn-cli` writes the files
//! again; a file that is not what the types say fails.

mod commands;
mod config;
mod events;
mod exit_codes;
mod guides;
mod schema_words;
mod tools;

use expect_test::{ExpectFile, expect_file};

/// The line that tells a reader of a file where it comes from.
fn page(title: &str, text: &str) -> String {
    let from = "<!-- Made from the program's own definitions: `UPDATE_EXPECT=1 cargo test -p reyn-cli`. Do not edit. -->";
    format!("# {title}\n\n{from}\n\n{}\n", text.trim_end())
}

#[track_caller]
fn check(file: &ExpectFile, title: &str, text: &str) {
    file.assert_eq(&page(title, text));
}

#[test]
fn the_commands_are_described() {
    check(&expect_file!["../../../docs/reference/commands.md"], "Commands", &commands::text());
}

#[test]
fn the_configuration_is_described() {
    check(&expect_file!["../../../docs/reference/config.md"], "Configuration", &config::text());
}

#[test]
fn the_tools_are_described() {
    check(&expect_file!["../../../docs/reference/tools.md"], "Tools", &tools::text());
}

#[test]
fn the_events_are_described() {
    check(&expect_file!["../../../docs/reference/events.md"], "Audit events", &events::text());
}

#[test]
fn the_exit_codes_are_described() {
    check(&expect_file!["../../../docs/reference/exit-codes.md"], "Exit codes", &exit_codes::text());
}
