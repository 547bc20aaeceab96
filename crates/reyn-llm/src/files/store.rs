//! The cache folder: what is in it, and whether it is sound.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalogue::{Catalogue, CatalogueError, FileEntry, ModelFile, gigabytes};
use super::content::sha256_of;
use crate::off_thread::off_thread;

/// The models of a catalogue in a folder.
#[derive(Debug, Clone)]
pub struct ModelStore {
    pub(super) folder: PathBuf,
    pub(super) catalogue: Catalogue,
    pub(super) python: PathBuf,
}

/// A model and what of it is in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredModel<'a> {
    /// The model.
    pub model: &'a ModelFile,
    /// Where its files are or would be, in the order of the list.
    pub paths: Vec<PathBuf>,
    /// What is there.
    pub state: FileState,
}

/// How much of a model is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// All of it.
    Present,
    /// A part that the next fetch goes on from, in bytes.
    Partial(u64),
    /// Nothing.
    Absent,
}

/// Why a model file cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// The catalogue does not know it.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The cache folder cannot be used.
    #[error("cannot use `{}`: {error}", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Not enough space.
    #[error("`{id}` needs {} GB more in `{}` and {} GB are free", gigabytes(*needed), folder.display(), gigabytes(*free))]
    NoSpace {
        /// The model.
        id: String,
        /// Where.
        folder: PathBuf,
        /// Bytes that are still to come, with some to spare.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// Somebody else fetches it.
    #[error("another process is fetching or removing `{id}`; try again when it is done")]
    Busy {
        /// The model.
        id: String,
    },
    /// Every source failed; each with its reason.
    #[error(
        "`{id}` could not be fetched:\n{}\non a machine without a network: `reyn models pull {id} --from FILE`",
        failures.join("\n")
    )]
    NoSource {
        /// The model.
        id: String,
        /// One line for each source.
        failures: Vec<String>,
    },
    /// A file given by hand is not the model.
    #[error("`{}` is not `{id}`: {problem}", path.display())]
    NotTheModel {
        /// The model.
        id: String,
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is not there.
    #[error("`{id}` is not there; fetch it with `reyn models pull {id}`")]
    Absent {
        /// The model.
        id: String,
    },
    /// What is there is damaged.
    #[error("`{}` is damaged: {problem}; `reyn models rm {id}`, then `reyn models pull {id}`", path.display())]
    Damaged {
        /// The model.
        id: String,
        /// Its file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// The right to change a model's files; held until the last copy is dropped.
pub(super) type Claim = Arc<File>;

impl ModelStore {
    /// The models of `catalogue` in `folder`, which is made when the first one is fetched.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, catalogue: Catalogue) -> Self {
        Self { folder: folder.into(), catalogue, python: PathBuf::from("python3") }
    }

    /// Calls pip with this Python instead of `python3`.
    #[must_use]
    pub fn with_python(self, python: impl Into<PathBuf>) -> Self {
        Self { python: python.into(), ..self }
    }

    /// What the store can hold.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Every model with what of it is there.
    #[must_use]
    pub fn list(&self) -> Vec<StoredModel<'_>> {
        self.catalogue.models.iter().map(|model| self.stored(model)).collect()
    }

    /// One model with what of it is there. Looks at sizes, not at the hash.
    pub fn status(&self, id: &str) -> Result<StoredModel<'_>, ModelFileError> {
        Ok(self.stored(self.catalogue.model(id)?))
    }

    /// Reads all its files and checks their hashes; gives where they are.
    pub async fn verify(&self, id: &str) -> Result<Vec<PathBuf>, ModelFileError> {
        let model = self.catalogue.model(id)?;
        for file in &model.files {
            let path = self.path(file);
            if !path.is_file() {
                return Err(ModelFileError::Absent { id: id.to_owned() });
            }
            let read = path.clone();
            match off_thread(move |wanted| sha256_of(&read, wanted)).await {
                Ok(found) if found == file.sha256 => {}
                Ok(found) => {
                    let problem = wrong_hash(&found, &file.sha256);
                    return Err(ModelFileError::Damaged { id: id.to_owned(), path, problem });
                }
                Err(error) => return Err(ModelFileError::Folder { path, error }),
            }
        }
        Ok(self.paths(model))
    }

    /// Removes a model and what was begun of it; says whether there was anything.
    pub fn rm(&self, id: &str) -> Result<bool, ModelFileError> {
        let model = self.catalogue.model(id)?;
        if !self.folder.is_dir() {
            return Ok(false);
        }
        let _claim = self.claim(model)?;
        let mut found = vec![];
        for file in &model.files {
            found.extend(self.leftovers(file)?);
            found.extend(Some(self.path(file)).filter(|path| path.exists()));
        }
        found.iter().try_for_each(|path| remove(path))?;
        Ok(!found.is_empty())
    }

    /// Where a file is or would be.
    #[must_use]
    pub fn path(&self, file: &FileEntry) -> PathBuf {
        self.folder.join(&file.sha256)
    }

    /// Where all files of a model are or would be.
    #[must_use]
    pub fn paths(&self, model: &ModelFile) -> Vec<PathBuf> {
        model.files.iter().map(|file| self.path(file)).collect()
    }

    fn stored<'a>(&self, model: &'a ModelFile) -> StoredModel<'a> {
        let is_whole = |file: &FileEntry| bytes_of(&self.path(file)) == Some(file.bytes);
        let here = |file: &FileEntry| if is_whole(file) { file.bytes } else { self.begun(file) };
        let state = if model.files.iter().all(is_whole) {
            FileState::Present
        } else {
            match model.files.iter().map(here).sum() {
                0 => FileState::Absent,
                bytes => FileState::Partial(bytes),
            }
        };
        StoredModel { model, paths: self.paths(model), state }
    }

    /// The most that a fetch has begun of a file, in bytes.
    fn begun(&self, file: &FileEntry) -> u64 {
        let begun = self.leftovers(file).unwrap_or_default();
        begun.iter().filter_map(|path| bytes_of(path)).max().unwrap_or(0)
    }

    /// What fetches have begun: everything named `<sha256>.part…`.
    pub(super) fn leftovers(&self, file: &FileEntry) -> Result<Vec<PathBuf>, ModelFileError> {
        let start = format!("{}.part", file.sha256);
        let listed = fs::read_dir(&self.folder).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
        });
        let paths = listed.map_err(|error| folder_error(&self.folder, error))?;
        let is_begun = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&start))
        };
        Ok(paths.into_iter().filter(is_begun).collect())
    }

    /// Takes the right to change a model's files.
    pub(super) fn claim(&self, model: &ModelFile) -> Result<Claim, ModelFileError> {
        let path = self.folder.join(format!("{}.lock", model.first().sha256));
        let opened = File::options().create(true).truncate(false).write(true).open(&path);
        let file = opened.map_err(|error| folder_error(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(Arc::new(file)),
            Err(TryLockError::WouldBlock) => Err(ModelFileError::Busy { id: model.id.clone() }),
            Err(TryLockError::Error(error)) => Err(folder_error(&path, error)),
        }
    }
}

fn bytes_of(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| file.len())
}

/// Removes a file, or a folder with all it holds.
pub(super) fn remove(path: &Path) -> Result<(), ModelFileError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(|error| folder_error(path, error))
}

pub(super) fn folder_error(path: &Path, error: io::Error) -> ModelFileError {
    ModelFileError::Folder { path: path.to_owned(), error }
}

pub(super) fn wrong_hash(found: &str, expected: &str) -> String {
    format!("its sha256 is {found}, not {expected}")
}
