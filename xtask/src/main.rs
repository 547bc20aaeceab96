//! `cargo xtask`: sets up, checks, tries and measures the workspace.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers that talks as it goes"
)]

mod bench;
mod bench_chat;
mod bench_files;
mod check;
mod fuzz;
mod setup;
mod steps;
mod tasks;
mod try_it;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask try [QUESTION]   set up, build with the local model, and ask it about this folder
cargo xtask check            set up, then run every check and every test, as CI does
cargo xtask setup            only the set-up that the other two begin with
cargo xtask bench            measure speed and memory against the figures of docs/performance.md
cargo xtask tasks [MODEL]    count the whole tasks that a local model gets done with the real tools
cargo xtask fuzz [SECONDS]   throw random input at the code that meets bytes of any kind";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = args.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let result = match command {
        "try" => try_it::run(rest),
        "check" => check::run(),
        "setup" => setup::run(),
        "fuzz" => fuzz::run(rest),
        "tasks" => tasks::run(rest),
        "bench" => bench::run(rest),
        "measure" => bench::measure(rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
