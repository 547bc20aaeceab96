//! Whole turns against a scripted model, on a real file system.

#![expect(clippy::unwrap_used, reason = "tests")]

mod crash;
mod files;
mod knowledge;
mod memory;
mod permission;
mod stage;
mod turn;
