//! The sandbox's policy for one program: what the operator says, what the file permissions say, what the call gives up.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use reyn_core::permission::ProcessReach;
use reyn_sandbox::git::GitPaths;
use reyn_sandbox::{LaunchError, ProtectedPath, SandboxPolicy, system};

use super::asked_paths::named;
use super::{ProcessSettings, Request};

/// How many entries of a protected folder are looked at for other names.
const ENTRIES_MAX: usize = 10_000;

/// What a call gives up of what the operator grants. It can only take away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Narrowed {
    pub network: Option<bool>,
    pub subprocess: Option<bool>,
    /// Of the workspace and other granted folders, what is read; `None` is all.
    pub read_paths: Option<Vec<PathBuf>>,
    /// The same for writing.
    pub write_paths: Option<Vec<PathBuf>>,
    /// The variables that are passed; `None` is what the operator passes.
    pub env_names: Option<Vec<String>>,
}

/// A policy, and what a call asked for and does not get, in words.
#[derive(Debug)]
pub(super) struct Granted {
    pub policy: SandboxPolicy,
    pub shortfalls: Vec<String>,
}

/// What the program gets.
///
/// # Errors
/// When a protected file has another name that a narrower grant would leave writable.
pub(super) fn policy(
    settings: &ProcessSettings,
    request: &Request,
    reach: &ProcessReach,
    git: &GitPaths,
) -> Result<Granted, LaunchError> {
    let Narrowed { network, subprocess, read_paths, write_paths, .. } = &request.narrowed;
    let home = settings.home.clone().unwrap_or_else(|| PathBuf::from("/nonexistent"));
    let granted_reads = [reach.read.clone(), settings.read_paths.clone()].concat();
    let in_workspace = if settings.is_workspace_writable { reach.write.clone() } else { vec![] };
    let mut granted_writes = [in_workspace.clone(), settings.write_paths.clone()].concat();
    // Git's folder of a linked worktree is written to where the worktree is.
    if !in_workspace.is_empty() {
        granted_writes.extend(git.write_paths.iter().cloned());
    }
    let denied: Vec<PathBuf> = [reach.unreadable.clone(), settings.read_deny_paths.clone()].concat();
    let mut protected: Vec<ProtectedPath> = reach
        .protected
        .iter()
        .map(|place| ProtectedPath {
            is_folder: is_folder(&place.path, place.is_folder),
            path: place.path.clone(),
        })
        .chain(git.protected.iter().cloned())
        .chain(
            settings
                .write_deny_paths
                .iter()
                .map(|path| ProtectedPath { path: path.clone(), is_folder: is_folder(path, false) }),
        )
        .collect();
    let mut writes = within(granted_writes, write_paths.as_deref());
    writes.retain(|path| path.exists() && !protected.iter().any(|one| path.starts_with(&one.path)));
    if write_paths.is_some() {
        writes.retain(|path| !denied.iter().any(|shut| path.starts_with(shut)));
        if !writes.is_empty() {
            one_name_each(&protected)?;
        }
    }
    protected.retain(|one| writes.iter().any(|write| one.path.starts_with(write)));
    let mut reads = within(granted_reads, read_paths.as_deref());
    reads.retain(|path| path.exists());
    reads.extend(system::read_paths());
    reads.extend(system::toolchain_paths(&home, settings.path_variable()));
    reads.extend(system::named_paths(&home, |name| settings.variable(name).map(ToOwned::to_owned)));
    reads.extend(system::program_paths(&request.program, &home));
    writes.extend(system::write_paths());
    let policy = SandboxPolicy {
        network: settings.network && network.unwrap_or(true),
        subprocess: settings.subprocess && subprocess.unwrap_or(true),
        read_paths: sorted(reads),
        write_paths: sorted(writes),
        protected,
        read_deny_paths: sorted(denied),
        limits: settings.limits,
    };
    let shortfalls = shortfalls(&request.narrowed, &policy);
    Ok(Granted { policy, shortfalls })
}

