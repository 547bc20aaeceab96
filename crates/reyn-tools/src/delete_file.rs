//! `delete_file`: remove one file or link.

use std::sync::Arc;

use reyn_core::permission::{FileOp, Target};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_workspace::{Deleted, Preview, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct DeleteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// File to delete.
    path: String,
}

impl Tool for DeleteFile {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "delete_file",
        summary: "Delete a file.",
        details: "",
        example: r#"{"path": "old.txt"}"#,
        category: Category::File,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Entry { op: FileOp::Delete, path: args.path.clone() }]
    }

    fn preview(_args: &Args, targets: &[Target], workspace: &Workspace) -> Option<Preview> {
        Some(workspace.preview_delete(targets.first()?))
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let workspace = context.workspace()?;
        let deleted = blocking(move || workspace.delete(touched.file(0))).await?;
        let output = Output::default().with("path", args.path);
        Ok(match deleted {
            Deleted::Nothing => {
                output.with("deleted", false).with("note", "there was no such file")
            }
            Deleted::Link => {
                output.with("deleted", true).with("note", "it was a link; the file it led to is untouched")
            }
            Deleted::File { diff } => {
                let mut output = output.with("deleted", true);
                output.diff = diff.text;
                output
            }
        })
    }
}
