//! `list_memory`: what is remembered, by layer and by what it is about.

use std::fmt::Write as _;
use std::sync::Arc;

use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::memory::{Kind, Layer};
use reyn_core::permission::FileOp;
use reyn_core::text::excerpt;
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::memory::readable;
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct ListMemory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// `""` for all, a layer (`shared`, `agent`), or one kind of it (`shared/user`).
    path: String,
}

/// What a path is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    layer: Option<Layer>,
    kind: Option<Kind>,
}

impl Wanted {
    fn parse(path: &str) -> Option<Self> {
        let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        let Some(first) = parts.next() else { return Some(Self { layer: None, kind: None }) };
        let layer = Layer::ALL.into_iter().find(|layer| layer.name() == first)?;
        let kind = parts.next().map(|name| Kind::of(name).ok_or(())).transpose().ok()?;
        parts.next().is_none().then_some(Self { layer: Some(layer), kind })
    }

    fn layers(self) -> impl Iterator<Item = Layer> {
        Layer::ALL.into_iter().filter(move |layer| self.layer.is_none_or(|wanted| wanted == *layer))
    }
}

impl Tool for ListMemory {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "list_memory",
        summary: "List what is remembered from earlier sessions.",
        details: "",
        example: r#"{"path": "shared/user"}"#,
        category: Category::MemoryOperation,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        // A path that is none is told when it runs.
        let wanted = Wanted::parse(&args.path).unwrap_or(Wanted { layer: None, kind: None });
        wanted.layers().map(|layer| Wish::Memory { op: FileOp::Read, layer, slug: None }).collect()
    }

    async fn run(&self, args: Args, _touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let Some(wanted) = Wanted::parse(&args.path) else {
            let path = excerpt(&args.path, 80);
            return Err(ToolError::failed(format!("there is nothing at `{path}` in a memory")).hint(
                "give `\"\"`, `shared`, `agent`, or one of these with `/user`, `/feedback`, `/project`, `/reference`",
            ));
        };
        let memory = context.memory()?;
        let views = blocking(move || {
            let view = |layer| Ok((layer, memory.view(layer, &context.cancel)?));
            wanted.layers().map(view).collect::<Result<Vec<_>, _>>()
        })
        .await?;
        let (mut text, mut count, mut more) = (String::new(), 0_usize, 0_usize);
        for (layer, view) in &views {
            more += view.more;
            let heads = view.heads.iter().filter(|head| wanted.kind.is_none() || head.kind == wanted.kind);
            for head in heads {
                let kind = head.kind.map_or_else(String::new, |kind| format!("{}/", kind.name()));
                let line = format!("{layer}/{kind}{}: {} — {}", head.slug, head.name, head.description);
                let line = readable(&line);
                if text.len() + line.len() + 1 > RESULT_BYTES_MAX {
                    more += 1;
                } else {
                    let _ = writeln!(text, "{line}");
                    count += 1;
                }
            }
        }
        let mut output = Output::text("entries", text).with("path", args.path).with("count", count);
        if more > 0 {
            output = output.with("truncated", true).with("more", more);
        }
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_layer_and_a_kind() {
        let wanted = |layer, kind| Some(Wanted { layer, kind });
        for (path, expected) in [
            ("", wanted(None, None)),
            ("/", wanted(None, None)),
            ("shared", wanted(Some(Layer::Shared), None)),
            ("agent/", wanted(Some(Layer::Agent), None)),
            ("shared/user", wanted(Some(Layer::Shared), Some(Kind::User))),
            ("shared/idea", None),
            ("shared/user/x", None),
            ("..", None),
            ("user", None),
        ] {
            assert_eq!(Wanted::parse(path), expected, "{path:?}");
        }
    }
}