/// What was asked for and is not granted.
fn shortfalls(narrowed: &Narrowed, policy: &SandboxPolicy) -> Vec<String> {
    let Narrowed { network, subprocess, read_paths, write_paths, .. } = narrowed;
    let mut words = vec![];
    if *network == Some(true) && !policy.network {
        words.push("`network`: `sandbox.policy.network` is off".to_owned());
    }
    if *subprocess == Some(true) && !policy.subprocess {
        words.push("`allow_subprocess`: `sandbox.policy.subprocess` is off".to_owned());
    }
    let readable = [policy.read_paths.clone(), policy.write_paths.clone()].concat();
    for (field, asked, granted) in
        [("read_paths", read_paths, &readable), ("write_paths", write_paths, &policy.write_paths)]
    {
        let shown = |path: &PathBuf| path.display().to_string();
        let (mut no, mut partly): (Vec<String>, Vec<String>) = (vec![], vec![]);
        for path in asked.iter().flatten() {
            let is_shut = policy.read_deny_paths.iter().any(|shut| path.starts_with(shut));
            let is_whole = granted.iter().any(|one| path.starts_with(one));
            let is_partly = granted.iter().any(|one| one.starts_with(path));
            match (is_shut, is_whole, is_partly) {
                (false, true, _) => {}
                (false, false, true) => partly.push(shown(path)),
                (true, _, _) | (false, false, false) => no.push(shown(path)),
            }
        }
        if !no.is_empty() {
            words.push(format!("`{field}`: the operator does not grant {}", named(&no)));
        }
        if !partly.is_empty() {
            words.push(format!("`{field}`: the operator grants only parts of {}", named(&partly)));
        }
    }
    words
}

/// Refuses where a protected file has another name: whether it lies in what is writable, nobody can tell.
fn one_name_each(protected: &[ProtectedPath]) -> Result<(), LaunchError> {
    let links = |path: &Path| {
        path.symlink_metadata().ok().filter(|found| found.is_file()).map_or(1, |found| found.nlink())
    };
    for one in protected {
        let entries = std::fs::read_dir(&one.path).into_iter().flatten().take(ENTRIES_MAX).flatten();
        for path in entries.map(|entry| entry.path()).chain([one.path.clone()]) {
            let links = links(&path);
            if links > 1 {
                return Err(LaunchError::ProtectedHasLinks { path, links });
            }
        }
    }
    Ok(())
}

/// What is granted and asked for: the narrower of the two wherever they meet.
fn within(granted: Vec<PathBuf>, asked: Option<&[PathBuf]>) -> Vec<PathBuf> {
    let Some(asked) = asked else { return granted };
    let lies_in = |path: &Path, paths: &[PathBuf]| paths.iter().any(|one| path.starts_with(one));
    let of_asked = asked.iter().filter(|path| lies_in(path, &granted)).cloned();
    of_asked.chain(granted.iter().filter(|path| lies_in(path, asked)).cloned()).collect()
}

fn is_folder(path: &Path, default: bool) -> bool {
    std::fs::symlink_metadata(path).map_or(default, |found| found.is_dir())
}

