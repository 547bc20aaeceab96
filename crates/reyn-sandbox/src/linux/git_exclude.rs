//! Keeps Git from taking stand-ins and covered files for new ones: for a run, `info/exclude` names them too.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Longest `info/exclude` that is read, in bytes; a longer one stays as it is.
pub(super) const EXCLUDE_BYTES_MAX: u64 = 256 * 1024;

/// An `info/exclude` and what it says during the run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exclude {
    pub(super) path: PathBuf,
    pub(super) text: Vec<u8>,
}

/// What has to be said so that none of these paths looks new to the repository whose worktree it is in.
///
/// A repository that cannot be told, or has no such file, is left out.
pub(super) fn of<'a>(hidden: impl Iterator<Item = &'a Path>) -> Vec<Exclude> {
    let mut by_file: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for path in hidden {
        let worktree = path.ancestors().skip(1).find(|folder| folder.join(".git").symlink_metadata().is_ok());
        let Some(worktree) = worktree else { continue };
        let Ok(within) = path.strip_prefix(worktree) else { continue };
        if within.starts_with(".git") {
            continue;
        }
        if let Some(exclude) = crate::git::exclude_file(worktree) {
            by_file.entry(exclude).or_default().extend(pattern(within));
        }
    }
    let told = |(path, lines): (PathBuf, Vec<u8>)| {
        let mut text = plain_file(&path)?;
        if text.last().is_some_and(|last| *last != b'\n') {
            text.push(b'\n');
        }
        text.extend(lines);
        Some(Exclude { path, text })
    };
    by_file.into_iter().filter_map(told).collect()
}

/// One line that matches this path and nothing else; none for a name that no line can hold.
fn pattern(within: &Path) -> Vec<u8> {
    let name = within.as_os_str().as_bytes();
    if name.contains(&b'\n') {
        return vec![];
    }
    let mut line = vec![b'/'];
    for byte in name {
        if matches!(byte, b'\\' | b'*' | b'?' | b'[' | b' ') {
            line.push(b'\\');
        }
        line.push(*byte);
    }
    line.push(b'\n');
    line
}

fn plain_file(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    if !found.is_file() || found.len() > EXCLUDE_BYTES_MAX {
        return None;
    }
    let mut text = vec![];
    file.take(EXCLUDE_BYTES_MAX).read_to_end(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_names_one_path_of_the_worktree_that_it_is_in() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let exclude = root.join("a/.git/info/exclude");
        std::fs::create_dir_all(exclude.parent().unwrap()).unwrap();
        std::fs::create_dir_all(root.join("no-exclude/.git")).unwrap();
        std::fs::write(&exclude, "*.o").unwrap();
        let paths = [
            "a/reyn.yaml",
            "a/sub/[x] *?\\.md",
            "a/.git/config",
            "no-exclude/reyn.yaml",
            "reyn.yaml",
            "a/x\ny",
        ]
        .map(|path| root.join(path));
        let expected =
            vec![Exclude { path: exclude, text: b"*.o\n/reyn.yaml\n/sub/\\[x]\\ \\*\\?\\\\.md\n".to_vec() }];
        assert_eq!(of(paths.iter().map(PathBuf::as_path)), expected);
    }
}
