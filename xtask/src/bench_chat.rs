//! Measures `reyn chat` at a terminal: from a key to the screen, and what a long answer costs.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::bench::{Server, middle};

/// Lines of the answer that lie above the input when keys are measured.
const LINES: usize = 100_000;
/// Keys whose way to the screen is measured.
const KEYS: usize = 300;
/// How long the chat may take for anything.
const WAIT: Duration = Duration::from_secs(120);

/// A chat and its terminal.
struct Chat {
    window: File,
    child: Child,
}

impl Chat {
    fn start(reyn: &Path, folder: &Path, port: u16) -> Result<Self> {
        let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&window)?;
        unlockpt(&window)?;
        tcsetwinsize(&window, Winsize { ws_col: 100, ws_row: 40, ws_xpixel: 0, ws_ypixel: 0 })?;
        let name = ptsname(&window, vec![])?;
        let open = || -> Result<Stdio> {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            Ok(Stdio::from(rustix::fs::open(&name, flags, Mode::empty())?))
        };
        let child = Command::new(reyn)
            .arg("chat")
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder)
            .env("TERM", "xterm-256color")
            .env("REYN_LLM__MODEL", "bench/model")
            .env("REYN_LLM__API_BASE", format!("http://127.0.0.1:{port}/v1"))
            .stdin(open()?)
            .stdout(open()?)
            .stderr(open()?)
            .spawn()?;
        Ok(Self { window: File::from(window), child })
    }

    /// Reads what is there; nothing when nothing comes in `wait`.
    fn read(&mut self, wait: Duration) -> Result<Vec<u8>> {
        let wait = Timespec { tv_sec: i64::try_from(wait.as_secs())?, tv_nsec: wait.subsec_nanos().into() };
        let mut fds = [PollFd::new(&self.window, PollFlags::IN)];
        if poll(&mut fds, Some(&wait))? == 0 {
            return Ok(vec![]);
        }
        let mut buffer = vec![0; 64 * 1024];
        let count = self.window.read(&mut buffer)?;
        buffer.truncate(count);
        Ok(buffer)
    }

    /// Reads until this was shown; returns how many bytes that took.
    fn wait_for(&mut self, text: &str) -> Result<usize> {
        let deadline = Instant::now() + WAIT;
        let (mut tail, mut count) = (vec![], 0);
        while Instant::now() < deadline {
            let bytes = self.read(Duration::from_millis(200))?;
            count += bytes.len();
            tail.extend_from_slice(&bytes);
            if tail.windows(text.len()).any(|window| window == text.as_bytes()) {
                return Ok(count);
            }
            let surplus = tail.len().saturating_sub(text.len());
            tail.drain(..surplus);
        }
        bail!("the chat never showed `{text}`")
    }

    /// Reads until nothing comes any more.
    fn settle(&mut self) -> Result<()> {
        while !self.read(Duration::from_millis(300))?.is_empty() {}
        Ok(())
    }

    /// CPU time of the process so far, in milliseconds, and the most memory it had, in KiB.
    fn cost(&self) -> Result<(u64, u64)> {
        let folder = format!("/proc/{}", self.child.id());
        let stat = std::fs::read_to_string(format!("{folder}/stat"))?;
        let after_name = stat.rsplit(')').next().context("no stat")?;
        let ticks: u64 = after_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum();
        let status = std::fs::read_to_string(format!("{folder}/status"))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak")?;
        let peak = peak.trim().trim_end_matches(" kB").trim().parse()?;
        // The kernel counts in hundredths of a second for programs, whatever it does itself.
        Ok((ticks * 10, peak))
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Prints what a key and a long answer cost.
pub(crate) fn run(reyn: &Path, place: &Path) -> Result<()> {
    println!("── reyn chat at a terminal of 100 by 40");
    let folder = place.join("chat");
    std::fs::create_dir_all(&folder)?;
    let server = Server::answering(reyn, 0, LINES)?;
    let began = Instant::now();
    let mut chat = Chat::start(reyn, &folder, server.port)?;
    chat.wait_for("ctrl-D leaves")?;
    println!("{:<44} {:>8} µs", "from start to the prompt", began.elapsed().as_micros());
    chat.settle()?;
    let (cpu_before, peak_before) = chat.cost()?;
    let began = Instant::now();
    chat.window.write_all(b"go\r")?;
    let bytes = chat.wait_for("The last line.")?;
    chat.settle()?;
    let (cpu, peak) = chat.cost()?;
    println!(
        "{:<44} {:>8} ms CPU, {} KiB more memory, {:.1} MB sent, {} ms",
        format!("an answer of {LINES} lines, whole process"),
        cpu - cpu_before,
        peak - peak_before,
        megabytes(bytes),
        began.elapsed().as_millis(),
    );
    let mut times = vec![];
    for at in 0..KEYS {
        let key = [b'a' + u8::try_from(at % 26)?];
        let pressed = Instant::now();
        chat.window.write_all(&key)?;
        if chat.read(WAIT)?.is_empty() {
            bail!("a key was not shown");
        }
        times.push(u64::try_from(pressed.elapsed().as_micros())?);
        // The rest of the frame.
        while !chat.read(Duration::from_millis(2))?.is_empty() {}
    }
    times.sort_unstable();
    println!(
        "{:<44} {:>8} µs, the slowest of {KEYS} {} µs",
        format!("from a key to the screen, {LINES} lines above"),
        middle(times.iter().copied()),
        times.last().copied().unwrap_or(0),
    );
    Ok(())
}

fn megabytes(bytes: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let megabytes = bytes as f64 / 1e6;
    megabytes
}