fn sorted(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reyn_core::permission::Place;
    use reyn_sandbox::HelperProgram;

    use super::*;

    /// A workspace with `src`, `out`, `.reyn` and `private`, of which the last is unreadable.
    struct Here {
        _folder: tempfile::TempDir,
        root: PathBuf,
        settings: ProcessSettings,
        reach: ProcessReach,
    }

    fn here() -> Here {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["src", "out", "out/a", ".reyn", "private"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("reyn.yaml"), "").unwrap();
        let reach = ProcessReach {
            read: vec![root.clone()],
            write: vec![root.clone()],
            protected: vec![
                Place { path: root.join(".reyn"), is_folder: true },
                Place { path: root.join("reyn.yaml"), is_folder: false },
            ],
            unreadable: vec![root.join("private")],
        };
        let settings = ProcessSettings::new(vec![], None, HelperProgram::this_program());
        Here { _folder: folder, root, settings, reach }
    }

    impl Here {
        fn granted(&self, narrowed: Narrowed) -> Result<Granted, LaunchError> {
            let request = Request {
                program: PathBuf::from("/bin/true"),
                argv: vec!["true".into()],
                cwd: self.root.clone(),
                stdin: None,
                timeout: Duration::from_secs(1),
                narrowed,
            };
            policy(&self.settings, &request, &self.reach, &reyn_sandbox::git::paths(&self.root))
        }

        /// What of the lists lies in the workspace, relative to it.
        fn inside(&self, paths: &[PathBuf]) -> Vec<String> {
            let names = paths.iter().filter_map(|path| path.strip_prefix(&self.root).ok());
            names.map(|name| name.display().to_string()).collect()
        }

        fn paths(&self, names: &[&str]) -> Option<Vec<PathBuf>> {
            Some(names.iter().map(|name| self.root.join(name)).collect())
        }
    }

    #[test]
    fn paths_are_the_narrower_of_what_is_asked_for_and_granted_and_the_rest_is_said() {
        let here = here();
        let no = |name: &str| {
            vec![format!("`write_paths`: the operator does not grant `{}`", here.root.join(name).display())]
        };
        let table: [(&[&str], &[&str], Vec<String>); 7] = [
            (&[], &[], vec![]),
            (&["out"], &["out"], vec![]),
            (&["out/a", "src"], &["out/a", "src"], vec![]),
            (&[""], &[""], vec![]),
            (&["/"], &[""], vec!["`write_paths`: the operator grants only parts of `/`".into()]),
            (&[".reyn"], &[], no(".reyn")),
            (&["private"], &[], no("private")),
        ];
        for (asked, granted, shortfalls) in table {
            let narrowed = Narrowed { write_paths: here.paths(asked), ..Narrowed::default() };
            let found = here.granted(narrowed).unwrap();
            assert_eq!(here.inside(&found.policy.write_paths), granted, "{asked:?}");
            assert_eq!(found.shortfalls, shortfalls, "{asked:?}");
            found.policy.check().unwrap();
        }
        let narrowed =
            Narrowed { read_paths: here.paths(&["src", "/root/x", "/usr/lib"]), ..Narrowed::default() };
        let found = here.granted(narrowed).unwrap();
        assert_eq!(here.inside(&found.policy.read_paths), ["src"]);
        assert_eq!(found.shortfalls, ["`read_paths`: the operator does not grant `/root/x`"]);
    }

    #[test]
    fn a_call_opens_nothing_that_the_operator_shut_and_shuts_what_it_does_not_ask_for() {
        for operator in [false, true] {
            for asked in [None, Some(false), Some(true)] {
                let mut here = here();
                (here.settings.network, here.settings.subprocess) = (operator, operator);
                let narrowed = Narrowed { network: asked, subprocess: asked, ..Narrowed::default() };
                let found = here.granted(narrowed).unwrap();
                let expected = operator && asked != Some(false);
                assert_eq!((found.policy.network, found.policy.subprocess), (expected, expected));
                assert_eq!(found.shortfalls.len(), if asked == Some(true) && !operator { 2 } else { 0 });
            }
        }
    }

    #[test]
    fn a_file_that_is_protected_under_one_name_is_not_written_under_another() {
        let here = here();
        std::fs::hard_link(here.root.join("reyn.yaml"), here.root.join("out/twin")).unwrap();
        let writes = |names: &[&str]| Narrowed { write_paths: here.paths(names), ..Narrowed::default() };
        let error = here.granted(writes(&["out"])).unwrap_err();
        assert!(matches!(error, LaunchError::ProtectedHasLinks { links: 2, .. }), "{error}");
        here.granted(writes(&[])).unwrap();
    }
}
