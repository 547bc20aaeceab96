//! Builds everything from the process' surroundings: the only place that reads them.

mod web;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use reyn_core::capability::{
    AgentLayer, Effective, Narrowing, NarrowingOrigin, ProfileLayer, SandboxLayer, compose_resolved,
    effective,
};
use reyn_core::prompt::Environment;
use reyn_core::settings::BackendSetting;
use reyn_core::text::{alternatives, nearest};
use reyn_core::tool::{Category, judged_as};
use reyn_runtime::config::{
    Allowed, Config, ConfigInputs, Places, ProfileError, load, parse_allow, render_problems,
};
use reyn_sandbox::{BackendChoice, HelperProgram, Limits};
use reyn_tools::{Context, Knowledge, MemoryIndex, ProcessSettings, Processes, Registry};
use reyn_workspace::Workspace;
use serde_json::json;

use crate::args::NarrowingArgs;
use crate::embedding_choice::SessionEmbeddings;
use crate::exit::Failure;
use crate::index_store::open_store;
use crate::output;

/// `REYN_…` variables that are no configuration.
const OTHER_VARIABLES: [&str; 4] = ["REYN_RECORD", "REYN_CACHE_DIR", "REYN_SSRF_STRICT", "REYN_INDEX_URL"];

/// The project that the command runs in.
#[derive(Clone)]
pub(crate) struct Project {
    /// What is configured.
    pub config: Config,
    working_dir: PathBuf,
}

/// Where and as whom the process runs.
pub(crate) fn inputs() -> Result<ConfigInputs, Failure> {
    let working_dir = std::env::current_dir().map_err(|error| {
        Failure::failed("io", format!("cannot tell the working folder: {error}; go to a folder that exists"))
    })?;
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Ok(ConfigInputs {
        working_dir,
        home: home(),
        environment,
        ignored_variables: OTHER_VARIABLES.to_vec(),
        overrides: vec![],
    })
}

/// Where the project is, whatever is wrong with the configuration.
pub(crate) fn place() -> Result<reyn_runtime::config::Project, Failure> {
    let inputs = inputs()?;
    reyn_runtime::config::Project::find(&inputs.working_dir, inputs.home.as_deref())
        .map_err(|problem| Failure::usage("config", render_problems(&[problem]).trim_end().to_owned()))
}

/// Whether a variable of the environment is configuration.
pub(crate) fn is_configuration(name: &str) -> bool {
    name.starts_with("REYN_") && !OTHER_VARIABLES.contains(&name)
}

/// What runs asynchronous work, on this thread.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed("io", format!("cannot start: {error}; try again")))
}

/// The person's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// Where fetched files are kept: `REYN_CACHE_DIR`, else `reyn` in the user's cache folder.
pub(crate) fn cache_folder() -> Result<PathBuf, Failure> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named("REYN_CACHE_DIR")
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("reyn")))
        .or_else(|| home().map(|home| home.join(".cache/reyn")))
        .ok_or_else(|| Failure::failed("io", "there is no cache folder; set `REYN_CACHE_DIR` to one"))
}

impl Project {
    /// Finds the project and loads its configuration.
    pub(crate) fn load() -> Result<Self, Failure> {
        let inputs = inputs()?;
        let config = load(&inputs).map_err(|problems| {
            let details = json!({ "problems": problems });
            Failure::usage("config", format!("the configuration is wrong\n{}", render_problems(&problems)))
                .with(details)
        })?;
        Ok(Self { config, working_dir: inputs.working_dir })
    }

    /// A project in a folder of a test.
    #[cfg(test)]
    pub(crate) fn at(inputs: &ConfigInputs) -> Self {
        let config = load(inputs).expect("the configuration of a test is right");
        Self { config, working_dir: inputs.working_dir.clone() }
    }

