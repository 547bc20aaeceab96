//! Measures whole commands against a server that answers at once, and prints them beside their bounds.
//!
//! Runs of the compared commands take turns, so that a change of the machine's load meets all of them.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

use crate::steps::{cargo, step};
use crate::try_it::built_program;

/// Runs of each command when the call does not say.
const RUNS: usize = 31;
const ROUNDS: usize = 50;
/// Sessions that a list has to look through.
const SESSIONS: usize = 10_000;

/// What one run of a process cost.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) cpu_us: u64,
    pub(crate) rss_kib: u64,
}

/// `measure PROGRAM ARGS…`: runs it once and prints what it cost as JSON. A process of its own, since the
/// system adds up the costs of all children.
pub(crate) fn measure(words: &[String]) -> Result<ExitCode> {
    let Some((program, args)) = words.split_first() else { bail!("measure what?") };
    let status = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |time: nix::sys::time::TimeVal| {
        u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec()).unwrap_or(0)
    };
    let cost = Cost {
        cpu_us: micros(usage.user_time()) + micros(usage.system_time()),
        rss_kib: u64::try_from(usage.max_rss()).unwrap_or(0),
    };
    println!("{}", serde_json::to_string(&cost)?);
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A command whose cost has a bound.
struct Case {
    name: &'static str,
    args: Vec<String>,
    port: Option<u16>,
    session_folder: Option<&'static str>,
}

/// Builds what is measured, runs the benches of functions, then the commands.
pub(crate) fn run(words: &[String]) -> Result<ExitCode> {
    let runs: usize = words.first().map_or(Ok(RUNS), |text| text.parse()).context("how many runs?")?;
    step(
        "build",
        &mut cargo(&[
            "build",
            "--release",
            "--locked",
            "-p",
            "reyn-cli",
            "-p",
            "reyn-testkit",
            "-p",
            "xtask",
        ]),
    )?;
    step(
        "benches of decisions",
        &mut cargo(&["bench", "--locked", "-p", "reyn-core", "--bench", "decisions"]),
    )?;
    for bench in ["editor", "markdown"] {
        step(
            &format!("bench of the terminal's {bench}"),
            &mut cargo(&["bench", "--locked", "-p", "reyn-terminal", "--bench", bench]),
        )?;
    }
    step("benches of the log", &mut cargo(&["bench", "--locked", "-p", "reyn-runtime", "--bench", "log"]))?;
    let reyn = built_program()?;
    let place = std::env::temp_dir().join(format!("reyn-bench-{}", std::process::id()));
    std::fs::create_dir_all(&place)?;
    let result = commands(&reyn, &place, runs).and_then(|()| crate::bench_files::run(&reyn, &place, runs)).and_then(|()| crate::bench_chat::run(&reyn, &place));
    std::fs::remove_dir_all(&place)?;
    result?;
    println!("binary without the local model: {:.1} MB", size_mb(&reyn)?);
    Ok(ExitCode::SUCCESS)
}

fn size_mb(path: &Path) -> Result<f64> {
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    Ok(std::fs::metadata(path)?.len() as f64 / 1e6)
}

