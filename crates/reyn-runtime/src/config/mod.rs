//! Configuration on disk: found, read, merged, checked.
//!
//! Invariant: nothing here reads the process environment. What is wrong is never skipped: loading gives
//! settings that are right, or every problem with its file, line and column.

mod checks;
mod classes;
mod decode;
mod deserializer;
mod environment;
mod expand;
mod files;
mod init;
mod layers;
mod merge;
mod node;
mod paths;
mod permissions;
mod problem;
mod profiles;
mod project;
mod retired;
mod sandbox;
mod secrets;
mod server_address;
mod show;
#[cfg(test)]
mod tests;
mod web;
mod yaml;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use reyn_core::limits::CONFIG_PROBLEMS_MAX;
use reyn_core::permission::{ExecPolicy, FilePolicy, WebPolicy, Zones};
use reyn_core::settings::Settings;

pub use environment::Override;
pub use init::{InitError, InitLine, init, make_state_folder};
pub use paths::{ConfigPath, ConfigPaths, OwnLayer, paths, prepare};
pub use permissions::{AllowError, Allowed, Places, parse_allow};
pub use problem::{ConfigProblem, render_problems};
pub use profiles::{LoadResult, Loaded, ProfileError, Profiles};
pub use project::Project;
pub use sandbox::SandboxConfig;
pub use secrets::Secrets;
pub use server_address::WrittenAddress;
pub use show::{CheckReport, check, schema};

use decode::decode;
use expand::{Variables, expand};
use layers::{Layer, Layers};
use node::{Mark, Node, Step};

/// Everything that the configuration depends on.
#[derive(Clone, Default)]
pub struct ConfigInputs {
    /// Where the run was started.
    pub working_dir: PathBuf,
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// The environment of the process.
    pub environment: BTreeMap<String, String>,
    /// `REYN_…` variables that are not configuration.
    pub ignored_variables: Vec<&'static str>,
    /// What flags of the command line set, the later the stronger.
    pub overrides: Vec<Override>,
}

/// The configuration of a run.
#[derive(Clone)]
pub struct Config {
    /// The values.
    pub settings: Settings,
    /// The project's folder, without links.
    pub root: PathBuf,
    /// The home folder, without links.
    pub home: Option<PathBuf>,
    /// `permissions.file` with real paths.
    pub file_policy: FilePolicy,
    /// `permissions.exec`, without what the command line grants.
    pub exec_policy: ExecPolicy,
    /// `web` and `permissions.web`, without what the command line grants.
    pub web_policy: WebPolicy,
    /// `web_fetch.ca_bundle` with its real path.
    pub ca_bundle: Option<PathBuf>,
    /// `sandbox` with real paths.
    pub sandbox: SandboxConfig,
    /// The secrets file.
    pub secrets: Secrets,
    /// What the person should know, one line each.
    pub notices: Vec<String>,
    environment: BTreeMap<String, String>,
    tree: Node,
    /// The addresses of servers that the person's own layers give, replaced ones included.
    persons_addresses: Vec<String>,
}

/// Names only: settings can hold secrets.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("root", &self.root)
            .field("secrets", &self.secrets)
            .field("notices", &self.notices)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// A variable of the environment, else of the secrets file.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).or_else(|| self.secrets.get(name))
    }

    /// Where the value of a dotted key was given, as in `reyn.yaml:3`; `None` for a default.
    #[must_use]
    pub fn origin(&self, key: &str) -> Option<String> {
        let path: Vec<&str> = key.split('.').collect();
        self.tree.get(&path).map(|node| node.mark.origin())
    }

    /// [`zones`] of the project.
    #[must_use]
    pub fn zones(&self) -> Zones {
        zones(&self.root, self.home.as_deref())
    }

    /// Where the relative paths of the configuration start.
    #[must_use]
    pub fn places(&self) -> Places<'_> {
        Places { base: &self.root, home: self.home.as_deref() }
    }

    /// The capability profiles of the project.
    #[must_use]
    pub fn profiles(&self) -> Profiles {
        Profiles::new(&self.root)
    }
}

