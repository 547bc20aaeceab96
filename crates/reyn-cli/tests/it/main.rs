//! The `reyn` command as a whole process, against a model server on this machine.

#![expect(clippy::unwrap_used, reason = "tests")]

mod answer;
mod chat;
mod cut_short;
mod exit_code;
mod help;
#[cfg(feature = "local")]
mod local_model;
mod machine_read;
mod model_choice;
mod model_files;
mod permission;
mod place;
mod project;
mod running;
mod screen;
mod secret;
mod sessions;
mod terminal;
mod trail;
