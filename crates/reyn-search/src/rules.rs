//! Ignore rules: `.gitignore`, `.ignore` and `.git/info/exclude` of a folder and the folders above it.
//!
//! Invariant: rules are read through folder handles only, bounded, and never from outside the root handle:
//! no file of the user or the machine counts.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::bounds::{IGNORE_FILE_BYTES_MAX, IGNORE_RULES_IN_FORCE_MAX, IGNORE_RULES_MAX};
use crate::folder::{Kind, kind, open_file, pass_folder};

/// The rules that hold in a folder, its own and those of the folders above.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules(Option<Rc<Level>>);

/// The rules of one folder.
#[derive(Debug)]
struct Level {
    above: Rules,
    /// Bytes of a path that lead to the folder, the `/` at the end included.
    prefix_len: usize,
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// Whether the folder has a `.git`: `.gitignore` files above it do not count.
    is_repository: bool,
    /// How many rules hold here, those of the folders above included.
    in_force: usize,
}

/// What the rules say of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Searched,
    /// Its name begins with a dot, and no rule brings it back.
    Hidden,
    Ignored,
}

/// Which files with rules a folder has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RuleFiles {
    pub(crate) has_ignore: bool,
    pub(crate) has_gitignore: bool,
    /// What `.git` is, when there is one.
    pub(crate) git: Option<Kind>,
}

impl RuleFiles {
    /// Takes note of an entry while its folder is listed.
    pub(crate) fn note(&mut self, name: &[u8], kind: Kind) {
        match name {
            b".ignore" => self.has_ignore = kind == Kind::File,
            b".gitignore" => self.has_gitignore = kind == Kind::File,
            b".git" => self.git = Some(kind),
            _ => {}
        }
    }

    /// Looks for them in a folder that is not listed.
    pub(crate) fn look(folder: BorrowedFd<'_>) -> Self {
        let mut files = Self::default();
        for name in [&b".ignore"[..], b".gitignore", b".git"] {
            if let Ok(kind) = kind(folder, name) {
                files.note(name, kind);
            }
        }
        files
    }
}

impl Rules {
    /// These rules and those of `folder`, which lies below; `prefix_len` bytes of a path lead to it.
    pub(crate) fn and(&self, folder: BorrowedFd<'_>, files: RuleFiles, prefix_len: usize) -> Self {
        if files == RuleFiles::default() {
            return self.clone();
        }
        let mut in_force = self.0.as_ref().map_or(0, |level| level.in_force);
        let mut read = |is_there: bool, name: &[u8]| {
            if is_there { read_rules(folder, name, &mut in_force) } else { None }
        };
        let ignore = read(files.has_ignore, b".ignore");
        let gitignore = read(files.has_gitignore, b".gitignore");
        let has_exclude = files.git == Some(Kind::Folder);
        let exclude = if has_exclude { read_exclude(folder, &mut in_force) } else { None };
        let is_repository = files.git.is_some();
        let above = self.clone();
        Self(Some(Rc::new(Level { above, prefix_len, ignore, gitignore, exclude, is_repository, in_force })))
    }

    /// What they say of the entry at `path`, whose name begins at `name_begin`.
    ///
    /// A rule nearer to the entry goes before one of a folder above; `.ignore` goes before `.gitignore`, and
    /// that before `.git/info/exclude`, wherever they are.
    pub(crate) fn judge(&self, path: &[u8], name_begin: usize, is_folder: bool) -> Verdict {
        let (mut by_gitignore, mut by_exclude) = (None, None);
        let mut is_in_repository = true;
        let mut next = &self.0;
        while let Some(level) = next {
            let below = path.get(level.prefix_len..).unwrap_or_default();
            if let Some(verdict) = verdict(level.ignore.as_ref(), below, is_folder) {
                return verdict;
            }
            if is_in_repository {
                by_gitignore = by_gitignore.or_else(|| verdict(level.gitignore.as_ref(), below, is_folder));
                by_exclude = by_exclude.or_else(|| verdict(level.exclude.as_ref(), below, is_folder));
                is_in_repository = !level.is_repository;
            }
            next = &level.above.0;
        }
        let is_hidden = path.get(name_begin) == Some(&b'.');
        by_gitignore.or(by_exclude).unwrap_or(if is_hidden { Verdict::Hidden } else { Verdict::Searched })
    }
}

fn verdict(rules: Option<&Gitignore>, path: &[u8], is_folder: bool) -> Option<Verdict> {
    match rules?.matched(as_path(path), is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(Verdict::Ignored),
        Match::Whitelist(_) => Some(Verdict::Searched),
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// A worktree's `.git` is a file that leads out of the folder, so its `exclude` is not read.
fn read_exclude(folder: BorrowedFd<'_>, in_force: &mut usize) -> Option<Gitignore> {
    let git = pass_folder(folder, b".git").ok()?;
    let info = pass_folder(git.as_fd(), b"info").ok()?;
    read_rules(info.as_fd(), b"exclude", in_force)
}

/// None when there are no rules. A rule that cannot be read does not count; the others do, until too many
/// are in force.
fn read_rules(folder: BorrowedFd<'_>, name: &[u8], in_force: &mut usize) -> Option<Gitignore> {
    let bytes = read_bounded(folder, name)?;
    let mut builder = GitignoreBuilder::new("");
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#');
    let rules_max = IGNORE_RULES_MAX.min(IGNORE_RULES_IN_FORCE_MAX.saturating_sub(*in_force));
    for line in lines.take(rules_max) {
        *in_force += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(line) = std::str::from_utf8(line) {
            // A line that is no glob is what it is for git as well: nothing.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

fn read_bounded(folder: BorrowedFd<'_>, name: &[u8]) -> Option<Vec<u8>> {
    let (file, stat) = open_file(folder, name).ok()??;
    let size = usize::try_from(stat.st_size).ok()?.min(IGNORE_FILE_BYTES_MAX);
    let mut bytes = vec![0; size];
    let mut len = 0;
    while len < size {
        match rustix::io::read(&file, &mut bytes[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(len);
    Some(bytes)
}
