//! Which files make up the configuration, and the one that a person is given to write in.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::init::{self, InitError, InitLine};
use super::project::Project;
use super::{layers, profiles_folder, secrets};

/// A file or folder that Reyn reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigPath {
    /// How messages call it.
    pub name: String,
    /// Where it is or would be.
    pub path: PathBuf,
    /// Whether something is there.
    pub exists: bool,
    /// What it is for, in a few words.
    pub purpose: &'static str,
}

/// Every file of a project's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigPaths {
    /// Settings, low to high: a later one wins.
    pub layers: Vec<ConfigPath>,
    /// What stands beside the settings.
    pub beside: Vec<ConfigPath>,
}

/// A layer that a person writes by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnLayer {
    /// `~/.reyn/config.yaml`: of every project.
    User,
    /// `reyn.yaml`: of this project, for everybody.
    Project,
    /// `reyn.local.yaml`: of this project, for one person.
    Local,
}

/// Lists the files, whether they are there or not.
#[must_use]
pub fn paths(project: &Project) -> ConfigPaths {
    let layers = layers::files(project);
    let purposes = ["yours, in every project", "the project's", "yours, in this project", "written by Reyn"];
    let skipped = purposes.len() - layers.len();
    let layers = layers.into_iter().zip(purposes.into_iter().skip(skipped));
    let layers = layers.map(|((path, name), purpose)| entry(path, name, purpose)).collect();
    let at_home = |name: &str, purpose| {
        project
            .home
            .as_deref()
            .map(|home| entry(home.join(".reyn").join(name), format!("~/.reyn/{name}"), purpose))
    };
    let approvals = project.root.join(".reyn/approvals.yaml");
    let profiles = profiles_folder(&project.root);
    let secrets_name = secrets::SECRETS_FILE.trim_start_matches("~/.reyn/");
    let beside = [
        at_home(secrets_name, "keys, one NAME=value a line"),
        Some(entry(approvals, ".reyn/approvals.yaml".to_owned(), "what you answered with \"always\"")),
        Some(entry(profiles, ".reyn/capability_profiles/".to_owned(), "profiles that narrow a run")),
        at_home("providers.toml", "providers, in place of the built-in list"),
        at_home("models.toml", "local model files, in place of the built-in list"),
    ];
    ConfigPaths { layers, beside: beside.into_iter().flatten().collect() }
}

fn entry(path: PathBuf, name: String, purpose: &'static str) -> ConfigPath {
    let exists = fs::symlink_metadata(&path).is_ok();
    ConfigPath { name, path, exists, purpose }
}

/// The file of a layer; written first, with every key as a comment, when it is not there. Returns its path
/// and what was made.
///
/// # Errors
/// When it cannot be written, a link stands where a folder belongs, or there is no home folder.
pub fn prepare(project: &Project, layer: OwnLayer) -> Result<(PathBuf, Vec<InitLine>), InitError> {
    match layer {
        OwnLayer::Project => {
            let lines = vec![init::create(&project.root, "reyn.yaml", init::PROJECT)?];
            Ok((project.root.join("reyn.yaml"), lines))
        }
        OwnLayer::Local => {
            let mut lines = vec![init::create(&project.root, "reyn.local.yaml", init::LOCAL)?];
            // What is one person's own is not for the others.
            lines.push(init::ignore(&project.root)?);
            Ok((project.root.join("reyn.local.yaml"), lines))
        }
        OwnLayer::User => {
            let home: &Path = project.home.as_deref().ok_or(InitError::NoHome)?;
            let folder = init::create_folder(home, ".reyn")?;
            let lines = vec![folder, init::create(home, ".reyn/config.yaml", init::USER)?];
            Ok((home.join(".reyn/config.yaml"), lines))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ConfigInputs, check};
    use super::*;

    const LAYERS: [(OwnLayer, &str); 3] = [
        (OwnLayer::User, "home/.reyn/config.yaml"),
        (OwnLayer::Project, "work/reyn.yaml"),
        (OwnLayer::Local, "work/reyn.local.yaml"),
    ];

    /// A home and a project below a folder.
    fn place(folder: &Path) -> (Project, ConfigInputs) {
        let folder = folder.canonicalize().unwrap();
        let [home, work] = ["home", "work"].map(|name| folder.join(name));
        for path in [&home, &work] {
            fs::create_dir_all(path).unwrap();
        }
        let project = Project::find(&work, Some(&home)).unwrap();
        (project, ConfigInputs { working_dir: work, home: Some(home), ..ConfigInputs::default() })
    }

    #[test]
    fn what_is_written_first_is_right_and_is_not_written_twice() {
        for (layer, name) in LAYERS {
            let dir = tempfile::tempdir().unwrap();
            let (project, inputs) = place(dir.path());
            let (path, made) = prepare(&project, layer).unwrap();
            assert_eq!(path, dir.path().canonicalize().unwrap().join(name));
            assert!(made.iter().any(|line| matches!(line, InitLine::Created(_))), "{made:?}");
            let report = check(&inputs, &[]);
            assert_eq!((report.problems, report.warnings), (vec![], vec![]), "{name}");
            fs::write(&path, "# mine\n").unwrap();
            let (_, made) = prepare(&project, layer).unwrap();
            assert!(made.iter().all(|line| matches!(line, InitLine::Exists(_))), "{made:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n");
        }
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = place(dir.path());
        let theirs = dir.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::symlink(&theirs, dir.path().join("home/.reyn")).unwrap();
        assert!(matches!(prepare(&project, OwnLayer::User), Err(InitError::InTheWay { .. })));
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
    }

    #[test]
    fn every_layer_is_listed_with_its_purpose() {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = place(dir.path());
        prepare(&project, OwnLayer::Local).unwrap();
        let listed: Vec<(String, bool, &str)> =
            paths(&project).layers.into_iter().map(|file| (file.name, file.exists, file.purpose)).collect();
        let expected = [
            ("~/.reyn/config.yaml", false, "yours, in every project"),
            ("reyn.yaml", false, "the project's"),
            ("reyn.local.yaml", true, "yours, in this project"),
            (".reyn/config.yaml", false, "written by Reyn"),
        ];
        assert_eq!(listed, expected.map(|(name, exists, purpose)| (name.to_owned(), exists, purpose)));
        let at_home = Project { home: Some(project.root.clone()), ..project };
        assert_eq!(paths(&at_home).layers.first().map(|file| file.purpose), Some("the project's"));
    }
}
