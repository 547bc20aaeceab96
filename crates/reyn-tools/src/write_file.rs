//! `write_file`: create a file or replace it whole.

use std::sync::Arc;

use reyn_core::permission::{FileOp, Target};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_text::encoding::Encoding;
use reyn_workspace::{Before, Preview, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::text_encoding;
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// File to create or replace.
    path: String,
    /// The whole new text.
    content: String,
    /// UTF-8 when left out. Rarely wanted, so the schema does not spend words on it.
    #[schemars(skip)]
    encoding: Option<String>,
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

    fn preview(args: &Args, targets: &[Target], workspace: &Workspace) -> Option<Preview> {
        let encoding = text_encoding::named(args.encoding.as_deref()).ok()?;
        Some(workspace.preview_write(targets.first()?, &args.content, encoding))
    }

    fn memory_text(args: &Args, _targets: &[Target], _context: &Context) -> Result<Option<String>, ToolError> {
        let encoding = text_encoding::named(args.encoding.as_deref())?;
        if encoding.is_some_and(|encoding| encoding != Encoding::UTF_8) {
            return Err(text_encoding::no_note());
        }
        Ok(Some(args.content.clone()))
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let workspace = context.workspace()?;
        let encoding = text_encoding::named(args.encoding.as_deref())?;
        let written =
            blocking(move || workspace.write_whole(touched.file(0), &args.content, encoding)).await?;
        let done = if written.before == Before::Nothing { "created" } else { "replaced" };
        let mut output =
            Output::default().with("path", args.path).with("done", done).with("bytes", written.bytes);
        output.diff = written.diff.text;
        if let Before::File { other_encoding, had_crlf, had_mark, other_names } = written.before {
            if let Some(before) = other_encoding {
                output = output.with("encoding_before", before.name());
            }
            if had_crlf {
                output = output.with("line_ends_before", "crlf");
            }
            if had_mark {
                output = output.with("byte_order_mark_before", true);
            }
            if other_names > 0 {
                output = output.with("hard_links_with_old_content", other_names);
            }
        }
        Ok(output)
    }
}
