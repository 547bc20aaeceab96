//! `read_file`: the text of a file, page by page.

use std::sync::Arc;

use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_workspace::PageRequest;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::text_encoding;
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// File to read.
    path: String,
    /// Lines to skip; -20 reads the last 20.
    offset: Option<i64>,
    /// Lines at most.
    limit: Option<u64>,
    /// Characters to skip from there. A result names it where a line goes on, so the schema does not.
    #[schemars(skip)]
    char_offset: Option<u64>,
    /// The file's encoding. A result names it where the encoding is a guess, so the schema does not.
    #[schemars(skip)]
    encoding: Option<String>,
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
        let request = PageRequest {
            offset: args.offset.unwrap_or(0),
            limit: args.limit,
            char_offset: args.char_offset.unwrap_or(0),
            encoding: text_encoding::named(args.encoding.as_deref())?,
        };
        let page =
            blocking(move || workspace.read_page(touched.file(0), request, &context.cancel)).await?;
        let mut notes = vec![];
        let mut output = Output::text("content", page.text)
            .with("path", args.path)
            .with("encoding", page.encoding.name());
        if !page.is_sure && args.encoding.is_none() {
            notes.push(format!("`{}` is a guess; give `encoding` when you know it", page.encoding.name()));
        }
        if page.is_damaged {
            notes.push("bytes that cannot be decoded are shown as U+FFFD".to_owned());
        }
        if let Some(lines) = page.lines_if_behind {
            notes.push(format!("nothing is there: the file has {lines} lines"));
        }
        if let Some(next) = page.next {
            output = output.with("truncated", true).with("next_offset", next.offset);
            if next.char_offset > 0 {
                output = output.with("next_char_offset", next.char_offset);
                notes.push(format!("the line goes on at `char_offset` {}", next.char_offset));
            }
        }
        if !notes.is_empty() {
            output = output.with("note", notes.join("; "));
        }
        Ok(output)
    }
}