/// The workspace, with the secrets file sealed, keys and tokens asked for, and the person's own `.reyn` folder
/// protected. Both folders are without links.
#[must_use]
pub fn zones(root: &Path, home: Option<&Path>) -> Zones {
    let sealed = home.map(|home| {
        let path = home.join(".reyn/secrets.env");
        files::real_path(&path).unwrap_or(path)
    });
    let zones = Zones::new(root.to_owned(), sealed.into_iter().collect());
    let zones = match home {
        Some(home) => zones.with_credentials_of(home),
        None => zones,
    };
    let zones = match home {
        // In the home folder itself the project's own rules hold.
        Some(home) if home != root => zones.with_home_state(home.join(".reyn")),
        Some(_) | None => zones,
    };
    zones.with_real_places(|path| files::real_path(path).unwrap_or_else(|_| path.to_owned()))
}

/// Loads the configuration: defaults < `~/.reyn/config.yaml` < `reyn.yaml` < `reyn.local.yaml` <
/// `.reyn/config.yaml` < `REYN_…` variables < flags.
///
/// # Errors
/// With every problem found, at most [`CONFIG_PROBLEMS_MAX`], in the order of the layers.
pub fn load(inputs: &ConfigInputs) -> Result<Config, Vec<ConfigProblem>> {
    let attempt = attempt(inputs).map_err(|problem| vec![problem])?;
    let problems = in_order(attempt.problems, &attempt.project);
    let Some(Effective { checked, tree, persons_addresses }) =
        attempt.effective.filter(|_| problems.is_empty())
    else {
        return Err(problems);
    };
    let Checked { settings, file_policy, exec_policy, web_policy, ca_bundle, sandbox } = checked;
    let Project { root, home, notices: _ } = attempt.project;
    Ok(Config {
        settings,
        root,
        home,
        file_policy,
        exec_policy,
        web_policy,
        ca_bundle,
        sandbox,
        secrets: attempt.secrets,
        notices: attempt.notices,
        environment: inputs.environment.clone(),
        tree,
        persons_addresses,
    })
}

/// What loading came to.
struct Attempt {
    project: Project,
    secrets: Secrets,
    notices: Vec<String>,
    problems: Vec<ConfigProblem>,
    /// What is right of all layers together; `None` when one of them cannot be read as keys and values.
    effective: Option<Effective>,
}

/// All layers as one.
struct Effective {
    checked: Checked,
    tree: Node,
    persons_addresses: Vec<String>,
}

fn attempt(inputs: &ConfigInputs) -> Result<Attempt, ConfigProblem> {
    let project = Project::find(&inputs.working_dir, inputs.home.as_deref())?;
    let mut notices = project.notices.clone();
    let mut problems = vec![];
    let secrets = match project.home.as_deref().map(Secrets::load).transpose() {
        Ok(loaded) => {
            let (secrets, warnings) = loaded.unwrap_or_default();
            notices.extend(warnings);
            secrets
        }
        Err(problem) => {
            problems.push(problem);
            Secrets::default()
        }
    };
    let mut layers = read_layers(&project, inputs);
    problems.append(&mut layers.problems);
    let mut effective = None;
    if problems.is_empty() {
        let variables = Variables { environment: &inputs.environment, secrets: &secrets };
        let persons_addresses = server_address::persons(&layers.present, variables);
        let misplaced = checks::misplaced(&layers.present);
        let mut tree = layers.merged();
        let places = Places { base: &project.root, home: project.home.as_deref() };
        let (checked, more) = checked(&mut tree, variables, places, &mut notices);
        problems = more;
        problems.extend(misplaced);
        effective = Some(Effective { checked, tree, persons_addresses });
    }
    Ok(Attempt { project, secrets, notices, problems, effective })
}

