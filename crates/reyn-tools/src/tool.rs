//! The [`Tool`] trait, and what a tool is given.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reyn_core::audit::AuditEvent;
use reyn_core::gate::Reach;
use reyn_core::permission::{Command, FileOp, ProcessReach, Target};
use reyn_core::tool::{CallError, ErrorKind, Output, ToolSpec};
use reyn_workspace::{FileError, Preview, Workspace};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::process::Processes;

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
    reach: Reach,
}

impl Touched {
    pub(crate) const fn new(files: Vec<Target>, program: Option<PathBuf>, reach: Reach) -> Self {
        Self { files, program, reach }
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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
        Self::Failed { message: message.into(), hint: None, suggestions: vec![] }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Failed { message, suggestions, .. } => {
                Self::Failed { message, hint: Some(text.into()), suggestions }
            }
            other @ (Self::Cancelled | Self::MissingService(_) | Self::Defect(_)) => other,
        }
    }

    /// Adds near names.
    #[must_use]
    pub fn suggest(self, names: Vec<String>) -> Self {
        match self {
            Self::Failed { message, hint, .. } => Self::Failed { message, hint, suggestions: names },
            other @ (Self::Cancelled | Self::MissingService(_) | Self::Defect(_)) => other,
        }
    }

    /// The error as a call's outcome.
    #[must_use]
    pub fn into_call_error(self) -> CallError {
        let message = self.to_string();
        match self {
            Self::Failed { hint, suggestions, .. } => {
                CallError { hint, suggestions, ..CallError::new(ErrorKind::HandlerError, message) }
            }
            Self::Cancelled => CallError::new(ErrorKind::Cancelled, message),
            Self::MissingService(_) | Self::Defect(_) => CallError::new(ErrorKind::Exception, message),
        }
    }
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Failed { message, hint, suggestions } => Self::Failed { message, hint, suggestions },
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
