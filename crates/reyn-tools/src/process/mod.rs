//! Running programs for tools: which policy confines them, what environment they get, what is kept of their output.
//!
//! The backend is found, and shows what it refuses, when the first program is about to run.

mod asked_paths;
mod environment;
mod output;
mod policy;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reyn_core::gate::Refusal;
use reyn_core::limits::{ARGV_BYTES_MAX, NAME_BYTES_MAX};
use reyn_core::permission::{Command, ProcessReach};
use reyn_core::settings::OnUnsupported;
use reyn_core::text::excerpt;
use reyn_core::tool::{CallError, ErrorKind};
use reyn_sandbox::{
    BackendChoice, BackendKind, Exited, HelperProgram, Launch, LaunchError, Limits, NamespaceChoice,
    Resolution, Unenforced, git, program, shim,
};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use policy::Granted;

pub(crate) use asked_paths::{AskedPaths, AskedPathsError, asked_paths};
pub(crate) use output::stream;
pub(crate) use policy::Narrowed;

/// What the operator says about programs. Paths are absolute.
#[derive(Debug, Clone)]
pub struct ProcessSettings {
    /// `sandbox.backend`.
    pub backend: BackendChoice,
    /// `sandbox.on_unsupported`.
    pub on_unsupported: OnUnsupported,
    /// Whether they may use the network.
    pub network: bool,
    /// Whether they may start further processes.
    pub subprocess: bool,
    /// Whether a line may be given to a shell, as far as permissions allow (`--allow-shell`).
    pub is_shell_allowed: bool,
    /// Whether the workspace is writable, as far as file permissions allow.
    pub is_workspace_writable: bool,
    /// Readable beside the system's folders, toolchains and the workspace.
    pub read_paths: Vec<PathBuf>,
    /// Writable beside the workspace.
    pub write_paths: Vec<PathBuf>,
    /// Unreadable, whatever else is said.
    pub read_deny_paths: Vec<PathBuf>,
    /// Unwritable, whatever else is said.
    pub write_deny_paths: Vec<PathBuf>,
    /// The variables that are passed, and no others; `None` passes the usual ones.
    pub allow_env_names: Option<Vec<String>>,
    /// Variables that are never passed.
    pub deny_env_names: Vec<String>,
    /// How long a program may take when a call does not say, in seconds.
    pub timeout_seconds: u64,
    /// How long a call may let it take, in seconds.
    pub timeout_seconds_max: u64,
    /// How much of each stream is kept, in bytes.
    pub output_bytes_max: usize,
    /// Bounds on what they use up.
    pub limits: Limits,
    /// The process' own environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// The program that confines others.
    pub helper: HelperProgram,
}

impl ProcessSettings {
    /// Everything at its default, with this environment.
    #[must_use]
    pub fn new(environment: Vec<(OsString, OsString)>, home: Option<PathBuf>, helper: HelperProgram) -> Self {
        Self {
            backend: BackendChoice::Auto,
            on_unsupported: OnUnsupported::Warn,
            network: true,
            subprocess: true,
            is_shell_allowed: false,
            is_workspace_writable: true,
            read_paths: vec![],
            write_paths: vec![],
            read_deny_paths: vec![],
            write_deny_paths: vec![],
            allow_env_names: None,
            deny_env_names: vec![],
            timeout_seconds: reyn_core::limits::EXEC_SECONDS,
            timeout_seconds_max: reyn_core::limits::EXEC_SECONDS_MAX,
            output_bytes_max: reyn_core::limits::EXEC_OUTPUT_BYTES_MAX as usize,
            limits: Limits::default(),
            environment,
            home,
            helper,
        }
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_os_str())
    }

    fn path_variable(&self) -> &OsStr {
        self.variable("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"))
    }
}

/// Runs programs.
#[derive(Debug)]
pub struct Processes {
    settings: ProcessSettings,
    resolution: OnceCell<Resolution>,
    has_warned_of_shell: AtomicBool,
}

