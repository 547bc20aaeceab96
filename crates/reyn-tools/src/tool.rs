//! The [`Tool`] trait, and what a tool is given.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reyn_core::DEFAULT_AGENT;
use reyn_core::audit::AuditEvent;
use reyn_core::gate::Reach;
use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::memory::Layer;
use reyn_core::permission::{Command, FileOp, ProcessReach, Target, WebOp};
use reyn_core::settings::SearchEngine;
use reyn_core::tool::{CallError, ErrorKind, Output, ToolSpec};
use reyn_workspace::{FileError, Preview, Workspace};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::external_files::ExternalFiles;
use crate::knowledge::Knowledge;
use crate::memory::{Memory, MemoryIndex};
use crate::process::Processes;
use crate::web::Web;

/// Something the agent can do.
pub trait Tool: Send + Sync + 'static {
    /// Arguments; the fields' docs become the schema that the model reads.
    type Args: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// Fixed facts.
    const SPEC: ToolSpec;
    /// What a call touches. Pure; resolved and judged before [`Tool::run`].
    fn wishes(args: &Self::Args) -> Vec<Wish>;
    /// What a call would change, for the person who is asked. Changes nothing, and shows nothing to the
    /// model. `targets` are the wishes, resolved. `None` for what changes no text.
    #[must_use]
    fn preview(_args: &Self::Args, _targets: &[Target], _workspace: &Workspace) -> Option<Preview> {
        None
    }
    /// What a person must know of a call beside its needs, one line each.
    #[must_use]
    fn details(_args: &Self::Args, _context: &Context) -> Vec<String> {
        vec![]
    }
    /// What a call would have remembered, all of it as one text, to be looked through before it is. `None` where the
    /// tool cannot say; a change of a memory that it cannot say is refused.
    ///
    /// # Errors
    /// When the call cannot be made as it stands.
    fn memory_text(
        _args: &Self::Args,
        _targets: &[Target],
        _context: &Context,
    ) -> Result<Option<String>, ToolError> {
        Ok(None)
    }
    /// How long a call may take, where that is its own to say; else the bound of every call holds.
    #[must_use]
    fn time_max(_args: &Self::Args, _context: &Context) -> Option<Duration> {
        None
    }
    /// What the audit trail is told before the call runs, beside that it was made.
    #[must_use]
    fn begins(_args: &Self::Args, _context: &Context) -> Vec<AuditEvent> {
        vec![]
    }
    /// Whether the session has the tool switched off. A call then touches nothing, and its run says so.
    #[must_use]
    fn is_off(_context: &Context) -> bool {
        false
    }
    /// Longest text of its results that a model reads, in bytes; what is longer is cut.
    #[must_use]
    fn result_bytes_max(_args: &Self::Args) -> usize {
        RESULT_BYTES_MAX
    }
    /// What a refusal of the gate comes to, where it is a result and no failure.
    #[must_use]
    fn refused(_args: &Self::Args, _error: &CallError, _context: &Context) -> Option<Output> {
        None
    }
    /// Does it. Runs only after the gate permitted everything in `touched`.
    fn run(
        &self,
        args: Self::Args,
        touched: Touched,
        context: Arc<Context>,
    ) -> impl Future<Output = Result<Output, ToolError>> + Send;
}

/// What a call says it touches, before it is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// A file or folder; when the path is a link, where it leads.
    File {
        /// What is done to it.
        op: FileOp,
        /// As the model wrote it.
        path: String,
    },
    /// A program.
    Exec {
        /// It and its arguments.
        command: Command,
        /// The folder that it starts in, as the model wrote it; the workspace when unset.
        cwd: Option<String>,
    },
    /// A page of the web.
    Page {
        /// Its address, as the model wrote it.
        url: String,
    },
    /// A search engine.
    Search {
        /// Which one; the usual one when unset.
        engine: Option<String>,
    },
    /// A note of a memory.
    Memory {
        /// What is done to it.
        op: FileOp,
        /// Whose it is.
        layer: Layer,
        /// The note, as the model wrote it; the folder of them when unset.
        slug: Option<String>,
    },
    /// An index.
    Index {
        /// What is done to it.
        op: FileOp,
        /// Its source, as the model wrote it.
        source: String,
    },
    /// A name in a folder; when it is a link, the link itself, which is judged where it leads too.
    Entry {
        /// What is done to it.
        op: FileOp,
        /// As the model wrote it.
        path: String,
    },
}

