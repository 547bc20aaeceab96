//! Reads and changes the notes of a layer, and makes its index again.

use std::sync::Arc;

use reyn_core::memory::{
    FILE_BYTES_MAX, HEAD_BYTES_MAX, HEADER, Head, INDEX_FILE, Layer, NOTES_MAX, Note, Slug, index_text,
    prompt_view,
};
use reyn_core::permission::{FileAxis, Target};
use reyn_core::text::nearest;
use reyn_workspace::{Deleted, FileError, ListRequest, Workspace};
use tokio_util::sync::CancellationToken;

use super::readable;

/// The lock under which notes and indexes change, relative to the project.
const LOCK: &str = ".reyn/state/memory.lock";
/// Names of a folder that are looked at in one go.
const NAMES_AT_ONCE: usize = 1_000;
/// Names of files that are no notes which are told.
const PASSED_OVER_MAX: usize = 20;

/// The memory that one agent has: the project's and its own. Every method blocks.
#[derive(Debug, Clone)]
pub struct Memory {
    workspace: Arc<Workspace>,
    agent: String,
}

/// The notes of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LayerView {
    /// Sorted by slug.
    pub heads: Vec<Head>,
    /// Notes beyond [`NOTES_MAX`], which no index holds.
    pub more: usize,
    /// Files whose names are no slugs.
    pub passed_over: Vec<String>,
}

/// What a change came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The note's file, relative to the project.
    pub path: String,
    /// What changed, for people.
    pub diff: String,
    /// Why the index does not say so, when it does not.
    pub index_error: Option<String>,
}

