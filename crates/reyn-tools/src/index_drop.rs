//! `index_drop`: an index away, with all that is in it.

use std::sync::Arc;

use reyn_core::audit::AuditEvent;
use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::knowledge::{failed, source_name};
use crate::tool::{Context, Tool, ToolError, Touched, Wish};

pub(crate) struct IndexDrop;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The index.
    source: String,
}

impl Tool for IndexDrop {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "index_drop",
        summary: "Remove an index for good.",
        details: "",
        example: r#"{"source": "docs"}"#,
        category: Category::Embedding,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::Index { op: FileOp::DropIndex, source: args.source.clone() }]
    }

    async fn run(&self, args: Args, _touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let source = source_name(&args.source)?;
        let dropped = context
            .knowledge()?
            .with_store(move |store| store.drop_source(&source).map_err(|error| failed(&error)))
            .await?;
        let mut output =
            Output::default().with("source", args.source.as_str()).with("chunks_dropped", dropped);
        output.notes.push(AuditEvent::IndexDropped {
            chain_id: context.chain_id.clone(),
            source: args.source,
            chunks_dropped: dropped,
        });
        Ok(output)
    }
}
