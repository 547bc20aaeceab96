//! The store through its public door, on real files.

#![expect(clippy::unwrap_used, reason = "tests")]

mod bad_input;
mod fixture;
mod killed;
mod nearest;
mod quality;
mod store;
mod two_writers;
