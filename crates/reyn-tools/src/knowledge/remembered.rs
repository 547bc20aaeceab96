//! What is remembered, as a source of its own: notes are found by what they mean, not by their names alone.

use reyn_core::embedding::ModelIdentity;
use reyn_core::knowledge::memory_source;
use reyn_core::memory::{Layer, Note, Slug, split};
use reyn_index::split::{Limits, TextKind};
use reyn_index::{FileText, IndexError, Indexing, Removal, SourceName};
use reyn_workspace::FileError;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Knowledge;
use crate::memory::{Memory, MemoryIndex};

/// Tokens of a passage of a note at most.
const PASSAGE_TOKENS_MAX: usize = 400;
/// Characters that its passages are put together up to.
const PASSAGE_CHARACTERS: usize = 400;

fn source_of(layer: Layer, agent: &str) -> Result<SourceName, String> {
    SourceName::new(&memory_source(layer, agent)).map_err(|error| error.to_string())
}

const fn description(layer: Layer) -> &'static str {
    match layer {
        Layer::Shared => "what is remembered for everybody in this project",
        Layer::Agent => "what this agent remembers",
    }
}

/// A note on its way into a source.
struct Page {
    path: String,
    text: String,
}

impl Page {
    fn of(layer: Layer, agent: &str, slug: &Slug, [name, description, body]: [&str; 3]) -> Self {
        Self { path: path(layer, agent, slug), text: format!("# {name}\n\n{description}\n\n{body}") }
    }
}

fn path(layer: Layer, agent: &str, slug: &Slug) -> String {
    layer.folder(agent).join(slug.file_name()).display().to_string()
}

impl MemoryIndex for Knowledge {
    fn saved(&self, layer: Layer, agent: &str, note: &Note) -> Result<(), String> {
        let page = Page::of(layer, agent, &note.slug, [&note.name, &note.description, &note.body]);
        self.index_pages(&source_of(layer, agent)?, layer, &[page], &[])
    }

    fn forgotten(&self, layer: Layer, agent: &str, slug: &Slug) -> Result<(), String> {
        let removed = self.store.remove(&source_of(layer, agent)?, Removal::Path(&path(layer, agent, slug)));
        match removed {
            // What was never indexed is not found.
            Ok(_) | Err(IndexError::UnknownSource { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Knowledge {
    /// Takes into the source of a layer what its files say now, whoever wrote them. Blocks.
    ///
    /// # Errors
    /// Why search may not find all of it, in words.
    pub fn sync_memory(
        &self,
        memory: &Memory,
        layer: Layer,
        cancel: &CancellationToken,
    ) -> Result<(), String> {
        let said = |error: FileError| error.to_string();
        let source = source_of(layer, memory.agent())?;
        let view = memory.view(layer, cancel).map_err(said)?;
        if view.heads.is_empty() && matches!(self.store.stats(&source), Err(IndexError::UnknownSource { .. }))
        {
            return Ok(());
        }
        let mut pages = vec![];
        for head in &view.heads {
            let text = memory.read(layer, &head.slug, cancel).map_err(said)?;
            let told = [head.name.as_str(), head.description.as_str(), split(&text).1];
            pages.push(Page::of(layer, memory.agent(), &head.slug, told));
        }
        // Where there are more notes than are looked at, what was not seen may be there.
        let folder = layer.folder(memory.agent()).display().to_string();
        let covered = if view.more == 0 { vec![folder] } else { vec![] };
        self.index_pages(&source, layer, &pages, &covered)
    }

    /// The layer whose source this is, for an agent.
    pub(crate) fn memory_layer(source: &SourceName, agent: &str) -> Option<Layer> {
        Layer::ALL.into_iter().find(|layer| source_of(*layer, agent).is_ok_and(|own| own == *source))
    }

    fn index_pages(
        &self,
        source: &SourceName,
        layer: Layer,
        pages: &[Page],
        covered: &[String],
    ) -> Result<(), String> {
        let mut embed = |texts: &[String]| Ok::<_, String>(self.vectors_at_hand(texts));
        let limits = Limits {
            // Rather too many than too few.
            tokens: &|text| text.len().div_ceil(3),
            tokens_max: PASSAGE_TOKENS_MAX,
            characters_target: PASSAGE_CHARACTERS,
        };
        let description = Some(description(layer).to_owned());
        let begun = Indexing::begin(self.store.as_ref(), source.clone(), description, limits, &mut embed);
        let mut indexing = begun.map_err(|error| error.to_string())?;
        for Page { path, text } in pages {
            let file = FileText { path, text, kind: TextKind::Markdown, is_external: false };
            indexing.add(file).map_err(|error| error.to_string())?;
        }
        indexing.finish(covered).map(drop).map_err(|error| error.to_string())
    }

    /// Vectors, where they can be had without fetching a model; a note is remembered without them too, and found by
    /// its words.
    fn vectors_at_hand(&self, texts: &[String]) -> Option<(ModelIdentity, Vec<Vec<f32>>)> {
        let embedded =
            Handle::try_current().ok()?.block_on(self.embeddings.embed(None, texts.to_vec(), false));
        embedded.ok().map(|embedded| (embedded.model, embedded.vectors))
    }
}
