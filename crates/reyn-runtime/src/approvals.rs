//! `.reyn/approvals.yaml`: what people said "always" to. Read again for every call, so that a revoke
//! reaches a running session.

mod management;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use reyn_core::limits::CONFIG_FILE_BYTES_MAX;
use reyn_core::permission::{Approval, Approvals, SCRATCH_PREFIX, Scope, Zones};
use rustix::fs::OFlags;

pub use management::{GivenAnswer, KeptAnswer};

/// The subsystem whose answers these are; another one's grant is no grant here.
pub const ACTOR: &str = "chat_router";

/// The file and what was last read from it.
#[derive(Debug)]
pub struct ApprovalStore {
    path: PathBuf,
    /// The file's text, so that it is parsed only when it changed.
    text: String,
    kept: BTreeMap<String, bool>,
    session: Vec<Approval>,
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
    #[error(
        "`{path}` is not a list of `key: true` or `key: false` lines; mend this one, or remove the file to forget every answer: {reason}"
    )]
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
        Self { path, text: String::new(), kept: BTreeMap::new(), session: vec![] }
    }

    /// Everything that was said: first what was said in this session, which was asked only where the file
    /// had no answer, then what is kept, the nearest answer last and of two as near the no.
    ///
    /// # Errors
    /// When the file is there but cannot be read; whoever asks then has no answers at all.
    pub fn current(&mut self, zones: &Zones) -> Result<Approvals, ApprovalError> {
        self.refresh()?;
        let of_ours = |(key, yes): (&String, &bool)| Approval::from_key(key, *yes, ACTOR, zones);
        let mut kept: Vec<Approval> = self.kept.iter().filter_map(of_ours).collect();
        kept.sort_by_key(|approval| {
            (approval.depth(), approval.scope == Scope::JustPath, !approval.is_allowed)
        });
        Ok(Approvals(self.session.iter().cloned().chain(kept).collect()))
    }

    /// Remembers an answer for this session.
    pub fn remember(&mut self, approval: Approval) {
        self.session.push(approval);
    }

    /// Forgets what was refused in this session; what was allowed, and what is kept, stays.
    pub fn forget_refusals(&mut self) {
        self.session.retain(|approval| approval.is_allowed);
    }

    /// Keeps an answer in the file, beside the ones that are there. One that no line can say, such as one
    /// about a path that is no UTF-8, is remembered for this session. Returns whether it is kept.
    ///
    /// # Errors
    /// When the file cannot be read or replaced, or another process is at it.
    pub fn keep(&mut self, approval: Approval, zones: &Zones) -> Result<bool, ApprovalError> {
        let _lock = self.lock()?;
        self.refresh()?;
        let key = approval.key(ACTOR, zones);
        let mut kept = self.kept.clone();
        kept.insert(key.clone(), approval.is_allowed);
        let text = serde_saphyr::to_string(&kept).unwrap_or_default();
        let is_said = Approval::from_key(&key, approval.is_allowed, ACTOR, zones).as_ref() == Some(&approval);
        if !is_said || parse(&text, &self.path).ok().as_ref() != Some(&kept) {
            self.remember(approval);
            return Ok(false);
        }
        replace(&self.path, text.as_bytes()).map_err(|source| io("write", &self.path, source))?;
        (self.kept, self.text) = (kept, text);
        Ok(true)
    }

    /// Two processes that replace the file at the same time would lose an answer.
    fn lock(&self) -> Result<File, ApprovalError> {
        let path = self.path.with_extension("lock");
        let open = no_link().write(true).create(true).truncate(false).open(&path);
        let lock = open.map_err(|source| io("open", &path, source))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => {
                let source = std::io::Error::other("another process writes it at this moment");
                Err(io("write", &self.path, source))
            }
            Err(TryLockError::Error(source)) => Err(io("lock", &path, source)),
        }
    }

    fn refresh(&mut self) -> Result<(), ApprovalError> {
        let text = read(&self.path).map_err(|source| io("read", &self.path, source))?;
        if text != self.text {
            self.kept = parse(&text, &self.path)?;
            self.text = text;
        }
        Ok(())
    }
}

