//! Where the project is.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::files::said;
use super::problem::ConfigProblem;

/// The file that marks a project.
const PROJECT_FILE: &str = "reyn.yaml";

/// The project that a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The nearest ancestor of the working directory with `reyn.yaml`, else the working directory. No links.
    pub root: PathBuf,
    /// The home folder without links.
    pub home: Option<PathBuf>,
    /// What the person should know about the choice.
    pub notices: Vec<String>,
}

impl Project {
    /// Finds the project of a working directory.
    ///
    /// # Errors
    /// When the working directory cannot be resolved, or its `.reyn` is not a folder of its own.
    pub fn find(working_dir: &Path, home: Option<&Path>) -> Result<Self, ConfigProblem> {
        let shown = working_dir.display().to_string();
        let start = working_dir.canonicalize().map_err(|error| {
            ConfigProblem::in_file(&shown, format!("cannot open the working directory: {}", said(&error)))
        })?;
        let mut notices = vec![];
        let root = nearest(&start, &mut notices);
        check_state_folder(&root)?;
        let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
        let project = Self { root, home, notices };
        Ok(project.with_home_notice())
    }

    /// Whether the project is the home folder, so that `~/.reyn/` and `.reyn/` are one.
    #[must_use]
    pub fn is_home(&self) -> bool {
        self.home.as_ref() == Some(&self.root)
    }

    fn with_home_notice(mut self) -> Self {
        if self.is_home() {
            self.notices.push(
                "the project is your home folder: `.reyn/` holds both your own and the project's settings"
                    .to_owned(),
            );
        }
        self
    }
}

fn nearest(start: &Path, notices: &mut Vec<String>) -> PathBuf {
    let us = rustix::process::geteuid().as_raw();
    for folder in start.ancestors() {
        let file = folder.join(PROJECT_FILE);
        let Ok(found) = fs::symlink_metadata(&file) else { continue };
        // Anybody can put a file into `/tmp`, and it would grant what it likes in every folder below.
        if folder == start || found.uid() == us || found.uid() == 0 {
            return folder.to_owned();
        }
        notices.push(format!("`{}` belongs to another user and is not used", file.display()));
    }
    start.to_owned()
}

/// A link could lead the runtime's own files out of the project.
fn check_state_folder(root: &Path) -> Result<(), ConfigProblem> {
    match fs::symlink_metadata(root.join(".reyn")) {
        Ok(found) if found.is_symlink() => Err(ConfigProblem::in_file(".reyn", "`.reyn` is a symbolic link")
            .hint("make it a folder of the project itself")),
        Ok(found) if !found.is_dir() => Err(ConfigProblem::in_file(".reyn", "`.reyn` is not a folder")
            .hint("move it away; `reyn init` makes the folder")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(ConfigProblem::in_file(".reyn", format!("cannot look at it: {}", said(&error)))),
    }
}
