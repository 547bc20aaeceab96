//! macOS: `sandbox-exec` with a profile made from the policy.

use std::fmt::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::backend::{Axis, AxisName, AxisState, BackendKind, SandboxBackend, Unenforced};
use crate::child::Child;
use crate::launch::{Launch, LaunchError};
use crate::plain::Plain;
use crate::policy::SandboxPolicy;

const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Why sockets of this machine's programs are open.
const SOCKETS: &str = "with the network come the sockets of this machine's programs";

/// Runs processes under `sandbox-exec`.
#[derive(Debug)]
pub(crate) struct Seatbelt(());

impl Seatbelt {
    /// Lets `sandbox-exec` show that it runs what is allowed and refuses what is not.
    pub(crate) async fn proven() -> Result<Self, String> {
        if !cfg!(target_os = "macos") {
            return Err("Seatbelt is a part of macOS; use `auto`".to_owned());
        }
        static PROVEN: tokio::sync::OnceCell<Result<(), String>> = tokio::sync::OnceCell::const_new();
        let prove =
            || async { tokio::task::spawn_blocking(self_test).await.map_err(|error| error.to_string())? };
        PROVEN.get_or_init(prove).await.clone().map(|()| Self(()))
    }
}

fn self_test() -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("reyn-seatbelt-{}", std::process::id()));
    let inside = folder.join("inside");
    std::fs::create_dir_all(&inside).map_err(|error| error.to_string())?;
    let real = folder.canonicalize().map_err(|error| error.to_string())?;
    let policy = SandboxPolicy {
        read_paths: vec![PathBuf::from("/")],
        write_paths: vec![real.join("inside")],
        ..SandboxPolicy::nothing()
    };
    let text = profile(&policy);
    let touch = |path: &Path| {
        let mut command = Command::new(PROGRAM);
        command.arg("-p").arg(&text).arg("/usr/bin/touch").arg(path);
        command.status().map(|status| status.success()).map_err(|error| format!("`{PROGRAM}`: {error}"))
    };
    let allowed = touch(&real.join("inside/a"));
    let refused = touch(&real.join("b"));
    let _ = std::fs::remove_dir_all(&folder);
    match (allowed?, refused?) {
        (true, false) => Ok(()),
        (false, _) => Err(format!("`{PROGRAM}` refuses what is allowed")),
        (true, true) => Err(format!("`{PROGRAM}` lets a write outside pass")),
    }
}

impl SandboxBackend for Seatbelt {
    fn kind(&self) -> BackendKind {
        BackendKind::Seatbelt
    }

    fn axes(&self) -> Vec<Axis> {
        use AxisName::{
            Lifetime, LocalSockets, Memory, Metadata, Network, ProcessCount, Protected, ReadDeny, Reads,
            Subprocess, Writes,
        };
        let enforced = |name| Axis {
            name,
            state: AxisState::Enforced { how: "Seatbelt".to_owned() },
            is_proven: name == Writes,
        };
        let missing = |name| Axis {
            name,
            state: AxisState::Unenforced { why: "Seatbelt has no limits".to_owned() },
            is_proven: false,
        };
        let group = Axis {
            name: Lifetime,
            state: AxisState::Enforced { how: "the process group is killed".to_owned() },
            is_proven: false,
        };
        let sockets = Axis {
            name: LocalSockets,
            state: AxisState::Unenforced { why: SOCKETS.to_owned() },
            is_proven: false,
        };
        [Writes, Metadata, Reads, Protected, ReadDeny, Network, Subprocess]
            .map(enforced)
            .into_iter()
            .chain([Memory, ProcessCount, AxisName::Files].map(missing))
            .chain([group, sockets])
            .collect()
    }

    fn unenforced(&self, policy: &SandboxPolicy) -> Vec<Unenforced> {
        let limits = policy.limits;
        let files = limits.open_files_max.is_some() || limits.file_bytes_max.is_some();
        let sockets =
            policy.network.then(|| Unenforced { axis: AxisName::LocalSockets, why: SOCKETS.to_owned() });
        [
            (AxisName::Memory, limits.memory_bytes.is_some()),
            (AxisName::ProcessCount, limits.processes_max.is_some()),
            (AxisName::Files, files),
        ]
        .into_iter()
        .filter(|(_, is_asked)| *is_asked)
        .map(|(axis, _)| Unenforced { axis, why: "Seatbelt has no limits".to_owned() })
        .chain(sockets)
        .collect()
    }

