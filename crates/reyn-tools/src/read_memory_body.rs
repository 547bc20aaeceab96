//! `read_memory_body`: what a note says, part by part.

use std::sync::Arc;

use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::memory::{Layer, Slug, slice, split};
use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::memory::readable;
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct ReadMemoryBody;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Whose memory.
    layer: Layer,
    /// The note.
    slug: String,
    /// Lines to skip.
    offset: Option<usize>,
    /// Lines at most.
    limit: Option<usize>,
}

impl Tool for ReadMemoryBody {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "read_memory_body",
        summary: "Read what is remembered under a slug.",
        details: "",
        example: r#"{"layer": "shared", "slug": "likes_tabs"}"#,
        category: Category::MemoryOperation,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Memory { op: FileOp::Read, layer: args.layer, slug: Some(args.slug.clone()) }]
    }

    async fn run(&self, args: Args, _touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let slug = Slug::parse(&args.slug).map_err(|error| ToolError::failed(error.to_string()))?;
        let memory = context.memory()?;
        let text = blocking(move || memory.read(args.layer, &slug, &context.cancel)).await?;
        let (_, body) = split(&text);
        let body = readable(body);
        let offset = args.offset.unwrap_or(0);
        let part = slice(&body, offset, args.limit.unwrap_or(usize::MAX), RESULT_BYTES_MAX);
        let mut output = Output::text("content", part.text);
        if let Some(next) = part.next_offset {
            output = output.with("truncated", true).with("next_offset", next);
        }
        if part.is_cut {
            output = output.with("truncated", true).with("note", "the line is longer than is shown");
        }
        if part.text.is_empty() {
            let note = if part.lines == 0 { "it has no body".to_owned() } else { format!("it has {} lines", part.lines) };
            output = output.with("note", note);
        }
        Ok(output)
    }
}
