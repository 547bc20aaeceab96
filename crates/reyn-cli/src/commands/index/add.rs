//! `reyn index add`: from files to passages.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use reyn_core::embedding::ModelIdentity;
use reyn_core::permission::{FileAxis, Target, Zones};
use reyn_index::split::{Limits, TextKind};
use reyn_index::{FileText, Indexed, Indexing, IndexingError, SourceName};
use reyn_llm::Embedder;
use reyn_search::GlobRequest;
use reyn_text::encoding::detect;
use reyn_tools::ExternalFiles;
use reyn_workspace::Workspace;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::{failed, source};
use crate::embedding_choice::{Opened, open};
use crate::exit::{Exit, Failure};
use crate::index_store::IndexStore;
use crate::signals::cancel_on_signal;
use crate::wiring::{Project, runtime};
use crate::{output, person};

/// Longest file that is indexed, in bytes.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Most files of one run.
const FILES_MAX: usize = 100_000;
/// Tokens of a passage at most; what is longer has no part in its vector.
const PASSAGE_TOKENS_MAX: usize = 400;
/// Characters that passages are put together up to.
const PASSAGE_CHARACTERS: usize = 400;
/// Endings of files whose lines belong together in blocks.
const CODE_ENDINGS: [&str; 30] = [
    "rs", "py", "js", "ts", "jsx", "tsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs", "rb",
    "php", "swift", "sh", "bash", "sql", "toml", "yaml", "yml", "json", "ini", "cfg", "lua", "pl", "scala",
];

/// `reyn index add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The source; made when it is new.
    name: String,
    /// Files and folders. What is ignored or hidden in a folder is passed over.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Only files of folders whose path fits this pattern.
    #[arg(long, value_name = "PATTERN", default_value = "**/*")]
    glob: String,
    /// What the source is, for people and models.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Why no vectors came.
enum NoVectors {
    Interrupted,
    Failed(Failure),
}

impl std::fmt::Display for NoVectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::Failed(failure) => f.write_str(&failure.message),
        }
    }
}

/// The files of a run.
struct Files {
    targets: Vec<Target>,
    /// The named places, as paths of passages are shown.
    covered: Vec<String>,
    /// Whether folders hold more than was looked at, so that nothing is known to be gone.
    is_partial: bool,
}

pub(super) fn run(project: &Project, store: &IndexStore, args: &AddArgs) -> Result<Exit, Failure> {
    let name = source(&args.name)?;
    let zones = project.config.zones();
    let workspace = Workspace::open(zones.clone(), project.config.home.clone()).map_err(|error| {
        let root = project.root().display();
        Failure::failed(
            "io",
            format!("cannot open the project `{root}`: {error}; look at its owner and mode"),
        )
    })?;
    let cancel = CancellationToken::new();
    let files = files(&workspace, &zones, args, &cancel)?;
    let runtime = runtime()?;
    let signals = {
        let _entered = runtime.enter();
        runtime.spawn(cancel_on_signal(cancel.clone()))
    };
    let result = index(
        project,
        store,
        &name,
        args,
        &Work { workspace: &workspace, files: &files, runtime: &runtime, cancel: &cancel },
    );
    signals.abort();
    let (indexed, passed_over) = result?;
    told(&name, args.json, &indexed, passed_over, files.is_partial);
    Ok(Exit::Done)
}

struct Work<'a> {
    workspace: &'a Workspace,
    files: &'a Files,
    runtime: &'a Runtime,
    cancel: &'a CancellationToken,
}

fn index(
    project: &Project,
    store: &IndexStore,
    name: &SourceName,
    args: &AddArgs,
    work: &Work<'_>,
) -> Result<(Indexed, usize), Failure> {
    let _lock = store.lock(name).map_err(|error| failed(&error))?;
    let embedder = match work.runtime.block_on(open(project, None, person::is_there()))? {
        Opened::Ready(embedder) => Some(embedder),
        Opened::Off { why } => {
            output::note(&format!("reyn: indexing words alone: {why}"));
            None
        }
    };
    let mut embed = |texts: &[String]| vectors(embedder.as_ref(), texts, work);
    let count = |text: &str| embedder.as_ref().map_or(text.len() / 4, |embedder| embedder.tokens(text));
    let limits =
        Limits { tokens: &count, tokens_max: PASSAGE_TOKENS_MAX, characters_target: PASSAGE_CHARACTERS };
    let description = args.description.clone();
    let mut indexing = Indexing::begin(store.get(), name.clone(), description, limits, &mut embed)
        .map_err(|error| failed(&error))?;
    let external = project.external_files();
    let mut progress = Progress::of(work.files.targets.len());
    let mut passed_over = 0;
    for (at, target) in work.files.targets.iter().enumerate() {
        progress.show(at, indexing.indexed());
        let Some(text) = text(work.workspace, target) else {
            passed_over += 1;
            continue;
        };
        let path = work.workspace.display(&target.path);
        let file = FileText {
            path: &path,
            text: &text,
            kind: kind(&path),
            is_external: is_external(&external, target, work.workspace),
        };
        indexing.add(file).map_err(stopped)?;
    }
    // Where folders hold more than was looked at, what was not seen may be there.
    let covered: &[String] = if work.files.is_partial { &[] } else { &work.files.covered };
    let indexed = indexing.finish(covered).map_err(stopped)?;
    progress.end();
    Ok((indexed, passed_over))
}

fn stopped(error: IndexingError<NoVectors>) -> Failure {
    match error {
        IndexingError::Index(error) => failed(&error),
        IndexingError::Embed(NoVectors::Interrupted) => Failure::interrupted(
            "interrupted; what is done is kept, and the next `reyn index add` goes on from here",
        ),
        IndexingError::Embed(NoVectors::Failed(failure)) => failure,
    }
}

