//! Loading from real files.

mod examples;
mod files;
mod layers;
mod messages;
mod profiles;
mod sandbox;
mod servers;
mod show;

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Config, ConfigInputs, Override, load, render_problems};

/// A project and a home folder of their own.
struct Place {
    folder: TempDir,
    inputs: ConfigInputs,
}

impl Place {
    /// With these files; `~/` begins one of the home folder.
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let inputs = ConfigInputs {
            working_dir: folder.path().join("project"),
            home: Some(folder.path().join("home")),
            ..ConfigInputs::default()
        };
        let place = Self { folder, inputs };
        for (name, text) in files {
            let path = place.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(name) => self.folder.path().join("home").join(name),
            None => self.folder.path().join("project").join(name),
        }
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.inputs.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn flag(mut self, flag: &str, key: &str, value: impl Into<serde_json::Value>) -> Self {
        let given = Override { flag: flag.to_owned(), key: key.to_owned(), value: value.into() };
        self.inputs.overrides.push(given);
        self
    }

    fn load(&self) -> Config {
        load(&self.inputs).map_err(|problems| render_problems(&problems)).unwrap()
    }

    fn problems(&self) -> String {
        render_problems(&load(&self.inputs).unwrap_err()) + "\n"
    }
}

/// The problems of a `reyn.yaml`.
fn problems_of(text: &str) -> String {
    Place::with(&[("reyn.yaml", text)]).problems()
}

/// The configuration of a `reyn.yaml`.
fn loaded(text: &str) -> Config {
    Place::with(&[("reyn.yaml", text)]).load()
}
