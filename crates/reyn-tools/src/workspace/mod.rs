//! The workspace: from the path a model writes to the file that is really opened.
//!
//! Invariant: a path is resolved to its real place before it is judged, and opened at exactly that place
//! without following a link, so a link planted in between makes the open fail instead of leading away.

mod open;
mod read;
mod resolve;
mod write;

use std::path::{Path, PathBuf};

use crate::tool::ToolError;

pub use read::{ListedEntry, Listing, Next, Page, PageRequest};
pub use resolve::PathError;
pub use write::Written;

/// A folder that an agent works in.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    home: Option<PathBuf>,
}

impl Workspace {
    /// Opens the workspace at `root`. `home` is what `~` stands for.
    ///
    /// # Errors
    /// When `root` is not a folder that can be resolved.
    pub fn open(root: &Path, home: Option<PathBuf>) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(std::io::Error::new(std::io::ErrorKind::NotADirectory, "not a folder"));
        }
        Ok(Self { root, home })
    }

    /// Absolute, without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Runs file work on a thread of its own, so that a file system that hangs does not hang the turn.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(ToolError::Defect(format!("the tool's code failed: {error}"))))
}
