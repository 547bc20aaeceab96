//! `/save`: the conversation as a Markdown file.

use std::path::{Path, PathBuf};

use futures::FutureExt;
use reyn_runtime::Sessions;

use super::{Slash, done};
use crate::chat::desk::{After, Desk};
use crate::commands::sessions::markdown;
use crate::new_file::{self, NewFileError};
use crate::transcript::parts;

pub(super) static SLASH: Slash = Slash {
    name: "save",
    arguments: "[FILE]",
    summary: "write the conversation to a Markdown file",
    run: |desk, arguments| {
        async move {
            let path = save(desk, arguments)?;
            desk.print(done(&format!("written to `{}`", path.display())));
            Ok(After::Stay)
        }
        .boxed()
    },
};

/// Writes a new file and returns its real path; relative names are below the project's folder.
fn save(desk: &Desk, name: &str) -> Result<PathBuf, String> {
    let name = if name.is_empty() { format!("{}.md", desk.session.id()) } else { name.to_owned() };
    let path = new_file::resolve(desk.project.root(), Path::new(&name)).map_err(|error| error.to_string())?;
    let stored =
        Sessions::new(&desk.project.state()).read(desk.session.id()).map_err(|error| error.to_string())?;
    let text = markdown(&stored.summary, &parts(stored.entries()));
    match new_file::write(&path, text.as_bytes(), false) {
        Ok(()) => Ok(path),
        Err(error @ NewFileError::Exists(_)) => Err(format!("{error}; give another name: `/save FILE`")),
        Err(error @ (NewFileError::LeadsOut { .. } | NewFileError::Io { .. })) => Err(error.to_string()),
    }
}
