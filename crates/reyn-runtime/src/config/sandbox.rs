//! `sandbox` with real paths.

use std::path::{Path, PathBuf};

use reyn_core::settings::{BackendSetting, OnUnsupported, SandboxSettings};
use reyn_search::path_pattern::{self, HiddenEntries, PatternError};

use super::files::real_path;
use super::node::{Node, Step};
use super::permissions::Places;
use super::problem::ConfigProblem;

/// What programs may do, as configured: `sandbox` with the mode's values, and real, absolute paths.
///
/// A path need not exist; whoever makes a policy of it passes over one that is to be opened and is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// What confines programs.
    pub backend: BackendSetting,
    /// What happens when that is not there.
    pub on_unsupported: OnUnsupported,
    /// Whether programs reach the network.
    pub network: bool,
    /// Whether programs start further ones.
    pub subprocess: bool,
    /// Whether the workspace is written.
    pub is_workspace_writable: bool,
    /// What is read beside the system's folders, toolchains and the workspace.
    pub allow_read_paths: Vec<PathBuf>,
    /// What is written beside the workspace.
    pub allow_write_paths: Vec<PathBuf>,
    /// What is not read.
    pub deny_read_paths: Vec<PathBuf>,
    /// What is not written. Of a link, both itself and the place that it leads to.
    pub deny_write_paths: Vec<PathBuf>,
    /// Variables that are not passed.
    pub deny_env_names: Vec<String>,
    /// The only variables that are passed; `None` is the usual ones.
    pub allow_env_names: Option<Vec<String>>,
    /// Wall-clock time of a program whose call asks for none.
    pub timeout_seconds: u64,
    /// The longest that a call may ask for.
    pub max_timeout_seconds: u64,
    /// Output that is kept of each stream.
    pub max_output_bytes: u64,
    /// Writable memory of each process.
    pub memory_bytes: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// Length of each file written.
    pub file_bytes: u64,
}

/// The configuration of the sandbox, what is wrong with it, and what a person should know.
pub(super) struct Resolved {
    pub config: SandboxConfig,
    pub problems: Vec<ConfigProblem>,
    pub notices: Vec<String>,
}

/// Which list of paths it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    AllowRead,
    AllowWrite,
    DenyRead,
    DenyWrite,
}

impl List {
    const fn key(self) -> &'static str {
        match self {
            Self::AllowRead => "allow_read_paths",
            Self::AllowWrite => "allow_write_paths",
            Self::DenyRead => "deny_read_paths",
            Self::DenyWrite => "deny_write_paths",
        }
    }

    /// A pattern that opens leaves out what is hidden, as in a shell; one that closes leaves out nothing.
    const fn hidden(self) -> HiddenEntries {
        match self {
            Self::AllowRead | Self::AllowWrite => HiddenEntries::WhenNamed,
            Self::DenyRead | Self::DenyWrite => HiddenEntries::Always,
        }
    }
}

/// The effective values of `settings`; relative paths start at `places.base`, the project.
pub(super) fn resolved(settings: &SandboxSettings, places: Places<'_>, tree: &Node) -> Resolved {
    let values = settings.effective();
    let mut found = Found { places, tree, placed: vec![], problems: vec![], notices: vec![] };
    let config = SandboxConfig {
        backend: settings.backend,
        on_unsupported: settings.on_unsupported,
        network: values.network,
        subprocess: values.subprocess,
        is_workspace_writable: values.is_workspace_writable,
        allow_read_paths: found.paths(List::AllowRead, &values.allow_read_paths),
        allow_write_paths: found.paths(List::AllowWrite, &values.allow_write_paths),
        deny_read_paths: found.paths(List::DenyRead, &values.deny_read_paths),
        deny_write_paths: found.paths(List::DenyWrite, &values.deny_write_paths),
        deny_env_names: values.deny_env_names,
        allow_env_names: values.allow_env_names,
        timeout_seconds: values.timeout_seconds,
        max_timeout_seconds: values.max_timeout_seconds,
        max_output_bytes: values.max_output_bytes,
        memory_bytes: values.memory_bytes,
        processes: values.processes,
        open_files: values.open_files,
        file_bytes: values.file_bytes,
    };
    found.names("deny_env_names", &config.deny_env_names);
    found.names("allow_env_names", config.allow_env_names.as_deref().unwrap_or_default());
    found.problems.extend(times(&config, tree));
    found.contradictions(&config);
    Resolved { config, problems: found.problems, notices: found.notices }
}

struct Found<'a> {
    places: Places<'a>,
    tree: &'a Node,
    /// Which entry of which list each path came from.
    placed: Vec<(List, usize, PathBuf)>,
    problems: Vec<ConfigProblem>,
    notices: Vec<String>,
}

