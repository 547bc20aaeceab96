//! `forget_memory`: remove a note.

use std::sync::Arc;

use reyn_core::audit::AuditEvent;
use reyn_core::memory::{Layer, Slug};
use reyn_core::permission::{FileOp, Target};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_workspace::{Preview, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::memory::with_note;
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct ForgetMemory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Whose memory.
    layer: Layer,
    /// The note.
    slug: String,
}

impl Tool for ForgetMemory {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "forget_memory",
        summary: "Forget something that was remembered.",
        details: "",
        example: r#"{"layer": "shared", "slug": "likes_tabs"}"#,
        category: Category::MemoryOperation,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Memory { op: FileOp::Forget, layer: args.layer, slug: Some(args.slug.clone()) }]
    }

    fn preview(_args: &Args, targets: &[Target], workspace: &Workspace) -> Option<Preview> {
        Some(workspace.preview_delete(targets.first()?))
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let slug = Slug::parse(&args.slug).map_err(|error| ToolError::failed(error.to_string()))?;
        let (memory, layer, forgotten) = (context.memory()?, args.layer, slug.clone());
        let (change, still_found) = blocking(move || {
            let change = memory.delete(layer, touched.file(0), &forgotten, &context.cancel)?;
            let index = context.memory_index();
            let still_found = index.and_then(|index| index.forgotten(layer, memory.agent(), &forgotten).err());
            Ok((change, still_found))
        })
        .await?;
        let mut output = Output::default().with("deleted", slug.as_str()).with("layer", layer.name());
        output = with_note(output, "`MEMORY.md` is not up to date", change.index_error);
        output = with_note(output, "search may still find it", still_found);
        output.diff = change.diff;
        output.notes.push(AuditEvent::MemoryDeleted {
            layer: layer.name().to_owned(),
            slug: slug.to_string(),
            path: change.path,
        });
        Ok(output)
    }
}