fn commands(reyn: &Path, place: &Path, runs: usize) -> Result<()> {
    let silent = Server::start(reyn, 0)?;
    let busy = Server::start(reyn, ROUNDS)?;
    let ask = |port, session_folder| Case {
        name: "",
        args: ["ask", "hello", "--json"].map(str::to_owned).to_vec(),
        port: Some(port),
        session_folder,
    };
    let cases = [
        Case { name: "reyn --version", args: vec!["--version".to_owned()], port: None, session_folder: None },
        Case { name: "ask, no tool used", ..ask(silent.port, None) },
        Case { name: "ask, 50 read_file rounds", ..ask(busy.port, None) },
        Case { name: "ask, beside 1 GB of old sessions", ..ask(silent.port, Some("old")) },
        Case {
            name: "sessions list, of 10,000",
            args: ["sessions", "list"].map(str::to_owned).to_vec(),
            port: None,
            session_folder: Some("many"),
        },
    ];
    old_sessions(&place.join("old"))?;
    once(reyn, place, &ask(silent.port, Some("many")))?;
    many_sessions(&place.join("many/.reyn/state/sessions"))?;
    let mut costs: Vec<Vec<Cost>> = vec![vec![]; cases.len()];
    for _ in 0..runs {
        for (case, costs) in cases.iter().zip(&mut costs) {
            costs.push(once(reyn, place, case)?);
        }
    }
    println!("── whole commands, median of {runs} runs, CPU = user + system");
    let median = |costs: &[Cost]| Cost {
        cpu_us: middle(costs.iter().map(|cost| cost.cpu_us)),
        rss_kib: middle(costs.iter().map(|cost| cost.rss_kib)),
    };
    let medians: Vec<Cost> = costs.iter().map(|costs| median(costs)).collect();
    for (case, (cost, all)) in cases.iter().zip(medians.iter().zip(&costs)) {
        let least = all.iter().map(|cost| cost.cpu_us).min().unwrap_or(0);
        println!("{:<36} {:>8} µs CPU (least {least})  {:>7} KiB", case.name, cost.cpu_us, cost.rss_kib);
    }
    let round = medians[2].cpu_us.saturating_sub(medians[1].cpu_us) / ROUNDS as u64;
    println!("{:<36} {round:>8} µs CPU", "each further read_file round");
    #[expect(clippy::cast_precision_loss, reason = "a ratio of small numbers")]
    let ratio = medians[3].cpu_us as f64 / medians[1].cpu_us.max(1) as f64;
    println!("{:<36} {ratio:>8.2} times the empty one", "1 GB of old sessions");
    Ok(())
}

/// The median.
pub(crate) fn middle(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// A thousand sessions of a megabyte each, as holes in files: their size is what a scan would meet.
fn old_sessions(folder: &Path) -> Result<()> {
    for at in 0..1_000 {
        let session = folder.join(format!(".reyn/state/sessions/old-{at}"));
        std::fs::create_dir_all(&session)?;
        std::fs::File::create(session.join("log.jsonl"))?.set_len(1 << 20)?;
    }
    std::fs::write(folder.join("README.md"), "hello\n")?;
    Ok(())
}

/// Copies the one session that is there, each log with a time of its own.
fn many_sessions(folder: &Path) -> Result<()> {
    let first = std::fs::read_dir(folder)?.next().context("no session")??.path();
    let log = std::fs::read(first.join("log.jsonl"))?;
    let now = std::time::SystemTime::now();
    for at in 1..SESSIONS {
        let session = folder.join(format!("20260102-030405-{at:04x}"));
        std::fs::create_dir(&session)?;
        let mut file = std::fs::File::create(session.join("log.jsonl"))?;
        file.write_all(&log)?;
        file.set_modified(now - std::time::Duration::from_secs(at as u64))?;
    }
    Ok(())
}

/// One run, in a folder of its own unless the case names one.
fn once(reyn: &Path, place: &Path, case: &Case) -> Result<Cost> {
    let folder = place.join(case.session_folder.unwrap_or("fresh"));
    if case.session_folder.is_none() && folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("README.md"), "hello\n")?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("measure").arg(reyn).args(&case.args).current_dir(&folder).env_clear().env("HOME", place);
    if let Some(port) = case.port {
        command
            .env("REYN_LLM__MODEL", "bench/model")
            .env("REYN_LLM__API_BASE", format!("http://127.0.0.1:{port}/v1"));
    }
    let output = command.output()?;
    if !output.status.success() {
        bail!("`{}` failed: run it by hand in `{}`", case.name, folder.display());
    }
    serde_json::from_slice(&output.stdout).context("no figures")
}

/// A fake model server, ended with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
}

impl Server {
    fn start(reyn: &Path, rounds: usize) -> Result<Self> {
        Self::answering(reyn, rounds, 0)
    }

    /// One whose answers have so many lines.
    pub(crate) fn answering(reyn: &Path, rounds: usize, lines: usize) -> Result<Self> {
        let program: PathBuf = reyn.with_file_name("fake-server");
        let mut child = Command::new(&program)
            .args([rounds.to_string(), "README.md".to_owned(), lines.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{}`", program.display()))?;
        let Some(stdout) = child.stdout.take() else { bail!("no output of the server") };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line.trim().parse().context("the server names no port")?;
        Ok(Self { child, port })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.child.stdin.take() {
            let _ = stdin.flush();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
