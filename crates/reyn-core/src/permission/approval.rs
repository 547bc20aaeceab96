//! What people said to earlier questions. The store's keys are `<actor>/file.<op>/<path>`, a trailing `/`
//! covering the folder and all below it, `<actor>/exec/<command>`, a trailing ` *` covering whatever follows,
//! `<actor>/http.get/<host>`, and `<actor>/web.search/<engine>`.

use std::path::{Path, PathBuf};

use crate::text::unshown;

use super::exec::{Command, EXEC_KEY};
use super::zones::is_at_or_below;
use super::{FileOp, WebOp, Zones};

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

/// What an answer is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Doing this to a file or folder.
    File {
        /// What was asked about.
        op: FileOp,
        /// Where, absolute.
        path: PathBuf,
    },
    /// Running a command that is, or begins with, these words.
    Command {
        /// The words.
        argv: Vec<String>,
    },
    /// Reaching a host.
    Host {
        /// What for.
        op: WebOp,
        /// Which one.
        host: String,
    },
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// What was asked about.
    pub about: About,
    /// How far.
    pub scope: Scope,
    /// Yes or no.
    pub is_allowed: bool,
}

impl Approval {
    /// An answer about a file or folder; `path` is absolute.
    #[must_use]
    pub const fn file(op: FileOp, path: PathBuf, scope: Scope, is_allowed: bool) -> Self {
        Self { about: About::File { op, path }, scope, is_allowed }
    }

    /// An answer about a command.
    #[must_use]
    pub const fn command(argv: Vec<String>, scope: Scope, is_allowed: bool) -> Self {
        Self { about: About::Command { argv }, scope, is_allowed }
    }

    /// An answer about a host.
    #[must_use]
    pub fn host(op: WebOp, host: &str, scope: Scope, is_allowed: bool) -> Self {
        Self { about: About::Host { op, host: host.to_owned() }, scope, is_allowed }
    }

    fn covers_file(&self, op: FileOp, path: &Path) -> bool {
        let About::File { op: asked, path: place } = &self.about else { return false };
        asked.answers(op)
            && match self.scope {
                Scope::JustPath | Scope::ThisCall => path.as_os_str() == place.as_os_str(),
                Scope::Recursive => is_at_or_below(path, place),
            }
    }

    /// A yes to a command is none to what it would be given to read, which may be a program too.
    fn covers_command(&self, command: &Command) -> bool {
        let About::Command { argv } = &self.about else { return false };
        let opens = !command.has_stdin || !self.is_allowed || self.scope == Scope::ThisCall;
        opens
            && match self.scope {
                Scope::JustPath | Scope::ThisCall => command.argv == *argv,
                Scope::Recursive => !argv.is_empty() && command.argv.starts_with(argv),
            }
    }

    fn covers_host(&self, op: WebOp, host: &str) -> bool {
        matches!(&self.about, About::Host { op: asked, host: place } if *asked == op && place == host)
    }

    /// The key in the store, for the subsystem `actor`.
    #[must_use]
    pub fn key(&self, actor: &str, zones: &Zones) -> String {
        match &self.about {
            About::File { op, path } => {
                let slash = match self.scope {
                    Scope::JustPath | Scope::ThisCall => "",
                    Scope::Recursive => "/",
                };
                format!("{actor}/{}/{}{slash}", op.key(), zones.display(path))
            }
            About::Command { argv } => {
                let rest = match self.scope {
                    Scope::JustPath | Scope::ThisCall => "",
                    Scope::Recursive => AND_MORE,
                };
                format!("{actor}/{EXEC_KEY}/{}{rest}", shell_words::join(argv))
            }
            About::Host { op, host } => format!("{actor}/{}/{host}", op.approval_key()),
        }
    }

    /// How narrow it is, for the order of kept answers: the later one counts.
    #[must_use]
    pub fn depth(&self) -> usize {
        match &self.about {
            About::File { path, .. } => path.components().count(),
            About::Command { argv } => argv.len(),
            About::Host { .. } => 1,
        }
    }

    /// Reads a key back. `None` for a key of another actor or kind. Relative paths start at the root.
    #[must_use]
    pub fn from_key(key: &str, is_allowed: bool, actor: &str, zones: &Zones) -> Option<Self> {
        let rest = key.strip_prefix(actor)?.strip_prefix('/')?;
        if let Some(line) = rest.strip_prefix(EXEC_KEY).and_then(|rest| rest.strip_prefix('/')) {
            let (line, scope) = match line.strip_suffix(AND_MORE) {
                Some(line) => (line, Scope::Recursive),
                None => (line, Scope::JustPath),
            };
            let argv = shell_words::split(line).ok().filter(|argv| !argv.is_empty())?;
            return Some(Self::command(argv, scope, is_allowed));
        }
        let of_web = WebOp::ALL
            .into_iter()
            .find_map(|op| Some((op, rest.strip_prefix(op.approval_key())?.strip_prefix('/')?)));
        if let Some((op, host)) = of_web {
            // A person may write it otherwise than it is asked for, and a no must not be lost by that.
            let host = host.trim_end_matches('.').to_ascii_lowercase();
            return (!host.is_empty()).then(|| Self::host(op, &host, Scope::JustPath, is_allowed));
        }
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
        Some(Self::file(op, path, scope, is_allowed))
    }
}

