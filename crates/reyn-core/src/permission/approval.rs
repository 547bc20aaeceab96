//! What people said to earlier questions. The store's keys are `<actor>/file.<axis>/<path>`, a trailing
//! `/` covering the folder and all below it.

use std::path::{Path, PathBuf};

use crate::text::unshown;

use super::zones::is_at_or_below;
use super::{FileAxis, Zones};

/// How much a yes covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This very path.
    JustPath,
    /// This folder and everything below it.
    Recursive,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Reading or writing.
    pub axis: FileAxis,
    /// Where, absolute.
    pub path: PathBuf,
    /// How far.
    pub scope: Scope,
    /// Yes or no.
    pub is_allowed: bool,
}

impl Approval {
    fn covers(&self, axis: FileAxis, path: &Path) -> bool {
        self.axis == axis
            && match self.scope {
                Scope::JustPath => path.as_os_str() == self.path.as_os_str(),
                Scope::Recursive => is_at_or_below(path, &self.path),
            }
    }

    /// The key in the store, for the subsystem `actor`.
    #[must_use]
    pub fn key(&self, actor: &str, zones: &Zones) -> String {
        let slash = match self.scope {
            Scope::JustPath => "",
            Scope::Recursive => "/",
        };
        format!("{actor}/{}/{}{slash}", self.axis.key(), zones.display(&self.path))
    }

    /// Reads a key back. `None` for a key of another actor or kind. Relative paths start at the root.
    #[must_use]
    pub fn from_key(key: &str, is_allowed: bool, actor: &str, zones: &Zones) -> Option<Self> {
        let rest = key.strip_prefix(actor)?.strip_prefix('/')?;
        let (axis, path) = [FileAxis::Read, FileAxis::Write]
            .into_iter()
            .find_map(|axis| Some((axis, rest.strip_prefix(axis.key())?.strip_prefix('/')?)))?;
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
        Some(Self { axis, path, scope, is_allowed })
    }
}

/// Answers in the order given; the latest that covers a path counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approvals(pub Vec<Approval>);

impl Approvals {
    /// The latest answer that covers `path`. A yes to a place for which `opens` is false does not count; a
    /// no does.
    #[must_use]
    pub fn answer(&self, axis: FileAxis, path: &Path, opens: impl Fn(&Path) -> bool) -> Option<bool> {
        let counts = |approval: &&Approval| {
            approval.covers(axis, path) && (!approval.is_allowed || opens(&approval.path))
        };
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
            let approval = Approval { axis: FileAxis::Write, path: path.into(), scope, is_allowed: true };
            assert_eq!(approval.key("chat_router", &zones), key);
            assert_eq!(Approval::from_key(key, true, "chat_router", &zones), Some(approval), "{key}");
        }
        assert_eq!(Approval::from_key("cron/file.write/a", true, "chat_router", &zones), None);
        assert_eq!(Approval::from_key("chat_router/http.get/a", true, "chat_router", &zones), None);
    }

    #[test]
    fn the_latest_answer_counts() {
        let answer = |path: &str, scope, is_allowed| Approval {
            axis: FileAxis::Write,
            path: path.into(),
            scope,
            is_allowed,
        };
        let approvals = Approvals(vec![
            answer("/w/src", Scope::Recursive, true),
            answer("/w/src/a", Scope::JustPath, false),
        ]);
        let any = |_: &Path| true;
        assert_eq!(approvals.answer(FileAxis::Write, Path::new("/w/src/a"), any), Some(false));
        assert_eq!(approvals.answer(FileAxis::Write, Path::new("/w/src/b"), any), Some(true));
        assert_eq!(approvals.answer(FileAxis::Read, Path::new("/w/src/b"), any), None);
        assert_eq!(approvals.answer(FileAxis::Write, Path::new("/w/srcs"), any), None);
        let none = |_: &Path| false;
        assert_eq!(approvals.answer(FileAxis::Write, Path::new("/w/src/a"), none), Some(false));
        assert_eq!(approvals.answer(FileAxis::Write, Path::new("/w/src/b"), none), None);
    }
}