type Vectors = Result<Option<(ModelIdentity, Vec<Vec<f32>>)>, NoVectors>;

fn vectors(embedder: Option<&Embedder>, texts: &[String], work: &Work<'_>) -> Vectors {
    work.runtime.block_on(async {
        // Signals are heard while the runtime runs.
        tokio::task::yield_now().await;
        let Some(embedder) = embedder else {
            return if work.cancel.is_cancelled() { Err(NoVectors::Interrupted) } else { Ok(None) };
        };
        let embedded = tokio::select! {
            biased;
            () = work.cancel.cancelled() => return Err(NoVectors::Interrupted),
            embedded = embedder.embed(texts, &|_| {}) => embedded,
        };
        let embedded =
            embedded.map_err(|error| NoVectors::Failed(Failure::failed(error.kind.name(), error.message)))?;
        Ok(embedder.identity().map(|model| (model, embedded.vectors)))
    })
}

/// The files that were named and those of the folders, without what the program keeps from models.
fn files(
    workspace: &Workspace,
    zones: &Zones,
    args: &AddArgs,
    cancel: &CancellationToken,
) -> Result<Files, Failure> {
    let mut files = Files { targets: vec![], covered: vec![], is_partial: false };
    for path in &args.paths {
        let wrong = |why: String| Failure::usage("path", why);
        let asked = path.display().to_string();
        let target = workspace
            .resolve(&asked, FileAxis::Read)
            .map_err(|error| wrong(format!("cannot index `{asked}`: {error}")))?;
        if zones.is_guarded_from_reading(&target.path) {
            return Err(wrong(format!("`{asked}` is kept from models, so it is not indexed")));
        }
        let shown = workspace.display(&target.path);
        files.covered.push(if shown == "." { String::new() } else { shown });
        if target.path.is_file() {
            files.targets.push(target);
            continue;
        }
        let request = GlobRequest {
            pattern: args.glob.clone(),
            include_ignored: false,
            offset: 0,
            max_results: FILES_MAX,
        };
        let judge = |found: &Target| !zones.is_guarded_from_reading(&found.path);
        let found = workspace
            .glob(&target, &request, &judge, cancel)
            .map_err(|error| wrong(format!("cannot index `{asked}`: {error}")))?;
        files.is_partial |= found.has_more || found.partial.is_some();
        let base = workspace.search_base(&target);
        for path in found.paths {
            let whole = base.join(path);
            // A link leads where its file is; what lies outside was not named.
            let real = workspace.resolve(&whole.to_string_lossy(), FileAxis::Read);
            files.targets.extend(real.ok().filter(|real| real.path.starts_with(&target.path)));
        }
    }
    files.targets.sort_by(|one, other| one.path.cmp(&other.path));
    files.targets.dedup_by(|one, other| one.path == other.path);
    Ok(files)
}

/// A file as text; none for what is no text, too long, or cannot be read.
fn text(workspace: &Workspace, target: &Target) -> Option<String> {
    let file = workspace.open_file(target).ok()?;
    let mut bytes = vec![];
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return None;
    }
    let detected = detect(&bytes, true, None).ok()?;
    let decoded = detected.encoding.decode(&bytes[detected.mark_len..]);
    decoded.undecodable_at.is_none().then_some(decoded.text)
}

fn kind(path: &str) -> TextKind {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    match ending.as_str() {
        "md" | "markdown" | "mdx" => TextKind::Markdown,
        ending if CODE_ENDINGS.contains(&ending) => TextKind::Code,
        _ => TextKind::Plain,
    }
}

fn is_external(external: &ExternalFiles, target: &Target, workspace: &Workspace) -> bool {
    external.origin(target, workspace).is_some()
}

fn told(name: &SourceName, is_json: bool, indexed: &Indexed, passed_over: usize, is_partial: bool) {
    let Indexed { files, added, unchanged, removed } = *indexed;
    if is_json {
        output::json(&json!({
            "source": name.as_str(),
            "files": files,
            "files_passed_over": passed_over,
            "chunks_written": added,
            "chunks_unchanged": unchanged,
            "chunks_removed": removed,
            "is_partial": is_partial,
        }));
        return;
    }
    output::result_line(&format!(
        "`{name}`: {files} files, {added} new passages, {unchanged} unchanged, {removed} removed"
    ));
    if passed_over > 0 {
        output::note(&format!("{passed_over} files are no text or too long, and are passed over"));
    }
    if is_partial {
        output::note("there are more files than were looked at; name the folders below one by one");
    }
}

/// A line that says how far the work is, at a terminal.
struct Progress {
    files: usize,
    is_watched: bool,
    began: Instant,
}

impl Progress {
    fn of(files: usize) -> Self {
        Self { files, is_watched: std::io::stderr().is_terminal(), began: Instant::now() }
    }

    fn show(&mut self, done: usize, indexed: Indexed) {
        if !self.is_watched {
            return;
        }
        let seconds = self.began.elapsed().as_secs_f64();
        let rest = self.files.saturating_sub(done);
        let left = if done == 0 {
            String::new()
        } else {
            let left = seconds / done as f64 * rest as f64;
            format!(" · {left:.0} s left")
        };
        let rate = indexed.added as f64 / seconds.max(0.001);
        output::note_part(&format!(
            "\r\x1b[K{done} of {} files · {} passages · {rate:.0} a second{left}",
            self.files, indexed.added
        ));
    }

    fn end(&self) {
        if self.is_watched {
            output::note_part("\r\x1b[K");
        }
    }
}
