//! What a person does with the kept answers outside a session: lists them, takes one back, takes all back.
//!
//! Invariant: a file that cannot be read whole is an error and is left as it is.

use std::collections::BTreeMap;

use reyn_core::permission::{Approval, Zones};

use super::{ACTOR, ApprovalError, ApprovalStore, io, replace};

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The key as it is written.
    pub key: String,
    /// Yes or no.
    pub is_allowed: bool,
    /// What it answers; `None` when it has no effect: another subsystem's, or no key that is understood.
    pub approval: Option<Approval>,
}

/// One answer that counts in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenAnswer {
    /// Its key, as the file writes it.
    pub key: String,
    /// Yes or no.
    pub is_allowed: bool,
    /// Whether later sessions have it too.
    pub is_kept: bool,
}

impl ApprovalStore {
    /// Every answer of the file, sorted by key. A file that does not exist holds none.
    ///
    /// # Errors
    /// When the file is there but cannot be read.
    pub fn list(&mut self, zones: &Zones) -> Result<Vec<KeptAnswer>, ApprovalError> {
        self.refresh()?;
        let answer = |(key, is_allowed): (&String, &bool)| KeptAnswer {
            key: key.clone(),
            is_allowed: *is_allowed,
            approval: Approval::from_key(key, *is_allowed, ACTOR, zones),
        };
        Ok(self.kept.iter().map(answer).collect())
    }

    /// Every answer that counts in this session: first what was said in it, then what is kept.
    ///
    /// # Errors
    /// When the file is there but cannot be read.
    pub fn given(&mut self, zones: &Zones) -> Result<Vec<GivenAnswer>, ApprovalError> {
        let kept = self.list(zones)?.into_iter().filter(|answer| answer.approval.is_some());
        let kept =
            kept.map(|KeptAnswer { key, is_allowed, .. }| GivenAnswer { key, is_allowed, is_kept: true });
        let said = self.session.iter().map(|approval| GivenAnswer {
            key: approval.key(ACTOR, zones),
            is_allowed: approval.is_allowed,
            is_kept: false,
        });
        Ok(said.chain(kept).collect())
    }

    /// Takes an answer back wherever it is: of this session, and kept. Returns whether there was one.
    ///
    /// # Errors
    /// When the file cannot be read or replaced, or another process is at it.
    pub fn take_back(&mut self, key: &str, zones: &Zones) -> Result<bool, ApprovalError> {
        let before = self.session.len();
        self.session.retain(|approval| approval.key(ACTOR, zones) != key);
        Ok(self.revoke(key)?.is_some() || self.session.len() < before)
    }

    /// Takes an answer out of the file, whatever it is about. Returns what was said; `None` when no line
    /// has this key.
    ///
    /// # Errors
    /// When the file cannot be read or replaced, or another process is at it.
    pub fn revoke(&mut self, key: &str) -> Result<Option<bool>, ApprovalError> {
        self.refresh()?;
        // Looked at before the lock is made, which needs a folder that may not be there.
        if !self.kept.contains_key(key) {
            return Ok(None);
        }
        let _lock = self.lock()?;
        self.refresh()?;
        let mut kept = self.kept.clone();
        let said = kept.remove(key);
        self.put(kept)?;
        Ok(said)
    }

    /// Takes every answer out of the file. Returns how many there were.
    ///
    /// # Errors
    /// When the file cannot be read or replaced, or another process is at it.
    pub fn clear(&mut self) -> Result<usize, ApprovalError> {
        self.refresh()?;
        if self.kept.is_empty() {
            return Ok(0);
        }
        let _lock = self.lock()?;
        self.refresh()?;
        let count = self.kept.len();
        self.put(BTreeMap::new())?;
        Ok(count)
    }

    /// Replaces the file. The lock is held by whoever calls.
    fn put(&mut self, kept: BTreeMap<String, bool>) -> Result<(), ApprovalError> {
        let text = if kept.is_empty() {
            String::new()
        } else {
            serde_saphyr::to_string(&kept)
                .map_err(|error| io("write", &self.path, std::io::Error::other(error.to_string())))?
        };
        replace(&self.path, text.as_bytes()).map_err(|source| io("write", &self.path, source))?;
        (self.kept, self.text) = (kept, text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::permission::{FileOp, Scope};
    use std::path::PathBuf;

    const TWO: &str = "chat_router/file.write/docs/: true\ncron/file.write/a: false\n";

    /// A store in a folder of its own whose file says `text`.
    fn store(text: &str) -> (tempfile::TempDir, PathBuf, ApprovalStore) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("approvals.yaml");
        std::fs::write(&path, text).unwrap();
        let store = ApprovalStore::new(path.clone());
        (dir, path, store)
    }

    fn zones() -> Zones {
        Zones::new("/w".into(), vec![])
    }

    #[test]
    fn every_line_is_listed_and_what_has_no_effect_is_known() {
        let (_dir, _, mut store) = store(TWO);
        let docs = Approval::file(FileOp::Write, "/w/docs".into(), Scope::Recursive, true);
        let expected = [
            KeptAnswer { key: "chat_router/file.write/docs/".into(), is_allowed: true, approval: Some(docs) },
            KeptAnswer { key: "cron/file.write/a".into(), is_allowed: false, approval: None },
        ];
        assert_eq!(store.list(&zones()).unwrap(), expected);
    }

    #[test]
    fn a_revoke_takes_one_line_and_leaves_the_others() {
        let (_dir, path, mut store) = store(TWO);
        assert_eq!(store.revoke("chat_router/file.write/docs/").unwrap(), Some(true));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "cron/file.write/a: false\n");
        assert_eq!(store.revoke("chat_router/file.write/docs/").unwrap(), None);
    }

    #[test]
    fn after_a_clear_the_file_says_nothing_and_can_be_read() {
        let (_dir, path, mut store) = store(TWO);
        assert_eq!(store.clear().unwrap(), 2);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        assert_eq!(ApprovalStore::new(path).list(&zones()).unwrap(), []);
        assert_eq!(store.clear().unwrap(), 0);
    }

    #[test]
    fn without_a_file_nothing_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = ApprovalStore::new(dir.path().join(".reyn/approvals.yaml"));
        assert_eq!(store.list(&zones()).unwrap(), []);
        assert_eq!((store.revoke("a").unwrap(), store.clear().unwrap()), (None, 0));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_is_wrong_is_left_as_it_is() {
        let text = "chat_router/file.write/docs/: true\nchat_router/file.write/a: maybe\n";
        let (_dir, path, mut store) = store(text);
        assert!(store.revoke("chat_router/file.write/docs/").is_err());
        assert!(store.clear().is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn while_another_process_writes_nothing_is_taken_back() {
        let (dir, path, mut store) = store(TWO);
        let lock = ApprovalStore::new(dir.path().join("approvals.yaml")).lock().unwrap();
        assert!(store.revoke("cron/file.write/a").is_err());
        assert!(store.clear().is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), TWO);
        drop(lock);
        assert_eq!(store.clear().unwrap(), 2);
    }

    #[test]
    fn nothing_is_taken_back_through_a_link() {
        let (dir, path, mut store) = store(TWO);
        let theirs = dir.path().join("theirs");
        std::fs::rename(&path, &theirs).unwrap();
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        assert!(store.clear().is_err());
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), TWO);
    }
}
