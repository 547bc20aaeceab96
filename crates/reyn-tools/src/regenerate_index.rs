//! `regenerate_index`: an index of the Markdown files of a folder, from what they say of themselves.

use std::sync::Arc;

use reyn_core::memory::{FILE_BYTES_MAX, IndexLine, NOTES_MAX, entry, entry_template, index_text, split};
use reyn_core::permission::{FileOp, Target};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_search::GlobRequest;
use reyn_workspace::{FileError, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct RegenerateIndex;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Folder of the Markdown files.
    path: String,
    /// Index file to write; it is no entry itself.
    output_path: String,
    /// A line of the index: `{key}` of the frontmatter, `{slug}` for the file's name without `.md`.
    entry_template: String,
    /// What stands before the entries.
    #[serde(default)]
    header: String,
}

/// An index that is not written yet.
struct Index {
    text: String,
    entries: usize,
}

impl Args {
    /// The index as it would be now. `judge` says which files may be read.
    fn index(
        &self,
        folder: &Target,
        output: &Target,
        workspace: &Workspace,
        judge: &(dyn Fn(&Target) -> bool + Sync),
        cancel: &CancellationToken,
    ) -> Result<Index, FileError> {
        let template = entry_template(&self.entry_template)
            .map_err(|error| FileError::failed(error.to_string()))?;
        // A folder that is named is named with all that is in it, hidden or ignored.
        let request = GlobRequest {
            pattern: "**/*.md".into(),
            include_ignored: true,
            offset: 0,
            max_results: NOTES_MAX,
        };
        let found = workspace.glob(folder, &request, judge, cancel)?;
        if found.has_more || found.partial.is_some() {
            let message = format!("cannot index `{}`: it holds more than {NOTES_MAX} Markdown files", self.path);
            return Err(FileError::failed(message).hint("index a folder below it"));
        }
        let base = workspace.search_base(folder);
        let mut paths: Vec<_> = found.paths.into_iter().map(|path| base.join(path)).collect();
        paths.retain(|path| *path != output.path);
        paths.sort();
        let mut entries = vec![];
        for path in paths {
            if cancel.is_cancelled() {
                return Err(FileError::Cancelled);
            }
            let Some(slug) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { continue };
            let target = Target { asked: workspace.display(&path), path, same_as: None, link: None };
            // What cannot be read, or says nothing of itself, is no entry.
            let Ok(text) = workspace.text(&target, FILE_BYTES_MAX) else { continue };
            let Some(frontmatter) = split(&text).0.filter(|frontmatter| !frontmatter.is_empty()) else { continue };
            entries.push(entry(&template, &IndexLine { slug: &slug, frontmatter: &frontmatter }));
        }
        Ok(Index { text: index_text(&self.header, &entries), entries: entries.len() })
    }
}

impl Tool for RegenerateIndex {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "regenerate_index",
        summary: "Make the index of a folder of Markdown files again.",
        details: "",
        example: r#"{"path": "notes", "output_path": "notes/INDEX.md", "entry_template": "- {slug}: {description}"}"#,
        category: Category::File,
        effect: Effect::Changes,
        surfaces: Surfaces::Skill,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![
            Wish::File { op: FileOp::Read, path: args.path.clone() },
            Wish::File { op: FileOp::RegenerateIndex, path: args.output_path.clone() },
        ]
    }

    fn memory_text(args: &Args, targets: &[Target], context: &Context) -> Result<Option<String>, ToolError> {
        let [folder, output] = targets else { return Ok(None) };
        let workspace = context.workspace()?;
        Ok(Some(args.index(folder, output, &workspace, &|_| true, &context.cancel)?.text))
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let (workspace, memory) = (context.workspace()?, context.memory()?);
        let (args, entries, diff) = blocking(move || {
            let (folder, output) = (touched.file(0), touched.file(1));
            let judge = |target: &Target| touched.admits(FileOp::Read, target);
            let write = || {
                let index = args.index(folder, output, &workspace, &judge, &context.cancel)?;
                let written = workspace.write_whole(output, &index.text, None)?;
                Ok((index.entries, written.diff.text))
            };
            // Others make the index of a memory too.
            let is_of_a_memory = workspace.memory_layer(output).is_some();
            let (entries, diff) = if is_of_a_memory { memory.alone(write)? } else { write()? };
            Ok((args, entries, diff))
        })
        .await?;
        let mut output = Output::default()
            .with("path", args.path)
            .with("output_path", args.output_path)
            .with("status", "ok")
            .with("entries", entries);
        output.diff = diff;
        Ok(output)
    }
}