fn io(what: &'static str, path: &Path, source: std::io::Error) -> ApprovalError {
    ApprovalError::Io { what, path: path.to_owned(), source }
}

/// How the store's files are opened: never through a link, and never waiting for the other end of a pipe.
fn no_link() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    options
}

/// The file's text; empty when there is none.
fn read(path: &Path) -> std::io::Result<String> {
    let file = match no_link().read(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(CONFIG_FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > CONFIG_FILE_BYTES_MAX {
        return Err(std::io::Error::other("it is too large"));
    }
    Ok(text)
}

fn parse(text: &str, path: &Path) -> Result<BTreeMap<String, bool>, ApprovalError> {
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    serde_saphyr::from_str(text)
        .map_err(|error| ApprovalError::Malformed { path: path.to_owned(), reason: error.to_string() })
}

/// Writes a file beside the old one and puts it in its place.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let scratch = path.with_file_name(format!("{SCRATCH_PREFIX}approvals"));
    // Whoever held the lock before may have died with it half written.
    match std::fs::remove_file(&scratch) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = no_link().write(true).create_new(true).open(&scratch)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&scratch, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::permission::{FileOp, Scope};

    fn approval(path: &str, scope: Scope) -> Approval {
        Approval::file(FileOp::Write, path.into(), scope, true)
    }

    #[test]
    fn a_kept_answer_is_there_in_the_next_session_and_a_remembered_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let zones = Zones::new("/w".into(), vec![]);
        let path = dir.path().join("approvals.yaml");
        let mut store = ApprovalStore::new(path.clone());
        store.keep(approval("/w/out", Scope::Recursive), &zones).unwrap();
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
        store.keep(approval("/w/out", Scope::Recursive), &zones).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(store.current(&zones).unwrap(), Approvals::default());
        std::fs::write(&path, "chat_router/file.write/other: false\n").unwrap();
        assert_eq!(
            store.current(&zones).unwrap().answer(FileOp::Write, Path::new("/w/other"), |_| true),
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

    /// A store in a folder of its own whose file says `text`.
    fn store(text: &str) -> (tempfile::TempDir, ApprovalStore, Zones) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("approvals.yaml"), text).unwrap();
        let store = ApprovalStore::new(dir.path().join("approvals.yaml"));
        (dir, store, Zones::new("/w".into(), vec![]))
    }

    #[test]
    fn an_answer_comes_back_as_it_was_given_or_is_not_kept() {
        let long = format!("/w/{}", "x".repeat(3_000));
        for path in
            ["/", "/w", "/w/a: b", "/w/#a", "/w/a\nb: true", "/w/\u{85}\u{2028}", "/w/'\"\\", "/w/ ", &long]
        {
            for scope in [Scope::JustPath, Scope::Recursive] {
                let (dir, mut store, zones) = store("");
                let is_kept = store.keep(approval(path, scope), &zones).unwrap();
                let mut next = ApprovalStore::new(dir.path().join("approvals.yaml"));
                let expected = if is_kept { vec![approval(path, scope)] } else { vec![] };
                assert_eq!(next.current(&zones).unwrap(), Approvals(expected), "{path:?}");
                assert_eq!(
                    store.current(&zones).unwrap(),
                    Approvals(vec![approval(path, scope)]),
                    "{path:?}"
                );
            }
        }
    }

    #[test]
    fn a_path_that_is_no_text_is_kept_and_is_no_other_path() {
        use std::os::unix::ffi::OsStrExt;
        let (_dir, mut store, zones) = store("");
        let path = Path::new("/w").join(std::ffi::OsStr::from_bytes(b"a\xff"));
        let given = Approval::file(FileOp::Write, path.clone(), Scope::JustPath, true);
        assert!(store.keep(given, &zones).unwrap());
        let answers = store.current(&zones).unwrap();
        assert_eq!(answers.answer(FileOp::Write, &path, |_| true), Some(true));
        for other in ["/w/a\u{fffd}", "/w/a\\xff"] {
            assert_eq!(answers.answer(FileOp::Write, Path::new(other), |_| true), None);
        }
    }

    #[test]
    fn a_change_of_the_same_length_within_the_clocks_step_is_seen() {
        let text = [
            "file.write/a: true\nchat_router/file.write/b: false\n",
            "file.write/a: false\nchat_router/file.write/b: true\n",
        ]
        .map(|text| format!("chat_router/{text}"));
        let (dir, mut store, zones) = store(&text[0]);
        let a_is = |store: &mut ApprovalStore| {
            store.current(&zones).unwrap().answer(FileOp::Write, Path::new("/w/a"), |_| true)
        };
        assert_eq!(a_is(&mut store), Some(true));
        let path = dir.path().join("approvals.yaml");
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, &text[1]).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert_eq!(a_is(&mut store), Some(false));
    }

    #[test]
    fn the_nearest_kept_answer_counts_however_it_is_spelled() {
        let (_dir, mut store, zones) = store(
            "chat_router/file.write/./: true\nchat_router/file.write/-x/: false\n\
             chat_router/file.write/src/: true\nchat_router/file.write//w/src/a: false\n\
             chat_router/file.write/both: true\nchat_router/file.write//w/both: false\n",
        );
        let answers = store.current(&zones).unwrap();
        for (path, answer) in
            [("/w/y", true), ("/w/-x/y", false), ("/w/src/b", true), ("/w/src/a", false), ("/w/both", false)]
        {
            assert_eq!(answers.answer(FileOp::Write, Path::new(path), |_| true), Some(answer), "{path}");
        }
    }

    #[test]
    fn a_no_in_the_file_ends_what_was_allowed_for_the_run() {
        let (dir, mut store, zones) = store("");
        store.remember(approval("/w/a", Scope::JustPath));
        std::fs::write(dir.path().join("approvals.yaml"), "chat_router/file.write/a: false\n").unwrap();
        let answer = store.current(&zones).unwrap().answer(FileOp::Write, Path::new("/w/a"), |_| true);
        assert_eq!(answer, Some(false));
    }

    #[test]
    fn a_link_beside_the_file_is_not_written_through() {
        let (dir, mut store, zones) = store("");
        let outside = dir.path().join("outside");
        std::fs::write(&outside, "theirs").unwrap();
        for name in ["approvals.yaml.new", ".reyn-tmp-approvals"] {
            std::os::unix::fs::symlink(&outside, dir.path().join(name)).unwrap();
        }
        store.keep(approval("/w/a", Scope::JustPath), &zones).unwrap();
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs");
    }

    #[test]
    fn an_answer_that_could_not_be_kept_does_not_count() {
        let (dir, mut store, zones) = store("");
        let in_the_way = [".reyn-tmp-approvals", "approvals.yaml.new"].map(|name| dir.path().join(name));
        in_the_way.iter().for_each(|path| std::fs::create_dir(path).unwrap());
        assert!(store.keep(approval("/w/a", Scope::JustPath), &zones).is_err());
        assert_eq!(store.current(&zones).unwrap(), Approvals::default());
    }

    #[test]
    fn two_processes_do_not_write_at_the_same_time() {
        let (dir, mut store, zones) = store("");
        let other = ApprovalStore::new(dir.path().join("approvals.yaml"));
        let lock = other.lock().unwrap();
        assert!(store.keep(approval("/w/a", Scope::JustPath), &zones).is_err());
        drop(lock);
        assert!(store.keep(approval("/w/a", Scope::JustPath), &zones).unwrap());
    }
}