    fn start(
        &self,
        policy: &SandboxPolicy,
        launch: &Launch,
        extras: &[OwnedFd],
        has_stdin: bool,
    ) -> Result<Child, LaunchError> {
        let mut command = Command::new(PROGRAM);
        command.arg("-p").arg(profile(policy)).arg("--").arg(&launch.program).args(&launch.argv[1..]);
        Plain::start(command, launch, extras, has_stdin)
    }
}

/// The policy in the words of Seatbelt. What stands later wins, so refusals follow what they narrow.
pub fn profile(policy: &SandboxPolicy) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(import \"bsd.sb\")\n(allow process-exec*)\n(allow signal (target same-sandbox))\n\
         (allow sysctl-read)\n(allow file-read-metadata)\n",
    );
    text.push_str(if policy.subprocess { "(allow process-fork)\n" } else { "(deny process-fork)\n" });
    text.push_str(if policy.network {
        "(allow network*)\n(allow system-socket)\n"
    } else {
        "(deny network*)\n"
    });
    let mut rule = |verdict: &str, act: &str, path: &Path| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "({verdict} {act} (subpath {}))", quoted(path));
    };
    for path in &policy.read_paths {
        rule("allow", "file-read*", path);
    }
    for path in &policy.write_paths {
        rule("allow", "file-read* file-write*", path);
    }
    for one in &policy.protected {
        rule("deny", "file-write*", &one.path);
        if let Ok(real) = one.path.canonicalize()
            && real != one.path
        {
            rule("deny", "file-write*", &real);
        }
    }
    for (folder, _) in parents(policy) {
        // A folder renamed away would take its protected entries along.
        let _ = writeln!(text, "(deny file-write-unlink (literal {}))", quoted(&folder));
    }
    for path in &policy.read_deny_paths {
        let _ = writeln!(text, "(deny file-read* file-write* (subpath {}))", quoted(path));
    }
    text
}

/// Folders between a write path and what is protected in it.
fn parents(policy: &SandboxPolicy) -> std::collections::BTreeMap<PathBuf, ()> {
    let mut found = std::collections::BTreeMap::new();
    for one in &policy.protected {
        for write in policy.write_paths.iter().filter(|write| one.path.starts_with(write)) {
            let between = one.path.ancestors().skip(1).take_while(|folder| *folder != write.as_path());
            found.extend(between.map(|folder| (folder.to_owned(), ())));
        }
    }
    found
}

/// A path as a string of the profile. Bytes that are no text cannot stand in one: they become a path that is nowhere.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::policy::ProtectedPath;

    #[test]
    fn a_profile_grants_then_refuses() {
        let policy = SandboxPolicy {
            read_paths: vec!["/usr".into()],
            write_paths: vec!["/w".into()],
            protected: vec![ProtectedPath { path: "/w/.git/hooks".into(), is_folder: true }],
            read_deny_paths: vec!["/w/secrets".into()],
            ..SandboxPolicy::nothing()
        };
        expect![[r#"
            (version 1)
            (deny default)
            (import "bsd.sb")
            (allow process-exec*)
            (allow signal (target same-sandbox))
            (allow sysctl-read)
            (allow file-read-metadata)
            (deny process-fork)
            (deny network*)
            (allow file-read* (subpath "/usr"))
            (allow file-read* file-write* (subpath "/w"))
            (deny file-write* (subpath "/w/.git/hooks"))
            (deny file-write-unlink (literal "/w/.git"))
            (deny file-read* file-write* (subpath "/w/secrets"))
        "#]]
        .assert_eq(&profile(&policy));
    }

    #[test]
    fn a_path_cannot_leave_its_quotes() {
        let policy = SandboxPolicy {
            network: true,
            subprocess: true,
            write_paths: vec!["/a\") (allow default) (\"\\".into()],
            ..SandboxPolicy::nothing()
        };
        expect![[r#"
            (version 1)
            (deny default)
            (import "bsd.sb")
            (allow process-exec*)
            (allow signal (target same-sandbox))
            (allow sysctl-read)
            (allow file-read-metadata)
            (allow process-fork)
            (allow network*)
            (allow system-socket)
            (allow file-read* file-write* (subpath "/a\") (allow default) (\"\\"))
        "#]]
        .assert_eq(&profile(&policy));
    }
}
