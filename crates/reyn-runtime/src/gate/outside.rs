//! Files from outside: what a call reads of them, and what it leaves that came from there.

use std::sync::Arc;
use std::time::SystemTime;

use reyn_core::conversation::Entry;
use reyn_core::gate::Need;
use reyn_core::limits::{COMMAND_PATH_BYTES_MAX, COMMAND_PATHS_MAX, DOWNLOADS_LOOKED_THROUGH_MAX};
use reyn_core::outside::Passages;
use reyn_core::permission::{Command, FileAxis, FileOp, Target};
use reyn_core::tool::{Args, CallError, ErrorKind, External, Output, ToolCall};
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
    /// When a program began that fetches files or makes others of them.
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
            // What is remembered is no text from outside, whatever it repeats.
            let is_kept = |target: &Target| workspace.memory_layer(target).is_some();
            let targets = needs(prepared).iter().filter_map(|need| match need {
                Need::File { op, target }
                    if op.axis() == wanted && *op != FileOp::Delete && !op.is_index() && !is_kept(target) =>
                {
                    Some(target.clone())
                }
                Need::File { .. } | Need::Exec { .. } | Need::Web { .. } => None,
            });
            targets.collect()
        };
        let (read, written) = (of_axis(FileAxis::Read), of_axis(FileAxis::Write));
        let commands = || {
            needs(prepared).iter().filter_map(|need| match need {
                Need::Exec { command } => Some(command),
                Need::File { .. } | Need::Web { .. } => None,
            })
        };
        let is_program = commands().next().is_some();
        // Rows of an index are stamped one by one, by the tool that writes them.
        let is_index =
            needs(prepared).iter().any(|need| matches!(need, Need::File { op: FileOp::WriteIndex, .. }));
        let is_change = !written.is_empty() || is_program || is_index;
        let repeated = if is_change { repeated(&call.args, log).await } else { None };
        let stdin = text_of(call, "stdin");
        let fetches = commands().any(|command| command.may_download(stdin)) && has_network(context);
        let (old, from) = (written.clone(), read.clone());
        let (known, place) = (Arc::clone(&files), Arc::clone(&workspace));
        let named = |command: &Command| named_paths(&command.argv, stdin, text_of(call, "cwd"));
        let named: Vec<String> = commands().flat_map(named).collect();
        // What is changed in a part is from outside in its other parts, and so is what a program makes of a file.
        let looking = tokio::task::spawn_blocking(move || {
            let changed = old.iter().find_map(|target| known.origin(target, &place));
            // What a tool makes of a file from outside is from there too.
            let made = || from.iter().find_map(|target| known.origin(target, &place));
            changed.or_else(made).or_else(|| origin_of_named(&named, &known, &place))
        });
        let before = if is_change { looking.await.unwrap_or_default() } else { None };
        let brought_by = repeated.or(before).or_else(|| fetches.then(|| prepared.spec().name.to_owned()));
        let fetching_since = (is_program && brought_by.is_some()).then(SystemTime::now);
        Some(Self { files, workspace, read, written, brought_by, fetching_since })
    }

    /// The tool by which what the call writes came from outside.
    pub(super) fn brought_by(&self) -> Option<&str> {
        self.brought_by.as_deref()
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

    /// The same for a call that failed: its error may quote the file, and what it had left by then is there.
    pub(super) async fn after_failure(self, mut error: CallError) -> CallError {
        let may_have_changed = self.fetching_since.is_some() || error.kind != ErrorKind::HandlerError;
        let working = tokio::task::spawn_blocking(move || {
            // Not cut short when the call was: what it left stays.
            let remembered = if may_have_changed { self.remember(&CancellationToken::new()) } else { Ok(()) };
            let quoted = || self.written.iter().find_map(|target| self.files.origin(target, &self.workspace));
            (self.origin_of_what_was_read().or_else(quoted), remembered)
        });
        let Ok((origin, remembered)) = working.await else { return error };
        error.external = error.external.or_else(|| origin.map(|tool| Box::new(External::by(tool))));
        if let Err(why) = remembered {
            let hint = error.hint.map_or_else(String::new, |hint| format!("{hint}; "));
            error.hint = Some(format!("{hint}{why}"));
        }
        error
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
        let opened = left.iter().filter_map(|target| self.workspace.open_file(target).ok());
        self.files.remember(opened, tool)
    }
}

/// The tool that brought in a passage which these arguments repeat, if one did. A log can hold many pages, so others
/// get their turn after each: none takes longer than a few milliseconds.
async fn repeated(args: &Args, log: &[Entry]) -> Option<String> {
    let passages = Passages::of(args)?;
    for entry in log {
        if let Some(tool) = passages.repeated_in(entry) {
            return Some(tool);
        }
        if matches!(entry, Entry::Finished { .. }) {
            tokio::task::yield_now().await;
        }
    }
    None
}

fn text_of<'a>(call: &'a ToolCall, name: &str) -> Option<&'a str> {
    call.args.as_object()?.get(name)?.as_str()
}

/// Whether a program reaches the network; where nothing confines it, it does whatever the policy says.
fn has_network(context: &Context) -> bool {
    context
        .processes()
        .is_ok_and(|processes| processes.settings().network || processes.unconfined_in_words().is_some())
}

/// What in a command may be the path of a file: its words, and those of its lines for a shell.
fn named_paths(argv: &[String], stdin: Option<&str>, cwd: Option<&str>) -> Vec<String> {
    let is_between = |c: char| c.is_whitespace() || "'\"`();|&<>$=,".contains(c);
    let whole = argv.iter().skip(1).map(String::as_str);
    let parts = argv.iter().map(String::as_str).chain(stdin).flat_map(move |text| text.split(is_between));
    let words = whole.chain(parts).filter(|word| !word.is_empty() && word.len() <= COMMAND_PATH_BYTES_MAX);
    let mut paths: Vec<String> = vec![];
    for word in words {
        let path = match cwd {
            Some(cwd) if !word.starts_with('/') => format!("{}/{word}", cwd.trim_end_matches('/')),
            Some(_) | None => word.to_owned(),
        };
        if !paths.contains(&path) {
            paths.push(path);
        }
        if paths.len() >= COMMAND_PATHS_MAX {
            break;
        }
    }
    paths
}

fn origin_of_named(paths: &[String], files: &ExternalFiles, workspace: &Workspace) -> Option<String> {
    let mut targets = paths.iter().filter_map(|path| workspace.resolve(path, FileAxis::Read).ok());
    targets.find_map(|target| files.origin(&target, workspace))
}