/// What the gate judged and permitted, in the order of the wishes. A tool uses these paths and never the
/// ones in its arguments, so that what is touched is what was judged.
#[derive(Debug, Clone)]
pub struct Touched {
    files: Vec<Target>,
    program: Option<PathBuf>,
    web: Option<WebPlace>,
    reach: Reach,
}

/// What of the web a wish comes to.
#[derive(Debug, Clone)]
pub enum WebPlace {
    /// A page.
    Page(Url),
    /// A search engine.
    Engine(SearchEngine),
}

impl Touched {
    pub(crate) const fn new(
        files: Vec<Target>,
        program: Option<PathBuf>,
        web: Option<WebPlace>,
        reach: Reach,
    ) -> Self {
        Self { files, program, web, reach }
    }

    /// The page that was wished for. Asking without a wish is a defect of the tool.
    #[must_use]
    pub fn page(&self) -> &Url {
        match &self.web {
            Some(WebPlace::Page(url)) => url,
            Some(WebPlace::Engine(_)) | None => panic!("a tool gets only pages it wished for"),
        }
    }

    /// The engine that was wished for. Asking without a wish is a defect of the tool.
    #[must_use]
    pub fn engine(&self) -> SearchEngine {
        match &self.web {
            Some(WebPlace::Engine(engine)) => *engine,
            Some(WebPlace::Page(_)) | None => panic!("a tool asks only engines it wished for"),
        }
    }

    /// Whether a host may be reached that no wish named, without asking: one that a redirect leads to, an engine
    /// that is asked when another one does not answer.
    #[must_use]
    pub fn admits_host(&self, op: WebOp, host: &str) -> bool {
        self.reach.admits_host(op, host)
    }

    /// The file of the program that was wished for. Asking without a wish is a defect of the tool.
    #[must_use]
    pub fn program(&self) -> &Path {
        self.program.as_deref().expect("a tool runs only programs it wished for")
    }

    /// Where a program that the call runs may go.
    #[must_use]
    pub fn reach_of_processes(&self) -> ProcessReach {
        self.reach.of_processes()
    }

    /// Whether this may be done to a file that no wish named, without asking: one that a search found.
    #[must_use]
    pub fn admits(&self, op: FileOp, target: &Target) -> bool {
        self.reach.admits(op, target)
    }

    /// The file of the `at`-th wish. Asking for one that was not wished for is a defect of the tool.
    #[must_use]
    pub fn file(&self, at: usize) -> &Target {
        self.files.get(at).expect("a tool uses only files it wished for")
    }
}

/// What a tool may use. No session, no configuration, no conversation.
#[derive(Debug, Clone, Default)]
pub struct Context {
    workspace: Option<Arc<Workspace>>,
    processes: Option<Arc<Processes>>,
    web: Option<Arc<Web>>,
    external_files: Option<Arc<ExternalFiles>>,
    agent: Option<Arc<str>>,
    memory_index: Option<Arc<dyn MemoryIndex>>,
    knowledge: Option<Knowledge>,
    brought_by: Option<Arc<str>>,
    /// The turn, for what the audit trail is told.
    pub chain_id: String,
    /// Set when the turn is cancelled; long work looks at it.
    pub cancel: CancellationToken,
}

