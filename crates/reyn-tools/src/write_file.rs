//! `write_file`: create a file or replace it whole.

use std::sync::Arc;

use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Context, Tool, ToolError, Touched, Wish};
use crate::workspace::blocking;

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// File to create or replace; missing folders are made.
    path: String,
    /// The whole new text.
    content: String,
}

impl Tool for WriteFile {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "write_file",
        summary: "Create a file, or replace it whole.",
        details: "",
        example: r#"{"path": "notes.md", "content": "hello\n"}"#,
        category: Category::File,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::File { op: FileOp::Write, path: args.path.clone() }]
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let workspace = context.workspace()?;
        let written =
            blocking(move || workspace.write_whole(touched.file(0), args.content.as_bytes())).await?;
        let done = if written.is_new { "created" } else { "replaced" };
        Ok(Output::default().with("path", args.path).with("done", done).with("bytes", written.bytes))
    }
}
