//! Keeping a source in step with files: what is new is embedded and written, what is gone is removed, and what is
//! there already costs nothing.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use reyn_core::embedding::ModelIdentity;

use crate::bounds::INDEXING_BATCH_ROWS;
use crate::chunk::{Chunk, Metadata, derived_hash};
use crate::error::IndexError;
use crate::filter::is_below;
use crate::source_name::SourceName;
use crate::split::{Limits, TextKind, split};
use crate::store::{Removal, VectorStore, WriteOptions};

/// A file that is to be found.
#[derive(Debug, Clone, Copy)]
pub struct FileText<'a> {
    /// Where it is, as results and filters name it.
    pub path: &'a str,
    /// What it says.
    pub text: &'a str,
    /// Where it may be cut.
    pub kind: TextKind,
    /// Whether it came from outside.
    pub is_external: bool,
}

/// What came of indexing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Indexed {
    /// Files looked at.
    pub files: usize,
    /// Pieces that are new.
    pub added: usize,
    /// Pieces that were there.
    pub unchanged: usize,
    /// Pieces that are gone.
    pub removed: u64,
}

/// Why indexing stopped. What was written before stays.
#[derive(Debug, thiserror::Error)]
pub enum IndexingError<E> {
    /// The store refuses.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// There are no vectors.
    #[error("{0}")]
    Embed(E),
}

/// Makes the vectors of texts, in their order, and says which model made them; `None`: without vectors, found by
/// words alone.
pub type Embed<'a, E> = dyn FnMut(&[String]) -> Result<Option<(ModelIdentity, Vec<Vec<f32>>)>, E> + 'a;

/// One run over files.
pub struct Indexing<'a, E> {
    store: &'a dyn VectorStore,
    source: SourceName,
    description: Option<String>,
    limits: Limits<'a>,
    embed: &'a mut Embed<'a, E>,
    known: BTreeMap<String, Vec<String>>,
    seen: BTreeSet<String>,
    waiting: Vec<Chunk>,
    /// What is embedded of each piece that waits: it and the headings above it.
    texts: Vec<String>,
    /// Hashes of pieces that go once those that take their place are written.
    gone: Vec<String>,
    indexed: Indexed,
}

impl<'a, E> Indexing<'a, E> {
    /// Begins a run. `description` is what the source is; `None` keeps what is known.
    ///
    /// # Errors
    /// What the database says.
    pub fn begin(
        store: &'a dyn VectorStore,
        source: SourceName,
        description: Option<String>,
        limits: Limits<'a>,
        embed: &'a mut Embed<'a, E>,
    ) -> Result<Self, IndexError> {
        let known = store.content_hashes(&source)?;
        Ok(Self {
            store,
            source,
            description,
            limits,
            embed,
            known,
            seen: BTreeSet::new(),
            waiting: vec![],
            texts: vec![],
            gone: vec![],
            indexed: Indexed::default(),
        })
    }

    /// Takes a file; what is new of it is written at the latest by [`Self::finish`].
    ///
    /// # Errors
    /// When vectors cannot be had or written.
    pub fn add(&mut self, file: FileText<'_>) -> Result<(), IndexingError<E>> {
        self.indexed.files += 1;
        self.seen.insert(file.path.to_owned());
        let old: HashSet<String> =
            self.known.get(file.path).map(|hashes| hashes.iter().cloned().collect()).unwrap_or_default();
        let mut now = HashSet::new();
        for (at, piece) in split(file.text, file.kind, &self.limits).into_iter().enumerate() {
            let text = file.text[piece.bytes.clone()].trim();
            let context = piece.parent_context.as_deref().unwrap_or_default();
            let whole = if context.is_empty() { text.to_owned() } else { format!("{context}\n{text}") };
            let hash = derived_hash(file.path, &whole);
            // A rule or a row of brackets says nothing that anybody looks for.
            if !text.contains(char::is_alphanumeric) || !now.insert(hash.clone()) {
                continue;
            }
            if old.contains(&hash) {
                self.indexed.unchanged += 1;
                continue;
            }
            let metadata = Metadata {
                source_path: file.path.to_owned(),
                source_type: "file".to_owned(),
                content_hash: hash,
                chunk_index: at as u64,
                size_tokens: piece.tokens as u64,
                parent_context: piece.parent_context,
                external: file.is_external,
                ..Metadata::default()
            };
            self.waiting.push(Chunk { text: text.to_owned(), vector: vec![], metadata });
            self.texts.push(whole);
            if self.waiting.len() >= INDEXING_BATCH_ROWS {
                self.write()?;
            }
        }
        self.gone.extend(old.into_iter().filter(|hash| !now.contains(hash)));
        Ok(())
    }

