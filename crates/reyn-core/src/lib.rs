//! The vocabulary and the decisions of the runtime. Pure: no I/O, no clock, no randomness, no async.
//!
//! Invariant: everything here is a value or a function from values to values, so every rule about
//! *what may happen* and *what happens next* is tested without fakes.

/// The name of the agent that a project has without configuring one.
pub const DEFAULT_AGENT: &str = "default";

pub mod audit;
pub mod capability;
pub mod conversation;
pub mod embedding;
pub mod gate;
pub mod knowledge;
pub mod limits;
pub mod memory;
pub mod outside;
pub mod permission;
pub mod prompt;
pub mod redaction;
pub mod request;
pub mod settings;
pub mod text;
pub mod tool;
pub mod tool_use;
pub mod turn;
