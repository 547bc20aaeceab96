//! `.reyn/capability_profiles/<name>.yaml`.
//!
//! Invariant: a file that is not read as a profile is an error, never an empty profile, since an empty
//! profile narrows nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use reyn_core::capability::CapabilityProfile;
use reyn_core::limits::PROFILES_MAX;
use reyn_core::tool::judged_as;
use thiserror::Error;

use super::decode::did_you_mean;
use super::files::said;
use super::layers::read_file;
use super::node::{Node, NodeValue};
use super::problem::ConfigProblem;
use super::profiles_folder;

const EXTENSION: &str = ".yaml";

/// Keys of a profile file.
const KEYS: [&str; 7] =
    ["name", "description", "mcp_allow", "mcp_deny", "tool_allow", "tool_deny", "categories"];

/// Tools that have another name now. A dead name in a deny list would deny nothing.
const RENAMED_TOOLS: [(&str, &str); 3] = [
    ("agent_spawn", "spawn_agent"),
    ("session_spawn", "spawn_session"),
    ("topology_create", "create_topology"),
];

/// A profile, and what is odd in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The profile.
    pub profile: CapabilityProfile,
    /// Unknown keys, and names that no tool has.
    pub warnings: Vec<ConfigProblem>,
}

/// Why there is no profile of a name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// Its file does not exist.
    #[error("the capability profile `{name}` does not exist: there is no `{file}`")]
    Missing {
        /// The profile.
        name: String,
        /// Where it would be.
        file: String,
    },
    /// Its file is not a profile, or it cannot be the name of one.
    #[error("{}", super::render_problems(.0))]
    Malformed(Vec<ConfigProblem>),
}

/// A profile, or why there is none.
pub type LoadResult = Result<Loaded, ProfileError>;

/// The folder of a project's profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles {
    folder: PathBuf,
}

impl Profiles {
    /// The profiles of the project `root`, which is a path without links.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { folder: profiles_folder(root) }
    }

    /// Reads one profile. `known_tools` are the names that tools have.
    ///
    /// # Errors
    /// When there is none, or its file is malformed.
    pub fn load(&self, name: &str, known_tools: &[&str]) -> LoadResult {
        let file = format!(".reyn/capability_profiles/{name}{EXTENSION}");
        if !is_profile_name(name) {
            let problem = ConfigProblem::in_file(
                ".reyn/capability_profiles",
                format!("`{}` cannot be the name of a profile", name.escape_default()),
            );
            let hint = "use letters, digits, `_` and `-`";
            return Err(ProfileError::Malformed(vec![problem.hint(hint)]));
        }
        let path = self.folder.join(format!("{name}{EXTENSION}"));
        let malformed = |problem| ProfileError::Malformed(vec![problem]);
        self.check_stays_inside(&path, &file).map_err(malformed)?;
        match read_file(&path, &file).map_err(ProfileError::Malformed)? {
            Some(tree) => profile(name, &tree, known_tools).map_err(ProfileError::Malformed),
            None => Err(ProfileError::Missing { name: name.to_owned(), file }),
        }
    }

    /// Reads every profile, sorted by name. A folder that does not exist holds none.
    ///
    /// # Errors
    /// When the folder cannot be listed or holds more than [`PROFILES_MAX`] files.
    pub fn load_all(&self, known_tools: &[&str]) -> Result<Vec<(String, LoadResult)>, ConfigProblem> {
        let names = self.names()?;
        Ok(names
            .into_iter()
            .map(|name| {
                let loaded = self.load(&name, known_tools);
                (name, loaded)
            })
            .collect())
    }

    fn names(&self) -> Result<Vec<String>, ConfigProblem> {
        let in_folder = |message: String| ConfigProblem::in_file(".reyn/capability_profiles", message);
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(error) => return Err(in_folder(format!("cannot list it: {}", said(&error)))),
        };
        let mut names = vec![];
        for entry in entries {
            let entry = entry.map_err(|error| in_folder(format!("cannot list it: {}", said(&error))))?;
            let file = entry.file_name();
            let Some(name) = file.to_str().and_then(|file| file.strip_suffix(EXTENSION)) else { continue };
            if names.len() >= PROFILES_MAX {
                return Err(in_folder(format!("it holds more than {PROFILES_MAX} profiles")));
            }
            names.push(name.to_owned());
        }
        names.sort();
        Ok(names)
    }

    fn check_stays_inside(&self, path: &Path, file: &str) -> Result<(), ConfigProblem> {
        match path.canonicalize() {
            Ok(real) if real.parent() == Some(&self.folder) => Ok(()),
            Ok(_) => Err(ConfigProblem::in_file(file, "it leads out of the folder of profiles")
                .hint("put the file itself there instead of a link")),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(()),
            Err(error) => Err(ConfigProblem::in_file(file, format!("cannot read it: {}", said(&error)))),
        }
    }
}

