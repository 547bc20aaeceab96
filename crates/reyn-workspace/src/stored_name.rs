//! The name of a file in the letters that its folder keeps, on file systems that find it under others.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization as _;

use crate::Workspace;
use crate::bounds::STORED_NAMES_MAX;
use crate::open::FOLDER_FLAGS;

/// A folder in which names are looked up.
trait Folder {
    /// Which file a name leads to; `None` when it leads nowhere.
    fn identity(&self, name: &str) -> Option<(u64, u64)>;
    /// All names, each with its inode number.
    fn names(&self) -> Vec<(OsString, u64)>;
}

impl Workspace {
    /// How the folder itself spells `asked`: on a file system that does not tell cases apart, the stored
    /// spelling, so that rules and approvals about a file hold under each of its spellings; and where a
    /// name in composed characters was stored decomposed, or the other way round, that one.
    pub(crate) fn stored_name(&self, folder: &Path, asked: &OsStr) -> OsString {
        let opened = OnDisk { workspace: self, folder };
        asked.to_str().and_then(|name| stored(&opened, name)).unwrap_or_else(|| asked.to_owned())
    }
}

/// `None` when the name is already as stored, or leads nowhere under any spelling.
fn stored(folder: &impl Folder, asked: &str) -> Option<OsString> {
    let spellings = other_spellings(asked);
    if spellings.is_empty() {
        return None;
    }
    let Some(identity) = folder.identity(asked) else {
        let found = spellings.into_iter().filter(|name| is_same_text(name, asked));
        return found.into_iter().find(|name| folder.identity(name).is_some()).map(OsString::from);
    };
    if !spellings.iter().any(|name| folder.identity(name) == Some(identity)) {
        return None;
    }
    // Another spelling leads to the same file: the folder folds names, or it has both as hard links.
    let names = folder.names();
    if names.iter().any(|(name, _)| name == asked) {
        return None;
    }
    let wanted = folded(asked);
    names
        .into_iter()
        .find(|(name, inode)| {
            *inode == identity.1 && name.to_str().is_some_and(|name| folded(name) == wanted)
        })
        .map(|(name, _)| name)
}

/// Spellings that only a folder which folds names takes for `name`.
fn other_spellings(name: &str) -> Vec<String> {
    let mut spellings: Vec<String> = vec![name.to_uppercase(), name.to_lowercase()];
    if !name.is_ascii() {
        spellings.extend([name.nfc().collect(), name.nfd().collect()]);
    }
    spellings.retain(|spelling| spelling != name);
    spellings
}

fn is_same_text(one: &str, other: &str) -> bool {
    one.nfc().eq(other.nfc())
}

fn folded(name: &str) -> String {
    name.nfd().collect::<String>().to_uppercase().to_lowercase()
}

struct OnDisk<'a> {
    workspace: &'a Workspace,
    folder: &'a Path,
}

impl Folder for OnDisk<'_> {
    fn identity(&self, name: &str) -> Option<(u64, u64)> {
        let stat = self.workspace.lstat(&self.folder.join(name)).ok()?;
        Some((stat.st_dev, stat.st_ino))
    }

    fn names(&self) -> Vec<(OsString, u64)> {
        use std::os::unix::ffi::OsStrExt as _;
        let read = || -> Result<Vec<(OsString, u64)>, Errno> {
            let folder = self.workspace.open_real(self.folder, FOLDER_FLAGS)?;
            rustix::fs::Dir::read_from(folder)?
                .take(STORED_NAMES_MAX)
                .map(|entry| {
                    let entry = entry?;
                    Ok((OsStr::from_bytes(entry.file_name().to_bytes()).to_owned(), entry.ino()))
                })
                .collect()
        };
        // A folder that cannot be listed keeps its secret; the name stays as asked.
        read().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as some file systems keep it: names stored as given, found under every spelling.
    struct Folding(Vec<&'static str>);

    impl Folder for Folding {
        fn identity(&self, name: &str) -> Option<(u64, u64)> {
            let at = self.0.iter().position(|stored| folded(stored) == folded(name))?;
            Some((1, at as u64))
        }
        fn names(&self) -> Vec<(OsString, u64)> {
            self.0.iter().enumerate().map(|(at, name)| ((*name).into(), at as u64)).collect()
        }
    }

    /// A folder that tells every byte apart; equal numbers are hard links.
    struct Exact(Vec<(&'static str, u64)>);

    impl Folder for Exact {
        fn identity(&self, name: &str) -> Option<(u64, u64)> {
            self.0.iter().find(|(stored, _)| *stored == name).map(|(_, inode)| (1, *inode))
        }
        fn names(&self) -> Vec<(OsString, u64)> {
            self.0.iter().map(|(name, inode)| ((*name).into(), *inode)).collect()
        }
    }

    #[test]
    fn a_folder_that_folds_names_gives_the_stored_spelling() {
        let folder = Folding(vec!["Reyn.yaml", "notes", "か\u{3099}.txt"]);
        for (asked, stored_as) in [
            ("reyn.YAML", Some("Reyn.yaml")),
            ("Reyn.yaml", None),
            ("NOTES", Some("notes")),
            ("が.txt", Some("か\u{3099}.txt")),
            ("missing", None),
            ("123", None),
        ] {
            assert_eq!(stored(&folder, asked), stored_as.map(OsString::from), "{asked}");
        }
    }

    #[test]
    fn a_folder_that_tells_cases_apart_keeps_what_was_asked() {
        let folder = Exact(vec![("a", 1), ("A", 1), ("b", 2), ("B", 3), ("か\u{3099}", 4)]);
        for (asked, stored_as) in
            [("a", None), ("A", None), ("b", None), ("B", None), ("C", None), ("が", Some("か\u{3099}"))]
        {
            assert_eq!(stored(&folder, asked), stored_as.map(OsString::from), "{asked}");
        }
    }
}