/// A program that a call wants run, all of it permitted.
pub(crate) struct Request {
    pub program: PathBuf,
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub stdin: Option<String>,
    pub timeout: Duration,
    /// What the call itself gives up.
    pub narrowed: Narrowed,
}

/// A program that ran.
pub(crate) struct Ran {
    pub exited: Exited,
    pub backend: BackendKind,
    pub unenforced: Vec<Unenforced>,
    /// What a person or a model should know of the run.
    pub notices: Vec<String>,
}

impl Processes {
    /// Nothing is looked at yet.
    #[must_use]
    pub const fn new(settings: ProcessSettings) -> Self {
        Self { settings, resolution: OnceCell::const_new(), has_warned_of_shell: AtomicBool::new(false) }
    }

    /// What the operator says about programs.
    #[must_use]
    pub const fn settings(&self) -> &ProcessSettings {
        &self.settings
    }

    /// Whether this is the first time that the session is told that `shell` is deprecated.
    pub(crate) fn warns_of_shell(&self) -> bool {
        !self.has_warned_of_shell.swap(true, Ordering::Relaxed)
    }

    /// The backend, found at the first call.
    pub async fn resolution(&self) -> &Resolution {
        let find = || {
            let helper = self.settings.helper.clone();
            reyn_sandbox::Sandbox::resolve(self.settings.backend, helper, NamespaceChoice::Auto)
        };
        self.resolution.get_or_init(find).await
    }

    /// The backend when it is found already.
    #[must_use]
    pub fn resolved(&self) -> Option<&Resolution> {
        self.resolution.get()
    }