impl Context {
    /// A context with a workspace.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace: Some(Arc::new(workspace)), ..Self::default() }
    }

    /// The same with programs that can be run.
    #[must_use]
    pub fn with_processes(self, processes: Processes) -> Self {
        Self { processes: Some(Arc::new(processes)), ..self }
    }

    /// The same with the web.
    #[must_use]
    pub fn with_web(self, web: Web) -> Self {
        Self { web: Some(Arc::new(web)), ..self }
    }

    /// The same with a memory of the files that came from outside.
    #[must_use]
    pub fn with_external_files(self, files: ExternalFiles) -> Self {
        Self { external_files: Some(Arc::new(files)), ..self }
    }

    /// The same for an agent of this name.
    #[must_use]
    pub fn with_agent(self, name: &str) -> Self {
        Self { agent: Some(name.into()), ..self }
    }

    /// The same with somebody who wants to know of what is remembered.
    #[must_use]
    pub fn with_memory_index(self, index: Arc<dyn MemoryIndex>) -> Self {
        Self { memory_index: Some(index), ..self }
    }

    /// The same with indexes.
    #[must_use]
    pub fn with_knowledge(self, knowledge: Knowledge) -> Self {
        Self { knowledge: Some(knowledge), ..self }
    }

    /// The same for a call whose arguments, or what it reads, came from outside by this tool.
    #[must_use]
    pub fn with_brought_by(self, tool: Option<&str>) -> Self {
        Self { brought_by: tool.map(Into::into), ..self }
    }

    /// The tool by which what the call writes came from outside, where it did.
    #[must_use]
    pub fn brought_by(&self) -> Option<&str> {
        self.brought_by.as_deref()
    }

    /// What was indexed, and who makes vectors.
    ///
    /// # Errors
    /// [`ToolError::MissingService`] when the session has none.
    pub fn knowledge(&self) -> Result<Knowledge, ToolError> {
        self.knowledge.clone().ok_or(ToolError::MissingService("knowledge"))
    }

    /// What the agent remembers.
    ///
    /// # Errors
    /// [`ToolError::MissingService`] when the session has no workspace.
    pub fn memory(&self) -> Result<Memory, ToolError> {
        Ok(Memory::new(self.workspace()?, self.agent.as_deref().unwrap_or(DEFAULT_AGENT)))
    }

    /// Who wants to know of what is remembered.
    #[must_use]
    pub fn memory_index(&self) -> Option<Arc<dyn MemoryIndex>> {
        self.memory_index.clone()
    }

    /// The web.
    ///
    /// # Errors
    /// [`ToolError::MissingService`] when the session has none.
    pub fn web(&self) -> Result<Arc<Web>, ToolError> {
        self.web.clone().ok_or(ToolError::MissingService("web"))
    }

    /// Which files came from outside, where the session remembers it.
    #[must_use]
    pub fn external_files(&self) -> Option<Arc<ExternalFiles>> {
        self.external_files.clone()
    }

    /// The same services for one call of a turn, under another cancellation.
    #[must_use]
    pub fn for_call(&self, cancel: CancellationToken, chain_id: String) -> Self {
        Self { cancel, chain_id, ..self.clone() }
    }

    /// Running programs.
    ///
    /// # Errors
    /// [`ToolError::MissingService`] when the session has none.
    pub fn processes(&self) -> Result<Arc<Processes>, ToolError> {
        self.processes.clone().ok_or(ToolError::MissingService("processes"))
    }

    /// The workspace.
    ///
    /// # Errors
    /// [`ToolError::MissingService`] when the session has none.
    pub fn workspace(&self) -> Result<Arc<Workspace>, ToolError> {
        self.workspace.clone().ok_or(ToolError::MissingService("workspace"))
    }
}

