//! A project folder and a home of its own: the single place that knows how `reyn` is started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reyn_testkit::FakeServer;
use serde_json::Value;
use tempfile::TempDir;

use crate::running::{Finished, Masks, Running};

/// A project, a home folder, a cache folder and a folder beside the project.
pub(crate) struct Place {
    dir: TempDir,
    pub root: PathBuf,
    pub home: PathBuf,
    pub outside: PathBuf,
    variables: Vec<(String, String)>,
}

impl Place {
    /// A project with a `README.md` that says hello, where no model is configured and none is found.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let [root, home, outside] = ["work", "home", "outside"].map(|name| base.join(name));
        for folder in [&root, &outside, &home.join(".reyn")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        // The bundled providers would be looked for on the ports of this machine.
        Self { dir, root, home, outside, variables: vec![] }
            .file("README.md", "hello\n")
            .config("# nothing\n")
            .providers("[[provider]]\nname = \"nobody\"\napi_base = \"http://127.0.0.1:1/v1\"\n")
    }

    /// A project whose configured model is this server.
    pub(crate) fn with(server: &FakeServer) -> Self {
        Self::with_options(server, "")
    }

    /// The same, with further options of the model class, a line each.
    pub(crate) fn with_options(server: &FakeServer, options: &str) -> Self {
        let place = Self::new();
        let api_base = server.api_base();
        let options: String = options.lines().map(|line| format!("      {line}\n")).collect();
        let text = format!(
            "llm:\n  model: fake\n  models:\n    fake:\n      model: fake/test\n      api_base: {api_base}\n{options}"
        );
        std::fs::write(place.home.join(".reyn/config.yaml"), text).unwrap();
        place
    }

    /// Adds a file to the project.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// The text of `reyn.yaml`.
    pub(crate) fn config(self, text: &str) -> Self {
        self.file("reyn.yaml", text)
    }

    /// The operator's own list of providers.
    pub(crate) fn providers(self, text: &str) -> Self {
        std::fs::write(self.home.join(".reyn/providers.toml"), text).unwrap();
        self
    }

    /// Sets a variable of the environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Whether a variable of the environment is set here.
    pub(crate) fn has_env(&self, name: &str) -> bool {
        self.variables.iter().any(|(own, _)| own == name)
    }

    /// Runs `reyn` to its end without any input.
    pub(crate) fn run<const N: usize>(&self, args: [&str; N]) -> Finished {
        self.start(args).finish()
    }

    /// Runs `reyn` to its end with this text on standard input.
    pub(crate) fn run_with_input<const N: usize>(&self, args: [&str; N], input: &str) -> Finished {
        let path = self.dir.path().join("input");
        std::fs::write(&path, input).unwrap();
        let mut command = self.command(&args);
        command.stdin(std::fs::File::open(path).unwrap());
        Running::new(command, self.masks()).finish()
    }

    /// Starts `reyn` without any input.
    pub(crate) fn start<const N: usize>(&self, args: [&str; N]) -> Running {
        Running::new(self.command(&args), self.masks())
    }

    /// The command with an environment of its own; standard input is empty.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.command_of(Path::new(env!("CARGO_BIN_EXE_reyn")));
        command.args(args);
        command
    }

    /// Any program in the same surroundings. Whatever lies beyond this machine is out of reach: the proxy
    /// through which it would be reached does not exist, and this machine is never reached through one.
    pub(crate) fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null()).env_clear();
        command.env("ALL_PROXY", "http://127.0.0.1:1");
        command.env("HOME", &self.home).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.env("REYN_CACHE_DIR", self.cache());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Where fetched files are kept.
    pub(crate) fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    /// What is different in every run, as snapshots show it.
    pub(crate) fn masks(&self) -> Masks {
        let base = self.root.parent().unwrap().display().to_string();
        Masks::new(vec![(base, String::new())])
    }

    /// The text of a file of the project; `None` when there is none.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(name)).ok()
    }

    /// The audit trail of the project.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.run(["events", "--json"]).lines_of_json()
    }

    /// Every byte that the runtime has written into the project and the home folder.
    pub(crate) fn everything_written(&self) -> String {
        let mut folders = vec![self.root.join(".reyn"), self.home.clone(), self.cache()];
        let mut text = String::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    text.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
                }
            }
        }
        text
    }
}
