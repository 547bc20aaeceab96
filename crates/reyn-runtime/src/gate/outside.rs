//! Files from outside: what a call reads of them, and what it leaves that came from there.

use std::sync::Arc;
use std::time::SystemTime;

use reyn_core::conversation::Entry;
use reyn_core::gate::Need;
use reyn_core::limits::DOWNLOADS_LOOKED_THROUGH_MAX;
use reyn_core::outside::repeats_what_came;
use reyn_core::permission::{FileAxis, FileOp, Target};
use reyn_core::tool::{External, Output, ToolCall};
use reyn_tools::{Context, ExternalFiles, ExternalFilesError, Prepared};
use reyn_workspace::Workspace;
use tokio_util::sync::CancellationToken;

use super::needs;

/// What has to be known of a call before it runs.
pub(super) struct Before {
    files: Arc<ExternalFiles>,
    workspace: Arc<Workspace>,
    read: Vec<Target>,
    written: Vec<Target>,
    /// The tool that brought what the call writes or fetches.
    brought_by: Option<String>,
    /// When a program that fetches files began.
    fetching_since: Option<SystemTime>,
}

impl Before {
    /// `None` where the session remembers no files.
    pub(super) async fn of(
        prepared: &Prepared,
        call: &ToolCall,
        log: &[Entry],
        context: &Context,
    ) -> Option<Self> {
        let files = context.external_files()?;
        let workspace = context.workspace().ok()?;
        let of_axis = |wanted: FileAxis| -> Vec<Target> {
            let targets = needs(prepared).iter().filter_map(|need| match need {
                Need::File { op, target } if op.axis() == wanted && *op != FileOp::Delete => {
                    Some(target.clone())
                }
                Need::File { .. } | Need::Exec { .. } | Need::Web { .. } => None,
            });
            targets.collect()
        };
        let fetches = needs(prepared).iter().any(|need| match need {
            Need::Exec { command } => command.may_download(),
            Need::File { .. } | Need::Web { .. } => false,
        });
        let has_network = context.processes().is_ok_and(|processes| processes.settings().network);
        let fetching = fetches && has_network;
        let (read, written) = (of_axis(FileAxis::Read), of_axis(FileAxis::Write));
        let repeated = if written.is_empty() { None } else { repeats_what_came(&call.args, log) };
        let (old, look) = (written.clone(), (Arc::clone(&files), Arc::clone(&workspace)));
        // What is changed in a part is from outside in its other parts.
        let before =
            tokio::task::spawn_blocking(move || old.iter().find_map(|target| look.0.origin(target, &look.1)));
        let before = if written.is_empty() { None } else { before.await.unwrap_or_default() };
        let brought_by = repeated.or(before).or_else(|| fetching.then(|| prepared.spec().name.to_owned()));
        let fetching_since = fetching.then(SystemTime::now);
        Some(Self { files, workspace, read, written, brought_by, fetching_since })
    }

    /// Stamps what the call read from outside, and remembers what it left.
    pub(super) async fn after(self, mut output: Output, cancel: &CancellationToken) -> Output {
        let (is_stamped, cancel) = (output.external.is_some(), cancel.clone());
        let working = tokio::task::spawn_blocking(move || {
            let origin = if is_stamped { None } else { self.origin_of_what_was_read() };
            (origin, self.remember(&cancel))
        });
        let Ok((origin, remembered)) = working.await else { return output };
        if let Some(tool) = origin {
            output.external = Some(External::by(tool));
        }
        if let Err(error) = remembered {
            let note = output.fields.get("note").and_then(|note| note.as_str());
            let note = note.map_or_else(String::new, |note| format!("{note}; "));
            output = output.with("note", format!("{note}{error}"));
        }
        output
    }

    fn origin_of_what_was_read(&self) -> Option<String> {
        if self.fetching_since.is_some() {
            return self.brought_by.clone();
        }
        self.read.iter().find_map(|target| self.files.origin(target, &self.workspace))
    }

    fn remember(&self, cancel: &CancellationToken) -> Result<(), ExternalFilesError> {
        let Some(tool) = &self.brought_by else { return Ok(()) };
        let mut left = self.written.clone();
        if let Some(since) = self.fetching_since {
            // Where the workspace cannot be looked through, nothing of it can be told apart either.
            let found = self.workspace.changed_since(since, DOWNLOADS_LOOKED_THROUGH_MAX, cancel);
            left.extend(found.map(|(files, _)| files).unwrap_or_default());
        }
        left.iter()
            .filter_map(|target| self.workspace.open_file(target).ok())
            .try_for_each(|file| self.files.remember(&file, tool))
    }
}
