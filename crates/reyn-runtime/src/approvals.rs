//! `.reyn/approvals.yaml`: what people said "always" to. Read again whenever it changed, so that a revoke
//! reaches a running session.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use reyn_core::limits::CONFIG_FILE_BYTES_MAX;
use reyn_core::permission::{Approval, Approvals, Zones};

/// The subsystem whose answers these are; another one's grant is no grant here.
pub const ACTOR: &str = "chat_router";

/// The file and what was last read from it.
#[derive(Debug)]
pub struct ApprovalStore {
    path: PathBuf,
    seen: Option<Stamp>,
    kept: BTreeMap<String, bool>,
    session: Vec<Approval>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
}

/// The store cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// The system says no.
    #[error("cannot {what} `{path}`: {source}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// It is no map of keys to `true` or `false`.
    #[error("`{path}` is not a list of `key: true` or `key: false` lines: {reason}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
}

impl ApprovalStore {
    /// The store at `path`; nothing is read yet.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path, seen: None, kept: BTreeMap::new(), session: vec![] }
    }

    /// Everything that was said: what is kept, then what was said in this session.
    ///
    /// # Errors
    /// When the file is there but cannot be read; whoever asks then has no answers at all.
    pub fn current(&mut self, zones: &Zones) -> Result<Approvals, ApprovalError> {
        self.refresh()?;
        let kept = self.kept.iter().filter_map(|(key, yes)| Approval::from_key(key, *yes, ACTOR, zones));
        Ok(Approvals(kept.chain(self.session.iter().cloned()).collect()))
    }

    /// Remembers an answer for this session.
    pub fn remember(&mut self, approval: Approval) {
        self.session.push(approval);
    }

    /// Keeps an answer in the file, beside the ones that are there.
    ///
    /// # Errors
    /// When the file cannot be read or replaced.
    pub fn keep(&mut self, approval: &Approval, zones: &Zones) -> Result<(), ApprovalError> {
        self.refresh()?;
        self.kept.insert(approval.key(ACTOR, zones), approval.is_allowed);
        let text = serde_saphyr::to_string(&self.kept).map_err(|error| ApprovalError::Malformed {
            path: self.path.clone(),
            reason: error.to_string(),
        })?;
        replace(&self.path, text.as_bytes()).map_err(|source| io("write", &self.path, source))?;
        self.seen = stamp(&self.path).map_err(|source| io("read", &self.path, source))?;
        Ok(())
    }

    fn refresh(&mut self) -> Result<(), ApprovalError> {
        let now = stamp(&self.path).map_err(|source| io("read", &self.path, source))?;
        if now == self.seen {
            return Ok(());
        }
        self.kept = match now {
            None => BTreeMap::new(),
            Some(_) => read(&self.path)?,
        };
        self.seen = now;
        Ok(())
    }
}

fn io(what: &'static str, path: &Path, source: std::io::Error) -> ApprovalError {
    ApprovalError::Io { what, path: path.to_owned(), source }
}

fn stamp(path: &Path) -> std::io::Result<Option<Stamp>> {
    match path.symlink_metadata() {
        Ok(meta) if !meta.is_file() => Err(std::io::Error::other("it is not a regular file")),
        Ok(meta) if meta.len() > CONFIG_FILE_BYTES_MAX => Err(std::io::Error::other("it is too large")),
        Ok(meta) => Ok(Some(Stamp { modified: meta.modified()?, length: meta.len() })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read(path: &Path) -> Result<BTreeMap<String, bool>, ApprovalError> {
    let text = std::fs::read_to_string(path).map_err(|source| io("read", path, source))?;
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    serde_saphyr::from_str(&text)
        .map_err(|error| ApprovalError::Malformed { path: path.to_owned(), reason: error.to_string() })
}

/// Writes a file beside the old one and puts it in its place.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let scratch = path.with_extension("yaml.new");
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&scratch)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&scratch, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::permission::{FileAxis, Scope};

    fn approval(path: &str, scope: Scope) -> Approval {
        Approval { axis: FileAxis::Write, path: path.into(), scope, is_allowed: true }
    }

    #[test]
    fn a_kept_answer_is_there_in_the_next_session_and_a_remembered_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let zones = Zones::new("/w".into(), vec![]);
        let path = dir.path().join("approvals.yaml");
        let mut store = ApprovalStore::new(path.clone());
        store.keep(&approval("/w/out", Scope::Recursive), &zones).unwrap();
        store.remember(approval("/w/once", Scope::JustPath));
        assert_eq!(store.current(&zones).unwrap().0.len(), 2);
        let mut next = ApprovalStore::new(path.clone());
        assert_eq!(next.current(&zones).unwrap(), Approvals(vec![approval("/w/out", Scope::Recursive)]));
        assert_eq!(std::fs::read_to_string(path).unwrap().trim(), "chat_router/file.write/out/: true");
    }

    #[test]
    fn a_revoke_by_hand_reaches_a_running_session() {
        let dir = tempfile::tempdir().unwrap();
        let zones = Zones::new("/w".into(), vec![]);
        let path = dir.path().join("approvals.yaml");
        let mut store = ApprovalStore::new(path.clone());
        store.keep(&approval("/w/out", Scope::Recursive), &zones).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(store.current(&zones).unwrap(), Approvals::default());
        std::fs::write(&path, "chat_router/file.write/other: false\n").unwrap();
        assert_eq!(
            store.current(&zones).unwrap().answer(FileAxis::Write, Path::new("/w/other")),
            Some(false)
        );
    }

    #[test]
    fn an_unreadable_store_is_an_error_and_not_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let zones = Zones::new("/w".into(), vec![]);
        let path = dir.path().join("approvals.yaml");
        for text in ["[1, 2]", "a: [", "a: maybe"] {
            std::fs::write(&path, text).unwrap();
            let error = ApprovalStore::new(path.clone()).current(&zones).unwrap_err();
            assert!(matches!(error, ApprovalError::Malformed { .. }), "{text}: {error}");
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/hosts", &path).unwrap();
        assert!(matches!(ApprovalStore::new(path).current(&zones), Err(ApprovalError::Io { .. })));
    }
}