    /// Writes what waits, and removes files below these paths that were not added.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn finish(mut self, covered: &[String]) -> Result<Indexed, IndexingError<E>> {
        self.write()?;
        let is_covered = |path: &str| covered.iter().any(|folder| is_below(path, folder));
        let vanished = self.known.keys().filter(|path| !self.seen.contains(*path) && is_covered(path));
        for path in vanished {
            self.indexed.removed += self.store.remove(&self.source, Removal::Hashes(&self.known[path]))?;
        }
        Ok(self.indexed)
    }

    /// What came of it until now.
    pub const fn indexed(&self) -> Indexed {
        self.indexed
    }

    fn write(&mut self) -> Result<(), IndexingError<E>> {
        if !self.waiting.is_empty() {
            let embedded = (self.embed)(&self.texts).map_err(IndexingError::Embed)?;
            let (model, vectors) = embedded.map_or((None, vec![]), |(model, vectors)| (Some(model), vectors));
            for (chunk, vector) in self.waiting.iter_mut().zip(vectors) {
                chunk.vector = vector;
            }
            let options =
                WriteOptions { model, description: self.description.clone(), ..WriteOptions::default() };
            let written = self.store.write(&self.source, &self.waiting, &options)?;
            self.indexed.added += written.written;
            self.indexed.unchanged += written.skipped;
            self.waiting.clear();
            self.texts.clear();
        }
        if !self.gone.is_empty() {
            self.indexed.removed += self.store.remove(&self.source, Removal::Hashes(&self.gone))?;
            self.gone.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SqliteOptions, SqliteStore};

    fn file<'a>(path: &'a str, text: &'a str) -> FileText<'a> {
        FileText { path, text, kind: TextKind::Markdown, is_external: false }
    }

    /// Indexes files and gives what came of it, with how many texts were embedded.
    fn run(store: &SqliteStore, files: &[FileText<'_>]) -> (Indexed, usize) {
        let mut embedded = 0;
        let mut embed = |texts: &[String]| {
            embedded += texts.len();
            let model = ModelIdentity { name: "m".into(), revision: None, dimensions: 2 };
            Ok::<_, std::convert::Infallible>(Some((model, vec![vec![1.0, 0.5]; texts.len()])))
        };
        let limits = Limits { tokens: &|text| text.len() / 4, tokens_max: 100, characters_target: 60 };
        let source = SourceName::new("docs").unwrap();
        let mut indexing = Indexing::begin(store, source, None, limits, &mut embed).unwrap();
        for file in files {
            indexing.add(*file).unwrap();
        }
        let indexed = indexing.finish(&["docs".to_owned()]).unwrap();
        (indexed, embedded)
    }

    #[test]
    fn a_second_run_embeds_only_what_changed_and_removes_what_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::new(folder.path(), SqliteOptions::default());
        let one = "# One\n\nThe first paragraph is about hinges and doors.\n\nThe second one is about window frames.\n";
        let (two, other) = ("# Two\n\nApples and pears.\n", "elsewhere");
        let first = run(&store, &[file("docs/a.md", one), file("docs/b.md", two), file("c.md", other)]);
        let pieces = first.0.added;
        assert!(pieces >= 4, "{first:?}");
        assert_eq!(first, (Indexed { files: 3, added: pieces, unchanged: 0, removed: 0 }, pieces));
        let again = run(&store, &[file("docs/a.md", one), file("docs/b.md", two)]);
        assert_eq!(again, (Indexed { files: 2, added: 0, unchanged: pieces - 1, removed: 0 }, 0));
        let changed = one.replace("window frames", "roof tiles");
        let third = run(&store, &[file("docs/a.md", &changed)]);
        // One piece of `a.md` is another one now, and `b.md` is gone.
        let of_b = pieces - 1 - (third.0.unchanged + 1);
        assert_eq!((third.0.added, third.1, third.0.removed), (1, 1, 1 + of_b as u64));
        let stats = store.stats(&SourceName::new("docs").unwrap()).unwrap();
        assert_eq!(stats.rows, (third.0.unchanged + 1 + 1) as u64);
    }

    #[test]
    fn what_was_written_before_vectors_failed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::new(folder.path(), SqliteOptions::default());
        let mut calls = 0;
        let mut embed = |texts: &[String]| {
            calls += 1;
            let model = ModelIdentity { name: "m".into(), revision: None, dimensions: 1 };
            if calls > 1 { Err("no more") } else { Ok(Some((model, vec![vec![1.0]; texts.len()]))) }
        };
        let limits = Limits { tokens: &|text| text.len(), tokens_max: 1000, characters_target: 1 };
        let source = SourceName::new("docs").unwrap();
        let mut indexing = Indexing::begin(&store, source.clone(), None, limits, &mut embed).unwrap();
        let text: String = (0..INDEXING_BATCH_ROWS + 5).map(|at| format!("paragraph {at}\n\n")).collect();
        indexing.add(file("docs/a.md", &text)).unwrap();
        assert_eq!(indexing.finish(&[]).unwrap_err().to_string(), "no more");
        assert_eq!(store.stats(&source).unwrap().rows, INDEXING_BATCH_ROWS as u64);
    }
}
