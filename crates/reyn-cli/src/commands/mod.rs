//! One file a command.

pub(crate) mod ask;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod permissions;
pub(crate) mod sessions;
pub(crate) mod tools;
