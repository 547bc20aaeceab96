//! The stores through their public door, on real files and a real server.

#![expect(clippy::unwrap_used, reason = "tests")]

mod alike;
mod bad_input;
mod cut_off;
mod file_damage;
mod fixture;
mod killed;
mod nearest;
mod on_a_server;
mod place;
mod quality;
mod server;
mod store;
mod tls;
mod two_writers;