/// Why a tool gave no result. All of them go back to the model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// It ran and failed: why, what to do, and near names when a name was wrong.
    #[error("{message}")]
    Failed {
        /// What happened and why.
        message: String,
        /// What to do next.
        hint: Option<String>,
        /// Names that exist and are near the one that does not.
        suggestions: Vec<String>,
        /// The tool's own word for it, as [`CallError::cause`].
        cause: Box<str>,
        /// What the audit trail is told of it beside that the call failed.
        notes: Vec<AuditEvent>,
        /// Whether the message quotes what the tool brought in from outside.
        is_quoting: bool,
    },
    /// It ran longer than the call allows.
    #[error("{message}")]
    TimedOut {
        /// What took too long.
        message: String,
        /// What the audit trail is told of it beside that the call failed.
        notes: Vec<AuditEvent>,
        /// Whether the message quotes what the tool brought in from outside.
        is_quoting: bool,
    },
    /// The turn was cancelled while it ran.
    #[error("cancelled by the person")]
    Cancelled,
    /// The session lacks something the tool needs.
    #[error("this session has no `{0}`; the host must provide one")]
    MissingService(&'static str),
    /// The tool's code failed.
    #[error("{0}")]
    Defect(String),
}

impl ToolError {
    /// A failure without a hint.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
            hint: None,
            suggestions: vec![],
            cause: Box::default(),
            notes: vec![],
            is_quoting: false,
        }
    }

    /// Says that the message quotes what the tool brought in from outside.
    #[must_use]
    pub fn quoting(mut self) -> Self {
        if let Self::Failed { is_quoting, .. } | Self::TimedOut { is_quoting, .. } = &mut self {
            *is_quoting = true;
        }
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Failed { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// Adds near names.
    #[must_use]
    pub fn suggest(mut self, names: Vec<String>) -> Self {
        if let Self::Failed { suggestions, .. } = &mut self {
            *suggestions = names;
        }
        self
    }

    /// Adds the tool's own word for it.
    #[must_use]
    pub fn cause(mut self, word: &str) -> Self {
        if let Self::Failed { cause, .. } = &mut self {
            *cause = word.into();
        }
        self
    }

    /// Adds what the audit trail is told.
    #[must_use]
    pub fn note(mut self, event: AuditEvent) -> Self {
        if let Self::Failed { notes, .. } | Self::TimedOut { notes, .. } = &mut self {
            notes.push(event);
        }
        self
    }

    /// Takes what the audit trail is told.
    pub fn take_notes(&mut self) -> Vec<AuditEvent> {
        match self {
            Self::Failed { notes, .. } | Self::TimedOut { notes, .. } => std::mem::take(notes),
            Self::Cancelled | Self::MissingService(_) | Self::Defect(_) => vec![],
        }
    }

    /// Whether the message quotes what the tool brought in from outside.
    #[must_use]
    pub const fn is_quoting(&self) -> bool {
        match self {
            Self::Failed { is_quoting, .. } | Self::TimedOut { is_quoting, .. } => *is_quoting,
            Self::Cancelled | Self::MissingService(_) | Self::Defect(_) => false,
        }
    }

    /// The error as a call's outcome. It bears no stamp yet.
    #[must_use]
    pub fn into_call_error(self) -> CallError {
        let message = self.to_string();
        match self {
            Self::Failed { hint, suggestions, cause, .. } => {
                let cause = cause.into();
                CallError { hint, suggestions, cause, ..CallError::new(ErrorKind::HandlerError, message) }
            }
            Self::TimedOut { .. } => CallError::new(ErrorKind::Timeout, message),
            Self::Cancelled => CallError::new(ErrorKind::Cancelled, message),
            Self::MissingService(_) | Self::Defect(_) => CallError::new(ErrorKind::Exception, message),
        }
    }
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Failed { message, hint, suggestions } => Self::Failed {
                message,
                hint,
                suggestions,
                cause: Box::default(),
                notes: vec![],
                is_quoting: false,
            },
            FileError::Cancelled => Self::Cancelled,
        }
    }
}

/// Runs file work on a thread of its own, so that a file system that hangs does not hang the turn.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(ToolError::from),
        Err(error) => Err(ToolError::Defect(format!("the tool's code failed: {error}"))),
    }
}
