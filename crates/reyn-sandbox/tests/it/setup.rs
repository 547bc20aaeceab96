//! A workspace, the sandbox, and the probe that attempts things.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reyn_sandbox::{
    Axis, AxisName, AxisState, BackendChoice, BackendKind, Exited, HelperProgram, Launch, LaunchError,
    NamespaceChoice, Resolution, SUPERVISE, Sandbox, SandboxPolicy, system,
};
use tokio_util::sync::CancellationToken;

pub(crate) const PROBE: &str = env!("CARGO_BIN_EXE_sandbox-probe");
/// How long anything is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn helper() -> HelperProgram {
    HelperProgram::new(PROBE, vec![SUPERVISE.to_owned()])
}

pub(crate) const BOTH: [NamespaceChoice; 2] = [NamespaceChoice::Auto, NamespaceChoice::Never];

pub(crate) struct Here {
    _folder: tempfile::TempDir,
    /// The workspace: granted for writing.
    pub(crate) inside: PathBuf,
    /// Beside it: granted for nothing.
    pub(crate) outside: PathBuf,
    pub(crate) found: Resolution,
    pub(crate) policy: SandboxPolicy,
}

/// A sandbox of the kind, or `None` where this host has none, which is said.
pub(crate) async fn here(namespaces: NamespaceChoice) -> Option<Here> {
    let found = Sandbox::resolve(BackendChoice::Landlock, helper(), namespaces).await;
    if found.kind != BackendKind::Landlock {
        skip(found.reason.as_deref().unwrap_or("no sandbox"));
        return None;
    }
    let is_missing =
        |axis: &Axis| axis.name == AxisName::Metadata && matches!(axis.state, AxisState::Unenforced { .. });
    if namespaces == NamespaceChoice::Auto && found.axes.iter().any(is_missing) {
        skip("namespaces are forbidden here");
        return None;
    }
    Some(with(found))
}

/// The same without any sandbox.
pub(crate) async fn free() -> Here {
    with(Sandbox::resolve(BackendChoice::Noop, helper(), NamespaceChoice::Auto).await)
}

fn with(found: Resolution) -> Here {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (inside, outside) = (root.join("in"), root.join("out"));
    for place in [&inside, &outside] {
        std::fs::create_dir(place).unwrap();
        std::fs::write(place.join("file"), "text\n").unwrap();
    }
    let mut write_paths = system::write_paths();
    write_paths.push(inside.clone());
    let policy = SandboxPolicy {
        subprocess: true,
        read_paths: system::read_paths(),
        write_paths,
        ..SandboxPolicy::nothing()
    };
    Here { _folder: folder, inside, outside, found, policy }
}

/// Says that a test does not run here; where nothing may be skipped, fails.
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("REYN_TEST_NO_SKIP").is_none(), "skipped: {why}");
    println!("skipped: {why}");
}

impl Here {
    pub(crate) fn launch(&self, program: &str, arguments: &[&str]) -> Launch {
        Launch {
            program: program.into(),
            argv: std::iter::once(program).chain(arguments.iter().copied()).map(OsString::from).collect(),
            cwd: self.inside.clone(),
            env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            stdin: None,
            timeout: PATIENCE,
            output_bytes_max: 64 * 1024,
        }
    }

    pub(crate) async fn run(&self, launch: Launch) -> Result<Exited, LaunchError> {
        self.found.sandbox.run(&self.policy, launch, CancellationToken::new()).await
    }

    /// Makes one attempt; gives `done` or the error's name.
    pub(crate) async fn attempt(&self, arguments: &[&str]) -> String {
        let exited = self.run(self.launch(PROBE, arguments)).await.unwrap();
        said(&exited)
    }

    /// Runs a line of shell; gives what it said on both streams, and how it ended.
    pub(crate) async fn shell(&self, line: &str) -> (String, Exited) {
        let exited = self.run(self.launch("/bin/sh", &["-c", line])).await.unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&exited.stdout.head),
            String::from_utf8_lossy(&exited.stderr.head)
        );
        (text, exited)
    }

    pub(crate) fn at(&self, name: &str) -> String {
        text(&self.inside.join(name))
    }

    pub(crate) fn beside(&self, name: &str) -> String {
        text(&self.outside.join(name))
    }
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub(crate) fn said(exited: &Exited) -> String {
    let text = String::from_utf8_lossy(&exited.stdout.head).trim().to_owned();
    if text.is_empty() {
        format!("{:?} {}", exited.ending, String::from_utf8_lossy(&exited.stderr.head))
    } else {
        text
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether nobody holds the lock on a file any more.
pub(crate) fn is_free(lock: &Path) -> bool {
    std::fs::File::open(lock).unwrap().try_lock().is_ok()
}
