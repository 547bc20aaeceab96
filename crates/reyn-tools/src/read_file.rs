//! `read_file`: the text of a file, page by page.

use std::sync::Arc;

use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Context, Tool, ToolError, Touched, Wish};
use crate::workspace::{Next, PageRequest, blocking};

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// File to read.
    path: String,
    /// Lines to skip; a result's `next_offset` is the next page.
    offset: Option<u64>,
    /// Lines at most.
    limit: Option<u64>,
    /// Characters to skip instead of lines, for very long lines.
    char_offset: Option<u64>,
}

impl Tool for ReadFile {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "read_file",
        summary: "Read a text file.",
        details: "",
        example: r#"{"path": "README.md"}"#,
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
        let request =
            PageRequest { offset: args.offset.unwrap_or(0), limit: args.limit, char_offset: args.char_offset };
        let page =
            blocking(move || workspace.read_page(touched.file(0), request, &context.cancel)).await?;
        let output = Output::text("content", page.text).with("path", args.path);
        Ok(match page.next {
            None => output,
            Some(Next::Line(line)) => output.with("truncated", true).with("next_offset", line),
            Some(Next::Char(at)) => output.with("truncated", true).with("next_char_offset", at),
        })
    }
}