    /// The backend's name; `unknown` before the first program is about to run.
    #[must_use]
    pub fn backend_name(&self) -> &'static str {
        self.resolved().map_or("unknown", |resolution| resolution.kind.name())
    }

    /// That nothing confines a program, where it is so, for the person who is asked.
    #[must_use]
    pub fn unconfined_in_words(&self) -> Option<String> {
        self.in_words().filter(|_| self.backend_name() == BackendKind::Noop.name())
    }

    /// What confines a program, for the person who is asked. `None` before it is known.
    #[must_use]
    pub fn in_words(&self) -> Option<String> {
        let resolution = self.resolved()?;
        Some(match resolution.kind {
            BackendKind::Noop => "nothing confines it: it can do whatever you can do".to_owned(),
            BackendKind::Landlock | BackendKind::Seatbelt => {
                let network = if self.settings.network { "with the network" } else { "without the network" };
                format!("in a sandbox: it writes in the workspace alone, {network}")
            }
        })
    }

    /// Why no program may run here, when none may.
    pub async fn refusal(&self, has_person: bool) -> Option<Refusal> {
        let resolution = self.resolution().await;
        if resolution.kind != BackendKind::Noop {
            return None;
        }
        let is_chosen = self.settings.backend == BackendChoice::Noop;
        let may_run = match self.settings.on_unsupported {
            OnUnsupported::Ignore => true,
            OnUnsupported::Warn => has_person,
            OnUnsupported::Error => is_chosen && has_person,
        };
        let why = match (&resolution.reason, is_chosen) {
            (_, true) => "`sandbox.backend` is `noop`".to_owned(),
            (Some(reason), false) => reason.clone(),
            (None, false) => "this system has no sandbox that Reyn knows".to_owned(),
        };
        (!may_run).then(|| Refusal {
            kind: ErrorKind::PermissionDenied,
            message: format!("no program runs here, since nothing would confine it: {why}"),
            lifts_when: "`reyn doctor` says what is missing; the operator can set `sandbox.on_unsupported: ignore` to \
                         run programs unconfined"
                .to_owned(),
            wants_person: !has_person && self.settings.on_unsupported == OnUnsupported::Warn,
        })
    }

    /// The program's file. Looks at PATH and at the file.
    ///
    /// # Errors
    /// What in the command cannot be run, with near names when there is no such program.
    pub fn find(&self, command: &Command, cwd: &Path) -> Result<PathBuf, CallError> {
        let invalid = |error: &LaunchError| {
            CallError::new(ErrorKind::InvalidArgs, error.to_string())
                .hint("give `argv` as a list: the program first, then one entry for each argument")
        };
        let Some(name) = command.argv.first() else { return Err(invalid(&LaunchError::EmptyArgv)) };
        if let Some(index) = command.argv.iter().position(|one| one.contains('\0')) {
            return Err(invalid(&LaunchError::NulInArgument { index }));
        }
        let bytes: usize = command.argv.iter().map(|one| one.len() + 1).sum();
        if bytes > ARGV_BYTES_MAX {
            let text = format!("`argv` is {bytes} bytes long and the limit is {ARGV_BYTES_MAX}");
            return Err(CallError::new(ErrorKind::InvalidArgs, text)
                .hint("write what is long into a file, or give it as `stdin`"));
        }
        let found = program::find(OsStr::new(name), self.settings.path_variable(), cwd).map_err(|error| {
            if let LaunchError::ProgramUnknown { nearest, .. } = error {
                let text = format!("no program is named `{}` on PATH", excerpt(name, NAME_BYTES_MAX));
                return CallError { suggestions: nearest, ..CallError::new(ErrorKind::HandlerError, text) }
                    .hint("`argv` names a program and is no line for a shell; name one that is installed");
            }
            CallError::new(ErrorKind::HandlerError, error.to_string())
        })?;
        let home = self.settings.home.as_deref().unwrap_or(Path::new("/nonexistent"));
        let variable = |name: &str| self.settings.variable(name)?.to_str().map(str::to_owned);
        Ok(shim::behind(&found, cwd, home, variable).unwrap_or(found))
    }

    /// How long a program may take. `field` is what the call says it with.
    ///
    /// # Errors
    /// When the call asks for no time, or for more than it may have; it is told how much that is.
    pub(crate) fn timeout(
        &self,
        field: &str,
        seconds: Option<u64>,
        default: u64,
    ) -> Result<Duration, CallError> {
        let most = self.settings.timeout_seconds_max;
        match seconds {
            None => Ok(Duration::from_secs(default.min(most))),
            Some(seconds) if (1..=most).contains(&seconds) => Ok(Duration::from_secs(seconds)),
            Some(seconds) => Err(CallError::new(
                ErrorKind::InvalidArgs,
                format!("`{field}` is {seconds} and must be from 1 to {most} seconds"),
            )),
        }
    }

    /// Runs a program to its end. `root` is the workspace.
    ///
    /// # Errors
    /// Why it was not run.
    pub(crate) async fn run(
        &self,
        request: Request,
        reach: &ProcessReach,
        root: &Path,
        cancel: CancellationToken,
    ) -> Result<Ran, LaunchError> {
        let resolution = self.resolution().await;
        let git = git::paths(root);
        let Granted { policy, shortfalls } = policy::policy(&self.settings, &request, reach, &git)?;
        let unenforced = resolution.sandbox.unenforced(&policy);
        let asked = request.narrowed.env_names.as_deref();
        let env = environment::passed(&self.settings, asked);
        let mut notices = shortfalls;
        notices.extend(environment::shortfall(asked, &self.settings, &env));
        let launch = Launch {
            program: request.program,
            argv: request.argv.into_iter().map(OsString::from).collect(),
            cwd: request.cwd,
            env,
            stdin: request.stdin.map(String::into_bytes),
            timeout: request.timeout,
            output_bytes_max: self.settings.output_bytes_max,
        };
        let exited = resolution.sandbox.run(&policy, launch, cancel).await?;
        match git.remove_new_common_folder() {
            Ok(None) => {}
            Ok(Some(path)) => notices.push(format!(
                "`{}` appeared and was removed: with it Git would run what another folder says",
                path.display()
            )),
            Err(error) => notices.push(format!(
                "a file that moves Git's configuration elsewhere appeared and cannot be removed: {error}; \
                 do not use Git here before it is gone"
            )),
        }
        Ok(Ran { exited, backend: resolution.kind, unenforced, notices })
    }
}
