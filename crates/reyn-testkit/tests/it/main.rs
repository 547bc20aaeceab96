//! The test kit's own promises, through its public door.

#![allow(clippy::unwrap_used, reason = "helpers of tests stand outside of test functions here")]

mod killed;
mod server;
mod transcript;
