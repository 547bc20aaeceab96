//! Runs a small language model in-process, through llama.cpp.
//!
//! Invariant: llama.cpp is touched by one thread for each model, and nothing it does reaches the terminal.

mod backend;
mod chat;
mod constraint;
mod engine;
mod pieces;
mod prompt;
mod quoting;
mod repetition;
mod state_file;

pub use chat::{LocalChat, LocalOptions};