impl Memory {
    /// The memory of this agent.
    #[must_use]
    pub fn new(workspace: Arc<Workspace>, agent: &str) -> Self {
        Self { workspace, agent: agent.to_owned() }
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The place of a note, or of the layer's folder. A link never leads out of a memory: it is refused.
    ///
    /// # Errors
    /// When something on the way is a link, or cannot be looked at.
    pub fn place(&self, layer: Layer, slug: Option<&Slug>, axis: FileAxis) -> Result<Target, FileError> {
        let folder = layer.folder(&self.agent);
        let path = slug.map_or_else(|| folder.clone(), |slug| folder.join(slug.file_name()));
        let asked = path.display().to_string();
        let target = self
            .workspace
            .resolve(&asked, axis)
            .map_err(|error| FileError::failed(format!("cannot reach `{asked}`: {error}")))?;
        let expected = self.workspace.root().join(&path);
        if !is_alike(&target.path, &expected) {
            let message = format!("`{asked}` is or goes through a link, and a memory is not kept behind one");
            return Err(FileError::failed(message).hint("the person puts the files themselves there"));
        }
        Ok(target)
    }

    /// The notes of a layer, as they are on the disk now. A folder that is not there has none.
    ///
    /// # Errors
    /// When the folder cannot be read, or the call is cancelled.
    pub fn view(&self, layer: Layer, cancel: &CancellationToken) -> Result<LayerView, FileError> {
        let folder = self.place(layer, None, FileAxis::Read)?;
        if !folder.path.is_dir() {
            return Ok(LayerView::default());
        }
        let (mut slugs, mut passed_over) = (vec![], vec![]);
        let mut next = Some(0);
        while let Some(offset) = next {
            let request = ListRequest { offset, entries_max: NAMES_AT_ONCE };
            let listing = self.workspace.list(&folder, request, cancel)?;
            // A folder that shrinks meanwhile must not be looked at for ever.
            next = listing.next_offset.filter(|next| *next > offset);
            for entry in listing.entries.into_iter().filter(|entry| entry.mark.is_empty()) {
                let Some(stem) = entry.name.strip_suffix(".md") else { continue };
                match Slug::parse(stem) {
                    Ok(slug) => slugs.push(slug),
                    Err(_) if entry.name == INDEX_FILE => {}
                    Err(_) if passed_over.len() < PASSED_OVER_MAX => passed_over.push(entry.name),
                    Err(_) => {}
                }
            }
        }
        slugs.sort();
        let more = slugs.len().saturating_sub(NOTES_MAX);
        slugs.truncate(NOTES_MAX);
        let mut heads = vec![];
        for slug in slugs {
            if cancel.is_cancelled() {
                return Err(FileError::Cancelled);
            }
            let target = in_folder(&folder, &slug.file_name());
            // One that is gone by now, or that nobody may read, is in no index.
            if let Ok(text) = self.workspace.text(&target, HEAD_BYTES_MAX) {
                heads.push(Head::read(slug, &text));
            }
        }
        Ok(LayerView { heads, more, passed_over })
    }

    /// The whole file of a note, as text.
    ///
    /// # Errors
    /// When there is none of this name; then near ones are named.
    pub fn read(&self, layer: Layer, slug: &Slug, cancel: &CancellationToken) -> Result<String, FileError> {
        let target = self.place(layer, Some(slug), FileAxis::Read)?;
        match self.workspace.text(&target, FILE_BYTES_MAX) {
            Ok(text) => Ok(text),
            Err(_) if !target.path.exists() => Err(self.unknown(layer, slug, cancel)),
            Err(error) => Err(error),
        }
    }

    /// The text that the note's file would have; what another hand wrote into its head stays.
    #[must_use]
    pub fn file_text(&self, target: &Target, note: &Note) -> String {
        note.file_text(self.workspace.text(target, FILE_BYTES_MAX).ok().as_deref())
    }

    /// Keeps a note, in the place of one with the same slug.
    ///
    /// # Errors
    /// When it cannot be written, another note's slug differs by case alone, or the memory is full. Nothing is changed
    /// then.
    pub fn save(
        &self,
        layer: Layer,
        target: &Target,
        note: &Note,
        cancel: &CancellationToken,
    ) -> Result<Change, FileError> {
        let _lock = self.workspace.lock(LOCK)?;
        let view = self.view(layer, cancel)?;
        let slugs = || view.heads.iter().map(|head| &head.slug);
        if let Some(other) = slugs().find(|slug| **slug != note.slug && slug.is_alike(&note.slug)) {
            let message = format!("there is `{other}` already, and `{}` differs by case alone", note.slug);
            let error = FileError::failed(message).hint("use the one that is there, or another slug");
            return Err(error.suggest(vec![other.to_string()]));
        }
        if view.heads.len() >= NOTES_MAX && !slugs().any(|slug| *slug == note.slug) {
            let message = format!("the {layer} memory holds {NOTES_MAX} notes, the most it can");
            return Err(FileError::failed(message).hint("forget what is not needed any more"));
        }
        let written = self.workspace.write_whole(target, &self.file_text(target, note), None)?;
        let index_error = self.indexed(layer, cancel);
        Ok(Change { path: self.workspace.display(&target.path), diff: written.diff.text, index_error })
    }

    /// Removes a note.
    ///
    /// # Errors
    /// When there is none of this name, or it cannot be removed.
    pub fn delete(
        &self,
        layer: Layer,
        target: &Target,
        slug: &Slug,
        cancel: &CancellationToken,
    ) -> Result<Change, FileError> {
        let _lock = self.workspace.lock(LOCK)?;
        let diff = match self.workspace.delete(target)? {
            Deleted::Nothing => return Err(self.unknown(layer, slug, cancel)),
            Deleted::Link => String::new(),
            Deleted::File { diff } => diff.text,
        };
        let index_error = self.indexed(layer, cancel);
        Ok(Change { path: self.workspace.display(&target.path), diff, index_error })
    }

    /// Makes the index of a layer again, from the files that are there. Returns what it holds.
    ///
    /// # Errors
    /// When they cannot be read, or the index cannot be written.
    pub fn sync(&self, layer: Layer, cancel: &CancellationToken) -> Result<LayerView, FileError> {
        let _lock = self.workspace.lock(LOCK)?;
        self.write_index(layer, cancel)
    }

    /// Runs `change` while nobody else changes a memory of this project.
    ///
    /// # Errors
    /// When the lock cannot be had, and what `change` gives.
    pub fn alone<T>(&self, change: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
        let _lock = self.workspace.lock(LOCK)?;
        change()
    }

    /// The indexes of both layers as a prompt shows them. A layer that cannot be read says why.
    #[must_use]
    pub fn prompt(&self) -> Prompt {
        let cancel = CancellationToken::new();
        let mut prompt = Prompt::default();
        for layer in Layer::ALL {
            let view = match self.view(layer, &cancel) {
                Ok(view) => view,
                Err(error) => {
                    prompt
                        .text
                        .push_str(&readable(&format!("# Memory Index ({layer})\n\n(unreadable: {error})\n")));
                    continue;
                }
            };
            prompt.notes += view.heads.len();
            let text = prompt_view(layer, &self.agent, &view.heads, view.more);
            prompt.text.push_str(&readable(&text));
        }
        prompt
    }

    fn indexed(&self, layer: Layer, cancel: &CancellationToken) -> Option<String> {
        self.write_index(layer, cancel).err().map(|error| error.to_string())
    }

    /// Under the lock.
    fn write_index(&self, layer: Layer, cancel: &CancellationToken) -> Result<LayerView, FileError> {
        let view = self.view(layer, cancel)?;
        let lines: Vec<String> = view.heads.iter().map(Head::line).collect();
        let text = index_text(HEADER, &lines);
        let index = in_folder(&self.place(layer, None, FileAxis::Write)?, INDEX_FILE);
        if self.workspace.text(&index, FILE_BYTES_MAX).ok().as_deref() != Some(text.as_str()) {
            self.workspace.write_whole(&index, &text, None)?;
        }
        Ok(view)
    }

    fn unknown(&self, layer: Layer, slug: &Slug, cancel: &CancellationToken) -> FileError {
        let heads = self.view(layer, cancel).map(|view| view.heads).unwrap_or_default();
        let near = nearest(slug.as_str(), heads.iter().map(|head| head.slug.as_str()));
        FileError::failed(format!("nothing is remembered as `{slug}` in the {layer} memory"))
            .hint("`list_memory` lists what is")
            .suggest(near)
    }
}

/// What of a memory stands in a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// Both indexes.
    pub text: String,
    /// How many notes there are.
    pub notes: usize,
}

fn in_folder(folder: &Target, name: &str) -> Target {
    let asked = format!("{}/{name}", folder.asked);
    Target { asked, path: folder.path.join(name), same_as: None, link: None }
}

/// Where cases are not told apart, the stored name may have others.
fn is_alike(path: &std::path::Path, expected: &std::path::Path) -> bool {
    path.as_os_str().eq_ignore_ascii_case(expected.as_os_str())
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