impl Attempt {
    /// Also what is wrong in values that a higher layer replaces.
    fn problems_of_all_layers(&self, inputs: &ConfigInputs) -> Vec<ConfigProblem> {
        let mut problems = self.problems.clone();
        // Without the secrets file, each variable that it would set would be reported as missing.
        if problems.iter().any(|problem| problem.file == secrets::SECRETS_FILE) {
            return in_order(problems, &self.project);
        }
        let variables = Variables { environment: &inputs.environment, secrets: &self.secrets };
        for Layer { mut tree, .. } in read_layers(&self.project, inputs).present {
            for problem in typed(&mut tree, variables).problems {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        in_order(problems, &self.project)
    }
}

fn read_layers(project: &Project, inputs: &ConfigInputs) -> Layers {
    Layers::read(project, &inputs.environment, &inputs.ignored_variables, &inputs.overrides)
}

/// The settings of the merged layers, and what follows from them.
struct Checked {
    settings: Settings,
    file_policy: FilePolicy,
    exec_policy: ExecPolicy,
    web_policy: WebPolicy,
    ca_bundle: Option<PathBuf>,
    sandbox: SandboxConfig,
}

/// The settings, and all that is wrong with them.
fn checked(
    tree: &mut Node,
    variables: Variables<'_>,
    places: Places<'_>,
    notices: &mut Vec<String>,
) -> (Checked, Vec<ConfigProblem>) {
    let Typed { settings, mut problems, removed, unset } = typed(tree, variables);
    let mut more = classes::of_models(&settings.llm, tree, &removed);
    more.extend(classes::of_embeddings(&settings.embedding, tree, &removed));
    let (file_policy, of_paths) = permissions::file_policy(&settings.permissions, places, tree);
    more.extend(of_paths);
    let (exec_policy, of_commands) = permissions::exec_policy(&settings.permissions, tree);
    more.extend(of_commands);
    let (web_policy, of_hosts) = web::policy(&settings, tree);
    more.extend(of_hosts);
    let (ca_bundle, of_web) = web::checked(&settings, places, tree);
    more.extend(of_web);
    let sandbox = sandbox::resolved(&settings.sandbox, places, tree);
    more.extend(sandbox.problems);
    notices.extend(sandbox.notices);
    problems.extend(without_unset(more, &unset));
    (Checked { settings, file_policy, exec_policy, web_policy, ca_bundle, sandbox: sandbox.config }, problems)
}

/// A tree as settings.
struct Typed {
    settings: Settings,
    problems: Vec<ConfigProblem>,
    /// What had to be taken out of the tree.
    removed: Vec<Vec<Step>>,
    /// Texts with a variable that is not set.
    unset: Vec<Mark>,
}

fn typed(tree: &mut Node, variables: Variables<'_>) -> Typed {
    let mut unset = vec![];
    expand(tree, variables, &mut unset);
    let (unset, mut problems): (Vec<Mark>, Vec<ConfigProblem>) =
        unset.into_iter().map(|text| (text.mark, text.problem)).unzip();
    let decoded = decode::<Settings>(tree);
    problems.extend(without_unset(decoded.problems, &unset));
    problems.extend(checks::ranges(tree));
    problems.extend(without_unset(checks::trusted_servers(tree), &unset));
    Typed { settings: decoded.value, problems, removed: decoded.removed, unset }
}

/// A text with a variable that is not set is wrong for that alone.
fn without_unset(mut problems: Vec<ConfigProblem>, unset: &[Mark]) -> Vec<ConfigProblem> {
    problems.retain(|problem| {
        !unset.iter().any(|mark| {
            problem.file == mark.source.name
                && problem.line == Some(mark.line)
                && problem.column == Some(mark.column)
        })
    });
    problems
}

/// By layer, then by place, within the bound.
fn in_order(mut problems: Vec<ConfigProblem>, project: &Project) -> Vec<ConfigProblem> {
    let files = layers::files(project);
    let rank = |problem: &ConfigProblem| {
        let is_flag = problem.file.starts_with("--");
        let place = files.iter().position(|(_, name)| *name == problem.file).unwrap_or(files.len());
        (is_flag, place, problem.line, problem.column)
    };
    problems.sort_by_key(rank);
    problems.truncate(CONFIG_PROBLEMS_MAX);
    problems
}

/// The folder of the capability profiles.
fn profiles_folder(root: &Path) -> PathBuf {
    root.join(".reyn/capability_profiles")
}
