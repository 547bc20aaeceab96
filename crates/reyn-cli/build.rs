//! Builds `reyn-supervisor`, which the program carries in itself, and says where it is.
//!
//! A build of its own, and not a dependency: it is a program, optimised for size in every profile.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the program is made of, beside the versions in `Cargo.lock`.
const SOURCES: [&str; 4] =
    ["crates/reyn-supervisor", "crates/reyn-sandbox/Cargo.toml", "crates/reyn-sandbox/src", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let target_dir = PathBuf::from(variable("OUT_DIR")).join("supervisor");
    let target = variable("TARGET");
    let status = Command::new(variable("CARGO"))
        .args(["build", "--quiet", "--locked", "--offline", "--package", "reyn-supervisor"])
        .args(["--profile", "supervisor", "--target", &target])
        .arg("--manifest-path")
        .arg(root.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target_dir)
        // A lint run wraps the compiler of this build; the program is to be compiled all the same.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("cannot build `reyn-supervisor`: cargo ended with {status}"),
        Err(error) => panic!("cannot build `reyn-supervisor`: {error}"),
    }
    let program = target_dir.join(target).join("supervisor/reyn-supervisor");
    println!("cargo::rustc-env=REYN_SUPERVISOR={}", program.display());
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets `{name}`"))
}
