//! `sources.yaml`: what each source is, for people and prompts. The rows are in the index files, and so is the
//! truth about them: a source whose entry is missing is listed from its folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::atomic_file;
use crate::bounds::{MANIFEST_BYTES_MAX, WAIT_MS_MAX};
use crate::error::IndexError;

const FILE: &str = "sources.yaml";
const LOCK: &str = ".lock";

/// An entry of the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) path: String,
    #[serde(default = "sqlite")]
    pub(super) backend: String,
    #[serde(default)]
    pub(super) chunk_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_indexed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) embedding_model: Option<String>,
}

fn sqlite() -> String {
    "sqlite".to_owned()
}

impl Entry {
    /// What is said of a source that nobody described.
    pub(super) fn of(name: &str) -> Self {
        Self {
            description: format!("Index of source '{name}'"),
            path: "(unknown)".to_owned(),
            backend: sqlite(),
            chunk_count: 0,
            last_indexed: None,
            embedding_model: None,
        }
    }
}

/// The right to change the folder of all sources, until it is dropped.
pub(super) struct Turn(#[expect(dead_code, reason = "holds the lock")] File);

impl Turn {
    /// Waits for it, at most [`WAIT_MS_MAX`].
    pub(super) fn wait(root: &Path) -> Result<Self, IndexError> {
        let path = root.join(LOCK);
        let fail = |source| IndexError::Io { act: "lock", path: path.clone(), source };
        fs::create_dir_all(root).map_err(|source| IndexError::Io {
            act: "make",
            path: root.to_owned(),
            source,
        })?;
        let file = File::options().create(true).append(true).open(&path).map_err(fail)?;
        let until = Instant::now() + Duration::from_millis(WAIT_MS_MAX);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(fs::TryLockError::WouldBlock) => {
                    return Err(IndexError::Locked { name: FILE.to_owned(), waited_ms: WAIT_MS_MAX });
                }
                Err(fs::TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
    }
}

/// All entries; none when there is no manifest.
pub(super) fn read(root: &Path) -> Result<BTreeMap<String, Entry>, IndexError> {
    let path = root.join(FILE);
    let fail = |source| IndexError::Io { act: "read", path: path.clone(), source };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(fail(error)),
    };
    let mut text = String::new();
    file.take(MANIFEST_BYTES_MAX).read_to_string(&mut text).map_err(fail)?;
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    serde_saphyr::from_str(&text).map_err(|error| IndexError::Manifest { path, detail: error.to_string() })
}

/// Changes one entry: `change` gets it or what is said of one that nobody described. `None` removes it.
pub(super) fn change(
    root: &Path,
    name: &str,
    change: impl FnOnce(Entry) -> Option<Entry>,
) -> Result<(), IndexError> {
    let turn = Turn::wait(root)?;
    let mut entries = read(root)?;
    let before = entries.get(name).cloned();
    let after = change(before.clone().unwrap_or_else(|| Entry::of(name)));
    if after == before {
        return Ok(());
    }
    match after {
        Some(entry) => entries.insert(name.to_owned(), entry),
        None => entries.remove(name),
    };
    let path = root.join(FILE);
    let text = serde_saphyr::to_string(&entries)
        .map_err(|error| IndexError::Manifest { path: path.clone(), detail: error.to_string() })?;
    atomic_file::put(&path, text.as_bytes()).map_err(|source| IndexError::Io {
        act: "write",
        path,
        source,
    })?;
    drop(turn);
    Ok(())
}