/// Behind the words of a command: and whatever follows. A word `*` of a command is quoted.
const AND_MORE: &str = " *";

/// Answers in the order given; the latest that covers a path counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approvals(pub Vec<Approval>);

impl Approvals {
    /// The latest answer that covers `op` on `path`. A yes for which `opens` is false does not count; a no
    /// does.
    #[must_use]
    pub fn answer(&self, op: FileOp, path: &Path, opens: impl Fn(&Approval) -> bool) -> Option<bool> {
        let counts = |approval: &&Approval| {
            approval.covers_file(op, path) && (!approval.is_allowed || opens(approval))
        };
        self.0.iter().rev().find(counts).map(|approval| approval.is_allowed)
    }

    /// The latest answer that covers a host.
    #[must_use]
    pub fn answer_to_host(&self, op: WebOp, host: &str) -> Option<bool> {
        let answer = self.0.iter().rev().find(|approval| approval.covers_host(op, host));
        answer.map(|approval| approval.is_allowed)
    }

    /// The latest answer that covers a command.
    #[must_use]
    pub fn answer_to_command(&self, command: &Command) -> Option<bool> {
        let answer = self.0.iter().rev().find(|approval| approval.covers_command(command));
        answer.map(|approval| approval.is_allowed)
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
            let approval = Approval::file(FileOp::Write, path.into(), scope, true);
            assert_eq!(approval.key("chat_router", &zones), key);
            assert_eq!(Approval::from_key(key, true, "chat_router", &zones), Some(approval), "{key}");
        }
        assert_eq!(Approval::from_key("cron/file.write/a", true, "chat_router", &zones), None);
        assert_eq!(Approval::from_key("chat_router/http.get/", true, "chat_router", &zones), None);
        let written =
            Approval::from_key("chat_router/http.get/WWW.Example.org.", false, "chat_router", &zones);
        assert_eq!(written, Some(Approval::host(WebOp::Fetch, "www.example.org", Scope::JustPath, false)));
        assert_eq!(Approval::from_key("chat_router/ftp.get/a", true, "chat_router", &zones), None);
    }

    #[test]
    fn keys_of_commands_round_trip() {
        let zones = Zones::new("/w".into(), vec![]);
        let table = [
            (vec!["cargo", "test"], Scope::JustPath, "chat_router/exec/cargo test"),
            (vec!["cargo", "test"], Scope::Recursive, "chat_router/exec/cargo test *"),
            (vec!["ls", "*"], Scope::JustPath, "chat_router/exec/ls '*'"),
            (vec!["sh", "-c", "a 'b'\n", ""], Scope::JustPath, "chat_router/exec/sh -c 'a '\\''b'\\''\n' ''"),
        ];
        for (argv, scope, key) in table {
            let approval = Approval::command(argv.into_iter().map(str::to_owned).collect(), scope, true);
            assert_eq!(approval.key("chat_router", &zones), key);
            assert_eq!(Approval::from_key(key, true, "chat_router", &zones), Some(approval), "{key}");
        }
        assert_eq!(Approval::from_key("chat_router/exec/ *", true, "chat_router", &zones), None);
        assert_eq!(Approval::from_key("chat_router/exec/'a", true, "chat_router", &zones), None);
    }

    #[test]
    fn keys_of_hosts_round_trip() {
        let zones = Zones::new("/w".into(), vec![]);
        let table = [
            (WebOp::Fetch, "example.org", "chat_router/http.get/example.org"),
            (WebOp::Fetch, "[::1]:8080", "chat_router/http.get/[::1]:8080"),
            (WebOp::Search, "duckduckgo", "chat_router/web.search/duckduckgo"),
        ];
        for (op, host, key) in table {
            let approval = Approval::host(op, host, Scope::JustPath, false);
            assert_eq!(approval.key("chat_router", &zones), key);
            assert_eq!(Approval::from_key(key, false, "chat_router", &zones), Some(approval), "{key}");
        }
    }

    #[test]
    fn the_latest_answer_counts() {
        let answer =
            |path: &str, scope, is_allowed| Approval::file(FileOp::Write, path.into(), scope, is_allowed);
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
        use FileOp::{Delete, Edit, Forget, Glob, Grep, Read, RegenerateIndex, Remember, Write};
        for (asked, covered) in [
            (Read, vec![Read, Glob, Grep]),
            (Grep, vec![Read, Glob, Grep]),
            (Glob, vec![Glob]),
            (Write, vec![Write, Edit, RegenerateIndex, Remember]),
            (Edit, vec![Edit]),
            (Delete, vec![Delete, Forget]),
            (RegenerateIndex, vec![RegenerateIndex]),
            (Remember, vec![Remember]),
            (Forget, vec![Forget]),
        ] {
            let approval = Approval::file(asked, "/w/a".into(), Scope::JustPath, true);
            let is_covered = |op: &FileOp| approval.covers_file(*op, Path::new("/w/a"));
            let all: Vec<FileOp> = FileOp::ALL.into_iter().filter(is_covered).collect();
            assert_eq!(all, covered, "{asked:?}");
            let zones = Zones::new("/w".into(), vec![]);
            let key = approval.key("chat_router", &zones);
            assert_eq!(Approval::from_key(&key, true, "chat_router", &zones), Some(approval), "{key}");
        }
    }
}
