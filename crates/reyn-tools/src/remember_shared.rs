//! `remember_shared`: keep a note that everybody in the project has.

use std::sync::Arc;

use reyn_core::memory::Layer;
use reyn_core::permission::{FileOp, Target};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_workspace::{Preview, Workspace};

use crate::memory::remembering::{Args, kept_text, preview, remember};
use crate::tool::{Context, Tool, ToolError, Touched, Wish};

pub(crate) struct RememberShared;

impl Tool for RememberShared {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "remember_shared",
        summary: "Remember something for later sessions, for everybody in this project.",
        details: "",
        example: r#"{"slug": "likes_tabs", "name": "Indentation", "description": "Tabs, never spaces", "type": "user", "body": "Uses tabs in every language."}"#,
        category: Category::MemoryOperation,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Memory { op: FileOp::Remember, layer: Layer::Shared, slug: Some(args.slug.clone()) }]
    }

    fn preview(args: &Args, targets: &[Target], workspace: &Workspace) -> Option<Preview> {
        preview(args, targets.first()?, workspace)
    }

    fn memory_text(args: &Args, _targets: &[Target], _context: &Context) -> Result<Option<String>, ToolError> {
        kept_text(args).map(Some)
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        remember(Layer::Shared, &args, touched, context).await
    }
}
