//! What people said to earlier questions. The store's keys are `<actor>/file.<op>/<path>`, a trailing `/`
//! covering the folder and all below it.

use std::path::{Path, PathBuf};

use crate::text::unshown;

use super::zones::is_at_or_below;
use super::{FileOp, Zones};

/// How much a yes covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This very path.
    JustPath,
    /// This folder and everything below it.
    Recursive,
    /// This very path, for the one call that was asked about. Never kept.
    ThisCall,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// What was asked about.
    pub op: FileOp,
    /// Where, absolute.
    pub path: PathBuf,
    /// How far.
    pub scope: Scope,
    /// Yes or no.
    pub is_allowed: bool,
}

impl Approval {
    fn covers(&self, op: FileOp, path: &Path) -> bool {
        self.op.answers(op)
            && match self.scope {
                Scope::JustPath | Scope::ThisCall => path.as_os_str() == self.path.as_os_str(),
                Scope::Recursive => is_at_or_below(path, &self.path),
            }
    }

    /// The key in the store, for the subsystem `actor`.
    #[must_use]
    pub fn key(&self, actor: &str, zones: &Zones) -> String {
        let slash = match self.scope {
            Scope::JustPath | Scope::ThisCall => "",
            Scope::Recursive => "/",
        };
        format!("{actor}/{}/{}{slash}", self.op.key(), zones.display(&self.path))
    }

    /// Reads a key back. `None` for a key of another actor or kind. Relative paths start at the root.
    #[must_use]
    pub fn from_key(key: &str, is_allowed: bool, actor: &str, zones: &Zones) -> Option<Self> {
        let rest = key.strip_prefix(actor)?.strip_prefix('/')?;
        let (op, path) = FileOp::ALL
            .into_iter()
            .find_map(|op| Some((op, rest.strip_prefix(op.key())?.strip_prefix('/')?)))?;
        let (path, scope) = match path.strip_suffix('/') {
            // The root folder alone; with everything below it, it is written `//`.
            Some("") => (path, Scope::JustPath),
            Some(folder) => (folder, Scope::Recursive),
            None => (path, Scope::JustPath),
        };
        let path = match path {
            "" => return None,
            "." => zones.root().to_owned(),
            path => zones.root().join(unshown(path).unwrap_or_else(|| path.into())),
        };
        Some(Self { op, path, scope, is_allowed })
    }
}

/// Answers in the order given; the latest that covers a path counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approvals(pub Vec<Approval>);

impl Approvals {
    /// The latest answer that covers `op` on `path`. A yes for which `opens` is false does not count; a no
    /// does.
    #[must_use]
    pub fn answer(&self, op: FileOp, path: &Path, opens: impl Fn(&Approval) -> bool) -> Option<bool> {
        let counts =
            |approval: &&Approval| approval.covers(op, path) && (!approval.is_allowed || opens(approval));
        self.0.iter().rev().find(counts).map(|approval| approval.is_allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip() {
        let zones = Zones::new("/w".into(), vec![]);
        for (path, scope, key) in [
            ("/w/src/a.rs", Scope::JustPath, "chat_router/file.write/src/a.rs"),
            ("/w/src", Scope::Recursive, "chat_router/file.write/src/"),
            ("/w", Scope::Recursive, "chat_router/file.write/./"),
            ("/etc/hosts", Scope::JustPath, "chat_router/file.write//etc/hosts"),
            ("/", Scope::Recursive, "chat_router/file.write///"),
            ("/", Scope::JustPath, "chat_router/file.write//"),
            ("/w/two\nlines", Scope::JustPath, "chat_router/file.write/two\\x0alines"),
            ("/w/two\\x0alines", Scope::JustPath, "chat_router/file.write/two\\x5cx0alines"),
        ] {
            let approval = Approval { op: FileOp::Write, path: path.into(), scope, is_allowed: true };
            assert_eq!(approval.key("chat_router", &zones), key);
            assert_eq!(Approval::from_key(key, true, "chat_router", &zones), Some(approval), "{key}");
        }
        assert_eq!(Approval::from_key("cron/file.write/a", true, "chat_router", &zones), None);
        assert_eq!(Approval::from_key("chat_router/http.get/a", true, "chat_router", &zones), None);
    }

    #[test]
    fn the_latest_answer_counts() {
        let answer = |path: &str, scope, is_allowed| Approval {
            op: FileOp::Write,
            path: path.into(),
            scope,
            is_allowed,
        };
        let approvals = Approvals(vec![
            answer("/w/src", Scope::Recursive, true),
            answer("/w/src/a", Scope::JustPath, false),
        ]);
        let any = |_: &Approval| true;
        assert_eq!(approvals.answer(FileOp::Write, Path::new("/w/src/a"), any), Some(false));
        assert_eq!(approvals.answer(FileOp::Write, Path::new("/w/src/b"), any), Some(true));
        assert_eq!(approvals.answer(FileOp::Read, Path::new("/w/src/b"), any), None);
        assert_eq!(approvals.answer(FileOp::Write, Path::new("/w/srcs"), any), None);
        let none = |_: &Approval| false;
        assert_eq!(approvals.answer(FileOp::Write, Path::new("/w/src/a"), none), Some(false));
        assert_eq!(approvals.answer(FileOp::Write, Path::new("/w/src/b"), none), None);
    }

    #[test]
    fn an_answer_is_about_what_was_asked_and_what_is_less() {
        use FileOp::{Delete, Edit, Glob, Grep, Read, RegenerateIndex, Write};
        for (asked, covered) in [
            (Read, vec![Read, Glob, Grep]),
            (Grep, vec![Read, Glob, Grep]),
            (Glob, vec![Glob]),
            (Write, vec![Write, Edit, RegenerateIndex]),
            (Edit, vec![Edit]),
            (Delete, vec![Delete]),
            (RegenerateIndex, vec![RegenerateIndex]),
        ] {
            let approval =
                Approval { op: asked, path: "/w/a".into(), scope: Scope::JustPath, is_allowed: true };
            let is_covered = |op: &FileOp| approval.covers(*op, Path::new("/w/a"));
            let all: Vec<FileOp> = FileOp::ALL.into_iter().filter(is_covered).collect();
            assert_eq!(all, covered, "{asked:?}");
            let zones = Zones::new("/w".into(), vec![]);
            let key = approval.key("chat_router", &zones);
            assert_eq!(Approval::from_key(&key, true, "chat_router", &zones), Some(approval), "{key}");
        }
    }
}
