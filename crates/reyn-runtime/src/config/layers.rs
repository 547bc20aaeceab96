//! The layers of the configuration, low to high.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::{self, Override};
use super::files;
use super::merge::{merge, nest};
use super::node::{Mark, Members, Node, NodeValue, Source, SourceKind};
use super::problem::ConfigProblem;
use super::project::Project;
use super::yaml;

/// How the person's own file is called in messages.
const USER_FILE: &str = "~/.reyn/config.yaml";

/// The file in the runtime's own folder of a project.
const STATE_FILE: &str = ".reyn/config.yaml";

/// The layers that are there, and what is wrong with the others.
pub(super) struct Layers {
    /// Low to high.
    pub present: Vec<Layer>,
    /// What cannot be read as keys and values.
    pub problems: Vec<ConfigProblem>,
}

/// One layer.
pub(super) struct Layer {
    /// Its keys and values, dotted keys nested.
    pub tree: Node,
    /// Whether the person gave it: their own file, their environment, their command line. A file of the project
    /// may have come with it.
    pub is_persons: bool,
}

/// The configuration files of a project, low to high, each with its name in messages.
pub(super) fn files(project: &Project) -> Vec<(PathBuf, String)> {
    let inside = |name: &str| (project.root.join(name), name.to_owned());
    let user = project.home.as_deref().filter(|_| !project.is_home()).map(user_file);
    let own = ["reyn.yaml", "reyn.local.yaml", STATE_FILE].map(inside);
    user.into_iter().chain(own).collect()
}

fn user_file(home: &Path) -> (PathBuf, String) {
    (home.join(".reyn/config.yaml"), USER_FILE.to_owned())
}

/// Whether a file is the person's own. In the home folder itself it is the one that is the project's elsewhere.
fn is_persons(project: &Project, name: &str) -> bool {
    name == if project.is_home() { STATE_FILE } else { USER_FILE }
}

impl Layers {
    /// Reads every layer; files that do not exist are no layers.
    pub(super) fn read(
        project: &Project,
        environment: &BTreeMap<String, String>,
        ignored: &[&str],
        overrides: &[Override],
    ) -> Self {
        let mut layers = Self { present: vec![], problems: vec![] };
        for (path, name) in files(project) {
            match read_file(&path, &name) {
                Ok(Some(tree)) => layers.add(tree, is_persons(project, &name)),
                Ok(None) => {}
                Err(problems) => layers.problems.extend(problems),
            }
        }
        let (given, problems) = environment::variables(environment, ignored);
        layers.problems.extend(problems);
        for tree in given.into_iter().chain(overrides.iter().map(environment::flag)) {
            layers.add(tree, true);
        }
        layers
    }

    fn add(&mut self, tree: Node, is_persons: bool) {
        let (tree, problems) = nest(tree);
        self.problems.extend(problems);
        self.present.push(Layer { tree, is_persons });
    }

    /// All layers as one.
    pub(super) fn merged(self) -> Node {
        self.present.into_iter().fold(nothing(), |mut base, layer| {
            merge(&mut base, layer.tree);
            base
        })
    }
}

/// Reads one file as keys and values; `None` when there is none.
pub(super) fn read_file(path: &Path, name: &str) -> Result<Option<Node>, Vec<ConfigProblem>> {
    let Some(text) = files::read_text(path, name).map_err(|problem| vec![problem])? else {
        return Ok(None);
    };
    let source = Arc::new(Source { name: name.to_owned(), kind: SourceKind::File, text });
    yaml::parse_file(&source).map(Some)
}

fn nothing() -> Node {
    let source =
        Source { name: "configuration".to_owned(), kind: SourceKind::CommandLine, text: String::new() };
    let mark = Mark { source: Arc::new(source), line: 1, column: 1 };
    Node::new(mark, NodeValue::Map(Members::new()))
}
