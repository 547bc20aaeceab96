//! The sandbox on the kernel that is there: every attempt fails inside and works outside.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stdout, reason = "a test that cannot run here says so")]

mod escapes;
mod git;
mod lifetime;
mod limits;
mod protected;
mod setup;
mod streams;
mod toolchains;
