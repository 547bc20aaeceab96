//! What the two remembering tools have in common: everything but whose memory it is.

use std::sync::Arc;

use reyn_core::audit::AuditEvent;
use reyn_core::memory::{Kind, Layer, Note, Slug};
use reyn_core::permission::Target;
use reyn_core::tool::Output;
use reyn_workspace::{Preview, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;

use super::with_note;
use crate::tool::{Context, ToolError, Touched, blocking};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Its name: letters, digits, `_`, `-`. One that is there is replaced.
    pub slug: String,
    /// A title.
    name: String,
    /// One line; it stands in every prompt.
    description: String,
    /// What it is about.
    r#type: Kind,
    /// What to remember.
    body: String,
}

impl Args {
    fn note(&self) -> Result<Note, ToolError> {
        let slug = Slug::parse(&self.slug).map_err(|error| ToolError::failed(error.to_string()))?;
        let note = Note {
            slug,
            name: self.name.clone(),
            description: self.description.clone(),
            kind: self.r#type,
            body: self.body.clone(),
        };
        note.check().map_err(|error| ToolError::failed(error.to_string()))?;
        Ok(note)
    }
}

/// All that a call would have remembered.
pub(crate) fn kept_text(args: &Args) -> Result<String, ToolError> {
    Ok(args.note()?.whole())
}

/// What a note would change, for a person.
pub(crate) fn preview(args: &Args, target: &Target, workspace: &Workspace) -> Option<Preview> {
    let memory = super::Memory::new(Arc::new(workspace.clone()), "");
    let text = memory.file_text(target, &args.note().ok()?);
    Some(workspace.preview_write(target, &text, None))
}

/// Keeps a note.
pub(crate) async fn remember(
    layer: Layer,
    args: &Args,
    touched: Touched,
    context: Arc<Context>,
) -> Result<Output, ToolError> {
    let note = args.note()?;
    let slug = note.slug.clone();
    let memory = context.memory()?;
    let (change, unfound) = blocking(move || {
        let change = memory.save(layer, touched.file(0), &note, &context.cancel)?;
        let index = context.memory_index();
        let unfound = index.and_then(|index| index.saved(layer, memory.agent(), &note).err());
        Ok((change, unfound))
    })
    .await?;
    let mut output = Output::default().with("saved", slug.as_str()).with("layer", layer.name());
    output = with_note(output, "`MEMORY.md` is not up to date", change.index_error);
    output = with_note(output, "search does not find it", unfound);
    output.diff = change.diff;
    output.notes.push(AuditEvent::MemorySaved {
        layer: layer.name().to_owned(),
        slug: slug.to_string(),
        path: change.path,
    });
    Ok(output)
}
