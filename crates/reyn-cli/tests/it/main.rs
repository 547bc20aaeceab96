//! The `reyn` command as a whole process, against a model server on this machine.

#![expect(clippy::unwrap_used, reason = "tests")]

mod answer;
mod chat;
mod chat_plain;
mod completions;
mod config_edit;
mod cut_short;
mod doctor;
mod exec;
mod exit_code;
mod follow;
mod guide;
mod help;
mod index;
mod knowledge;
#[cfg(feature = "local")]
mod local_model;
mod machine_read;
mod man;
mod memory;
mod model_choice;
mod model_files;
mod op_forms;
mod path_matrix;
mod permission;
mod permissions;
mod place;
mod project;
mod running;
mod screen;
mod screen_answer;
mod secret;
mod sessions;
mod terminal;
mod trail;
mod untrusted_server;
mod verify;
mod web;
mod web_attacks;
mod web_bounds;
mod web_secrets;
