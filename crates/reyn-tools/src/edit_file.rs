//! `edit_file`: replace a part of a file, and leave every other byte as it is.

use std::sync::Arc;

use reyn_core::permission::{FileOp, Target};
use reyn_core::tool::{Category, Dispatch, Effect, Output, Surfaces, ToolSpec};
use reyn_workspace::{EditRequest, Preview, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::text_encoding;
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct EditFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// File to change.
    path: String,
    /// Text to replace; must be there exactly once.
    #[schemars(length(min = 1))]
    old_string: String,
    /// Text in its place.
    new_string: String,
    /// Replace every occurrence.
    replace_all: Option<bool>,
    /// The file's encoding. An error asks for it where it is needed, so the schema does not spend words on it.
    #[schemars(skip)]
    encoding: Option<String>,
}

impl Args {
    fn request(&self) -> Result<EditRequest, ToolError> {
        Ok(EditRequest {
            old: self.old_string.clone(),
            new: self.new_string.clone(),
            replace_all: self.replace_all.unwrap_or(false),
            encoding: text_encoding::named(self.encoding.as_deref())?,
        })
    }
}

impl Tool for EditFile {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "edit_file",
        summary: "Replace a part of a file.",
        details: "",
        example: r#"{"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}"#,
        category: Category::File,
        effect: Effect::Changes,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        vec![Wish::File { op: FileOp::Edit, path: args.path.clone() }]
    }

    fn preview(args: &Args, targets: &[Target], workspace: &Workspace) -> Option<Preview> {
        Some(workspace.preview_edit(targets.first()?, &args.request().ok()?))
    }

    fn memory_text(args: &Args, targets: &[Target], context: &Context) -> Result<Option<String>, ToolError> {
        let Some(target) = targets.first() else { return Ok(None) };
        let bytes = context.workspace()?.edited(target, &args.request()?, &context.cancel)?;
        Ok(Some(String::from_utf8(bytes).map_err(|_| text_encoding::no_note())?))
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let workspace = context.workspace()?;
        let request = args.request()?;
        let edited = blocking(move || {
            let target = touched.file(0);
            // Who may write a file and not read it is not shown what is in it.
            let may_show = touched.admits(FileOp::Read, target);
            workspace.edit(target, &request, may_show, &context.cancel)
        })
        .await?;
        let lines: Vec<String> = edited.lines.iter().map(u64::to_string).collect();
        let mut output = Output::default()
            .with("path", args.path)
            .with("replacements", edited.replacements)
            .with("lines", lines.join(", "));
        if let Some(encoding) = edited.encoding {
            output = output.with("encoding", encoding.name());
        }
        if edited.other_names > 0 {
            output = output.with("hard_links_with_old_content", edited.other_names);
        }
        output.diff = edited.diff.text;
        Ok(output)
    }
}
