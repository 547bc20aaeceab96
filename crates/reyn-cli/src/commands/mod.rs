//! One file a command.

pub(crate) mod ask;
pub(crate) mod config;
pub(crate) mod events;
pub(crate) mod init;
pub(crate) mod models;
pub(crate) mod sessions;
pub(crate) mod tools;