    /// The project's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.config.root
    }

    /// The runtime's own folder in the project.
    pub(crate) fn state(&self) -> PathBuf {
        self.root().join(".reyn")
    }

    /// Says what the person should know about the configuration.
    pub(crate) fn tell_notices(&self) {
        for notice in &self.config.notices {
            output::note(&format!("reyn: {notice}"));
        }
    }

    /// What a run may do: the configuration, the command line's grants, and its narrowings.
    pub(crate) fn authority(
        &self,
        allow: &[String],
        narrowing: Option<&NarrowingArgs>,
    ) -> Result<Effective, Failure> {
        let allowed = self.allowed(allow)?;
        let mut exec = self.config.exec_policy.clone();
        exec.granted.extend(allowed.commands);
        let mut web = self.config.web_policy.clone();
        web.granted.extend(allowed.web);
        let agent = AgentLayer {
            zones: self.config.zones(),
            files: self.config.file_policy.clone(),
            exec,
            web,
            grants: allowed.files,
            ..AgentLayer::default()
        };
        let mut terms = vec![];
        if let Some(NarrowingArgs { profile, exclude_tools, exclude_categories }) = narrowing {
            if let Some(name) = profile {
                terms.push(self.profile(name)?);
            }
            if !exclude_tools.is_empty() || !exclude_categories.is_empty() {
                terms.push(excluded(exclude_tools, exclude_categories)?);
            }
        }
        let sandbox = SandboxLayer { refuses_network: self.refuses_network(), ..SandboxLayer::default() };
        Ok(effective(agent, sandbox, ProfileLayer::default(), compose_resolved(terms)))
    }

    fn allowed(&self, allow: &[String]) -> Result<Allowed, Failure> {
        let places = Places { base: &self.working_dir, home: self.config.home.as_deref() };
        parse_allow(allow, places).map_err(|error| Failure::usage("usage", error.to_string()))
    }

    fn profile(&self, name: &str) -> Result<Narrowing, Failure> {
        let registry = reyn_tools::builtin();
        let known: Vec<&str> = registry.specs().map(|spec| spec.name).collect();
        let loaded =
            self.config.profiles().load(name, &known).map_err(|error| self.no_profile(name, &error))?;
        for warning in &loaded.warnings {
            output::note(&format!("reyn: {warning}"));
        }
        Ok(loaded.profile.resolve(NarrowingOrigin::session(name)))
    }

    fn no_profile(&self, name: &str, error: &ProfileError) -> Failure {
        let hint = match error {
            ProfileError::Malformed(_) => String::new(),
            ProfileError::Missing { .. } => {
                let all = self.config.profiles().load_all(&[]).unwrap_or_default();
                let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
                let near = nearest(name, names.iter().copied());
                match (near.is_empty(), names.is_empty()) {
                    (false, _) => format!("; did you mean {}?", alternatives(&near)),
                    (true, false) => format!("; there is {}", alternatives(&names)),
                    (true, true) => "; write it, or leave `--profile` out".to_owned(),
                }
            }
        };
        Failure::usage("profile", format!("{error}{hint}"))
    }

    /// What tools may use, in the very zones that their calls are judged by.
    pub(crate) fn context(
        &self,
        authority: &Effective,
        is_shell_allowed: bool,
    ) -> Result<Arc<Context>, Failure> {
        let zones = authority.agent().zones().clone();
        let workspace = Workspace::open(zones, self.config.home.clone()).map_err(|error| {
            let root = self.root().display();
            Failure::failed(
                "io",
                format!("cannot open the workspace `{root}`: {error}; look at its owner and mode"),
            )
        })?;
        let settings = ProcessSettings { is_shell_allowed, ..self.process_settings() };
        let (web, unverified) = self.web();
        if let Some(reason) = unverified {
            output::note(&format!("reyn: certificates of web pages are not checked: {reason}"));
        }
        let context = Context::new(workspace).with_processes(Processes::new(settings)).with_web(web);
        let context = context.with_external_files(self.external_files());
        let knowledge = self.knowledge()?;
        let index: Arc<dyn MemoryIndex> = Arc::new(knowledge.clone());
        Ok(Arc::new(context.with_knowledge(knowledge).with_memory_index(index)))
    }

    /// What was indexed, and who makes vectors. Opens nothing.
    ///
    /// # Errors
    /// When a server is configured and its connection string is missing.
    pub(crate) fn knowledge(&self) -> Result<Knowledge, Failure> {
        Ok(Knowledge::new(open_store(self)?.shared(), Arc::new(SessionEmbeddings::of(self))))
    }

    /// What runs programs, as configured.
    pub(crate) fn processes(&self) -> Processes {
        Processes::new(self.process_settings())
    }

    fn process_settings(&self) -> ProcessSettings {
        let sandbox = &self.config.sandbox;
        let environment = std::env::vars_os().collect();
        let helper = helper_program();
        ProcessSettings {
            backend: match sandbox.backend {
                BackendSetting::Auto => BackendChoice::Auto,
                BackendSetting::Landlock => BackendChoice::Landlock,
                BackendSetting::Seatbelt => BackendChoice::Seatbelt,
                BackendSetting::Noop => BackendChoice::Noop,
            },
            on_unsupported: sandbox.on_unsupported,
            network: sandbox.network,
            subprocess: sandbox.subprocess,
            is_workspace_writable: sandbox.is_workspace_writable,
            read_paths: sandbox.allow_read_paths.clone(),
            write_paths: sandbox.allow_write_paths.clone(),
            read_deny_paths: sandbox.deny_read_paths.clone(),
            write_deny_paths: sandbox.deny_write_paths.clone(),
            allow_env_names: sandbox.allow_env_names.clone(),
            deny_env_names: sandbox.deny_env_names.clone(),
            timeout_seconds: sandbox.timeout_seconds,
            timeout_seconds_max: sandbox.max_timeout_seconds,
            output_bytes_max: usize::try_from(sandbox.max_output_bytes).unwrap_or(usize::MAX),
            limits: Limits {
                memory_bytes: Some(sandbox.memory_bytes),
                processes_max: Some(sandbox.processes),
                open_files_max: Some(sandbox.open_files),
                file_bytes_max: Some(sandbox.file_bytes),
            },
            ..ProcessSettings::new(environment, self.config.home.clone(), helper)
        }
    }

    /// What the model is told about where it runs.
    pub(crate) fn environment(&self, is_interactive: bool) -> Environment {
        let today: Zoned = Timestamp::now().to_zoned(TimeZone::system());
        Environment {
            workspace: self.root().display().to_string(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            date: today.strftime("%Y-%m-%d").to_string(),
            is_interactive,
            runs_unconfined: self.config.sandbox.backend == BackendSetting::Noop,
            has_fences: self.config.settings.safety.threat_scan.fence_enabled,
            ..Environment::default()
        }
    }
}