impl Found<'_> {
    fn paths(&mut self, list: List, written: &[String]) -> Vec<PathBuf> {
        let mut paths = vec![];
        for (at, text) in written.iter().enumerate() {
            match self.expanded(list, text) {
                Ok(found) if found.is_empty() => {
                    let node = self.node(list.key(), at);
                    let notice = format!(
                        "{}: `sandbox.policy.{}`: nothing matches `{}`",
                        node.mark.origin(),
                        list.key(),
                        node.template.as_deref().unwrap_or(text)
                    );
                    self.notices.push(notice);
                }
                Ok(found) => {
                    self.placed.extend(found.iter().map(|path| (list, at, path.clone())));
                    paths.extend(found);
                }
                Err((why, hint)) => {
                    let node = self.node(list.key(), at);
                    let why = if node.is_secret { "a path cannot be resolved" } else { &why };
                    let message = format!("`sandbox.policy.{}`: {why}", list.key());
                    let problem = ConfigProblem::at(&node.mark, message).maybe_hint(hint);
                    self.problems.push(problem);
                }
            }
        }
        paths.sort();
        paths.dedup();
        paths
    }

    fn expanded(&self, list: List, text: &str) -> Result<Vec<PathBuf>, (String, Option<String>)> {
        let plain = |why: String| (why, None);
        let text = path_pattern::from_workspace(text).map_err(plain)?;
        let written = self.places.place(&text).map_err(plain)?;
        if !path_pattern::is_pattern(&text) || written.symlink_metadata().is_ok() {
            return self.named(list, &text, &written).map_err(plain);
        }
        let matched = path_pattern::paths(Path::new("/"), &written, list.hidden()).map_err(|error| {
            let hint = match error {
                PatternError::Malformed { .. } => None,
                PatternError::TooManyPaths | PatternError::TooManyEntries => {
                    Some("name the folder that holds them; it stands for everything below it".to_owned())
                }
            };
            (format!("`{text}`: {error}"), hint)
        })?;
        let mut paths = vec![];
        for path in matched {
            // What was found and cannot be followed, such as a link in a circle, leads nowhere.
            paths.extend(real_path(&path).ok());
            paths.extend(own_place(list, &path));
        }
        Ok(paths)
    }

    fn named(&self, list: List, text: &str, written: &Path) -> Result<Vec<PathBuf>, String> {
        let mut paths = vec![self.places.resolve(text)?];
        paths.extend(own_place(list, written));
        Ok(paths)
    }

    /// What is written and must not be read, or written and must not be.
    fn contradictions(&mut self, config: &SandboxConfig) {
        let workspace = self.places.base.canonicalize().ok().filter(|_| config.is_workspace_writable);
        let opened = |list: List| self.placed.iter().filter(move |(one, ..)| *one == list);
        let mut found = vec![];
        for (_, at, shut) in opened(List::DenyRead) {
            let written =
                workspace.iter().chain(&config.allow_write_paths).find(|path| path.starts_with(shut));
            if let Some(written) = written {
                let is_workspace = Some(written) == workspace.as_ref();
                let written = if is_workspace {
                    "the workspace".to_owned()
                } else {
                    format!("`{}`", written.display())
                };
                let why = format!("this shuts {written}, which programs write");
                found.push((List::DenyRead, *at, why, "deny what lies in it, or write elsewhere"));
            }
        }
        for (_, at, open) in opened(List::AllowWrite) {
            let shut = config.deny_write_paths.iter().find(|shut| open.starts_with(shut));
            if let Some(shut) = shut {
                let why = format!("`sandbox.policy.deny_write_paths` shuts it: `{}`", shut.display());
                found.push((List::AllowWrite, *at, why, "take it out of one of the two"));
            }
        }
        for (list, at, why, hint) in found {
            let node = self.node(list.key(), at);
            let why = if node.is_secret { "two lists contradict each other" } else { &why };
            let message = format!("`sandbox.policy.{}`: {why}", list.key());
            let problem = ConfigProblem::at(&node.mark, message).hint(hint);
            self.problems.push(problem);
        }
    }

    fn names(&mut self, key: &str, names: &[String]) {
        for (at, name) in names.iter().enumerate() {
            if name.is_empty() || name.contains(['=', '\0']) {
                let node = self.node(key, at);
                let message = format!("`sandbox.policy.{key}`: this cannot name an environment variable");
                let problem = ConfigProblem::at(&node.mark, message);
                self.problems.push(problem.hint("write the name alone, as in `LANG`"));
            }
        }
    }

    fn node(&self, key: &str, at: usize) -> &Node {
        let mut path: Vec<Step> = ["sandbox", "policy", key].map(|key| Step::Key(key.to_owned())).to_vec();
        path.push(Step::Index(at));
        self.tree.at(&path).unwrap_or(self.tree)
    }
}

/// Where a link itself is, when it must not be replaced.
fn own_place(list: List, path: &Path) -> Option<PathBuf> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if list != List::DenyWrite || !is_link {
        return None;
    }
    Some(real_path(path.parent()?).ok()?.join(path.file_name()?))
}

/// A default time that is longer than the longest.
fn times(config: &SandboxConfig, tree: &Node) -> Option<ConfigProblem> {
    let SandboxConfig { timeout_seconds: usual, max_timeout_seconds: longest, .. } = config;
    if usual <= longest {
        return None;
    }
    let node = |key| tree.get(&["sandbox", "policy", key]);
    let (written, other) = ("timeout_seconds", "max_timeout_seconds");
    let place = node(written).or_else(|| node(other)).unwrap_or(tree);
    let message = format!(
        "`sandbox.policy.{written}` is {usual}, longer than `sandbox.policy.{other}`, which is {longest}"
    );
    Some(ConfigProblem::at(&place.mark, message).hint("lower the first or raise the second"))
}
