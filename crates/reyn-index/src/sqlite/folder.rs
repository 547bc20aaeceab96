//! The folders of sources: listing them, and dropping one in such a way that a writer of the same moment
//! either comes before or makes a new one.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::manifest::{self, Entry, Turn};
use super::schema::Set;
use super::source::{Changed, FILE, Source};
use super::{SqliteStore, meta, snapshot};
use crate::bounds::SOURCES_MAX;
use crate::error::IndexError;
use crate::source_name::SourceName;
use crate::store::SourceEntry;

/// What the name of a folder on its way out begins with. No source's name begins with a dot.
const DROPPED_PREFIX: &str = ".dropped-";

/// The sources that have an index file, by name.
pub(super) fn names(root: &Path) -> Result<Vec<SourceName>, IndexError> {
    let fail = |source| IndexError::Io { act: "list", path: root.to_owned(), source };
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(fail(error)),
    };
    let mut names = vec![];
    for entry in entries.take(SOURCES_MAX) {
        let name = entry.map_err(fail)?.file_name();
        let Some(name) = name.to_str().and_then(|name| SourceName::new(name).ok()) else { continue };
        if root.join(name.as_str()).join(FILE).exists() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Every source with what the manifest says and, where it opens, what its file says.
pub(super) fn entries(store: &SqliteStore) -> Result<Vec<SourceEntry>, IndexError> {
    let mut known: BTreeMap<String, Entry> = manifest::read(&store.root)?;
    let mut entries = vec![];
    for name in names(&store.root)? {
        let mut entry = known.remove(name.as_str()).unwrap_or_else(|| Entry::of(name.as_str()));
        let facts = store
            .look(&name, |view| Ok((view.rows()?, view.meta.last_indexed(), view.meta.model(Set::Live))));
        match facts {
            Ok((rows, last_indexed, model)) => {
                entry.chunk_count = rows;
                entry.last_indexed = last_indexed;
                entry.embedding_model = model.map(|model| model.name);
            }
            Err(IndexError::UnknownSource { .. }) => continue,
            // A damaged source is still one that can be dropped.
            Err(_) => {}
        }
        entries.push(SourceEntry {
            name,
            description: entry.description,
            path: entry.path,
            rows: entry.chunk_count,
            last_indexed: entry.last_indexed,
            embedding_model: entry.embedding_model,
        });
    }
    Ok(entries)
}

/// Bytes of the files of a source.
pub(super) fn bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.take(100).filter_map(|entry| entry.ok()?.metadata().ok()).map(|facts| facts.len()).sum()
}

/// Removes a source. A file that cannot be opened as an index is removed all the same.
pub(super) fn drop_source(store: &SqliteStore, name: &SourceName) -> Result<u64, IndexError> {
    match store.source(name, false) {
        Ok(None) => {
            // A folder without an index: what an indexer left that stopped before its first write.
            let turn = store.folder(name).exists().then(|| Turn::wait(&store.root)).transpose()?;
            if turn.is_some() && !store.folder(name).join(FILE).exists() {
                move_out(&store.root, &store.folder(name))?;
            }
            Ok(0)
        }
        Ok(Some(source)) => {
            // From here on no writer adds to this file.
            let marked = source.change(|connection, _| {
                let rows = snapshot::number(connection, "SELECT count(*) FROM chunks", source.faults());
                meta::set_dropped(connection, source.faults())?;
                Ok(rows)
            });
            let rows = match marked {
                Ok(Changed::Done(Ok(rows))) => u64::try_from(rows).unwrap_or(0),
                Ok(Changed::Dropped) => 0,
                // Neither can be marked, and both are what one drops a source for.
                Ok(Changed::Done(Err(IndexError::Corrupt { .. } | IndexError::DiskFull { .. })))
                | Err(IndexError::Corrupt { .. } | IndexError::DiskFull { .. }) => 0,
                Ok(Changed::Done(Err(error))) | Err(error) => return Err(error),
            };
            remove_dropped(&store.root, &source)?;
            Ok(rows)
        }
        Err(IndexError::Corrupt { .. } | IndexError::Newer { .. }) => {
            let _turn = Turn::wait(&store.root)?;
            move_out(&store.root, &store.folder(name))?;
            Ok(0)
        }
        Err(error) => Err(error),
    }
}

/// Removes the folder of a source that was marked as dropped, unless somebody did and made a new one.
pub(super) fn remove_dropped(root: &Path, source: &Source) -> Result<(), IndexError> {
    let _turn = Turn::wait(root)?;
    // The open file keeps its number from being given to another one.
    let Some(folder) = source.path().parent().filter(|_| source.is_in_place()) else { return Ok(()) };
    move_out(root, folder)
}

/// Takes a folder out of sight in one step, then removes it, and what earlier ones left.
fn move_out(root: &Path, folder: &Path) -> Result<(), IndexError> {
    let fail = |source| IndexError::Io { act: "remove", path: folder.to_owned(), source };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let place = (0..1000)
        .map(|number| root.join(format!("{DROPPED_PREFIX}{name}-{}-{number}", std::process::id())))
        .find(|place| !place.exists())
        .ok_or_else(|| fail(ErrorKind::AlreadyExists.into()))?;
    match fs::rename(folder, &place) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fail(error)),
    }
    let left = fs::read_dir(root).map_err(fail)?;
    for entry in left.take(SOURCES_MAX).filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(DROPPED_PREFIX) {
            fs::remove_dir_all(entry.path()).map_err(fail)?;
        }
    }
    Ok(())
}