/// The narrowing of `--exclude-tools` and `--exclude-categories`. A name that nothing has is an error: it
/// would be a restriction that does not restrict.
fn excluded(tools: &[String], categories: &[String]) -> Result<Narrowing, Failure> {
    let registry: Registry = reyn_tools::builtin();
    for name in tools {
        let judged = judged_as(name);
        if judged != name {
            let message = format!("`--exclude-tools`: `{name}` is judged as `{judged}`; exclude `{judged}`");
            return Err(Failure::usage("usage", message));
        }
        if !registry.specs().any(|spec| spec.name == name) {
            let near = nearest(name, registry.specs().map(|spec| spec.name));
            let hint = if near.is_empty() {
                "; `reyn tools list` shows them all".to_owned()
            } else {
                format!("; did you mean {}?", alternatives(&near))
            };
            return Err(Failure::usage(
                "usage",
                format!("`--exclude-tools`: no tool is named `{name}`{hint}"),
            ));
        }
    }
    let mut hidden = vec![];
    for name in categories {
        let category =
            Category::ALL.into_iter().find(|category| category.name() == name).ok_or_else(|| {
                let names = Category::ALL.map(Category::name);
                let message = format!(
                    "`--exclude-categories`: no category is named `{name}`; there is {}",
                    alternatives(&names)
                );
                Failure::usage("usage", message)
            })?;
        hidden.push(category);
    }
    Ok(Narrowing {
        tool_deny: tools.to_vec(),
        excluded_categories: hidden,
        ..Narrowing::inert(NarrowingOrigin::exclude_tools())
    })
}

/// A random token of `bytes` bytes, in hexadecimal.
pub(crate) fn token(bytes: usize) -> Result<String, Failure> {
    let mut random = vec![0_u8; bytes];
    getrandom::fill(&mut random).map_err(|error| {
        Failure::failed("io", format!("the system gives no random bytes: {error}; try again"))
    })?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What confines programs: the small program that this one carries.
#[cfg(target_os = "linux")]
pub(crate) fn helper_program() -> HelperProgram {
    HelperProgram::carried(include_bytes!(env!("REYN_SUPERVISOR")))
}

/// What takes care of programs.
#[cfg(not(target_os = "linux"))]
pub(crate) fn helper_program() -> HelperProgram {
    HelperProgram::this_program()
}