fn is_profile_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn profile(name: &str, tree: &Node, known_tools: &[&str]) -> Result<Loaded, Vec<ConfigProblem>> {
    let mut reading = Reading { tree, known_tools, problems: vec![], warnings: vec![] };
    reading.check_name(name);
    let profile = CapabilityProfile {
        name: name.to_owned(),
        description: reading.description(),
        mcp_allow: reading.names("mcp_allow"),
        mcp_deny: reading.names("mcp_deny"),
        tool_allow: reading.tools("tool_allow"),
        tool_deny: reading.tools("tool_deny"),
        categories: reading.names("categories"),
    };
    reading.warn_of_unknown_keys();
    if reading.problems.is_empty() {
        Ok(Loaded { profile, warnings: reading.warnings })
    } else {
        Err(reading.problems)
    }
}

/// A profile's file while it is read.
struct Reading<'a> {
    tree: &'a Node,
    known_tools: &'a [&'a str],
    problems: Vec<ConfigProblem>,
    warnings: Vec<ConfigProblem>,
}

impl<'a> Reading<'a> {
    fn check_name(&mut self, name: &str) {
        match self.tree.get(&["name"]) {
            None => self.problems.push(
                ConfigProblem::at(&self.tree.mark, "the profile lacks `name`")
                    .hint(format!("add `name: {name}`, as the file is called")),
            ),
            Some(node) if text(node).as_deref() == Some(name) => {}
            Some(node) => self.problems.push(
                ConfigProblem::at(&node.mark, "`name` differs from the file's name")
                    .hint(format!("write `name: {name}`, or rename the file")),
            ),
        }
    }

    fn description(&mut self) -> String {
        let Some(node) = self.tree.get(&["description"]) else { return String::new() };
        if matches!(node.value, NodeValue::Null) {
            return String::new();
        }
        text(node).unwrap_or_else(|| {
            self.problems.push(ConfigProblem::at(&node.mark, "`description` must be text"));
            String::new()
        })
    }

    /// A list of names, or one name in place of a list of one.
    fn names(&mut self, key: &str) -> Option<Vec<String>> {
        Some(self.nodes(key)?.into_iter().map(|(name, _)| name).collect())
    }

    fn nodes(&mut self, key: &str) -> Option<Vec<(String, &'a Node)>> {
        let node = self.tree.get(&[key])?;
        let items: Vec<&Node> = match &node.value {
            NodeValue::Null => return None,
            NodeValue::List(items) => items.iter().collect(),
            NodeValue::Bool(_)
            | NodeValue::Unsigned(_)
            | NodeValue::Signed(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_)
            | NodeValue::Map(_) => vec![node],
        };
        let mut names = vec![];
        for item in items {
            match text(item) {
                Some(name) => names.push((name, item)),
                None => self.problems.push(ConfigProblem::at(
                    &item.mark,
                    format!("`{key}` must be a name or a list of names"),
                )),
            }
        }
        Some(names)
    }

    fn tools(&mut self, key: &str) -> Option<Vec<String>> {
        let nodes = self.nodes(key)?;
        for (name, node) in &nodes {
            if let Some((_, now)) = RENAMED_TOOLS.iter().find(|(before, _)| before == name) {
                let problem = ConfigProblem::at(&node.mark, format!("the tool `{name}` is called `{now}`"));
                self.problems.push(problem.hint(format!("write `{now}`; the old name would narrow nothing")));
            } else if judged_as(name) != name {
                let now = judged_as(name);
                let warning = ConfigProblem::at(&node.mark, format!("`{name}` is judged as `{now}`"));
                self.warnings.push(warning.hint(format!("write `{now}`; `{name}` narrows nothing")));
            } else if !self.known_tools.contains(&name.as_str()) {
                let warning = ConfigProblem::at(&node.mark, format!("no tool is called `{name}`"));
                self.warnings.push(warning.maybe_hint(did_you_mean(name, self.known_tools.iter().copied())));
            }
        }
        Some(nodes.into_iter().map(|(name, _)| name).collect())
    }

    fn warn_of_unknown_keys(&mut self) {
        for (key, member) in self.tree.members().into_iter().flatten() {
            if !KEYS.contains(&key.as_str()) {
                let warning = ConfigProblem::at(&member.key, format!("unknown key `{key}` is not used"));
                self.warnings.push(warning.maybe_hint(did_you_mean(key, KEYS)));
            }
        }
        self.warnings.sort_by_key(|warning| (warning.line, warning.column));
    }
}

/// A name as written: numbers and truth values are names too.
fn text(node: &Node) -> Option<String> {
    match &node.value {
        NodeValue::Text(text) => Some(text.clone()),
        NodeValue::Unsigned(value) => Some(value.to_string()),
        NodeValue::Signed(value) => Some(value.to_string()),
        NodeValue::Float(value) => Some(value.to_string()),
        NodeValue::Bool(value) => Some(value.to_string()),
        NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_) => None,
    }
}
