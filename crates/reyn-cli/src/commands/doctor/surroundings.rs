//! What the checks look at, found out once and when it is first asked for.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use reyn_runtime::config;

use crate::exit::Failure;
use crate::model_choice::{self, Plan};
use crate::wiring::{self, Project};

/// The process, its project and its model.
pub(super) struct Surroundings {
    /// Permissions of the secrets file as they were before loading it put them right; `None` without a file.
    pub secrets_mode: Option<u32>,
    home: Option<PathBuf>,
    place: OnceLock<Result<config::Project, Failure>>,
    project: OnceLock<Result<Project, Failure>>,
    plan: OnceLock<Result<Plan, Failure>>,
}

impl Surroundings {
    /// Looks at what loading the configuration would change, and at nothing else yet.
    pub(super) fn gather() -> Self {
        let home = wiring::home();
        let secrets = home.as_deref().map(|home| home.join(".reyn/secrets.env"));
        let found = secrets.and_then(|path| std::fs::symlink_metadata(path).ok());
        Self {
            secrets_mode: found.map(|found| found.permissions().mode() & 0o7777),
            home,
            place: OnceLock::new(),
            project: OnceLock::new(),
            plan: OnceLock::new(),
        }
    }

    /// Where the project is, whatever is wrong with its configuration.
    pub(super) fn place(&self) -> Result<&config::Project, &Failure> {
        self.place.get_or_init(wiring::place).as_ref()
    }

    /// The runtime's own folder, whether it is there or not.
    pub(super) fn state(&self) -> Option<PathBuf> {
        self.place().ok().map(|place| place.root.join(".reyn"))
    }

    /// The home folder.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The project with a configuration that is right.
    pub(super) fn project(&self) -> Result<&Project, &Failure> {
        self.project.get_or_init(Project::load).as_ref()
    }

    /// Who would answer; `None` while the configuration is wrong.
    pub(super) fn plan(&self) -> Option<Result<&Plan, &Failure>> {
        let project = self.project().ok()?;
        let plan = self.plan.get_or_init(|| wiring::runtime()?.block_on(model_choice::plan(project, None)));
        Some(plan.as_ref())
    }
}
