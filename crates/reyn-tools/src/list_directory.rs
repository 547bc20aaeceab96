//! `list_directory`: the names in a folder.

use std::fmt::Write as _;
use std::sync::Arc;

use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, External, Output, Surfaces, ToolSpec};
use reyn_workspace::ListRequest;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct ListDirectory;

/// Names given when the call does not say how many.
const DEFAULT_MAX_RESULTS: u32 = 500;
/// Names given at most.
const MAX_RESULTS_MAX: u32 = 5_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Folder; `.` is the workspace.
    path: String,
    /// Names to skip.
    offset: Option<u32>,
    /// Default 500.
    max_results: Option<u32>,
}

impl Tool for ListDirectory {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "list_directory",
        summary: "List the names in a folder.",
        details: "Folders end with `/`.",
        example: r#"{"path": "."}"#,
        category: Category::File,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::File { op: FileOp::Read, path: args.path.clone() }]
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let workspace = context.workspace()?;
        let entries_max = args.max_results.unwrap_or(DEFAULT_MAX_RESULTS).min(MAX_RESULTS_MAX);
        let request =
            ListRequest { offset: args.offset.unwrap_or(0) as usize, entries_max: entries_max as usize };
        let (listing, brought) = blocking(move || {
            let listing = workspace.list(touched.file(0), request, &context.cancel)?;
            // Whoever sends a file names it too.
            let paths = listing.entries.iter().map(|entry| touched.file(0).path.join(&entry.name));
            let brought = context.external_files().and_then(|files| files.any_brought(paths, &workspace));
            Ok((listing, brought))
        })
        .await?;
        let mut names = String::new();
        for entry in &listing.entries {
            let _ = writeln!(names, "{}{}", entry.name, entry.mark);
        }
        let mut output = Output::text("entries", names).with("path", args.path).with("count", listing.entries.len());
        if let Some(next) = listing.next_offset {
            output = output.with("total", listing.total).with("truncated", true).with("next_offset", next);
        }
        if listing.is_partial {
            let note = format!("the folder holds more; only {} names were looked at", listing.total);
            output = output.with("partial", note);
        }
        output.external = brought.map(External::by);
        Ok(output)
    }
}
