//! Paths with `*`, `?`, `[…]`, `{a,b}` and `**` into those that are there.
//!
//! Invariant: `**` follows no link, and what is looked at is bounded. What is found may still be a link.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use reyn_core::limits::{SANDBOX_GLOB_DEPTH_MAX, SANDBOX_GLOB_ENTRIES_MAX, SANDBOX_GLOB_PATHS_MAX};
use thiserror::Error;

/// Whether a pattern finds entries whose name begins with a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenEntries {
    /// Only with a dot of its own in front, as in a shell.
    WhenNamed,
    /// Yes.
    Always,
}

/// Why a pattern stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// It is no pattern.
    #[error("the pattern is malformed: {why}")]
    Malformed {
        /// Why.
        why: String,
    },
    /// It is too wide.
    #[error("it stands for more than {SANDBOX_GLOB_PATHS_MAX} paths")]
    TooManyPaths,
    /// Looking takes too long.
    #[error("more than {SANDBOX_GLOB_ENTRIES_MAX} entries would have to be looked at")]
    TooManyEntries,
}

/// What stands for the workspace at the beginning of a path.
const WORKSPACE: &str = "{{workspace}}";

/// The text with `{{workspace}}` at its beginning as a path that is relative to the workspace.
///
/// # Errors
/// When it stands where it means nothing: the words say where it may.
pub fn from_workspace(text: &str) -> Result<String, String> {
    let rest = match text.strip_prefix(WORKSPACE) {
        None => text,
        Some("") => ".",
        Some(rest) if rest.starts_with('/') => &format!(".{rest}"),
        Some(_) => {
            return Err(format!("`{WORKSPACE}` is a folder; a `/` follows it, as in `{WORKSPACE}/out`"));
        }
    };
    if rest.contains(WORKSPACE) {
        return Err(format!("`{WORKSPACE}` stands only at the beginning of a path"));
    }
    Ok(rest.to_owned())
}

/// Whether a text is a pattern at all.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// What matches `pattern`, in order. A relative one begins at `start`, in which no letter is special.
///
/// # Errors
/// When it is no pattern, or stands for more than is looked at.
pub fn paths(start: &Path, pattern: &Path, hidden: HiddenEntries) -> Result<BTreeSet<PathBuf>, PatternError> {
    let parts = pattern.components().map(Part::of).collect::<Result<Vec<_>, _>>()?;
    let mut search = Search { hidden, entries: 0, found: BTreeSet::new() };
    search.walk(start.to_owned(), &parts, 0)?;
    Ok(search.found)
}

/// One part of a path.
enum Part {
    /// As it is written.
    Plain(PathBuf),
    /// What matches; whether a dot stands in front.
    Pattern(GlobMatcher, bool),
    /// Any number of folders.
    AnyFolders,
}

impl Part {
    fn of(component: Component<'_>) -> Result<Self, PatternError> {
        let text = component.as_os_str();
        let Some(text) = text.to_str().filter(|text| is_pattern(text)) else {
            return Ok(Self::Plain(PathBuf::from(text)));
        };
        if text == "**" {
            return Ok(Self::AnyFolders);
        }
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .build()
            .map_err(|error| PatternError::Malformed { why: error.kind().to_string() })?;
        Ok(Self::Pattern(glob.compile_matcher(), text.starts_with('.')))
    }
}

struct Search {
    hidden: HiddenEntries,
    entries: usize,
    found: BTreeSet<PathBuf>,
}

impl Search {
    fn walk(&mut self, at: PathBuf, parts: &[Part], depth: usize) -> Result<(), PatternError> {
        // A step counts too, since folders without entries can be reached in many ways.
        self.look()?;
        let Some((first, rest)) = parts.split_first() else { return self.find(at) };
        match first {
            Part::Plain(part) => {
                let next = at.join(part);
                if next.symlink_metadata().is_ok() { self.walk(next, rest, depth) } else { Ok(()) }
            }
            Part::Pattern(glob, is_hidden_named) => {
                for name in self.names(&at)? {
                    let may_match = *is_hidden_named || self.shows(&name);
                    if may_match && glob.is_match(Path::new(&name)) {
                        self.walk(at.join(name), rest, depth)?;
                    }
                }
                Ok(())
            }
            Part::AnyFolders => {
                if depth < SANDBOX_GLOB_DEPTH_MAX {
                    for name in self.names(&at)? {
                        let next = at.join(&name);
                        let is_folder = next.symlink_metadata().is_ok_and(|found| found.is_dir());
                        if is_folder && self.shows(&name) {
                            self.walk(next, parts, depth + 1)?;
                        }
                    }
                }
                self.walk(at, rest, depth)
            }
        }
    }

