//! Programs that people run: an interpreter, a compiler, a shell; found where this host has them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use reyn_sandbox::{Ending, Launch, program, system};

use crate::setup::{BOTH, Here, here, skip};

/// A launch of a program of this host, with everything granted that belongs to it; `None` where there is none.
fn tool(here: &mut Here, name: &str, arguments: &[&str]) -> Option<Launch> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let path = std::env::var_os("PATH")?;
    let Ok(program) = program::find(name.as_ref(), &path, &here.inside) else {
        skip(&format!("there is no {name}"));
        return None;
    };
    here.policy.read_paths.extend(system::toolchain_paths(&home, &path));
    here.policy.read_paths.extend(system::program_paths(&program, &home));
    let mut launch = here.launch("", arguments);
    launch.argv[0] = program.clone().into_os_string();
    launch.program = program;
    let variable = |name: &str| std::env::var_os(name).map(|value| (OsString::from(name), value));
    launch.env = ["HOME", "PATH", "RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN"]
        .into_iter()
        .filter_map(variable)
        .collect();
    launch.timeout = Duration::from_secs(60);
    Some(launch)
}

async fn output(here: &Here, launch: Launch) -> String {
    let exited = here.run(launch).await.unwrap();
    let error = String::from_utf8_lossy(&exited.stderr.head).into_owned();
    assert_eq!(exited.ending, Ending::Exited { code: 0 }, "{error}");
    String::from_utf8_lossy(&exited.stdout.head).trim().to_owned()
}

const PYTHON: &str = "
import os, subprocess, tempfile, threading, asyncio, json
with tempfile.NamedTemporaryFile() as file:
    file.write(b'a'); file.flush()
    size = os.path.getsize(file.name)
thread = threading.Thread(target=lambda: None); thread.start(); thread.join()
shell = subprocess.run(['sh', '-c', 'echo from a shell | tr a-z A-Z'], capture_output=True, text=True).stdout.strip()
async def later():
    process = await asyncio.create_subprocess_exec('true')
    return await process.wait()
print(json.dumps([size, shell, asyncio.run(later())]))
";

#[tokio::test]
async fn python_has_threads_processes_and_temporary_files() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        let Some(launch) = tool(&mut here, "python3", &["-c", PYTHON]) else { return };
        assert_eq!(output(&here, launch).await, r#"[1, "FROM A SHELL", 0]"#, "{namespaces:?}");
    }
}

#[tokio::test]
async fn python_shares_memory_between_processes() {
    let Some(mut here) = here(BOTH[0]).await else { return };
    let line =
        "from multiprocessing import Pool\nwith Pool(2) as pool: print(sum(pool.map(abs, range(-3, 3))))";
    let Some(launch) = tool(&mut here, "python3", &["-c", line]) else { return };
    assert_eq!(output(&here, launch).await, "9");
}

#[tokio::test]
async fn rustc_builds_and_the_program_runs() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        std::fs::write(here.inside.join("main.rs"), "fn main() { println!(\"built inside\"); }").unwrap();
        let Some(launch) = tool(&mut here, "rustc", &["main.rs", "-o", "program"]) else { return };
        assert_eq!(output(&here, launch).await, "");
        assert_eq!(here.shell("./program").await.0, "built inside\n");
    }
}

#[tokio::test]
async fn cargo_builds_and_tests() {
    let Some(mut here) = here(BOTH[0]).await else { return };
    std::fs::create_dir(here.inside.join("src")).unwrap();
    std::fs::write(here.inside.join("Cargo.toml"), "[package]\nname = \"a\"\nedition = \"2024\"\n").unwrap();
    std::fs::write(here.inside.join("src/lib.rs"), "#[test]\nfn holds() {}\n").unwrap();
    let Some(launch) = tool(&mut here, "cargo", &["test", "--quiet", "--offline", "--lib"]) else { return };
    assert!(output(&here, launch).await.contains("1 passed"));
}

#[tokio::test]
async fn node_has_workers_and_processes() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        let line = "const { Worker } = require('worker_threads'); \
                    new Worker(\"require('worker_threads').parentPort.postMessage(7)\", { eval: true }) \
                    .on('message', (n) => console.log(n + require('child_process').execSync('echo 5').toString()))";
        let Some(launch) = tool(&mut here, "node", &["-e", line]) else { return };
        assert_eq!(output(&here, launch).await, "75");
    }
}
