//! A process that is watched, and that never outlives its test.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Time in which a process must do what a test waits for. Far more than it takes: a slow machine is no failure.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(60);

/// A child that is ended with its owner.
pub(crate) struct Owned(pub Child);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running process.
pub(crate) struct Running {
    child: Owned,
    stdout: Heard,
    stderr: Heard,
    masks: Masks,
}

/// How a process ended.
#[derive(Debug)]
#[must_use]
pub(crate) struct Finished {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Running {
    pub(crate) fn new(mut command: Command, masks: Masks) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = Heard::from(child.stdout.take().unwrap());
        let stderr = Heard::from(child.stderr.take().unwrap());
        Self { child: Owned(child), stdout, stderr, masks }
    }

    /// Starts a process whose standard output goes elsewhere.
    pub(crate) fn into(mut command: Command, output: impl Into<Stdio>, masks: Masks) -> Self {
        let mut child = command.stdout(output).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = Heard::from(child.stderr.take().unwrap());
        Self { child: Owned(child), stdout: Heard::from(std::io::empty()), stderr, masks }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.0), signal).unwrap();
    }

    /// Waits until it says this on standard error; returns whether it did.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.stderr.wait(|heard| heard.has_ended || heard.text().contains(text));
        self.stderr.text().contains(text)
    }

    /// Waits until it prints this on standard output; returns whether it did.
    pub(crate) fn prints(&self, text: &str) -> bool {
        self.stdout.wait(|heard| heard.has_ended || heard.text().contains(text));
        self.stdout.text().contains(text)
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.0.id()
    }

    /// Waits until it ends.
    pub(crate) fn finish(mut self) -> Finished {
        let has_ended =
            self.stdout.wait(|heard| heard.has_ended) && self.stderr.wait(|heard| heard.has_ended);
        assert!(has_ended, "still running after {WAIT_MAX:?}: {}", self.shown());
        let status = self.child.0.wait().unwrap();
        let [stdout, stderr] = [&self.stdout, &self.stderr].map(|heard| self.masks.apply(&heard.text()));
        Finished { code: status.code(), stdout, stderr }
    }

    fn shown(&self) -> String {
        format!("\nstdout:\n{}\nstderr:\n{}", self.stdout.text(), self.stderr.text())
    }
}

impl Finished {
    /// Checks the exit code and shows everything when it is another.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output as the one JSON object it must be.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let lines = self.lines_of_json();
        let [value] = lines.as_slice() else { panic!("{} objects:\n{}", lines.len(), self.stdout) };
        assert!(value.is_object(), "{value}");
        value.clone()
    }

    /// Standard output as JSON, one value a line.
    #[track_caller]
    pub(crate) fn lines_of_json(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(parse).collect()
    }
}

/// What a process has said so far.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<(Mutex<Said>, Condvar)>);

#[derive(Default)]
pub(crate) struct Said {
    bytes: Vec<u8>,
    pub has_ended: bool,
}

impl Said {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Heard {
    /// Listens on a thread that ends with the stream.
    pub(crate) fn from(mut stream: impl Read + Send + 'static) -> Self {
        let heard = Self::default();
        let ear = heard.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                // A terminal ends with an error when nobody has it open any more.
                let count = stream.read(&mut buffer).unwrap_or(0);
                let mut said = ear.0.0.lock().unwrap();
                said.bytes.extend_from_slice(&buffer[..count]);
                said.has_ended = count == 0;
                ear.0.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        heard
    }

    /// Waits until this is so; returns whether it came to be so in [`WAIT_MAX`].
    pub(crate) fn wait(&self, is_so: impl Fn(&Said) -> bool) -> bool {
        let said = self.0.0.lock().unwrap();
        let (said, _) = self.0.1.wait_timeout_while(said, WAIT_MAX, |said| !is_so(said)).unwrap();
        is_so(&said)
    }

    /// Waits until this is so, looking whenever something is heard; returns whether it came to be so in
    /// [`WAIT_MAX`].
    pub(crate) fn wait_with(&self, mut is_so: impl FnMut() -> bool) -> bool {
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            let count = self.0.0.lock().unwrap().bytes.len();
            if is_so() {
                return true;
            }
            let said = self.0.0.lock().unwrap();
            let left = deadline.saturating_duration_since(Instant::now());
            let is_quiet = |said: &mut Said| said.bytes.len() == count && !said.has_ended;
            let (said, wait) = self.0.1.wait_timeout_while(said, left, is_quiet).unwrap();
            let is_over = wait.timed_out() || said.has_ended && said.bytes.len() == count;
            drop(said);
            if is_over {
                return is_so();
            }
        }
    }

    /// What was heard from this byte on.
    pub(crate) fn bytes_from(&self, start: usize) -> Vec<u8> {
        self.0.0.lock().unwrap().bytes[start..].to_vec()
    }

    pub(crate) fn text(&self) -> String {
        self.0.0.lock().unwrap().text()
    }
}

/// Texts that are different in every run, and what stands for them.
pub(crate) struct Masks(Vec<(String, String)>);

/// Forms that are different in every run: `0` is a digit, `f` a hexadecimal one.
const FORMS: [(&str, &str); 4] = [
    ("00000000-000000-ffff", "SESSION"),
    ("0000-00-00 00:00:00", "TIME"),
    ("127.0.0.1:00000", "SERVER"),
    ("127.0.0.1:0000", "SERVER"),
];

impl Masks {
    pub(crate) fn new(texts: Vec<(String, String)>) -> Self {
        Self(texts)
    }

    pub(crate) fn apply(&self, text: &str) -> String {
        let text = self.0.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        FORMS.iter().fold(text, |text, (form, name)| masked(&text, form, name))
    }
}

fn masked(text: &str, form: &str, name: &str) -> String {
    let fits = |(form, byte): (u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'f' => byte.is_ascii_hexdigit(),
        other => *byte == other,
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_masked = rest.len() >= form.len() && form.bytes().zip(rest.as_bytes()).all(fits);
        let (shown, taken) =
            if is_masked { (name, form.len()) } else { (&rest[..c.len_utf8()], c.len_utf8()) };
        out.push_str(shown);
        rest = &rest[taken..];
    }
    out
}