    fn shows(&self, name: &OsStr) -> bool {
        self.hidden == HiddenEntries::Always || !name.as_encoded_bytes().starts_with(b".")
    }

    /// The names in a folder; none where it is no folder or cannot be read.
    fn names(&mut self, folder: &Path) -> Result<Vec<std::ffi::OsString>, PatternError> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(vec![]) };
        let mut names = vec![];
        for entry in entries.flatten() {
            self.look()?;
            names.push(entry.file_name());
        }
        Ok(names)
    }

    const fn look(&mut self) -> Result<(), PatternError> {
        self.entries += 1;
        if self.entries > SANDBOX_GLOB_ENTRIES_MAX { Err(PatternError::TooManyEntries) } else { Ok(()) }
    }

    fn find(&mut self, path: PathBuf) -> Result<(), PatternError> {
        self.found.insert(path);
        if self.found.len() > SANDBOX_GLOB_PATHS_MAX { Err(PatternError::TooManyPaths) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for entry in entries {
            let path = folder.path().join(entry);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn a_pattern_stands_for_what_is_there() {
        let folder = tree(&["a/x.key", "a/b/y.key", "a/b/c/z.txt", ".git/x.key", "a/.env", "c"]);
        std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("link")).unwrap();
        let table: [(&str, HiddenEntries, &[&str]); 10] = [
            ("*", HiddenEntries::WhenNamed, &["a", "c", "link"]),
            ("*", HiddenEntries::Always, &[".git", "a", "c", "link"]),
            (".*", HiddenEntries::WhenNamed, &[".git"]),
            ("?", HiddenEntries::WhenNamed, &["a", "c"]),
            ("{a,c}", HiddenEntries::WhenNamed, &["a", "c"]),
            ("**/*.key", HiddenEntries::WhenNamed, &["a/b/y.key", "a/x.key"]),
            ("**/*.key", HiddenEntries::Always, &[".git/x.key", "a/b/y.key", "a/x.key"]),
            ("link/*.key", HiddenEntries::Always, &["link/x.key"]),
            ("a/*/c", HiddenEntries::Always, &["a/b/c"]),
            ("no/*", HiddenEntries::Always, &[]),
        ];
        for (pattern, hidden, expected) in table {
            let found = paths(folder.path(), Path::new(pattern), hidden).unwrap();
            let expected: BTreeSet<_> = expected.iter().map(|name| folder.path().join(name)).collect();
            assert_eq!(found, expected, "{pattern} {hidden:?}");
        }
    }

    #[test]
    fn a_pattern_for_too_much_or_none_at_all_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=SANDBOX_GLOB_PATHS_MAX {
            std::fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let of = |pattern: &str| paths(folder.path(), Path::new(pattern), HiddenEntries::Always);
        assert_eq!(of("*"), Err(PatternError::TooManyPaths));
        assert_eq!(of("1*").unwrap().len(), 112);
        assert!(matches!(of("[a"), Err(PatternError::Malformed { .. })));
    }

    #[test]
    fn a_pattern_that_goes_many_ways_comes_to_an_end() {
        let folder = tree(&["a/b/c/d/e/f", "a/b/g/h/i/j"]);
        let pattern = "**/../".repeat(200) + "**";
        let found = paths(folder.path(), Path::new(&pattern), HiddenEntries::Always);
        assert_eq!(found, Err(PatternError::TooManyEntries));
    }

    #[test]
    fn the_start_is_no_pattern_and_an_absolute_pattern_leaves_it() {
        let folder = tree(&["[x]/a", "x/b"]);
        let start = folder.path().join("[x]");
        let found = |pattern: &Path| paths(&start, pattern, HiddenEntries::Always).unwrap();
        assert_eq!(found(Path::new("*")), BTreeSet::from([start.join("a")]));
        assert_eq!(found(&folder.path().join("x/*")), BTreeSet::from([folder.path().join("x/b")]));
    }
}
